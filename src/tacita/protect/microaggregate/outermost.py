"""The record farthest from a centre that moves a little at a time, without looking at all records.

Records are sorted once by their distance from the centre as it was. No record is farther from the centre now than that
distance plus the way the centre went (triangle inequality), so the search goes down the list and ends where the rest
cannot reach the best one found. When the centre has gone far, the list is made anew. Only the outer part of the records
is in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric, pair_sums, sum_at

SHARE = 0.05
"""So many of the records that are left are in the list."""
FEWEST = 64
"""Or at least so many."""
SLACK = 1.0 + 1e-9
"""Bounds are taken this much wider, so that rounding cannot make one too small."""
FIRST, LENGTH, LOOKED = 0, 1, 2


class Outermost(NamedTuple):
    """Records in falling order of their distance from a centre."""

    row: Ints
    distance: Floats
    centre: Floats
    """One row: the centre that distances are from."""
    limit: Floats
    """One number: no record that is not in the list is as far as this."""
    counts: Ints
    """The first entry that may still be there, how many there are, how many were looked at since the list was made."""


def outermost(records: int, variables: int) -> Outermost:
    """A list without records; the first search fills it."""
    nowhere = np.full((1, variables), np.nan)
    return Outermost(np.empty(records, np.int64), np.empty(records), nowhere, np.zeros(1), np.zeros(3, np.int64))


def farthest_from_centre(
    outer: Outermost, columns: Floats, groups: Ints, count: int, centre: Floats, metric: Metric
) -> int:
    """Of the records without a group, `count` of them: the one farthest from the centre, the lowest row of several.

    The same as comparing all of them, to the bit.
    """
    row = search(outer, columns, groups, count, centre, metric)
    if row < 0:
        fill(outer, columns, groups, centre, metric)
        row = search(outer, columns, groups, count, centre, metric)
    return row


def fill(outer: Outermost, columns: Floats, groups: Ints, centre: Floats, metric: Metric) -> None:
    """Make the list anew, from the centre as it is now.

    In NumPy, since it is done now and then: sorting takes longer to compile than all the rest.
    """
    rows = np.flatnonzero(groups < 0)
    if not len(rows):
        return
    total = pair_sums(columns, rows, np.broadcast_to(centre, (len(rows), centre.shape[1])), metric)
    distance = np.sqrt(total) if metric.rooted else total
    size = min(len(rows), max(FEWEST, int(len(rows) * SHARE)))
    outer.limit[0] = np.partition(distance, len(rows) - size)[len(rows) - size] if size < len(rows) else 0.0
    # Those that are just as far as the limit are in the list too.
    kept = np.flatnonzero(distance >= outer.limit[0])
    kept = kept[np.argsort(-distance[kept], kind="stable")]
    outer.row[: len(kept)], outer.distance[: len(kept)] = rows[kept], distance[kept]
    outer.centre[:] = centre
    outer.counts[[FIRST, LENGTH, LOOKED]] = 0, len(kept), 0


@compiled
def search(outer: Outermost, columns: Floats, groups: Ints, count: int, centre: Floats, metric: Metric) -> int:
    """The record farthest from the centre, of `count` that are left; -1 where the list must be made anew first."""
    if outer.counts[LENGTH] == 0 or outer.counts[LOOKED] > count:
        return -1
    fresh = outer.counts[LOOKED] == 0
    row, certain = _search(outer, columns, groups, centre, metric)
    return row if fresh or certain else -1


@compiled
def distance_at(columns: Floats, row: int, centre: Floats, metric: Metric) -> float:
    """The distance of a record from the only row of `centre`."""
    total = sum_at(columns, row, centre, 0, metric)
    return np.sqrt(total) if metric.rooted else total


@compiled
def _search(outer: Outermost, columns: Floats, groups: Ints, centre: Floats, metric: Metric) -> tuple[int, bool]:
    """The farthest record of the list, and whether none outside the list can be farther."""
    gone = distance_at(outer.centre.T, 0, centre, metric)
    best, best_row, reach = -1.0, -1, -1.0
    first, last = outer.counts[FIRST], outer.counts[LENGTH]
    while first < last and groups[outer.row[first]] >= 0:
        first += 1
    outer.counts[FIRST] = first
    for i in range(first, last):
        if (outer.distance[i] + gone) * SLACK < reach:
            return best_row, True
        outer.counts[LOOKED] += 1
        row = outer.row[i]
        if groups[row] < 0:
            total = sum_at(columns, row, centre, 0, metric)
            if total > best or (total == best and row < best_row):
                best, best_row = total, row
                reach = np.sqrt(total) if metric.rooted else total
    return best_row, (outer.limit[0] + gone) * SLACK < reach
