"""Records that wait for a group: which are left, their mean, and the nearest of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric, without_overflow
from tacita.distance.remaining import Remaining, nearest, remaining, remove
from tacita.distance.tree import Tree, build

LEFT, FORMED = 0, 1


class Ungrouped(NamedTuple):
    """Records, and the groups formed so far; `form_group` and `join` change it."""

    tree: Tree
    remaining: Remaining
    values: Floats
    """By record and variable."""
    columns: Floats
    """The same by variable and record."""
    metric: Metric
    groups: Ints
    """By record: its group, counted from 0 in the order in which they are formed; -1 if it has none."""
    total: Floats
    """Two rows whose sum is the sum of the records left, by variable: what the first row cannot hold is in the second,
    so that taking records away one by one loses nothing (Knuth's two-sum)."""
    counts: Ints
    """How many records are left, and how many groups are formed."""


def ungrouped(values: Floats, metric: Metric) -> Ungrouped:
    """All records, without groups."""
    metric, _ = without_overflow(metric, values)
    values = np.ascontiguousarray(values)
    tree = build(values, scale=metric.weight)
    n, p = values.shape
    given = Ungrouped(
        tree,
        remaining(tree),
        values,
        np.ascontiguousarray(values.T),
        metric,
        np.full(n, -1),
        np.zeros((2, p)),
        np.array([n, 0]),
    )
    _add_all(given.total, given.values)
    return given


@compiled
def _add_all(total: Floats, values: Floats) -> None:
    for i in range(len(values)):
        for j in range(values.shape[1]):
            _add(total, j, values[i, j])


@compiled
def _add(total: Floats, j: int, value: float) -> None:
    """Add a number to a sum, and what was rounded off to its second row."""
    before = total[0, j]
    after = before + value
    added = after - before
    total[1, j] += (before - (after - added)) + (value - added)
    total[0, j] = after


@compiled
def mean_of_rest(given: Ungrouped, centre: Floats) -> None:
    """Put the mean of the records left into the only row of `centre`."""
    for j in range(centre.shape[1]):
        centre[0, j] = (given.total[0, j] + given.total[1, j]) / given.counts[LEFT]


@compiled
def join(given: Ungrouped, row: int, group: int) -> None:
    """Put a record into a group."""
    remove(given.tree, given.remaining, row)
    given.groups[row] = group
    given.counts[LEFT] -= 1
    for j in range(given.values.shape[1]):
        _add(given.total, j, -given.values[row, j])


@compiled
def form_group(given: Ungrouped, row: int, size: int, members: Ints) -> None:
    """A new group of a record and the nearest ones that are left, the lowest row first of equally near ones.

    The first entries of `members` become its rows.
    """
    group = given.counts[FORMED]
    join(given, row, group)
    rows, sums = members[1:size], np.empty(size - 1)
    members[0] = row
    found, _ = nearest(given.tree, given.remaining, given.values, row, given.metric, False, rows, sums)
    for i in range(found):
        join(given, rows[i], group)
    given.counts[FORMED] += 1
