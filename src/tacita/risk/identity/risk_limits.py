"""What a limit on the individual risk asks of counts: how many must look alike, and what no file of this size keeps."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats
from tacita.risk.identity.individual_risk import IndividualRisk, risk_of_counts

ALIKE = 1e-9
"""Sampling probabilities that differ by less are one."""


def least_count(risk: IndividualRisk, limit: float) -> int | None:
    """The least f for which a record keeps a limit of individual risk; None where that depends on more than f.

    Without weights risk is 1/f, so that 0.1 asks for 10 records; with weights of their own records need different f.
    """
    p, attack = risk.table.sampling_probability, risk.attack
    if risk.by_record or risk.table.source == "register" or np.ptp(p) > ALIKE or np.ptp(attack) > ALIKE:
        return None

    def kept(f: int) -> bool:
        return float(_risk(risk, np.array([float(f)]), p[:1])[0] * attack[0]) <= limit

    high = 1
    while not kept(high):
        if high > 2**40:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def risk_alike(risk: IndividualRisk) -> float:
    """The risk of every record if all keys were missing: no suppression or recoding brings it lower."""
    table = risk.table
    total = float((table.records / table.sampling_probability).sum())
    f = np.array([float(table.units)])
    p = np.minimum(1.0, f / max(total * table.units / table.size, 1.0))
    # Of a record that nobody is less likely to try.
    return float(_risk(risk, f, p)[0]) * float(risk.attack.min(initial=1.0))


def _risk(risk: IndividualRisk, f: Floats, p: Floats) -> Floats:
    return risk_of_counts(f, p, risk.method if risk.quantile is None else "exact", risk.quantile)
