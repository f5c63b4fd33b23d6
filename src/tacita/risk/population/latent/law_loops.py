"""Compiled loops of the law of real counts around their forecast.

Counts are negative binomial around the forecast, with a shape and a correction of the mean that are linear in its
logarithm between knots; in the second form a share of the cells, likewise piecewise, is empty for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled

STEEPEST = 40.0
"""Logarithms of shape and odds are kept within this of 0."""

MULTIPLIED = 40
"""Counts up to this are worked out factor by factor, which is exact for any shape."""


@compiled
def within(value: float) -> float:
    """The value, cut off where its exponential would be of no use."""
    return min(max(value, -STEEPEST), STEEPEST)


@compiled
def _log_gamma(x: float) -> float:
    """Stirling's series, less a constant, for x of at least 40."""
    square = x * x
    return (x - 0.5) * np.log(x) - x + (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x


@compiled
def _digamma(x: float) -> float:
    """The slope of that."""
    square = x * x
    return np.log(x) - 0.5 / x - (1.0 / 12.0 - (1.0 / 120.0 - 1.0 / (252.0 * square)) / square) / square


@compiled
def log_count(count: int, mean: float, shape: float) -> tuple[float, float, float]:
    """log P(count) of a negative binomial without the factorial; its derivatives by log mean and by log shape."""
    ratio = mean / shape
    product, logarithm, harmonic = 1.0, 0.0, 0.0
    for i in range(min(count, MULTIPLIED)):
        product *= shape + i
        harmonic += 1.0 / (shape + i)
        if product > 1e200 or product < 1e-200:
            logarithm += np.log(product)
            product = 1.0
    if count > 0:
        logarithm += np.log(product) + count * np.log(mean / (mean + shape))
    if count > MULTIPLIED:
        logarithm += _log_gamma(shape + count) - _log_gamma(shape + MULTIPLIED)
        harmonic += _digamma(shape + count) - _digamma(shape + MULTIPLIED)
    decrease = np.log1p(ratio)
    by_mean = (count - mean) / (1.0 + ratio)
    by_shape = shape * (harmonic - decrease + (mean - count) / (mean + shape))
    return logarithm - shape * decrease, by_mean, by_shape


@compiled
def likelihood(
    parameters: Any, zeros: bool, place: Any, share: Any, log_mean: Any, count: Any, weight: Any, gradient: Any
) -> float:
    """The log-likelihood of counts (0: cells not in the sample), and its gradient by the parameters.

    `place` and `share` say by point between which knots it lies; `log_mean` is the forecast of what the sample holds.
    """
    knots = len(gradient) // (3 if zeros else 2)
    total = 0.0
    gradient[:] = 0.0
    for i in range(len(count)):
        low, right = place[i], share[i]
        left = 1.0 - right
        mean = log_mean[i] + left * parameters[low] + right * parameters[low + 1]
        shape = np.exp(within(left * parameters[knots + low] + right * parameters[knots + low + 1]))
        log_possible, impossible = 0.0, 0.0
        if zeros:
            at = 2 * knots + low
            odds = np.exp(-within(left * parameters[at] + right * parameters[at + 1]))
            log_possible, impossible = -np.log1p(odds), odds / (1.0 + odds)
        value, by_mean, by_shape = log_count(count[i], np.exp(mean - log_possible), shape)
        by_zeros = impossible
        if zeros and count[i] == 0:
            occupied = np.exp(log_possible + value)
            empty = impossible + occupied
            value = np.log(empty)
            by_mean *= occupied / empty
            by_shape *= occupied / empty
            by_zeros = impossible * (occupied - np.exp(log_possible)) / empty
        elif zeros:
            value += log_possible
        by_zeros -= by_mean * impossible
        total += weight[i] * value
        gradient[low] += weight[i] * left * by_mean
        gradient[low + 1] += weight[i] * right * by_mean
        gradient[knots + low] += weight[i] * left * by_shape
        gradient[knots + low + 1] += weight[i] * right * by_shape
        if zeros:
            gradient[at] += weight[i] * left * by_zeros
            gradient[at + 1] += weight[i] * right * by_zeros
    return total
