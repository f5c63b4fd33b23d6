"""Units: records that are alike in everything that suppression looks at, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.matching import patterns
from tacita.keys.source import distinct_keys

Words = NDArray[np.uint64]

NO_WEIGHTS = np.empty(0)
WORD_BITS = 64


class Units(NamedTuple):
    """Records with the same values on all keys, and alike in whether they may be changed."""

    codes: Codes
    """The keys, 0 for missing."""
    records: Ints
    """How many records each unit has."""
    weights: Floats
    """The sum of their weights; empty where no weights are used."""
    free: Bools
    """Which may be changed."""
    row: Ints
    """For each record its unit."""
    words: Words
    """The keys of each unit, packed into as few words as hold them."""
    fields: Words
    """By key and word: the bits that hold it."""

    @property
    def known(self) -> Ints:
        """The bits of the keys that each unit has a value on."""
        return patterns(self.codes)

    def mask(self, members: int) -> Words:
        """By word: the bits that hold a set of keys."""
        inside = [column for column in range(len(self.fields)) if members >> column & 1]
        mask: Words = np.bitwise_or.reduce(self.fields[inside], axis=0, initial=np.uint64(0))
        return mask

    def total_cost(self, shown: Ints, costs: Sequence[float]) -> float:
        """What the suppressed cells cost."""
        gone = self.known & ~shown
        return float(sum(cost * self.records[gone >> column & 1 == 1].sum() for column, cost in enumerate(costs)))


def units_of(codes: Codes, free: Bools, weights: Floats | None = None, apart: Ints | None = None) -> Units:
    """The units of a file; records with different numbers in `apart` are never in one unit."""
    columns: list[Codes] = [codes[:, column] for column in range(codes.shape[1])]
    columns.append(free.astype(np.uint32))
    if apart is not None:
        columns.append(np.asarray(apart, dtype=np.uint32))
    row, distinct = distinct_keys(columns, [int(column.max(initial=0)) for column in columns])
    count = len(distinct)
    summed = NO_WEIGHTS
    if weights is not None:
        summed = np.bincount(row, weights=weights, minlength=count).astype(np.float64)
    keys = np.ascontiguousarray(distinct[:, : codes.shape[1]])
    free = distinct[:, codes.shape[1]] > 0
    return Units(keys, np.bincount(row, minlength=count), summed, free, row, *_packed(keys))


def _packed(codes: Codes) -> tuple[Words, Words]:
    """Codes side by side in words of 64 bits, no code in two words; and by column and word the bits that hold it."""
    positions: list[tuple[int, int, int]] = []
    word, used = 0, 0
    for column in codes.T:
        width = max(int(column.max(initial=0)).bit_length(), 1)
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        positions.append((word, used, width))
        used += width
    words = np.zeros((len(codes), word + 1), dtype=np.uint64)
    fields = np.zeros((codes.shape[1], word + 1), dtype=np.uint64)
    for number, (word, start, width) in enumerate(positions):
        words[:, word] |= codes[:, number].astype(np.uint64) << np.uint64(start)
        fields[number, word] = ((1 << width) - 1) << start
    return words, fields


def suppressed(codes: Codes, shown: Ints) -> Codes:
    """The codes with 0 wherever a key is not shown."""
    keep = shown[:, None] >> np.arange(codes.shape[1], dtype=np.int64) & 1
    return codes * keep.astype(np.uint32)
