"""One-way suppression: a sweep over the sets of keys that a record could still show, the most valuable first.

For a set of keys P, count the records that show at least P by their values on P. Every record that is not yet placed
and whose count is large enough shows exactly P from then on. All of them stay in that group, and whoever was placed
before keeps what it shows: the count never falls again, nobody needs a second look, and no cell is suppressed that its
own record could show, since all larger sets were tried before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.progress import Progress, no_progress
from tacita.protect.suppress.problem import WORK, Problem, Risk, Units
from tacita.protect.suppress.requirements import Requirement, columns_of, demands_of
from tacita.random import Draws

MOST_SETS = 1 << 12
"""Of more keys than this many sets belong to, only sets on which records agree are tried."""
LOOKS = 100_000_000
"""About so many cells are compared to find those sets."""
MOST_ROUNDS = 20


def counted(units: Units, shown: Ints, members: int, wanted: Ints) -> tuple[Ints, Floats]:
    """For each wanted unit, itself included: the records or persons, and weights, that show the same on some keys."""
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.keys.unit_loops import units_in_groups
    from tacita.protect.suppress.one_way_loops import counts_on, groups_on

    mask, records, weights = units.mask(members), units.records, units.weights
    if len(units.person):
        group, of_wanted, groups = groups_on(units.words, mask, shown, members, wanted)
        return units_in_groups(group, units.person, records, weights, wanted, of_wanted, groups)
    f, weight = counts_on(units.words, mask, shown, records, weights, members, wanted)
    itself = shown[wanted] & members != members
    return f + records[wanted] * itself, weight + weights[wanted] * itself if len(weight) else weight


def enough(units: Units, shown: Ints, members: int, wanted: Ints, need: Requirement, risk: Risk | None = None) -> Bools:
    """Which units would be safe if they showed exactly `members` of the keys of a requirement."""
    f, weight = counted(units, shown, members, wanted)
    safe: Bools = f >= need.k
    if need.limits is not None and risk is not None:
        count = f.astype(np.float64)
        safe &= risk(count, weight if len(weight) else count) <= need.limits[wanted]
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
    for index, each in enumerate(map(int, patterns)):
        for members, k in demands.of(each):
            by_set.setdefault(members, []).append((index, k))
    for members, asked in by_set.items():
        k_by_pattern = np.zeros(len(patterns), dtype=np.int64)
        where, k_there = zip(*asked, strict=True)
        k_by_pattern[list(where)] = k_there
        part = np.flatnonzero(safe & (k_by_pattern[pattern] > 0))
        if len(part):
            f, _ = counted(units, shown, members, wanted[part])
            safe[part] = f >= k_by_pattern[pattern[part]]
    for need in needs:
        if need.limits is not None:
            inside = would & need.members
            for members in map(int, np.unique(inside[safe])):
                part = np.flatnonzero(safe & (inside == members))
                safe[part] = enough(units, shown, members, wanted[part], need, risk)
    return safe


def violating(units: Units, shown: Ints, needs: Sequence[Requirement], risk: Risk | None = None) -> Bools:
    """Which units do not meet all requirements with what they show."""
    return ~meeting(units, shown, np.arange(len(shown)), shown, needs, risk)


def few_keys(members: int) -> bool:
    """Whether every set of these keys is tried."""
    return 1 << members.bit_count() <= MOST_SETS


def all_sets(members: int, fixed: int) -> Ints:
    """All sets of some keys that contain the fixed ones, from all keys to those alone."""
    gone = np.zeros(1, dtype=np.int64)
    for column in columns_of(members & ~fixed):
        gone = np.concatenate([gone, gone | 1 << column])
    return members & ~gone


def in_order(sets: Ints, members: int, costs: Sequence[float], variant: int = 0) -> Iterator[int]:
    """Sets of keys that can be shown, by the cost of those of `members` that are not.

    Variants change the order of sets that cost the same, and of those that cost nearly the same.
    """
    cost = np.zeros(len(sets))
    for column in columns_of(members):
        cost = cost + costs[column] * (sets >> column & 1 == 0)
    # Which order is tried is no secret: nothing is drawn that protects.
    draws, numbers = Draws(variant), np.arange(len(sets))
    tie = draws.uniform(numbers) if variant else numbers
    if variant % 4 == 3:
        # Less than any key costs: a set still comes after those that suppress less of the same keys.
        least = min((costs[column] for column in columns_of(members)), default=0.0)
        cost = cost + draws.uniform(numbers, 1) * least * (cost > 0)
    return (int(sets[index]) for index in np.lexsort((tie, cost)))


def sets_to_try(
    problem: Problem, shown: Ints, rows: Ints, members: int, k: int | None, variant: int = 0
) -> Iterator[int]:
    """Sets of keys that units could show, the most valuable first: all sets of few keys.

    Of many keys the sets that rows show now, and those on which they agree with others.
    """
    fixed = problem.fixed & members
    if few_keys(members & ~fixed):
        sets = all_sets(members, fixed)
    else:
        agreed = agreements(problem, shown, rows, members, k, variant)
        sets = np.unique(np.concatenate([shown[rows] & members, agreed, [fixed]]))
    return in_order(sets, members & ~fixed, problem.costs, variant)


def agreements(problem: Problem, shown: Ints, rows: Ints, members: int, k: int | None, variant: int = 0) -> Ints:
    """Sets of keys on which rows agree with others: with the nearest, then with one more each time, until k agree.

    Without k until nothing is left to agree on. Of large files a part is looked at.
    """
    units, columns = problem.units, columns_of(members)
    codes, value = units.codes[:, columns], np.array([problem.costs[column] for column in columns])
    others = np.flatnonzero(shown & members)
    most = max(1, int((LOOKS / len(columns)) ** 0.5))
    rows, others = rows[:: len(rows) // most + 1], others[:: len(others) // most + 1]
    draws, weights = Draws(variant), np.int64(1) << np.array(columns, dtype=np.int64)
    visible = (shown[others][:, None] & weights) > 0
    found: set[int] = set()
    for row in map(int, rows):
        same = visible & (codes[others] == codes[row]) & (shown[row] & weights > 0)
        worth, agree = same @ value, same @ weights
        if variant:
            worth = worth + 0.9 * value.min() * draws.uniform(others, row)
        fixed = int(shown[row]) & problem.fixed & members
        records = np.where((agree & fixed == fixed) & (others != row), units.records[others], 0)
        common = int(shown[row]) & members
        while common & ~fixed:
            further = (records > 0) & (agree & common != common)
            there = others[(records > 0) & (agree & common == common)]
            enough_agree = k is not None and units.size(np.append(there, row)) >= k
            if enough_agree or not further.any():
                break
            common &= int(agree[np.argmax(np.where(further, worth, -1.0))])
            found.add(common)
            worth = same @ (value * (common & weights > 0))
    return np.array(sorted(found), dtype=np.int64)


def sweep(
    problem: Problem, shown: Ints, need: Requirement, variant: int = 0, progress: Progress = no_progress
) -> tuple[Ints, int]:
    """What each unit shows so that one requirement holds for all that may be changed, and the looks that it took."""
    inside, waiting = shown & need.members, np.flatnonzero(problem.units.free)
    # Groups of persons do not add up: one may be in several.
    simple = need.limits is None and not len(problem.units.person)
    place = (_placing if simple else _placing_one_by_one)(problem, inside, need)
    looks, all_units = 0, len(waiting)
    for members in _sets_of_sweep(problem, inside, need, variant):
        if not len(waiting):
            break
        progress(1 - len(waiting) / all_units, WORK)
        waiting, asked = place(waiting, members)
        looks += (len(inside) + 4 * asked) * (asked > 0)
    return shown & ~need.members | inside, looks


def _sets_of_sweep(problem: Problem, inside: Ints, need: Requirement, variant: int) -> Iterator[int]:
    """The sets of a sweep; of many keys those on which units agree that still violate, as the others were placed."""
    units, members = problem.units, need.members
    k = need.k if need.limits is None else None
    if not few_keys(members & ~problem.fixed):
        yield from in_order(np.unique(inside), members & ~problem.fixed, problem.costs, variant)
        for _ in range(MOST_ROUNDS):
            rows = np.flatnonzero(violating(units, inside, [need], problem.risk) & units.free)
            sets = agreements(problem, inside, rows, members, k, variant)
            if not len(sets):
                break
            yield from in_order(sets, members & ~problem.fixed, problem.costs, variant)
    yield from sets_to_try(problem, inside, np.flatnonzero(units.free), members, k, variant)


Placing = Callable[[Ints, int], tuple[Ints, int]]
"""Places waiting units that are safe on a set of keys; who waits then, and how many were asked."""


def _placing(problem: Problem, inside: Ints, need: Requirement) -> Placing:
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppress.one_way_loops import place_on

    units = problem.units
    others = np.flatnonzero(~units.free)
    # Room for those that may not be changed, and for as many groups as there are units.
    words, shown, records = np.empty_like(units.words), np.empty_like(inside), np.empty_like(inside)
    groups = len(others)
    words[:groups], shown[:groups], records[:groups] = units.words[others], inside[others], units.records[others]

    def place(waiting: Ints, members: int) -> tuple[Ints, int]:
        nonlocal groups
        mask = units.mask(members)
        stay, groups, asked = place_on(
            units.words, inside, units.records, waiting, words, shown, records, groups, mask, members, need.k
        )
        return waiting[:stay], asked

    return place


def _placing_one_by_one(problem: Problem, inside: Ints, need: Requirement) -> Placing:
    def place(waiting: Ints, members: int) -> tuple[Ints, int]:
        wanted = waiting[inside[waiting] & members == members]
        if not len(wanted):
            return waiting, 0
        placed = wanted[enough(problem.units, inside, members, wanted, need, problem.risk)]
        inside[placed] = members
        return np.setdiff1d(waiting, placed, assume_unique=True), len(wanted)

    return place
