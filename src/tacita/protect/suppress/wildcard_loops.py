"""Compiled loops of suppression where a missing value matches any value: on which keys all others differ from a unit.

Another one counts for a unit if all keys on which both show different values are missing in the unit. So the others are
put down once by the keys that set them apart, and what counts with any set of keys missing is a sum over its parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.compiled import compiled

Sets = NDArray[np.uint16]


class Turns(NamedTuple):
    """What all units show, and who has a turn; changed in place."""

    columns: Codes
    """By key and unit: the codes that it may show, 0 for none."""
    known: Ints
    """By unit: the keys that it may show."""
    shown: Ints
    """By unit: the keys that it shows."""
    asked: Bools
    """By unit: whether others changed something that concerns it since its last turn."""
    reach: Floats
    """By unit: the cost of the dearest suppression that mattered to it in its last turn."""
    needed: Ints
    """By requirement: its keys."""
    sets: Ints
    """The sets of keys that may be suppressed, the cheapest first."""
    cost: Floats
    """By set of keys: what it costs."""


@compiled
def keys_apart(turns: Turns, unit: int) -> Sets:
    """By unit the keys on which it and a given one have different values, as bits."""
    apart = np.zeros(len(turns.known), dtype=np.uint16)
    for key in range(len(turns.columns)):
        codes, bit = turns.columns[key], np.uint16(1 << key)
        if codes[unit]:
            for other in range(len(apart)):
                apart[other] |= bit * np.uint16((codes[other] != codes[unit]) & (codes[other] != 0))
    return apart


@compiled
def counts_by_missing(
    turns: Turns, apart: Sets, unit: int, records: Floats, members: int, factor: float, counts: Floats
) -> None:
    """Fill in, by set of missing keys, all of `members`: what counts for a unit, itself included.

    With none missing others that miss some of `members` count by the factor.
    """
    counts[:], partly = 0.0, 0.0
    for other in range(len(apart)):
        inside = apart[other] & turns.shown[other] & members
        counts[inside] += records[other]
        if inside == 0 and turns.shown[other] & members != members and other != unit:
            partly += records[other]
    bit = 1
    while bit < len(counts):
        if bit & members:
            for missing in range(len(counts)):
                if missing & bit:
                    counts[missing] += counts[missing ^ bit]
        bit *= 2
    counts[0] = rounded(counts[0] - (1.0 - factor) * partly)


@compiled
def rounded(count: float) -> float:
    """Ten times 0.3 is 3 and not 3 less rounding (`tacita.keys.matching`)."""
    nearest = np.rint(count)
    return nearest if abs(count - nearest) <= 1e-13 * count else count


@compiled
def persons_by_missing(
    turns: Turns,
    apart: Sets,
    unit: int,
    whose: tuple[Ints, Ints, Floats],
    members: int,
    sets: Ints,
    factor: float,
    enough: float,
) -> tuple[Floats, Floats]:
    """By set of missing keys: the persons that count for a unit, each by the unit that counts most, and their weights.

    `whose` are by unit its person, in ascending order, records and weights, which may be empty. A person has the mean
    weight of its records that count. No more than `enough` are counted.
    """
    person, records, weights = whose
    counts, sums = np.zeros(len(sets)), np.zeros(len(sets))
    for index in range(len(sets)):
        missing = sets[index] & members
        most, own_records, own_weight = 0.0, 0.0, 0.0
        for other in range(len(person)):
            shows = turns.shown[other] & members
            share = factor if missing == 0 and shows != members and other != unit else 1.0
            if (apart[other] & shows & ~missing == 0 or other == unit) and share > 0.0:
                most = max(most, share)
                own_records += records[other]
                own_weight += weights[other] if len(weights) else records[other]
            if other + 1 == len(person) or person[other + 1] != person[other]:
                counts[index] += most
                sums[index] += most * own_weight / max(own_records, 1.0)
                most, own_records, own_weight = 0.0, 0.0, 0.0
                if counts[index] >= enough:
                    break
        counts[index] = rounded(counts[index])
    return counts, sums


@compiled
def ask_again(turns: Turns, apart: Sets, unit: int, before: int) -> None:
    """Give all others another turn for which a unit counts, or did before, with keys missing that they tried."""
    for other in range(len(apart)):
        if not turns.asked[other] and other != unit:
            for members in turns.needed:
                both = apart[other] & members
                least = min(turns.cost[both & before], turns.cost[both & turns.shown[unit]])
                turns.asked[other] |= least <= turns.reach[other]
