"""Compiled loops of one-way suppression: count the units that show some keys, by their values on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats, Ints, Words
from tacita.compiled import compiled

Slots = NDArray[np.int32]
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
    # What each group has on the set, side by side, so that comparing looks at one place in memory.
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    slots, group, groups = _grouped(words, mask, wanted, values)
    shows = np.empty(len(words), dtype=np.bool_)
    for unit in range(len(words)):
        shows[unit] = shown[unit] & members == members
    total, sums = np.zeros(groups, dtype=np.int64), np.zeros(groups if len(weights) else 0)
    for index in range(len(wanted)):
        unit = wanted[index]
        if shows[unit]:
            total[group[index]] += records[unit]
            if len(weights):
                sums[group[index]] += weights[unit]
            # Counted: not to be looked up again.
            shows[unit] = False
    _add_up(words, mask, shows, slots, values, records, weights, total, sums)
    return total[group], sums[group] if len(weights) else sums


@compiled
def groups_on(words: Words, mask: Words, shown: Ints, members: int, wanted: Ints) -> tuple[Slots, Slots, int]:
    """By unit the group of wanted ones whose values it shows on a set of keys, or -1; by wanted one its; how many."""
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    slots, group, groups = _grouped(words, mask, wanted, values)
    found, shift, last = np.full(len(words), -1, dtype=np.int32), _slot_shift(slots), len(slots) - 1
    for unit in range(len(words)):
        if shown[unit] & members == members:
            slot = np.int64(_mixed(words, unit, mask) >> shift)
            while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
                slot = (slot + 1) & last
            found[unit] = slots[slot]
    return found, group, groups


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
    asked = np.empty(len(waiting), dtype=np.int64)
    wanted = 0
    for unit in waiting:
        asked[wanted] = unit
        wanted += inside[unit] & members == members
    if wanted == 0:
        return len(waiting), groups, 0
    values = np.empty((wanted, words.shape[1]), dtype=np.uint64)
    slots, own, found = _grouped(words, mask, asked[:wanted], values)
    new, total = np.zeros(found, dtype=np.int64), np.zeros(found, dtype=np.int64)
    for index in range(wanted):
        new[own[index]] += records[asked[index]]
    shows = np.empty(groups, dtype=np.bool_)
    for group in range(groups):
        shows[group] = group_shown[group] & members == members
    none = np.empty(0)
    _add_up(group_words, mask, shows, slots, values, group_records, none, total, none)
    stay, index = 0, 0
    for unit in waiting:
        if index < wanted and asked[index] == unit:
            index += 1
            if new[own[index - 1]] + total[own[index - 1]] >= k:
                inside[unit] = members
                continue
        waiting[stay] = unit
        stay += 1
    for group in range(found):
        if new[group] + total[group] >= k:
            for word in range(words.shape[1]):
                group_words[groups, word] = values[group, word]
            group_shown[groups], group_records[groups] = members, new[group]
            groups += 1
    return stay, groups, wanted


@compiled
def _grouped(words: Words, mask: Words, units: Ints, values: Words) -> tuple[Slots, Slots, int]:
    """A hash table of the values of some units, by unit the number of its group, and how many groups there are."""
    room = 16
    while room < 2 * len(units):
        room *= 2
    slots, last = np.full(room, -1, dtype=np.int32), room - 1
    shift = _slot_shift(slots)
    group = np.empty(len(units), dtype=np.int32)
    groups = 0
    for index in range(len(units)):
        unit = units[index]
        slot = np.int64(_mixed(words, unit, mask) >> shift)
        while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = groups
            for word in range(words.shape[1]):
                values[groups, word] = words[unit, word] & mask[word]
            groups += 1
        group[index] = slots[slot]
    return slots, group, groups


@compiled
def _slot_shift(slots: Slots) -> np.uint64:
    """By how many bits a hash is shifted to the right to be a slot."""
    bits = 0
    while (1 << bits) < len(slots):
        bits += 1
    return np.uint64(64 - bits)


@compiled
def _add_up(
    words: Words,
    mask: Words,
    shows: Bools,
    slots: Slots,
    values: Words,
    records: Ints,
    weights: Floats,
    total: Ints,
    sums: Floats,
) -> None:
    """Add the records, and the weights, of rows that show a set of keys to the groups that have their values."""
    shift, last = _slot_shift(slots), len(slots) - 1
    for row in range(len(shows)):
        if shows[row]:
            slot = np.int64(_mixed(words, row, mask) >> shift)
            while slots[slot] >= 0 and not _alike(words, row, mask, values, slots[slot]):
                slot = (slot + 1) & last
            if slots[slot] >= 0:
                total[slots[slot]] += records[row]
                if len(weights):
                    sums[slots[slot]] += weights[row]


@compiled
def _mixed(words: Words, unit: int, mask: Words) -> np.uint64:
    """A hash of a unit's values on a set of keys: the upper bits depend on all of them."""
    mixed = np.uint64(0)
    for word in range(words.shape[1]):
        mixed = (mixed ^ (words[unit, word] & mask[word])) * _SPREAD
        mixed ^= mixed >> np.uint64(29)
    return mixed * _SPREAD


@compiled
def _alike(words: Words, unit: int, mask: Words, values: Words, group: int) -> bool:
    for word in range(words.shape[1]):  # noqa: SIM110 - a generator is slow here
        if words[unit, word] & mask[word] != values[group, word]:
            return False
    return True
