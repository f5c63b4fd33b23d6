"""For how much each released record counts, in whole numbers that add up to the same sum in any order."""

from __future__ import annotations

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import population_weights, row_weights
from tacita.scenario import Scenario

WEIGHT_BITS = 61
"""Sums of weights as whole numbers stay below two to this power."""


def amounts_of(released: Data, scenario: Scenario, weighted: bool) -> tuple[Ints, float]:
    """By released record 1 and, where weights count, its weight as a whole number, and what that number stands for."""
    ones = np.ones(len(released), dtype=np.int64) if released.repeats is None else released.repeats
    ones = ones[:, None]
    if not weighted:
        return ones, 1.0
    if scenario.weight is not None:
        check.columns_exist("weight", (scenario.weight,), released.columns)
    weights: Floats | None = population_weights(released, scenario)
    if weights is None:
        raise TacitaError("weighted=True needs weights; pass weight=... in the scenario.")
    weights = row_weights(released, scenario) if released.condensed is not None else weights
    bits = WEIGHT_BITS - int(np.ceil(np.log2(float(weights.max()) * len(weights) + 1.0)))
    return np.column_stack([ones, np.rint(np.ldexp(weights, bits)).astype(np.int64)]), 2.0**-bits
