"""Compiled loops of one-way suppression: count the units that show some keys, by their values on them."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.protect.suppress.units import Words

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def counts_on(
    words: Words, mask: Words, shown: Ints, records: Ints, weights: Floats, members: int, wanted: Ints
) -> tuple[Ints, Floats]:
    """For each wanted unit: the records, and the sum of weights, that show the same on a set of keys.

    `words` are the packed keys and `mask` the bits of the set in them; `members` is the set, `shown` the keys that each
    unit shows. A wanted unit need not show them itself: it is then not among those counted. `wanted` is in ascending
    order; `weights` may be empty.
    """
    slots = _slots(3 * len(wanted))
    # What each group has on the set, side by side, so that comparing looks at one place in memory.
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    group = np.empty(len(wanted), dtype=np.int32)
    total, sums = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted) if len(weights) else 0)
    groups, following = 0, 0
    for index in range(len(wanted)):
        groups, group[index] = _group_of(words, wanted[index], mask, values, slots, groups)
    for unit in range(len(words)):
        if following < len(wanted) and wanted[following] == unit:
            found = group[following]
            following += 1
            if shown[unit] & members != members:
                continue
        elif shown[unit] & members != members:
            continue
        else:
            found = _known_group(words, unit, mask, values, slots)
            if found < 0:
                continue
        total[found] += records[unit]
        if len(weights):
            sums[found] += weights[unit]
    counted, summed = np.empty(len(wanted), dtype=np.int64), np.empty(len(sums))
    for index in range(len(wanted)):
        counted[index] = total[group[index]]
        if len(weights):
            summed[index] = sums[group[index]]
    return counted, summed


@compiled
def place_on(
    words: Words,
    inside: Ints,
    records: Ints,
    waiting: Ints,
    group_words: Words,
    group_shown: Ints,
    group_records: Ints,
    groups: int,
    mask: Words,
    members: int,
    k: int,
) -> tuple[int, int, int]:
    """Place every waiting unit that counts k on a set of keys; how many wait then, how many groups, how many asked.

    Units that were placed together show the same for good, so they are counted as one group. `inside` is set for those
    that are placed; the waiting ones that stay are moved to the front, and new groups are added at the end.
    """
    wanted = 0
    for unit in waiting:
        wanted += inside[unit] & members == members
    if wanted == 0:
        return len(waiting), groups, 0
    slots = _slots(2 * wanted)
    own = np.full(len(waiting), -1, dtype=np.int32)
    values = np.empty((wanted, words.shape[1]), dtype=np.uint64)
    new, total = np.zeros(wanted, dtype=np.int64), np.zeros(wanted, dtype=np.int64)
    found = 0
    for index in range(len(waiting)):
        unit = waiting[index]
        if inside[unit] & members == members:
            found, own[index] = _group_of(words, unit, mask, values, slots, found)
            new[own[index]] += records[unit]
    for group in range(groups):
        if group_shown[group] & members == members:
            same = _known_group(group_words, group, mask, values, slots)
            if same >= 0:
                total[same] += group_records[group]
    stay = 0
    for index in range(len(waiting)):
        unit = waiting[index]
        if own[index] >= 0 and new[own[index]] + total[own[index]] >= k:
            inside[unit] = members
        else:
            waiting[stay] = unit
            stay += 1
    for group in range(found):
        if new[group] + total[group] >= k:
            group_words[groups] = values[group]
            group_shown[groups], group_records[groups] = members, new[group]
            groups += 1
    return stay, groups, wanted


@compiled
def _slots(least: int) -> Ints:
    """An empty hash table: a power of 2 of places, at least so many."""
    bits = 4
    while (1 << bits) < least:
        bits += 1
    return np.full(1 << bits, -1, dtype=np.int64)


@compiled
def _group_of(words: Words, unit: int, mask: Words, values: Words, slots: Ints, groups: int) -> tuple[int, int]:
    """How many groups there are with that of a unit, and its number; a new one is entered."""
    slot = _hash(words, unit, mask) & (len(slots) - 1)
    while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
        slot = (slot + 1) & (len(slots) - 1)
    if slots[slot] < 0:
        slots[slot] = groups
        for word in range(words.shape[1]):
            values[groups, word] = words[unit, word] & mask[word]
        groups += 1
    return groups, slots[slot]


@compiled
def _known_group(words: Words, unit: int, mask: Words, values: Words, slots: Ints) -> int:
    """The number of a unit's group, or -1."""
    slot = _hash(words, unit, mask) & (len(slots) - 1)
    while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
        slot = (slot + 1) & (len(slots) - 1)
    return int(slots[slot])


@compiled
def _hash(words: Words, unit: int, mask: Words) -> int:
    """Where to look for a unit's values: a number that depends on all of them."""
    mixed = np.uint64(0)
    for word in range(words.shape[1]):
        mixed = (mixed ^ (words[unit, word] & mask[word])) * _SPREAD
        mixed ^= mixed >> np.uint64(29)
    return int((mixed * _SPREAD) >> np.uint64(32))


@compiled
def _alike(words: Words, unit: int, mask: Words, values: Words, group: int) -> bool:
    for word in range(words.shape[1]):  # noqa: SIM110 - a generator is slow here
        if words[unit, word] & mask[word] != values[group, word]:
            return False
    return True
