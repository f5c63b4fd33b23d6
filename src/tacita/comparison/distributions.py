"""The distribution of a number in two files: bins, density, box, Lorenz curve and distance, none of them by one record.

Values come in ascending order, so that no figure depends on the order of the records. Ends are means of the three
outermost values, and what a single record would decide is not shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints

LEAST_RECORDS = 3
"""So many records at least stand behind an end, a quartile or a point of a density."""
GRID = 201
"""Points of a density."""
CELLS_PER_BANDWIDTH = 8
MOST_CELLS = 1 << 16
"""Values are counted in cells of this fraction of the bandwidth, but at most so many, before they are smoothed."""
REACH = 2.0
"""A density is shown where enough records lie within so many bandwidths."""
DISCRETE = 25
"""Whole numbers that span less than this have no density."""
WHISKER = 1.5
"""Whiskers end within so many middle spreads of the quartiles."""
SMALLEST_SPREAD = 1e-9
"""Numbers that differ by less than this part of their size are drawn as one."""
LORENZ_POINTS = 100
"""A Lorenz curve has at most so many points."""


class Sorted(NamedTuple):
    """Values in ascending order, with their weights."""

    values: Floats
    weights: Floats


class Box(NamedTuple):
    """What a boxplot shows; each value is the mean of three records."""

    low: float
    """Where the lower whisker ends."""
    quarter: float
    median: float
    three_quarters: float
    high: float
    """Where the upper whisker ends."""
    below: int
    """Records below the lower whisker's reach."""
    above: int
    """Records above the upper whisker's reach."""


class Lorenz(NamedTuple):
    """Points of a Lorenz curve, from (0, 0) to (1, 1)."""

    population: Floats
    """The share of the units, the smallest first."""
    value: Floats
    """The share of the total that they have."""
    gini: float
    """The Gini coefficient: 0 all have the same, 1 one has all."""


def in_order(values: Floats, weights: Floats) -> Sorted:
    """Values and weights, ascending by value and then by weight."""
    order = np.lexsort((weights, values))
    return Sorted(values[order], weights[order])


def ends(values: Floats) -> tuple[float, float] | None:
    """The means of the three least and of the three greatest values; None if there are not so many."""
    if len(values) < LEAST_RECORDS:
        return None
    return _mean(values[:LEAST_RECORDS]), _mean(values[-LEAST_RECORDS:])


def _mean(values: Floats) -> float:
    """The mean; of equal values that value, to the last bit."""
    return float(values[0] + np.mean(values - values[0]))


def is_discrete(low: float, high: float, whole: bool) -> bool:
    """Whether values are few whole numbers, which are counted one by one and not smoothed."""
    return whole and high - low < DISCRETE


def varies(low: float, high: float) -> bool:
    """Whether two ends differ by more than the rounding of large numbers."""
    return high - low > SMALLEST_SPREAD * max(abs(low), abs(high))


def bin_edges(low: float, high: float, bins: int, whole: bool) -> Floats:
    """Edges of even bins; between whole numbers if the values are such.

    >>> bin_edges(0.0, 5.0, 3, True)
    array([-0.5,  1.5,  3.5,  5.5])
    """
    if not varies(low, high):
        # Half a unit to both sides, or as much as large numbers have room for.
        room = max(0.5, 10 * SMALLEST_SPREAD * abs(low))
        return np.array([low - room, high + room])
    if not whole:
        return np.linspace(low, high, bins + 1)
    low, high = np.floor(low), np.ceil(high)
    width = np.ceil((high - low + 1) / bins)
    return np.asarray(low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1))


def counted(values: Floats, edges: Floats) -> Ints:
    """How many values lie in each bin; what is beyond the ends lies in the outermost ones."""
    return np.bincount(_bin(values, edges), minlength=len(edges) - 1)


def shares(given: Sorted, edges: Floats) -> Floats:
    """The weighted share of the values in each bin."""
    sums = np.bincount(_bin(given.values, edges), weights=given.weights, minlength=len(edges) - 1)
    total = sums.sum()
    return np.asarray(sums / total if total > 0 else sums, dtype=np.float64)


def _bin(values: Floats, edges: Floats) -> Ints:
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)


def joined_bins(counts: Ints, everywhere: bool) -> Ints:
    """Which edges stay (places among all edges) so that no bin holds one or two records of a file.

    `counts` has a row per file. Not `everywhere`: only the outermost bins are joined with their neighbours.

    >>> joined_bins(np.array([[1, 4, 1, 0, 9, 2]]), everywhere=False).tolist()
    [0, 2, 3, 4, 6]
    >>> joined_bins(np.array([[1, 4, 1, 0, 9, 2]]), everywhere=True).tolist()
    [0, 2, 6]
    """
    bins = counts.shape[1]
    kept = [0]
    for end in range(1, bins + 1):
        if _enough(counts[:, kept[-1] : end]) or (len(kept) > 1 and not everywhere):
            kept.append(end)
    if kept[-1] != bins:
        kept.append(bins)
    while len(kept) > 2 and not _enough(counts[:, kept[-2] : kept[-1]]):
        del kept[-2]
    return np.array(kept)


def _enough(counts: Ints) -> bool:
    inside = counts.sum(axis=1)
    return bool(((inside == 0) | (inside >= LEAST_RECORDS)).all())


def bandwidth(given: Sorted) -> float:
    """Silverman's bandwidth, for weights by their effective number of records; 0 if nothing varies."""
    values, weights = given
    if len(values) < LEAST_RECORDS:
        return 0.0
    share = weights / weights.sum()
    middle = float(share @ values)
    deviation = float(np.sqrt(share @ np.square(values - middle)))
    if deviation <= SMALLEST_SPREAD * abs(middle):
        return 0.0
    places = np.searchsorted(np.cumsum(share), (0.25, 0.75)).clip(0, len(values) - 1)
    between = float(values[places[1]] - values[places[0]]) / 1.34
    effective = 1.0 / float(share @ share)
    return float(0.9 * min(deviation, between or deviation) * effective**-0.2)


def density(given: Sorted, grid: Floats, width: float, low: float, high: float, bound: float | None) -> Floats:
    """A normal kernel density at places of a grid; NaN where fewer than three records lie within two bandwidths.

    Values beyond `low` and `high`, means of three, are taken to lie there. What would be smoothed to below `bound` is
    reflected.
    """
    values, weights = given
    clipped = np.clip(values, low, high)
    step = max(width / CELLS_PER_BANDWIDTH, (high - low) / MOST_CELLS)
    reach = int(np.ceil(4 * width / step))
    places = (clipped - low) / step + reach
    lower = np.floor(places).astype(np.int64)
    cells = int(np.ceil((high - low) / step)) + 2 * reach + 2
    part = places - lower
    mass = np.bincount(lower, weights=weights * (1 - part), minlength=cells)
    mass += np.bincount(lower + 1, weights=weights * part, minlength=cells)
    kernel = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) * step / width))
    smooth = np.convolve(mass / mass.sum(), kernel / (kernel.sum() * step), mode="same")
    at = low + step * (np.arange(cells) - reach)
    found = np.interp(grid, at, smooth, left=0.0, right=0.0)
    if bound is not None:
        found = np.where(grid < bound, 0.0, found + np.interp(2 * bound - grid, at, smooth, left=0.0, right=0.0))
    near = np.searchsorted(values, grid + REACH * width, side="right") - np.searchsorted(values, grid - REACH * width)
    return np.where(near >= LEAST_RECORDS, found, np.nan)


def box(given: Sorted) -> Box | None:
    """Quartiles and whiskers as means of three records, and how many records lie beyond; None of fewer than three."""
    values, weights = given
    if len(values) < LEAST_RECORDS:
        return None
    reached = np.cumsum(weights)
    quarter, median, three_quarters = (
        _around(values, int(np.searchsorted(reached, share * reached[-1]))) for share in (0.25, 0.5, 0.75)
    )
    spread = WHISKER * (three_quarters - quarter)
    below = int(np.searchsorted(values, quarter - spread))
    above = len(values) - int(np.searchsorted(values, three_quarters + spread, side="right"))
    inside = values[below : len(values) - above]
    least, most = ends(inside) or (quarter, three_quarters)
    return Box(min(least, quarter), quarter, median, three_quarters, max(most, three_quarters), below, above)


def _around(values: Floats, place: int) -> float:
    """The mean of the three values about a place."""
    start = min(max(place - 1, 0), len(values) - LEAST_RECORDS)
    return _mean(values[start : start + LEAST_RECORDS])


def lorenz(given: Sorted) -> Lorenz | None:
    """The Lorenz curve at every so-many-th record, at least three between two points; None without a positive total."""
    values, weights = given
    if len(values) < LEAST_RECORDS or values[0] < 0 or values[-1] <= 0:
        return None
    # In units of the largest: sums of squares of sizes would be too large before the values are.
    shares = values / values[-1]
    population = np.concatenate([[0.0], np.cumsum(weights)])
    value = np.concatenate([[0.0], np.cumsum(weights * shares)])
    population, value = population / population[-1], value / value[-1]
    gini = 1.0 - float(np.sum(np.diff(population) * (value[1:] + value[:-1])))
    kept = _far_enough(population, value)
    return Lorenz(population[kept], value[kept], min(max(gini, 0.0), 1.0))


def _far_enough(population: Floats, value: Floats) -> Ints:
    """Places of points of a curve: spread evenly along both axes, three records from each other."""
    even = np.linspace(0, 1, LORENZ_POINTS // 2 + 1)
    wanted = np.union1d(np.searchsorted(population, even), np.searchsorted(value, even))
    last = len(population) - 1
    kept = [0]
    for place in wanted.tolist():
        if place >= kept[-1] + LEAST_RECORDS and place <= last - LEAST_RECORDS:
            kept.append(place)
    return np.array([*kept, last])


def greatest_gap(one: Sorted, other: Sorted) -> float:
    """The Kolmogorov-Smirnov distance of two weighted distributions: 0 the same, 1 nothing in common; NaN of none."""
    if not len(one.values) or not len(other.values):
        return np.nan
    places = np.concatenate([one.values, other.values])
    gaps = np.abs(_up_to(one, places) - _up_to(other, places))
    # Sums of equal weights in another order may differ in the last place.
    return float(gaps.max()) if gaps.max() > 1e-12 else 0.0


def _up_to(given: Sorted, places: Floats) -> Floats:
    reached = np.concatenate([[0.0], np.cumsum(given.weights)])
    return np.asarray(reached[np.searchsorted(given.values, places, side="right")] / reached[-1])


def half_difference(one: Floats, other: Floats) -> float:
    """Half the sum of the differences of shares: 0 the same, 1 nothing in common."""
    found = float(np.abs(one - other).sum() / 2)
    # Sums in another order may differ in the last place.
    return found if found > 1e-12 else 0.0


def are_whole(*values: Floats) -> bool:
    """Whether all values that are not missing are whole numbers."""
    return all(bool((shown == np.round(shown)).all()) for shown in (each[~np.isnan(each)] for each in values))


def few(counts: Ints) -> Bools:
    """Which counts tell of one or two records."""
    found: Bools = (counts > 0) & (counts < LEAST_RECORDS)
    return found
