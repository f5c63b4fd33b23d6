"""What the key table asks of a table: code the keys, group the records with exact sums, join back by record.

Everything about categorical keys goes through this small protocol, so that a table in memory and one on an engine
differ in one class; below it is what the one in memory is made of.

Sums must not depend on the order of the records: floating-point sums change in the last bits with the order of their
terms, and a record near a threshold would flip when a file is sorted or computed on another engine. So values are
turned into fixed-point integers of 100 bits, held as four limbs of 25 bits, which doubles add without rounding; only
the final sum is rounded, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.data import Data
from tacita.data.stands_for import Condensed
from tacita.data.visible import visible_categories
from tacita.frame import Coded

LIMB_BITS = 25
LIMBS = 4
BLOCK = 1 << 22
"""Records per pass: a limb sum stays below 2^(22 + 25), where doubles are exact, and memory stays small."""

WEIGHT_BITS = 52
"""Fraction bits for weights: every double of at least 1 is a multiple of 2^-52, so weights are held exactly."""
SMALL_BITS = 80
"""Fraction bits for probabilities and their logarithms."""


class Grouped(NamedTuple):
    """The distinct keys of a table."""

    codes: Codes
    """Codes of the keys, one row per distinct key in ascending order, 0 for missing."""
    values: tuple[tuple[Any, ...], ...]
    """What the codes 1, 2, ... of each variable stand for."""
    totals: Ints
    """By key: how many records carry it and, where there are weights, the limbs of their fixed-point sum."""
    row: Ints
    """By record: the row of its key, which joins what is known of a key back to its records."""


class Source(Protocol):
    """A table that key tables can be made of."""

    def grouped(self, keys: Sequence[str], *, incomplete_apart: bool = False) -> Grouped:
        """The distinct keys with counts and, if the records have weights, their fixed-point sums.

        With `incomplete_apart` every record with a missing value is a key of its own, behind the complete ones.
        """


class InMemory:
    """A table in memory, with weights if its records have some.

    Codes and groups are made once where the data are remembering.
    """

    def __init__(self, data: Data, weights: Floats | None = None) -> None:
        self.data, self.weights = data, weights

    def grouped(self, keys: Sequence[str], *, incomplete_apart: bool = False) -> Grouped:
        """The distinct keys with counts and sums."""
        names = ("grouped", tuple(keys), id(self.weights), incomplete_apart)
        found: Grouped = self.data.once(names, lambda: self._grouped(keys, incomplete_apart))
        return found

    def _grouped(self, keys: Sequence[str], incomplete_apart: bool) -> Grouped:
        columns = [self._coded(name) for name in keys]
        row, codes = distinct_keys([column.codes for column in columns], [len(column.values) for column in columns])
        if incomplete_apart:
            row, codes = _incomplete_apart(row, codes)
        values = tuple(column.values for column in columns)
        if self.data.condensed is not None:
            return Grouped(codes, values, totals_of_condensed(row, len(codes), self.data.condensed), row)
        return Grouped(codes, values, totals_by_key(row, len(codes), self.weights), row)

    def _coded(self, name: str) -> Coded:
        known = self.data.variable(name)
        # Without codes of its own a variable shows its categories as they are.
        plain = not (known.missing or known.missing_ranges or known.not_applicable)
        return self.data.coded(name) if plain else visible_categories(self.data, name)


def are_numbers(values: Sequence[object]) -> bool:
    """Whether all values of a key are numbers; yes and no are none."""
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)


def shown_fully(codes: Codes) -> Bools:
    """Which keys have no missing value."""
    complete: Bools = np.all(codes > 0, axis=1)
    return complete


def patterns(codes: Codes) -> Ints:
    """For each key, one bit per variable that it shows."""
    bits = np.int64(1) << np.arange(codes.shape[1], dtype=np.int64)
    return (codes > 0) @ bits


def _incomplete_apart(row: Ints, codes: Codes) -> tuple[Ints, Codes]:
    """Every record with a missing value as a key of its own: it matches nothing, not even its twin."""
    complete = shown_fully(codes)
    alone = np.flatnonzero(~complete[row])
    kept = np.flatnonzero(complete)
    place = np.zeros(len(codes), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    moved = place[row]
    moved[alone] = len(kept) + np.arange(len(alone))
    return moved, np.concatenate([codes[kept], codes[row[alone]]])


def totals_of_condensed(row: Ints, keys: int, condensed: Condensed) -> Ints:
    """Per key what matching adds up, of rows that stand for many records each."""
    weights = () if condensed.weights is None else (condensed.weights,)
    totals = repeated_sums(np.column_stack([condensed.records, *weights]), row, keys)
    return totals if condensed.weights is None else np.column_stack([totals[:, 0], carried(totals[:, 1:])])


def repeated_sums(values: Ints, groups: Ints, count: int, repeats: Ints | None = None) -> Ints:
    """Sums of whole numbers by group, each row taken `repeats` times; every group has a row."""
    order = np.argsort(groups, kind="stable")
    taken = values if repeats is None else values * repeats[:, None]
    start = np.searchsorted(groups[order], np.arange(count))
    return np.add.reduceat(taken[order], start, axis=0)


def totals_by_key(row: Ints, keys: int, weights: Floats | None) -> Ints:
    """Per key what matching adds up: records, and the limbs of the sum of weights."""
    records = np.bincount(row, minlength=keys)
    if weights is None:
        return records[:, None]
    return np.column_stack([records, group_sums(weights, row, keys, WEIGHT_BITS)])


def as_counts(totals: Ints) -> Floats:
    """Totals by key as numbers: a column of records and, where there are weights, one of their sums."""
    counts = totals[:, 0].astype(np.float64)
    if totals.shape[1] == 1:
        return counts[:, None]
    return np.column_stack([counts, as_float(totals[:, 1:], WEIGHT_BITS)])


def distinct_keys(columns: list[Codes], sizes: list[int]) -> tuple[Ints, Codes]:
    """For each record the row of its key, and the distinct keys in order."""
    numbers = combined(columns, [size + 1 for size in sizes], len(columns[0]))
    row = _ranks(numbers)
    first = np.empty(int(row.max()) + 1, dtype=np.int64)
    first[row[::-1]] = np.arange(len(row) - 1, -1, -1)
    return row, np.stack([codes[first] for codes in columns], axis=1)


def _ranks(numbers: Ints) -> Ints:
    """The rank of each number among the distinct ones, from 0."""
    if numbers.max() < max(4 * len(numbers), min(1 << 22, 64 * len(numbers))):
        # Close together: a table of what occurs is faster than a sort.
        occurs = np.bincount(numbers) > 0
        return (np.cumsum(occurs) - 1)[numbers]
    return np.unique(numbers, return_inverse=True)[1]


def combined(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], length: int) -> Ints:
    """One number per row that is equal exactly where all codes are equal; folded when it would not fit 63 bits."""
    numbers = np.zeros(length, dtype=np.int64)
    span = 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * size >= 1 << 62:
            different, numbers = np.unique(numbers, return_inverse=True)
            span = len(different)
        numbers = numbers * size + codes
        span *= size
    return numbers


def limbs_of(values: Floats, fraction_bits: int) -> Ints:
    """Non-negative values as fixed-point numbers: one row of limbs each, the highest limb first."""
    limbs = np.empty((len(values), LIMBS), dtype=np.int64, order="F")
    rest = np.ldexp(values, fraction_bits - LIMB_BITS * (LIMBS - 1))
    for limb in range(LIMBS):
        whole = np.floor(rest) if limb < LIMBS - 1 else np.rint(rest)
        limbs[:, limb] = whole
        rest = np.ldexp(rest - whole, LIMB_BITS)
    return limbs


def group_sums(values: Floats, groups: NDArray[np.integer], count: int, fraction_bits: int) -> Ints:
    """Fixed-point sums of non-negative values by group: `count` rows of limbs, the highest limb first."""
    sums = np.zeros((count, LIMBS), dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        block, limbs = groups[start : start + BLOCK], limbs_of(values[start : start + BLOCK], fraction_bits)
        for limb in range(LIMBS):
            if limbs[:, limb].any():
                sums[:, limb] += np.bincount(block, weights=limbs[:, limb], minlength=count).astype(np.int64)
    return sums


def carried(sums: Ints) -> Ints:
    """Limb sums with what is too much for a limb in the next one: all but the highest below 2^25."""
    out = sums.copy()
    for limb in range(LIMBS - 1, 0, -1):
        out[:, limb - 1] += out[:, limb] >> LIMB_BITS
        out[:, limb] &= (1 << LIMB_BITS) - 1
    return out


def as_float(sums: Ints, fraction_bits: int) -> Floats:
    """Limb sums as doubles, rounded once."""
    limbs = carried(sums)
    high = (limbs[:, 0] << LIMB_BITS) + limbs[:, 1]
    low = (limbs[:, 2] << LIMB_BITS) + limbs[:, 3]
    scaled: Floats = np.ldexp(high.astype(np.float64), 2 * LIMB_BITS - fraction_bits)
    return scaled + np.ldexp(low.astype(np.float64), -fraction_bits)
