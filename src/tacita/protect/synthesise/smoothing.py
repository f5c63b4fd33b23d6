"""Numbers drawn from a smooth density in place of the donors' own."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.trees.tree import Donors


def often(values: Floats, least: int) -> Bools:
    """By record: whether at least so many have the same number, which then tells of nobody and is not smoothed.

    >>> often(np.array([40.0, 40.0, 37.5, np.nan]), 2).tolist()
    [True, True, False, False]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True, equal_nan=False)
    return np.asarray(counts[place] >= least)


def bandwidths(given: Donors, values: Floats) -> Floats:
    """By leaf: Silverman's bandwidth 0.9 min(sd, interquartile range / 1.34) m^(-1/5) of its m donors' numbers.

    Where half of the numbers are the same the standard deviation alone is used.

    Silverman (1986), Density estimation for statistics and data analysis, section 3.4.2.
    """
    ordered = values[given.rows]
    found = np.zeros(len(given.start))
    for leaf in np.flatnonzero(given.end > given.start):
        own = ordered[given.start[leaf] : given.end[leaf]]
        spread = float(np.std(own))
        between = float(np.subtract(*np.quantile(own, [0.75, 0.25]))) / 1.34
        found[leaf] = 0.9 * (min(spread, between) if between > 0 else spread) * len(own) ** -0.2
    return found


def smoothed(given: Donors, values: Floats, bandwidth: Floats, leaf: Ints, drawn: Floats, normal: Floats) -> Floats:
    """Drawn numbers moved by the bandwidth times a normal number, reflected at the least and greatest of the leaf."""
    ordered = values[given.rows]
    low, high = ordered[given.start[leaf]], ordered[given.end[leaf] - 1]
    moved = drawn + bandwidth[leaf] * normal
    moved = np.where(moved < low, 2 * low - moved, np.where(moved > high, 2 * high - moved, moved))
    return np.asarray(np.clip(moved, low, high))
