"""An auction: records bid for their partners in the other file until everybody has one at the least total distance.

Prices rise until everybody is content to within epsilon, and epsilon shrinks. Who is cheapest is asked of all records
through a tree, never of a list of candidates alone, so the prices prove how far the total can be from the least one:
for any prices p, of at least 0 if places stay free, no assignment costs less than sum_i min_j (c_ij + p_j) - sum_j p_j.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric
from tacita.distance.offers import WAITING, Offers, cheapest, distance, lowest_prices, offers, raise_price, set_prices
from tacita.distance.tree import build
from tacita.progress import Progress, no_progress
from tacita.threads import in_threads

CANDIDATES, LEAST_CANDIDATES = 48, 16
"""Partners that a record keeps in mind until it asks again: so many over the number of variables, or the least."""
FIRST_EPSILON, FIRST_OF_MANY = 1.0, 0.25
"""The first epsilon, in mean distances of the places from the nearest bidder: of two variables, and of more."""
FAR = 10.0
"""In the same distances: a place that is farther away starts at a price lower by what it is farther."""
FACTOR = 7.0
"""By this epsilon shrinks from phase to phase."""
LEAST_EPSILON = 1e-14
"""In first epsilons: below this nothing is gained by smaller ones."""
SLACK = 30.0
"""In epsilons: how much dearer than others may be what a record has in mind before it asks again."""
MANY = 100
"""From so many on bidders ask in threads."""
PARTS = 16
"""The bidders are looked at in so many parts, by as many threads as there are processors."""


class _Bidders(NamedTuple):
    """The rows that bid: the records of the file, then as many dummies at no cost as make both sides equal."""

    values: Floats
    candidates: Ints
    """By record: places that it keeps in mind, -1 for none."""
    costs: Floats
    """By record: their distances."""
    limit: Floats
    """By record: every other place costs at least this; once bidding begins prices never fall, so that stays true."""
    place: Ints
    """By bidder: the place it holds, -1 for none."""
    holder: Ints
    """By place: the bidder that holds it, -1 for none."""


def auction(
    x: Floats, y: Floats, metric: Metric, gap: float, progress: Progress = no_progress
) -> tuple[Ints, Floats, float]:
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
    near = _least_costs(offers(values, metric), on_offer.points, metric)
    # Distances of different records can be 0 where their differences are too small for a square; epsilon must not be.
    usual = float(near.mean()) or float(bidders.costs.mean()) or 1.0
    epsilon = first = (FIRST_EPSILON if x.shape[1] <= 2 else FIRST_OF_MANY) * usual
    if n == m:
        _lower_far_prices(on_offer, bidders, metric, near)
    while True:
        progress(np.log(first / epsilon) / np.log(1.0 / LEAST_EPSILON), "assigning records")
        _settle(on_offer, bidders, metric, epsilon, waiting, count)
        epsilon /= FACTOR
        waiting, count, bound = _discontent(on_offer, bidders, metric, epsilon, away)
        total = float(away.sum())
        if total - bound <= gap * total or epsilon < LEAST_EPSILON * first:
            partner, cost = np.empty(n, np.int64), np.empty(n)
            partner[order], cost[order] = on_offer.order[bidders.place[:n]], away
            return partner, cost, bound
        bidders.holder[bidders.place[waiting[:count]]] = -1
        bidders.place[waiting[:count]] = -1


def _lower_far_prices(on_offer: Offers, bidders: _Bidders, metric: Metric, near: Floats) -> None:
    """Lower the first prices of places that are far from every bidder, by their distance from the nearest one.

    Somebody must take them in the end. At the price of the others nobody would before all others have become so much
    dearer, one epsilon at a time.
    """
    lower = np.minimum(FAR * near.mean() - near, 0.0)
    far = np.flatnonzero(lower < 0.0)
    if not len(far):
        return
    set_prices(on_offer, lower)
    few = offers(on_offer.points[far], metric)
    set_prices(few, lower[far][few.order])
    np.minimum(bidders.limit, _least_costs(few, bidders.values, metric), out=bidders.limit)


def _least_costs(on_offer: Offers, values: Floats, metric: Metric) -> Floats:
    """What the cheapest record on offer costs each row of values."""
    least = np.empty(len(values))
    _in_parts(len(values), lambda first, last: _cheapest_of_some(on_offer, values, metric, first, last, least))
    return least


def _in_parts(size: int, look: Callable[[int, int], None]) -> None:
    """Look at so many rows, from a first to before a last one at a time, in threads if that is worth it."""
    parts = np.linspace(0, size, PARTS + 1).astype(np.int64)
    in_threads(lambda at: look(parts[at], parts[at + 1]), range(PARTS), worth=size > PARTS * 1000)


@compiled
def _cheapest_of_some(on_offer: Offers, values: Floats, metric: Metric, first: int, last: int, least: Floats) -> None:
    found, cost, sums = np.empty(1, np.int64), np.empty(1), np.empty(1)
    stack, limits = np.empty(WAITING, np.int64), np.empty(WAITING)
    for row in range(first, last):
        cheapest(on_offer, values[row], metric, 1, found, cost, sums, stack, limits)
        least[row] = sums[0]


def _discontent(
    on_offer: Offers, bidders: _Bidders, metric: Metric, epsilon: float, away: Floats
) -> tuple[Ints, int, float]:
    """Who has no place, or one that costs over epsilon more than another; how many; and the bound that prices give.

    The list has room for all. Distances are set.
    """
    size = len(bidders.place)
    flags, least = np.empty(size, np.bool_), np.empty(size)
    _in_parts(size, lambda first, last: _look(on_offer, bidders, metric, epsilon, first, last, flags, least, away))
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
