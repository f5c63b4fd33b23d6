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
from tacita.protect.suppression.combinations import Requirement, bits, places
from tacita.protect.suppression.units import Units
from tacita.random import Draws

MOST_SETS = 1 << 12
"""Of more keys than this many sets belong to, only the most valuable sets are tried, then ever fewer keys."""

Risk = Callable[[Floats, Floats], Floats]
"""The risk of a correct link in a group, of its number of records and its sum of weights."""


def counted(units: Units, shown: Ints, members: int, wanted: Ints) -> tuple[Ints, Floats]:
    """For each wanted unit the records, and the sum of weights, that show the same on a set of keys."""
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppression.loops import counts_on

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

    On a set of keys the greatest k counts, so every set is counted once, for however many combinations of keys.
    """
    safe = np.ones(len(wanted), dtype=bool)
    patterns, pattern = np.unique(would, return_inverse=True)
    for members, k_by_pattern in _counts_needed(patterns, [need for need in needs if need.limits is None]).items():
        k = np.zeros(len(patterns), dtype=np.int64)
        k[list(k_by_pattern)] = list(k_by_pattern.values())
        part = np.flatnonzero(safe & (k[pattern] > 0))
        if len(part):
            f, _ = counted(units, shown, members, wanted[part])
            f = f + units.records[wanted[part]] * (shown[wanted[part]] & members != members)
            safe[part] = f >= k[pattern[part]]
    for need in needs:
        if need.limits is not None:
            inside = would & need.members
            for members in map(int, np.unique(inside[safe])):
                part = np.flatnonzero(safe & (inside == members))
                safe[part] = enough(units, shown, members, wanted[part], need, risk)
    return safe


def _counts_needed(patterns: Ints, needs: Sequence[Requirement]) -> dict[int, dict[int, int]]:
    """By set of keys: the k that it must have, by the place of the pattern of which it is the part that matters."""
    found: dict[int, dict[int, int]] = {}
    for place, pattern in enumerate(map(int, patterns)):
        for need in needs:
            by_pattern = found.setdefault(pattern & need.members, {})
            by_pattern[place] = max(need.k, by_pattern.get(place, 0))
    return found


def sets_in_order(members: int, costs: Sequence[float], variant: int = 0, fixed: int = 0) -> Iterator[int]:
    """The sets of keys that can be shown, from all of `members` to the `fixed` ones, by the cost of what is blanked.

    Variants change the order of sets that cost the same, and of those that cost nearly the same.
    """
    keys = places(members & ~fixed)
    if not all_sets(members & ~fixed):
        yield from _most_valuable(members, keys, costs)
        return
    cost = np.zeros(1)
    chosen = np.zeros(1, dtype=np.int64)
    for key in keys:
        cost = np.concatenate([cost, cost + costs[key]])
        chosen = np.concatenate([chosen, chosen | 1 << key])
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


def _most_valuable(members: int, keys: Sequence[int], costs: Sequence[float]) -> Iterator[int]:
    """The most valuable sets of many keys, then one key fewer each time."""
    keys = sorted(keys, key=lambda key: (costs[key], key))
    queue: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(MOST_SETS):
        cost, gone = heapq.heappop(queue)
        yield members & ~bits(keys[place] for place in gone)
        last = gone[-1] if gone else -1
        if last + 1 < len(keys):
            following = costs[keys[last + 1]]
            heapq.heappush(queue, (cost + following, (*gone, last + 1)))
            if gone:
                heapq.heappush(queue, (cost + following - costs[keys[last]], (*gone[:-1], last + 1)))
    for length in range(1, len(keys) + 1):
        yield members & ~bits(keys[:length])


def sweep(
    units: Units, shown: Ints, need: Requirement, order: Iterator[int], risk: Risk | None = None
) -> tuple[Ints, int]:
    """What each unit shows so that one requirement holds for all that may be touched, and the looks that it took."""
    shown = shown.copy()
    inside = shown & need.members
    waiting = np.flatnonzero(units.free)
    looks = 0
    for members in order:
        if not len(waiting):
            break
        possible = inside[waiting] & members == members
        wanted = waiting[possible]
        if not len(wanted):
            continue
        looks += len(shown) + 4 * len(wanted)
        safe = enough(units, shown, members, wanted, need, risk)
        placed = wanted[safe]
        shown[placed] = shown[placed] & ~need.members | members
        inside[placed] = members
        keep = np.ones(len(waiting), dtype=bool)
        keep[np.flatnonzero(possible)[safe]] = False
        waiting = waiting[keep]
    return shown, looks


def violating(units: Units, shown: Ints, needs: Sequence[Requirement], risk: Risk | None = None) -> Bools:
    """Which units do not meet all requirements with what they show."""
    return ~meeting(units, shown, np.arange(len(shown)), shown, needs, risk)
