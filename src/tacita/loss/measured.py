"""An estimate with its interval, and how one compares with another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """An estimate; NaN where there is none."""

    value: float
    error: float
    """Its standard error."""
    low: float
    """The lower end of its confidence interval."""
    high: float


NOTHING = Measured(math.nan, math.nan, math.nan, math.nan)


def around(value: float, variance: float, reach: float) -> Measured:
    """An estimate with its interval: `reach` standard errors to either side."""
    error = math.sqrt(variance)
    return Measured(value, error, value - reach * error, value + reach * error)


def compared(one: Measured, other: Measured) -> tuple[float, ...]:
    """Figures of an estimate before and after, from `before` to `error_ratio`."""
    gap = other.value - one.value
    return (
        one.value,
        other.value,
        one.error,
        other.error,
        0.0 if gap == 0 else ratio(gap, abs(one.value)),
        0.0 if gap == 0 else ratio(gap, one.error),
        interval_overlap((one.low, one.high), (other.low, other.high)),
        ratio(other.error, one.error),
    )


def ratio(part: float, whole: float) -> float:
    """One number over another; NaN over 0."""
    return part / whole if whole else math.nan


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval of that confidence reaches to either side.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2.0))


def interval_overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The mean share of two intervals that both cover: 1 the same interval, 0 they touch, below 0 they are apart.

    Karr, Kohnen, Oganian, Reiter and Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality. The American Statistician 60(3). An interval of no width is covered or not.

    >>> interval_overlap((0.0, 2.0), (1.0, 3.0))
    0.5
    """
    if any(math.isnan(end) for end in (*one, *other)):
        return math.nan
    if math.inf in map(abs, (*one, *other)):
        return math.nan
    common = min(one[1], other[1]) - max(one[0], other[0])
    return 0.5 * sum(_covered(common, low, high) for low, high in (one, other))


def _covered(common: float, low: float, high: float) -> float:
    return common / (high - low) if high > low else float(common >= 0)


def mean_overlap(overlaps: Iterable[float]) -> float:
    """The mean of the overlaps that there are; NaN if there are none."""
    known = [each for each in overlaps if not math.isnan(each)]
    return math.fsum(known) / len(known) if known else math.nan


def none_for_nan(value: Any) -> Any:
    """None in place of NaN, as JSON has no NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value
