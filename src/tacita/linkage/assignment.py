"""One-to-one assignment: every record of one file gets a record of its own in the other, at the least total distance.

Records of one variable are assigned by their order, small files by the dense algorithm. In others records bid for their
partners in an auction: prices rise until everybody is content to within epsilon, and epsilon shrinks. Who is cheapest
is asked of all records through a tree, never of a list of candidates alone, so the prices prove how far the total can
be from the least one:
for any prices p >= 0 no assignment costs less than sum_i min_j (c_ij + p_j) - sum_j p_j.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.linkage.distances import GREATEST, MISMATCH, SQUARE, Metric
from tacita.linkage.equal_rows import coincident
from tacita.linkage.links import own_distances
from tacita.linkage.offers import WAITING, Offers, cheapest, distance, lowest_prices, offers, raise_price
from tacita.linkage.sweep import in_threads
from tacita.linkage.tree import build

DENSE = 1_000_000
"""Up to this many pairs a matrix of all distances is made; beyond, the auction is faster."""
CANDIDATES, LEAST_CANDIDATES = 48, 16
"""Partners that a record keeps in mind until it asks again: so many over the number of variables, or the least."""
FIRST_EPSILON = 1.0
"""The first epsilon, in mean distances to the nearest record."""
FACTOR = 7.0
"""By this epsilon shrinks from phase to phase."""
SLACK = 30.0
"""In epsilons: how much dearer than others may be what a record has in mind before it asks again."""
MANY = 1_000
"""From so many on bidders ask in threads."""
PARTS = 16
"""The bidders are looked at in so many parts, by as many threads as there are processors."""
EXACT = 1e-9
"""A total within this share of the bound is taken for the least one."""


class Assignment(NamedTuple):
    """Who is assigned to whom."""

    partner: Ints
    """By row of the first file: the row of the second, -1 for rows left over if the first file is longer."""
    distance: Floats
    """By row of the first file: the distance of its partner, NaN if it has none."""
    total: float
    """The sum of the distances."""
    bound: float
    """No assignment has a smaller sum."""


def assign(x: Floats, y: Floats, metric: Metric, *, gap: float = EXACT, dense: int = DENSE) -> Assignment:
    """The one-to-one assignment of rows of x to rows of y of least total distance.

    With fewer rows in one file some of the other stay alone. The total is within `gap` of the bound, which is a share
    of the total; below 1e-9 the assignment is the best one. `dense`: up to how many pairs all distances are computed.

    References: Bertsekas (1988), The auction algorithm: a distributed relaxation method for the assignment problem.
    Annals of Operations Research 14; Crouse (2016), On implementing 2D rectangular assignment algorithms.

    >>> from tacita.linkage.distances import euclidean
    >>> found = assign(np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]]), euclidean(np.ones(1)))
    >>> found.total, found.bound
    (2.0, 2.0)
    """
    if len(x) > len(y):
        turned = assign(y, x, metric, gap=gap, dense=dense)
        partner, away = np.full(len(x), -1), np.full(len(x), np.nan)
        partner[turned.partner], away[turned.partner] = np.arange(len(y)), turned.distance
        return Assignment(partner, away, turned.total, turned.bound)
    used = metric.weight > 0
    kept = Metric(metric.kind[used], metric.weight[used], metric.rooted)
    x, y = (np.ascontiguousarray(values[:, used], dtype=np.float64) for values in (x, y))
    if not used.any():
        return Assignment(np.arange(len(x)), np.zeros(len(x)), 0.0, 0.0)
    partner = coincident(x, y)
    rows, columns = np.flatnonzero(partner < 0), np.setdiff1d(np.arange(len(y)), partner)
    away, bound = np.zeros(len(x)), 0.0
    if len(rows):
        place, away[rows], bound = _assigned(x[rows], y[columns], kept, gap, dense)
        partner[rows] = columns[place]
    total = float(away.sum())
    return Assignment(partner, away, total, min(bound, total))


def _assigned(x: Floats, y: Floats, metric: Metric, gap: float, dense: int) -> tuple[Ints, Floats, float]:
    """For each row of x its row of y, the distance, and what no assignment can beat: infinite if this is the best."""
    if len(x) == len(y) and x.shape[1] == 1:
        return *_in_order(x, y, metric), np.inf
    if len(x) * len(y) <= dense:
        return *_dense(x, y, metric), np.inf
    # The wider file bids: somebody must take the outlying records of the other one, for which prices have to rise long.
    if len(x) == len(y) and _width(x, metric) < _width(y, metric):
        place, away, bound = _auction(y, x, metric, gap)
        partner, cost = np.empty_like(place), np.empty_like(away)
        partner[place], cost[place] = np.arange(len(y)), away
        return partner, cost, bound
    return _auction(x, y, metric, gap)


def _width(values: Floats, metric: Metric) -> float:
    """How far records are from the middle, on average."""
    middle = np.broadcast_to(np.median(values, axis=0), values.shape)
    return float(own_distances(values, middle, metric).mean())


def all_distances(x: Floats, y: Floats, metric: Metric) -> Floats:
    """The distance of every row of x from every row of y."""
    total = np.zeros((len(x), len(y)))
    for j, (kind, weight) in enumerate(zip(metric.kind, metric.weight, strict=True)):
        if kind == MISMATCH:
            total += weight * (x[:, j, None] != y[None, :, j])
            continue
        difference = np.abs(x[:, j, None] - y[None, :, j]) * weight
        if kind == SQUARE:
            difference *= difference
        if kind == GREATEST:
            np.maximum(total, difference, out=total)
        else:
            total += difference
    return np.sqrt(total, out=total) if metric.rooted else total


def _dense(x: Floats, y: Floats, metric: Metric) -> tuple[Ints, Floats]:
    from scipy.optimize import linear_sum_assignment

    matrix = all_distances(x, y, metric)
    rows, columns = linear_sum_assignment(matrix)
    return columns, matrix[rows, columns]


def _in_order(x: Floats, y: Floats, metric: Metric) -> tuple[Ints, Floats]:
    """Of one variable the lowest goes to the lowest and so on: no two partners gain by changing places."""
    place = np.empty(len(x), np.int64)
    place[np.argsort(x[:, 0], kind="stable")] = np.argsort(y[:, 0], kind="stable")
    return place, own_distances(x, y[place], metric)


class _Bidders(NamedTuple):
    """The rows that bid. Behind the records of the file come so many without wishes that nobody stays alone."""

    values: Floats
    candidates: Ints
    """By record: places that it keeps in mind, -1 for none."""
    costs: Floats
    """By record: their distances."""
    limit: Floats
    """By record: every other place costs at least this; prices never fall, so that stays true."""
    place: Ints
    """By bidder: the place it holds, -1 for none."""
    holder: Ints
    """By place: the bidder that holds it, -1 for none."""


def _auction(x: Floats, y: Floats, metric: Metric, gap: float) -> tuple[Ints, Floats, float]:
    """For each row of x its row of y and the distance; and what no assignment can beat."""
    n, m = len(x), len(y)
    on_offer = offers(y, metric)
    # Bidders that are near each other ask one after the other: what one needs of the tree is still in the cache.
    order = build(x * metric.weight).order
    kept = min(max(CANDIDATES // x.shape[1], LEAST_CANDIDATES), m)
    shape, places = (n, kept), (np.full(m, -1), np.full(m, -1))
    values = np.ascontiguousarray(x[order])
    bidders = _Bidders(values, np.full(shape, -1), np.full(shape, np.inf), np.full(n, -np.inf), *places)
    away = np.empty(n)
    waiting, count, bound = _discontent(on_offer, bidders, metric, 0.0, away)
    epsilon = first = FIRST_EPSILON * bound / n
    while True:
        _settle(on_offer, bidders, metric, epsilon, waiting, count)
        epsilon /= FACTOR
        waiting, count, bound = _discontent(on_offer, bidders, metric, epsilon, away)
        total = float(away.sum())
        if total - bound <= gap * total or epsilon < 1e-14 * first:
            partner, cost = np.empty(n, np.int64), np.empty(n)
            partner[order], cost[order] = on_offer.order[bidders.place[:n]], away
            return partner, cost, bound
        bidders.holder[bidders.place[waiting[:count]]] = -1
        bidders.place[waiting[:count]] = -1


def _discontent(
    on_offer: Offers, bidders: _Bidders, metric: Metric, epsilon: float, away: Floats
) -> tuple[Ints, int, float]:
    """Who has no place, or one that costs over epsilon more than another; how many; and the bound that prices give.

    The list has room for all. Distances are set.
    """
    size = len(bidders.place)
    flags, least = np.empty(size, np.bool_), np.empty(size)
    parts = np.linspace(0, size, PARTS + 1).astype(np.int64)

    def part(at: int) -> None:
        _look(on_offer, bidders, metric, epsilon, parts[at], parts[at + 1], flags, least, away)

    in_threads(part, range(PARTS), worth=size > PARTS * 1000)
    waiting = np.empty(size, np.int64)
    count = int(flags.sum())
    waiting[:count] = np.flatnonzero(flags)
    return waiting, count, float(least.sum() - on_offer.price.sum())


@compiled
def _look(
    on_offer: Offers,
    bidders: _Bidders,
    metric: Metric,
    epsilon: float,
    first: int,
    last: int,
    discontent: Bools,
    lowest: Floats,
    away: Floats,
) -> None:
    """For some bidders: what they could have at least, what they pay, and whether they are discontent."""
    n, kept = bidders.candidates.shape
    found, cost, sums = np.empty(kept, np.int64), np.empty(kept), np.empty(kept)
    stack, limits = np.empty(WAITING, np.int64), np.empty(WAITING)
    for bidder in range(first, last):
        least, paid, place = on_offer.least[0], 0.0, bidders.place[bidder]
        if bidder < n:
            least = _two_least(on_offer, bidders, bidder)[1]
            if not least <= bidders.limit[bidder]:
                _ask(on_offer, bidders, metric, bidder, found, cost, sums, stack, limits)
                least = sums[0]
            if place >= 0:
                paid = distance(on_offer.points[place], bidders.values[bidder], metric)
                away[bidder] = paid
        lowest[bidder] = least
        discontent[bidder] = place < 0 or paid + on_offer.price[place] > least + epsilon


@compiled
def _two_least(on_offer: Offers, bidders: _Bidders, bidder: int) -> tuple[int, float, float]:
    """Of the places that a bidder keeps in mind the cheapest, what it costs, and what the second cheapest costs."""
    best, least, second = -1, np.inf, np.inf
    for at in range(bidders.candidates.shape[1]):
        place = bidders.candidates[bidder, at]
        if place < 0:
            break
        total = bidders.costs[bidder, at] + on_offer.price[place]
        if total < least:
            best, least, second = place, total, least
        elif total < second:
            second = total
    return best, least, second


@compiled
def _ask(
    on_offer: Offers,
    bidders: _Bidders,
    metric: Metric,
    bidder: int,
    found: Ints,
    cost: Floats,
    sums: Floats,
    stack: Ints,
    limits: Floats,
) -> None:
    """Ask all records which are the cheapest now, and keep them in mind.

    Those in mind so far say what the dearest of them can cost at most.
    """
    kept = bidders.candidates.shape[1]
    most = -np.inf
    for at in range(kept):
        place = bidders.candidates[bidder, at]
        most = max(most, bidders.costs[bidder, at] + on_offer.price[place] if place >= 0 else np.inf)
    cheapest(on_offer, bidders.values[bidder], metric, kept, found, cost, sums, stack, limits, most)
    for at in range(kept):
        bidders.candidates[bidder, at], bidders.costs[bidder, at] = found[at], cost[at]
    bidders.limit[bidder] = sums[kept - 1] if kept < len(on_offer.price) else np.inf


def _settle(on_offer: Offers, bidders: _Bidders, metric: Metric, epsilon: float, waiting: Ints, count: int) -> None:
    """Let everybody who waits bid until all have a place.

    Who has to ask first waits for the others; then all of them ask, in as many threads as there are processors.
    """
    asking = np.empty(len(waiting), np.int64)
    while count > 0:
        count = _bid(on_offer, bidders, metric, epsilon, waiting, count, asking)
        waiting, asking = asking, waiting
        in_threads(
            partial(_ask_all, on_offer, bidders, metric), np.array_split(waiting[:count], PARTS), worth=count > 0
        )


@compiled
def _ask_all(on_offer: Offers, bidders: _Bidders, metric: Metric, asking: Ints) -> None:
    kept = bidders.candidates.shape[1]
    found, cost, sums = np.empty(kept, np.int64), np.empty(kept), np.empty(kept)
    stack, limits = np.empty(WAITING, np.int64), np.empty(WAITING)
    for bidder in asking:
        _ask(on_offer, bidders, metric, bidder, found, cost, sums, stack, limits)


@compiled
def _bid(
    on_offer: Offers, bidders: _Bidders, metric: Metric, epsilon: float, waiting: Ints, count: int, asking: Ints
) -> int:
    """Let those who wait bid until all have a place or many have to ask; how many that are, 0 if all have a place.

    A bidder takes what is cheapest for him and raises its price until it is epsilon dearer than the second cheapest.
    """
    n, kept = bidders.candidates.shape
    found, cost, sums = np.empty(kept, np.int64), np.empty(kept), np.empty(kept)
    stack, limits = np.empty(WAITING, np.int64), np.empty(WAITING)
    ask = 0
    while True:
        if count == 0:
            if ask == 0 or ask >= MANY:
                return ask
            for at in range(ask):
                _ask(on_offer, bidders, metric, asking[at], found, cost, sums, stack, limits)
                waiting[at] = asking[at]
            count, ask = ask, 0
        count -= 1
        bidder = waiting[count]
        if bidder >= n:
            best, least, second = lowest_prices(on_offer, stack)
        else:
            best, least, second = _two_least(on_offer, bidders, bidder)
            if not second <= bidders.limit[bidder] + SLACK * epsilon:
                asking[ask] = bidder
                ask += 1
                continue
        rise = second - least if second < np.inf else 0.0
        raise_price(on_offer, best, on_offer.price[best] + rise + epsilon)
        before = bidders.holder[best]
        if before >= 0:
            bidders.place[before] = -1
            waiting[count] = before
            count += 1
        bidders.holder[best], bidders.place[bidder] = bidder, best
