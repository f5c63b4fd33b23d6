"""Compiled loop of local suppression: count the units that show some keys, by their values on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Codes, Floats, Ints
from tacita.compiled import compiled

Hashes = NDArray[np.uint64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def factors(columns: int) -> Hashes:
    """An odd number for each column: sums of codes times these differ for nearly all different keys."""
    numbers = np.arange(1, columns + 1, dtype=np.uint64) * _SPREAD
    numbers ^= numbers >> np.uint64(31)
    return (numbers * np.uint64(0xBF58476D1CE4E5B9)) | np.uint64(1)


@compiled
def counts_on(
    codes: Codes,
    shown: Ints,
    records: Ints,
    weights: Floats,
    members: int,
    columns: Ints,
    factor: Hashes,
    wanted: Ints,
) -> tuple[Ints, Floats]:
    """For each wanted unit: the records, and the sum of weights, that show the same on all of `columns`.

    `members` is the same set of columns as bits, `shown` the bits that each unit shows. A wanted unit need not show
    them itself: it is then not among those counted. `wanted` is in ascending order; `weights` may be empty. The sums
    of `factor` only say where to look; equality is always checked.
    """
    bits = 4
    while (1 << bits) < 4 * len(wanted):
        bits += 1
    shift = np.uint64(64 - bits)
    last = (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int32)
    marks = np.empty(1 << bits, dtype=np.uint32)
    group = np.empty(len(wanted), dtype=np.int32)
    first = np.empty(len(wanted), dtype=np.int64)
    total = np.zeros(len(wanted), dtype=np.int64)
    weighted = len(weights) > 0
    sums = np.zeros(len(wanted) if weighted else 0, dtype=np.float64)
    groups = 0
    for place in range(len(wanted)):
        unit = wanted[place]
        mixed = _mixed(codes, unit, columns, factor)
        slot = np.int64(mixed >> shift)
        mark = np.uint32(mixed & np.uint64(0xFFFFFFFF))
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = groups
                marks[slot] = mark
                first[groups] = unit
                found = groups
                groups += 1
                break
            if marks[slot] == mark and _alike(codes, unit, first[found], columns):
                break
            slot = (slot + 1) & last
        group[place] = found
        if shown[unit] & members == members:
            total[found] += records[unit]
            if weighted:
                sums[found] += weights[unit]
    following = 0
    for unit in range(len(codes)):
        if following < len(wanted) and wanted[following] == unit:
            # Counted above.
            following += 1
            continue
        if shown[unit] & members != members:
            continue
        mixed = _mixed(codes, unit, columns, factor)
        slot = np.int64(mixed >> shift)
        mark = np.uint32(mixed & np.uint64(0xFFFFFFFF))
        found = slots[slot]
        while found >= 0:
            if marks[slot] == mark and _alike(codes, unit, first[found], columns):
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
def _mixed(codes: Codes, unit: int, columns: Ints, factor: Hashes) -> np.uint64:
    mixed = np.uint64(0)
    for column in columns:
        mixed += np.uint64(codes[unit, column]) * factor[column]
    mixed ^= mixed >> np.uint64(32)
    return mixed * _SPREAD


@compiled
def _alike(codes: Codes, one: int, other: int, columns: Ints) -> bool:
    for column in columns:  # noqa: SIM110 - a generator is slow here
        if codes[one, column] != codes[other, column]:
            return False
    return True
