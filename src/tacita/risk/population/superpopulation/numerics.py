"""Sums and searches behind the likelihoods of the superpopulation models, exact for small and for huge arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import digamma

from tacita.arrays import Floats

ASYMPTOTIC_FROM = 30.0
"""From here on four terms of the asymptotic series of the digamma function are exact to rounding."""

End = Literal["inside", "low", "high"]


class Found(NamedTuple):
    """Where a search ended."""

    value: float
    """The place."""
    end: End
    """Whether it lies inside the range, or the function still rises at its low or high end."""


def harmonic(start: ArrayLike, terms: ArrayLike) -> Floats:
    """1/x + 1/(x+1) + ... + 1/(x+k-1) for x > 0 and k >= 0.

    It is digamma(x+k) - digamma(x), but that difference loses all digits for large x.

    >>> harmonic([1.0, 0.5], [3, 2]).round(9).tolist()
    [1.833333333, 2.666666667]
    """
    x, k = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(terms, dtype=np.float64))
    far = x >= ASYMPTOTIC_FROM
    near_x, far_x = np.where(far, 1.0, x), np.where(far, x, ASYMPTOTIC_FROM)
    near = np.asarray(digamma(near_x + k) - digamma(near_x), dtype=np.float64)
    a, b = 1.0 / far_x, 1.0 / (far_x + k)
    series = np.log1p(k * a) + (a - b) / 2 + (a**2 - b**2) / 12 - (a**4 - b**4) / 120 + (a**6 - b**6) / 252
    return np.asarray(np.where(far, series, near))


def score_root(score: Callable[[float], float], low: float, high: float, points: int = 65) -> Found:
    """The maximum of a likelihood with this score: where the score falls through 0 on a logarithmic range.

    A score that is never above 0 means the low end, one that stays above it the high end.
    """

    def by_logarithm(t: float) -> float:
        return score(math.exp(t))

    before, *others = np.linspace(math.log(low), math.log(high), points).tolist()
    if by_logarithm(before) <= 0:
        return Found(low, "low")
    for t in others:
        if by_logarithm(t) <= 0:
            return Found(math.exp(brentq(by_logarithm, before, t, xtol=1e-13, rtol=1e-14)), "inside")
        before = t
    return Found(high, "high")


def highest(function: Callable[[float], float], low: float, high: float, points: int = 65) -> Found:
    """The maximum of a function on a logarithmic range: the best of a grid, refined between its neighbours."""
    grid = np.linspace(math.log(low), math.log(high), points)
    values = [function(math.exp(x)) for x in grid.tolist()]
    best = int(np.argmax(values))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, points - 1)])
    options = {"xatol": 1e-10}
    refined = minimize_scalar(lambda t: -function(math.exp(t)), bounds=bounds, method="bounded", options=options)
    if best == 0 and values[0] >= -refined.fun:
        return Found(low, "low")
    if best == points - 1 and values[-1] >= -refined.fun:
        return Found(high, "high")
    return Found(math.exp(refined.x), "inside")
