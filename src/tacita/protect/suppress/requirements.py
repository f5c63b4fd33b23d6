"""What must hold after suppression: on which combinations of keys every record must count how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError

MOST_COMBINATIONS = 20_000
MOST_COMPARED = 1_000
"""Up to so many sets of keys are compared with each other, to see which need no look."""
MONOTONE = ("one_way", "wildcard", "own_category")
"""Rules under which a record never counts fewer on fewer keys, so that k on all keys holds on every part of them."""


class Requirement(NamedTuple):
    """Every record must count at least k on a combination of keys, and its risk there must be within its limit."""

    members: int
    """The keys, one bit each."""
    k: int
    limits: Floats | None = None
    """By record, or by unit: the greatest risk of a correct link; infinite where none is asked. None: no limit."""

    def rows(self, index: Ints) -> Requirement:
        """The requirement for some records, or for the records of units, by their indices."""
        return self if self.limits is None else self._replace(limits=self.limits[index])


def bits(columns: Iterable[int]) -> int:
    """A set of columns as one number."""
    return sum(1 << column for column in columns)


def columns_of(members: int) -> list[int]:
    """The columns of a set."""
    return [column for column in range(members.bit_length()) if members >> column & 1]


def union(requirements: Iterable[Requirement]) -> int:
    """All keys that something is asked of."""
    members = 0
    for each in requirements:
        members |= each.members
    return members


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
        known = strongest.get(each.members)
        if known is None:
            strongest[each.members] = each
            continue
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
    greatest k decides, and a part needs no look where a larger one has a k as great.
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
def _demands(k_by_members: tuple[tuple[int, int], ...]) -> Demands:
    return Demands(k_by_members)


def demands_of(needs: Sequence[Requirement]) -> Demands:
    """The demands of some requirements; kept, since the same are asked for in every round."""
    return _demands(tuple((need.members, need.k) for need in needs))
