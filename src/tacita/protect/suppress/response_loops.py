"""Compiled loops of suppression under rules by which a blank helps others too: what a unit counts, whatever it blanks.

Two records can only disagree on keys that both show. So what a unit counts when it blanks the keys B is a sum over the
sets D of keys on which others disagree with it: those with D inside B. One pass over the units and one transform of
2^q numbers give it for all B at once.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.compiled import compiled

WILDCARD, CONSERVATIVE, PARTIAL, SDCMICRO, CATEGORIES, EXPECTED = range(6)


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
    records: Floats,
    numbers: Floats,
    unit: int,
    known: int,
    members: int,
    disagree: Floats,
    differ: Floats,
    rule: int,
    factor: float,
) -> Floats:
    """What a unit counts on some keys for every set of keys that it could blank; -1 for sets that it cannot.

    `numbers` are what is counted, the records or their weights.
    """
    sets = len(disagree)
    out = np.empty(sets)
    outside = (sets - 1) & ~members
    complete = -1.0
    if known & members == members:
        if rule == SDCMICRO:
            complete = _sdcmicro_count(codes, shown, numbers, unit, members, members, factor)
        elif rule >= CATEGORIES:
            complete = _shared_count(codes, shown, records, numbers, unit, members, rule)
        else:
            # 1 for wildcard and 0 for conservative.
            exact = differ[outside]
            complete = whole_again(exact + factor * (disagree[outside] - exact))
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
def whole_again(count: float) -> float:
    """Ten times 0.3 is 3 and not 3 less rounding (`tacita.keys.matching`)."""
    nearest = np.rint(count)
    return float(nearest) if abs(count - nearest) <= 1e-13 * count else count


@compiled
def _shared_count(
    codes: Codes, shown: Ints, records: Floats, numbers: Floats, unit: int, members: int, rule: int
) -> float:
    """What a complete unit counts: others by the product of the shares of the keys that they do not show."""
    if rule == CATEGORIES:
        shares = _shares_of_categories(codes, shown, unit, members)
    else:
        shares = _shares_of_value(codes, shown, records, unit, members)
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
    return whole_again(total)


@compiled
def _shares_of_categories(codes: Codes, shown: Ints, unit: int, members: int) -> Floats:
    """By key: 1 / number of categories that occur if the unit shows its own."""
    shares = np.ones(codes.shape[1])
    for column in range(codes.shape[1]):
        if members >> column & 1:
            occurs = np.zeros(codes[:, column].max() + 1, dtype=np.bool_)
            occurs[codes[unit, column]] = True
            for other in range(len(codes)):
                if shown[other] >> column & 1:
                    occurs[codes[other, column]] = True
            # What the unit shows now may differ, but its code is marked anyway.
            shares[column] = 1.0 / occurs.sum()
    return shares


@compiled
def _shares_of_value(codes: Codes, shown: Ints, records: Floats, unit: int, members: int) -> Floats:
    """By key: the share with the unit's value among other complete records that agree on all other keys."""
    twins = records[unit]
    alike = np.full(codes.shape[1], records[unit])
    for other in range(len(codes)):
        if other == unit or shown[other] & members != members:
            continue
        apart, where = 0, 0
        for column in range(codes.shape[1]):
            if members >> column & 1 and codes[other, column] != codes[unit, column]:
                apart += 1
                where = column
                if apart > 1:
                    break
        if apart == 0:
            twins += records[other]
            alike += records[other]
        elif apart == 1:
            alike[where] += records[other]
    shares = np.zeros(codes.shape[1])
    for column in range(codes.shape[1]):
        if alike[column] > 1:
            shares[column] = (twins - 1) / (alike[column] - 1)
    return shares


@compiled
def _sdcmicro_count(
    codes: Codes, shown: Ints, numbers: Floats, unit: int, pattern: int, members: int, alpha: float
) -> float:
    """The reference program's count, quirks included (`tacita.keys.matching.sdcmicro`)."""
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
    return whole_again(total)


@compiled
def answer(
    codes: Codes,
    shown: Ints,
    known: int,
    records: Floats,
    unit: int,
    needed: Ints,
    k: Ints,
    blanks_in_order: Ints,
    cost: Floats,
    rule: int,
    factor: float,
    only_more: bool,
) -> int:
    """What a unit blanks that is cheapest for itself, given what the others show."""
    disagree, differ = tallies(codes, shown, records, unit, known)
    safe = np.ones(len(cost), dtype=np.bool_)
    for place in range(len(needed)):
        counts = counts_by_blanks(
            codes, shown, records, records, unit, known, needed[place], disagree, differ, rule, factor
        )
        for blanks in range(len(cost)):
            if counts[blanks] < k[place]:
                safe[blanks] = False
    return cheapest(safe, blanks_in_order, cost, known, known & ~shown[unit], only_more)


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
