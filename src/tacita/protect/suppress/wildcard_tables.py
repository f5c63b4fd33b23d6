"""Compiled tables of who agrees with a unit, for rules by which a missing value matches any value.

Units that show the same keys have one pattern. Of the units with the pattern P, those count for a unit that shows T
which have its values on the keys in both. So there is a table for P and every such part of it, filled when it is first
asked for: by the values there, how many records have them. A unit that changes what it shows leaves the tables of its
old pattern and enters those of the new one; nobody else changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints, Words
from tacita.compiled import compiled
from tacita.keys.unit_loops import units_that_match
from tacita.protect.suppress.problem import Units

SLOTS = 1 << 25
"""Most slots of all tables, of 16 bytes."""
FULL = -1.0
"""Instead of a count: there is no room for a table."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_USED, PATTERNS, _MOST, CHANGES = range(4)


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
    person: Ints
    person_records: Ints
    """By unit: whose it is, in ascending order, and its records, each unit counting 1; empty where records count."""
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
    hashes: Words
    """By slot: a hash of the number of a table and values; 0 if free. Different ones are next to never alike."""
    slot_records: Floats
    slot_weights: Floats
    """By slot: records and weights."""
    asked: Bools
    """By unit: whether others changed something that concerns it since its last turn."""
    reach: Floats
    """By unit: the cost of the dearest suppression that it tried in its last turn."""
    numbers: Ints
    """Slots used, patterns that occur, the most tables that a pattern may have, changes."""


def tables_of(
    units: Units, shown: Ints, known: Ints, weights: Floats, asked: Bools, reach: Floats, slots: int
) -> Tables:
    """No tables yet. `shown`, `asked` and `reach` are changed with them; no weights: records only."""
    size, keys = units.codes.shape
    sets = np.arange(1 << keys)
    masks = np.zeros((len(sets), units.words.shape[1]), dtype=np.uint64)
    ternary = np.zeros(len(sets), dtype=np.int64)
    for column in range(keys):
        masks[sets >> column & 1 > 0] |= units.fields[column]
        ternary += (sets >> column & 1) * 3**column
    records = np.ones(size) if len(units.person) else units.records.astype(np.float64)
    none, nobody = np.full(len(sets), -1), np.full(size, -1)
    made = Tables(
        codes=units.codes, known=known, shown=shown, records=records, weights=weights, person=units.person,
        person_records=units.records, words=units.words, masks=masks, ternary=ternary,
        built=np.zeros(3**keys, dtype=np.int64), last=none, tables=np.zeros_like(none),
        present=np.empty_like(none), first=none.copy(), following=nobody,
        previous=nobody.copy(), hashes=np.zeros(slots, dtype=np.uint64), slot_records=np.zeros(slots),
        slot_weights=np.zeros(slots if len(weights) else 0), asked=asked, reach=reach,
        numbers=np.array([0, 0, SLOTS // (3 * size), 0]),
    )  # fmt: skip
    _enter_all(made)
    return made


def fewest_slots(units: Units) -> int:
    """Slots to begin with; more than one unit could need."""
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
        for each in range(tables.numbers[PATTERNS]):
            known |= tables.present[each] == pattern
        if not known:
            tables.present[tables.numbers[PATTERNS]] = pattern
            tables.numbers[PATTERNS] += 1
    head = tables.first[pattern]
    tables.following[unit], tables.previous[unit] = head, -1
    if head >= 0:
        tables.previous[head] = unit
    tables.first[pattern] = unit
    _count(tables, unit, pattern, 1)


@compiled
def _count(tables: Tables, unit: int, pattern: int, sign: int) -> None:
    part = tables.last[pattern]
    while part >= 0:
        number = tables.ternary[pattern] + tables.ternary[part]
        _add(tables, unit, number, part, sign)
        part = tables.built[number] - 2


@compiled
def _add(tables: Tables, unit: int, number: int, part: int, sign: int) -> None:
    slot, there = _slot(tables, unit, number, part)
    if tables.hashes[slot] == 0:
        tables.hashes[slot] = there
        tables.numbers[_USED] += 1
    tables.slot_records[slot] += sign * tables.records[unit]
    if len(tables.weights):
        tables.slot_weights[slot] += sign * tables.weights[unit]


@compiled
def _slot(tables: Tables, unit: int, number: int, part: int) -> tuple[np.int64, np.uint64]:
    """The slot of a unit's values on the keys of a table, and the hash that is written there."""
    mixed = np.uint64(number + 1) * _SPREAD
    for word in range(tables.words.shape[1]):
        mixed = (mixed ^ (tables.words[unit, word] & tables.masks[part, word])) * _SPREAD
        mixed ^= mixed >> np.uint64(32)
    mixed = mixed * _SPREAD
    mixed ^= mixed >> np.uint64(29)
    mixed = max(mixed, np.uint64(1))
    end = np.uint64(len(tables.hashes) - 1)
    slot = mixed & end
    while tables.hashes[slot] != 0 and tables.hashes[slot] != mixed:
        slot = (slot + np.uint64(1)) & end
    return np.int64(slot), mixed


@compiled
def show(tables: Tables, unit: int, after: int) -> None:
    """Let a unit show other keys: it leaves its pattern and the tables of it, and enters others."""
    pattern, before, behind = tables.shown[unit], tables.previous[unit], tables.following[unit]
    if before >= 0:
        tables.following[before] = behind
    else:
        tables.first[pattern] = behind
    if behind >= 0:
        tables.previous[behind] = before
    _count(tables, unit, pattern, -1)
    tables.shown[unit] = after
    _enter(tables, unit, after)


@compiled
def full(tables: Tables) -> bool:
    """Whether there is no room for more."""
    return bool(3 * tables.numbers[_USED] > 2 * len(tables.hashes))


@compiled
def _agreeing(tables: Tables, unit: int, pattern: int, shared: int) -> tuple[float, float]:
    """The other records with a pattern that have the unit's values on some of its keys, and their weight."""
    number = tables.ternary[pattern] + tables.ternary[shared]
    if tables.built[number] == 0:
        if tables.tables[pattern] >= tables.numbers[_MOST]:
            return _compared(tables, unit, pattern, shared)
        other = tables.first[pattern]
        while other >= 0:
            if full(tables):
                return FULL, 0.0
            _add(tables, other, number, shared, 1)
            other = tables.following[other]
        tables.built[number] = tables.last[pattern] + 2
        tables.last[pattern] = shared
        tables.tables[pattern] += 1
    slot, _ = _slot(tables, unit, number, shared)
    count = tables.slot_records[slot]
    weight = tables.slot_weights[slot] if len(tables.weights) else count
    if pattern == tables.shown[unit]:
        count -= tables.records[unit]
        weight -= tables.weights[unit] if len(tables.weights) else tables.records[unit]
    return count, weight


@compiled
def _compared(tables: Tables, unit: int, pattern: int, shared: int) -> tuple[float, float]:
    """The same where a pattern has too many tables: all units with it are compared."""
    count, weight = 0.0, 0.0
    other = tables.first[pattern]
    while other >= 0:
        alike = other != unit
        for word in range(tables.words.shape[1]):
            alike &= (tables.words[other, word] ^ tables.words[unit, word]) & tables.masks[shared, word] == 0
        if alike:
            count += tables.records[other]
            weight += tables.weights[other] if len(tables.weights) else tables.records[other]
        other = tables.following[other]
    return count, weight


@compiled
def counted(tables: Tables, unit: int, missing: int, members: int, factor: float, enough: float) -> tuple[float, float]:
    """The records, and the weight, that count for a unit on some keys if some of its keys are missing; or FULL.

    For a complete unit others with missing values count by the factor, 1 under the wildcard rule. The count goes no
    further than to `enough` records.
    """
    mine = tables.known[unit] & ~missing & members
    total = tables.records[unit]
    total_weight = tables.weights[unit] if len(tables.weights) else tables.records[unit]
    for index in range(tables.numbers[PATTERNS]):
        pattern = tables.present[index]
        share = factor if mine == members and pattern & members != members else 1.0
        if tables.first[pattern] < 0 or share == 0.0:
            continue
        count, weight = _agreeing(tables, unit, pattern, pattern & mine)
        if count < 0:
            return count, 0.0
        total += share * count
        total_weight += share * weight
        if total >= enough:
            break
    # Ten times 0.3 is 3 and not 3 less rounding (`tacita.keys.matching`).
    nearest = np.rint(total)
    total = nearest if abs(total - nearest) <= 1e-13 * total else total
    # There are no more persons than units.
    if len(tables.person) and (total >= enough or enough == np.inf):
        whose = tables.person, tables.person_records, tables.weights
        return units_that_match(tables.words, tables.masks, tables.shown, *whose, unit, mine, members, factor, enough)
    return total, total_weight
