"""Pitman's sampling formula and the Dirichlet-multinomial: models of how a sample falls into keys.

Both are one family, the probability of a partition of n records into u keys of sizes f_1, ..., f_u

    prod_{i=1}^{u-1} (theta + i a) / prod_{i=1}^{n-1} (theta + i)  x  prod_k (1-a)(2-a)...(f_k-1-a),

Pitman's model with 0 <= a < 1 and theta > -a (without end new keys), the Dirichlet-multinomial with K cells as
a = -alpha, theta = K alpha. A part of a population that follows it follows it too, and so the parameters of the sample
are those of the population, whose expected number of uniques is N B(theta+a+N-1, 1-a) / B(theta+a, 1-a).

References: Pitman (1995), Exchangeable and partially exchangeable random partitions, Probability Theory and Related
Fields 102; Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
Official Statistics 17(4); Takemura (1999), Some superpopulation models for estimating the number of population uniques,
Statistical Data Protection, Eurostat.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln

from tacita.risk.population.superpopulation.models import Estimate, SampleSizes, estimate, superpopulation_model
from tacita.risk.population.superpopulation.numerics import harmonic, score_root

NEAREST_ONE = 1.0 - 1e-12


def expected_uniques(a: float, theta: float, population: float) -> float:
    """Expected number of units that are alone in their key among N: N B(theta+a+N-1, 1-a) / B(theta+a, 1-a).

    The same as N Gamma(theta+1) Gamma(theta+a+N-1) / (Gamma(theta+a) Gamma(theta+N)), in a form that keeps its digits
    for large N.
    """
    if theta + a <= 0.0:  # one cell: everybody is in it
        return 0.0
    logarithm = betaln(theta + a + population - 1.0, 1.0 - a) - betaln(theta + a, 1.0 - a)
    return float(population * math.exp(logarithm))


def pitman_theta(a: float, keys: int, records: int) -> float:
    """The most likely theta for a given a: sum_{i=1}^{u-1} 1/(theta+ia) = sum_{i=1}^{n-1} 1/(theta+i).

    For 1 < u < n the left side is greater near theta = -a and smaller for large theta.
    """

    def excess(logarithm: float) -> float:
        shifted = math.exp(logarithm)  # theta + a, which is above 0
        return new_keys(a, shifted - a, keys) - float(harmonic(1.0 + shifted - a, records - 1))

    low, high = -1.0, 1.0
    while excess(low) <= 0.0:
        low -= 4.0
    while excess(high) >= 0.0:
        high += 4.0
    return math.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)) - a


def new_keys(a: float, theta: float, keys: int) -> float:
    """sum_{i=1}^{u-1} 1/(theta + i a)."""
    if a * keys < 1e-12 * theta:
        return (keys - 1) / theta
    return float(harmonic(theta / a + 1.0, keys - 1)) / a


def pitman_score(sizes: SampleSizes, a: float, theta: float) -> float:
    """The derivative of the log-likelihood by a: sum_{i=1}^{u-1} i/(theta+ia) - sum_i s_i sum_{j=1}^{i-1} 1/(j-a)."""
    i = np.arange(1.0, sizes.occupied)
    return float((i / (theta + i * a)).sum() - (sizes.keys * harmonic(1.0 - a, sizes.size - 1)).sum())


@superpopulation_model("pitman")
def pitman(sizes: SampleSizes) -> Estimate:
    """Pitman's model (Hoshino 2001), by maximum likelihood.

    theta is eliminated by its own equation for each a; the other equation is then solved for a between 0 and 1.
    """
    keys, records = sizes.occupied, sizes.records

    def score(a: float) -> float:
        return pitman_score(sizes, a, pitman_theta(a, keys, records))

    if score(0.0) <= 0.0:
        a, reason = 0.0, "a = 0, the edge of the model (Ewens): key sizes are more even than it allows inside"
    else:
        a, reason = float(brentq(score, 0.0, NEAREST_ONE, xtol=1e-14, rtol=1e-14)), ""
    theta = pitman_theta(a, keys, records)
    return estimate(sizes, expected_uniques(a, theta, sizes.population), reason=reason, a=a, theta=theta)


def dirichlet_score(sizes: SampleSizes, alpha: float) -> float:
    """The derivative of the log-likelihood by alpha: sum_i s_i sum_{j<i} 1/(alpha+j) - K sum_{j<n} 1/(K alpha+j)."""
    cells = sizes.cells
    return float((sizes.keys * harmonic(alpha, sizes.size)).sum() - cells * harmonic(cells * alpha, sizes.records))


@superpopulation_model("dirichlet_multinomial", all_unique=False)
def dirichlet_multinomial(sizes: SampleSizes) -> Estimate:
    """The Dirichlet-multinomial on K cells (Takemura 1999), by maximum likelihood: Poisson-gamma given the totals."""
    if not math.isfinite(sizes.cells):
        return estimate(sizes, math.nan, converged=False, reason="the model needs the number of cells")
    found = score_root(lambda alpha: dirichlet_score(sizes, alpha), 1e-4 * sizes.occupied / sizes.cells, 1e8)
    if found.end == "high" or sizes.pairs <= sizes.records * (sizes.records - 1) / sizes.cells:
        others = (sizes.population - 1.0) * math.log1p(-1.0 / sizes.cells) if sizes.cells > 1.0 else -math.inf
        uniques = sizes.population * math.exp(others)
        reason = "alpha is infinite, the edge of the model: the cells are filled as if all were equally likely"
        return estimate(sizes, uniques, reason=reason, alpha=math.inf, cells=sizes.cells)
    alpha = found.value
    uniques = expected_uniques(-alpha, sizes.cells * alpha, sizes.population)
    return estimate(sizes, uniques, alpha=alpha, cells=sizes.cells)
