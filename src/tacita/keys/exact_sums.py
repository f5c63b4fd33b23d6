"""Sums that do not depend on the order of the records.

Floating-point sums change in the last bits with the order of their terms, and a record near a threshold would flip when
a file is sorted or computed on another engine. So values are turned into fixed-point integers of 100 bits, held as four
limbs of 25 bits, which doubles add without rounding; only the final sum is rounded, once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints

LIMB_BITS = 25
LIMBS = 4
BLOCK = 1 << 22
"""Records per pass: a limb sum stays below 2^(22 + 25), where doubles are exact, and memory stays small."""

WEIGHT_BITS = 52
"""Fraction bits for weights: every double of at least 1 is a multiple of 2^-52, so weights are held exactly."""
SMALL_BITS = 80
"""Fraction bits for probabilities and their logarithms."""


def group_sums(values: Floats, groups: NDArray[np.integer], count: int, fraction_bits: int) -> Ints:
    """Fixed-point sums of non-negative values by group: `count` rows of limbs, the highest limb first."""
    sums = np.zeros((count, LIMBS), dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        rest = np.ldexp(values[start : start + BLOCK], fraction_bits - LIMB_BITS * (LIMBS - 1))
        block = groups[start : start + BLOCK]
        for limb in range(LIMBS):
            whole = np.floor(rest) if limb < LIMBS - 1 else np.rint(rest)
            if whole.any():
                sums[:, limb] += np.bincount(block, weights=whole, minlength=count).astype(np.int64)
            rest = np.ldexp(rest - whole, LIMB_BITS)
    return sums


def as_float(sums: Ints, fraction_bits: int) -> Floats:
    """Limb sums as doubles, rounded once."""
    carried = sums.copy()
    for limb in range(LIMBS - 1, 0, -1):
        carried[:, limb - 1] += carried[:, limb] >> LIMB_BITS
        carried[:, limb] &= (1 << LIMB_BITS) - 1
    high = (carried[:, 0] << LIMB_BITS) + carried[:, 1]
    low = (carried[:, 2] << LIMB_BITS) + carried[:, 3]
    scaled: Floats = np.ldexp(high.astype(np.float64), 2 * LIMB_BITS - fraction_bits)
    return scaled + np.ldexp(low.astype(np.float64), -fraction_bits)
