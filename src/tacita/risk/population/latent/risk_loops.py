"""Compiled integrals of 1/F, F = f + X, by Gauss' rule on a logarithmic scale; X is a mixture of Poisson counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled
from tacita.risk.population.latent.law_loops import log_none

NEGLIGIBLE = 45.0
"""The integral stops where the integrand has fallen by this many orders of e."""


@compiled
def reciprocal_moments(f: Any, shape: Any, odds: Any, nodes: Any, weights: Any, second: bool, result: Any) -> None:
    """E(1/F) and, if asked for, E(1/F^2) into the columns of `result`.

    E(1/F) = integral_0^1 (1-x)^(f-1) (1+odds x)^(-shape) dx, with y = log(1+odds x); E(1/F^2) has -log(1-x) besides.
    """
    for k in range(len(f)):
        if odds[k] < 1e-14:
            result[k, 0] = 1.0 / f[k]
            result[k, 1] = 1.0 / (f[k] * f[k])
            continue
        whole = np.log1p(odds[k])
        steep = shape[k] - 1.0 + (f[k] - 1.0) / odds[k]
        end = min(whole, NEGLIGIBLE / steep) if steep > 0.0 else whole
        # The integrand has no Taylor series at x = 1 if f is no whole number, or with the logarithm; small f feel it.
        few = f[k] < 4.0
        for moment in range(2 if second else 1):
            gather = few and (moment == 1 or f[k] != np.rint(f[k]))
            total = 0.0
            for i in range(len(nodes)):
                rest = 1.0 - nodes[i]
                y = end * (1.0 - rest * rest) if gather else end * nodes[i]
                width = 2.0 * rest if gather else 1.0
                # 1 - x, from the side where nothing is lost.
                log = np.log1p(-np.expm1(y) / odds[k]) if y < 0.5 * whole else np.log(_left(y - whole, odds[k]))
                value = width * np.exp((f[k] - 1.0) * log - (shape[k] - 1.0) * y)
                total += weights[i] * (-log * value if moment == 1 else value)
            result[k, moment] = end * total / odds[k]


@compiled
def _left(log_ratio: float, odds: float) -> float:
    """1 - x where 1 + odds x is the upper end times e^log_ratio."""
    return float(-np.expm1(log_ratio) * (1.0 + odds) / odds)


@compiled
def _row(most: Any, mean: float, shape: float, index: float, power: Any, p: Any) -> float:
    """P(k)/P(0) for k up to `most`, without derivatives, up to a factor; the logarithm of P(0) times that factor."""
    ratio = mean / shape
    first = mean * np.exp((index - 1.0) * np.log1p(ratio))
    step = ratio / (1.0 + ratio)
    logarithm = log_none(mean, shape, index)
    p[0] = 1.0
    for k in range(most):
        total, decay = 0.0, 1.0
        for j in range(k + 1):
            total += power[j] * decay * p[k - j]
            decay *= step
        p[k + 1] = first / (k + 1) * total
        if p[k + 1] > 1e250:
            greatest = p[k + 1]
            logarithm += np.log(greatest)
            for j in range(k + 2):
                p[j] /= greatest
    return logarithm


@compiled
def power_figures(
    f: Any, shown: Any, mean_weight: Any, mean: Any, shape: Any, index: float, power: Any, nodes: Any, weights: Any,
    integrals: bool, second: bool, p: Any, result: Any,
) -> None:  # fmt: skip
    """E(1/F) and E(1/F^2) where rates are of another index than 0, log P(F = f), and E(F - f).

    With s = shown + (mean weight - shown) x the integrand is (1-x)^(f-1) E(rate^f e^(-s rate)) / E(rate^f e^(-shown
    rate)), and E(rate^f e^(-s rate)) is P(f) of a count with exposure s, times f!/s^f. `p` has room for chances.
    """
    for k in range(len(f)):
        count, exposed, others = np.int64(f[k]), shown[k], mean_weight[k] - shown[k]
        if others <= 0.0 or mean_weight[k] <= 1.0:
            result[k, 0], result[k, 1] = 1.0 / f[k], 1.0 / (f[k] * f[k])
            result[k, 2], result[k, 3] = 0.0, 0.0
            continue
        logarithm = _row(count + 1, exposed * mean[k], shape[k], index, power, p)
        known = np.log(p[count]) + logarithm - count * np.log(exposed)
        rate = (count + 1) * p[count + 1] / (p[count] * exposed)
        logarithm = _row(count, mean_weight[k] * mean[k], shape[k], index, power, p)
        result[k, 2] = np.log(p[count]) + logarithm - count * np.log(mean_weight[k]) - known
        result[k, 3] = others * rate
        if not integrals:
            continue
        if count > 1 or second:
            _integrate(
                k, f[k], exposed, others, mean[k], shape[k], index, rate, known, nodes, weights, power, p, result
            )
        if count == 1:
            # The integrand is a derivative.
            none = log_none(exposed * mean[k], shape[k], index)
            fallen = np.expm1(log_none(mean_weight[k] * mean[k], shape[k], index) - none)
            result[k, 0] = -np.exp(none - known) * fallen / others


@compiled
def _integrate(
    k: int, f: float, exposed: float, others: float, mean: float, shape: float, index: float, rate: float,
    known: float, nodes: Any, weights: Any, power: Any, p: Any, result: Any,
) -> None:  # fmt: skip
    """Both moments of 1/F into row `k` of the result."""
    count, odds = np.int64(f), others / (shape / mean + exposed)
    whole = np.log1p(odds)
    # The integrand falls at least as fast as at its beginning.
    steep = rate * others / odds - 1.0 + (f - 1.0) / odds
    end = min(whole, NEGLIGIBLE / steep) if steep > 0.0 else whole
    result[k, 0], result[k, 1] = 0.0, 0.0
    for i in range(len(nodes)):
        # Squared distances from the upper end, as the logarithm of 1 - x has a pole there.
        rest = 1.0 - nodes[i]
        y = end * (1.0 - rest * rest)
        log = np.log1p(-np.expm1(y) / odds) if y < 0.5 * whole else np.log(_left(y - whole, odds))
        s = exposed + others * np.expm1(y) / odds
        logarithm = _row(count, s * mean, shape, index, power, p)
        value = np.exp((f - 1.0) * log + np.log(p[count]) + logarithm - count * np.log(s) - known + y)
        value *= 2.0 * rest * weights[i] * end / odds
        result[k, 0] += value
        result[k, 1] -= log * value


@compiled
def odds_of(mean: Any, log_none_: Any, result: Any) -> None:
    """The odds of negative binomial counts with a mean and log P(0): log(1 + odds)/odds = -log P(0)/mean."""
    for k in range(len(mean)):
        if mean[k] <= 0.0:
            result[k] = 0.0
            continue
        wanted = min(max(-log_none_[k] / mean[k], 1e-12), 1.0)
        low, high = -30.0, 40.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            odds = np.exp(middle)
            if np.log1p(odds) / odds > wanted:
                low = middle
            else:
                high = middle
        result[k] = np.exp(low)
