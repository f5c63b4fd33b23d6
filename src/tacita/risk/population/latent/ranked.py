"""Ranks of whole numbers: by a table of what occurs where they are close together, which is faster than a sort."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Ints

CLOSE = 32
"""Numbers below so many times their number are close together."""


def ranked(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """The different numbers in ascending order, all below a size, and by row the place of its number among them."""
    if size > CLOSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[numbers] = True
    known = np.flatnonzero(occurs)
    place = np.empty(size, dtype=np.int64)
    place[known] = np.arange(len(known))
    return known, place[numbers]
