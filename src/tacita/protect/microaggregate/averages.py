"""What the members of a group get: one average for all of them, by variable."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints

AVERAGES = ("mean", "median", "trimmed_mean", "one_step")
BEYOND = 3 * 1.4826 / 1.486
"""Median absolute deviations beyond which a value lies out (`one_step`): three, with two roundings of a constant as in
sdcMicro, so that figures agree."""


def averages(
    values: Floats, groups: Ints, average: str = "mean", trim: float = 0.2, weights: Floats | None = None
) -> Floats:
    """By record: the average of its group, of the members that have a value; NaN stays NaN.

    >>> averages(np.array([1.0, 3.0, 8.0, np.nan]), np.array([0, 0, 1, 1])).tolist()
    [2.0, 2.0, 8.0, nan]
    """
    there = ~np.isnan(values)
    fresh = np.full(len(values), np.nan)
    _, group = np.unique(groups[there], return_inverse=True)
    fresh[there] = _of_groups(values[there], group, average, trim, None if weights is None else weights[there])[group]
    return fresh


def _of_groups(values: Floats, group: Ints, average: str, trim: float, weights: Floats | None) -> Floats:
    """By group: its average, never beyond its members."""
    if not len(values):
        return np.empty(0)
    sorts = np.lexsort((values, group))
    ordered, own = values[sorts], group[sorts]
    size = np.bincount(own)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    if average == "median":
        return _medians(ordered, first, size)
    kept = np.ones(len(ordered), np.bool_)
    taken = ordered
    if average == "trimmed_mean":
        kept = _inner(own, first, size, trim)
    if average == "one_step":
        taken = _drawn_in(ordered, own, first, size)
    weight = kept * (1.0 if weights is None else weights[sorts])
    # In units of the greatest weight, so that no product overflows.
    weight = weight / weight.max()
    means = np.bincount(own, taken * weight) / np.bincount(own, weight)
    # Rounding must not take the mean of equal numbers away from them.
    return np.clip(means, ordered[first], ordered[first + size - 1])


def _medians(ordered: Floats, first: Ints, size: Ints) -> Floats:
    low, high = ordered[first + (size - 1) // 2], ordered[first + size // 2]
    return np.asarray(low + (high - low) / 2)


def _inner(own: Ints, first: Ints, size: Ints, trim: float) -> Bools:
    """Which values are left when the share `trim`, rounded down, is cut off at either end of each group."""
    rank, cut = np.arange(len(own)) - first[own], np.floor(trim * size).astype(np.int64)[own]
    return np.asarray((rank >= cut) & (rank < size[own] - cut))


def _drawn_in(ordered: Floats, own: Ints, first: Ints, size: Ints) -> Floats:
    """Values farther from the median than about three median absolute deviations are put there."""
    median = _medians(ordered, first, size)[own]
    away = np.abs(ordered - median)
    reach = BEYOND * _medians(away[np.lexsort((away, own))], first, size)[own]
    return np.clip(ordered, median - reach, median + reach)
