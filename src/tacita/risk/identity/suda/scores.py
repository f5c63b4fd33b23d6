"""The scores of SUDA: what a minimal sample unique counts, and how sure a unique match is."""

from __future__ import annotations

from math import comb, fsum, prod

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.source import WEIGHT_BITS, as_float, group_sums
from tacita.keys.table import population_weights
from tacita.scenario import Scenario

NO_DIS = 28
"""From so many keys on the exponent Q of the DIS-SUDA score is not positive, and its order would turn round."""


def factorial_weights(keys: int, largest: int) -> Floats:
    """What a minimal unique of s keys scores, by s: the product of (q - i) for i from s to min(M, q - 1) (Elliot)."""
    last = min(largest, keys - 1)
    return np.array([0.0, *(float(prod(keys - i for i in range(size, last + 1))) for size in range(1, largest + 1))])


def superset_weights(keys: int, largest: int) -> Floats:
    """What a minimal unique of s keys scores, by s: its supersets of at most M keys, over the number of sets of s."""
    supersets = [sum(comb(keys - s, i - s) for i in range(s, largest + 1)) for s in range(1, largest + 1)]
    return np.array([0.0, *(found / comb(keys, s) for s, found in enumerate(supersets, start=1))])


WEIGHTS = {"factorial": factorial_weights, "superset": superset_weights}


def largest_set(keys: int, largest: int | None, score: str) -> int:
    """How many keys a set may have; by default all, but one less for the superset score, as in sdcMicro."""
    from tacita.risk.identity.suda.minimal_uniques import MOST_WORDS, word_count

    if largest is None:
        size = keys if score == "factorial" else keys - 1
    else:
        size = check.whole("largest", largest, 1)
        if size > keys:
            raise TacitaError(f"largest must be at most the number of keys, {keys}; got {size}.")
    if word_count(keys, size) > MOST_WORDS:
        able = max(s for s in range(1, size) if word_count(keys, s) <= MOST_WORDS)
        raise TacitaError(
            f"{keys} keys have too many sets of up to {size} keys to search them all; pass largest={able} or less."
        )
    return size


def dis_scores(score: Floats, pairs: int, fraction: float, keys: int) -> Floats:
    """DIS-SUDA: 1 / (1 + P (1-d) / (d S^Q A)), Q = 1 + (8-q)/20, A = sum of S^-Q over S > 0; 0 where S is 0."""
    exponent = 1.0 + (8 - keys) / 20
    if keys >= NO_DIS:
        return np.full(len(score), np.nan)
    above = score > 0
    power = score[above] ** exponent
    dis = np.zeros(len(score))
    dis[above] = 1.0 / (1.0 + pairs * (1.0 - fraction) / (fraction * power * fsum(1.0 / power)))
    return dis


def sampling_fraction_of(data: Data, scenario: Scenario) -> float:
    """The share of the population in the file, at most 1: n over the sum of weights, n/N, or 1 without either."""
    weights = population_weights(data, scenario)
    if weights is not None:
        limbs = group_sums(weights, np.zeros(len(weights), dtype=np.int64), 1, WEIGHT_BITS)
        if data.condensed is not None and data.condensed.weights is not None:
            limbs = data.condensed.weights.sum(axis=0, keepdims=True)
        return min(1.0, data.size / float(as_float(limbs, WEIGHT_BITS)[0]))
    if scenario.population_size is not None:
        return min(1.0, data.size / scenario.population_size)
    return 1.0 if scenario.sampling_fraction is None else scenario.sampling_fraction
