"""How strongly two variables go together: kernels of codes and numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints

ROOM = 1 << 20
"""Cross tables with more cells are counted by sorting."""


class CrossTable(NamedTuple):
    """The cells of a cross table that some record is in."""

    cells: Floats
    """Weight by cell."""
    row: Floats
    """By cell the weight of its row."""
    column: Floats
    """By cell the weight of its column."""
    rows: int
    """Rows that some record is in."""
    columns: int
    """Columns that some record is in."""
    total: float


def cross_table(x: Ints, y: Ints, sizes: tuple[int, int], weight: Floats) -> CrossTable:
    """The cross table of two coded variables."""
    cell = x * sizes[1] + y
    if sizes[0] * sizes[1] <= max(ROOM, len(x)):
        table = np.bincount(cell, weights=weight, minlength=sizes[0] * sizes[1])
        places = np.flatnonzero(table)
        cells: Floats = table[places].astype(np.float64)
    else:
        places, inverse = np.unique(cell, return_inverse=True)
        cells = np.bincount(inverse, weights=weight).astype(np.float64)
    row: Floats = np.bincount(places // sizes[1], weights=cells, minlength=sizes[0]).astype(np.float64)
    column: Floats = np.bincount(places % sizes[1], weights=cells, minlength=sizes[1]).astype(np.float64)
    used = int((row > 0).sum()), int((column > 0).sum())
    return CrossTable(cells, row[places // sizes[1]], column[places % sizes[1]], *used, float(cells.sum()))


def phi_squared(table: CrossTable) -> float:
    """Chi-squared over the number of records: the sum of squared differences from independence, over what is expected.

    >>> codes = np.array([0, 0, 1, 1])
    >>> phi_squared(cross_table(codes, codes, (2, 2), np.ones(4)))
    1.0
    """
    return max(0.0, float((table.cells * (table.cells / table.row / table.column)).sum()) - 1.0)


def cramers_v(table: CrossTable, records: float, *, corrected: bool = False) -> float:
    """Cramer's V: 0 independent, 1 each determines the other; NaN where one of them is constant.

    `corrected` takes away what chance adds with so many records: Bergsma (2013), A bias-correction for Cramer's V.
    """
    least = min(table.rows, table.columns) - 1
    if least < 1:
        return math.nan
    phi = phi_squared(table)
    if not corrected:
        return math.sqrt(min(phi / least, 1.0))
    if records <= 1:
        return math.nan
    cut = max(0.0, phi - (table.rows - 1) * (table.columns - 1) / (records - 1))
    sides = (size - (size - 1) ** 2 / (records - 1) for size in (table.rows, table.columns))
    room = min(sides) - 1
    return math.sqrt(min(cut / room, 1.0)) if room > 0 else math.nan


def independence_p(table: CrossTable, records: float) -> float:
    """The p-value of the chi-squared test of independence, as if so many records had been drawn; NaN for a constant."""
    degrees = (table.rows - 1) * (table.columns - 1)
    if degrees < 1:
        return math.nan
    from scipy.special import chdtrc

    return float(chdtrc(degrees, records * phi_squared(table)))


def mutual_information(table: CrossTable) -> float:
    """Mutual information over the smaller of the two entropies: 0 independent, 1 one determines the other; NaN for a
    constant."""
    if min(table.rows, table.columns) < 2:
        return math.nan
    share = table.cells / table.total
    information = float((share * np.log(table.cells / table.row * (table.total / table.column))).sum())
    # Each cell carries its part of the entropy of its row, and of its column.
    least = min(-float((share * np.log(side / table.total)).sum()) for side in (table.row, table.column))
    return min(max(information / least, 0.0), 1.0)


def correlation(x: Floats, y: Floats, weight: Floats) -> float:
    """Pearson's correlation of weighted numbers without missing values; NaN where one of them is constant."""
    total = weight.sum()
    x, y = (values - values[0] for values in (x, y))
    x, y = (values - (weight * values).sum() / total for values in (x, y))
    spread = [float((weight * values * values).sum()) for values in (x, y)]
    if min(spread) <= 0 or any(np.ptp(values) == 0 for values in (x, y)):
        return math.nan
    return min(max(float((weight * x * y).sum()) / math.sqrt(spread[0]) / math.sqrt(spread[1]), -1.0), 1.0)


def mid_ranks(code: Ints, count: int, weight: Floats) -> Floats:
    """By record its weighted rank among values coded in their order; equal values share the middle of theirs.

    >>> mid_ranks(np.array([0, 1, 1]), 2, np.ones(3)).tolist()
    [0.5, 2.0, 2.0]
    """
    by_value = np.bincount(code, weights=weight, minlength=count)
    middle: Floats = (np.cumsum(by_value) - by_value / 2.0)[code]
    return middle


def correlation_ratio(codes: Ints, count: int, values: Floats, weight: Floats) -> float:
    """The correlation ratio eta of numbers by category: 0 equal means, 1 no spread within; NaN for a constant."""
    total = weight.sum()
    values = values - values[0]
    values = values - (weight * values).sum() / total
    all_squares = float((weight * values * values).sum())
    size = np.bincount(codes, weights=weight, minlength=count)
    if all_squares <= 0 or np.ptp(values) == 0 or (size > 0).sum() < 2:
        return math.nan
    sums = np.bincount(codes, weights=weight * values, minlength=count)[size > 0]
    return math.sqrt(min(float((sums * sums / size[size > 0]).sum()) / all_squares, 1.0))


def effective_size(weight: Floats) -> float:
    """Kish's effective number of records: as many with equal weights would be as precise.

    >>> effective_size(np.array([1.0, 3.0]))
    1.6
    """
    return float(weight.sum() ** 2 / np.square(weight).sum())
