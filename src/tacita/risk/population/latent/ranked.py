"""Ranks of whole numbers: by a table of what occurs where they are close together, which is faster than a sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.arrays import Ints
from tacita.compiled import compiled

CLOSE = 32
"""Numbers below so many times their number are close together."""


def ranked(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """The different numbers in ascending order, all below a size, and by row the place of its number among them."""
    if size <= CLOSE * len(numbers):
        found: tuple[Ints, Ints] = _ranks(numbers, size)
        return found
    return np.unique(numbers, return_inverse=True)


@compiled
def _ranks(numbers: Any, size: int) -> tuple[Any, Any]:
    place = np.zeros(size, dtype=np.int64)
    for each in numbers:
        place[each] = 1
    total = 0
    for each in range(size):
        total += place[each]
    known, at = np.empty(total, dtype=np.int64), 0
    for each in range(size):
        if place[each]:
            known[at], place[each] = each, at
            at += 1
    row = np.empty(len(numbers), dtype=np.int64)
    for k in range(len(numbers)):
        row[k] = place[numbers[k]]
    return known, row
