"""The distinct keys of a file at a node of the lattice, and how they are rolled up to a coarser node.

A node is one level per key. Everything that the search asks of a node is a function of its distinct keys (cells), and
the cells of a coarser node are sums of the cells of a finer one: no record is looked at twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.keys.source import combined

Node = tuple[int, ...]
"""One level per key."""

DENSE = 1 << 19
"""Up to this many possible keys a table of all of them is faster than sorting those that occur."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The groups of one key's values at each level, as codes; 0 is missing and stays missing at every level."""

    groups: Ints
    """One row per level, one column per code of the key, the first column for missing."""
    sizes: tuple[int, ...] = field(init=False)
    """By level: the number of codes, missing included."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(int(row.max()) + 1 for row in self.groups))

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.groups) - 1

    @cached_property
    def _rises(self) -> dict[tuple[int, int], Ints]:
        return {}

    def rise(self, low: int, high: int) -> Ints:
        """For each code of a level its code at a higher level."""
        found = self._rises.get((low, high))
        if found is None:
            found = np.zeros(self.sizes[low], dtype=np.int64)
            found[self.groups[low]] = self.groups[high]
            self._rises[low, high] = found
        return found


def ladder(groups: Ints) -> Ladder:
    """The ladder of groups by level and value, both from 0: codes move up by one to make room for missing."""
    return Ladder(np.column_stack([np.zeros(len(groups), dtype=np.int64), groups + 1]))


class Spread(NamedTuple):
    """How a sensitive variable is spread over cells: one row per cell and value that occurs in it, sorted by both."""

    cell: Ints
    value: Ints
    amount: Ints


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct keys of a file at a node."""

    node: Node
    """The level of each key."""
    codes: Ints
    """One row per cell: the code of each key at its level, 0 for missing."""
    records: Ints
    """By cell: how many records it holds."""
    spreads: tuple[Spread, ...] = ()
    """One per sensitive variable; and where units have several records one of units, the last."""

    @property
    def size(self) -> int:
        """Number of records."""
        return int(self.records.sum())


def rolled_up(cells: Cells, node: Node, ladders: Sequence[Ladder]) -> Cells:
    """The cells of a coarser node."""
    return cells if node == cells.node else rolled_up_from(cells, node, ladders)[0]


def rolled_up_from(cells: Cells, node: Node, ladders: Sequence[Ladder]) -> tuple[Cells, Ints]:
    """The cells of a coarser node, and for each finer one its place among them."""
    place, codes = placed(
        risen(cells, node, ladders), [each.sizes[level] for each, level in zip(ladders, node, strict=True)]
    )
    records = np.bincount(place, weights=cells.records, minlength=len(codes)).astype(np.int64)
    return Cells(node, codes, records, tuple(_gathered(each, place) for each in cells.spreads)), place


def places_at(cells: Cells, node: Node, ladders: Sequence[Ladder]) -> Ints:
    """For each cell its place among the cells of a coarser node."""
    sizes = [each.sizes[level] for each, level in zip(ladders, node, strict=True)]
    return placed(risen(cells, node, ladders), sizes)[0]


def risen(cells: Cells, node: Node, ladders: Sequence[Ladder]) -> list[Ints]:
    """By key the codes of the cells at the levels of a coarser node."""
    moves = zip(cells.node, node, ladders, range(len(node)), strict=True)
    return [
        cells.codes[:, key] if low == high else each.rise(low, high)[cells.codes[:, key]]
        for low, high, each, key in moves
    ]


def placed(columns: Sequence[Ints], sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """For each row the place of its key among the distinct keys, in order, and the codes of those."""
    length = len(columns[0])
    span = 1
    for size in sizes:
        span *= size
    numbers = combined(columns, sizes, length)
    if span <= max(DENSE, 2 * length):
        occurs = np.zeros(span, dtype=np.bool_)
        occurs[numbers] = True
        different = np.flatnonzero(occurs)
        places = np.empty(span, dtype=np.int64)
        places[different] = np.arange(len(different))
        place = places[numbers]
    else:
        different, place = np.unique(numbers, return_inverse=True)
    codes = np.empty((len(different), len(columns)), dtype=np.int64)
    if span < 1 << 62:
        for key in range(len(columns) - 1, -1, -1):
            different, codes[:, key] = np.divmod(different, sizes[key])
    else:
        first = np.zeros(len(different), dtype=np.int64)
        first[place[::-1]] = np.arange(length - 1, -1, -1)
        for key, column in enumerate(columns):
            codes[:, key] = column[first]
    return place, codes


def _gathered(spread: Spread, place: Ints) -> Spread:
    """A spread over cells that have been put together."""
    return spread_over(place[spread.cell], spread.value, spread.amount)


def spread_over(cell: Ints, value: Ints, amount: Ints) -> Spread:
    """The amounts by cell and value."""
    width = int(value.max(initial=0)) + 1
    different, inverse = np.unique(cell * width + value, return_inverse=True)
    totals = np.bincount(inverse, weights=amount).astype(np.int64)
    return Spread(different // width, different % width, totals)


def beside_units(values: Ints, unit: Ints) -> Ints:
    """By record one number for its value and its unit, from which `// units` gives the value again."""
    return values * (int(unit.max()) + 1) + unit


def some_cells(cells: Cells, kept: Bools) -> Cells:
    """Some of the cells."""
    place = np.cumsum(kept) - 1
    spreads = tuple(
        Spread(place[each.cell[kept[each.cell]]], each.value[kept[each.cell]], each.amount[kept[each.cell]])
        for each in cells.spreads
    )
    return Cells(cells.node, cells.codes[kept], cells.records[kept], spreads)
