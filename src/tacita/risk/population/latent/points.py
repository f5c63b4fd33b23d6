"""Where figures of F are worked out: at every key, or for many keys at the points of a grid.

What a law says of a key follows smoothly from f, its forecast and its mean weight, for each share of records that could
show it. Of hundreds of thousands of keys many lie close together: figures are worked out where grid lines meet, and
polynomials go through them. Laws bend at their knots; there a grid line lies that no polynomial goes across. How far
interpolated figures are off is measured on some keys; where that is too much, every key has figures of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.risk.population.latent import point_loops
from tacita.risk.population.latent.law import GREATEST_COUNT, KNOTS, Law
from tacita.risk.population.latent.posterior import Population
from tacita.risk.population.latent.sample import Sample
from tacita.threads import in_threads

MOST_KEYS = 60_000
"""So many keys each have figures of their own."""
STEP = 0.25
"""Between grid lines of log forecasts; the knots of laws are whole multiples of it."""
WEIGHT_STEP = 0.5
"""Between grid lines of the logarithm of others: mean weight less the share of records that could show the key."""
LEAST_OTHERS = 0.1
"""With fewer others a key has figures of its own."""
LINES = 6
"""A polynomial goes through so many grid lines of forecasts, and of weights; of f through 4."""
COUNTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 34, GREATEST_COUNT])
"""The f of grid points: next to each other where it is small."""
LEAST_TOGETHER = 4
"""Where fewer keys go by the same polynomial, each has figures of its own."""
LEAST_OF_PATTERN = 1_000
"""So do keys that show what few others show."""
ACCURATE = 1e-3
"""Interpolated risks that are off by a larger share are not used."""
TRIED = 500
PARTS = 8
"""Keys are interpolated in so many parts, by several threads."""


Places = NDArray[np.int32]


class Grid(NamedTuple):
    """The interpolated keys, and the points that each lies among."""

    keys: Ints
    place: Places
    """By key its pattern, its f, and the first grid line of forecast and weight that its polynomials go through."""
    at: Floats
    """By key how many steps it is from these lines."""
    point: Places
    """The number of each point, by pattern, place in `COUNTS`, and lines of forecast and weight; -1 for none."""
    size: int
    """The number of points."""

    def interpolated(self, figure: Floats) -> Floats:
        """By interpolated key a figure, from that of the points."""
        found = np.empty(len(self.keys))

        def part(some: slice) -> None:
            place, at, of_counts = self.place[some], self.at[some], _between_counts()
            point_loops.interpolated(place, at, self.point, *of_counts, LINES, figure, found[some])

        in_threads(part, _parts(len(found)))
        return found

    def totals(self, amount: Floats) -> Floats:
        """Amounts of the interpolated keys by point."""

        def part(some: slice) -> Floats:
            found, of_counts = np.zeros(self.size), _between_counts()
            point_loops.totals(self.place[some], self.at[some], self.point, *of_counts, LINES, amount[some], found)
            return found

        # The same parts whatever the number of threads, so that sums are the same.
        summed: Floats = np.sum(in_threads(part, _parts(len(amount))), axis=0)
        return summed


@dataclass(frozen=True, eq=False)
class Points:
    """Where figures are worked out: the points of the grid, then the keys with figures of their own."""

    sample: Sample
    log_m: Floats
    """By point the logarithm of its forecast."""
    of_keys: Floats
    """By key the logarithm of its forecast."""
    grid: Grid | None = None
    alone: Ints | None = None
    """The keys with figures of their own; None: all."""

    @classmethod
    def of(cls, sample: Sample, log_m: Floats, laws: Sequence[Law]) -> Points:
        """The points for some keys, fit for some laws."""
        every = cls(sample, log_m, log_m)
        if len(log_m) <= MOST_KEYS:
            return every
        fewer = _of_grid(sample, log_m)
        off = max((_greatest_error(fewer, sample, law) for law in laws), default=0.0) if fewer else np.inf
        return every if fewer is None or off > ACCURATE else fewer

    def by_key(self, figure: Floats) -> Floats:
        """A figure of all keys from that of the points."""
        if self.grid is None or self.alone is None:
            return figure
        found = np.empty(len(self.of_keys))
        found[self.alone] = figure[self.grid.size :]
        found[self.grid.keys] = self.grid.interpolated(figure)
        return found

    def totals(self, amount: Floats) -> Floats:
        """Amounts of keys by point: the sum of amount times figure over these is that over the keys."""
        if self.grid is None or self.alone is None:
            return amount
        return np.concatenate([self.grid.totals(amount[self.grid.keys]), amount[self.alone]])


def _of_grid(sample: Sample, log_m: Floats) -> Points | None:
    """The grid for keys that lie together; None where it spares little."""
    apart, pattern = np.unique(sample.shown, return_inverse=True)
    frequent = np.bincount(pattern) >= LEAST_OF_PATTERN
    others = sample.mean_weight - sample.shown
    fit = sample.forecast & (sample.f <= GREATEST_COUNT) & (sample.f == np.rint(sample.f)) & (sample.f >= 1)
    keys = np.flatnonzero(fit & frequent[pattern] & (others >= LEAST_OTHERS) & (sample.mean_weight > 1))
    if not len(keys):
        return None
    forecast, weight = log_m[keys] / STEP, np.log(others[keys]) / WEIGHT_STEP
    first = np.column_stack([_first_line(log_m[keys]), np.floor(weight).astype(np.int64) - (LINES // 2 - 1)])
    least = first.min(axis=0)
    lines = first.max(axis=0) - least + LINES
    shape = (len(apart), len(COUNTS), int(lines[0]), int(lines[1]))
    place = np.column_stack([pattern[keys], sample.f[keys].astype(np.int64), first - least]).astype(np.int32)
    boxes = np.ravel_multi_index(tuple(place.T), (shape[0], GREATEST_COUNT + 1, shape[2], shape[3]))
    _, box, together = np.unique(boxes, return_inverse=True, return_counts=True)
    kept = together[box] >= LEAST_TOGETHER
    keys, place = keys[kept], np.ascontiguousarray(place[kept])
    at = np.column_stack([forecast, weight])[kept] - first[kept]
    point = np.full(shape, -1, dtype=np.int32)
    point_loops.mark(place, point, *_between_counts()[:2], LINES)
    used = np.nonzero(point >= 0)
    point[used] = np.arange(len(used[0]))
    alone = np.ones(len(log_m), dtype=np.bool_)
    alone[keys] = False
    rest = np.flatnonzero(alone)
    if len(used[0]) > len(keys) // 2:
        return None
    where = apart[used[0]]
    of_weight = where + np.exp((used[3] + least[1]) * WEIGHT_STEP)
    points = Sample(COUNTS[used[1]].astype(np.float64), where, of_weight, np.ones(len(where), dtype=np.bool_))
    both = _joined(points, sample.of(rest))
    of_points = np.concatenate([(used[2] + least[0]) * STEP, log_m[rest]])
    return Points(both, of_points, log_m, Grid(keys, place, at, point, len(where)), rest)


def _joined(first: Sample, second: Sample) -> Sample:
    """Two samples one below the other."""
    return Sample(*(np.concatenate([getattr(each, part.name) for each in (first, second)]) for part in fields(Sample)))


def _first_line(log_m: Floats) -> Ints:
    """The first of the grid lines around a forecast that its polynomial goes through: all on one side of each knot."""
    line = np.floor(log_m / STEP).astype(np.int64)
    knots = np.rint(KNOTS / STEP).astype(np.int64)
    segment = np.searchsorted(knots, line, side="right")
    first = line - (LINES // 2 - 1)
    low = np.where(segment > 0, knots[np.maximum(segment - 1, 0)], first)
    high = np.where(segment < len(knots), knots[np.minimum(segment, len(knots) - 1)] - (LINES - 1), first)
    return np.minimum(np.maximum(first, low), np.maximum(high, low))


def _parts(size: int) -> list[slice]:
    step = -(-size // PARTS) or 1
    return [slice(begin, begin + step) for begin in range(0, size, step)]


@cache
def _between_counts() -> tuple[Ints, Ints, Floats]:
    """By f the first of the counts that its polynomial goes through, how many they are, and their shares."""
    first, number = np.zeros(GREATEST_COUNT + 1, dtype=np.int64), np.ones(GREATEST_COUNT + 1, dtype=np.int64)
    shares = np.zeros((GREATEST_COUNT + 1, 4))
    shares[:, 0] = 1.0
    for f in range(1, GREATEST_COUNT + 1):
        above = int(np.searchsorted(COUNTS, f))
        first[f] = above
        if COUNTS[above] == f:
            continue
        first[f], number[f] = min(max(above - 2, 0), len(COUNTS) - 4), 4
        at = np.log(COUNTS[first[f] : first[f] + 4])
        for one in range(4):
            rest = np.delete(at, one)
            shares[f, one] = np.prod((np.log(f) - rest) / (at[one] - rest))
    return first, number, shares


def _greatest_error(points: Points, sample: Sample, law: Law) -> float:
    """By how much at most the interpolated risk of some keys is off, as a share of what it is."""
    assert points.grid is not None
    every = np.arange(0, len(points.grid.keys), max(len(points.grid.keys) // TRIED, 1))
    keys = points.grid.keys[every]
    few = points.grid._replace(keys=keys, place=points.grid.place[every], at=points.grid.at[every])
    found = few.interpolated(_risk(points.sample, points.log_m, law))
    return float(np.abs(found / _risk(sample.of(keys), points.of_keys[keys], law) - 1).max())


def _risk(sample: Sample, log_m: Floats, law: Law) -> Floats:
    log_mean, log_shape, _ = law.at(log_m)
    return Population(sample, log_mean, log_shape, law.power).moments(second=False)[0]
