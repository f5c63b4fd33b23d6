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
    """For each wanted unit: the records, and the sum of weights, that show the same on a set of keys, and its own.

    `words` are the packed keys and `mask` the bits of the set in them; `members` is the set, `shown` the keys that each
    unit shows. `weights` may be empty.
    """
    # What each group has on the set, side by side, so that comparing looks at one place in memory.
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    slots, group, groups = _grouped(words, mask, wanted, values)
    shows = shown & members == members
    total, sums = np.zeros(groups, dtype=np.int64), np.zeros(groups if len(weights) else 0)
    itself = ~shows[wanted]
    for index in range(len(wanted)):
        if not itself[index]:
            total[group[index]] += records[wanted[index]]
            if len(weights):
                sums[group[index]] += weights[wanted[index]]
            # Counted: not to be looked up again.
            shows[wanted[index]] = False
    _add_up(words, mask, shows, slots, values, records, weights, total, sums)
    f = total[group] + itself * records[wanted]
    return f, sums[group] + itself * weights[wanted] if len(weights) else sums


@compiled
def check_on(
    words: Words, mask: Words, shown: Ints, records: Ints, members: int, wanted: Ints, kind: Ints, k: Ints, safe: Bools
) -> None:
    """Unset `safe` for each wanted unit that would count fewer than the k of its kind on a set of keys; 0: any."""
    asked, units = np.empty(len(wanted), dtype=np.int64), np.empty(len(wanted), dtype=np.int64)
    many = 0
    for index in range(len(wanted)):
        asked[many], units[many] = index, wanted[index]
        many += safe[index] and k[kind[index]] > 0
    if many == 0:
        return
    counts, _ = counts_on(words, mask, shown, records, np.empty(0), members, units[:many])
    for row in range(many):
        safe[asked[row]] = counts[row] >= k[kind[asked[row]]]


@compiled
def groups_on(words: Words, mask: Words, shown: Ints, members: int, wanted: Ints) -> tuple[Slots, Slots, int]:
    """By unit the group of wanted ones whose values it shows on a set of keys, or -1; by wanted one its; how many."""
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    slots, group, groups = _grouped(words, mask, wanted, values)
    found = np.full(len(words), -1, dtype=np.int32)
    for unit in range(len(words)):
        if shown[unit] & members == members:
            found[unit] = slots[_slot(slots, words, unit, mask, values)]
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
    slots, group, groups = np.full(room, -1, dtype=np.int32), np.empty(len(units), dtype=np.int32), 0
    for index in range(len(units)):
        unit = units[index]
        slot = _slot(slots, words, unit, mask, values)
        if slots[slot] < 0:
            slots[slot] = groups
            for word in range(words.shape[1]):
                values[groups, word] = words[unit, word] & mask[word]
            groups += 1
        group[index] = slots[slot]
    return slots, group, groups


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
    for row in range(len(shows)):
        group = slots[_slot(slots, words, row, mask, values)] if shows[row] else -1
        if group >= 0:
            total[group] += records[row]
            if len(weights):
                sums[group] += weights[row]


@compiled
def _slot(slots: Slots, words: Words, unit: int, mask: Words, values: Words) -> int:
    """The slot of a unit's values on a set of keys in a hash table, or the free one where they would be."""
    mixed, last = np.uint64(0), len(slots) - 1
    for word in range(words.shape[1]):
        mixed = (mixed ^ (words[unit, word] & mask[word])) * _SPREAD
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed * _SPREAD >> np.uint64(32)) & last
    while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
        slot = (slot + 1) & last
    return int(slot)


@compiled
def _alike(words: Words, unit: int, mask: Words, values: Words, group: int) -> bool:
    for word in range(words.shape[1]):  # noqa: SIM110 - a generator is slow here
        if words[unit, word] & mask[word] != values[group, word]:
            return False
    return True
