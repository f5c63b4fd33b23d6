"""Compiled loops of one-way suppression: who shows some keys, by their values on them.

Values are looked up by a hash of 64 bits that stands for them: keys that fit into one word have different hashes where
they differ, and of others two are next to never alike. A table has twice as many slots as there are values to find.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints, Words
from tacita.compiled import compiled

Slots = NDArray[np.int32]
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_NOTHING = np.uint64(1 << 63)
"""No key uses this bit of a word."""


@compiled
def hashed(words: Words, unit: int, mask: Words) -> np.uint64:
    """What stands for a unit's values on a set of keys, never 0; `mask` has the bits of the set."""
    mixed = _NOTHING
    for word in range(words.shape[1]):
        mixed = (mixed ^ (words[unit, word] & mask[word])) * SPREAD
        mixed ^= mixed >> np.uint64(29)
    return mixed * SPREAD


@compiled
def slot_of(slots: Slots, hashes: Words, mixed: np.uint64) -> np.int64:
    """The slot with the number of a hash, or the free one, -1, where it would be."""
    last = len(slots) - 1
    slot = np.int64(mixed >> np.uint64(32)) & last
    while slots[slot] >= 0 and hashes[slots[slot]] != mixed:
        slot = (slot + 1) & last
    return slot


@compiled
def count_on(
    words: Words,
    mask: Words,
    shown: Ints,
    records: Ints,
    weights: Floats,
    members: int,
    wanted: Ints,
    slots: Slots,
    hashes: Words,
    group: Slots,
    own: Slots,
    total: Ints,
    sums: Floats,
) -> None:
    """By group of wanted units, alike on a set of keys: the records, and the sum of weights, that show the same.

    `members` is the set, `shown` the keys that each unit shows, `own` the groups of the wanted units, who need not show
    the set themselves, and `group` those of the units that are counted. `slots` and `group` are -1 before; `weights`
    may be empty.
    """
    groups = 0
    for index in range(len(wanted)):
        unit = wanted[index]
        mixed = hashed(words, unit, mask)
        slot = slot_of(slots, hashes, mixed)
        if slots[slot] < 0:
            slots[slot], hashes[groups] = groups, mixed
            groups += 1
        own[index] = slots[slot]
        if shown[unit] & members == members:
            group[unit] = slots[slot]
            total[slots[slot]] += records[unit]
            if len(weights):
                sums[slots[slot]] += weights[unit]
    for unit in range(len(shown)):
        if group[unit] < 0 and shown[unit] & members == members:
            found = slots[slot_of(slots, hashes, hashed(words, unit, mask))]
            if found >= 0:
                group[unit] = found
                total[found] += records[unit]
                if len(weights):
                    sums[found] += weights[unit]


@compiled
def place_on(
    words: Words,
    mask: Words,
    members: int,
    k: int,
    inside: Ints,
    records: Ints,
    waiting: Ints,
    slots: Slots,
    hashes: Words,
    own: Slots,
    counts: Ints,
    placed_words: Words,
    placed: Ints,
    size: int,
) -> tuple[int, int, int]:
    """Place every waiting unit that counts k on a set of keys; how many wait then, how many groups, how many asked.

    Units that were placed together show the same for good, so they are counted as one group: `placed` has what each
    shows and its records. `inside` is set for those that are placed; the waiting ones that stay are moved to the front,
    and new groups are added at the end. `slots`, `hashes`, `own` and `counts`, the records that wait and all, are room.
    """
    asked, room, groups, stay = 0, 16, 0, 0
    for unit in waiting:
        asked += inside[unit] & members == members
    if asked == 0:
        return len(waiting), size, 0
    while room < 2 * asked:
        room *= 2
    table = slots[:room]
    for free in range(room):
        table[free] = -1
    for index in range(len(waiting)):
        unit, own[index] = waiting[index], -1
        if inside[unit] & members == members:
            mixed = hashed(words, unit, mask)
            slot = slot_of(table, hashes, mixed)
            if table[slot] < 0:
                table[slot], hashes[groups], counts[groups, 0], counts[groups, 1] = groups, mixed, 0, 0
                groups += 1
            own[index] = table[slot]
            counts[table[slot], 0] += records[unit]
            counts[table[slot], 1] += records[unit]
    for group in range(size):
        if placed[group, 0] & members == members:
            found = table[slot_of(table, hashes, hashed(placed_words, group, mask))]
            if found >= 0:
                counts[found, 1] += placed[group, 1]
    for index in range(len(waiting)):
        unit, group = waiting[index], own[index]
        if group < 0 or counts[group, 1] < k:
            waiting[stay] = unit
            stay += 1
            continue
        inside[unit] = members
        if counts[group, 0] > 0:
            for word in range(words.shape[1]):
                placed_words[size, word] = words[unit, word]
            placed[size, 0], placed[size, 1] = members, counts[group, 0]
            counts[group, 0] = 0
            size += 1
    return stay, size, asked
