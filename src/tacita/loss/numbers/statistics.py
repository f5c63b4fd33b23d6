"""What a researcher estimates from one column of numbers, weighted or not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats

QUANTILES = (0.01, 0.05, 0.25, 0.75, 0.95, 0.99)
TRIMMED = 0.1
"""The share of the weight that the trimmed mean cuts off at either end."""
BEYOND = 3 * 1.4826 / 1.486
"""Median absolute deviations beyond which the one-step mean draws values in: three, with two roundings of a constant as
in sdcMicro, so that figures agree."""
STATISTICS = (
    *("mean", "median", "one-step mean", "trimmed mean", "variance", "standard deviation", "mad"),
    *(f"quantile {share:g}" for share in QUANTILES),
    *("minimum", "maximum", "total"),
)
"""What is estimated of a column, in this order."""


class Sorted(NamedTuple):
    """The values of a column that are there, in ascending order, and the weight of each."""

    values: Floats
    weights: Floats

    @classmethod
    def of(cls, column: Floats, weights: Floats | None) -> Sorted:
        """The shown values of a column; records with equal values in the order of their weights."""
        shown = ~np.isnan(column)
        values = column[shown]
        if weights is None:
            return cls(np.sort(values), np.ones(len(values)))
        order = np.lexsort((weights[shown], values))
        return cls(values[order], weights[shown][order])


def quantile(of: Sorted, share: float) -> float:
    """The value below which the share of the weight lies; the mean of two where it ends exactly between them.

    >>> quantile(Sorted.of(np.array([3.0, 1.0, 2.0, 10.0]), None), 0.5)
    2.5
    """
    reached = np.cumsum(of.weights)
    # A share of the weight is often a whole number of records, but for rounding.
    wanted = share * reached[-1]
    near = reached[-1] * 1e-12
    low = min(int(np.searchsorted(reached, wanted - near)), len(reached) - 1)
    high = min(int(np.searchsorted(reached, wanted + near, side="right")), len(reached) - 1)
    return float(of.values[low] + (of.values[high] - of.values[low]) / 2)


def mean_of(of: Sorted) -> float:
    """The mean."""
    return float((of.values * of.weights).sum() / of.weights.sum())


def variance_of(of: Sorted) -> float:
    """The variance, over n - 1 or its share of the weight; NaN of one value."""
    n = len(of.values)
    if n < 2:
        return float("nan")
    moved = of.values - mean_of(of)
    return float((moved**2 * of.weights).sum() / of.weights.sum()) * n / (n - 1)


def deviation_of(of: Sorted, median: float) -> float:
    """The median absolute deviation, uncorrected."""
    away = np.abs(of.values - median)
    order = np.lexsort((of.weights, away))
    return quantile(Sorted(away[order], of.weights[order]), 0.5)


def trimmed_mean(of: Sorted) -> float:
    """The mean without a tenth of the weight at either end."""
    end = np.cumsum(of.weights)
    start = end - of.weights
    low, high = TRIMMED * end[-1], (1.0 - TRIMMED) * end[-1]
    inside = np.clip(np.minimum(end, high) - np.maximum(start, low), 0.0, None)
    return float((of.values * inside).sum() / inside.sum())


def statistics(column: Floats, weights: Floats | None) -> Floats:
    """`STATISTICS` of the values that are there; NaN where none is.

    >>> found = statistics(np.array([1.0, 2.0, 3.0, np.nan]), None)
    >>> dict(zip(STATISTICS, found.tolist()))["total"], found[0].item()
    (6.0, 2.0)
    """
    if not (~np.isnan(column)).any():
        return np.full(len(STATISTICS), np.nan)
    of = Sorted.of(column, weights)
    median = quantile(of, 0.5)
    deviation = deviation_of(of, median)
    drawn_in = np.clip(of.values, median - BEYOND * deviation, median + BEYOND * deviation)
    variance = variance_of(of)
    return np.array(
        [
            mean_of(of),
            median,
            mean_of(Sorted(drawn_in, of.weights)),
            trimmed_mean(of),
            variance,
            float(np.sqrt(variance)),
            1.4826 * deviation,
            *(quantile(of, share) for share in QUANTILES),
            of.values[0],
            of.values[-1],
            float((of.values * of.weights).sum()),
        ]
    )
