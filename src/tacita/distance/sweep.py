"""Released against original records: one sweep over all pairs that looks at few of them.

The released records are taken leaf by leaf of their own tree, and the tree of the original ones is walked for a whole
leaf at once. Original nodes that are certainly below, or certainly above, what is asked are counted or left out whole;
single pairs are looked at only where a leaf straddles the limits.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import (
    MISMATCH,
    Metric,
    euclidean,
    far_sum,
    greatest_sums,
    near_sum,
    norms,
    pair_sums,
    relative,
    relatives,
    sums,
    without_overflow,
)
from tacita.distance.tree import DEPTH, Tree, build
from tacita.threads import in_threads

Places = NDArray[np.int32]

BINS = 1 << 14
"""Into so many bins at most the pairs between the limits are counted."""
ROOM = 1 << 24
"""About so many pairs between the limits are listed one by one; if there are more they are only counted."""
LEAF = 64
"""Points up to which a node is not split: more than for single queries, since loops over a leaf vectorise."""
BLOCK = 1 << 13
"""Fewer released records are not worth a second thread."""


class Pairs(NamedTuple):
    """All pairs of a released and an original record, row i of the one masking row i of the other."""

    released: Tree
    original: Tree
    metric: Metric
    values: Floats
    """By place in the released tree: the released values."""
    norm: Floats
    """By place in the released tree: what distances from the record are divided by."""
    own: Ints
    """By place in the released tree: the place of the record's own original in the original tree."""
    true: Floats
    """By place in the released tree: z of the record and its own original."""
    unit: float
    """Distances are measured in this unit, a power of 2."""


def pairs(y: Floats, x: Floats, metric: Metric | None = None, *, relative: bool = True) -> Pairs:
    """Released records y and original records x with their trees; Euclidean unless a metric is given.

    Distances are divided by the norm of y (z = d(y, x) / ||y||), or taken as they are if not `relative`.
    """
    y, x = (np.ascontiguousarray(values, dtype=np.float64) for values in (y, x))
    metric, unit = without_overflow(metric or euclidean(np.ones(y.shape[1])), y, x)
    scale = np.where(metric.kind == MISMATCH, 1.0, metric.weight)
    released, original = in_threads(lambda values: build(values, LEAF, scale), (y, x), worth=len(y) > BLOCK)
    norm = norms(y, metric) if relative else np.full(len(y), unit)
    place = np.empty(len(x), np.int64)
    place[original.order] = np.arange(len(x))
    order = released.order
    given = Pairs(released, original, metric, y[order], norm[order], place[order], norm, unit)
    return given._replace(true=relatives(own_sums(given), given.norm, metric.rooted))


def strata(groups: Ints | None, size: int) -> list[Ints]:
    """The rows of each group 0, 1, ..., in their order; all rows if there are no groups."""
    if groups is None:
        return [np.arange(size)]
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


class Swept(NamedTuple):
    """What a sweep found; z between the limits is `between`. Pairs with the own original are counted, not `between`."""

    below: Ints
    """By place in the released tree: originals with z below the lower limit, its own included."""
    between: Ints
    """By bin: pairs between the limits."""
    greatest: Floats
    """By bin: the greatest z in it, -1 if there is none."""
    z: Floats
    """Of each pair listed."""
    place: Places
    """Of each pair listed: the released record."""
    times: Places
    """Of each pair listed: how many it stands for, with equal originals."""
    complete: bool
    """Whether all pairs between the limits are listed."""


class Between(NamedTuple):
    """Pairs between the limits: counted by bin, with the greatest z of each, and listed one by one."""

    between: Ints
    greatest: Floats
    z: Floats
    place: Places
    times: Places


class Leaf(NamedTuple):
    """The sums of one released record and the points of an original leaf."""

    sums: Floats
    size: int
    equal: int
    """How many equal points each of them stands for."""
    start: int


def bits(z: float) -> int:
    """The bits of z >= 0 as a whole number: they have the order of z."""
    return int(np.float64(z + 0.0).view(np.int64))


def from_bits(value: int) -> float:
    """The number that has these bits."""
    return float(np.int64(value).view(np.float64))


def bin_shift(low: float, high: float, bins: int = BINS) -> int:
    """By how many bits z is shifted for all between the limits to be in one of so many bins."""
    return max(0, (bits(high) - bits(low)).bit_length() - (bins.bit_length() - 1))


def sweep(given: Pairs, low: Floats | float, high: float | None = None, *, room: int = ROOM) -> Swept:
    """Count for each released record the originals with z < low, and list pairs of others with low <= z <= high.

    The limits are the same for all records if there is a `high`; `low` alone may be one for each.
    """
    n = len(given.norm)
    limit = np.ascontiguousarray(np.broadcast_to(low, n), dtype=np.float64)
    under = greatest_sums(limit, given.norm, given.metric.rooted)
    upto, first, shift = under, 0, 62
    if high is not None:
        first, shift = bits(float(low)), bin_shift(float(low), high)
        above = np.full(n, math.nextafter(high, math.inf))
        upto = np.full(n, np.inf) if np.isinf(high) else greatest_sums(above, given.norm, given.metric.rooted)
    below, size = np.zeros(n, np.int64), 1 if high is None else ((bits(high) - first) >> shift) + 1
    blocks = leaf_blocks(given.released)
    least, most = of_leaves(given.released, under, upto)

    def one(leaves: Ints) -> tuple[Between, int]:
        records = int((given.released.stop[leaves] - given.released.start[leaves]).sum())
        share = 0 if high is None else min(records * n, 2 * room // len(blocks))  # memory is taken as it is filled
        found = Between(
            between=np.zeros(size, np.int64),
            greatest=np.full(size, -1.0),
            z=np.empty(share),
            place=np.empty(share, np.int32),
            times=np.empty(share, np.int32),
        )
        listed = _sweep(given, leaves, under, upto, least, most, first, shift, found, below)
        kept = slice(min(listed, share))
        short = found._replace(z=found.z[kept].copy(), place=found.place[kept].copy(), times=found.times[kept].copy())
        return short, listed

    found, listed = zip(*in_threads(one, blocks), strict=True)
    between = np.sum([part.between for part in found], axis=0)
    greatest = np.max([part.greatest for part in found], axis=0)
    z, place, times = (np.concatenate([getattr(part, name) for part in found]) for name in ("z", "place", "times"))
    return Swept(below, between, greatest, z, place, times, len(z) == sum(listed))


def leaf_blocks(tree: Tree) -> list[Ints]:
    """The leaves in their order, in blocks of about equally many records: one to a thread, or more if that is much."""
    leaves = np.flatnonzero(tree.left < 0)
    leaves = leaves[np.argsort(tree.start[leaves])]
    n = len(tree.order)
    blocks = 1 if n <= BLOCK else 4 * (os.cpu_count() or 1)
    ends = np.searchsorted(tree.start[leaves], n * np.arange(1, blocks) // blocks)
    return [block for block in np.split(leaves, ends) if len(block)]


def of_leaves(tree: Tree, under: Floats, upto: Floats) -> tuple[Floats, Floats]:
    """By node, where it is a leaf: the least of some numbers of its records, and the greatest of others."""
    least, most = np.zeros(len(tree.left)), np.zeros(len(tree.left))
    leaves = np.flatnonzero(tree.left < 0)
    leaves = leaves[np.argsort(tree.start[leaves])]
    if len(under):
        least[leaves] = np.minimum.reduceat(under, tree.start[leaves])
        most[leaves] = np.maximum.reduceat(upto, tree.start[leaves])
    return least, most


@compiled
def _sweep(
    given: Pairs,
    leaves: Ints,
    under: Floats,
    upto: Floats,
    least_of: Floats,
    most_of: Floats,
    first: int,
    shift: int,
    found: Between,
    below: Ints,
) -> int:
    """Count into `below` and `found`; how many pairs between the limits there are, listed or not."""
    # Of one type from the beginning: what a literal 0 is passed to would be compiled a second time.
    listed: int = np.int64(0)  # type: ignore[assignment]
    rows = given.released.leaf
    block, out = np.empty((len(given.original.points), given.original.leaf)), np.empty((rows, given.original.leaf))
    waiting = np.empty(DEPTH, np.int64)
    for leaf in leaves:
        begin, end = given.released.start[leaf], given.released.stop[leaf]
        least, most = least_of[leaf], most_of[leaf]
        certain, top = 0, 1
        waiting[0] = 0
        while top > 0:
            top -= 1
            node = waiting[top]
            low, high = given.original.low, given.original.high
            if near_sum(given.released.low, given.released.high, leaf, low, high, node, given.metric) > most:
                continue
            start, stop = given.original.start[node], given.original.stop[node]
            if far_sum(given.released.low, given.released.high, leaf, low, high, node, given.metric) <= least:
                certain += stop - start
                continue
            if given.original.left[node] >= 0:
                waiting[top], waiting[top + 1] = given.original.left[node], given.original.left[node] + 1
                top += 2
                continue
            size, equal = load(given.original, node, block)
            for row in range(begin, end, rows):
                sums(block, size, given.values, row, min(row + rows, end), given.metric, out)
                for i in range(row, min(row + rows, end)):
                    inside, reached = 0, 0
                    least_sum, most_sum = under[i], upto[i]
                    for k in range(size):
                        inside += out[i - row, k] <= least_sum
                        reached += out[i - row, k] <= most_sum
                    below[i] += inside * equal
                    if reached > inside:
                        seen = Leaf(out[i - row], size, equal, start)
                        listed = _list_between(given, i, seen, least_sum, most_sum, first, shift, found, listed)
        for i in range(begin, end):
            below[i] += certain
    return listed


@compiled
def _list_between(
    given: Pairs,
    i: int,
    leaf: Leaf,
    least_sum: float,
    most_sum: float,
    first: int,
    shift: int,
    found: Between,
    listed: int,
) -> int:
    """Count, and list while there is room, the pairs of a released record and a leaf that are between the limits."""
    for k in range(leaf.size):
        total = leaf.sums[k]
        if total <= least_sum or total > most_sum:
            continue
        # The own original is no pair of others; where equal points are one, it may be among them.
        count = leaf.equal - (leaf.start + k <= given.own[i] < leaf.start + k + leaf.equal)
        if count == 0:
            continue
        value = relative(total, given.norm[i], given.metric.rooted)
        bin = (np.float64(value).view(np.int64) - first) >> shift
        found.between[bin] += count
        found.greatest[bin] = max(found.greatest[bin], value)
        if listed < len(found.z):
            found.z[listed], found.place[listed], found.times[listed] = value, i, count
        listed += 1
    return listed


@compiled
def load(tree: Tree, node: int, block: Floats) -> tuple[int, int]:
    """Copy the points of a leaf into a block; how many, and how many equal points each of them stands for."""
    start, stop = tree.start[node], tree.stop[node]
    size = stop - start
    equal = 1
    if size > 1:
        one = True
        for j in range(len(tree.points)):
            one = one and tree.low[node, j] == tree.high[node, j]
        if one:
            size, equal = 1, size
    for j in range(len(tree.points)):
        for k in range(size):
            block[j, k] = tree.points[j, start + k]
    return size, equal


def own_sums(given: Pairs) -> Floats:
    """By place in the released tree: the sum of the record and its own original."""
    return pair_sums(given.original.points, given.own, given.values, given.metric)


def sample_z(given: Pairs, size: int) -> Floats:
    """z of so many pairs of different records, spread evenly over the released and over the original ones."""
    n = len(given.norm)
    step = (np.sqrt(5.0) - 1.0) / 2.0
    place = np.arange(size)
    row, other = place * n // size, ((place * step) % 1.0 * n).astype(np.int64)
    differs = other != given.own[row]
    row, other = row[differs], other[differs]
    total = pair_sums(given.original.points, other, given.values[row], given.metric)
    return relatives(total, given.norm[row], given.metric.rooted)
