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

    E(1/F) = integral_0^1 (1-x)^(f-1) (1+odds x)^(-shape) dx, with y = log(1+odds x); E(1/F^2) has -log(1-x) besides,
    whose pole at x = 1 counts for small f: the nodes then gather there.
    """
    for k in range(len(f)):
        if odds[k] < 1e-14:
            result[k, 0] = 1.0 / f[k]
            result[k, 1] = 1.0 / f[k] ** 2
            continue
        end = np.log1p(odds[k])
        steep = shape[k] - 1.0 + (f[k] - 1.0) / odds[k]
        if steep * end > NEGLIGIBLE:
            end = NEGLIGIBLE / steep
        first_moment, second_moment = 0.0, 0.0
        for i in range(len(nodes)):
            y = end * nodes[i]
            x = np.expm1(y) / odds[k]
            first_moment += weights[i] * np.exp((f[k] - 1.0) * np.log1p(-min(x, 1.0 - 1e-16)) - (shape[k] - 1.0) * y)
            if second:
                rest = (1.0 - nodes[i]) ** 3
                y = end * (1.0 - rest) if f[k] < 4.0 else y
                # Near x = 1 the distance from 1 counts, not x.
                gap = -np.expm1(y - np.log1p(odds[k])) * (1.0 + odds[k]) / odds[k]
                if gap > 0.0:
                    width = 3.0 * (1.0 - nodes[i]) ** 2 if f[k] < 4.0 else 1.0
                    log = np.log(gap)
                    second_moment -= weights[i] * width * log * np.exp((f[k] - 1.0) * log - (shape[k] - 1.0) * y)
        result[k, 0] = end * first_moment / odds[k]
        result[k, 1] = end * second_moment / odds[k]
