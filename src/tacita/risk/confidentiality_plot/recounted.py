"""Neighbours counted in another way: by what originals weigh, or among the records of an archive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.weights_within import weights_within
from tacita.keys.table import survey_weights
from tacita.risk.confidentiality_plot.files import Compared, on_scale, strata_of_rows
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.scenario import Scenario

PLAIN = ("relative", "euclidean", "manhattan", "gower")
"""Metrics in which a third file has a place of its own accord: others are scaled by the two files compared."""


class Crowd(NamedTuple):
    """The records among which neighbours are counted."""

    points: Floats
    """In the coordinates that distances are taken in."""
    weight: Floats
    stratum: Ints
    """By record the index of its stratum; -1: one that the released file does not have."""


def check_options(weighted: bool, archive: Any, ratio: bool | None, metric: str, log: bool | str) -> None:
    """An error for options that do not go together."""
    if not weighted and archive is None:
        return
    if ratio:
        raise TacitaError("the likelihood ratio counts originals one by one; leave out ratio, or weighted and archive.")
    if archive is not None and (metric not in PLAIN or log == "unit_free"):
        raise TacitaError(
            f"an archive can be compared by {', '.join(PLAIN)} distance, as numbers are or on the log scale; choose "
            f"such a metric, and not log='unit_free'."
        )


def recounted(
    found: Confidentiality,
    files: Compared,
    source: Data,
    scenario: Scenario,
    by: tuple[str, ...],
    zeros: str,
    *,
    weighted: bool,
    archive: bool,
) -> Confidentiality:
    """The result with neighbours counted among the originals, or the records of an archive, each with its weight.

    The critical distance stays. Who is who in an archive is not known, so nobody's true link is among the neighbours.
    """
    weight = _weights(source, scenario) if weighted else np.ones(len(source))
    crowd = _archive(files, source, by, found.log, zeros, weight) if archive else _originals(files, source, weight)
    near = np.zeros(len(found.record))
    for at, delta in enumerate(found.delta.tolist()):
        rows, others = np.flatnonzero(files.stratum == at), crowd.stratum == at
        y, points = files.where.y[rows], crowd.points[others]
        relative = files.where.relative
        near[rows] = weights_within(y, points, crowd.weight[others], delta, files.where.metric, relative=relative)
    neighbours = near if weighted else near.astype(np.int64)
    size = len(crowd.weight) if archive else None
    inside = np.zeros(len(near), dtype=np.bool_) if archive else found.inside
    return replace(found, neighbours=neighbours, inside=inside, weighted=weighted, archive=size, too_large=False)


def _weights(data: Data, scenario: Scenario) -> Floats:
    """What each record weighs."""
    if scenario.weight is not None:
        check.columns_exist("weight", (scenario.weight,), data.columns)
    weights = survey_weights(data, scenario)
    if weights is None:
        raise TacitaError("weighted neighbours need weights; pass weight=... in the scenario, or leave out weighted.")
    return weights


def _originals(files: Compared, source: Data, weight: Floats) -> Crowd:
    """The originals that could be compared."""
    order = np.argsort(source.record, kind="stable")
    rows = order[np.searchsorted(source.record[order], files.record)]
    return Crowd(files.where.x, weight[rows], files.stratum)


def _archive(files: Compared, source: Data, by: tuple[str, ...], log: bool, zeros: str, weight: Floats) -> Crowd:
    """The records of an archive that have all keys, in the strata of the released file."""
    check.columns_exist("keys of the archive", files.keys, source.columns)
    check.columns_exist("strata of the archive", by, source.columns)
    values = np.column_stack([source.numbers(name) for name in files.keys])
    points, _, rows = on_scale(values, values, log, zeros)
    if not len(rows):
        raise TacitaError("no record of the archive has all keys; there is nothing to count.")
    stratum, labels = strata_of_rows(source, by, rows)
    index = {label: at for at, label in enumerate(files.labels)}
    place = np.array([index.get(label, -1) for label in labels])
    return Crowd(points, weight[rows], place[stratum])
