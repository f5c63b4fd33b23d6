"""Compiled loops of suppression under rules by which a blank helps others too: what a unit counts, whatever it blanks.

Two records can only disagree on keys that both show. So what a unit counts when it blanks the keys B is a sum over the
sets D of keys on which others disagree with it: those with D inside B. One pass over the units and one transform of
2^q numbers give it for all B at once.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.compiled import compiled

WILDCARD, CONSERVATIVE, PARTIAL, SDCMICRO = 0, 1, 2, 3


@compiled
def tallies(codes: Codes, shown: Ints, numbers: Floats, unit: int, known: int) -> tuple[Floats, Floats]:
    """By set of keys: what disagrees on exactly these, and what does not show the unit's values on exactly these."""
    sets = 1 << codes.shape[1]
    disagree = np.zeros(sets)
    differ = np.zeros(sets)
    for other in range(len(codes)):
        apart, unlike = 0, 0
        if other != unit:
            for column in range(codes.shape[1]):
                if known >> column & 1:
                    if not shown[other] >> column & 1:
                        unlike |= 1 << column
                    elif codes[other, column] != codes[unit, column]:
                        apart |= 1 << column
        disagree[apart] += numbers[other]
        differ[apart | unlike] += numbers[other]
    _add_up(disagree)
    _add_up(differ)
    return disagree, differ


@compiled
def _add_up(numbers: Floats) -> None:
    """Each set's number becomes the sum over all sets inside it."""
    step = 1
    while step < len(numbers):
        for place in range(len(numbers)):
            if place & step:
                numbers[place] += numbers[place ^ step]
        step <<= 1


@compiled
def counts_by_blanks(
    codes: Codes,
    shown: Ints,
    numbers: Floats,
    unit: int,
    known: int,
    members: int,
    disagree: Floats,
    differ: Floats,
    rule: int,
    factor: float,
    shares: Floats,
) -> Floats:
    """What a unit counts on some keys for every set of keys that it could blank."""
    sets = len(disagree)
    out = np.empty(sets)
    outside = (sets - 1) & ~members
    complete = _complete_count(
        codes, shown, numbers, unit, known, members, disagree, differ, rule, factor, shares, outside
    )
    for blanks in range(sets):
        if blanks & ~known:
            out[blanks] = -1.0
        elif known & ~blanks & members == members:
            out[blanks] = complete
        elif rule == SDCMICRO:
            out[blanks] = _sdcmicro_count(codes, shown, numbers, unit, known & ~blanks & members, members, factor)
        else:
            out[blanks] = disagree[blanks | outside]
    return out


@compiled
def _complete_count(
    codes: Codes,
    shown: Ints,
    numbers: Floats,
    unit: int,
    known: int,
    members: int,
    disagree: Floats,
    differ: Floats,
    rule: int,
    factor: float,
    shares: Floats,
    outside: int,
) -> float:
    """What a unit counts that shows all keys of a combination."""
    if known & members != members:
        return -1.0
    if rule == SDCMICRO:
        return _sdcmicro_count(codes, shown, numbers, unit, members, members, factor)
    if rule == WILDCARD:
        return float(disagree[outside])
    exact = differ[outside]
    if rule == CONSERVATIVE:
        return float(exact)
    if len(shares) == 0:
        return float(exact + factor * (disagree[outside] - exact))
    return _shared_count(codes, shown, numbers, unit, members, shares)


@compiled
def _shared_count(codes: Codes, shown: Ints, numbers: Floats, unit: int, members: int, shares: Floats) -> float:
    """Others that could match, each by the product of the shares of the keys that it does not show."""
    total = 0.0
    for other in range(len(codes)):
        part = 1.0
        if other != unit:
            for column in range(codes.shape[1]):
                if members >> column & 1:
                    if not shown[other] >> column & 1:
                        part *= shares[column]
                    elif codes[other, column] != codes[unit, column]:
                        part = 0.0
                        break
        total += part * numbers[other]
    return float(total)


@compiled
def _sdcmicro_count(
    codes: Codes, shown: Ints, numbers: Floats, unit: int, pattern: int, members: int, alpha: float
) -> float:
    """The reference program's count, quirks included (`tacita.matching.sdcmicro`)."""
    total = numbers[unit]
    single = members & (members - 1) == 0
    for other in range(len(codes)):
        if other == unit:
            continue
        theirs = shown[other] & members
        both = theirs & pattern
        agree = True
        for column in range(codes.shape[1]):
            if both >> column & 1 and codes[other, column] != codes[unit, column]:
                agree = False
                break
        if not agree:
            continue
        if pattern == 0 or theirs == members or (theirs == pattern and pattern != members):
            total += numbers[other]
        elif not (pattern == members and theirs == 0 and not single):
            total += alpha * numbers[other]
    return float(total)


@compiled
def respond(
    codes: Codes,
    shown: Ints,
    known: Ints,
    numbers: Floats,
    turn: Ints,
    needed: Ints,
    k: Ints,
    blanks_in_order: Ints,
    cost: Floats,
    rule: int,
    factor: float,
    shares: Floats,
    only_more: bool,
) -> int:
    """Each unit in turn blanks what is cheapest for itself, given what the others show; how many changed.

    With `only_more` a safe unit keeps its blanks and an unsafe one adds to them.
    """
    changed = 0
    outside_all = len(cost) - 1
    for unit in turn:
        now = known[unit] & ~shown[unit]
        disagree, differ = tallies(codes, shown, numbers, unit, known[unit])
        safe = np.ones(len(cost), dtype=np.bool_)
        for place in range(len(needed)):
            members = needed[place]
            if rule == WILDCARD:
                outside = outside_all & ~members
                for blanks in range(len(cost)):
                    if disagree[blanks | outside] < k[place]:
                        safe[blanks] = False
            else:
                counts = counts_by_blanks(
                    codes, shown, numbers, unit, known[unit], members, disagree, differ, rule, factor, shares
                )
                for blanks in range(len(cost)):
                    if counts[blanks] < k[place]:
                        safe[blanks] = False
        chosen = cheapest(safe, blanks_in_order, cost, known[unit], now, only_more)
        if chosen != now:
            shown[unit] = known[unit] & ~chosen
            changed += 1
    return changed


@compiled
def cheapest(safe: Bools, blanks_in_order: Ints, cost: Floats, known: int, now: int, only_more: bool) -> int:
    """The cheapest safe set of blanks; the present one if none is cheaper, or if there is none at all."""
    if safe[now] and only_more:
        return now
    for blanks in blanks_in_order:
        if blanks & ~known or not safe[blanks]:
            continue
        if only_more and blanks & now != now:
            continue
        if safe[now] and cost[blanks] >= cost[now]:
            return now
        return int(blanks)
    return now
