"""Compiled loops of the law of real counts around their forecast.

The rate of a cell has the Laplace transform exp(-(a/alpha) ((1 + s M/a)^alpha - 1)): a power variance law of Hougaard,
with mean M, shape a and index alpha below 1. Index 0 is the gamma law, 1/2 the inverse Gaussian one. Counts are Poisson
around the rate; M and a are piecewise linear in the forecast, and a share of the cells may be empty for good.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tacita.compiled import compiled

STEEPEST = 40.0
"""Logarithms of shape and odds are kept within this of 0."""
GREATEST = 12.0
"""Logarithms of means are kept below this, so that chances stay numbers wherever a search may look."""
LEAST, ROUNDING = 1e-290, 1e-13
"""Chances below these are not told apart, next to 0 and of what is left to 1."""
MOST = 40
"""Counts above this are told apart no more: all are `MOST` + 1."""


@compiled
def within(value: float) -> float:
    """The value, cut off where its exponential would be of no use."""
    return min(max(value, -STEEPEST), STEEPEST)


@cache
def powers(index: float, size: int) -> Any:
    """The coefficients of (1 - z)^(index - 1)."""
    result = np.ones(size)
    for j in range(1, size):
        result[j] = result[j - 1] * (j - index) / j
    return result


@compiled
def log_none(mean: float, shape: float, index: float) -> float:
    """log P(0)."""
    log_base = np.log1p(mean / shape)
    return float(-shape * (log_base if index == 0.0 else np.expm1(index * log_base) / index))


@compiled
def chances(most: int, mean: float, shape: float, index: float, power: Any, p: Any) -> None:
    """P(k)/P(0) for k up to `most` into the first row of `p`; derivatives by log mean and log shape below it.

    From G'(z) = G(z) mean (1 + (1 - z) mean/shape)^(index - 1) of the generating function, coefficient by coefficient.
    """
    ratio = mean / shape
    base = 1.0 + ratio
    first = mean * np.exp((index - 1.0) * np.log1p(ratio))
    step = ratio / base
    by_mean, by_shape = 1.0 + (index - 1.0) * step, (1.0 - index) * step
    p[0, 0], p[1, 0], p[2, 0] = 1.0, 0.0, 0.0
    for k in range(most):
        total, slope_mean, slope_shape, decay = 0.0, 0.0, 0.0, 1.0
        for j in range(k + 1):
            weight = power[j] * decay
            decay *= step
            moved = j / base * weight * p[0, k - j]
            total += weight * p[0, k - j]
            slope_mean += weight * p[1, k - j] + moved
            slope_shape += weight * p[2, k - j] - moved
        p[0, k + 1] = first / (k + 1) * total
        p[1, k + 1] = first / (k + 1) * (slope_mean + by_mean * total)
        p[2, k + 1] = first / (k + 1) * (slope_shape + by_shape * total)


@compiled
def _log_chance(count: int, none: float, by_mean: float, by_shape: float, p: Any) -> tuple[float, float, float]:
    """log P(count) and its derivatives; log P(more than `MOST`) for greater counts."""
    if count <= MOST:
        one = p[0, count]
        if one < LEAST:
            return none + np.log(LEAST), by_mean, by_shape
        return none + np.log(one), by_mean + p[1, count] / one, by_shape + p[2, count] / one
    total, moved_mean, moved_shape = 0.0, 0.0, 0.0
    for k in range(MOST + 1):
        total += p[0, k]
        moved_mean += p[1, k]
        moved_shape += p[2, k]
    chance = np.exp(none)
    rest = 1.0 - chance * total
    if rest < ROUNDING:
        return np.log(ROUNDING), 0.0, 0.0
    return (
        np.log(rest),
        -chance * (total * by_mean + moved_mean) / rest,
        -chance * (total * by_shape + moved_shape) / rest,
    )


@compiled
def likelihood(
    parameters: Any, index: float, power: Any, zeros: bool, place: Any, share: Any, log_mean: Any, start: Any,
    count: Any, weight: Any, p: Any, gradient: Any,
) -> float:  # fmt: skip
    """The log-likelihood of counts (0: cells not in the sample), and its gradient by the parameters.

    `place` and `share` say by forecast between which knots it lies; `log_mean` is what of it the sample holds. The
    counts of a forecast stand from `start` on, in ascending order. `p` has room for chances and their derivatives.
    """
    knots = len(gradient) // (3 if zeros else 2)
    total = 0.0
    gradient[:] = 0.0
    for b in range(len(place)):
        at, sides = place[b], (1.0 - share[b], share[b])
        log_a = within(sides[0] * parameters[knots + at] + sides[1] * parameters[knots + at + 1])
        log_possible, impossible = 0.0, 0.0
        if zeros:
            odds = np.exp(-within(sides[0] * parameters[2 * knots + at] + sides[1] * parameters[2 * knots + at + 1]))
            log_possible, impossible = -np.log1p(odds), odds / (1.0 + odds)
        shape = np.exp(log_a)
        log_rate = log_mean[b] + sides[0] * parameters[at] + sides[1] * parameters[at + 1] - log_possible
        mean = np.exp(min(max(log_rate, -STEEPEST), GREATEST))
        chances(min(count[start[b + 1] - 1], MOST), mean, shape, index, power, p)
        none = log_none(mean, shape, index)
        by_mean = -mean * np.exp((index - 1.0) * np.log1p(mean / shape))
        for i in range(start[b], start[b + 1]):
            value, slope_mean, slope_shape = _log_chance(count[i], none, by_mean, none - by_mean, p)
            by_zeros = impossible
            if zeros and count[i] == 0:
                occupied = np.exp(log_possible + value)
                empty = impossible + occupied
                value = np.log(empty) - log_possible
                slope_mean, slope_shape = slope_mean * occupied / empty, slope_shape * occupied / empty
                by_zeros = impossible * (occupied - np.exp(log_possible)) / empty
            total += weight[i] * (value + log_possible)
            for side in range(2):
                part = weight[i] * sides[side]
                gradient[at + side] += part * slope_mean
                gradient[knots + at + side] += part * slope_shape
                if zeros:
                    gradient[2 * knots + at + side] += part * (by_zeros - slope_mean * impossible)
    return total
