"""What must hold after suppression, which units meet it, and which sets of keys are tried so that they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import combinations
from math import comb
from operator import or_

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.suppress.problem import Problem, Requirement, Units, bits, columns_of
from tacita.random import Draws

MOST_COMBINATIONS = 20_000
MOST_COMPARED = 1_000
"""Up to so many sets of keys are compared with each other, to see which decide."""
MONOTONE = ("one_way", "wildcard", "own_category")
"""Rules under which a record never counts fewer on fewer keys, so that k on all keys holds on every part of them."""
MOST_SETS = 1 << 12
"""Of more keys than this many sets belong to, only sets on which records agree are tried."""
COMPARISONS = 100_000_000
"""About so many cells are compared to find those sets."""


def union(requirements: Iterable[Requirement]) -> int:
    """All keys that something is asked of."""
    return reduce(or_, (each.members for each in requirements), 0)


def of_sizes(keys: Sequence[int], k_by_size: Mapping[int, int]) -> list[Requirement]:
    """One requirement for every combination of so many of the keys as are asked, each size with its own k.

    >>> [(columns_of(each.members), each.k) for each in of_sizes([0, 1, 2], {2: 5, 3: 3})]
    [([0, 1], 5), ([0, 2], 5), ([1, 2], 5), ([0, 1, 2], 3)]
    """
    wanted = {check.whole("a size of combs", size, 1): check.whole("k", k, 2) for size, k in k_by_size.items()}
    too_large = [size for size in wanted if size > len(keys)]
    if too_large:
        raise TacitaError(f"combs must be sizes up to the {len(keys)} keys; got {max(too_large)}.")
    total = sum(comb(len(keys), size) for size in wanted)
    if total > MOST_COMBINATIONS:
        raise TacitaError(
            f"combs asks for {total:,} combinations, more than {MOST_COMBINATIONS:,}; ask for fewer sizes."
        )
    return [Requirement(bits(chosen), k) for size, k in sorted(wanted.items()) for chosen in combinations(keys, size)]


def essential(requirements: Iterable[Requirement], rule: str) -> list[Requirement]:
    """Requirements that no other implies, those on the most keys first.

    On part of the keys a record counts at least as many as on all of them, under rules that are `MONOTONE`.
    """
    strongest: dict[int, Requirement] = {}
    for each in requirements:
        known = strongest.get(each.members, each)
        limits = [one.limits for one in (known, each) if one.limits is not None]
        strictest = np.min(limits, axis=0) if limits else None
        strongest[each.members] = Requirement(each.members, max(known.k, each.k), strictest)
    ordered = sorted(strongest.values(), key=lambda each: (-each.members.bit_count(), -each.k, each.members))
    if rule not in MONOTONE:
        return ordered
    return [each for each in ordered if each.limits is not None or not any(_implies(other, each) for other in ordered)]


def _implies(one: Requirement, other: Requirement) -> bool:
    return one.members != other.members and one.members & other.members == other.members and one.k >= other.k


class Demands:
    """What several requirements ask of a record under the one-way rule, by the set of keys that it shows.

    A record must count k on the part of every combination that it shows. Of the combinations with the same part the
    greatest k decides, and a part is not counted where a larger one has a k as great.
    """

    def __init__(self, k_by_members: Iterable[tuple[int, int]]) -> None:
        pairs = list(k_by_members)
        self._members = np.array([members for members, _ in pairs], dtype=np.int64)
        self._k = np.array([k for _, k in pairs], dtype=np.int64)
        self._every = int(np.bitwise_or.reduce(self._members, initial=0))
        self._known: dict[int, list[tuple[int, int]]] = {}

    def of(self, shown: int) -> list[tuple[int, int]]:
        """Sets of keys and what must be counted on each, the largest first; 1 is not listed: each counts itself."""
        shown &= self._every
        if shown not in self._known:
            self._known[shown] = self._decisive(shown)
        return self._known[shown]

    def _decisive(self, shown: int) -> list[tuple[int, int]]:
        sets, which = np.unique(self._members & shown, return_inverse=True)
        k = np.zeros(len(sets), dtype=np.int64)
        np.maximum.at(k, which, self._k)
        sets, k = sets[k > 1], k[k > 1]
        if len(sets) <= MOST_COMPARED:
            inside = (sets[:, None] & sets == sets[:, None]) & (sets[:, None] != sets)
            decisive = ~(inside & (k >= k[:, None])).any(axis=1)
            sets, k = sets[decisive], k[decisive]
        found = zip(sets.tolist(), k.tolist(), strict=True)
        return sorted(found, key=lambda each: (-each[0].bit_count(), each[0]))


@lru_cache(maxsize=16)
def demands_of(k_by_members: tuple[tuple[int, int], ...]) -> Demands:
    """The demands of some requirements; kept, since the same are asked for in every round."""
    return Demands(k_by_members)


def counted(units: Units, shown: Ints, members: int, wanted: Ints) -> tuple[Ints, Floats | Ints]:
    """For each wanted unit, itself included: the records or persons, and weights, that show the same on some keys.

    Without weights the second is the same as the first.
    """
    # Numba loads when the first file is suppressed, not with the package.
    from tacita.protect.suppress.one_way_loops import count_on

    mask, records, weights, size = units.mask(members), units.records, units.weights, len(wanted)
    slots, group = np.full(room_for(size), -1, dtype=np.int32), np.full(len(shown), -1, dtype=np.int32)
    hashes, own, total = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.int32), np.zeros(size, dtype=np.int64)
    sums = np.zeros(size if len(weights) else 0)
    count_on(units.words, mask, shown, records, weights, members, wanted, slots, hashes, group, own, total, sums)
    if len(units.person):
        from tacita.keys.unit_loops import units_in_groups

        f, weight = units_in_groups(group, units.person, records, weights, wanted, own, size)
        return f, weight if len(weights) else f
    itself = shown[wanted] & members != members
    f = total[own] + records[wanted] * itself
    return f, sums[own] + weights[wanted] * itself if len(weights) else f


def room_for(values: int) -> int:
    """How many slots a table of so many values has."""
    return max(16, 1 << (2 * values - 1).bit_length())


def enough(problem: Problem, shown: Ints, members: int, wanted: Ints, need: Requirement) -> Bools:
    """Which units would be safe if they showed exactly `members` of the keys of a requirement."""
    return need.met(*counted(problem.units, shown, members, wanted), wanted, problem.risk)


def meeting(problem: Problem, shown: Ints, wanted: Ints, would: Ints) -> Bools:
    """Which wanted units would meet all requirements if each of them alone showed `would`.

    Every set of keys is counted once, for however many combinations, and not at all where a larger one decides.
    """
    units, safe = problem.units, np.ones(len(wanted), dtype=bool)
    patterns, pattern = np.unique(would, return_inverse=True)
    demands = demands_of(tuple((need.members, need.k) for need in problem.needs if need.limits is None))
    k_by_set: dict[int, Ints] = {}
    for index, each in enumerate(map(int, patterns)):
        for members, k in demands.of(each):
            k_by_set.setdefault(members, np.zeros(len(patterns), dtype=np.int64))[index] = k
    for members, k_by_pattern in k_by_set.items():
        least = k_by_pattern[pattern]
        part = np.flatnonzero(safe & (least > 0))
        if len(part):
            safe[part] = counted(units, shown, members, wanted[part])[0] >= least[part]
    for need in problem.needs:
        if need.limits is not None:
            inside = would & need.members
            for members in map(int, np.unique(inside[safe])):
                part = np.flatnonzero(safe & (inside == members))
                safe[part] = enough(problem, shown, members, wanted[part], need)
    return safe


def violating(problem: Problem, shown: Ints) -> Bools:
    """Which units do not meet all requirements with what they show."""
    return ~meeting(problem, shown, np.arange(len(shown)), shown)


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

    Variants change the order of sets that cost the same.
    """
    cost = np.zeros(len(sets))
    for column in columns_of(members):
        cost = cost + costs[column] * (sets >> column & 1 == 0)
    # Which order is tried is no secret: nothing is drawn that protects.
    draws, numbers = Draws(variant), np.arange(len(sets))
    tie = draws.uniform(numbers) if variant else numbers
    return (int(sets[index]) for index in np.lexsort((tie, cost)))


def sets_to_try(problem: Problem, shown: Ints, rows: Ints, variant: int = 0) -> Iterator[int]:
    """Sets of the keys asked that units could show, the most valuable first: all sets of few keys.

    Of many keys the sets that rows show now, and those on which they agree with others.
    """
    members = union(problem.needs)
    fixed = problem.fixed & members
    if few_keys(members & ~fixed):
        sets = all_sets(members, fixed)
    else:
        agreed = agreements(problem, shown, rows, variant)
        sets = np.unique(np.concatenate([shown[rows] & members, agreed, [fixed]]))
    return in_order(sets, members & ~fixed, problem.costs, variant)


def agreements(problem: Problem, shown: Ints, rows: Ints, variant: int) -> Ints:
    """Sets of keys on which rows agree with others: with the nearest, then with one more each time, until k agree.

    With a limit of risk until nothing is left to agree on. Of large files a part is compared.
    """
    units, needs, members = problem.units, problem.needs, union(problem.needs)
    k = max(need.k if need.limits is None else np.inf for need in needs)
    columns = columns_of(members)
    codes, value = units.codes[:, columns], np.array([problem.costs[column] for column in columns])
    others = np.flatnonzero(shown & members)
    most = max(1, int((COMPARISONS / len(columns)) ** 0.5))
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
            if units.size(np.append(there, row)) >= k or not further.any():
                break
            common &= int(agree[np.argmax(np.where(further, worth, -1.0))])
            found.add(common)
            worth = same @ (value * (common & weights > 0))
    return np.array(sorted(found), dtype=np.int64)
