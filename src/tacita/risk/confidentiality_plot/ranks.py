"""The rank attack: who is the largest unit, and do the largest keep their ranks?"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints

TOP = 10
"""So many of the largest units of each stratum are looked at."""


def largest_units(size: Floats, stratum: Ints, record: Ints) -> Bools:
    """Which record is the largest of its stratum; of equally large ones the one with the lowest number.

    A record without a size (NaN) is not, even if no other of its stratum has one.

    >>> largest_units(np.array([5.0, 9.0, 9.0]), np.array([0, 0, 0]), np.array([1, 3, 2])).tolist()
    [False, False, True]
    """
    order = np.lexsort((record, -size, stratum))
    first = order[np.flatnonzero(np.diff(stratum[order], prepend=-1))]
    largest = np.zeros(len(size), dtype=bool)
    largest[first] = ~np.isnan(size[first])
    return largest


def ranks_kept(size: Floats, released: Floats, stratum: Ints, record: Ints, strata: int, top: int = TOP) -> Bools:
    """By stratum: whether the j-th largest unit is still the j-th largest, for the largest ones.

    Of equally large units the one with the lower number comes first. A unit without a size (NaN), or released without
    one, keeps no rank.

    >>> order = np.array([0, 1, 2])
    >>> ranks_kept(np.array([9.0, 5.0, 7.0]), np.array([8.0, 7.0, 6.0]), 0 * order, order, 1, top=3).tolist()
    [[True, False, False]]
    """
    kept = np.zeros((strata, top), dtype=bool)
    before, after = (np.lexsort((record, -values, stratum)) for values in (size, released))
    sizes = np.bincount(stratum, minlength=strata)
    start = np.cumsum(sizes) - sizes
    for rank in range(top):  # from 0
        there = np.flatnonzero(sizes > rank)
        unit = before[start[there] + rank]
        known = ~np.isnan(size[unit]) & ~np.isnan(released[unit])
        kept[there, rank] = known & (unit == after[start[there] + rank])
    return kept
