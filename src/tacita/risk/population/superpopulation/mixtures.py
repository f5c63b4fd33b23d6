"""Poisson mixtures as superpopulation models: Poisson-gamma and Poisson-inverse Gaussian.

Each of K cells has a rate of its own, drawn from a gamma or an inverse Gaussian distribution; the population count F of
a cell is Poisson with that rate, and the sample count f is Poisson with pi times it. So f and F follow one law, with
means that differ by the factor pi, and what is fitted to the sample counts holds for the population.

K is either given, the cells of the cross-classification of the keys, of which K - u are empty in the sample; or it is
not, and the law is fitted to the occupied cells alone (zero-truncated) and says itself how many there must be.

References: Bethlehem, Keller and Pannekoek (1990), Disclosure control of microdata, JASA 85; Carlson (2002), Assessing
microdata disclosure risk using the Poisson-inverse Gaussian distribution, Statistics in Transition 5(6).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from tacita.arrays import Floats, Ints
from tacita.risk.population.superpopulation.models import Estimate, SampleSizes, estimate, superpopulation_model
from tacita.risk.population.superpopulation.numerics import harmonic, highest, score_root

POISSON = "no spread between cells, the edge of the model: the counts are as if Poisson with one rate"
ENDLESS = "the number of cells is infinite, the edge of the model"
NO_CELLS = "the model needs the number of cells"
LOOP_TO = 300
"""Up to this count probabilities follow from the ones before, beyond it from an expansion exact to 1e-12."""


def gamma_uniques(alpha: float, odds: float, cells: float) -> float:
    """K P(F = 1), F negative binomial: K alpha o (1+o)^-(1+alpha) with o = N beta."""
    return cells * alpha * odds * math.exp(-(1.0 + alpha) * math.log1p(odds))


@superpopulation_model("poisson_gamma", all_unique=False)
def poisson_gamma(sizes: SampleSizes) -> Estimate:
    """Bethlehem, Keller and Pannekoek (1990) on K cells with alpha beta = 1/K, by maximum likelihood.

    The score is sum_i s_i sum_{j<i} 1/(alpha+j) - K ln(1 + n/(K alpha)); uniques are N (1 + N beta)^-(1+alpha).
    """
    cells, records = sizes.cells, sizes.records
    if not math.isfinite(cells):
        return estimate(sizes, math.nan, converged=False, reason=NO_CELLS)

    def score(alpha: float) -> float:
        return float((sizes.keys * harmonic(alpha, sizes.size)).sum() - cells * math.log1p(records / (cells * alpha)))

    found = score_root(score, 1e-4 * sizes.occupied / cells, 1e8)
    if found.end == "high" or sizes.pairs <= records**2 / cells:
        uniques = sizes.population * math.exp(-sizes.population / cells)
        return estimate(sizes, uniques, reason=POISSON, alpha=math.inf, beta=0.0, cells=cells)
    beta = 1.0 / (cells * found.value)
    uniques = gamma_uniques(found.value, sizes.population * beta, cells)
    return estimate(sizes, uniques, alpha=found.value, beta=beta, cells=cells)


def truncated_odds(alpha: float, mean: float) -> float:
    """The odds o = n beta at which the mean of an occupied cell, alpha o / (1 - (1+o)^-alpha), is the observed one."""

    def excess(logarithm: float) -> float:
        odds = math.exp(logarithm)
        return math.log(alpha * odds / -math.expm1(-alpha * math.log1p(odds)) / mean)

    low, high = -1.0, 1.0
    while excess(low) >= 0.0:
        low -= 4.0
    while excess(high) <= 0.0:
        high += 4.0
    return math.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


@superpopulation_model("poisson_gamma_truncated")
def poisson_gamma_truncated(sizes: SampleSizes) -> Estimate:
    """The Poisson-gamma model fitted to the occupied cells alone, the number of cells being estimated."""
    keys = sizes.occupied
    mean = sizes.records / keys

    def score(alpha: float) -> float:
        logarithm = math.log1p(truncated_odds(alpha, mean))
        given = float((sizes.keys * harmonic(alpha, sizes.size)).sum())
        return given + keys * logarithm / math.expm1(-alpha * logarithm)

    found = score_root(score, 1e-8, 1e6)
    alpha = found.value
    odds = truncated_odds(alpha, mean)
    cells = keys / -math.expm1(-alpha * math.log1p(odds))
    reason = {"inside": "", "low": ENDLESS, "high": POISSON}[found.end]
    uniques = gamma_uniques(alpha, odds / sizes.fraction, cells)
    return estimate(sizes, uniques, reason=reason, alpha=alpha, beta=odds / sizes.records, cells=cells)


def log_inverse_gaussian(count: Ints, mean: float, dispersion: float) -> Floats:
    """ln P(f = r), f Poisson-inverse Gaussian with this mean m and variance m (1 + d), for r > 0 in ascending order.

    The generating function is exp{[1 - sqrt(1 + 2 b m (1-s))]/b} with b = d/m.
    """
    near = count[count <= LOOP_TO]
    logs = log_upwards(int(near.max(initial=0)), mean, dispersion)[near]
    return np.concatenate([logs, log_expanded(count[count > LOOP_TO], mean, dispersion)])


def log_upwards(most: int, mean: float, dispersion: float) -> Floats:
    """ln P(0), ..., ln P(most) by p_r = A (1 - 3/(2r)) p_{r-1} + B p_{r-2} / (r(r-1)), as ratios, which never vanish.

    All terms are above 0 for r > 1, so nothing cancels. Willmot (1987), The Poisson-inverse Gaussian distribution as an
    alternative to the negative binomial, Scandinavian Actuarial Journal.
    """
    square = 1.0 + 2.0 * dispersion
    root = math.sqrt(square)
    first, second = 2.0 * dispersion / square, mean**2 / square
    ratios = [mean / root]
    for r in range(2, most + 1):
        ratios.append(first * (1.0 - 1.5 / r) + second / (r * (r - 1) * ratios[-1]))
    return np.cumsum(np.concatenate([[-2.0 * mean / (1.0 + root)], np.log(ratios)]))


def log_expanded(count: Ints, mean: float, dispersion: float) -> Floats:
    """ln P(f = r) for large r: a Bessel function K_{r-1/2}(c m/d), c^2 = 1 + 2d, by its uniform expansion.

    Abramowitz and Stegun 9.7.8; m/d cancels against the argument before anything large is computed.
    """
    root = math.sqrt(1.0 + 2.0 * dispersion)
    x, order = root * mean / dispersion, count - 0.5
    radius = np.hypot(order, x)
    t = order / radius
    s = t**2
    first = t * (3 - 5 * s) / 24
    second = s * (81 + s * (-462 + 385 * s)) / 1152
    third = t * s * (30375 + s * (-369603 + s * (765765 - 425425 * s))) / 414720
    fourth = s**2 * (4465125 + s * (-94121676 + s * (349922430 + s * (-446185740 + 185910725 * s)))) / 39813120
    series = 1 + (-first + (second + (-third + fourth / order) / order) / order) / order
    exponent = order**2 / (radius + x) + 2.0 * mean / (1.0 + root) + order * np.log(x / (order + radius) * root / mean)
    return np.asarray(
        np.log(series) - exponent - gammaln(count + 1.0) + math.log(mean) - 0.5 * np.log(dispersion * radius)
    )


def inverse_gaussian_uniques(mean: float, dispersion: float, cells: float) -> float:
    """K P(F = 1) = K M (1+2D)^(-1/2) exp{-2M / (1 + sqrt(1+2D))}, M and D being those of the population."""
    root = math.sqrt(1.0 + 2.0 * dispersion)
    return cells * mean / root * math.exp(-2.0 * mean / (1.0 + root))


@superpopulation_model("poisson_inverse_gaussian", all_unique=False)
def poisson_inverse_gaussian(sizes: SampleSizes) -> Estimate:
    """Carlson (2002) on K cells, by maximum likelihood: the mean is n/K, the spread is searched for."""
    cells = sizes.cells
    if not math.isfinite(cells):
        return estimate(sizes, math.nan, converged=False, reason=NO_CELLS)
    mean, empty = sizes.records / cells, cells - sizes.occupied

    def likelihood(dispersion: float) -> float:
        none = -2.0 * mean / (1.0 + math.sqrt(1.0 + 2.0 * dispersion))
        return float((sizes.keys * log_inverse_gaussian(sizes.size, mean, dispersion)).sum() + empty * none)

    found = highest(likelihood, 1e-8, 1e10, points=73)
    reason = POISSON if found.end == "low" else ""
    population_mean, dispersion = mean / sizes.fraction, found.value / sizes.fraction
    uniques = inverse_gaussian_uniques(population_mean, dispersion, cells)
    return estimate(sizes, uniques, reason=reason, b=found.value / mean, m=population_mean, cells=cells)


def truncated_mean(missing: float, mean: float) -> tuple[float, float]:
    """Mean and dispersion of the law whose P(0) is e^-t and whose occupied cells have the observed mean count.

    P(0) = exp(-k m) with k = 2/(1 + sqrt(1+2d)), and m / (1 - P(0)) is to be the observed mean.
    """
    slope = missing / (mean * -math.expm1(-missing))
    root = 2.0 / slope - 1.0
    return missing / slope, (root**2 - 1.0) / 2.0


@superpopulation_model("poisson_inverse_gaussian_truncated")
def poisson_inverse_gaussian_truncated(sizes: SampleSizes) -> Estimate:
    """The Poisson-inverse Gaussian fitted to the occupied cells alone, the number of cells being estimated."""
    keys = sizes.occupied
    average = sizes.records / keys

    def likelihood(missing: float) -> float:
        mean, dispersion = truncated_mean(missing, average)
        logs = log_inverse_gaussian(sizes.size, mean, dispersion)
        return float((sizes.keys * logs).sum()) - keys * math.log(-math.expm1(-missing))

    # With t = -ln P(0) beyond this the counts would be less spread than Poisson ones.
    most = brentq(lambda t: t / -math.expm1(-t) - average, 1e-12, average + 1.0, xtol=1e-15)
    found = highest(likelihood, 1e-9, most * (1.0 - 1e-9))
    mean, dispersion = truncated_mean(found.value, average)
    cells = keys / -math.expm1(-found.value)
    reason = {"inside": "", "low": ENDLESS, "high": POISSON}[found.end]
    uniques = inverse_gaussian_uniques(mean / sizes.fraction, dispersion / sizes.fraction, cells)
    return estimate(sizes, uniques, reason=reason, b=dispersion / mean, m=mean / sizes.fraction, cells=cells)
