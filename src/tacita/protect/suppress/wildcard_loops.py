"""Compiled turns of suppression where a missing value matches any value: what counts for a unit that shows some keys.

Another one counts for a unit if all keys on which both show different values are missing in the unit. So the others can
be put down by the keys that set them apart, and what counts with any set of keys missing is a sum over its parts. Of
many units that is more work than looking up: a table for each set of keys, filled when it is first asked for, has by
what units show of the set, and their values there, how many records they have. A unit that changes what it shows moves
in all tables; nobody else does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Codes, Floats, Ints, Words
from tacita.compiled import compiled
from tacita.protect.suppress.one_way_loops import SPREAD

Sets = NDArray[np.uint16]
MOST_CHANGES = 200
"""After so many changes in a round everybody gets another turn."""
USED, TABLES, PATTERNS, COUNTED, CHANGES = range(5)
"""What `Turns.numbers` are of."""
_COMPARED = -1 << 40
"""Lookups left when all others were compared with a unit."""


class Turns(NamedTuple):
    """What all units show, who has a turn, and tables of who shows what; changed in place."""

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
    records: Ints
    words: Words
    masks: Words
    """By set of keys and word: the bits that hold it."""
    patterns: Ints
    """The sets of keys that units show, or did."""
    showing: Ints
    """By set of keys: how many units show just these."""
    tables: Ints
    """The sets of keys that have a table."""
    built: Bools
    """By set of keys: whether it has one."""
    last: Ints
    """By set of keys: the last count that looked up those who show just these of a set."""
    table: Words
    """By slot what stands for table, keys and values, 0 if free, different ones next to never alike; and records."""
    numbers: Ints
    """Slots used, tables, patterns, counts, changes in this round."""


@compiled
def keys_apart(columns: Codes, unit: int, apart: Sets) -> None:
    """Fill in by unit the keys on which it and a given one have different values, as bits."""
    for other in range(len(apart)):
        apart[other] = 0
    for key in range(len(columns)):
        codes, own, bit = columns[key], columns[key, unit], np.uint16(1 << key)
        if own:
            for other in range(len(apart)):
                apart[other] |= bit * np.uint16((codes[other] != own) & (codes[other] != 0))


@compiled
def counts_by_missing(
    shown: Ints, apart: Sets, unit: int, records: Ints | Floats, members: int, factor: float, counts: Floats
) -> None:
    """Fill in, by set of missing keys, all of `members`: what counts for a unit, itself included.

    With none missing others that miss some of `members` count by the factor.
    """
    # Without a sign numbers need no check for counting from the end, and loops take several at once.
    partly, bit, end = 0.0, np.uint64(1), np.uint64(len(counts))
    for missing in range(len(counts)):
        counts[missing] = 0.0
    for other in range(len(apart)):
        inside = apart[other] & shown[other] & members
        counts[inside] += records[other]
        if inside == 0 and shown[other] & members != members and other != unit:
            partly += records[other]
    while bit < end:
        if bit & np.uint64(members):
            for first in range(bit, end, bit + bit):
                for step in range(bit):
                    counts[first + step] += counts[first + step - bit]
        bit += bit
    counts[0] = rounded(counts[0] - (1.0 - factor) * partly)


@compiled
def rounded(count: float) -> float:
    """Ten times 0.3 is 3 and not 3 less rounding (`tacita.keys.matching`)."""
    nearest = np.rint(count)
    return nearest if abs(count - nearest) <= 1e-13 * count else count


@compiled
def persons_by_missing(
    shown: Ints,
    apart: Sets,
    unit: int,
    whose: tuple[Ints, Ints, Floats],
    members: int,
    sets: Ints,
    factor: float,
    enough: float,
    counts: Floats,
    sums: Floats,
) -> None:
    """Fill in by set of missing keys the persons that count, each by the unit that counts most, and their weights.

    `whose` are by unit its person, in ascending order, records and weights, which may be empty. A person has the mean
    weight of its records that count. No more than `enough` are counted.
    """
    person, records, weights = whose
    for index in range(len(sets)):
        missing = sets[index] & members
        count, most, own_records, own_weight = 0.0, 0.0, 0.0, 0.0
        for other in range(len(person)):
            shows = shown[other] & members
            share = factor if missing == 0 and shows != members and other != unit else 1.0
            if (apart[other] & shows & ~missing == 0 or other == unit) and share > 0.0:
                most = max(most, share)
                own_records += records[other]
                own_weight += weights[other] if len(weights) else records[other]
            if other + 1 == len(person) or person[other + 1] != person[other]:
                count += most
                sums[index] += most * own_weight / max(own_records, 1.0)
                most, own_records, own_weight = 0.0, 0.0, 0.0
                if count >= enough:
                    break
        counts[index] = rounded(count)


@compiled
def ask_again(turns: Turns, apart: Sets, unit: int, before: int) -> None:
    """Give all others another turn for which a unit counts, or did before, with keys missing that they tried."""
    cost, after = turns.cost, turns.shown[unit]
    for other in range(len(apart)):
        if not turns.asked[other] and other != unit:
            for members in turns.needed:
                both = apart[other] & members
                turns.asked[other] |= min(cost[both & before], cost[both & after]) <= turns.reach[other]


@compiled
def _find(table: Words, words: Words, masks: Words, unit: int, members: int, part: int) -> tuple[np.int64, np.uint64]:
    """The slot, in the table of a set, of a unit's values on a part of it; and what stands for them."""
    mixed = (np.uint64(members) << np.uint64(32) ^ np.uint64(part + 1)) * SPREAD
    for word in range(words.shape[1]):
        mixed = (mixed ^ (words[unit, word] & masks[part, word])) * SPREAD
        mixed ^= mixed >> np.uint64(32)
    mixed = max(mixed * SPREAD, np.uint64(1))
    last = len(table) - 1
    slot = np.int64(mixed >> np.uint64(32)) & last
    while table[slot, 0] != 0 and table[slot, 0] != mixed:
        slot = (slot + 1) & last
    return slot, mixed


@compiled
def _add(turns: Turns, unit: int, members: int, part: int, records: int) -> None:
    slot, mixed = _find(turns.table, turns.words, turns.masks, unit, members, part)
    turns.numbers[USED] += turns.table[slot, 0] == 0
    turns.table[slot, 0] = mixed
    turns.table[slot, 1] += np.uint64(records)


@compiled
def _make_room(turns: Turns, more: int) -> None:
    """All tables are emptied where there is no room for so many more slots."""
    if 3 * (turns.numbers[USED] + more) > 2 * len(turns.table):
        for slot in range(len(turns.table)):
            turns.table[slot, 0], turns.table[slot, 1] = 0, 0
        for members in range(len(turns.built)):
            turns.built[members] = False
        turns.numbers[USED] = turns.numbers[TABLES] = 0


@compiled
def counted(turns: Turns, unit: int, mine: int, factor: float, enough: float) -> float:
    """The records that count for a unit if it shows some keys, itself included; counted no further than to `enough`.

    Others that miss some of these count by the factor.
    """
    if not turns.built[mine]:
        _make_room(turns, len(turns.shown))
        for other in range(len(turns.shown)):
            _add(turns, other, mine, turns.shown[other] & mine, turns.records[other])
        turns.tables[turns.numbers[TABLES]], turns.built[mine] = mine, True
        turns.numbers[TABLES] += 1
    table, words, masks = turns.table, turns.words, turns.masks
    own = turns.shown[unit] & mine
    total = 0.0 if own == mine else (1.0 - factor) * turns.records[unit]
    turns.numbers[COUNTED] += 1
    for index in range(turns.numbers[PATTERNS]):
        pattern = turns.patterns[index]
        part = pattern & mine
        if turns.showing[pattern] and turns.last[part] != turns.numbers[COUNTED]:
            turns.last[part] = turns.numbers[COUNTED]
            slot, _ = _find(table, words, masks, unit, mine, part)
            total += table[slot, 1] * (1.0 if part == mine else factor)
            if total >= enough:
                break
    return rounded(total)


@compiled
def show(turns: Turns, unit: int, after: int) -> None:
    """Let a unit show other keys."""
    before, records = turns.shown[unit], turns.records[unit]
    _make_room(turns, 2 * turns.numbers[TABLES])
    for index in range(turns.numbers[TABLES]):
        members = turns.tables[index]
        if before & members != after & members:
            _add(turns, unit, members, before & members, -records)
            _add(turns, unit, members, after & members, records)
    known = False
    for index in range(turns.numbers[PATTERNS]):
        known |= turns.patterns[index] == after
    if not known:
        turns.patterns[turns.numbers[PATTERNS]] = after
        turns.numbers[PATTERNS] += 1
    turns.showing[before] -= 1
    turns.showing[after] += 1
    turns.shown[unit] = after
    turns.numbers[CHANGES] += 1


@compiled
def take_turns(
    turns: Turns, some: Ints, k: Ints, factor: float, only_more: bool, most: int, apart: Sets, counts: Floats
) -> int:
    """Each of some units in turn suppresses what is cheapest for itself, given what the others show; how many changed.

    With `only_more` a safe unit stays as it is and an unsafe one suppresses more. After `most` lookups it is compared
    with all others. `apart` and `counts` are room.
    """
    changed, cost, asked = 0, turns.cost, turns.asked
    for unit in some:
        if not asked[unit]:
            continue
        known, before = turns.known[unit], turns.shown[unit]
        now = chosen = known & ~before
        lookups, safe = _meets(turns, unit, now, k, factor, most, apart, counts)
        safe_now, limit = safe, cost[now] if safe else np.inf
        for missing in turns.sets:
            if cost[missing] >= limit or (safe_now and only_more):
                break
            if missing & ~known == 0 and not (only_more and missing & now != now):
                lookups, safe = _meets(turns, unit, missing, k, factor, lookups, apart, counts)
                if safe:
                    chosen = missing
                    break
        turns.reach[unit] = cost[chosen] if safe or safe_now else np.inf
        asked[unit] = turns.numbers[CHANGES] > MOST_CHANGES
        if chosen != now:
            changed += 1
            show(turns, unit, known & ~chosen)
            if turns.numbers[CHANGES] <= MOST_CHANGES:
                keys_apart(turns.columns, unit, apart)
                ask_again(turns, apart, unit, before)
            elif turns.numbers[CHANGES] == MOST_CHANGES + 1:
                for other in range(len(asked)):
                    asked[other] = True
    return changed


@compiled
def _meets(
    turns: Turns, unit: int, missing: int, k: Ints, factor: float, lookups: int, apart: Sets, counts: Floats
) -> tuple[int, bool]:
    """How many lookups are left, and whether a unit meets all requirements with some keys missing.

    When none are left all others are compared with it, once, for whatever is missing.
    """
    known = turns.known[unit]
    for index in range(len(k)):
        members = turns.needed[index]
        share = factor if known & members == members else 1.0
        if lookups > 0:
            mine = known & ~missing & members
            lookups -= turns.numbers[PATTERNS]
            if counted(turns, unit, mine, share if mine == members else 1.0, float(k[index])) < k[index]:
                return lookups, False
            continue
        if lookups > _COMPARED:
            lookups = _COMPARED
            keys_apart(turns.columns, unit, apart)
            for number in range(len(k)):
                every = turns.needed[number]
                part = factor if known & every == every else 1.0
                counts_by_missing(turns.shown, apart, unit, turns.records, every, part, counts[number])
        if counts[index, missing & members] < k[index]:
            return lookups, False
    return lookups, True
