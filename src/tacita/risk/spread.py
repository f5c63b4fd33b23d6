"""A distribution in six numbers, from values that each stand for several records."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints


class Spread(NamedTuple):
    """Minimum, quartiles, mean and maximum."""

    minimum: float
    lower_quartile: float
    median: float
    mean: float
    upper_quartile: float
    maximum: float


def spread(values: Floats, counts: Ints | None = None) -> Spread:
    """The spread of values, each occurring `counts` times; quartiles are interpolated between records."""
    low, lower, middle, upper, high = quantiles(values, (0.0, 0.25, 0.5, 0.75, 1.0), counts)
    return Spread(low, lower, middle, mean(values, counts), upper, high)


def mean(values: Floats, counts: Ints | None = None) -> float:
    """The mean, whatever the order of the values."""
    if counts is None:
        return math.fsum(values) / len(values)
    return math.fsum(values * counts) / int(counts.sum())


def quantiles(values: Floats, shares: tuple[float, ...], counts: Ints | None = None) -> list[float]:
    """Quantiles at position (n - 1) q, linear between neighbours, of values that each occur `counts` times."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = np.arange(1, len(values) + 1) if counts is None else np.cumsum(counts[order])
    out = []
    for share in shares:
        position = (int(ends[-1]) - 1) * share
        below = math.floor(position)
        left = ordered[np.searchsorted(ends, below, side="right")]
        right = ordered[np.searchsorted(ends, min(below + 1, int(ends[-1]) - 1), side="right")]
        out.append(float(left + (right - left) * (position - below)))
    return out
