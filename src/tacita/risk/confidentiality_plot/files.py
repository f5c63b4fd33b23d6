"""Two files of the same units: their numeric keys side by side, as far as they can be compared."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.aligned import aligned
from tacita.distance.distances import log_scale
from tacita.distance.scenario_keys import stratum_labels
from tacita.distance.truth import new_records_caution
from tacita.risk.confidentiality_plot.pairing_checks import pairing_cautions
from tacita.risk.confidentiality_plot.scale import (
    LOGS,
    METRICS,
    ZEROS,
    Space,
    log_ratio,
    perturbation,
    space,
    unit_free_log,
)


class Compared(NamedTuple):
    """The records of two files that can be compared."""

    keys: tuple[str, ...]
    record: Ints
    """By record: its number."""
    stratum: Ints
    """By record: the index of its stratum in `labels`."""
    labels: tuple[str, ...]
    where: Space
    """The records in the coordinates that distances are taken in."""
    perturbation: Floats
    """By record: how far it was moved, as a share."""
    size: Floats
    """By record: the size variable in the original file."""
    released_size: Floats
    size_name: str
    left_out: int
    """Records that could not be compared."""
    not_judged: int
    """Those of them of which both files show some key."""
    pairing_cautions: tuple[str, ...]
    """Signs that the records of the two files are not the same units."""


def compared(
    original: Any,
    released: Any,
    names: tuple[str, ...],
    by: tuple[str, ...],
    metric: str,
    log: bool | str,
    zeros: str,
    size: str | None,
) -> Compared:
    """Both files' records with all keys, on the scale asked for; what does not fit is left out and counted."""
    first, second, new, _ = aligned(original, released)
    _check_columns(first, second, names, by, size)
    check.one_of("metric", metric, METRICS)
    check.one_of("zeros", zeros, ZEROS)
    x, y = (np.column_stack([data.numbers(name) for name in names]) for data in (first, second))
    _check_finite(x, y, names)
    shown = np.asarray((~np.isnan(x) & ~np.isnan(y)).any(axis=1))
    x, y, rows = on_scale(x, y, log, zeros)
    if not len(rows):
        raise TacitaError("no record has all keys in both files; there is nothing to compare.")
    where = space(y, x, metric, unit_free=log == "unit_free")
    stratum, labels = strata_of_rows(first, by, rows)
    return Compared(
        keys=names,
        record=first.record[rows],
        stratum=stratum,
        labels=labels,
        where=where,
        perturbation=log_ratio(y, x) if log == "unit_free" else perturbation(where),
        size=first.numbers(size or names[0])[rows],
        released_size=second.numbers(size or names[0])[rows],
        size_name=size or names[0],
        left_out=len(first) - len(rows),
        not_judged=int(shown.sum() - shown[rows].sum()),
        pairing_cautions=(*pairing_cautions(first, second, by, x, y), *new_records_caution(new)),
    )


def on_scale(x: Floats, y: Floats, log: bool | str, zeros: str) -> tuple[Floats, Floats, Ints]:
    """The rows that have all keys on the scale, and which they are."""
    if log not in LOGS:
        raise TacitaError(f"log must be False, True or 'unit_free'; got {check.given(log)}.")
    kept = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    if log:
        how: Literal["shift", "exclude"] = "shift" if zeros == "shift" else "exclude"
        if log == "unit_free":
            x, y, fits = unit_free_log(x, y, shift=how == "shift")
        else:
            (x, x_fits), (y, y_fits) = log_scale(x, how), log_scale(y, how)
            fits = x_fits & y_fits
        kept &= fits
    rows = np.flatnonzero(kept)
    return np.ascontiguousarray(x[rows]), np.ascontiguousarray(y[rows]), rows


def _check_columns(first: Data, second: Data, names: tuple[str, ...], by: tuple[str, ...], size: str | None) -> None:
    wanted = [*names, *([size] if size else [])]
    check.columns_exist("keys", wanted, first.columns)
    check.columns_exist("keys of the released file", wanted, second.columns)
    check.columns_exist("strata", by, first.columns)
    both = [name for name in by if name in names]
    if both:
        raise TacitaError(
            f"strata are shown by their values, so they must not be keys; leave out {check.quoted(both)}."
        )


def _check_finite(x: Floats, y: Floats, names: tuple[str, ...]) -> None:
    infinite = np.isinf(x).any(axis=0) | np.isinf(y).any(axis=0)
    if infinite.any():
        wrong = [name for name, is_infinite in zip(names, np.atleast_1d(infinite), strict=True) if is_infinite]
        raise TacitaError(f"keys must be finite; {check.quoted(wrong)} has infinite values, correct the file.")


def strata_of_rows(data: Data, by: tuple[str, ...], rows: Ints) -> tuple[Ints, tuple[str, ...]]:
    """By record the index of its stratum, and the names of the strata in order."""
    if not by:
        return np.zeros(len(rows), dtype=np.int64), ("",)
    from tacita.keys.source import distinct_keys

    coded = [data.coded(name) for name in by]
    stratum, codes = distinct_keys([each.codes[rows] for each in coded], [len(each.values) for each in coded])
    texts = [[None, *(str(value) for value in each.values)] for each in coded]
    parts = [tuple(text[code] for text, code in zip(texts, row, strict=True)) for row in codes.tolist()]
    return stratum.astype(np.int64), stratum_labels(parts)
