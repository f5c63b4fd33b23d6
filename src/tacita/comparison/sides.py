"""What a comparison before and after holds of each variable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.comparison import distributions as kernels
from tacita.comparison.classes import MISSING, Classes, class_counts, class_shares, pooled
from tacita.comparison.distributions import Box, Lorenz, Sorted, few
from tacita.comparison.number_line import NumberLine


class NumberSide(NamedTuple):
    """The distribution of a number in one of the files."""

    records: int
    """Records with a value."""
    missing: float
    """The share of the records without."""
    zeros: float
    """The share of the values that are 0, where zeros stand apart from a log scale; 0 elsewhere."""
    counts: Ints
    """Records by bin, without zeros that stand apart; nothing where fewer than three have a value."""
    shares: Floats
    """The share of all values in each bin."""
    density: Floats
    """At the places of the grid, per unit of the axis, the whole being 1 less the zeros that stand apart; NaN where too
    few records are near."""
    box: Box | None
    """On the axis, without zeros that stand apart."""
    lorenz: Lorenz | None
    """None where a value is negative or all are 0."""


class NumberComparison(NamedTuple):
    """A number before and after."""

    variable: str
    group: str
    """The group of records; empty: all of them."""
    line: NumberLine
    edges: Floats
    """Of the bins, on the axis."""
    grid: Floats
    """Places of the density, on the axis."""
    original: NumberSide
    released: NumberSide
    distance: float
    """Kolmogorov and Smirnov's: 0 the same distribution, 1 nothing in common."""


class CategoryComparison(NamedTuple):
    """A categorical variable before and after, in common classes."""

    variable: str
    group: str
    """The group of records; empty: all of them."""
    labels: tuple[str, ...]
    original: Floats
    """The share of each class, missing ones as a class of their own."""
    released: Floats
    counts: Ints
    """By file and class: records."""
    ordered: bool
    pooled: int
    """How many classes were put together."""
    pooled_missing: bool
    """Whether missing values are among them."""
    distance: float
    """Half the sum of the differences: 0 the same shares, 1 nothing in common."""

    @property
    def missing_at(self) -> int | None:
        """The place of the class of missing values; None if it has none of its own."""
        return self.labels.index(MISSING) if MISSING in self.labels else None


def compare_categories(
    name: str, group: str, classes: Classes, weights: tuple[Floats, Floats], most: int, public: bool
) -> CategoryComparison:
    """A categorical variable of two files: shares by class."""
    files, size = (classes.original, classes.released), len(classes.labels)
    counts = np.stack([class_counts(codes, size) for codes in files])
    pool = pooled(classes.labels, counts, most, public)
    shares = [class_shares(codes, weight, size) for codes, weight in zip(files, weights, strict=True)]
    distance = kernels.half_difference(shares[0], shares[1])
    width = len(pool.labels)
    together = [np.bincount(pool.into, weights=each, minlength=width).astype(np.float64) for each in shares]
    summed = np.stack([np.bincount(pool.into, weights=each, minlength=width) for each in counts]).astype(np.int64)
    hidden = bool(counts[:, -1].any()) and MISSING not in pool.labels
    return CategoryComparison(
        name, group, pool.labels, together[0], together[1], summed, classes.ordered, pool.pooled, hidden, distance
    )


class _Part(NamedTuple):
    """The values of a file that lie on the axis, and what stands apart."""

    whole: Sorted
    shown: Sorted
    """On the axis."""
    missing: float
    zeros: float


def compare_numbers(
    name: str,
    group: str,
    line: NumberLine,
    files: tuple[Floats, Floats],
    weights: tuple[Floats, Floats],
    bins: int,
    public: bool,
) -> NumberComparison:
    """A number of two files on a common axis: bins, densities, boxes, Lorenz curves and the distance."""
    parts = [_part(values, weight, line, public) for values, weight in zip(files, weights, strict=True)]
    known = [each for each in (kernels.ends(part.shown.values) for part in parts) if each is not None]
    distance = kernels.greatest_gap(parts[0].whole, parts[1].whole)
    if not known:
        edges, grid = np.empty(0), np.empty(0)
        sides = [_side(part, edges, np.empty(0), grid) for part in parts]
        return NumberComparison(name, group, line, edges, grid, sides[0], sides[1], distance)
    low, high = min(each[0] for each in known), max(each[1] for each in known)
    whole = line.kind == "linear" and kernels.are_whole(*files)
    edges = kernels.bin_edges(low, high, bins, whole)
    counted = np.stack([kernels.counted(part.shown.values, edges) for part in parts if _enough(part)])
    edges = edges[kernels.joined_bins(counted, everywhere=public)]
    smooth = kernels.varies(low, high) and not kernels.is_discrete(low, high, whole)
    width = _bandwidth(parts) if smooth else 0.0
    bound = 0.0 if line.kind == "linear" and _least(parts) >= 0 else None
    start = low - kernels.REACH * width
    start = start if bound is None else max(start, bound)
    grid = np.linspace(start, high + kernels.REACH * width, kernels.GRID) if width else np.empty(0)
    sides = [_side(part, edges, _density(part, grid, width, low, high, bound), grid) for part in parts]
    return NumberComparison(name, group, line, edges, grid, sides[0], sides[1], distance)


def _bandwidth(parts: list[_Part]) -> float:
    """That of the original for both files, so that they differ by their values alone; of the release if it has none."""
    found = (kernels.bandwidth(part.shown) for part in parts if _enough(part))
    return next((width for width in found if width), 0.0)


def _least(parts: list[_Part]) -> float:
    return min(float(part.whole.values.min(initial=np.inf)) for part in parts)


def _part(values: Floats, weights: Floats, line: NumberLine, public: bool) -> _Part:
    there, on = ~np.isnan(values), line.on(values)
    zeros = there & ~on
    of_missing, of_zeros = _share(~there, weights, public), _share(zeros[there], weights[there], public)
    whole = kernels.in_order(values[there], weights[there])
    # The axis keeps the order.
    shown = line.on(whole.values)
    return _Part(whole, Sorted(line.along(whole.values[shown]), whole.weights[shown]), of_missing, of_zeros)


def _share(where: Bools, weights: Floats, public: bool) -> float:
    """The share of some records; NaN in public if they, or the others, are one or two."""
    if public and bool(few(np.array([where.sum(), (~where).sum()])).any()):
        return np.nan
    total = weights.sum()
    return float(weights[where].sum() / total) if total > 0 else 0.0


def _enough(part: _Part) -> bool:
    return len(part.shown.values) >= kernels.LEAST_RECORDS


def _density(part: _Part, grid: Floats, width: float, low: float, high: float, bound: float | None) -> Floats:
    if not _enough(part) or not len(grid):
        return np.full(len(grid), np.nan)
    return kernels.density(part.shown, grid, width, low, high, bound)


def _side(part: _Part, edges: Floats, density: Floats, grid: Floats) -> NumberSide:
    enough = _enough(part) and len(edges) > 1
    size = max(len(edges) - 1, 0)
    on_axis = float(part.shown.weights.sum() / part.whole.weights.sum()) if enough else 0.0
    return NumberSide(
        records=len(part.whole.values),
        missing=part.missing,
        zeros=part.zeros,
        counts=kernels.counted(part.shown.values, edges) if enough else np.zeros(size, dtype=np.int64),
        shares=kernels.shares(part.shown, edges) * on_axis if enough else np.zeros(size),
        density=density * on_axis if enough else np.full(len(grid), np.nan),
        box=kernels.box(part.shown),
        lorenz=kernels.lorenz(part.whole),
    )
