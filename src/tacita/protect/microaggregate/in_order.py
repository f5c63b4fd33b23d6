"""Groups around records that are taken in a given order: of variable size (V-MDAV), or by robust distance."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric, distances
from tacita.distance.remaining import nearest
from tacita.progress import Progress, no_progress
from tacita.protect.microaggregate.ungrouped import FORMED, LEFT, Ungrouped, form_group, join, ungrouped

GROUPS = 4096
"""Groups that are formed between two calls of the progress."""


def variable_mdav(values: Floats, k: int, metric: Metric, gamma: float, progress: Progress = no_progress) -> Ints:
    """By record: its group of k to 2k - 1 records, larger where records lie close together (V-MDAV).

    Records are taken in falling order of their distance from the mean of all; the rest is as in `groups_in_order`.

    Reference: Solanas and Martinez-Balleste (2006), V-MDAV: a multivariate microaggregation with variable group size.
    COMPSTAT.

    >>> from tacita.distance.distances import euclidean
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [50.0], [51.0], [90.0], [91.0], [92.0]])
    >>> variable_mdav(x, 2, euclidean(np.ones(1)), 1.1).tolist()
    [1, 1, 1, 2, 2, 2, 0, 0, 0]
    """
    centre = np.broadcast_to(values.mean(axis=0), values.shape)
    order = np.argsort(-distances(values, centre, metric), kind="stable")
    return groups_in_order(values, k, metric, order, gamma, progress)


def groups_in_order(
    values: Floats, k: int, metric: Metric, order: Ints, gamma: float = 0.0, progress: Progress = no_progress
) -> Ints:
    """By record: its group, formed around the first record in the order that has none, from its k - 1 nearest.

    The record nearest to the group, at a distance d from its nearest member, joins it if d < gamma d', where d' is its
    distance from the nearest other record without a group; again, until none joins or the group has 2k - 1 records.
    The last records, fewer than k, join the group whose mean is nearest. With gamma 0 no record joins but those.
    """
    given, place = ungrouped(values, metric), np.zeros(1, np.int64)
    while given.counts[LEFT] >= k:
        progress(1.0 - given.counts[LEFT] / len(values), "grouping records")
        _form_groups(given, order, place, k, gamma, GROUPS)
    last = np.flatnonzero(given.groups < 0)
    given.groups[last] = nearest_group(values[last], values, given.groups, metric)
    return given.groups


@compiled
def _form_groups(given: Ungrouped, order: Ints, place: Ints, k: int, gamma: float, most: int) -> None:
    members = np.empty(2 * k, np.int64)
    for _ in range(most):
        if given.counts[LEFT] < k:
            break
        while given.groups[order[place[0]]] >= 0:
            place[0] += 1
        group = given.counts[FORMED]
        form_group(given, order[place[0]], k, members)
        size = k
        while gamma > 0.0 and size < 2 * k - 1 and given.counts[LEFT] > 0:
            row = _next_member(given, members[:size], gamma)
            if row < 0:
                break
            join(given, row, group)
            members[size] = row
            size += 1


@compiled
def _next_member(given: Ungrouped, members: Ints, gamma: float) -> int:
    """The record that joins a group; -1 if none does."""
    rows, sums = np.empty(1, np.int64), np.empty(1)
    row, inside = -1, np.inf
    for member in members:
        nearest(given.tree, given.remaining, given.values, member, given.metric, False, rows, sums)
        if sums[0] < inside or (sums[0] == inside and rows[0] < row):
            row, inside = rows[0], sums[0]
    two, distance = np.empty(2, np.int64), np.empty(2)
    found, _ = nearest(given.tree, given.remaining, given.values, row, given.metric, False, two, distance)
    # The nearest to the record is the record itself, or one that equals it.
    outside = distance[1] if found == 2 else np.inf
    factor = gamma * gamma if given.metric.rooted else gamma
    return row if inside < factor * outside else -1


def nearest_group(rows: Floats, values: Floats, groups: Ints, metric: Metric) -> Ints:
    """By row: the group whose mean is nearest, the first of several; records of group -1 are in none."""
    there = groups >= 0
    size = np.bincount(groups[there])
    means = np.stack([np.bincount(groups[there], column[there]) for column in values.T], axis=1) / size[:, None]
    nearest_one = [int(distances(means, np.broadcast_to(row, means.shape), metric).argmin()) for row in rows]
    return np.array(nearest_one, dtype=np.int64)
