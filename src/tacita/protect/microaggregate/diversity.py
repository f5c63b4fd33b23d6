"""Groups with enough different values of a sensitive variable: those with too few are merged with the nearest group."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.distance.distances import Metric, without_overflow
from tacita.distance.remaining import nearest, remaining, remove
from tacita.distance.tree import build


def merged_until_diverse(
    values: Floats, groups: Ints, metric: Metric, sensitive: Ints, distinct: int
) -> tuple[Ints, int]:
    """By record: its group, after merging, numbered from 0; and how many groups were merged into another.

    The groups with fewer than `distinct` different values are taken in their order; each is merged into the group whose
    mean, as the groups were at first, is nearest. All records together have that many values.

    >>> from tacita.distance.distances import euclidean
    >>> x, illness = np.array([[1.0], [2.0], [3.0], [4.0], [9.0], [9.0]]), np.array([1, 1, 2, 1, 1, 2])
    >>> merged_until_diverse(x, np.array([0, 0, 1, 1, 2, 2]), euclidean(np.ones(1)), illness, 2)
    (array([0, 0, 0, 0, 1, 1]), 1)
    """
    found = _different_values(groups, sensitive)
    into = np.arange(len(found))
    means = np.stack([np.bincount(groups, column) for column in values.T], axis=1) / np.bincount(groups)[:, None]
    metric, _ = without_overflow(metric, means)
    tree = build(means, scale=metric.weight)
    left, row, distance = remaining(tree), np.empty(1, np.int64), np.empty(1)
    for each in range(len(found)):
        if len(found[each]) < distinct:
            remove(tree, left, each)
            nearest(tree, left, means, each, metric, False, row, distance)
            into[each] = row[0]
            found[row[0]] |= found[each]
    fewer = int((into != np.arange(len(into))).sum())
    return np.unique(_ends(into)[groups], return_inverse=True)[1].reshape(-1), fewer


def _different_values(groups: Ints, sensitive: Ints) -> list[set[int]]:
    """By group: the values that its members have."""
    pairs = np.unique(np.stack([groups, sensitive], axis=1), axis=0)
    cuts = np.searchsorted(pairs[:, 0], np.arange(1, groups.max() + 1))
    return [set(each.tolist()) for each in np.split(pairs[:, 1], cuts)]


def _ends(into: Ints) -> Ints:
    """By group: the one that it is part of at last, following the merges."""
    while (into[into] != into).any():
        into = into[into]
    return into
