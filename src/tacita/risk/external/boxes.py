"""Sums over the points inside boxes, by a k-d tree: whole nodes are counted or passed over at once.

Imported where it is first needed: it is compiled.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.tree import DEPTH, Tree, build

GROUP_FIRST = 1e12
"""How much wider the first dimension counts: the tree splits groups before anything else."""


def sums_in_boxes(points: Floats, amounts: Ints, low: Floats, high: Floats) -> Ints:
    """By box, one per row: the sums of the amounts of the points inside, bounds included.

    The first dimension is the group of a point. Amounts are whole numbers, so that sums are exact in any order.
    """
    width = np.median(high - low, axis=0) + 1.0
    scale = 1.0 / width
    scale[0] = GROUP_FIRST
    tree = build(points, scale=scale)
    until = np.zeros((len(points) + 1, amounts.shape[1]), np.int64)
    np.cumsum(amounts[tree.order], axis=0, out=until[1:])
    return _sums_in_boxes(tree, until, np.ascontiguousarray(low), np.ascontiguousarray(high))


@compiled
def _sums_in_boxes(tree: Tree, until: Ints, low: Floats, high: Floats) -> Ints:
    sums = np.zeros((len(low), until.shape[1]), np.int64)
    stack = np.empty(DEPTH, np.int64)
    for box in range(len(low)):
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            where = _node_position(tree.low, tree.high, node, low, high, box)
            if where > 0:
                _add(sums, box, until, tree.start[node], tree.stop[node])
            elif where == 0 and tree.left[node] >= 0:
                stack[top], stack[top + 1] = tree.left[node], tree.left[node] + 1
                top += 2
            elif where == 0:
                for i in range(tree.start[node], tree.stop[node]):
                    if _inside(tree.points, i, low, high, box):
                        _add(sums, box, until, i, i + 1)
    return sums


@compiled
def _add(sums: Ints, box: int, until: Ints, start: int, stop: int) -> None:
    for column in range(until.shape[1]):
        sums[box, column] += until[stop, column] - until[start, column]


@compiled
def _node_position(node_low: Floats, node_high: Floats, node: int, low: Floats, high: Floats, box: int) -> int:
    """1 if every point of the node is in the box, -1 if none is, 0 if it is not certain."""
    inside = 1
    for j in range(low.shape[1]):
        if node_high[node, j] < low[box, j] or node_low[node, j] > high[box, j]:
            return -1
        if node_low[node, j] < low[box, j] or node_high[node, j] > high[box, j]:
            inside = 0
    return inside


@compiled
def _inside(points: Floats, i: int, low: Floats, high: Floats, box: int) -> bool:
    for j in range(low.shape[1]):  # noqa: SIM110 (compiled)
        if points[j, i] < low[box, j] or points[j, i] > high[box, j]:
            return False
    return True
