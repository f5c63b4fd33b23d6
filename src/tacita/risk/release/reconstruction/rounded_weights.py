"""Weights that are rounded to fewer and fewer digits, to try from which on they tell nothing."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints

DIGITS = (3, 2, 1)
"""Significant digits that weights are rounded to, from the finest."""


def classes_of_rounded(weights: Floats, digits: int) -> Ints:
    """Numbers from 1 for weights that agree when rounded to so many significant digits, 0 where there is none.

    >>> classes_of_rounded(np.array([104.0, 98.0, 111.0, np.nan]), 1).tolist()
    [1, 1, 1, 0]
    """
    known = np.isfinite(weights) & (weights > 0)
    unit = 10.0 ** (np.floor(np.log10(weights[known])) - digits + 1)
    classes = np.zeros(len(weights), dtype=np.int64)
    classes[known] = 1 + np.unique(np.floor(weights[known] / unit + 0.5) * unit, return_inverse=True)[1]
    return classes
