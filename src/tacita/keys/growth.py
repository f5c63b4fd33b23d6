"""What records stand for once others are dropped: the population does not shrink because records are not released."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.keys.source import WEIGHT_BITS, as_float, group_sums


def growth_by_dropping(cell: Ints, weight: Floats, kept: Bools) -> Floats:
    """By record the factor for its weight with which the kept records of its cell add up to what the cell did.

    A cell of which nothing is kept is gone, so that sums over several cells never exceed what they were.

    >>> kept = np.array([True, False, True, True, False])
    >>> growth_by_dropping(np.array([0, 0, 1, 1, 2]), np.array([1.0, 3.0, 5.0, 5.0, 2.0]), kept).tolist()
    [4.0, 4.0, 1.0, 1.0, 1.0]
    """
    cells = int(cell.max(initial=-1)) + 1
    was, now = (
        as_float(group_sums(np.where(rows, weight, 0.0), cell, cells, WEIGHT_BITS), WEIGHT_BITS)
        for rows in (np.ones(len(kept), dtype=np.bool_), kept)
    )
    # A cell that loses nothing keeps its weights to the last digit.
    factor = np.divide(was, now, out=np.ones(cells), where=(now > 0) & (was > now))
    found: Floats = factor[cell]
    return found
