"""One-way suppression of a whole file: several sweeps, cells shown again, the cheapest outcome kept.

A sweep goes over the sets of keys that a record could still show, the most valuable first. For a set of keys P, count
the records that show at least P by their values on P. Every record that is not yet placed and whose count is large
enough shows exactly P from then on. All of them stay in that group, and whoever was placed before keeps what it shows:
the count never falls again, nobody is counted a second time, and no cell is suppressed that its own record could show,
since all larger sets were tried before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, cycle

import numpy as np

from tacita.arrays import Ints
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.problem import WORK, Problem, Requirement
from tacita.protect.suppress.requirements import (
    agreements,
    counted,
    demands_of,
    enough,
    few_keys,
    in_order,
    meeting,
    room_for,
    sets_to_try,
    union,
    violating,
)

MOST_ORDERS = 8
COMPARISONS = 1_000_000
"""About so many units are worth comparing for further orders of the sets."""
MOST_ROUNDS = 20


def suppress_one_way(problem: Problem, progress: Progress = no_progress) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the one-way rule.

    Several orders of the sets of keys are tried, as many as the size of the file allows, and the cheapest kept.
    """
    units, costs = problem.units, problem.costs
    if problem.shared is not None:
        problem = problem._replace(costs=problem.shared.search_costs(costs))
    best, compared = _one_order(problem, 0, part(progress, 0.0, 0.5))
    least = units.total_cost(best, costs)
    orders = min(MOST_ORDERS, COMPARISONS // max(1, compared)) if least else 0
    for variant in range(1, orders):
        share = part(progress, 0.5 + 0.5 * variant / orders, 0.5 + 0.5 * (variant + 1) / orders)
        shown, _ = _one_order(problem, variant, share)
        cost = units.total_cost(shown, costs)
        if cost < least:
            best, least = shown, cost
    return best


def _one_order(problem: Problem, variant: int, progress: Progress) -> tuple[Ints, int]:
    """What is shown after sweeping in one order, and about how many units were compared."""
    units, needs, shared = problem.units, problem.needs, problem.shared
    shown, compared = units.known, 0
    if len(needs) == 1:
        shown, compared = sweep(problem, variant, part(progress, 0.0, 0.8))
        progress = part(progress, 0.8, 1.0)
        if shared is None and needs[0].limits is None and few_keys(needs[0].members & ~problem.fixed):
            return shown, compared
    # Several requirements interfere with each other, and so do households and limits of one's own.
    for number in count():
        if shared is not None:
            shown = shared.spread(units.known, shown)
        before = shown
        shown = show_less(problem, shown, variant, halving(progress, number))
        compared += len(shown) << min(units.codes.shape[1], 10)
        if np.array_equal(before, shown):
            # All are safe, or what is asked cannot be had.
            break
    fuller = show_again(problem, shown, halving(progress, number))
    # Under the attack M2 a group with one more record of a small weight is not always safer.
    worse = problem.risk is not None and (violating(problem, fuller) & ~violating(problem, shown)).any()
    return (shown if worse else fuller), compared


def sweep(problem: Problem, variant: int, progress: Progress) -> tuple[Ints, int]:
    """What each unit shows so that the only requirement holds for all that may be changed; and the units compared."""
    (need,), known = problem.needs, problem.units.known
    inside, waiting = known & need.members, np.flatnonzero(problem.units.free)
    # Groups of persons do not add up: one may be in several.
    simple = need.limits is None and not len(problem.units.person)
    place = (_placing if simple else _placing_one_by_one)(problem, inside, need)
    compared, all_units = 0, len(waiting)
    for members in _sets_of_sweep(problem, inside, variant):
        if not len(waiting):
            break
        progress(1 - len(waiting) / all_units, WORK)
        waiting, asked = place(waiting, members)
        compared += (len(inside) + 4 * asked) * (asked > 0)
    return known & ~need.members | inside, compared


def _sets_of_sweep(problem: Problem, inside: Ints, variant: int) -> Iterator[int]:
    """The sets of a sweep; of many keys those on which units agree that still violate, as the others were placed."""
    units, (need,) = problem.units, problem.needs
    members = need.members & ~problem.fixed
    if not few_keys(members):
        yield from in_order(np.unique(inside), members, problem.costs, variant)
        for _ in range(MOST_ROUNDS):
            rows = np.flatnonzero(violating(problem, inside) & units.free)
            sets = agreements(problem, inside, rows, variant)
            if not len(sets):
                break
            yield from in_order(sets, members, problem.costs, variant)
    yield from sets_to_try(problem, inside, np.flatnonzero(units.free), variant)


Placing = Callable[[Ints, int], tuple[Ints, int]]
"""Places waiting units that are safe on a set of keys; who waits then, and how many were asked."""


def _placing(problem: Problem, inside: Ints, need: Requirement) -> Placing:
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppress.one_way_loops import place_on

    units, size = problem.units, len(inside)
    slots, own = np.empty(room_for(size), dtype=np.int32), np.empty(size, dtype=np.int32)
    hashes, counts = np.empty(size, dtype=np.uint64), np.empty((size, 2), dtype=np.int64)
    # Room for those that may not be changed, and for as many groups as there are units.
    others, words, placed = np.flatnonzero(~units.free), np.empty_like(units.words), np.empty_like(counts)
    groups = len(others)
    words[:groups], placed[:groups] = units.words[others], np.stack([inside, units.records], axis=1)[others]

    def place(waiting: Ints, members: int) -> tuple[Ints, int]:
        nonlocal groups
        stay, groups, asked = place_on(
            units.words, units.mask(members), members, need.k, inside, units.records, waiting,
            slots, hashes, own, counts, words, placed, groups,
        )  # fmt: skip
        return waiting[:stay], asked

    return place


def _placing_one_by_one(problem: Problem, inside: Ints, need: Requirement) -> Placing:
    def place(waiting: Ints, members: int) -> tuple[Ints, int]:
        wanted = waiting[inside[waiting] & members == members]
        if not len(wanted):
            return waiting, 0
        placed = wanted[enough(problem, inside, members, wanted, need)]
        inside[placed] = members
        return np.setdiff1d(waiting, placed, assume_unique=True), len(wanted)

    return place


def show_less(problem: Problem, shown: Ints, variant: int, progress: Progress) -> Ints:
    """What is shown when each violating unit shows less: the most valuable part with which it meets all requirements.

    That is as the others stand, and they may have counted on it, so rounds are repeated. Nobody ever shows more again,
    and with nothing shown a unit counts everybody, so it ends. Units for which nothing is enough stay as they are.
    """
    units, needs = problem.units, problem.needs
    rows = np.flatnonzero(violating(problem, shown) & units.free)
    if not len(rows):
        return shown
    counts = cache(lambda members: counted(units, shown, members, rows))
    demands = demands_of(tuple((need.members, need.k) for need in needs))
    limited = [need for need in needs if need.limits is not None]
    every, before = union(needs), shown[rows]
    after = before.copy()
    waiting = np.arange(len(rows))
    for members in sets_to_try(problem, shown, rows, variant):
        progress(1 - len(waiting) / len(rows), WORK)
        possible = before[waiting] & every & members == members
        if possible.any():
            some = waiting[possible]
            safe = np.ones(len(some), dtype=bool)
            for need in limited:
                f, weight = counts(members & need.members)
                safe &= need.met(f[some], weight[some], rows[some], problem.risk)
            for inside, k in demands.of(members):
                safe &= counts(inside)[0][some] >= k if safe.any() else False
            after[some[safe]] = before[some[safe]] & ~every | members
            waiting = np.setdiff1d(waiting, some[safe], assume_unique=True)
        if not len(waiting):
            break
    shown = shown.copy()
    shown[rows] = after
    return shown


def show_again(problem: Problem, shown: Ints, progress: Progress = no_progress) -> Ints:
    """What is shown when every cell is shown again that its record does not need, the most valuable first.

    Under the one-way rule who shows more only helps others, so cells can be shown again to many records at once.
    """
    units, shared, columns = problem.units, problem.shared, problem.by_value
    known, unchanged = units.known, 0
    for number, column in enumerate(cycle(columns)):
        if unchanged == len(columns):
            # Every column was tried since the last cell was shown again.
            return shown
        progress(number % len(columns) / len(columns), WORK)
        bit = 1 << column
        unchanged += 1
        asked = (known & ~shown & bit != 0) & units.free
        if not asked.any():
            continue
        rows, safe = np.flatnonzero(asked), np.zeros(len(shown), dtype=bool)
        concerned = problem._replace(needs=[need for need in problem.needs if need.members & bit])
        safe[rows] = meeting(concerned, shown, rows, shown[rows] | bit)
        if shared is not None and column in shared.variables:
            safe &= shared.without(asked & ~safe)
        if safe.any():
            shown, unchanged = np.where(safe, shown | bit, shown), 0
    return shown
