"""What the generators of the demo surveys share: tables of columns, draws by shares, sample sizes of strata.

A column is an array of numbers (NaN for missing) or a pair `(codes, labels)`: code 0 is missing, code c is
`labels[c - 1]`. Everything is worked out with whole numbers, divisions and square roots, which, unlike powers and
logarithms, are the same on every machine.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.random import Draws

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Column = NDArray[np.int64] | NDArray[np.float64] | tuple[NDArray[np.int32], tuple[str, ...]]
Table = dict[str, Column]


def values_of(table: Table, name: str) -> NDArray[Any]:
    """The numbers of a column, or its codes."""
    column = table[name]
    return column[0] if isinstance(column, tuple) else column


def take(table: Table, rows: NDArray[Any]) -> Table:
    """Some rows of a table, given by their numbers or as a mask."""
    return {
        name: (column[0][rows], column[1]) if isinstance(column, tuple) else column[rows]
        for name, column in table.items()
    }


def choose(draws: Draws, records: Whole, shares: Whole, row: Whole | int = 0) -> Whole:
    """A category, from 0, for each record, drawn by the shares in its row of a table."""
    ends = np.cumsum(shares)
    total = shares.sum(axis=1)[row]
    start = (np.cumsum(shares.sum(axis=1)) - shares.sum(axis=1))[row]
    # The rows lie end to end on one line, so that a single search serves them all.
    found = np.searchsorted(ends, start + draws.integers(records, total), side="right")
    return np.asarray(found - row * shares.shape[1], dtype=np.int64)


def chance(draws: Draws, records: Whole, per_mille: Whole | int) -> NDArray[np.bool_]:
    """For each record whether something happens that does so for so many in a thousand."""
    return draws.integers(records, 1000) < per_mille


def peaked(draws: Draws, records: Whole, most: Whole | int) -> Whole:
    """Whole numbers from 0 to `most`, those in the middle more often."""
    half = np.asarray(most) // 2
    return draws.integers(records, half + 1) + draws.integers(records, most - half + 1, draw=1)


def spread(draws: Draws, records: Whole, sixteenths: Whole | int) -> Real:
    """Log-logistic factors with median 1: (u / (1 - u)) ** (sixteenths / 16); their logarithms are symmetric.

    The standard deviation of the logarithm is 0.113 for each sixteenth (pi / sqrt 3 / 16).
    Fisk (1961), The graduation of income distributions, Econometrica 29(2).
    """
    share = draws.uniform(records)
    return power(share / (1 - share), sixteenths)


def power(base: Real, sixteenths: Whole | int) -> Real:
    """The power `sixteenths / 16`, for 0 to 15 sixteenths, one for all or one for each, by square roots.

    >>> power(np.array([16.0, 81.0]), 12).tolist()
    [8.0, 27.0]
    """
    result, root = np.ones_like(base), base
    for part in (8, 4, 2, 1):
        root = np.sqrt(root)
        result = result * np.where(np.bitwise_and(sixteenths, part) > 0, root, 1.0)
    return result


def allocation(stratum: Whole, sample: int) -> Whole:
    """Sample sizes of strata: one each, the rest by the square root of the stratum, never more than there are.

    Power allocation with power 1/2: Bankier (1988), Power allocations, The American Statistician 42(3).

    >>> allocation(np.array([10_000, 400, 2]), 122).tolist()
    [100, 20, 2]
    """
    root = np.array([math.isqrt(count * 10**6) for count in stratum.tolist()], dtype=np.int64)
    result = np.minimum(stratum, 1)
    while (left := sample - int(result.sum())) > 0:
        share = np.where(result < stratum, root, 0)
        whole = np.minimum(left * share // share.sum(), stratum - result)
        if not whole.any():  # fewer left than strata: one more for those with the largest part
            whole[np.argsort(-share, kind="stable")[:left]] = 1
        result = result + whole
    return result


def quotas(stratum: Whole, shares: Whole, sample: int) -> Whole:
    """Sample sizes of strata in proportion to `shares`: one each at least, never more than there are.

    Each further unit goes to the stratum with the greatest share / (2 units + 1), the rule of Webster and Sainte-Lague,
    which meets the proportions exactly where they are whole numbers.

    >>> quotas(np.array([100, 100, 5]), np.array([6, 3, 3]), 40).tolist()
    [23, 12, 5]
    """
    place = np.repeat(np.arange(len(stratum)), stratum)
    unit = np.arange(len(place)) - (np.cumsum(stratum) - stratum)[place]
    claim = np.where(unit == 0, np.inf, shares[place] / (2 * unit + 1))
    chosen = np.argsort(-claim, kind="stable")[:sample]
    return np.bincount(place[chosen], minlength=len(stratum)).astype(np.int64)
