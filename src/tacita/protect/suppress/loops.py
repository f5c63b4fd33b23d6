"""Compiled loops of local suppression: count the units that show some keys, by their values on them."""

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
    bits = 4
    while (1 << bits) < 3 * len(wanted):
        bits += 1
    shift = np.uint64(64 - bits)
    last = (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int32)
    group = np.empty(len(wanted), dtype=np.int32)
    # What each group has on the set, side by side, so that comparing looks at one place in memory.
    values = np.empty((len(wanted), words.shape[1]), dtype=np.uint64)
    total = np.zeros(len(wanted), dtype=np.int64)
    weighted = len(weights) > 0
    sums = np.zeros(len(wanted) if weighted else 0, dtype=np.float64)
    groups = 0
    for place in range(len(wanted)):
        unit = wanted[place]
        slot = np.int64(_mixed(words, unit, mask) >> shift)
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = groups
                for word in range(words.shape[1]):
                    values[groups, word] = words[unit, word] & mask[word]
                found = groups
                groups += 1
                break
            if _alike(words, unit, mask, values, found):
                break
            slot = (slot + 1) & last
        group[place] = found
        if shown[unit] & members == members:
            total[found] += records[unit]
            if weighted:
                sums[found] += weights[unit]
    following = 0
    for unit in range(len(words)):
        if following < len(wanted) and wanted[following] == unit:
            # Counted above.
            following += 1
            continue
        if shown[unit] & members != members:
            continue
        slot = np.int64(_mixed(words, unit, mask) >> shift)
        found = slots[slot]
        while found >= 0:
            if _alike(words, unit, mask, values, found):
                total[found] += records[unit]
                if weighted:
                    sums[found] += weights[unit]
                break
            slot = (slot + 1) & last
            found = slots[slot]
    counted = np.empty(len(wanted), dtype=np.int64)
    summed = np.empty(len(wanted) if weighted else 0, dtype=np.float64)
    for place in range(len(wanted)):
        counted[place] = total[group[place]]
        if weighted:
            summed[place] = sums[group[place]]
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
    bits = 4
    while (1 << bits) < 2 * wanted:
        bits += 1
    shift, last = np.uint64(64 - bits), (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int32)
    own = np.full(len(waiting), -1, dtype=np.int32)
    values = np.empty((wanted, words.shape[1]), dtype=np.uint64)
    new, total = np.zeros(wanted, dtype=np.int64), np.zeros(wanted, dtype=np.int64)
    found = 0
    for place in range(len(waiting)):
        unit = waiting[place]
        if inside[unit] & members != members:
            continue
        slot = np.int64(_mixed(words, unit, mask) >> shift)
        while slots[slot] >= 0 and not _alike(words, unit, mask, values, slots[slot]):
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = found
            for word in range(words.shape[1]):
                values[found, word] = words[unit, word] & mask[word]
            found += 1
        own[place] = slots[slot]
        new[slots[slot]] += records[unit]
    for group in range(groups):
        if group_shown[group] & members == members:
            slot = np.int64(_mixed(group_words, group, mask) >> shift)
            while slots[slot] >= 0:
                if _alike(group_words, group, mask, values, slots[slot]):
                    total[slots[slot]] += group_records[group]
                    break
                slot = (slot + 1) & last
    stay = 0
    for place in range(len(waiting)):
        unit = waiting[place]
        if own[place] >= 0 and new[own[place]] + total[own[place]] >= k:
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
def _mixed(words: Words, unit: int, mask: Words) -> np.uint64:
    """Where to look for a unit's values: the upper bits depend on all of them."""
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
