"""Records on offer: which are the cheapest for a record, distance and price together, without looking at all of them.

A tree over the records knows the least price in each node, so that a node is passed over whose box is too far away or
whose records are too dear. With prices of 0 the cheapest are the nearest. Distances are those of
`tacita.distance.distances`; the least distance of a box is, in floating point too, never above that of a point in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import GREATEST, MISMATCH, Metric
from tacita.distance.tree import build

LEAF = 32
"""Points up to which a node is not split further."""
WAITING = 256
"""More nodes never wait at once: a path has at most one waiting node on each level."""


class Offers(NamedTuple):
    """Records in a tree, with prices."""

    points: Floats
    """By place in the tree: the record's values."""
    order: Ints
    """By place: the record's row."""
    start: Ints
    """By node: its first place."""
    stop: Ints
    """By node: one after its last place."""
    left: Ints
    """By node: its left child, -1 for a leaf; the right child follows it."""
    low: Floats
    """By node and column: least value."""
    high: Floats
    """By node and column: greatest value."""
    parent: Ints
    """By node: the node it is part of, -1 for the root."""
    leaf: Ints
    """By place: its leaf."""
    price: Floats
    """By place: the price."""
    least: Floats
    """By node: the lowest price."""


def offers(values: Floats, metric: Metric) -> Offers:
    """All rows on offer at a price of 0."""
    # The tree splits where records are far apart, so it is built on the scale of the distance.
    tree = build(values * metric.weight)
    start, stop, left = _smaller_leaves(tree.start, tree.stop, tree.left)
    points = np.ascontiguousarray(values[tree.order], dtype=np.float64)
    shape = (len(left), values.shape[1])
    parent, leaf, low, high = np.full(shape[0], -1), np.empty(len(points), np.int64), np.empty(shape), np.empty(shape)
    _nodes(points, start, stop, left, parent, leaf, low, high)
    prices = np.zeros(len(points)), np.zeros(shape[0])
    return Offers(points, tree.order, start, stop, left, low, high, parent, leaf, *prices)


def _smaller_leaves(start: Ints, stop: Ints, left: Ints) -> tuple[Ints, Ints, Ints]:
    """Nodes with leaves of equal points split too: equal records may have different prices."""
    starts, stops, lefts = start.tolist(), stop.tolist(), left.tolist()
    large = [node for node in range(len(lefts)) if lefts[node] < 0 and stops[node] - starts[node] > LEAF]
    while large:
        node = large.pop()
        middle = (starts[node] + stops[node]) // 2
        lefts[node] = len(lefts)
        starts += [starts[node], middle]
        stops += [middle, stops[node]]
        lefts += [-1, -1]
        large += [child for child in (len(lefts) - 2, len(lefts) - 1) if stops[child] - starts[child] > LEAF]
    return np.array(starts), np.array(stops), np.array(lefts)


@compiled
def _nodes(
    points: Floats, start: Ints, stop: Ints, left: Ints, parent: Ints, leaf: Ints, low: Floats, high: Floats
) -> None:
    """Boxes, parents and leaves; children stand after their parents."""
    for node in range(len(left) - 1, -1, -1):
        child = left[node]
        if child >= 0:
            parent[child] = parent[child + 1] = node
            for j in range(points.shape[1]):
                low[node, j] = min(low[child, j], low[child + 1, j])
                high[node, j] = max(high[child, j], high[child + 1, j])
            continue
        for j in range(points.shape[1]):
            low[node, j], high[node, j] = np.inf, -np.inf
        for i in range(start[node], stop[node]):
            leaf[i] = node
            for j in range(points.shape[1]):
                low[node, j] = min(low[node, j], points[i, j])
                high[node, j] = max(high[node, j], points[i, j])


# Euclidean distances have functions of their own: without a question for each column they are twice as fast.


@compiled
def _straight(point: Floats, values: Floats, weight: Floats) -> float:
    total = 0.0
    for j in range(len(values)):
        difference = (point[j] - values[j]) * weight[j]
        total += difference * difference
    return float(np.sqrt(total))


@compiled
def _straight_to_box(low: Floats, high: Floats, values: Floats, weight: Floats) -> float:
    total = 0.0
    for j in range(len(values)):
        difference = max(low[j] - values[j], values[j] - high[j], 0.0) * weight[j]
        total += difference * difference
    return float(np.sqrt(total))


@compiled
def _summed(point: Floats, values: Floats, kind: Ints, weight: Floats) -> float:
    total = 0.0
    for j in range(len(values)):
        total = _plus(total, abs(point[j] - values[j]), kind[j], weight[j])
    return total


@compiled
def _summed_to_box(low: Floats, high: Floats, values: Floats, kind: Ints, weight: Floats) -> float:
    total = 0.0
    for j in range(len(values)):
        difference = max(low[j] - values[j], values[j] - high[j], 0.0)
        total = _plus(total, difference, kind[j], weight[j])
    return total


@compiled
def _plus(total: float, difference: float, kind: int, weight: float) -> float:
    """A distance so far, and with one more column."""
    if kind == MISMATCH:
        return total + (weight if difference > 0.0 else 0.0)
    difference *= weight
    return max(total, difference) if kind == GREATEST else total + difference


@compiled
def distance(point: Floats, values: Floats, metric: Metric) -> float:
    """The distance of a point from some values."""
    if metric.rooted:
        return _straight(point, values, metric.weight)
    return _summed(point, values, metric.kind, metric.weight)


@compiled
def to_box(low: Floats, high: Floats, values: Floats, kind: Ints, weight: Floats, rooted: bool) -> float:
    """No point of a box is nearer to the values."""
    if rooted:
        return _straight_to_box(low, high, values, weight)
    return _summed_to_box(low, high, values, kind, weight)


@compiled
def cheapest(
    on_offer: Offers,
    values: Floats,
    metric: Metric,
    count: int,
    found: Ints,
    cost: Floats,
    sums: Floats,
    waiting: Ints,
    bound: Floats,
    most: float = np.inf,
) -> int:
    """The places of the `count` cheapest for some values, their distances, and distance plus price in rising order.

    Returns how many there are. If at least `count` are known to cost `most` or less, saying so saves time.
    """
    left, least, low, high = on_offer.left, on_offer.least, on_offer.low, on_offer.high
    kind, weight, rooted = metric
    known, top = 0, 1
    waiting[0], bound[0] = 0, least[0]
    while top > 0:
        top -= 1
        if bound[top] > most or (known == count and bound[top] >= sums[count - 1]):
            continue
        node = waiting[top]
        child = left[node]
        if child < 0:
            known = _in_leaf(on_offer, node, values, metric, known, count, found, cost, sums)
            continue
        one, other = least[child], least[child + 1]
        if rooted:
            one += _straight_to_box(low[child], high[child], values, weight)
            other += _straight_to_box(low[child + 1], high[child + 1], values, weight)
        else:
            one += _summed_to_box(low[child], high[child], values, kind, weight)
            other += _summed_to_box(low[child + 1], high[child + 1], values, kind, weight)
        # The cheaper child is looked at first: it waits on top.
        second = 1 if one <= other else 0
        waiting[top], bound[top] = child + second, max(one, other)
        waiting[top + 1], bound[top + 1] = child + 1 - second, min(one, other)
        top += 2
    return known


@compiled
def _in_leaf(
    on_offer: Offers,
    node: int,
    values: Floats,
    metric: Metric,
    known: int,
    count: int,
    found: Ints,
    cost: Floats,
    sums: Floats,
) -> int:
    """Insert the records of a leaf that are cheap enough."""
    points, price = on_offer.points, on_offer.price
    kind, weight, rooted = metric
    for place in range(on_offer.start[node], on_offer.stop[node]):
        away = _straight(points[place], values, weight) if rooted else _summed(points[place], values, kind, weight)
        total = away + price[place]
        if known < count or total < sums[count - 1]:
            known = _insert(found, cost, sums, known, count, place, away, total)
    return known


@compiled
def lowest_prices(on_offer: Offers, waiting: Ints) -> tuple[int, float, float]:
    """The place of the lowest price, that price, and the second lowest one; infinite if there is only one place."""
    place, lowest, second = -1, np.inf, np.inf
    top = 1
    waiting[0] = 0
    while top > 0:
        top -= 1
        node = waiting[top]
        if on_offer.least[node] >= second:
            continue
        child = on_offer.left[node]
        if child >= 0:
            first = 0 if on_offer.least[child] <= on_offer.least[child + 1] else 1
            waiting[top], waiting[top + 1] = child + 1 - first, child + first
            top += 2
            continue
        for i in range(on_offer.start[node], on_offer.stop[node]):
            if on_offer.price[i] < lowest:
                place, lowest, second = i, on_offer.price[i], lowest
            elif on_offer.price[i] < second:
                second = on_offer.price[i]
    return place, lowest, second


@compiled
def _insert(
    found: Ints, cost: Floats, sums: Floats, known: int, count: int, place: int, away: float, total: float
) -> int:
    at = known if known < count else count - 1
    while at > 0 and sums[at - 1] > total:
        found[at], cost[at], sums[at] = found[at - 1], cost[at - 1], sums[at - 1]
        at -= 1
    found[at], cost[at], sums[at] = place, away, total
    return min(known + 1, count)


@compiled
def set_prices(on_offer: Offers, price: Floats) -> None:
    """New prices for all records, by place; children stand after their parents."""
    for place in range(len(price)):
        on_offer.price[place] = price[place]
    for node in range(len(on_offer.left) - 1, -1, -1):
        child = on_offer.left[node]
        if child >= 0:
            on_offer.least[node] = min(on_offer.least[child], on_offer.least[child + 1])
        else:
            least = np.inf
            for place in range(on_offer.start[node], on_offer.stop[node]):
                least = min(least, price[place])
            on_offer.least[node] = least


@compiled
def raise_price(on_offer: Offers, place: int, price: float) -> None:
    """A higher price for one record, and for the nodes where it was the lowest."""
    node = on_offer.leaf[place]
    before, on_offer.price[place] = on_offer.price[place], price
    if before > on_offer.least[node]:
        return
    least = np.inf
    for i in range(on_offer.start[node], on_offer.stop[node]):
        least = min(least, on_offer.price[i])
    while least > on_offer.least[node]:
        on_offer.least[node] = least
        node = on_offer.parent[node]
        if node < 0:
            break
        child = on_offer.left[node]
        least = min(on_offer.least[child], on_offer.least[child + 1])
