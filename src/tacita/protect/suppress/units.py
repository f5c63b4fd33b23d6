"""Units: records that are alike in everything that suppression looks at, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.matching import patterns
from tacita.keys.source import distinct_keys

Words = NDArray[np.uint64]

NO_WEIGHTS = np.empty(0)
WORD = 64
"""Bits of a word."""


class Units(NamedTuple):
    """Records with the same values on all keys, and alike in whether they may be touched."""

    codes: Codes
    """The keys, 0 for missing."""
    records: Ints
    """How many records each unit has."""
    weights: Floats
    """The sum of their weights; empty where no weights are used."""
    free: Bools
    """Which may be touched."""
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
        inside = [place for place in range(len(self.fields)) if members >> place & 1]
        mask: Words = np.bitwise_or.reduce(self.fields[inside], axis=0, initial=np.uint64(0))
        return mask


def units_of(codes: Codes, free: Bools, weights: Floats | None = None, apart: Ints | None = None) -> Units:
    """The units of a file; records with different numbers in `apart` are never in one unit."""
    columns: list[Codes] = [codes[:, place] for place in range(codes.shape[1])]
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
    return Units(keys, np.bincount(row, minlength=count), summed, free, row, *packed(keys))


def packed(codes: Codes) -> tuple[Words, Words]:
    """Codes side by side in words of 64 bits, no code in two words; and by column and word the bits that hold it."""
    places: list[tuple[int, int, int]] = []
    word, used = 0, 0
    for column in codes.T:
        width = max(int(column.max(initial=0)).bit_length(), 1)
        if used + width > WORD:
            word, used = word + 1, 0
        places.append((word, used, width))
        used += width
    words = np.zeros((len(codes), word + 1), dtype=np.uint64)
    fields = np.zeros((codes.shape[1], word + 1), dtype=np.uint64)
    for column, (word, start, width) in enumerate(places):
        words[:, word] |= codes[:, column].astype(np.uint64) << np.uint64(start)
        fields[column, word] = ((1 << width) - 1) << start
    return words, fields


def blanked(codes: Codes, shown: Ints) -> Codes:
    """The codes with 0 wherever a key is not shown."""
    keep = shown[:, None] >> np.arange(codes.shape[1], dtype=np.int64) & 1
    return codes * keep.astype(np.uint32)


def fingerprint(shown: Ints) -> bytes:
    """What all units show, in 16 bytes; two different states are next to never alike."""
    return blake2b(shown.tobytes(), digest_size=16).digest()


def total_cost(units: Units, shown: Ints, costs: Sequence[float]) -> float:
    """What the suppressed cells cost."""
    gone = units.known & ~shown
    return float(sum(cost * units.records[gone >> place & 1 == 1].sum() for place, cost in enumerate(costs)))
