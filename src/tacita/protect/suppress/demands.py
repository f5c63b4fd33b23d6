"""What several requirements ask of a unit, by the keys that it shows: under the one-way rule only.

A unit that shows the keys P must count k on the part of every combination that it shows. Of the combinations with the
same part the greatest k decides, and a part needs no look where a larger one has a k as great: who counts enough there
counts enough here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from tacita.arrays import Ints
from tacita.protect.suppress.combinations import Requirement, places

MOST_KEYS = 12
"""Up to so many keys all their sets are held in one table."""


class Demands:
    """By set of keys shown: on which sets a unit must count how many, the largest sets first."""

    def __init__(self, k_by_members: Iterable[tuple[int, int]]) -> None:
        self._k: dict[int, int] = {}
        for members, k in k_by_members:
            self._k[members] = max(k, self._k.get(members, 0))
        every = 0
        for members in self._k:
            every |= members
        self._places = places(every)
        self._every = every
        self._found: dict[int, list[tuple[int, int]]] = {}
        self._base = np.zeros(1 << len(self._places) if len(self._places) <= MOST_KEYS else 0, dtype=np.int64)
        for members, k in self._k.items() if len(self._base) else ():
            self._base[self._narrow(members)] = k

    def of(self, shown: int) -> list[tuple[int, int]]:
        """The sets and what must be counted on each; 1 is not listed, since everybody counts himself."""
        shown &= self._every
        if shown not in self._found:
            found = self._from_table(shown) if len(self._base) else self._one_by_one(shown)
            self._found[shown] = sorted(found, key=lambda each: (-each[0].bit_count(), each[0]))
        return self._found[shown]

    def _one_by_one(self, shown: int) -> Iterator[tuple[int, int]]:
        greatest: dict[int, int] = {}
        for members, k in self._k.items():
            inside = members & shown
            greatest[inside] = max(k, greatest.get(inside, 0))
        return ((inside, k) for inside, k in greatest.items() if k > 1)

    def _from_table(self, shown: int) -> Iterator[tuple[int, int]]:
        """From a table of all sets, of which those with a key that is not shown fall to the set without it."""
        table = self._base.copy()
        for bit in self._bits():
            if not self._narrow(shown) & bit:
                halves = _halves(table, bit)
                np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 0])
                halves[:, 1] = 0
        larger, beyond = table.copy(), np.zeros_like(table)
        for bit in self._bits():
            halves = _halves(larger, bit)
            np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 0])
        for bit in self._bits():
            halves = _halves(beyond, bit)
            np.maximum(halves[:, 0], _halves(larger, bit)[:, 1], out=halves[:, 0])
        for inside in np.flatnonzero((table > 1) & (table > beyond)):
            yield self._wide(int(inside)), int(table[inside])

    def _bits(self) -> Iterator[int]:
        return (1 << place for place in range(len(self._places)))

    def _narrow(self, members: int) -> int:
        return sum(1 << narrow for narrow, place in enumerate(self._places) if members >> place & 1)

    def _wide(self, members: int) -> int:
        return sum(1 << place for narrow, place in enumerate(self._places) if members >> narrow & 1)


def _halves(table: Ints, bit: int) -> Ints:
    """A view: the sets without a key and the same sets with it."""
    return table.reshape(-1, 2, bit)


@lru_cache(maxsize=16)
def _demands(k_by_members: tuple[tuple[int, int], ...]) -> Demands:
    return Demands(k_by_members)


def demands_of(needs: Sequence[Requirement]) -> Demands:
    """The demands of some requirements; kept, since the same are asked for in every round."""
    return _demands(tuple((need.members, need.k) for need in needs))
