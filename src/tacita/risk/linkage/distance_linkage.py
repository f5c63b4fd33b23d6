"""Record linkage by distance: how many released records does an intruder link to the right unit?

The intruder has a file with some of the released variables: in the worst case the original itself, otherwise a register
or the file of another survey. He links every released record to the record of his file that is nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita.arrays import Floats
from tacita.distance.comparison import patterns, space
from tacita.distance.scenario_keys import AnyKeys, Unit
from tacita.measures import measure, own_rule
from tacita.progress import Progress, no_progress
from tacita.result import number
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
class DistanceLinkage(Linkage):
    """Every released record linked to the nearest record of the intruder's file."""

    distance: Floats
    """By released record: the distance of the nearest record, NaN if there is none."""
    second_distance: Floats
    """By released record: the distance of the second nearest, infinite if there is none."""
    second_correct: Floats | None
    """By released record: the probability that one of the second nearest, drawn at random, is the right one."""

    @property
    def expected_second(self) -> float:
        """How many records of the same unit are the second nearest."""
        return float("nan") if self.second_correct is None else float(self.second_correct.sum())

    def _further_sentences(self) -> list[str]:
        if self.second_correct is None:
            return []
        return [f"the second nearest would be right for {number(self.expected_second)} more"]

    def record_columns(self) -> dict[str, Any]:
        """The link of each record with its distance and the next one."""
        second = np.where(np.isinf(self.second_distance), np.nan, self.second_distance)
        return {**super().record_columns(), "distance": self.distance, "second_distance": second}

    def to_dict(self) -> dict[str, Any]:
        """Links of every kind."""
        known = self.second_correct is not None
        return {**super().to_dict(), "second_correct": self.expected_second if known else None}


@measure(
    files=2,
    limit=LINKED,
    for_perturbed=True,
    missing=own_rule("Records are compared on the variables that both show."),
)
def distance_linkage(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: AnyKeys = None,
    distance: Distance = "euclidean",
    standardise: Standardise = True,
    unit: Unit = None,
    external: External = False,
    progress: Progress = no_progress,
) -> DistanceLinkage:
    """Link every released record to the nearest record of the intruder's file.

    The share of right links is what an intruder achieves who knows the keys of everybody and knows that they were
    changed a little. With several equally near records he draws one: 1/ties. Distances: `euclidean` or `manhattan`,
    each variable divided by its standard deviation over both files unless `standardise=False`; `mahalanobis`, by the
    covariance of both files; `gower`, for variables of any scale: |x - y| over the range, ranks of the categories for
    ordinal ones, 0 or 1 for nominal ones, averaged. Records are compared on the scenario's numeric keys, by `gower` on
    all its keys, or on the `keys` given.

    A released record with missing values is compared on the variables it shows, with the records that show them too.
    Who is who is known by record number, or by the column `unit` of both files; an `external` file without such a
    column gives links and ties only. Where the scenario's `person` repeats over records, a link to any record of the
    right unit is right.

    References: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure
    control methods for microdata.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 20.0, 40.0], "staff": [1, 2, 9]})
    >>> noisy = pl.DataFrame({"turnover": [11.0, 29.0, 41.0], "staff": [1, 6, 8]})
    >>> found = distance_linkage(firms, noisy, Scenario(numeric_keys=["turnover", "staff"]))
    >>> found.expected_correct, found.status()
    (2.0, ['correct', 'false', 'correct'])
    """
    from tacita.distance.links import EQUAL, nearest_two, own_distances

    names = keys_of_distance("distance_linkage", scenario, keys, distance)
    files = two_files(original, released, names, scenario, unit, external)
    values, (pair_y, pair_x) = compared_values(files, distance), files.own_pairs()
    n = len(files.released)
    link, ties, away, second = np.full(n, -1), np.zeros(n, np.int64), np.full(n, np.nan), np.full(n, np.inf)
    correct, second_correct = np.zeros(n), np.zeros(n)
    compared = 0
    for rows, shown in patterns(values.released):
        progress(compared / n, "linking records")
        compared += len(rows)
        others = np.flatnonzero(~np.isnan(values.original[:, shown]).any(axis=1))
        if not shown.any() or not len(others):
            continue
        complete = complete_values(values, rows, others, shown)
        x, y, metric = space(*complete, values.nominal[shown], distance, standardise)
        found = nearest_two(y, x, metric)
        link[rows], ties[rows] = others[found.row], found.ties
        away[rows], second[rows] = found.distance, found.second_distance
        at_y, at_x = positions(rows, n)[pair_y], positions(others, len(values.original))[pair_x]
        both = (at_y >= 0) & (at_x >= 0)
        known = at_y[both]
        true = own_distances(y[known], x[at_x[both]], metric)
        nearest = true <= found.distance[known] * (1.0 + EQUAL)
        next_one = ~nearest & (true <= found.second_distance[known] * (1.0 + EQUAL))
        correct[rows] = np.bincount(known, nearest, len(rows)) / found.ties
        second_correct[rows] = np.bincount(known, next_one, len(rows)) / np.maximum(found.second_ties, 1)
    return DistanceLinkage(
        **files.linked(link, ties, ties == 1, correct),
        how=distance_text(distance, standardise),
        missing=int(np.isnan(values.released).any(axis=1).sum()),
        distance=files.in_rows(away),
        second_distance=files.in_rows(second),
        second_correct=None if files.own is None else files.in_rows(second_correct),
    )
