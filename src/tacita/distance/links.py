"""The nearest and the second nearest record of another file, with all that are equally near."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric
from tacita.distance.equal_rows import row_groups
from tacita.distance.offers import WAITING, Offers, cheapest, distance, offers, to_box
from tacita.threads import in_threads

EQUAL = 1e-9
"""Distances that differ by a smaller share are equal: rounding, or nothing an intruder could go by."""
PART = 4096
"""Records that are looked at in one go."""


class NearestTwo(NamedTuple):
    """By row of y: the nearest rows of x."""

    row: Ints
    """The lowest row of the nearest ones."""
    distance: Floats
    """Their distance."""
    ties: Ints
    """How many are equally near."""
    second_distance: Floats
    """The distance of the second nearest, infinite if there is none."""
    second_ties: Ints
    """How many are second nearest."""


def nearest_two(y: Floats, x: Floats, metric: Metric) -> NearestTwo:
    """For each row of y the nearest rows of x, which has at least one, and the second nearest.

    >>> from tacita.distance.distances import euclidean
    >>> found = nearest_two(np.array([[2.0]]), np.array([[1.0], [3.0], [7.0]]), euclidean(np.ones(1)))
    >>> found.ties.tolist(), found.second_distance.tolist()
    ([2], [5.0])
    """
    # Equal records are looked at once.
    x_rows, times, _ = _distinct(x)
    y_rows, _, of_y = _distinct(y)
    on_offer, wanted = offers(x[x_rows], metric), np.ascontiguousarray(y[y_rows], dtype=np.float64)
    size = len(wanted)
    row, ties, second_ties = (np.zeros(size, np.int64) for _ in range(3))
    found = NearestTwo(row, np.zeros(size), ties, np.zeros(size), second_ties)

    def part(first: int) -> None:
        _nearest_two(on_offer, wanted, metric, times, first, min(first + PART, size), found)

    in_threads(part, range(0, size, PART))
    _, away, _, second, _ = found
    return NearestTwo(x_rows[row][of_y], away[of_y], ties[of_y], second[of_y], second_ties[of_y])


def _distinct(values: Floats) -> tuple[Ints, Ints, Ints]:
    """The lowest row of each distinct row, in rising order; how many rows each stands for; and by row its place."""
    group, _ = row_groups(values, values[:0])
    _, first, inverse, count = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], count[order], place[inverse]


@compiled
def _nearest_two(
    on_offer: Offers, y: Floats, metric: Metric, times: Ints, first: int, last: int, found: NearestTwo
) -> None:
    place, cost, sums = np.empty(1, np.int64), np.empty(1), np.empty(1)
    stack, limits = np.empty(WAITING, np.int64), np.empty(WAITING)
    for i in range(first, last):
        cheapest(on_offer, y[i], metric, 1, place, cost, sums, stack, limits)
        ties, row, beyond = tally(on_offer, y[i], metric, sums[0] * (1.0 + EQUAL), times, stack, limits)
        found.row[i], found.distance[i], found.ties[i], found.second_distance[i] = row, sums[0], ties, beyond
        if beyond < np.inf:
            within, _, _ = tally(on_offer, y[i], metric, beyond * (1.0 + EQUAL), times, stack, limits)
            found.second_ties[i] = within - ties


@compiled
def tally(
    on_offer: Offers, values: Floats, metric: Metric, limit: float, times: Ints, waiting: Ints, bound: Floats
) -> tuple[int, int, float]:
    """How many records are within a distance, the lowest row of them (-1), and the least distance beyond it.

    `times`: by row, how many equal records it stands for.
    """
    kind, weight, rooted = metric
    count, row, beyond = 0, -1, np.inf
    top = 1
    waiting[0], bound[0] = 0, 0.0
    while top > 0:
        top -= 1
        node = waiting[top]
        if bound[top] > limit and bound[top] >= beyond:
            continue
        child = on_offer.left[node]
        if child >= 0:
            one = to_box(on_offer.low[child], on_offer.high[child], values, kind, weight, rooted)
            other = to_box(on_offer.low[child + 1], on_offer.high[child + 1], values, kind, weight, rooted)
            # The nearer child is looked at first: it waits on top.
            second = 1 if one <= other else 0
            waiting[top], bound[top] = child + second, max(one, other)
            waiting[top + 1], bound[top + 1] = child + 1 - second, min(one, other)
            top += 2
            continue
        for place in range(on_offer.start[node], on_offer.stop[node]):
            away = distance(on_offer.points[place], values, metric)
            if away > limit:
                beyond = min(beyond, away)
                continue
            found = on_offer.order[place]
            count += times[found]
            if row < 0 or found < row:
                row = found
    return count, row, beyond


def own_distances(y: Floats, x: Floats, metric: Metric) -> Floats:
    """The distance of each row of y from the same row of x, by the same operations."""
    return _own(np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(x, dtype=np.float64), metric)


@compiled
def _own(y: Floats, x: Floats, metric: Metric) -> Floats:
    result = np.empty(len(y))
    for i in range(len(y)):
        result[i] = distance(x[i], y[i], metric)
    return result
