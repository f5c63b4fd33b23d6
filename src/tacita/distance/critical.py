"""The critical distance: how near a released and an original record must be to pass for the same unit.

It is a quantile of z over all pairs of records that are not the same unit, n (n - 1) of them, found without looking at
most of them: a sample of pairs brackets it, one sweep counts all pairs below the bracket and lists those in it. If
those are too many they are counted in bins, and the sweep is repeated on one bin. The sample decides about the time
that it takes, never about the result.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.distance.distances import Metric
from tacita.distance.sweep import ROOM, Pairs, Swept, bin_shift, bits, from_bits, pairs, sample_z, strata, sweep

FEW = 1 << 16
"""So many pairs are all listed; with more, a sample comes first."""
SAMPLE = 1 << 23
"""So many pairs are sampled at most, and 32 for each record."""


class Critical(NamedTuple):
    """The critical distance of each group, and the neighbours that it gives each record."""

    delta: Floats
    """By group: the critical distance; NaN where there is no pair of different records."""
    largest: Floats
    """By group: the largest z counted, NaN if none is."""
    smallest: Floats
    """By group: the smallest z not counted, NaN if all are."""
    counted: Ints
    """By group: how many pairs of different records have z < delta: the most possible up to alpha of the pairs."""
    pairs: Ints
    """By group: pairs of different records."""
    neighbours: Ints
    """By record: originals of its group with z < delta, its own included."""


def critical_distance(
    y: Floats,
    x: Floats,
    alpha: float,
    *,
    metric: Metric | None = None,
    relative: bool = True,
    groups: Ints | None = None,
) -> Critical:
    """Delta with P(z < delta) = alpha over the pairs of different records of a group (0, 1, ...).

    Row i of y masks row i of x. Delta is midway between the largest z counted and the smallest not counted, the number
    counted being the greatest possible not above alpha times the pairs: pairs with the same z are all counted or none.
    If none can be counted delta is half the smallest z.
    Seri and Polettini (2003), CASC deliverable 5-D5, section 5.

    >>> x = np.array([[10.0], [11.0], [14.0]])
    >>> found = critical_distance(x, x, 0.4)
    >>> found.counted.tolist(), found.largest.round(3).tolist(), found.smallest.round(3).tolist()
    ([2], [0.1], [0.214])
    """
    parts = strata(groups, len(y))
    cuts = np.full((3, len(parts)), np.nan)
    counted, sizes = np.zeros(len(parts), np.int64), np.array([len(rows) for rows in parts], dtype=np.int64)
    neighbours = np.zeros(len(y), np.int64)
    for group, rows in enumerate(parts):
        if len(rows) > 1:
            given = pairs(y[rows], x[rows], metric, relative=relative)
            cut, near = critical_of(given, alpha)
            cuts[:, group], counted[group] = (cut.delta, cut.largest, cut.smallest), cut.counted
            neighbours[rows] = near
    return Critical(cuts[0], cuts[1], cuts[2], counted, sizes * (sizes - 1), neighbours)


class Cut(NamedTuple):
    """The threshold of z between pairs that are counted and pairs that are not."""

    counted: int
    largest: float
    """The largest z counted, NaN if none is."""
    smallest: float
    """The smallest z not counted, NaN if all are."""

    @property
    def delta(self) -> float:
        """Midway, but above the largest counted however close the two are; half the smallest if none is counted."""
        if np.isnan(self.smallest):
            return np.inf
        if np.isnan(self.largest):
            return self.smallest / 2.0
        middle = self.largest + (self.smallest - self.largest) / 2.0
        return middle if middle > self.largest else self.smallest


def critical_of(given: Pairs, alpha: float) -> tuple[Cut, Ints]:
    """The cut behind alpha of the pairs of different records of one group, and by row the neighbours below it."""
    n, neighbours = len(given.norm), np.empty(len(given.norm), np.int64)
    wanted = most_counted(alpha, n * (n - 1))
    if wanted >= n * (n - 1):
        neighbours[given.released.order] = sweep(given, np.inf).below
        return Cut(n * (n - 1), np.nan, np.nan), neighbours
    cut, swept, low = _select(given, wanted)
    if swept.complete:
        near = swept.z < cut.delta
        inside = swept.below + ((given.true >= low) & (given.true < cut.delta))
        inside += np.bincount(swept.place[near], swept.times[near], minlength=n).astype(np.int64)
    else:
        inside = sweep(given, cut.delta).below
    neighbours[given.released.order] = inside
    return cut, neighbours


def most_counted(alpha: float, pairs: int) -> int:
    """So many of the pairs may be counted: 29 for 0.29 of 100, where the product of the floats is less."""
    return int(Fraction(repr(float(alpha))) * pairs)


def _select(given: Pairs, wanted: int) -> tuple[Cut, Swept, float]:
    """The cut behind at most so many pairs, the last sweep that was needed, and its lower limit."""
    n = len(given.norm)
    sample = np.empty(0) if n * n <= FEW else np.sort(sample_z(given, min(32 * n, SAMPLE)))
    rank, reach = _ranks(given, sample, wanted / (n * (n - 1)))
    low, high = _bracket(sample, rank, reach)
    known = np.nan
    while True:
        swept = sweep(given, low, high, room=ROOM)
        before = int(swept.below.sum()) - int(np.count_nonzero(given.true < low))
        upto = before + np.cumsum(swept.between)
        bin = int(np.searchsorted(upto, wanted, side="right"))  # the first pair not counted is in this bin
        filled = np.flatnonzero(swept.between[:bin])
        if len(filled):
            known = float(swept.greatest[filled[-1]])
        if before <= wanted and bin < len(upto):
            before = int(upto[bin] - swept.between[bin])
            cut = _cut(swept, (low, high, bin), before, wanted, known)
            if cut is None:
                shift = bin_shift(low, high)
                start = bits(low) + (bin << shift)
                low, high = from_bits(start), from_bits(min(start + (1 << shift) - 1, bits(high)))
                continue
            if cut.counted == 0 or not np.isnan(cut.largest):
                return cut, swept, low
        reach, known = 4.0 * reach, np.nan
        low, high = _bracket(sample, rank, reach)


def _ranks(given: Pairs, sample: Floats, share: float) -> tuple[float, float]:
    """About where the quantile is in a sorted sample, and how far off that may be.

    If the pairs so near would be too many to list, one sweep counts the pairs below a z of the sample. Between that z
    and the quantile the sample is off by far less.
    """
    size, n = len(sample), len(given.norm)
    rank, reach = share * size, 2.0 + np.sqrt(share * (1.0 - share) * size)
    if size == 0 or 2.0 * reach / size * n * n <= ROOM:
        return rank, reach
    z = float(sample[min(int(rank), size - 1)])
    below = int(sweep(given, z).below.sum()) - int(np.count_nonzero(given.true < z))
    off = rank - below / (n * (n - 1)) * size
    rank = min(max(float(np.searchsorted(sample, z)) + off, 0.0), size - 1.0)
    return rank, 2.0 + 2.0 * np.sqrt(abs(off))


def _cut(swept: Swept, where: tuple[float, float, int], before: int, wanted: int, known: float) -> Cut | None:
    """The cut inside a bin with so many pairs before it, `known` being the greatest z of those; None if too many."""
    low, high, bin = where
    shift = bin_shift(low, high)
    if not swept.complete:
        return Cut(before, known, float(swept.greatest[bin])) if shift == 0 else None
    here = (swept.z.view(np.int64) - bits(low)) >> shift == bin
    order = np.argsort(swept.z[here])
    z, times = swept.z[here][order], swept.times[here][order]
    first = int(np.searchsorted(before + np.cumsum(times), wanted, side="right"))
    first = int(np.searchsorted(z, z[first]))  # of those with the same z, none is counted
    return Cut(before + int(times[:first].sum()), float(z[first - 1]) if first else known, float(z[first]))


def _bracket(sample: Floats, rank: float, reach: float) -> tuple[float, float]:
    """Limits that hold what is near the rank, and a smaller z too."""
    low, high = 0.0, np.inf
    if rank + reach < len(sample) - 1:
        high = float(sample[int(rank + reach) + 1])
    if rank - reach > 0:
        place = int(np.searchsorted(sample, sample[int(rank - reach)]))
        low = float(sample[place - 1]) if place else 0.0
    return low, high
