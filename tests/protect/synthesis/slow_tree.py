"""A tree grown the slow and obvious way: every cut of every feature is tried, everything is added up anew."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

MOST_ORDERS = 10
LEAST_GAIN = 1e-8


def score(rows: list[int], response: Any, classes: int, weight: Any) -> float:
    """The sum of squares over weight of one side."""
    total = sum(weight[row] for row in rows)
    if not classes:
        return float(sum(weight[row] * response[row] for row in rows)) ** 2 / total
    return sum(sum(weight[row] for row in rows if response[row] == label) ** 2 for label in range(classes)) / total


def orders_of(x: Any, rows: list[int], response: Any, classes: int, weight: Any) -> list[list[float]]:
    """The orders in which the categories of a nominal feature are cut."""
    present = sorted({x[row] for row in rows})
    of = {category: [row for row in rows if x[row] == category] for category in present}
    total = {category: sum(weight[row] for row in of[category]) for category in present}
    if not classes:
        mean = {c: sum(weight[row] * response[row] for row in of[c]) / total[c] for c in present}
        return [sorted(present, key=lambda c: mean[c])]
    size = {label: sum(weight[row] for row in rows if response[row] == label) for label in range(classes)}
    frequent = sorted((label for label in size if size[label]), key=lambda label: -size[label])
    found = []
    for label in frequent[: 1 if len(frequent) <= 2 else MOST_ORDERS]:
        share = {c: sum(weight[row] for row in of[c] if response[row] == label) / total[c] for c in present}
        found.append(sorted(present, key=lambda c: share[c]))
    return found


def splits(features: Any, rows: list[int], response: Any, classes: int, weight: Any) -> Any:
    """All splits in the order in which the first best one is taken: feature, threshold or categories, left rows."""
    for place, x in enumerate(features.values):
        if features.categories[place] == 0:
            values = sorted({x[row] for row in rows})
            for low, high in itertools.pairwise(values):
                middle = low if low == -np.inf else low + (high - low) / 2
                yield place, middle if middle < high else low, [row for row in rows if x[row] <= low]
        else:
            for order in orders_of(x, rows, response, classes, weight):
                for cut in range(1, len(order)):
                    chosen = set(order[:cut])
                    yield place, chosen, [row for row in rows if x[row] in chosen]


def slow_tree(features: Any, response: Any, growth: Any) -> Any:
    """The tree as nested tuples: (feature, threshold or categories, left, right), or the list of records of a leaf."""
    y, classes, weight = response
    middle = 0.0 if classes else sorted(y)[len(y) // 2]
    y = [value - middle for value in y]

    def impurity(rows: list[int]) -> float:
        whole = sum(weight[row] * (1 if classes else y[row] ** 2) for row in rows)
        return whole - score(rows, y, classes, weight)

    everybody = list(range(len(y)))
    needed = LEAST_GAIN * impurity(everybody)

    def node(rows: list[int]) -> Any:
        best, found = -1.0, None
        for feature, where, left in splits(features, rows, y, classes, weight):
            right = [row for row in rows if row not in set(left)]
            if min(len(left), len(right)) >= growth.least_leaf:
                both = score(left, y, classes, weight) + score(right, y, classes, weight)
                if both > best:
                    best, found = both, (feature, where, left, right)
        if found is None or best - score(rows, y, classes, weight) <= needed:
            return rows
        feature, where, left, right = found
        if min(len({y[row] for row in side}) for side in (left, right)) < growth.least_distinct:
            return rows
        return feature, where, node(left), node(right)

    return node(everybody)
