"""How the values of a variable are laid along an axis: evenly, on a log scale, or on one that has zeros and signs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats

SKEWED = 0.4
"""The skewness between the 5th, 50th and 95th percentiles from which on positive numbers are on a log scale."""
SPAN = 20.0
"""And the least ratio of the 95th to the 5th percentile."""
HEAVY = 12.0
"""Numbers of both signs are on a symlog scale if their outer percentiles are so many middle spreads apart."""


class NumberLine(NamedTuple):
    """An axis for the values of a variable."""

    kind: str
    """linear, log (positive numbers; zeros stand apart), or symlog (both signs)."""
    constant: float = 1.0
    """Of symlog: numbers below this in size are laid out evenly."""

    def along(self, values: Floats) -> Floats:
        """Where values lie on the axis."""
        if self.kind == "linear":
            return values
        if self.kind == "log":
            return np.asarray(np.log10(values))
        return np.asarray(np.sign(values) * np.log1p(np.abs(values) / self.constant))

    def values(self, along: Floats) -> Floats:
        """The values at places on the axis."""
        if self.kind == "linear":
            return along
        if self.kind == "log":
            return np.asarray(10.0**along)
        return np.asarray(np.sign(along) * self.constant * np.expm1(np.abs(along)))

    def on(self, values: Floats) -> Bools:
        """Which values are on the axis: all but missing ones and, on a log scale, zeros."""
        shown: Bools = ~np.isnan(values)
        return shown & (values > 0) if self.kind == "log" else shown


def number_line(original: Floats, released: Floats) -> NumberLine:
    """The axis that suits a variable, by its original values; a log scale where they are skewed.

    >>> number_line(np.array([0.0, 1, 2, 5, 10, 50, 400]), np.array([1.0, 2])).kind
    'log'
    >>> number_line(np.arange(100.0), np.arange(100.0)).kind
    'linear'
    """
    values = original[~np.isnan(original)]
    signed = bool((values < 0).any() or (released < 0).any())
    if not signed and _skewed(values[values > 0]):
        return NumberLine("log")
    sizes = np.abs(values[values != 0])
    if signed and len(sizes) and (_heavy(values) or _skewed(sizes)):
        return NumberLine("symlog", float(np.median(sizes)))
    return NumberLine("linear")


def _skewed(positive: Floats) -> bool:
    if len(positive) < 3:
        return False
    low, middle, high = np.quantile(positive, (0.05, 0.5, 0.95))
    return bool(high > SPAN * low and high + low - 2 * middle > SKEWED * (high - low))


def _heavy(values: Floats) -> bool:
    low, quarter, three_quarters, high = np.quantile(values, (0.01, 0.25, 0.75, 0.99))
    return bool(high - low > HEAVY * (three_quarters - quarter))
