"""How the variables of a file go together: correlations of numbers, Cramér's V where one of the two is a category."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.comparison.distributions import LEAST_RECORDS

PARTS = 5
"""Beside a category a number is cut into so many parts, equally many original records in each."""


class Associations(NamedTuple):
    """The associations of variables in two files."""

    names: tuple[str, ...]
    """The variables, numbers first."""
    numbers: int
    """How many of them are numbers."""
    original: Floats
    """Pearson's r of two numbers, Cramér's V of other pairs; NaN where it is not defined."""
    released: Floats

    @property
    def change(self) -> Floats:
        """Released less original."""
        found = self.released - self.original
        # Sums in another order may differ in the last place.
        return np.where(np.abs(found) < 1e-12, 0.0, found)

    @property
    def largest_change(self) -> float:
        """The greatest change of an association; NaN if there is none."""
        change = np.abs(self.change)
        return float(np.nanmax(change)) if not np.isnan(change).all() else np.nan


def correlations(values: Floats, weights: Floats) -> Floats:
    """Pearson's r of columns of numbers over the records that have both; NaN where one of them does not vary."""
    shown = ~np.isnan(values)
    count = shown.sum(axis=0)
    scaled = np.zeros(values.shape)
    for at in np.flatnonzero(count).tolist():
        column = values[shown[:, at], at]
        # Less a number from their midst and in units of their size, lest digits be lost.
        centred = column - np.median(column)
        scaled[shown[:, at], at] = centred / (np.abs(centred).max() or 1.0)
    there = shown.astype(np.float64)
    weighted = scaled * weights[:, None]
    total = there.T @ (there * weights[:, None])
    sums = weighted.T @ there
    products = total * (weighted.T @ scaled) - sums * sums.T
    squares = total * ((weighted * scaled).T @ there) - sums**2
    with np.errstate(divide="ignore", invalid="ignore"):
        # Rounding leaves a variance of next to nothing where nothing varies.
        varies = squares > 1e-12 * total**2
        found = np.where(varies & varies.T, products / np.sqrt(squares * squares.T), np.nan)
    enough = there.T @ there >= LEAST_RECORDS
    return np.clip(np.where(enough, found, np.nan), -1.0, 1.0)


def cramers_v(one: Ints, other: Ints, weights: Floats) -> float:
    """Cramér's V of two categorical variables, codes below 0 for missing: 0 independent, 1 one determines the other.

    >>> round(cramers_v(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.ones(4)), 12)
    1.0
    """
    both = (one >= 0) & (other >= 0)
    if int(both.sum()) < LEAST_RECORDS:
        return float("nan")
    columns = int(other.max()) + 1
    cells = np.bincount(one[both] * columns + other[both], weights=weights[both], minlength=(one.max() + 1) * columns)
    table = cells.reshape(-1, columns) / cells.sum()
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(min(max(float(np.sum(table**2 / expected)) - 1.0, 0.0) / least, 1.0)))


def parts(values: Floats, cuts: Floats) -> Ints:
    """Numbers as the part between cuts that they lie in; -1 where missing."""
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="left")).astype(np.int64)


def cuts_of(values: Floats) -> Floats:
    """Where numbers are cut into parts of equally many records; fewer where many are equal."""
    shown = np.sort(values[~np.isnan(values)])
    if not len(shown):
        return np.empty(0)
    return np.unique(shown[(np.arange(1, PARTS) * len(shown)) // PARTS])


def association_matrix(values: Floats, codes: list[Ints], weights: Floats, cuts: list[Floats]) -> Floats:
    """The matrix of a file: its numbers as columns, then its categories as codes, below 0 for missing."""
    numbers = values.shape[1]
    size = numbers + len(codes)
    found = np.full((size, size), np.nan)
    if numbers:
        found[:numbers, :numbers] = correlations(values, weights)
    coded = [parts(values[:, at], cuts[at]) for at in range(numbers)] + codes
    for j in range(numbers, size):
        for i in range(j):
            found[i, j] = found[j, i] = cramers_v(coded[i], coded[j], weights)
    np.fill_diagonal(found, 1.0)
    return found
