"""One-to-one linkage: how many released records does an intruder link rightly who gives each record one partner?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.distance.comparison import space
from tacita.distance.scenario_keys import AnyKeys, Unit
from tacita.measures import measure, own_rule
from tacita.parameters import AtLeast, Doc, checked_options
from tacita.progress import Progress, no_progress
from tacita.result import percent
from tacita.risk.linkage.files import (
    Distance,
    External,
    Standardise,
    compared_values,
    complete_values,
    distance_text,
    keys_of_distance,
    positions,
    two_files,
)
from tacita.risk.linkage.linked import LINKED, Linkage
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False, kw_only=True)
class OneToOneLinkage(Linkage):
    """All released records linked at once, each to a record of its own, at the least total distance."""

    distance: Floats
    """By released record: the distance of its link, NaN if it has none."""
    bound: float
    """No one-to-one linkage has a smaller total distance."""
    left_out: int
    """Records of the intruder's file with missing values."""

    @property
    def total_distance(self) -> float:
        """The sum of the distances of the links."""
        return float(np.nansum(self.distance))

    @property
    def gap(self) -> float:
        """How much the total may be above the least possible one, as a share of it; below 1e-9 it is the least one."""
        return (self.total_distance - self.bound) / self.total_distance if self.total_distance > 0 else 0.0

    def _further_sentences(self) -> list[str]:
        proved = "the least possible" if self.gap <= 1e-9 else f"at most {percent(self.gap)} above the least possible"
        lines = [f"total distance {self.total_distance:.6g}, {proved}"]
        if self.left_out:
            lines.append(
                f"{check.counted(self.left_out, 'record')} of the intruder's file with missing values left out"
            )
        return lines

    def _missing_treatment(self) -> str:
        return "left out"

    def record_columns(self) -> dict[str, Any]:
        """The link of each record with its distance."""
        return {**super().record_columns(), "distance": self.distance}

    def to_dict(self) -> dict[str, Any]:
        """Links of every kind, the total distance and how sure it is the least one."""
        return {**super().to_dict(), "total_distance": self.total_distance, "bound": self.bound}


@measure(
    files=2,
    limit=LINKED,
    for_perturbed=True,
    missing=own_rule("Records with a missing value are left out and counted."),
)
def one_to_one_linkage(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: AnyKeys = None,
    distance: Distance = "euclidean",
    standardise: Standardise = True,
    gap: Annotated[float, AtLeast(0), Doc("Stop within this share of the least total distance.")] = 1e-9,
    unit: Unit = None,
    external: External = False,
    progress: Progress = no_progress,
) -> OneToOneLinkage:
    """Link all released records at once, each to a record of its own, at the least total distance.

    An intruder who knows that both files hold the same units does better than with the nearest record: a record that is
    already taken does not count any more. The assignment is exact, with a proof: a total distance that no assignment
    can beat (`bound`); `gap=0.01` stops within one percent of it. Equal records cannot be distinguished: which of them
    is linked to which is chance, and `correct` is the probability. If other assignments have the same total distance,
    one of them is reported.

    Keys, distances, `unit` and `external` are those of `distance_linkage`. Records with missing values are left out.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 20.0, 40.0]})
    >>> noisy = pl.DataFrame({"turnover": [16.0, 17.0, 44.0]})
    >>> found = one_to_one_linkage(firms, noisy, Scenario(numeric_keys=["turnover"]), standardise=False)
    >>> found.expected_correct, found.total_distance
    (3.0, 13.0)
    """
    from tacita.distance.assignment import assign
    from tacita.distance.equal_rows import shared_links

    names = keys_of_distance("one_to_one_linkage", scenario, keys, distance)
    gap = checked_options(one_to_one_linkage, {"gap": gap})["gap"]
    progress(0.0, "comparing records")
    files = two_files(original, released, names, scenario, unit, external)
    values = compared_values(files, distance)
    others, rows = (np.flatnonzero(~np.isnan(each).any(axis=1)) for each in values[:2])
    n = len(files.released)
    link, candidates, away, correct = np.full(n, -1), np.zeros(n, np.int64), np.full(n, np.nan), np.zeros(n)
    clear, bound = np.zeros(n, dtype=np.bool_), 0.0
    if len(rows) and len(others):
        every = np.ones(len(files.names), dtype=np.bool_)
        x, y, metric = space(*complete_values(values, rows, others, every), values.nominal, distance, standardise)
        found = assign(y, x, metric, gap=gap, progress=progress)
        pair_y, pair_x = files.own_pairs()
        at_y, at_x = positions(rows, n)[pair_y], positions(others, len(values.original))[pair_x]
        both, used = (at_y >= 0) & (at_x >= 0), metric.weight > 0
        candidates[rows], clear[rows], correct[rows] = shared_links(
            x[:, used], y[:, used], found.partner, (at_y[both], at_x[both])
        )
        link[rows], away[rows], bound = (
            np.where(found.partner < 0, -1, others[found.partner]),
            found.distance,
            found.bound,
        )
    return OneToOneLinkage(
        **files.linked(link, candidates, clear & (candidates == 1), correct),
        how=f"one to one, {distance_text(distance, standardise)}",
        missing=n - len(rows),
        distance=files.in_rows(away),
        bound=bound,
        left_out=len(files.original) - len(others),
    )
