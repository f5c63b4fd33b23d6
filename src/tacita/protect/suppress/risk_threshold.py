"""Individual risk as a limit for suppression: which risk of a correct link each record may keep."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats
from tacita.protect.suppress.sweep import Risk
from tacita.risk.identity.negative_binomial import expected_reciprocal


def link_risk(ratio: float | None, model: str = "M3") -> Risk:
    """The risk of a correct link in a group, E[1/F | f], of its records and its sum of weights.

    `ratio` is N/n where there are no weights (1 for a census). Under M2 the intruder tries in proportion to f/F.

    >>> link_risk(10.0)(np.array([1.0, 2.0]), np.array([1.0, 2.0])).round(4).tolist()
    [0.2558, 0.0827]
    """

    def risk(f: Floats, weight: Floats) -> Floats:
        p = np.minimum(1.0, f / (weight if ratio is None else f * ratio))
        found = expected_reciprocal(f, p)
        return found * p if model == "M2" else found

    return risk


def tried(model: str, size: int, probability: float | None, weights: Floats | None) -> Floats:
    """By record: the probability that the intruder tries it; under M2 that is part of the risk of a link."""
    if model == "M1":
        return np.full(size, 1.0 / size)
    if model == "M4":
        return np.full(size, float(probability or 0.0))
    if model == "M5" and weights is not None:
        return np.minimum(1.0, 1.0 / weights)
    return np.ones(size)


def link_limits(limit: float | Floats, attack: Floats) -> Floats:
    """By record: the greatest risk of a correct link for which the risk of re-identification is within its limit."""
    limits = np.full(len(attack), np.inf)
    np.divide(limit, attack, out=limits, where=attack > 0)
    return limits
