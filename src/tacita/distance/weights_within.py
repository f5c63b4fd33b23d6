"""The sum of the weights of the points near each record: whole nodes of a tree at once, in whole numbers.

Sums of floats would depend on their order. Weights are multiples of a small power of 2, so that their sums are exact.
"""

from __future__ import annotations

import math

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric, far_sum, greatest_sums, near_sum, norms, sum_at, without_overflow
from tacita.distance.tree import DEPTH, Tree, build

BITS = 62
"""The sum of all weights has so many bits at most."""
FINEST = 40
"""No weight needs more bits behind the point."""


def weights_within(y: Floats, x: Floats, weight: Floats, delta: float, metric: Metric, *, relative: bool) -> Floats:
    """For each row of y the sum of the weights of the rows of x with z = d(y, x) / ||y|| < delta.

    Not `relative`: z is the distance itself.

    >>> from tacita.distance.distances import euclidean
    >>> x, y = np.array([[10.0], [11.0], [14.0]]), np.array([[10.0]])
    >>> weights_within(y, x, np.array([2.5, 4.0, 8.0]), 0.15, euclidean(np.ones(1)), relative=True).tolist()
    [6.5]
    """
    if not len(x) or not len(y):
        return np.zeros(len(y))
    y, x = (np.ascontiguousarray(values, dtype=np.float64) for values in (y, x))
    metric, unit = without_overflow(metric, y, x)
    norm = norms(y, metric) if relative else np.full(len(y), unit)
    limit = greatest_sums(np.full(len(y), delta), norm, metric.rooted)
    total = math.fsum(weight)
    bits = min(FINEST, BITS - math.frexp(total)[1])
    tree = build(x)
    before = np.concatenate([[0], np.cumsum(np.rint(np.ldexp(weight[tree.order], bits)).astype(np.int64))])
    sums = _sums_within(tree, before, y, limit, metric)
    return np.ldexp(sums.astype(np.float64), -bits)


@compiled
def _sums_within(tree: Tree, before: Ints, y: Floats, limit: Floats, metric: Metric) -> Ints:
    """By row of y the difference of running sums over all points whose sum of differences is within its limit."""
    found = np.zeros(len(y), np.int64)
    stack = np.empty(DEPTH, np.int64)
    for row in range(len(y)):
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            if near_sum(tree.low, tree.high, node, y, y, row, metric) > limit[row]:
                continue
            if far_sum(tree.low, tree.high, node, y, y, row, metric) <= limit[row]:
                found[row] += before[tree.stop[node]] - before[tree.start[node]]
            elif tree.left[node] >= 0:
                stack[top], stack[top + 1] = tree.left[node], tree.left[node] + 1
                top += 2
            else:
                for place in range(tree.start[node], tree.stop[node]):
                    if sum_at(tree.points, place, y, row, metric) <= limit[row]:
                        found[row] += before[place + 1] - before[place]
    return found
