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
from tacita.distance.distances import Metric, sum_at
from tacita.distance.tree import select, sort

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


@compiled
def farthest_from_centre(
    outer: Outermost, columns: Floats, groups: Ints, count: int, centre: Floats, metric: Metric
) -> int:
    """Of the records without a group, `count` of them: the one farthest from the centre, the lowest row of several.

    The same as comparing all of them, to the bit.
    """
    if outer.counts[LENGTH] > 0 and outer.counts[LOOKED] <= count:
        row, certain = _search(outer, columns, groups, centre, metric)
        if certain:
            return row
    _fill(outer, columns, groups, count, centre, metric)
    return _search(outer, columns, groups, centre, metric)[0]


@compiled
def distance_at(columns: Floats, row: int, centre: Floats, metric: Metric) -> float:
    """The distance of a record from the only row of `centre`."""
    total = sum_at(columns, row, centre, 0, metric)
    return np.sqrt(total) if metric.rooted else total


@compiled
def _fill(outer: Outermost, columns: Floats, groups: Ints, count: int, centre: Floats, metric: Metric) -> None:
    """Make the list anew, from the centre as it is now."""
    distance, row, found = np.empty((count, 1)), np.empty(count, np.int64), 0
    for i in range(len(groups)):
        if groups[i] < 0:
            distance[found, 0], row[found] = distance_at(columns, i, centre, metric), i
            found += 1
    size = min(count, max(FEWEST, int(count * SHARE)))
    # Loops of our own: NumPy's partition and sort take longer to compile than all the rest.
    select(row, distance, 0, 0, count - 1, count - size)
    outer.limit[0] = 0.0 if size == count else distance[count - size, 0]
    first = count - size
    for i in range(first - 1, -1, -1):
        # Those that are just as far as the limit are in the list too.
        if distance[i, 0] == outer.limit[0]:
            first -= 1
            row[first], row[i] = row[i], row[first]
            distance[first, 0], distance[i, 0] = distance[i, 0], distance[first, 0]
    sort(distance[:, 0], row, distance, first, count)
    for i in range(count - first):
        outer.row[i], outer.distance[i] = row[count - 1 - i], distance[count - 1 - i, 0]
    for j in range(centre.shape[1]):
        outer.centre[0, j] = centre[0, j]
    outer.counts[FIRST], outer.counts[LENGTH], outer.counts[LOOKED] = 0, count - first, 0


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
