"""Compiled integrals of 1/F, F = f + X with X negative binomial, by Gauss' rule on a logarithmic scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled

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
            result[k, 1] = 1.0 / f[k] ** 2
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
    return -np.expm1(log_ratio) * (1.0 + odds) / odds
