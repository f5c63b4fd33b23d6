"""A classification or regression tree as plain arrays, and draws from its leaves.

Splits maximise the decrease of the sum of squares (numbers) or of Gini's index (classes), as in Breiman, Friedman,
Olshen and Stone (1984), Classification and regression trees. The tree is not pruned: a leaf is to hold few records that
are alike, not to predict well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints

LEAST_GAIN = 1e-8
"""A split that decreases the impurity by less than this share of the whole file's is not made."""


class Features(NamedTuple):
    """What a tree may split by: one row per feature, one column per record."""

    values: Floats
    """Numbers, minus infinity where missing; of a nominal feature its category, 0, 1, ..."""
    categories: Ints
    """By feature: how many categories it has; 0 where its values have an order."""

    def of(self, records: Ints) -> Features:
        """The features of some records."""
        return Features(self.values[:, records], self.categories)


class Response(NamedTuple):
    """What a tree is grown for, by record."""

    values: Floats
    """Numbers, or classes 0, 1, ..."""
    classes: int
    """How many classes; 0 for numbers."""
    weight: Floats
    """What each record counts for."""


class Growth(NamedTuple):
    """When a node is not split any more."""

    least_leaf: int = 5
    """Records that a leaf holds at least."""
    least_distinct: int = 1
    """Different values that a leaf holds at least: a best split that leaves fewer is not made."""


class Tree(NamedTuple):
    """A tree by node, the root first; it can be written to a file and read by any program.

    A record goes to the left child where its value is at most the threshold, or its category is among those of `sets`.
    """

    feature: Ints
    """The feature that the node splits by; -1: a leaf."""
    threshold: Floats
    """For a feature with an order."""
    left: Ints
    right: Ints
    """The children; -1 of a leaf."""
    start: Ints
    """For a nominal feature: where its categories begin in `sets`; -1 otherwise."""
    sets: NDArray[np.uint8]
    """One by category: whether it goes left."""

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int((self.feature < 0).sum())

    def to_dict(self) -> dict[str, list[Any]]:
        """The tree as lists; minus infinity, below which only missing values are, is none."""
        plain = {name: getattr(self, name).tolist() for name in self._fields}
        plain["threshold"] = [None if value == -np.inf else value for value in plain["threshold"]]
        return plain

    @classmethod
    def from_dict(cls, given: dict[str, list[Any]]) -> Tree:
        """The tree of such lists.

        >>> tree = grown(Features(np.array([[1.0, 2.0]]), np.array([0])), Response(np.array([3.0, 4.0]), 0, np.ones(2)),
        ...     Growth(least_leaf=1))
        >>> Tree.from_dict(tree.to_dict()).threshold.tolist()
        [1.5, 0.0, 0.0]
        """
        threshold = [-np.inf if value is None else value for value in given["threshold"]]
        whole = {name: np.array(given[name], np.int64) for name in ("feature", "left", "right", "start")}
        return cls(**whole, threshold=np.array(threshold, np.float64), sets=np.array(given["sets"], np.uint8))


def grown(features: Features, response: Response, growth: Growth) -> Tree:
    """The tree of some records.

    Of equally good splits the one of the first feature is made, and of one feature the one with the smallest left side
    in the order of its values. Nominal features with two classes or numbers are split by the order of their means,
    which gives the best of all subsets; with more classes by the orders of the shares of the most frequent classes.
    """
    from tacita.trees import tree_loops

    count = len(response.values)
    values = np.ascontiguousarray(features.values, dtype=np.float64)
    order = np.empty(values.shape, np.int32)
    for place, row in enumerate(values):
        order[place] = np.argsort(row, kind="stable")
    # Numbers far from 0 would lose their digits when squared.
    middle = 0.0 if response.classes or not count else float(np.sort(response.values)[count // 2])
    centred, least = response.values - middle, min(growth.least_leaf, count + 1)
    room = tree_loops.Room.of(2 * (count // least) + 1, response.classes, count)
    nodes, sets = tree_loops.grow(
        values,
        order,
        features.categories.astype(np.int64),
        centred,
        response.classes,
        response.weight,
        least,
        min(growth.least_distinct, count + 1),
        LEAST_GAIN * impurity(centred, response.classes, response.weight),
        room,
    )
    feature, threshold, left, right, start = (each[:nodes].copy() for each in room[:5])
    return Tree(feature, threshold, left, right, start, sets)


def impurity(response: Floats, classes: int, weight: Floats) -> float:
    """The impurity of all records: sum of squares around the mean, or Gini's index times the weight.

    >>> impurity(np.array([1.0, 3.0]), 0, np.ones(2)), impurity(np.array([0.0, 1.0]), 2, np.ones(2))
    (2.0, 1.0)
    """
    total = _sum(weight)
    if total == 0.0:
        return 0.0
    if classes:
        counts = np.bincount(response.astype(np.int64), weight, classes).astype(np.float64)
        return total - _sum(counts**2) / total
    return _sum(weight * response**2) - _sum(weight * response) ** 2 / total


def _sum(values: Floats) -> float:
    """The sum in the order of the values, as loops have it."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def leaves_of(tree: Tree, features: Features) -> Ints:
    """By record: the node of its leaf."""
    from tacita.trees import tree_loops

    values = np.ascontiguousarray(features.values, dtype=np.float64)
    leaves = np.zeros(values.shape[1], np.int64)
    tree_loops.find_leaves(*tree, values, leaves)
    return leaves


class Donors(NamedTuple):
    """The records in the leaves of a tree, whose values are drawn from."""

    rows: Ints
    """The donors, leaf after leaf, in the order of their values."""
    start: Ints
    """By node: where its donors begin."""
    end: Ints
    """By node: where they end."""
    weight: Floats
    """Weights of the donors, added up over `rows`."""


def donors(leaf: Ints, values: Floats, weight: Floats) -> Donors:
    """The donors by leaf; equal values are in the order of the records."""
    rows = np.lexsort((values, leaf))
    ends = np.cumsum(np.bincount(leaf, minlength=1))
    return Donors(rows, np.append(0, ends[:-1]), ends, np.cumsum(weight[rows]))


def drawn(given: Donors, leaf: Ints, uniform: Floats) -> Ints:
    """By record one of the donors of its leaf: a uniform number says how far along their weights.

    >>> given = donors(np.zeros(3, int), np.array([7.0, 5.0, 6.0]), np.ones(3))
    >>> drawn(given, np.zeros(3, int), np.array([0.1, 0.5, 0.9])).tolist()
    [1, 2, 0]
    """
    first, last = given.start[leaf], given.end[leaf] - 1
    before = np.append(0.0, given.weight)[first]
    target = before + uniform * (given.weight[last] - before)
    place = np.searchsorted(given.weight, target, side="right")
    chosen: Ints = given.rows[np.clip(place, first, last)]
    return chosen
