"""Compiled tables of who agrees with a unit, where a missing value matches any value, and the turns that go by them.

Those count for a unit that shows some keys which have its values on what they show of these. So there is a table for
each set of keys, filled when it is first asked for: by what units show of the set, and their values there, how many
records they have. A unit that changes what it shows moves in all tables; nobody else does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints, Words
from tacita.compiled import compiled
from tacita.protect.suppress.problem import Units
from tacita.protect.suppress.wildcard_loops import Turns, ask_again, counts_by_missing, keys_apart, rounded

SLOTS = 1 << 25
"""Most slots of all tables, of 16 bytes, unless one table needs more."""
MOST_CHANGES = 200
"""After so many changes in a round everybody gets another turn."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_USED, _TABLES, _PATTERNS, _COUNTED, _CHANGES = range(5)


class Tables(NamedTuple):
    """How many records show what; changed in place."""

    turns: Turns
    records: Floats
    words: Words
    masks: Words
    """By set of keys and word: the bits that hold it."""
    patterns: Ints
    """The sets of keys that units show, or did."""
    units: Ints
    """By set of keys: how many units show just these."""
    sets: Ints
    """The sets of keys that have a table."""
    built: Bools
    """By set of keys: whether it has one."""
    last: Ints
    """By set of keys: the last count that looked up those who show just these of a set."""
    hashes: Words
    """By slot: a hash of table, keys and values; 0 if free. Different ones are next to never alike."""
    slots: Floats
    """By slot: records."""
    numbers: Ints
    """Slots used, tables, patterns, counts, changes."""


def tables_of(units: Units, turns: Turns) -> Tables:
    """No tables yet; `turns` are changed with them."""
    size = len(turns.cost)
    masks = np.array([units.mask(members) for members in range(size)])
    slots = max(min(SLOTS, 1 << (128 * len(turns.shown)).bit_length()), 1 << (2 * len(turns.shown)).bit_length())
    by_set = np.bincount(turns.shown, minlength=size)
    occurring = np.flatnonzero(by_set)
    patterns, none = np.pad(occurring, (0, size - len(occurring))), np.zeros(size, dtype=np.int64)
    return Tables(
        turns, units.records.astype(np.float64), units.words, masks, patterns, by_set, none, none > 0, none.copy(),
        np.zeros(slots, dtype=np.uint64), np.zeros(slots), np.array([0, 0, len(occurring), 0, 0]),
    )  # fmt: skip


@compiled
def _slot(tables: Tables, unit: int, members: int, part: int) -> tuple[np.int64, np.uint64]:
    """The slot, in the table of a set, of a unit's values on a part of it, and the hash that is written there."""
    mixed = (np.uint64(members) << np.uint64(32) ^ np.uint64(part + 1)) * _SPREAD
    for word in range(tables.words.shape[1]):
        mixed = (mixed ^ (tables.words[unit, word] & tables.masks[part, word])) * _SPREAD
        mixed ^= mixed >> np.uint64(32)
    mixed = mixed * _SPREAD
    mixed = max(mixed ^ mixed >> np.uint64(29), np.uint64(1))
    end = np.uint64(len(tables.hashes) - 1)
    slot = mixed & end
    while tables.hashes[slot] != 0 and tables.hashes[slot] != mixed:
        slot = (slot + np.uint64(1)) & end
    return np.int64(slot), mixed


@compiled
def _add(tables: Tables, unit: int, members: int, part: int, records: float) -> None:
    slot, mixed = _slot(tables, unit, members, part)
    tables.numbers[_USED] += tables.hashes[slot] == 0
    tables.hashes[slot] = mixed
    tables.slots[slot] += records


@compiled
def _build(tables: Tables, members: int) -> None:
    """Fill the table of a set; all others are emptied where there is no room for it."""
    if 3 * (tables.numbers[_USED] + len(tables.turns.shown)) > 2 * len(tables.hashes):
        tables.hashes[:], tables.slots[:], tables.built[:] = 0, 0.0, False
        tables.numbers[_USED] = tables.numbers[_TABLES] = 0
    for unit in range(len(tables.turns.shown)):
        _add(tables, unit, members, tables.turns.shown[unit] & members, tables.records[unit])
    tables.sets[tables.numbers[_TABLES]], tables.built[members] = members, True
    tables.numbers[_TABLES] += 1


@compiled
def counted(tables: Tables, unit: int, mine: int, factor: float, enough: float) -> float:
    """The records that count for a unit if it shows some keys, itself included; counted no further than to `enough`.

    Others that miss some of these count by the factor.
    """
    if not tables.built[mine]:
        _build(tables, mine)
    own = tables.turns.shown[unit] & mine
    total = 0.0 if own == mine else (1.0 - factor) * tables.records[unit]
    tables.numbers[_COUNTED] += 1
    for index in range(tables.numbers[_PATTERNS]):
        pattern = tables.patterns[index]
        part = pattern & mine
        if tables.units[pattern] and tables.last[part] != tables.numbers[_COUNTED]:
            tables.last[part] = tables.numbers[_COUNTED]
            slot, _ = _slot(tables, unit, mine, part)
            total += tables.slots[slot] * (1.0 if part == mine else factor)
            if total >= enough:
                break
    return rounded(total)


@compiled
def show(tables: Tables, unit: int, after: int) -> None:
    """Let a unit show other keys."""
    before = tables.turns.shown[unit]
    for index in range(tables.numbers[_TABLES]):
        members = tables.sets[index]
        if before & members != after & members:
            _add(tables, unit, members, before & members, -tables.records[unit])
            _add(tables, unit, members, after & members, tables.records[unit])
    known = False
    for index in range(tables.numbers[_PATTERNS]):
        known |= tables.patterns[index] == after
    if not known:
        tables.patterns[tables.numbers[_PATTERNS]] = after
        tables.numbers[_PATTERNS] += 1
    tables.units[before] -= 1
    tables.units[after] += 1
    tables.turns.shown[unit] = after
    tables.numbers[_CHANGES] += 1


@compiled
def take_turns(tables: Tables, some: Ints, k: Ints, factor: float, only_more: bool) -> int:
    """Each of some units in turn suppresses what is cheapest for itself, given what the others show; how many changed.

    With `only_more` a safe unit stays as it is and an unsafe one suppresses more.
    """
    turns, changed = tables.turns, 0
    cost, asked = turns.cost, turns.asked
    counts = np.empty((len(k), len(cost)))
    for unit in some:
        if not asked[unit]:
            continue
        known, before = turns.known[unit], turns.shown[unit]
        now = chosen = known & ~before
        safe = safe_now = _meets(tables, unit, now, k, factor)
        tried, limit = 0, cost[now] if safe_now else np.inf
        for missing in turns.sets:
            if cost[missing] >= limit or (safe_now and only_more):
                break
            if missing & ~known or (only_more and missing & now != now):
                continue
            tried += 1
            work = tried * tables.numbers[_PATTERNS]
            if work <= _work_of_scan(tables):
                safe = _meets(tables, unit, missing, k, factor)
            else:
                if work - tables.numbers[_PATTERNS] <= _work_of_scan(tables):
                    _count_all(tables, unit, factor, counts)
                safe = _meets_counted(turns, counts, missing, k)
            if safe:
                chosen = missing
                break
        turns.reach[unit] = cost[chosen] if safe or safe_now else np.inf
        asked[unit] = tables.numbers[_CHANGES] > MOST_CHANGES
        if chosen != now:
            changed += 1
            show(tables, unit, known & ~chosen)
            if tables.numbers[_CHANGES] <= MOST_CHANGES:
                ask_again(turns, keys_apart(turns, unit), unit, before)
            elif tables.numbers[_CHANGES] == MOST_CHANGES + 1:
                asked[:] = True
    return changed


@compiled
def _meets(tables: Tables, unit: int, missing: int, k: Ints, factor: float) -> bool:
    """Whether a unit meets all requirements with some keys missing."""
    for index in range(len(k)):
        members = tables.turns.needed[index]
        mine = tables.turns.known[unit] & ~missing & members
        if counted(tables, unit, mine, factor if mine == members else 1.0, float(k[index])) < k[index]:
            return False
    return True


@compiled
def _work_of_scan(tables: Tables) -> int:
    """How many times tables may be looked up before `_count_all` is less work."""
    return int(len(tables.turns.columns) * (len(tables.turns.shown) + len(tables.units)) // 8)


@compiled
def _count_all(tables: Tables, unit: int, factor: float, counts: Floats) -> None:
    """Fill in, by requirement and set of missing keys, what counts for a unit."""
    apart = keys_apart(tables.turns, unit)
    for index in range(len(counts)):
        members = tables.turns.needed[index]
        share = factor if tables.turns.known[unit] & members == members else 1.0
        counts_by_missing(tables.turns, apart, unit, tables.records, members, share, counts[index])


@compiled
def _meets_counted(turns: Turns, counts: Floats, missing: int, k: Ints) -> bool:
    for index in range(len(k)):  # noqa: SIM110 (compiled)
        if counts[index, missing & turns.needed[index]] < k[index]:
            return False
    return True
