"""A k-d tree over records: how many lie within reach, without looking at pairs.

Points are split at the median of the widest dimension until few are left, or one point many times over. Every node
knows the box around its points, so whole nodes are counted or passed over at once. Results are exact: only comparisons
decide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.compiled import compiled

LEAF = 16
"""Points up to which a node is not split further."""
DEPTH = 256
"""More nodes never wait at once: one on each level, and there are few more levels than halvings of the file."""


class Tree(NamedTuple):
    """A k-d tree; node 0 is the root."""

    points: Floats
    """By dimension and place in the tree: the coordinates. In a leaf the points keep the order of the caller."""
    order: Ints
    """For each place of the tree the row in the caller's array."""
    start: Ints
    """By node: its first place."""
    stop: Ints
    """By node: one after its last place."""
    left: Ints
    """By node: its left child, -1 for a leaf; the right child follows it."""
    low: Floats
    """By node and dimension: least coordinate."""
    high: Floats
    """By node and dimension: greatest coordinate."""
    leaf: int
    """Points up to which a node was not split. A larger leaf holds equal points only."""


def build(points: Floats, leaf: int = LEAF, scale: Floats | None = None) -> Tree:
    """The tree of points, one per row; nodes of more than `leaf` points that are not all equal are split.

    The widest dimension is split, widths being multiplied by `scale`.
    """
    points = np.array(points, dtype=np.float64, order="C")
    if not np.isfinite(points).all():
        raise TacitaError("distances need finite numbers; leave out the records with missing or infinite values.")
    n, dimensions = points.shape
    order, most = np.arange(n), max(1, 2 * n)
    start, stop, left = np.zeros(most, np.int64), np.zeros(most, np.int64), np.full(most, -1)
    low, high = np.empty((most, dimensions)), np.empty((most, dimensions))
    widths = np.ones(dimensions) if scale is None else np.asarray(scale, dtype=np.float64)
    waiting = np.zeros(DEPTH, np.int64)  # depth first: what is split next is still in the processor's cache
    nodes = _build(points, leaf, widths, order, start, stop, left, low, high, waiting)
    start, stop, left, low, high = (each[:nodes].copy() for each in (start, stop, left, low, high))
    columns = _by_row(points, order, start[left < 0])
    return Tree(columns, order, start, stop, left, low, high, leaf)


def _by_row(points: Floats, order: Ints, leaves: Ints) -> Floats:
    """Put the points of each leaf in the order of the caller, so that the lowest row comes first among equal points.

    Gives the points by dimension, and changes `order`.
    """
    n = len(order)
    first = np.zeros(n, np.int64)
    first[leaves[leaves < n]] = 1
    place = np.argsort(np.cumsum(first) * n + order)
    order[:] = order[place]
    return np.stack([column[place] for column in points.T]) if points.shape[1] else np.empty((0, n))


@compiled
def _build(
    points: Floats,
    leaf: int,
    scale: Floats,
    order: Ints,
    start: Ints,
    stop: Ints,
    left: Ints,
    low: Floats,
    high: Floats,
    waiting: Ints,
) -> int:
    """Put the rows of points in the order of the tree, and fill in its nodes; how many there are."""
    stop[0] = len(points)
    nodes, top = 1, 1
    while top > 0:
        top -= 1
        node = waiting[top]
        first, last = start[node], stop[node]
        widest = _box(points, first, last, scale, low, high, node)
        if last - first > leaf and high[node, widest] > low[node, widest]:
            middle = _divide(order, points, widest, first, last)
            left[node] = nodes
            start[nodes], stop[nodes] = first, middle
            start[nodes + 1], stop[nodes + 1] = middle, last
            waiting[top], waiting[top + 1] = nodes + 1, nodes
            top += 2
            nodes += 2
    return nodes


@compiled
def _box(points: Floats, first: int, last: int, scale: Floats, low: Floats, high: Floats, node: int) -> int:
    """Set the box around some points; its widest dimension, one with width if there is any."""
    widest, width, counts = 0, 0.0, 0.0
    for j in range(points.shape[1]):
        least, most = np.inf, -np.inf
        for i in range(first, last):
            least, most = min(least, points[i, j]), max(most, points[i, j])
        low[node, j], high[node, j] = least, most
        here = (most - least) * scale[j]
        if here > counts or (counts == 0.0 and most - least > width):
            widest, width, counts = j, most - least, max(here, counts)
    return widest


@compiled
def _swap(order: Ints, points: Floats, i: int, k: int) -> None:
    order[i], order[k] = order[k], order[i]
    for j in range(points.shape[1]):
        points[i, j], points[k, j] = points[k, j], points[i, j]


@compiled
def _divide(order: Ints, points: Floats, j: int, first: int, last: int) -> int:
    """Divide points at the median; equal values stay together, so that equal points end up in one leaf.

    Gives the place of the first point of the second part.
    """
    middle = (first + last) // 2
    select(order, points, j, first, last - 1, middle)
    value = points[middle, j]
    below, upto = middle, middle + 1  # of those equal to the median: the first, and one after the last
    for i in range(middle - 1, first - 1, -1):
        if points[i, j] == value:
            below -= 1
            _swap(order, points, i, below)
    for i in range(middle + 1, last):
        if points[i, j] == value:
            _swap(order, points, i, upto)
            upto += 1
    return below if below > first and (middle - below <= upto - middle or upto == last) else upto


@compiled
def select(order: Ints, points: Floats, j: int, first: int, last: int, middle: int) -> None:
    """Put the points in such an order that what is before `middle` is not greater, what is after it not smaller."""
    while last > first:
        pivot = points[(first + last) // 2, j]
        i, k = first, last
        while i <= k:
            while points[i, j] < pivot:
                i += 1
            while points[k, j] > pivot:
                k -= 1
            if i <= k:
                _swap(order, points, i, k)
                i += 1
                k -= 1
        if middle <= k:
            last = k
        elif middle >= i:
            first = i
        else:
            return


def count_within(tree: Tree, centre: Floats, reach: Floats) -> Ints:
    """By query, one per row: how many points have |point - centre| <= reach in every dimension.

    Whether a node is inside or outside is decided by the same rounded difference as for a point. Rounding never turns
    an order around, so the counts are those of comparing every pair.
    """
    return _count_within(tree, np.ascontiguousarray(centre), np.ascontiguousarray(reach))


@compiled
def _count_within(tree: Tree, centre: Floats, reach: Floats) -> Ints:
    counts = np.zeros(len(centre), np.int64)
    stack = np.empty(DEPTH, np.int64)
    for query in range(len(centre)):
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            where = _node_position(tree.low[node], tree.high[node], centre[query], reach[query])
            if where > 0:
                counts[query] += tree.stop[node] - tree.start[node]
            elif where == 0 and tree.left[node] >= 0:
                stack[top], stack[top + 1] = tree.left[node], tree.left[node] + 1
                top += 2
            elif where == 0:
                for i in range(tree.start[node], tree.stop[node]):
                    counts[query] += _within(tree.points, i, centre[query], reach[query])
    return counts


@compiled
def _node_position(low: Floats, high: Floats, centre: Floats, reach: Floats) -> int:
    """1 if every point of the box is within reach, -1 if none is, 0 if it is not certain."""
    inside = 1
    for j in range(len(centre)):
        if low[j] - centre[j] > reach[j] or centre[j] - high[j] > reach[j]:
            return -1
        if abs(low[j] - centre[j]) > reach[j] or abs(high[j] - centre[j]) > reach[j]:
            inside = 0
    return inside


@compiled
def _within(points: Floats, i: int, centre: Floats, reach: Floats) -> bool:
    for j in range(len(centre)):  # noqa: SIM110 (compiled)
        if abs(points[j, i] - centre[j]) > reach[j]:
            return False
    return True
