"""What a choice of levels costs: 0 if nothing changes, 1 if every key of every record is suppressed.

A loss by cell values adds up what each value loses at the level of its key; what a suppressed record loses is the
greatest there is. So the loss of a node without its suppressions, `bound`, only grows on the way up the lattice, and
no coarser node can have a smaller loss than that: the search is cut there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.generalise.cells import Cells, Ladder, Node, places_at


class Loss(ABC):
    """The loss of a node of the lattice."""

    @abstractmethod
    def bound(self, node: Node) -> float:
        """A loss that neither the node nor any coarser one can fall below, known without its cells."""

    def bound_of(self, cells: Cells) -> float:
        """The same, known with its cells."""
        return self.bound(cells.node)

    @abstractmethod
    def of(self, cells: Cells, bad: Bools) -> float:
        """The loss when the bad cells are suppressed."""


@dataclass(frozen=True, eq=False)
class ValueLoss(Loss):
    """What single values lose, added up over records and keys."""

    raw: Cells
    """The cells of the file as it is."""
    ladders: tuple[Ladder, ...]
    costs: tuple[Floats, ...]
    """By key: what each code loses at each level, one row per level; 0 for missing."""
    greatest: tuple[Floats, ...]
    """By key: what each code loses when it is suppressed."""
    weights: Floats
    """By key: how much it matters."""
    whole: float
    """What the losses add up to if everything is suppressed, or what they are divided by."""

    @cached_property
    def _by_level(self) -> list[list[float]]:
        out = []
        for key, cost in enumerate(self.costs):
            counts = np.bincount(self.raw.codes[:, key], weights=self.raw.records, minlength=cost.shape[1])
            out.append([float(self.weights[key] * (cost[level] @ counts) / self.whole) for level in range(len(cost))])
        return out

    def bound(self, node: Node) -> float:
        """The loss without any suppression."""
        return sum(by_level[level] for by_level, level in zip(self._by_level, node, strict=True))

    def of(self, cells: Cells, bad: Bools) -> float:
        """What stays generalised and what is suppressed."""
        if not bad.any():
            return self.bound(cells.node)
        hit = bad[places_at(self.raw, cells.node, self.ladders)]
        return self.bound(cells.node) + float(self.raw.records[hit] @ self._added(hit, cells.node)) / self.whole

    def _added(self, rows: Bools, node: Node) -> Floats:
        """What raw cells lose more if they are suppressed than at a node."""
        added = np.zeros(int(rows.sum()))
        for key, level in enumerate(node):
            added += self.weights[key] * (self.greatest[key] - self.costs[key][level])[self.raw.codes[rows, key]]
        return added

    def of_records(self, levels: Ints, suppressed: Bools) -> float:
        """The loss where every raw cell has levels of its own."""
        total = 0.0
        for key, cost in enumerate(self.costs):
            codes = self.raw.codes[:, key]
            lost = np.where(suppressed, self.greatest[key][codes], cost[levels[:, key], codes])
            total += float(self.weights[key] * (lost @ self.raw.records))
        return total / self.whole


@dataclass(frozen=True, eq=False)
class CellLoss(Loss):
    """What depends on the sizes of the cells alone."""

    size: int
    """Number of records."""
    ladders: tuple[Ladder, ...]

    def bound(self, node: Node) -> float:
        """There are at most so many cells, and equal ones cost least."""
        return 1.0 / _most_cells(node, self.ladders)

    def bound_of(self, cells: Cells) -> float:
        """Without suppressions."""
        return self.of_counts(cells.records, 0)

    def of(self, cells: Cells, bad: Bools) -> float:
        """With them."""
        return self.of_counts(cells.records[~bad], int(cells.records[bad].sum()))

    @abstractmethod
    def of_counts(self, records: Ints, suppressed: int) -> float:
        """The loss of cells of these sizes and so many suppressed records."""


class Discernibility(CellLoss):
    """Every record costs the size of its cell, a suppressed one the size of the file; divided by its square.

    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization.
    """

    def of_counts(self, records: Ints, suppressed: int) -> float:
        """(sum of squares + n times suppressed) / n^2."""
        kept = float(np.square(records.astype(np.float64)).sum())
        return (kept + float(self.size) * suppressed) / float(self.size) ** 2


class ClassSize(CellLoss):
    """The average size of a cell as a share of the file, that is 1 / number of cells; what is suppressed is one cell.

    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity, without their constant k.
    """

    def of_counts(self, records: Ints, suppressed: int) -> float:
        """1 / number of cells."""
        return 1.0 / (len(records) + (suppressed > 0))


def _most_cells(node: Node, ladders: Sequence[Ladder]) -> float:
    return float(np.prod([each.sizes[level] for each, level in zip(ladders, node, strict=True)], dtype=np.float64))


class Column:
    """One key as the losses see it."""

    def __init__(self, groups: Ints, counts: Ints, values: Sequence[object], scale: str) -> None:
        self.groups = groups
        """One row per level, one column per value that is not missing."""
        self.counts = counts
        """How many records have each value."""
        self.values = values
        """The values in their order."""
        self.scale = scale
        """nominal, ordinal or numeric."""


def precision(column: Column) -> tuple[Floats, Floats]:
    """The level as a share of the height (Sweeney 2002)."""
    levels, count = column.groups.shape
    share = np.arange(levels) / max(levels - 1, 1)
    return np.repeat(share[:, None], count, axis=1), np.ones(count)


def granularity(column: Column) -> tuple[Floats, Floats]:
    """The share of the other values that a value can no longer be told from (Iyengar 2002)."""
    levels, count = column.groups.shape
    cost = np.zeros((levels, count))
    for level, groups in enumerate(column.groups):
        cost[level] = (np.bincount(groups)[groups] - 1) / max(count - 1, 1)
    return cost, np.ones(count)


def entropy(column: Column) -> tuple[Floats, Floats]:
    """Bits that are lost: -log2 of the share of the value in its group (Gionis and Tassa 2009)."""
    cost = np.zeros(column.groups.shape)
    for level, groups in enumerate(column.groups):
        inside = np.bincount(groups, weights=column.counts)[groups]
        cost[level] = np.log2(inside / column.counts)
    return cost, np.log2(column.counts.sum() / column.counts)


def distance(column: Column) -> tuple[Floats, Floats]:
    """lambda: the distance of a value to the farthest value of its group, by scale.

    Nominal 1 if the group has another value, ordinal the difference of ranks over the number of values less one,
    numeric (2/pi) arctan |x - y|; suppressed, the farthest value there is.
    """
    cost = np.zeros(column.groups.shape)
    for level, groups in enumerate(column.groups):
        cost[level] = _farthest(column, groups)
    return cost, np.ones(len(column.counts)) if column.scale == "nominal" else _farthest(column, 0 * column.groups[0])


def _farthest(column: Column, groups: Ints) -> Floats:
    if column.scale == "nominal":
        return (np.bincount(groups)[groups] > 1).astype(np.float64)
    count = len(groups)
    place = np.arange(count) if column.scale == "ordinal" else np.array(column.values, dtype=np.float64)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, groups, place)
    np.maximum.at(high, groups, place)
    far = np.maximum(place - low[groups], high[groups] - place)
    spread: Floats = far / max(count - 1, 1) if column.scale == "ordinal" else 2 / np.pi * np.arctan(far)
    return spread


COSTS: dict[str, Callable[[Column], tuple[Floats, Floats]]] = {
    "precision": precision,
    "granularity": granularity,
    "entropy": entropy,
    "lambda": distance,
}
LOSSES = (*COSTS, "discernibility", "class_size")


def make_loss(name: str, raw: Cells, ladders: tuple[Ladder, ...], columns: Sequence[Column], weights: Floats) -> Loss:
    """The loss of that name for a file."""
    if name == "discernibility":
        return Discernibility(raw.size, ladders)
    if name == "class_size":
        return ClassSize(raw.size, ladders)
    return value_loss(name, raw, ladders, columns, weights)


def value_loss(
    name: str, raw: Cells, ladders: tuple[Ladder, ...], columns: Sequence[Column], weights: Floats
) -> ValueLoss:
    """The loss of that name by values."""
    found = [COSTS[name](column) for column in columns]
    costs = tuple(np.column_stack([np.zeros(len(cost)), cost]) for cost, _ in found)
    greatest = tuple(np.append(0.0, most) for _, most in found)
    whole = float(weights.sum()) * raw.size
    if name == "entropy":
        bits = [most @ column.counts for (_, most), column in zip(found, columns, strict=True)]
        whole = float(weights @ np.array(bits)) or 1.0
    return ValueLoss(raw, ladders, costs, greatest, weights, whole)
