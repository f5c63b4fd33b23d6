"""The released records that cost an intruder's record least, found in a tree: exact, whole nodes passed over.

Every node of a k-d tree over the distinct released rows knows the least and greatest code or coordinate of each column,
and so what its records cost at least. For a table of costs that is the least entry between two codes, looked up in
two overlapping stretches whose lengths are powers of 2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.equal_rows import row_groups
from tacita.distance.tree import DEPTH, Tree, build
from tacita.progress import Progress
from tacita.risk.external.columns import EQUAL, RANGE, SQUARE, TABLE, UNKNOWN, Column
from tacita.threads import in_threads

EQUALLY_GOOD = 1e-9
"""Totals that differ by less are equal: rounding, or nothing an intruder could go by."""
PART = 2048
"""Records of the intruder that are looked at in one go."""
ROUNDS = 16
"""In so many rounds is progress reported."""
FIRST = 1000.0
"""Columns that rule records out are split first: so much wider do they count."""


class Best(NamedTuple):
    """By row of the intruder's file: the released records that cost least."""

    cost: Floats
    """What they cost; infinite if none is possible."""
    ties: Ints
    """How many cost that."""
    right: Ints
    """How many of them are of the same unit."""


class Costs(NamedTuple):
    """All columns, as the compiled loops want them."""

    kind: Ints
    cells: Floats
    """The tables one after the other, each with the least entries of stretches of 1, 2, 4, ... codes."""
    offset: Ints
    """By column: where its table begins."""
    rows: Ints
    """By column: rows of its table."""
    width: Ints
    """By column: released codes of its table."""
    times: Ints
    """By distinct released row: how many records have it."""


class Queries(NamedTuple):
    """The distinct rows of the intruder's file, by row and column."""

    first: Floats
    second: Floats
    blank: Floats


def best_records(columns: list[Column], own: tuple[Ints, Ints], progress: Progress) -> Best:
    """For each row of the intruder's file the released rows of least total cost; `own`: pairs of rows of one unit."""
    tree, costs, queries, of_x, of_y = _prepared(columns)
    known = _own_costs(tree, costs, queries, of_x[own[0]], of_y[own[1]])
    # The own record bounds the least cost from above, and leaves little of the tree to look at.
    limit = np.full(len(queries.first), np.inf)
    np.minimum.at(limit, of_x[own[0]], known)
    least, ties = limit.copy(), np.zeros(len(limit), np.int64)
    _in_rounds(len(limit), progress, lambda first, last: _search(tree, costs, queries, first, last, least, ties))
    cost = least[of_x]
    good = known <= cost[own[0]] + EQUALLY_GOOD
    good &= np.isfinite(known)
    return Best(cost, ties[of_x], np.bincount(own[0][good], minlength=len(cost)).astype(np.int64))


class Paired(NamedTuple):
    """By row of the intruder's file: the released records that cost nothing."""

    pairs: Ints
    right: Ints
    """How many of them are of the same unit."""


def free_records(columns: list[Column], own: tuple[Ints, Ints], progress: Progress) -> Paired:
    """For each row of the intruder's file how many released rows cost nothing, and how many of those are his."""
    tree, costs, queries, of_x, of_y = _prepared(columns)
    size = len(queries.first)
    pairs, nothing = np.zeros(size, np.int64), np.zeros(size)
    _in_rounds(size, progress, lambda first, last: _count(tree, costs, queries, first, last, nothing, pairs))
    good = _own_costs(tree, costs, queries, of_x[own[0]], of_y[own[1]]) <= 0.0
    return Paired(pairs[of_x], np.bincount(own[0][good], minlength=len(of_x)).astype(np.int64))


def _in_rounds(size: int, progress: Progress, work: Callable[[int, int], None]) -> None:
    """The work on all queries, in threads, with progress."""
    step = max(PART, -(-size // ROUNDS))
    for begin in range(0, size, step):
        progress(begin / size, "looking for the best records")
        end = min(begin + step, size)
        in_threads(partial(_one_part, work, end), range(begin, end, PART))


def _one_part(work: Callable[[int, int], None], end: int, first: int) -> None:
    work(first, min(first + PART, end))


def _prepared(columns: list[Column]) -> tuple[Tree, Costs, Queries, Ints, Ints]:
    """The tree of distinct released rows, the distinct queries, and by row of either file its distinct one."""
    points = np.column_stack([each.released for each in columns])
    parts = [np.column_stack([getattr(each, name) for each in columns]) for name in Queries._fields]
    y_first, times, of_y = _distinct(points)
    x_first, _, of_x = _distinct(np.concatenate(parts, axis=1))
    tree = build(points[y_first], scale=np.array([_scale(each) for each in columns]))
    queries = Queries(*(np.ascontiguousarray(each[x_first]) for each in parts))
    place = np.empty(len(y_first), np.int64)
    place[tree.order] = np.arange(len(y_first))
    return tree, _costs(columns, times[tree.order]), queries, of_x, place[of_y]


def _scale(column: Column) -> float:
    """How much wider than it is a column counts where nodes are split."""
    span = float(np.ptp(column.released)) or 1.0
    if column.kind == SQUARE:
        return 1.0
    if column.kind == RANGE:
        return FIRST / span
    if column.kind == TABLE:
        finite = column.table[np.isfinite(column.table)]
        ruled_out = finite.size < column.table.size
        return (FIRST if ruled_out else float(np.mean(finite)) if finite.size else 1.0) / span
    return float(np.max(column.blank, initial=0.0)) / span


def _distinct(values: Floats) -> tuple[Ints, Ints, Ints]:
    """The first row of each distinct row, in the order of their values; how many have it; and by row its place."""
    group, _ = row_groups(values, values[:0])
    _, first, place, count = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    return first, count, place.reshape(-1)


def _costs(columns: list[Column], times: Ints) -> Costs:
    stretches, offset, size = [np.zeros(1)], [], 1
    for each in columns:
        offset.append(size)
        if each.kind == TABLE:
            cells = _stretches(each.table)
            stretches.append(cells)
            size += len(cells)
    shapes = np.array([each.table.shape for each in columns], dtype=np.int64)
    kind = np.array([each.kind for each in columns], dtype=np.int64)
    return Costs(kind, np.concatenate(stretches), np.array(offset), shapes[:, 0], shapes[:, 1], times)


def _stretches(table: Floats) -> Floats:
    """The least entries of each row over 1, 2, 4, ... codes from each code on, one table after the other.

    >>> _stretches(np.array([[3.0, 1.0, 2.0]])).tolist()
    [3.0, 1.0, 2.0, 1.0, 1.0, inf]
    """
    levels, step = [table], 1
    while 2 * step <= table.shape[1]:
        before, longer = levels[-1], np.full(table.shape, np.inf)
        longer[:, :-step] = np.minimum(before[:, :-step], before[:, step:])
        levels.append(longer)
        step *= 2
    return np.concatenate([each.reshape(-1) for each in levels])


@compiled
def _at(costs: Costs, j: int, value: float, first: float, second: float, blank: float) -> float:
    """What a released value costs in one column."""
    kind = costs.kind[j]
    if first == UNKNOWN:
        return 0.0
    if kind == TABLE:
        found: float = costs.cells[costs.offset[j] + int(first) * costs.width[j] + int(value)]
        return found
    if kind == SQUARE:
        return 0.5 * (value - first) * (value - first)
    if value == 0.0:
        return blank
    if kind == RANGE:
        return 0.0 if first <= value <= second else np.inf
    if kind == EQUAL:
        return second if value == first else blank
    return abs(value - first)


@compiled
def _least_at(costs: Costs, j: int, low: float, high: float, first: float, second: float, blank: float) -> float:
    """No value between two costs less in one column."""
    kind = costs.kind[j]
    if first == UNKNOWN:
        return 0.0
    if kind == TABLE:
        begin, end = int(low), int(high)
        level, step = 0, 1
        while 2 * step <= end - begin + 1:
            level, step = level + 1, 2 * step
        row = costs.offset[j] + (level * costs.rows[j] + int(first)) * costs.width[j]
        return float(min(costs.cells[row + begin], costs.cells[row + end - step + 1]))
    if kind == SQUARE:
        away = max(low - first, first - high, 0.0)
        return 0.5 * away * away
    hidden = blank if low == 0.0 else np.inf
    shown = max(low, 1.0)  # codes and coordinates begin with 1
    if high < 1.0:
        return hidden
    if kind == RANGE:
        return min(hidden, 0.0) if first <= high and shown <= second and first <= second else hidden
    if kind == EQUAL:
        if low == high:
            return second if low == first else blank
        return min(second, blank) if shown <= first <= high else blank
    return min(hidden, max(shown - first, first - high, 0.0))


@compiled
def _record(tree: Tree, costs: Costs, queries: Queries, query: int, place: int, limit: float) -> float:
    """What a released record costs; infinite as soon as it is more than the limit."""
    total = 0.0
    for j in range(len(costs.kind)):
        total += _at(
            costs, j, tree.points[j, place], queries.first[query, j], queries.second[query, j], queries.blank[query, j]
        )
        if total > limit:
            return np.inf
    return total


@compiled
def _node(tree: Tree, costs: Costs, queries: Queries, query: int, node: int, limit: float) -> float:
    """No record of the node costs less; infinite as soon as that is more than the limit."""
    total = 0.0
    for j in range(len(costs.kind)):
        first, second, blank = queries.first[query, j], queries.second[query, j], queries.blank[query, j]
        total += _least_at(costs, j, tree.low[node, j], tree.high[node, j], first, second, blank)
        if total > limit:
            return np.inf
    return total


@compiled
def _search(tree: Tree, costs: Costs, queries: Queries, first: int, last: int, least: Floats, ties: Ints) -> None:
    """The least cost of each query, given an upper bound of it, and how many records have it."""
    stack, bound = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    for query in range(first, last):
        best, top = least[query], 1
        stack[0], bound[0] = 0, 0.0
        while top > 0:
            top -= 1
            node = stack[top]
            if bound[top] > best:
                continue
            child = tree.left[node]
            if child < 0:
                for place in range(tree.start[node], tree.stop[node]):
                    best = min(best, _record(tree, costs, queries, query, place, best))
                continue
            one = _node(tree, costs, queries, query, child, best)
            other = _node(tree, costs, queries, query, child + 1, best)
            # The cheaper child is looked at first: it waits on top.
            second = 1 if one <= other else 0
            for late in range(2):
                chosen = second if late == 0 else 1 - second
                cost = other if chosen == 1 else one
                if cost <= best and cost < np.inf:
                    stack[top], bound[top] = child + chosen, cost
                    top += 1
        least[query] = best
        if best < np.inf:
            ties[query] = _within(tree, costs, queries, query, best + EQUALLY_GOOD, stack)


@compiled
def _within(tree: Tree, costs: Costs, queries: Queries, query: int, limit: float, stack: Ints) -> int:
    """How many released records cost no more than the limit."""
    count, top = 0, 1
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        if _node(tree, costs, queries, query, node, limit) > limit:
            continue
        child = tree.left[node]
        if child >= 0:
            stack[top], stack[top + 1] = child, child + 1
            top += 2
            continue
        for place in range(tree.start[node], tree.stop[node]):
            if _record(tree, costs, queries, query, place, limit) <= limit:
                count += costs.times[place]
    return count


@compiled
def _count(tree: Tree, costs: Costs, queries: Queries, first: int, last: int, limit: Floats, pairs: Ints) -> None:
    stack = np.empty(DEPTH, np.int64)
    for query in range(first, last):
        pairs[query] = _within(tree, costs, queries, query, limit[query], stack)


@compiled
def _own_costs(tree: Tree, costs: Costs, queries: Queries, of_x: Ints, of_y: Ints) -> Floats:
    """What the own released record costs, by pair of rows of one unit."""
    found = np.empty(len(of_x))
    for at in range(len(of_x)):
        found[at] = _record(tree, costs, queries, of_x[at], of_y[at], np.inf)
    return found
