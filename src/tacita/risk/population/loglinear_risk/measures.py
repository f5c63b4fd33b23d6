"""What a fitted Poisson model says of sample uniques: tau_1, tau_2, their variances, and the tests for under-fitting.

The count F of a key in the population is Poisson with mean lambda, and its count f in the sample Poisson with mean
mu = pi lambda. Given f = 1, F - 1 is Poisson with mean v = (1 - pi) lambda. So the key is unique in the population
with probability h_1 = exp(-v), and an intruder who picks one of the F is right with probability h_2 = E[1/F] =
(1 - exp(-v)) / v.

References: Elamir and Skinner (2006), Journal of Official Statistics 22; Skinner and Shlomo (2008), Journal of the
American Statistical Association 103.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expi

from tacita.arrays import Floats, Ints

SMALL = 0.1
"""Below this v the closed forms lose digits, and power series are used."""
LARGE = 40.0
"""From this v on the variance is taken from its asymptotic series."""
BLOCK = 1 << 18
"""Cells per pass: the pieces stay in the processor's cache."""


def unique_probability(v: Floats) -> Floats:
    """h_1: the probability that a sample unique is population unique."""
    return np.exp(-v)


def match_probability(v: Floats) -> Floats:
    """h_2: the expected 1/F of a sample unique."""
    return _by_size(v, _series(0), lambda large: -np.expm1(-large) / large)


def match_slope(v: Floats) -> Floats:
    """The first derivative of h_2 by v."""
    return _by_size(v, _series(1), lambda large: np.exp(-large) / large + np.expm1(-large) / large**2)


def match_curvature(v: Floats) -> Floats:
    """The second derivative of h_2 by v."""

    def direct(large: Floats) -> Floats:
        tail: Floats = np.exp(-large)
        return -2 * np.expm1(-large) / large**3 - 2 * tail / large**2 - tail / large

    return _by_size(v, _series(2), direct)


def _series(derivative: int, terms: int = 13) -> Floats:
    """Coefficients, constant first, of a derivative of (1 - exp(-v)) / v = sum (-v)^n / (n+1)!."""
    powers = range(derivative, derivative + terms)
    return np.array([(-1.0) ** n * math.perm(n, derivative) / math.factorial(n + 1) for n in powers])


def _by_size(v: Floats, series: Floats, direct: Callable[[Floats], Floats]) -> Floats:
    small = v < SMALL
    out = direct(np.where(small, 1.0, v))
    if small.any():
        out[small] = np.polynomial.polynomial.polyval(v[small], series)
    return out


def match_variance(v: Floats) -> Floats:
    """The variance of 1/F of a sample unique, F - 1 Poisson with mean v.

    E[1/F^2] = exp(-v) (Ei(v) - ln v - gamma) / v; for large v the variance is the series 1/v^3 (1 + 2/v + 6/v^2 + ...).
    """
    middle = np.clip(v, SMALL, LARGE)
    square = np.exp(-middle) * (expi(middle) - np.log(middle) - np.euler_gamma) / middle
    out: Floats = square - match_probability(middle) ** 2
    small, large = v < SMALL, v > LARGE
    if small.any():
        # The variance of 1 - 1/F, whose moments are small themselves: nothing cancels.
        j = np.arange(16)
        poisson = 1.0 / np.array([math.factorial(k) for k in j])
        first, second = (
            np.exp(-v[small]) * np.polynomial.polynomial.polyval(v[small], poisson * (j / (j + 1)) ** power)
            for power in (1, 2)
        )
        out[small] = second - first**2
    if large.any():
        series = np.array([float(math.factorial(k)) for k in range(1, 20)])
        out[large] = np.polynomial.polynomial.polyval(1.0 / v[large], series) / v[large] ** 3
    return out


class Underfit(NamedTuple):
    """Skinner and Shlomo's B_j and its variance V_j under a right model."""

    b: float
    variance: float

    @property
    def standardised(self) -> float:
        """B_j / sqrt(V_j): about standard normal under a right model, well above 0 when terms are missing."""
        return self.b / math.sqrt(self.variance) if self.variance > 0 else 0.0


def underfit(f: Floats, mu: Floats, pi: Floats | float) -> tuple[tuple[float, float], tuple[float, float]]:
    """(B_1, V_1), (B_2, V_2): the sums over the given cells, to be added over all cells, empty ones too."""
    rest = 1.0 - pi
    v = mu * (rest / pi)
    factor = (mu / pi) * np.exp(-mu)
    excess = f - mu
    square = excess**2 - f
    h_1 = np.exp(-v)
    out = []
    for slope, curvature in ((-h_1, h_1), (match_slope(v), match_curvature(v))):
        a = -factor * rest * slope
        b = factor * rest**2 * curvature / (2 * pi)
        total = float(np.sum(a * excess + b * square))
        out.append((total, float(np.sum(a**2 * mu + 2 * b**2 * mu**2))))
    return out[0], out[1]


def underfit_of_cells(
    mean: Floats, index: Ints, count: Floats, pi_empty: float, pi: Floats | float
) -> tuple[Underfit, Underfit]:
    """B_j and V_j over all cells; `mean` is flat, `index` (ascending) and `count` tell the occupied cells."""
    parts = [underfit(count, mean[index], pi)]
    for start in range(0, len(mean), BLOCK):
        block = mean[start : start + BLOCK].copy()
        first, last = np.searchsorted(index, (start, start + BLOCK))
        block[index[first:last] - start] = 0.0
        # Cells that the model leaves empty add nothing, nor do the occupied ones, which are in the first part.
        block = block[block > 0]
        if len(block):
            parts.append(underfit(np.zeros(len(block)), block, pi_empty))
    sums = [[math.fsum(part[j][what] for part in parts) for what in (0, 1)] for j in (0, 1)]
    return Underfit(*sums[0]), Underfit(*sums[1])
