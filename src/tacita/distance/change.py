"""How far a released value is from the original one, from 0 to 1: the d of the information loss lambda.

A suppressed value is as far as it can be; a value where there was none is 1, none where there was none 0.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.repeats import how_many, median, sd, some

UNITS = ("value", "sd", "mad", "range")
"""What a numeric difference is measured in: the variable's own unit, its standard deviation, its median absolute
deviation, or its range."""


def nominal_change(x: Floats, y: Floats) -> Floats:
    """0 where two codes (NaN: missing) are equal, 1 where they are not.

    >>> nominal_change(np.array([1.0, 1.0, np.nan]), np.array([1.0, np.nan, np.nan])).tolist()
    [0.0, 1.0, 0.0]
    """
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(same, 0.0, 1.0)


def ordinal_change(x: Floats, y: Floats, categories: int) -> Floats:
    """|difference of categories| / (categories - 1); suppressed: to the farther end. Codes are 0, 1, ...

    >>> ordinal_change(np.array([0.0, 1.0, 1.0]), np.array([2.0, 0.0, np.nan]), 4).round(3).tolist()
    [0.667, 0.333, 0.667]
    """
    width = max(categories - 1, 1)
    farther = np.maximum(x, width - x)
    return _with_missing(x, y, np.abs(y - x) / width, np.minimum(farther / width, 1.0))


def numeric_change(x: Floats, y: Floats, unit: float = 1.0, repeats: Ints | None = None) -> Floats:
    """(2/pi) arctan(|x - y| / unit); suppressed: the column's maximum if x is at most the median, else its minimum.

    >>> numeric_change(np.array([1.0, 2.0, 9.0]), np.array([1.0, 3.0, np.nan])).round(3).tolist()
    [0.0, 0.5, 0.921]
    """
    there = ~np.isnan(x)
    shown = x[there]
    if not len(shown):
        return _with_missing(x, y, np.zeros(len(x)), np.zeros(len(x)))
    end = np.where(x <= median(shown, some(repeats, there)), shown.max(), shown.min())
    changed, gone = (2.0 / np.pi * np.arctan(np.abs(x - other) / unit) for other in (y, end))
    return _with_missing(x, y, changed, gone)


def range_change(x: Floats, y: Floats) -> Floats:
    """|x - y| as a share of the range of x, at most 1; suppressed: to the farther end.

    >>> range_change(np.array([1.0, 2.0, 9.0]), np.array([1.0, 4.0, np.nan])).tolist()
    [0.0, 0.25, 1.0]
    """
    shown = x[~np.isnan(x)]
    if not len(shown):
        return _with_missing(x, y, np.zeros(len(x)), np.zeros(len(x)))
    low, high = shown.min(), shown.max()
    width = float(high - low) or 1.0
    return _with_missing(x, y, np.minimum(np.abs(x - y) / width, 1.0), np.maximum(x - low, high - x) / width)


def numeric_unit(x: Floats, kind: str, repeats: Ints | None = None) -> float:
    """The unit of a numeric difference (`UNITS`): 1, the standard deviation (n - 1), the median absolute deviation
    times 1.4826, or the range; NaN or 0 where there is no spread.

    >>> round(numeric_unit(np.array([1.0, 2.0, 4.0, np.nan]), "mad"), 4)
    1.4826
    """
    if kind == "value":
        return 1.0
    there = ~np.isnan(x)
    shown, own = x[there], some(repeats, there)
    size = how_many(there, repeats)
    if size < 2:
        return float("nan")
    if kind == "range":
        return float(np.ptp(shown))
    if kind == "sd":
        return sd(shown, own) if np.ptp(shown) > 0 else 0.0
    return 1.4826 * median(np.abs(shown - median(shown, own)), own)


def _with_missing(x: Floats, y: Floats, changed: Floats, suppressed: Floats) -> Floats:
    """The change where both values are there, and what stands for it where one is not."""
    before, after = np.isnan(x), np.isnan(y)
    known = np.where(after, suppressed, changed)
    return np.where(before & after, 0.0, np.where(before, 1.0, known))
