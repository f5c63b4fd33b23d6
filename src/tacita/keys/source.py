"""What the key table asks of a table: code the keys, group the records with fixed-point sums, join back by record.

Everything about categorical keys goes through this small protocol, so that a table in memory and one on an engine
differ in one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Codes, Floats, Ints
from tacita.data import Data
from tacita.data.visible import visible_categories
from tacita.frame import Coded
from tacita.keys import exact_sums, matching


class Grouped(NamedTuple):
    """The distinct keys of a table."""

    codes: Codes
    """Codes of the keys, one row per distinct key, 0 for missing."""
    values: tuple[tuple[Any, ...], ...]
    """What the codes 1, 2, ... of each variable stand for."""
    totals: Ints
    """By key: how many records carry it and, where there are weights, the limbs of their fixed-point sum."""
    row: Ints
    """By record: the row of its key."""


class Source(Protocol):
    """A table that the key table can be made of."""

    def grouped(self, keys: Sequence[str], weights: Floats | None) -> Grouped:
        """The distinct keys with counts and fixed-point sums of weights."""

    def per_record(self, grouped: Grouped, by_key: NDArray[Any]) -> NDArray[Any]:
        """What is known of each key, joined back to the records in their order."""


class InMemory:
    """A table in memory."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def grouped(self, keys: Sequence[str], weights: Floats | None) -> Grouped:
        """The distinct keys; codes are made once where the data are remembering."""
        columns = [self._coded(name) for name in keys]
        row, codes = distinct_keys([column.codes for column in columns], [len(column.values) for column in columns])
        values = tuple(column.values for column in columns)
        return Grouped(codes, values, totals_by_key(row, len(codes), weights), row)

    def _coded(self, name: str) -> Coded:
        coded: Coded = self.data.once(("codes", name), lambda: visible_categories(self.data, name))
        return coded

    def per_record(self, grouped: Grouped, by_key: NDArray[Any]) -> NDArray[Any]:
        """What is known of each key, by record."""
        return by_key[grouped.row]


def totals_by_key(row: Ints, keys: int, weights: Floats | None) -> Ints:
    """Per key what matching adds up: records, and the limbs of the sum of weights."""
    records = np.bincount(row, minlength=keys)
    if weights is None:
        return records[:, None]
    return np.column_stack([records, exact_sums.group_sums(weights, row, keys, exact_sums.WEIGHT_BITS)])


def distinct_keys(columns: list[Codes], sizes: list[int]) -> tuple[Ints, Codes]:
    """For each record the row of its key, and the distinct keys in order."""
    numbers = matching.combined(columns, [size + 1 for size in sizes], len(columns[0]))
    row = _ranks(numbers)
    first = np.empty(int(row.max()) + 1, dtype=np.int64)
    first[row[::-1]] = np.arange(len(row) - 1, -1, -1)
    return row, np.stack([codes[first] for codes in columns], axis=1)


def _ranks(numbers: Ints) -> Ints:
    """The rank of each number among the distinct ones, from 0."""
    if numbers.max() < max(1 << 22, 4 * len(numbers)):
        # Close together: a table of what occurs is faster than a sort.
        occurs = np.bincount(numbers) > 0
        return (np.cumsum(occurs) - 1)[numbers]
    return np.unique(numbers, return_inverse=True)[1]
