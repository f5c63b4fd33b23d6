"""One-way suppression: a sweep over the sets of keys that a record could still show, the most valuable first.

For a set of keys P, count the records that show at least P by their values on P. Every record that is not yet placed
and whose count is large enough shows exactly P from then on. All of them stay in that group, and whoever was placed
before keeps what he shows: the count never falls again, nobody needs a second look, and no cell is blanked that its own
record could show, since all larger sets were tried before.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.suppress.combinations import Requirement, bits, places
from tacita.protect.suppress.demands import demands_of
from tacita.protect.suppress.reporting import Report, unheard
from tacita.protect.suppress.units import Units
from tacita.random import Draws

MOST_SETS = 1 << 12
"""Of more keys than this many sets belong to, only the most valuable sets are tried, then ever fewer keys."""
MOST_STARTS = 128
"""They are parts of so many of the sets that the units show to begin with."""

Risk = Callable[[Floats, Floats], Floats]
"""The risk of a correct link in a group, of its number of records and its sum of weights."""


def counted(units: Units, shown: Ints, members: int, wanted: Ints) -> tuple[Ints, Floats]:
    """For each wanted unit the records, and the sum of weights, that show the same on a set of keys."""
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppress.loops import counts_on

    return counts_on(units.words, units.mask(members), shown, units.records, units.weights, members, wanted)


def enough(units: Units, shown: Ints, members: int, wanted: Ints, need: Requirement, risk: Risk | None = None) -> Bools:
    """Which units would be safe if they showed exactly `members` of the keys of a requirement.

    A unit that does not show them yet counts itself besides.
    """
    f, weight = counted(units, shown, members, wanted)
    itself = shown[wanted] & members != members
    f = f + units.records[wanted] * itself
    safe: Bools = f >= need.k
    if need.limits is not None and risk is not None:
        count = f.astype(np.float64)
        total = weight + units.weights[wanted] * itself if len(weight) else count
        safe &= risk(count, total) <= need.limits[wanted]
    return safe


def meeting(
    units: Units, shown: Ints, wanted: Ints, would: Ints, needs: Sequence[Requirement], risk: Risk | None = None
) -> Bools:
    """Which wanted units would meet all requirements if each of them alone showed `would`.

    Every set of keys is counted once, for however many combinations, and not at all where a larger one decides.
    """
    safe = np.ones(len(wanted), dtype=bool)
    patterns, pattern = np.unique(would, return_inverse=True)
    demands = demands_of([need for need in needs if need.limits is None])
    by_set: dict[int, list[tuple[int, int]]] = {}
    for place, each in enumerate(map(int, patterns)):
        for members, k in demands.of(each):
            by_set.setdefault(members, []).append((place, k))
    for members, asked in by_set.items():
        k_by_pattern = np.zeros(len(patterns), dtype=np.int64)
        where, k_there = zip(*asked, strict=True)
        k_by_pattern[list(where)] = k_there
        part = np.flatnonzero(safe & (k_by_pattern[pattern] > 0))
        if len(part):
            f, _ = counted(units, shown, members, wanted[part])
            f = f + units.records[wanted[part]] * (shown[wanted[part]] & members != members)
            safe[part] = f >= k_by_pattern[pattern[part]]
    for need in needs:
        if need.limits is not None:
            inside = would & need.members
            for members in map(int, np.unique(inside[safe])):
                part = np.flatnonzero(safe & (inside == members))
                safe[part] = enough(units, shown, members, wanted[part], need, risk)
    return safe


def sets_in_order(
    members: int, costs: Sequence[float], variant: int = 0, fixed: int = 0, shown: Ints | None = None
) -> Iterator[int]:
    """The sets of keys that can be shown, from all of `members` to the `fixed` ones, by the cost of what is blanked.

    Variants change the order of sets that cost the same, and of those that cost nearly the same. `shown` is what the
    units show now: of many keys only the most valuable parts of that are tried.
    """
    keys = places(members & ~fixed)
    if all_sets(members & ~fixed):
        cost = np.zeros(1)
        chosen = np.zeros(1, dtype=np.int64)
        for key in keys:
            cost = np.concatenate([cost, cost + costs[key]])
            chosen = np.concatenate([chosen, chosen | 1 << key])
    else:
        chosen = np.array(sorted(_most_valuable(members, fixed, costs, shown)), dtype=np.int64)
        cost = np.zeros(len(chosen))
        for key in keys:
            cost = cost + costs[key] * (chosen >> key & 1)
    # Which order is tried is no secret: nothing is drawn that protects.
    draws, numbers = Draws(variant), np.arange(len(cost))
    tie = draws.uniform(numbers) if variant else numbers
    if variant % 4 == 3:
        # Less than any key costs: a set still comes after those that blank less of the same keys.
        cost = cost + draws.uniform(numbers, 1) * min((costs[key] for key in keys), default=0.0) * (cost > 0)
    for place in np.lexsort((tie, cost)):
        yield members & ~int(chosen[place])


def all_sets(members: int) -> bool:
    """Whether every set of these keys is tried."""
    return 1 << members.bit_count() <= MOST_SETS


def _most_valuable(members: int, fixed: int, costs: Sequence[float], shown: Ints | None) -> set[int]:
    """Of many keys what to blank: the least that takes a unit on from what it shows, then one key more each time."""
    starts = [members]
    if shown is not None:
        patterns, units = np.unique(shown & members, return_counts=True)
        most = np.lexsort((patterns, -units))[:MOST_STARTS]
        starts = [int(patterns[place]) for place in most]
    found: set[int] = set()
    for start in starts:
        keys = sorted(places(start & ~fixed), key=lambda key: (costs[key], key))
        found.update(members & ~start | gone for gone in _cheapest_blanks(keys, costs, MOST_SETS // len(starts)))
        found.update(members & ~start | bits(keys[:length]) for length in range(len(keys) + 1))
    return found


def _cheapest_blanks(keys: Sequence[int], costs: Sequence[float], count: int) -> Iterator[int]:
    """The cheapest sets of keys, from the empty one; the keys are in the order of their costs."""
    queue: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(count):
        if not queue:
            break
        cost, gone = heapq.heappop(queue)
        yield bits(keys[place] for place in gone)
        last = gone[-1] if gone else -1
        if last + 1 < len(keys):
            following = costs[keys[last + 1]]
            heapq.heappush(queue, (cost + following, (*gone, last + 1)))
            if gone:
                heapq.heappush(queue, (cost + following - costs[keys[last]], (*gone[:-1], last + 1)))


def sweep(
    units: Units,
    shown: Ints,
    need: Requirement,
    order: Iterator[int],
    risk: Risk | None = None,
    report: Report = unheard,
) -> tuple[Ints, int]:
    """What each unit shows so that one requirement holds for all that may be touched, and the looks that it took."""
    place = _sweep_with_limits if need.limits is not None else _sweep
    inside, looks = place(units, shown & need.members, need, order, risk, report)
    return shown & ~need.members | inside, looks


def _sweep(
    units: Units, inside: Ints, need: Requirement, order: Iterator[int], risk: Risk | None, report: Report
) -> tuple[Ints, int]:
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppress.loops import place_on

    waiting, others = np.flatnonzero(units.free), np.flatnonzero(~units.free)
    # Room for those that may not be touched, and for as many groups as there are units.
    words, shown, records = np.empty_like(units.words), np.empty_like(inside), np.empty_like(inside)
    groups, looks, all_units = len(others), 0, len(waiting)
    words[:groups], shown[:groups], records[:groups] = units.words[others], inside[others], units.records[others]
    for members in order:
        if not len(waiting):
            break
        report(1 - len(waiting) / all_units)
        mask = units.mask(members)
        stay, groups, wanted = place_on(
            units.words, inside, units.records, waiting, words, shown, records, groups, mask, members, need.k
        )
        waiting = waiting[:stay]
        looks += (len(inside) + 4 * wanted) * (wanted > 0)
    return inside, looks


def _sweep_with_limits(
    units: Units, inside: Ints, need: Requirement, order: Iterator[int], risk: Risk | None, report: Report
) -> tuple[Ints, int]:
    waiting = np.flatnonzero(units.free)
    looks, all_units = 0, len(waiting)
    for members in order:
        if not len(waiting):
            break
        report(1 - len(waiting) / all_units)
        possible = inside[waiting] & members == members
        wanted = waiting[possible]
        if not len(wanted):
            continue
        looks += len(inside) + 4 * len(wanted)
        safe = enough(units, inside, members, wanted, need, risk)
        inside[wanted[safe]] = members
        keep = np.ones(len(waiting), dtype=bool)
        keep[np.flatnonzero(possible)[safe]] = False
        waiting = waiting[keep]
    return inside, looks


def violating(units: Units, shown: Ints, needs: Sequence[Requirement], risk: Risk | None = None) -> Bools:
    """Which units do not meet all requirements with what they show."""
    return ~meeting(units, shown, np.arange(len(shown)), shown, needs, risk)
