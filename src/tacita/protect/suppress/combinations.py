"""What must hold after suppression: which combinations of keys must have k records, for each k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError

MOST_COMBINATIONS = 20_000
MONOTONE = ("one_way", "wildcard", "own_category")
"""Rules under which a record never counts fewer on fewer keys, so that k on all keys holds on every part of them."""


class Requirement(NamedTuple):
    """Every record must count at least k on a combination of keys, and its risk there must be within its limit."""

    members: int
    """The keys, one bit each."""
    k: int
    limits: Floats | None = None
    """By unit: the greatest risk of a correct link; infinite where none is asked. None: no limit."""


def bits(places: Iterable[int]) -> int:
    """A set of columns as one number."""
    return sum(1 << place for place in places)


def places(members: int) -> list[int]:
    """The columns of a set."""
    return [place for place in range(members.bit_length()) if members >> place & 1]


def of_sizes(keys: Sequence[int], k_by_size: Mapping[int, int]) -> list[Requirement]:
    """One requirement for every combination of so many of the keys as are asked, each size with its own k.

    >>> [(places(each.members), each.k) for each in of_sizes([0, 1, 2], {2: 5, 3: 3})]
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
    found = sorted(strongest.values(), key=lambda each: (-each.members.bit_count(), -each.k, each.members))
    if rule not in MONOTONE:
        return found
    return [each for each in found if each.limits is not None or not any(_implies(other, each) for other in found)]


def _implies(one: Requirement, other: Requirement) -> bool:
    return one.members != other.members and one.members & other.members == other.members and one.k >= other.k
