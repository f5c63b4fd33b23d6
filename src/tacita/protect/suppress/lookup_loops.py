"""Compiled tables of what all units show, under rules by which a blank helps others too: who agrees with a unit.

Units that show the same keys have one pattern. Of the units with the pattern P, those count for a unit that shows T
which have its values on the keys in both. So there is a table for P and every such part of it, filled when it is first
asked for: by the values there, how many records have them. A unit that changes what it shows leaves the tables of its
old pattern and enters those of the new one; nobody else is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.compiled import compiled
from tacita.protect.suppress.response_loops import (
    CATEGORIES,
    CONSERVATIVE,
    EXPECTED,
    PARTIAL,
    SDCMICRO,
    WILDCARD,
    whole_again,
)
from tacita.protect.suppress.units import Units, Words

SLOTS = 1 << 25
"""Most places for entries of all tables, of 16 bytes."""
FAR, FULL = -1.0, -2.0
"""Instead of a count: this would take too many tables; there is no place for a table."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_USED, _PATTERNS, _MOST, CHANGES = range(4)


class Tables(NamedTuple):
    """What all units show, in tables by pattern and part of it; changed in place."""

    codes: Codes
    known: Ints
    """By unit: the keys that it may show."""
    shown: Ints
    """By unit: the keys that it shows."""
    records: Floats
    weights: Floats
    """By unit; empty where no weights are asked for."""
    words: Words
    masks: Words
    """By set of keys and word: the bits that hold it."""
    ternary: Ints
    """By set of keys: its bits as digits to the base 3; those of a pattern and a part of it add up to a number."""
    built: Ints
    """By number of pattern and part: 0 if there is no table, else 2 + the part whose table was built before, or 1."""
    last: Ints
    """By pattern: the part whose table was built last, or -1."""
    tables: Ints
    """By pattern: how many tables it has."""
    present: Ints
    """The patterns that occur, or did."""
    first: Ints
    """By pattern: the first unit that has it, or -1."""
    following: Ints
    previous: Ints
    """By unit: the next and the last one with the same pattern, or -1."""
    prints: Words
    """By place: the number of a table and values, mixed; 0 if free. Different ones are next to never alike."""
    found: Floats
    heavy: Floats
    """By place: records and weights."""
    showing: Ints
    """By key and code: how many units show it."""
    categories: Ints
    """By key: how many codes are shown."""
    asked: Bools
    """By unit: whether others changed something that concerns it since its last turn."""
    reach: Floats
    """By unit: the cost of the dearest blanks that it looked at in its last turn."""
    numbers: Ints
    """Places used, patterns that occur, the most tables that a pattern may have, changes."""


def tables_of(
    units: Units, shown: Ints, known: Ints, weights: Floats, asked: Bools, reach: Floats, slots: int
) -> Tables:
    """No tables yet. `shown`, `asked` and `reach` are changed with them; no weights: records only."""
    size, keys = units.codes.shape
    sets = np.arange(1 << keys)
    masks = np.zeros((len(sets), units.words.shape[1]), dtype=np.uint64)
    ternary = np.zeros(len(sets), dtype=np.int64)
    for place in range(keys):
        masks[sets >> place & 1 > 0] |= units.fields[place]
        ternary += (sets >> place & 1) * 3**place
    made = Tables(
        codes=units.codes,
        known=known,
        shown=shown,
        records=units.records.astype(np.float64),
        weights=weights,
        words=units.words,
        masks=masks,
        ternary=ternary,
        built=np.zeros(3**keys, dtype=np.int64),
        last=np.full(len(sets), -1),
        tables=np.zeros(len(sets), dtype=np.int64),
        present=np.empty(len(sets), dtype=np.int64),
        first=np.full(len(sets), -1),
        following=np.full(size, -1),
        previous=np.full(size, -1),
        prints=np.zeros(slots, dtype=np.uint64),
        found=np.zeros(slots),
        heavy=np.zeros(slots if len(weights) else 0),
        showing=np.zeros((keys, int(units.codes.max(initial=0)) + 1), dtype=np.int64),
        categories=np.zeros(keys, dtype=np.int64),
        asked=asked,
        reach=reach,
        numbers=np.array([0, 0, SLOTS // (3 * size), 0]),
    )
    _enter_all(made)
    return made


def fewest_slots(units: Units) -> int:
    """Places to begin with; more than one unit could need."""
    size, keys = int(units.codes.shape[0]), int(units.codes.shape[1])
    return max(1 << keys + 3, min(SLOTS, 1 << (4 * size * (keys + 1)).bit_length()))


@compiled
def _enter_all(tables: Tables) -> None:
    for unit in range(len(tables.shown)):
        _enter(tables, unit, tables.shown[unit])


@compiled
def _enter(tables: Tables, unit: int, pattern: int) -> None:
    """Give a unit a pattern, in all tables of it."""
    if tables.first[pattern] < 0 and tables.last[pattern] < 0:
        known = False
        for each in range(tables.numbers[_PATTERNS]):
            known |= tables.present[each] == pattern
        if not known:
            tables.present[tables.numbers[_PATTERNS]] = pattern
            tables.numbers[_PATTERNS] += 1
    head = tables.first[pattern]
    tables.following[unit], tables.previous[unit] = head, -1
    if head >= 0:
        tables.previous[head] = unit
    tables.first[pattern] = unit
    _count(tables, unit, pattern, 1)


@compiled
def _leave(tables: Tables, unit: int, pattern: int) -> None:
    """Take a unit out of its pattern, and of all tables of it."""
    before, after = tables.previous[unit], tables.following[unit]
    if before >= 0:
        tables.following[before] = after
    else:
        tables.first[pattern] = after
    if after >= 0:
        tables.previous[after] = before
    _count(tables, unit, pattern, -1)


@compiled
def _count(tables: Tables, unit: int, pattern: int, sign: int) -> None:
    part = tables.last[pattern]
    while part >= 0:
        number = tables.ternary[pattern] + tables.ternary[part]
        _add(tables, unit, number, part, sign)
        part = tables.built[number] - 2
    for column in range(tables.codes.shape[1]):
        if pattern >> column & 1:
            code = tables.codes[unit, column]
            tables.categories[column] -= tables.showing[column, code] > 0
            tables.showing[column, code] += sign
            tables.categories[column] += tables.showing[column, code] > 0


@compiled
def _add(tables: Tables, unit: int, number: int, part: int, sign: int) -> None:
    place, there = _place(tables, unit, number, part)
    if tables.prints[place] == 0:
        tables.prints[place] = there
        tables.numbers[_USED] += 1
    tables.found[place] += sign * tables.records[unit]
    if len(tables.weights):
        tables.heavy[place] += sign * tables.weights[unit]


@compiled
def _place(tables: Tables, unit: int, number: int, part: int) -> tuple[np.int64, np.uint64]:
    """Where a unit's values on the keys of a table are, or would be; and what is written there."""
    mixed = np.uint64(number + 1) * _SPREAD
    for word in range(tables.words.shape[1]):
        mixed = (mixed ^ (tables.words[unit, word] & tables.masks[part, word])) * _SPREAD
        mixed ^= mixed >> np.uint64(32)
    mixed = mixed * _SPREAD
    mixed ^= mixed >> np.uint64(29)
    mixed = max(mixed, np.uint64(1))
    end = np.uint64(len(tables.prints) - 1)
    place = mixed & end
    while tables.prints[place] != 0 and tables.prints[place] != mixed:
        place = (place + np.uint64(1)) & end
    return np.int64(place), mixed


@compiled
def show(tables: Tables, unit: int, after: int) -> None:
    """Let a unit show other keys."""
    _leave(tables, unit, tables.shown[unit])
    tables.shown[unit] = after
    _enter(tables, unit, after)


@compiled
def full(tables: Tables) -> bool:
    """Whether there is no place for more."""
    return bool(3 * tables.numbers[_USED] > 2 * len(tables.prints))


@compiled
def _agreeing(tables: Tables, unit: int, pattern: int, part: int) -> tuple[float, float]:
    """The other records with a pattern that have the unit's values on some of its keys, and their weight."""
    number = tables.ternary[pattern] + tables.ternary[part]
    if tables.built[number] == 0:
        if tables.tables[pattern] >= tables.numbers[_MOST]:
            return FAR, 0.0
        other = tables.first[pattern]
        while other >= 0:
            if full(tables):
                return FULL, 0.0
            _add(tables, other, number, part, 1)
            other = tables.following[other]
        tables.built[number] = tables.last[pattern] + 2
        tables.last[pattern] = part
        tables.tables[pattern] += 1
    place, _ = _place(tables, unit, number, part)
    count = tables.found[place]
    weight = tables.heavy[place] if len(tables.weights) else count
    if pattern == tables.shown[unit]:
        count -= tables.records[unit]
        weight -= tables.weights[unit] if len(tables.weights) else tables.records[unit]
    return count, weight


@compiled
def counted(
    tables: Tables, unit: int, blanks: int, members: int, rule: int, factor: float, enough: float
) -> tuple[float, float]:
    """The records, and the weight, that count for a unit on some keys if it blanks some; FAR, or FULL.

    No further than to `enough` records.
    """
    mine = tables.known[unit] & ~blanks & members
    complete = mine == members
    shares = np.ones(tables.codes.shape[1])
    if complete and rule == CATEGORIES:
        for column in range(len(shares)):
            if members >> column & 1:
                new = tables.showing[column, tables.codes[unit, column]] == 0
                shares[column] = 1.0 / (tables.categories[column] + new)
    elif complete and rule == EXPECTED:
        failed = _shares_of_value(tables, unit, members, shares)
        if failed < 0:
            return failed, 0.0
    itself = tables.weights[unit] if len(tables.weights) else tables.records[unit]
    whole, whole_weight, part, part_weight = tables.records[unit], itself, 0.0, 0.0
    for each in range(tables.numbers[_PATTERNS]):
        pattern = tables.present[each]
        if tables.first[pattern] < 0:
            continue
        share = _share(mine, pattern & members, members, rule, factor, shares)
        if share == 0.0:
            continue
        count, weight = _agreeing(tables, unit, pattern, pattern & mine)
        if count < 0:
            return count, 0.0
        if share == 1.0:
            whole += count
            whole_weight += weight
        elif rule in (CATEGORIES, EXPECTED):
            part += share * count
            part_weight += share * weight
        else:
            part += count
            part_weight += weight
        if whole >= enough:
            break
    if rule not in (CATEGORIES, EXPECTED):
        part *= factor
        part_weight *= factor
    return whole_again(whole + part), whole_weight + part_weight


@compiled
def _share(mine: int, theirs: int, members: int, rule: int, factor: float, shares: Floats) -> float:
    """By how much a unit that shows `mine` counts others that agree with it and show `theirs`."""
    if theirs == members or rule == WILDCARD:
        return 1.0
    if rule == SDCMICRO:
        # The reference program's quirks (`tacita.keys.matching.sdcmicro`).
        if mine == 0 or (theirs == mine and mine != members):
            return 1.0
        single = members & (members - 1) == 0
        return 0.0 if mine == members and theirs == 0 and not single else factor
    if mine != members:
        return 1.0
    if rule in (CONSERVATIVE, PARTIAL):
        return factor
    share = 1.0
    for column in range(len(shares)):
        if members & ~theirs & 1 << column:
            share *= shares[column]
    return share


@compiled
def _shares_of_value(tables: Tables, unit: int, members: int, shares: Floats) -> float:
    """By key: the share with the unit's value among other complete records that agree on all other keys."""
    twins = _complete_and_alike(tables, unit, members, members)
    for column in range(len(shares)):
        if members >> column & 1:
            alike = _complete_and_alike(tables, unit, members & ~(1 << column), members)
            if alike < 0 or twins < 0:
                return float(min(alike, twins))
            shares[column] = (twins - 1) / (alike - 1) if alike > 1 else 0.0
    return 0.0


@compiled
def _complete_and_alike(tables: Tables, unit: int, part: int, members: int) -> float:
    total = float(tables.records[unit])
    for each in range(tables.numbers[_PATTERNS]):
        pattern = tables.present[each]
        if pattern & members == members and tables.first[pattern] >= 0:
            count, _ = _agreeing(tables, unit, pattern, part)
            if count < 0:
                return count
            total += count
    return total
