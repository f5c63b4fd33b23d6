"""The nearest and the farthest of the points of a tree that are still there, while points are removed.

Nodes know how many of their points are left and the box around those, so what is gone is never looked at again.
The functions are compiled and meant to be called from compiled loops; ties go to the lowest row, or to the last one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric, far_sum, near_sum, sum_at
from tacita.distance.tree import DEPTH, Tree


class Remaining(NamedTuple):
    """Which points of a tree are still there; `remove` changes it."""

    size: Ints
    """By node: how many."""
    start: Ints
    """By leaf: its first place still there, or an earlier one; of other nodes unused."""
    stop: Ints
    """By leaf: one after its last place still there, or a later one."""
    low: Floats
    """By node and dimension: least coordinate of those still there."""
    high: Floats
    """By node and dimension: greatest coordinate of those still there."""
    present: Bools
    """By place: whether it is there."""
    place: Ints
    """By row of the caller: its place."""
    leaf: Ints
    """By place: its leaf."""
    parent: Ints
    """By node: the node it is part of, -1 for the root."""


def remaining(tree: Tree) -> Remaining:
    """All points of a tree, to be removed one by one."""
    n, inner = len(tree.order), np.flatnonzero(tree.left >= 0)
    parent, leaf, place = np.full(len(tree.left), -1), np.empty(n, np.int64), np.empty(n, np.int64)
    parent[tree.left[inner]] = parent[tree.left[inner] + 1] = inner
    leaves = np.flatnonzero(tree.left < 0)
    leaves = leaves[np.argsort(tree.start[leaves])]
    leaf[:] = np.repeat(leaves, tree.stop[leaves] - tree.start[leaves])
    place[tree.order] = np.arange(n)
    boxes = tree.low.copy(), tree.high.copy()
    return Remaining(
        tree.stop - tree.start, tree.start.copy(), tree.stop.copy(), *boxes, np.ones(n, np.bool_), place, leaf, parent
    )


@compiled
def remove(tree: Tree, left: Remaining, row: int) -> None:
    """Take the point of a row out."""
    place = left.place[row]
    node = left.leaf[place]
    left.present[place] = False
    while left.start[node] < left.stop[node] and not left.present[left.start[node]]:
        left.start[node] += 1
    while left.start[node] < left.stop[node] and not left.present[left.stop[node] - 1]:
        left.stop[node] -= 1
    left.size[node] -= 1
    changed = _shrink_leaf(tree, left, node)
    node = left.parent[node]
    while node >= 0:
        left.size[node] -= 1
        if changed:
            changed = _shrink(left, node, tree.left[node])
        node = left.parent[node]


@compiled
def _shrink_leaf(tree: Tree, left: Remaining, node: int) -> bool:
    """Draw the box of a leaf close around what is left; whether it changed."""
    changed = False
    for j in range(len(tree.points)):
        if left.size[node] > 0 and left.low[node, j] == left.high[node, j]:
            continue
        least, most = np.inf, -np.inf
        for i in range(left.start[node], left.stop[node]):
            if left.present[i]:
                least, most = min(least, tree.points[j, i]), max(most, tree.points[j, i])
        changed = changed or least != left.low[node, j] or most != left.high[node, j]
        left.low[node, j], left.high[node, j] = least, most
    return changed


@compiled
def _shrink(left: Remaining, node: int, child: int) -> bool:
    """Draw the box of a node close around those of its two children; whether it changed."""
    changed = False
    for j in range(left.low.shape[1]):
        least = min(left.low[child, j], left.low[child + 1, j])
        most = max(left.high[child, j], left.high[child + 1, j])
        changed = changed or least != left.low[node, j] or most != left.high[node, j]
        left.low[node, j], left.high[node, j] = least, most
    return changed


@compiled
def nearest(
    tree: Tree, left: Remaining, values: Floats, row: int, metric: Metric, last: bool, rows: Ints, sums: Floats
) -> tuple[int, int]:
    """Fill in the points nearest to a row of values and their sums, as many as `rows` has room for, nearest first.

    Gives how many there are, and how many points share the least sum.
    """
    # Of one type from the beginning: what a literal 0 is passed to would be compiled a second time.
    found: int = np.int64(0)  # type: ignore[assignment]
    room, ties = len(rows), 0
    waiting, least = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    waiting[0], least[0] = 0, 0.0
    top = 1 if left.size[0] > 0 else 0
    while top > 0:
        top -= 1
        node = waiting[top]
        if found == room and least[top] > sums[room - 1]:
            continue
        child = tree.left[node]
        if child >= 0:
            first, second = _near(left, child, values, row, metric), _near(left, child + 1, values, row, metric)
            if first < second:  # the nearer one is looked at first, so it waits on top
                top = _wait(left, waiting, least, top, child + 1, second)
                top = _wait(left, waiting, least, top, child, first)
            else:
                top = _wait(left, waiting, least, top, child, first)
                top = _wait(left, waiting, least, top, child + 1, second)
            continue
        # Where all points are equal, one of them stands for all, and no more than there is room for are taken.
        equal = _is_one_point(left, node)
        total, taken = 0.0, 0
        begin, end, step = (
            (left.stop[node] - 1, left.start[node] - 1, -1) if last else (left.start[node], left.stop[node], 1)
        )
        for i in range(begin, end, step):
            if not left.present[i]:
                continue
            if taken == 0 or not equal:
                total = sum_at(tree.points, i, values, row, metric)
                if found == 0 or total < sums[0]:
                    ties = 0
                if found == 0 or total <= sums[0]:
                    ties += left.size[node] if equal else 1
            found = _insert(rows, sums, found, tree.order[i], total, last)
            taken += 1
            if equal and taken == room:
                break
    return found, ties


@compiled
def _near(left: Remaining, node: int, values: Floats, row: int, metric: Metric) -> float:
    return near_sum(left.low, left.high, node, values, values, row, metric) if left.size[node] > 0 else np.inf


@compiled
def _wait(left: Remaining, waiting: Ints, bound: Floats, top: int, node: int, value: float) -> int:
    """Let a node wait, unless nothing of it is left; how many wait."""
    if left.size[node] == 0:
        return top
    waiting[top], bound[top] = node, value
    return top + 1


@compiled
def _is_one_point(left: Remaining, node: int) -> bool:
    for j in range(left.low.shape[1]):  # noqa: SIM110 (compiled)
        if left.low[node, j] != left.high[node, j]:
            return False
    return True


@compiled
def _before(total: float, row: int, other: float, other_row: int, last: bool) -> bool:
    return total < other or (total == other and (row > other_row if last else row < other_row))


@compiled
def _insert(rows: Ints, sums: Floats, found: int, row: int, total: float, last: bool) -> int:
    """Put a point in its place among the nearest ones, if it has one; how many there are."""
    room = len(rows)
    if found == room:
        if not _before(total, row, sums[room - 1], rows[room - 1], last):
            return found
        found -= 1
    k = found
    while k > 0 and _before(total, row, sums[k - 1], rows[k - 1], last):
        rows[k], sums[k] = rows[k - 1], sums[k - 1]
        k -= 1
    rows[k], sums[k] = row, total
    return found + 1


@compiled
def farthest(tree: Tree, left: Remaining, values: Floats, row: int, metric: Metric, last: bool) -> int:
    """The point farthest from a row of values; -1 if none is left."""
    best, best_row = -1.0, -1
    waiting, most = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    waiting[0], most[0] = 0, np.inf
    top = 1 if left.size[0] > 0 else 0
    while top > 0:
        top -= 1
        node = waiting[top]
        if most[top] < best:
            continue
        child = tree.left[node]
        if child >= 0:
            first, second = _far(left, child, values, row, metric), _far(left, child + 1, values, row, metric)
            if first > second:
                top = _wait(left, waiting, most, top, child + 1, second)
                top = _wait(left, waiting, most, top, child, first)
            else:
                top = _wait(left, waiting, most, top, child, first)
                top = _wait(left, waiting, most, top, child + 1, second)
            continue
        begin, end, step = (
            (left.stop[node] - 1, left.start[node] - 1, -1) if last else (left.start[node], left.stop[node], 1)
        )
        for i in range(begin, end, step):
            if left.present[i]:
                total = sum_at(tree.points, i, values, row, metric)
                if best_row < 0 or _before(-total, tree.order[i], -best, best_row, last):
                    best, best_row = total, tree.order[i]
                if _is_one_point(left, node):
                    break
    return best_row


@compiled
def _far(left: Remaining, node: int, values: Floats, row: int, metric: Metric) -> float:
    return far_sum(left.low, left.high, node, values, values, row, metric) if left.size[node] > 0 else -np.inf
