"""How numbers vary within and between groups: kernels of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints


class Parts(NamedTuple):
    """The variance of a number, taken apart by groups."""

    between: float
    """Sum of squares of the means of the groups around the mean."""
    within: float
    """Sum of squares of the values around the mean of their group."""
    groups: int
    """Groups with a value."""
    records: int
    """Records with a value and a group."""

    @property
    def explained(self) -> float:
        """R^2: the share of the variance that the groups explain; NaN where nothing varies."""
        whole = self.between + self.within
        return self.between / whole if whole > 0 else float("nan")


def variance_parts(values: Floats, group: Ints, weights: Floats | None) -> Parts:
    """The analysis of variance of a number by groups from 1 on; records without a value or a group (0) are left out.

    >>> found = variance_parts(np.array([1.0, 3.0, 5.0, 7.0]), np.array([1, 1, 2, 2]), None)
    >>> found.between, found.within, found.explained
    (16.0, 4.0, 0.8)
    """
    kept = ~np.isnan(values) & (group > 0)
    values, group = values[kept], group[kept]
    weight = np.ones(len(values)) if weights is None else weights[kept]
    if not len(values):
        return Parts(0.0, 0.0, 0, 0)
    total = np.bincount(group, weights=weight)
    # From about their mean: sums of squares of large numbers lose their digits.
    moved = values - (weight * values).sum() / weight.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(group, weights=weight * moved) / total
    mean = float((weight * moved).sum() / weight.sum())
    there = total > 0
    between = float((total[there] * (means[there] - mean) ** 2).sum())
    within = float((weight * (moved - means[group]) ** 2).sum())
    constant = np.ptp(values) == 0
    return Parts(0.0 if constant else between, 0.0 if constant else within, int(there.sum()), len(values))


def variance_of_mean(values: Floats, weights: Floats | None) -> float:
    """The estimated variance of a mean, s^2/n, or with weights n/(n - 1) sum w^2 (x - m)^2 / (sum w)^2.

    NaN of a single value.

    >>> variance_of_mean(np.array([1.0, 2.0, 3.0, np.nan]), None)
    0.3333333333333333
    """
    shown = ~np.isnan(values)
    values = values[shown]
    n = len(values)
    if n < 2:
        return float("nan")
    weight = np.ones(n) if weights is None else weights[shown]
    mean = (weight * values).sum() / weight.sum()
    return float(n / (n - 1) * ((weight * (values - mean)) ** 2).sum() / weight.sum() ** 2)
