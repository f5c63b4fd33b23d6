"""How many pairs of different records have which z: all of them, or exact counts in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import far_sum, near_sum, relative, sums
from tacita.distance.sweep import (
    ROOM,
    Pairs,
    bin_shift,
    bits,
    from_bits,
    leaf_blocks,
    load,
    of_leaves,
    sample_z,
    sweep,
)
from tacita.distance.tree import DEPTH
from tacita.threads import in_threads

FEW = 1 << 22
"""So many pairs are listed; more are counted in bins."""
MOST_DIGITS = 10
"""The narrowest bins are 2 to the power of minus this on the log scale."""
FRACTION = 52
"""Bits of a number that say where it is between two powers of 2."""
SMALLEST = 5e-324
"""The smallest positive number."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of z and how many pairs of different records have them, in ascending order: each pair, or bin by bin."""

    z: Floats
    """Of a pair, or the middle of a bin."""
    count: Floats
    """How many pairs it stands for."""
    low: Floats
    """The least z that it stands for: z itself, or the lower end of the bin."""
    high: Floats
    """The greatest z that it stands for."""
    pairs: int
    """All pairs of different records; those that are not counted above have a greater z."""
    width: float
    """The width of the bins on the log scale, 0 if there are none."""
    error: float
    """With probability 0.95 no share of pairs up to some z is further off, as for a random sample; 0 if not sampled."""

    def spread(self, parts: int = 16) -> tuple[Floats, Floats]:
        """Values and counts, those of a bin shared out evenly over so many parts of it."""
        bin = self.high > self.low
        step = (self.high[bin] - self.low[bin]) / parts
        z = self.low[bin, None] + step[:, None] * (np.arange(parts) + 0.5)
        count = np.repeat(self.count[bin] / parts, parts)
        return np.concatenate([self.z[~bin], z.ravel()]), np.concatenate([self.count[~bin], count])


def distribution(given: Pairs, width: float, most: float = np.inf, *, sample: int | None = None) -> Distribution:
    """z over all pairs of different records of a group, up to `most` if they have to be binned.

    Bins are at most `width` wide on the log scale. With `sample`, so many pairs stand for all; they are spread evenly
    over the records, so the shares are nearer to the true ones than those of a random sample of that size.
    """
    n = len(given.norm)
    total = n * (n - 1)
    if sample is not None:
        z = sample_z(given, sample)
        # Dvoretzky, Kiefer and Wolfowitz (1956), with the constant of Massart (1990).
        error = float(np.sqrt(np.log(2.0 / 0.05) / (2.0 * max(len(z), 1))))
        return _listed(z, np.full(len(z), total / max(len(z), 1)), total, error)
    if n * n <= FEW:
        swept = sweep(given, 0.0, np.inf, room=n * n)
        return _listed(swept.z, swept.times.astype(np.float64), total, 0.0)
    digits = int(np.clip(np.ceil(-np.log2(width)), 0, MOST_DIGITS))
    counts = histogram(given, digits, most)
    bins = np.flatnonzero(counts)
    low, high = bin_limits(bins, digits)
    middle = low.copy()
    wide = high > low
    middle[wide] += (high[wide] - low[wide]) / 2.0
    return Distribution(middle, counts[bins].astype(np.float64), low, high, total, 2.0**-digits, 0.0)


def _listed(z: Floats, count: Floats, pairs: int, error: float) -> Distribution:
    values, place = np.unique(z, return_inverse=True)
    total = np.bincount(place, count, len(values)).astype(np.float64)
    return Distribution(values, total, values, values, pairs, 0.0, error)


def bin_limits(bins: Ints, digits: int) -> tuple[Floats, Floats]:
    """Least and greatest z of each bin; the first one holds z = 0 (and numbers too small to matter)."""
    first = bins << (FRACTION - digits)
    high = ((bins + 1) << (FRACTION - digits)) - 1
    low = first.view(np.float64)
    single = (bins == 0) | np.isinf(low)
    return low, np.where(single, low, np.where(single, 0, high).view(np.float64))


def histogram(given: Pairs, digits: int, most: float = np.inf) -> Ints:
    """Pairs of different records with z <= most by bin: 2**digits bins of equal width between two powers of 2.

    A bin is what the leading bits of z say, so bins follow the scale of z, and a bin is never wider than
    2**-digits on the log scale. The bin of `most` is the last one that is counted.
    """
    shift = FRACTION - digits
    bins, last = (0x7FF << digits) + 1, bits(most) >> shift
    most = from_bits(((last + 1) << shift) - 1) if np.isfinite(most) else most
    least_norm, most_norm = of_leaves(given.released, given.norm, given.norm)

    def one(leaves: Ints) -> Ints:
        return _histogram(given, leaves, least_norm, most_norm, shift, bins, most)

    counts: Ints = np.sum(in_threads(one, leaf_blocks(given.released)), axis=0)
    own = given.true[given.true <= most].view(np.int64) >> shift
    counts -= np.bincount(own, minlength=bins)
    counts[last + 1 :] = 0
    return counts


@compiled
def _histogram(
    given: Pairs, leaves: Ints, least_norm: Floats, most_norm: Floats, shift: int, bins: int, most: float
) -> Ints:
    counts = np.zeros(bins, np.int64)
    rows = given.released.leaf
    block, out = np.empty((len(given.original.points), given.original.leaf)), np.empty((rows, given.original.leaf))
    digits = out.view(np.int64)
    waiting = np.empty(DEPTH, np.int64)
    for leaf in leaves:
        begin, end = given.released.start[leaf], given.released.stop[leaf]
        top = 1
        waiting[0] = 0
        while top > 0:
            top -= 1
            node = waiting[top]
            low, high = given.original.low, given.original.high
            near = near_sum(given.released.low, given.released.high, leaf, low, high, node, given.metric)
            lowest = relative(near, most_norm[leaf], given.metric.rooted)
            if lowest > most:
                continue
            far = far_sum(given.released.low, given.released.high, leaf, low, high, node, given.metric)
            bin = np.float64(lowest).view(np.int64) >> shift
            if bin == np.float64(relative(far, least_norm[leaf], given.metric.rooted)).view(np.int64) >> shift:
                counts[bin] += (end - begin) * (given.original.stop[node] - given.original.start[node])
                continue
            if given.original.left[node] >= 0:
                waiting[top], waiting[top + 1] = given.original.left[node], given.original.left[node] + 1
                top += 2
                continue
            size, equal = load(given.original, node, block)
            for row in range(begin, end, rows):
                sums(block, size, given.values, row, min(row + rows, end), given.metric, out)
                for i in range(min(row + rows, end) - row):
                    _make_relative(out[i], size, given.norm[row + i], given.metric.rooted)
                    for k in range(size):
                        counts[digits[i, k] >> shift] += equal
    return counts


@compiled
def _make_relative(sums: Floats, size: int, norm: float, rooted: bool) -> None:
    """Sums of one released record as z, in place."""
    if norm > 0.0 and rooted:  # as `relative` has it, in a loop that vectorises
        for k in range(size):
            sums[k] = np.sqrt(sums[k]) / norm
    else:
        for k in range(size):
            sums[k] = relative(sums[k], norm, rooted)


def smallest_positive(given: Pairs, *, room: int = ROOM) -> float:
    """The smallest positive z of any pair, the true links included; infinite if there is none."""
    positive = given.true[given.true > 0]
    sample = sample_z(given, 32 * len(given.norm))
    high = float(min(np.min(positive, initial=np.inf), np.min(sample[sample > 0], initial=np.inf)))
    low = SMALLEST
    while True:  # only the lowest bin is kept, until all that is in it is listed or the same
        swept, shift = sweep(given, low, high, room=room), bin_shift(low, high)
        filled = np.flatnonzero(swept.between)
        if not len(filled) or swept.complete:
            return min(float(np.min(swept.z, initial=np.inf)), high)
        high = float(swept.greatest[filled[0]])
        if shift == 0:
            return high
        low = from_bits(bits(low) + (int(filled[0]) << shift))
