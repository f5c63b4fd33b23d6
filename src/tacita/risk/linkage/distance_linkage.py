"""Record linkage by distance: how many released records does an intruder link to the right unit?

The intruder has a file with some of the released variables: in the worst case the original itself, otherwise a register
or the file of another survey. He links every released record to the record of his file that is nearest, or all of them
at once, one to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.distance.comparison import Compared, patterns, space
from tacita.result import number, percent
from tacita.risk.linkage.linked import Linkage, compared_values, two_files


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

    def _more(self) -> list[str]:
        if self.second_correct is None:
            return []
        return [f"the second nearest would be right for {number(self.expected_second)} more"]

    def record_columns(self) -> dict[str, Any]:
        """The link of each record with its distance and the next one."""
        second = np.where(np.isinf(self.second_distance), np.nan, self.second_distance)
        return {**super().record_columns(), "distance": self.distance, "second_distance": second}

    def figures(self) -> dict[str, Any]:
        """Links of every kind."""
        known = self.second_correct is not None
        return {**super().figures(), "second_correct": self.expected_second if known else None}


def distance_linkage(
    original: Any,
    released: Any,
    variables: Any,
    *,
    distance: str = "euclidean",
    standardise: bool = True,
    unit: str | None = None,
    external: bool = False,
) -> DistanceLinkage:
    """Link every released record to the nearest record of the intruder's file.

    The share of right links is what an intruder achieves who knows the variables of everybody and knows that they were
    changed a little. With several equally near records he draws one: 1/ties. Distances: `euclidean` or `manhattan`,
    each variable divided by its standard deviation over both files unless `standardise=False`; `mahalanobis`, by the
    covariance of both files; `gower`, for variables of any scale: |x - y| over the range, places in the order for
    ordinal ones, 0 or 1 for nominal ones, averaged.

    A released record with missing values is compared on the variables it shows, with the records that show them too.
    Who is who is known by record number, or by the column `unit` of both files; an `external` file without such a
    column gives links and ties only.

    References: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure
    control methods for microdata.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 20.0, 40.0], "staff": [1, 2, 9]})
    >>> noisy = pl.DataFrame({"turnover": [11.0, 29.0, 41.0], "staff": [1, 6, 8]})
    >>> found = distance_linkage(firms, noisy, ["turnover", "staff"])
    >>> found.expected_correct, found.status()
    (2.0, ['correct', 'false', 'correct'])
    """
    from tacita.distance.links import EQUAL, nearest_two, own_distances

    files = two_files(original, released, variables, unit, external)
    values, own = compared_values(files, distance), files.own_places
    n = len(files.released)
    link, ties, away, second = np.full(n, -1), np.zeros(n, np.int64), np.full(n, np.nan), np.full(n, np.inf)
    correct, second_correct = np.zeros(n), np.zeros(n)
    for rows, shown in patterns(values.released):
        others = np.flatnonzero(~np.isnan(values.original[:, shown]).any(axis=1))
        if not shown.any() or not len(others):
            continue
        x, y, metric = space(*_complete(values, rows, others, shown), values.nominal[shown], distance, standardise)
        found = nearest_two(y, x, metric)
        link[rows], ties[rows] = others[found.row], found.ties
        away[rows], second[rows] = found.distance, found.second_distance
        place = np.full(len(values.original), -1)
        place[others] = np.arange(len(others))
        known = np.flatnonzero((own[rows] >= 0) & (place[own[rows]] >= 0))
        true = own_distances(y[known], x[place[own[rows[known]]]], metric)
        nearest = true <= found.distance[known] * (1.0 + EQUAL)
        next_one = ~nearest & (true <= found.second_distance[known] * (1.0 + EQUAL))
        correct[rows[known]] = nearest / found.ties[known]
        second_correct[rows[known]] = next_one / np.maximum(found.second_ties[known], 1)
    return DistanceLinkage(
        **files.linked(link, ties, ties == 1, correct),
        how=_how(distance, standardise),
        missing=int(np.isnan(values.released).any(axis=1).sum()),
        distance=files.in_rows(away),
        second_distance=files.in_rows(second),
        second_correct=None if files.own is None else files.in_rows(second_correct),
    )


def _how(distance: str, standardise: bool) -> str:
    """How records are compared, in words."""
    scaled = standardise and distance in ("euclidean", "manhattan")
    return f"{distance} distance{', standardised' if scaled else ''}"


def _complete(values: Compared, rows: Ints, others: Ints, shown: Any) -> tuple[Floats, Floats, Floats]:
    """The variables that some released records show: of the originals that show them, of those records, and of all
    records of both files that show them."""
    x, every = values.original[others][:, shown], values.released[:, shown]
    return x, values.released[rows][:, shown], np.concatenate([x, every[~np.isnan(every).any(axis=1)]])


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

    def _more(self) -> list[str]:
        proved = "the least possible" if self.gap <= 1e-9 else f"at most {percent(self.gap)} above the least possible"
        lines = [f"total distance {self.total_distance:.6g}, {proved}"]
        if self.left_out:
            lines.append(
                f"{check.counted(self.left_out, 'record')} of the intruder's file with missing values left out"
            )
        return lines

    def _blanks(self) -> str:
        return "left out"

    def record_columns(self) -> dict[str, Any]:
        """The link of each record with its distance."""
        return {**super().record_columns(), "distance": self.distance}

    def figures(self) -> dict[str, Any]:
        """Links of every kind, the total distance and how sure it is the least one."""
        return {**super().figures(), "total_distance": self.total_distance, "bound": self.bound}


def one_to_one_linkage(
    original: Any,
    released: Any,
    variables: Any,
    *,
    distance: str = "euclidean",
    standardise: bool = True,
    gap: float = 1e-9,
    unit: str | None = None,
    external: bool = False,
) -> OneToOneLinkage:
    """Link all released records at once, each to a record of its own, at the least total distance.

    An intruder who knows that both files hold the same units does better than with the nearest record: a record that is
    already taken does not count any more. The assignment is exact, with a proof: a total distance that no assignment
    can beat (`bound`); `gap=0.01` stops within one percent of it. Equal records cannot be told apart: which of them is
    linked to which is chance, and `correct` is the probability. If other assignments have the same total distance,
    one of them is reported.

    Distances, `unit` and `external` are those of `distance_linkage`. Records with missing values are left out.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 20.0, 40.0]})
    >>> noisy = pl.DataFrame({"turnover": [16.0, 17.0, 44.0]})
    >>> found = one_to_one_linkage(firms, noisy, ["turnover"], standardise=False)
    >>> found.expected_correct, found.total_distance
    (3.0, 13.0)
    """
    from tacita.distance.assignment import assign
    from tacita.distance.equal_rows import shared_links

    files = two_files(original, released, variables, unit, external)
    if check.number("gap", gap) < 0:
        raise TacitaError(f"gap must be at least 0; got {gap!r}.")
    values = compared_values(files, distance)
    others, rows = (np.flatnonzero(~np.isnan(each).any(axis=1)) for each in values[:2])
    n = len(files.released)
    link, candidates, away, correct = np.full(n, -1), np.zeros(n, np.int64), np.full(n, np.nan), np.zeros(n)
    clear, bound = np.zeros(n, dtype=np.bool_), 0.0
    if len(rows) and len(others):
        every = np.ones(len(files.names), dtype=np.bool_)
        x, y, metric = space(*_complete(values, rows, others, every), values.nominal, distance, standardise)
        found = assign(y, x, metric, gap=gap)
        place = np.full(len(values.original) + 1, -1)  # the last one is for records without an own one
        place[others] = np.arange(len(others))
        used = metric.weight > 0
        candidates[rows], clear[rows], correct[rows] = shared_links(
            x[:, used], y[:, used], found.partner, place[files.own_places[rows]]
        )
        link[rows], away[rows], bound = (
            np.where(found.partner < 0, -1, others[found.partner]),
            found.distance,
            found.bound,
        )
    return OneToOneLinkage(
        **files.linked(link, candidates, clear & (candidates == 1), correct),
        how=f"one to one, {_how(distance, standardise)}",
        missing=n - len(rows),
        distance=files.in_rows(away),
        bound=bound,
        left_out=len(files.original) - len(others),
    )
