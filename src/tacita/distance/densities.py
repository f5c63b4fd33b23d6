"""How z is distributed over true links (m) and over all other pairs (u), and what their ratio says of a pair.

Both are Gaussian kernel densities of log z, z = 0 being moved to half the smallest positive z. The bandwidth is
Silverman's for the true links, for u too: u has n times as many pairs, and only a ratio of densities that are smoothed
alike is free of bumps of its own. Kernels end at five bandwidths, and a value is shared out between the two nearest
points of a grid with 16 points to a bandwidth. Everything here is about the pairs of one group.
Seri and Polettini (2003), CASC deliverable 5-D5; Fellegi and Sunter (1969), A theory for record linkage. JASA 64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.distance.critical import most_counted
from tacita.distance.histogram import SMALLEST, Distribution, distribution, smallest_positive
from tacita.distance.sweep import Pairs, sweep

TAIL = 5.0
"""Bandwidths at which a kernel ends."""
FINENESS = 16
"""Points of the grid to a bandwidth."""
NARROWEST = 2.0**-13
"""The bandwidth is not smaller, nor a smaller part of the range of log z over the true links."""
NEVER = -700.0
"""The logarithm of t where m is 0."""


class Densities(NamedTuple):
    """m and u on a grid, their ratio t, and where t is above its critical value tau."""

    log_z: Floats
    """The grid: where m is not 0."""
    m: Floats
    """By point of the grid: density of log z over the true links."""
    u: Floats
    """By point of the grid: density of log z over the pairs of different records."""
    bandwidth: float
    zero: float
    """What z = 0 was moved to; 0 if no z is 0."""
    tau: float
    """The critical value: t > tau for alpha of the pairs of different records, or for the most possible below."""
    region: Floats
    """One row for each interval low <= z < high in which t > tau, in ascending order."""
    width: float
    """Bins on the log scale in which pairs were taken to be spread evenly; 0 if tau is exact."""

    def ratio(self, z: Floats) -> Floats:
        """t(z) = m(z) / u(z), its logarithm interpolated between the points of the grid."""
        return _ratio(z, self.zero, self.log_z, _log_ratio(self.m, self.u))


def densities(given: Pairs, alpha: float = 0.05, *, sample: int | None = None) -> Densities:
    """m, u, t and tau of the pairs of a group; with `sample`, u from so many pairs instead of all of them.

    >>> from tacita.distance.sweep import pairs
    >>> x = np.arange(100.0, 200.0)[:, None]
    >>> densities(pairs(x + 0.5, x), alpha=0.05).region.round(3).tolist()
    [[0.002, 0.006]]
    """
    return densities_and_pairs(given, alpha, sample=sample)[0]


def densities_and_pairs(
    given: Pairs, alpha: float = 0.05, *, sample: int | None = None
) -> tuple[Densities, Distribution]:
    """`densities`, and z of the pairs of different records that u was estimated from."""
    zero = _zero(given)
    true = np.where(given.true == 0, zero, given.true)
    true = np.sort(np.log(true[np.isfinite(true)]))  # sorted: sums must not depend on the order of a file
    bandwidth = silverman(true)
    grid = _grid(true, bandwidth)
    # Beyond the grid m and t are 0; u is felt from one kernel further on.
    most = np.exp(grid[-1] + TAIL * bandwidth) if np.isfinite(given.true).all() else np.inf
    other = distribution(given, bandwidth / 4.0, most, sample=sample)
    z, count = other.spread()
    m = smoothed(true, np.ones(len(true)), grid, bandwidth) / len(given.true)
    u = smoothed(np.log(np.where(z == 0, zero, z)), count, grid, bandwidth) / max(other.pairs, 1)
    ratio = _log_ratio(m, u)
    tau = _critical_ratio(_ratio(z, zero, grid, ratio), count, most_counted(alpha, other.pairs))
    return Densities(grid, m, u, bandwidth, zero, tau, _region(grid, ratio, tau, zero), other.width), other


def silverman(values: Floats) -> float:
    """Silverman's bandwidth 0.9 min(sd, IQR / 1.34) n^(-1/5), the sd alone if the quartiles are equal.

    >>> round(silverman(np.arange(32.0)), 3)
    4.221
    """
    if len(values) < 2:
        return NARROWEST
    spread = float(np.std(values, ddof=1))
    first, third = np.quantile(values, [0.25, 0.75])
    between = float(third - first) / 1.34
    scale = min(spread, between) if between > 0 else spread
    rule: float = 0.9 * scale * len(values) ** -0.2
    return max(rule, NARROWEST, NARROWEST * float(np.ptp(values)))


def smoothed(values: Floats, count: Floats, grid: Floats, bandwidth: float) -> Floats:
    """On a grid of even steps: the sum over the values of count times a Gaussian kernel.

    >>> grid = np.linspace(-1.0, 1.0, 201)
    >>> float(smoothed(np.array([0.0]), np.array([1.0]), grid, 0.1)[100].round(3))
    3.989
    """
    step = (grid[-1] - grid[0]) / (len(grid) - 1)
    reach = int(np.ceil(TAIL * bandwidth / step))
    size = len(grid) + 2 * reach
    place = (values - grid[0]) / step + reach
    felt = (place >= 0) & (place < size - 1)
    left, count = place[felt].astype(np.int64), count[felt]
    right = place[felt] - left
    mass = np.bincount(left, count * (1.0 - right), size) + np.bincount(left + 1, count * right, size)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / bandwidth) ** 2)
    result: Floats = np.convolve(mass, kernel / (np.sqrt(2.0 * np.pi) * bandwidth), mode="valid")
    return result


def _zero(given: Pairs) -> float:
    """Half the smallest positive z if any z is 0, else 0."""
    if not sweep(given, SMALLEST).below.any():
        return 0.0
    smallest = smallest_positive(given)
    return smallest / 2.0 if np.isfinite(smallest) else 1.0


def _grid(true: Floats, bandwidth: float) -> Floats:
    step = bandwidth / FINENESS
    first = float(true.min()) if len(true) else 0.0
    reach = float(np.ptp(true)) if len(true) else 0.0
    margin = TAIL * bandwidth + 4.0 * step  # so that m is 0 at both ends: two steps for sharing out, two for rounding
    return np.asarray(first - margin + step * np.arange(int((reach + 2.0 * margin) / step) + 2), dtype=np.float64)


def _log_ratio(m: Floats, u: Floats) -> Floats:
    tiny = np.exp(NEVER)
    return np.where(m > 0, np.log(np.maximum(m, tiny)) - np.log(np.maximum(u, tiny)), NEVER)


def _ratio(z: Floats, zero: float, grid: Floats, ratio: Floats) -> Floats:
    return np.exp(np.interp(np.log(np.where(z == 0, zero, z)), grid, ratio, left=NEVER, right=NEVER))


def _critical_ratio(ratio: Floats, count: Floats, wanted: int) -> float:
    """Tau midway between the smallest t counted and the greatest not counted; twice that if none can be counted."""
    if not len(ratio):
        return np.inf
    order = np.argsort(-ratio)
    ratio, upto = ratio[order], np.cumsum(count[order])
    first = int(np.searchsorted(upto, wanted, side="right"))
    greatest = float(ratio[first]) if first < len(ratio) else float(np.exp(NEVER))
    counted = ratio[ratio > greatest]
    return greatest + (float(counted[-1]) - greatest) / 2.0 if len(counted) else 2.0 * greatest


def _region(grid: Floats, ratio: Floats, tau: float, zero: float) -> Floats:
    """The intervals of z in which t > tau."""
    level = max(np.log(tau), NEVER) if tau > 0 else NEVER
    above = ratio > level
    change = np.flatnonzero(above[1:] != above[:-1])
    if not len(change):
        return np.empty((0, 2))
    left, right = ratio[change], ratio[change + 1]
    crossing = grid[change] + (grid[change + 1] - grid[change]) * (level - left) / (right - left)
    region = np.exp(crossing).reshape(-1, 2)
    # No pair has a z between 0 and twice `zero`, which stands for 0.
    region[(region[:, 0] <= zero) & (zero < region[:, 1]), 0] = 0.0
    return region


def in_region(z: Floats, region: Floats) -> Bools:
    """Whether z is in one of the intervals."""
    inside = np.zeros(len(z), np.bool_)
    for low, high in region:
        inside |= (low <= z) & (z < high)
    return inside


def likely_neighbours(given: Pairs, region: Floats) -> tuple[Ints, Bools]:
    """By row: how many originals have t > tau, its own included if it has; and whether its own has."""
    count, inside = np.zeros(len(given.norm), np.int64), np.zeros(len(given.norm), np.bool_)
    for low, high in region:
        count[given.released.order] += sweep(given, high).below - (sweep(given, low).below if low > 0 else 0)
    inside[given.released.order] = in_region(given.true, region)
    return count, inside


class KolmogorovSmirnov(NamedTuple):
    """How far apart the distributions of z over true links and over other pairs are: 0 not at all, 1 altogether."""

    distance: float
    """The greatest difference D of the two distribution functions, at the ends of bins if there are bins."""
    error: float
    """D is at most this much greater because of the bins, or likely so because of the sample; 0 without either."""
    log_p: float
    """ln p = ln 2 - 2 D^2 n1 n2 / (n1 + n2), at most 0. Nominal, since the z of pairs that share a record depend."""


def kolmogorov_smirnov(given: Pairs, other: Distribution) -> KolmogorovSmirnov:
    """The Kolmogorov-Smirnov distance of z over the true links and over the pairs of different records.

    >>> from tacita.distance.sweep import pairs
    >>> x = np.array([[10.0], [20.0], [40.0]])
    >>> given = pairs(x * 1.01, x)
    >>> kolmogorov_smirnov(given, distribution(given, 0.1)).distance
    1.0
    """
    true, n = np.sort(given.true), len(given.true)
    if not other.pairs:
        return KolmogorovSmirnov(0.0, 0.0, 0.0)
    # Both distribution functions before and after each value or bin, the last one before infinity.
    low, high, count = other.low, other.high, other.count
    if not len(low) or np.isfinite(low[-1]):
        low, high, count = np.append(low, np.inf), np.append(high, np.inf), np.append(count, 0.0)
    upto = np.concatenate([[0.0], np.cumsum(count)])[:-1] / other.pairs
    before = np.searchsorted(true, low, side="left") / n
    after, upto_after = np.searchsorted(true, high, side="right") / n, np.append(upto[1:], 1.0)
    distance = float(max(np.abs(before - upto).max(), np.abs(after - upto_after).max()))
    bin = high > low
    most = float(max(distance, (after - upto)[bin].max(initial=0.0), (upto_after - before)[bin].max(initial=0.0)))
    exponent = 2.0 * distance**2 * n * other.pairs / (n + other.pairs)
    return KolmogorovSmirnov(distance, most - distance + other.error, float(min(0.0, np.log(2.0) - exponent)))
