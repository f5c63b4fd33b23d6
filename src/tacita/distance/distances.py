"""Distances between records, by one formula everywhere, and bounds on them that rounding cannot break.

A distance is a sum over the dimensions, taken in their order, of what the two values contribute; the Euclidean one is
the root of it. Each contribution grows with the difference, and rounding never turns an order around: so the sum of
the least differences of two boxes is, in floating point too, not above the sum of any pair of points in them, and a
limit on the distance is a limit on the sum. Whole boxes are decided exactly as their points would be.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.compiled import compiled

SQUARE, ABSOLUTE, GREATEST, MISMATCH = 0, 1, 2, 3
"""What a dimension contributes: its difference squared, as it is, only if it is the greatest; 1 if values differ."""
LARGEST = float(np.finfo(np.float64).max)


class Metric(NamedTuple):
    """How far apart two records are."""

    kind: Ints
    """By dimension: what it contributes."""
    weight: Floats
    """By dimension: what a difference is multiplied by, and not the values, so that equal differences stay equal."""
    rooted: bool
    """Whether the distance is the root of the sum."""


def euclidean(weight: Floats) -> Metric:
    """sqrt(sum (w_j (x_j - y_j))^2); weights 1, or 1 / standard deviation for standardised columns."""
    return Metric(np.full(len(weight), SQUARE), np.asarray(weight, dtype=np.float64), True)


def manhattan(weight: Floats) -> Metric:
    """sum w_j |x_j - y_j|."""
    return Metric(np.full(len(weight), ABSOLUTE), np.asarray(weight, dtype=np.float64), False)


def chebyshev(weight: Floats) -> Metric:
    """max w_j |x_j - y_j|."""
    return Metric(np.full(len(weight), GREATEST), np.asarray(weight, dtype=np.float64), False)


def gower(width: Floats, categorical: Bools, weight: Floats | None = None) -> Metric:
    """sum w_j d_j / sum w_j with d_j = |x_j - y_j| / width_j, or 1 if two categories (given as codes) differ, else 0.

    A column without width (its greatest less its least value, of both files) tells nobody apart and contributes 0.
    Gower (1971), A general coefficient of similarity and some of its properties. Biometrics 27.

    >>> gower(np.array([50.0, 3.0]), np.array([False, True])).weight.tolist()
    [0.01, 0.5]
    """
    weight = np.ones(len(width)) if weight is None else np.asarray(weight, dtype=np.float64)
    divisor = np.where(categorical, 1.0, width)
    share = np.divide(weight / weight.sum(), divisor, out=np.zeros(len(width)), where=divisor > 0)
    return Metric(np.where(categorical, MISMATCH, ABSOLUTE), share, False)


def standard_weight(values: Floats) -> Floats:
    """1 / standard deviation of each column; 0 for a constant one, which distinguishes no records.

    >>> standard_weight(np.array([[1.0, 5.0], [3.0, 5.0]])).round(3).tolist()
    [0.707, 0.0]
    """
    if len(values) < 2:
        return np.zeros(values.shape[1])
    # In a unit, a power of 2, in which no square overflows or vanishes: it changes no digit.
    unit = np.ldexp(1.0, np.minimum(-np.frexp(np.abs(values).max(axis=0))[1], 1000))
    spread = (values * unit).std(axis=0, ddof=1)
    varies = np.ptp(values, axis=0) > 0
    with np.errstate(over="ignore"):
        weight = np.divide(unit, spread, out=np.zeros(len(spread)), where=varies & (spread > 0))
    # Numbers next to zero would get a weight that no number can hold.
    return np.asarray(np.minimum(weight, np.finfo(np.float64).max))


def mahalanobis_map(values: Floats) -> Floats:
    """The matrix A for which the Euclidean distance of `mapped(x, A)` is the Mahalanobis distance of x.

    A A' is the inverse of the covariance matrix of the values. Directions in which they do not vary are left out.

    >>> mahalanobis_map(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])).round(3).tolist()
    [[0.866, 0.0], [0.0, 0.866]]
    """
    columns = values.shape[1]
    unit = standard_weight(values)  # first on one scale, so that small columns are not taken for constants
    covariance = np.atleast_2d(np.cov(values * unit, rowvar=False)) if len(values) > 1 else np.zeros((columns, columns))
    variance, direction = np.linalg.eigh(covariance)
    kept = variance > 1e-12 * max(variance.max(), 0.0)
    return np.ascontiguousarray(unit[:, None] * direction[:, kept] / np.sqrt(variance[kept]))


def mapped(values: Floats, matrix: Floats) -> Floats:
    """Values times a matrix, equal rows to equal rows: a library's product may round rows by where they stand."""
    result = np.zeros((len(values), matrix.shape[1]))
    for column, row in zip(values.T, matrix, strict=True):
        result += column[:, None] * row
    return result


def log_scale(values: Floats, zeros: Literal["shift", "exclude"] = "shift") -> tuple[Floats, Bools]:
    """Logarithms, and which rows have them all: log(1 + x) of x >= 0 (`shift`), or log x of x > 0 (`exclude`).

    Rows with a value out of range are NaN throughout; the caller leaves them out and counts them.

    >>> log_scale(np.array([[0.0], [np.e]]), "exclude")[1].tolist()
    [False, True]
    """
    if zeros not in ("shift", "exclude"):
        raise TacitaError(f"zeros must be 'shift' or 'exclude'; got {check.given(zeros)}.")
    kept = np.all(values >= 0 if zeros == "shift" else values > 0, axis=1)
    logarithm = np.full(values.shape, np.nan)
    logarithm[kept] = np.log1p(values[kept]) if zeros == "shift" else np.log(values[kept])
    return logarithm, kept


def without_overflow(metric: Metric, *values: Floats) -> tuple[Metric, float]:
    """The metric in a unit, a power of 2, in which no square overflows; and the unit.

    A power of 2 changes no digit, so relative distances are the same to the bit, and others after division by it.
    """
    most = max((float(np.max(np.abs(array) * metric.weight, initial=0.0)) for array in values), default=0.0)
    # Not beyond what a number can hold, for numbers so small that they have no room for all digits.
    unit = float(np.ldexp(1.0, min(-int(np.frexp(most)[1]), 1000))) if most > 0 else 1.0
    mismatch = metric.kind == MISMATCH
    return (metric, 1.0) if mismatch.any() else (metric._replace(weight=metric.weight * unit), unit)


def norms(values: Floats, metric: Metric) -> Floats:
    """The distance of each row from 0."""
    if (metric.kind == MISMATCH).any():
        raise TacitaError("categories have no size to compare a distance with; use relative=False.")
    return distances(values, np.zeros((len(values), values.shape[1])), metric)


def distances(values: Floats, others: Floats, metric: Metric) -> Floats:
    """The distance of each row from the same row of the others."""
    total = pair_sums(np.asarray(others).T, np.arange(len(values)), values, metric)
    return np.sqrt(total) if metric.rooted else total


def pair_sums(columns: Floats, places: Ints, values: Floats, metric: Metric) -> Floats:
    """The sum of each row of values and a point, given by dimension and place: to the bit what `sum_at` has.

    In NumPy, since this is done once for each record: a loop would take longer to compile than to run.
    """
    total = np.zeros(len(values))
    with np.errstate(over="ignore"):
        for j, (kind, weight) in enumerate(zip(metric.kind, metric.weight, strict=True)):
            difference = np.abs(columns[j][places] - values[:, j])
            if kind == MISMATCH:
                difference = (difference > 0.0).astype(np.float64)
            difference *= weight
            if kind == SQUARE:
                total += difference * difference
            elif kind == GREATEST:
                np.maximum(total, difference, out=total)
            else:
                total += difference
    return total


def relatives(total: Floats, norm: Floats, rooted: bool) -> Floats:
    """The comparison variable of each pair, to the bit what `relative` has."""
    distance = np.sqrt(total) if rooted else total
    with np.errstate(over="ignore"):
        return np.divide(distance, norm, out=np.where(distance > 0.0, np.inf, 0.0), where=norm > 0.0)


@compiled
def _plus(total: float, difference: float, kind: int, weight: float) -> float:
    """The sum with what one dimension contributes; never less for a greater difference."""
    if kind == MISMATCH:
        difference = 1.0 if difference > 0.0 else 0.0
    difference *= weight
    if kind == SQUARE:
        return total + difference * difference
    return max(total, difference) if kind == GREATEST else total + difference


@compiled
def sum_at(columns: Floats, place: int, values: Floats, row: int, metric: Metric) -> float:
    """The sum of one pair: a point, given by dimension and place, and a row of values."""
    total = 0.0
    for j in range(len(metric.weight)):
        total = _plus(total, abs(columns[j, place] - values[row, j]), metric.kind[j], metric.weight[j])
    return total


@compiled
def sums(block: Floats, size: int, values: Floats, begin: int, end: int, metric: Metric, out: Floats) -> None:
    """By row of values from `begin` on and first points of a block: the sums as `sum_at` has them, vectorised."""
    for i in range(end - begin):
        for k in range(size):
            out[i, k] = 0.0
        for j in range(len(metric.weight)):
            value, weight, kind = values[begin + i, j], metric.weight[j], metric.kind[j]
            if kind == SQUARE:
                for k in range(size):
                    difference = (block[j, k] - value) * weight
                    out[i, k] += difference * difference
            elif kind == GREATEST:
                for k in range(size):
                    out[i, k] = max(out[i, k], abs(block[j, k] - value) * weight)
            elif kind == ABSOLUTE:
                for k in range(size):
                    out[i, k] += abs(block[j, k] - value) * weight
            else:
                for k in range(size):
                    out[i, k] += weight if block[j, k] != value else 0.0


@compiled
def near_sum(low: Floats, high: Floats, a: int, low_b: Floats, high_b: Floats, b: int, metric: Metric) -> float:
    """No pair of points of box a and box b has a smaller sum. A row of values is a box too, low and high at once."""
    total = 0.0
    for j in range(len(metric.weight)):
        least = max(low[a, j] - high_b[b, j], low_b[b, j] - high[a, j], 0.0)
        total = _plus(total, least, metric.kind[j], metric.weight[j])
    return total


@compiled
def far_sum(low: Floats, high: Floats, a: int, low_b: Floats, high_b: Floats, b: int, metric: Metric) -> float:
    """No pair of points of box a and box b has a greater sum."""
    total = 0.0
    for j in range(len(metric.weight)):
        most = max(high[a, j] - low_b[b, j], high_b[b, j] - low[a, j])
        total = _plus(total, most, metric.kind[j], metric.weight[j])
    return total


@compiled
def relative(total: float, norm: float, rooted: bool) -> float:
    """The comparison variable z: distance over norm; for norm 0 it is 0 if there is no distance, else infinite."""
    distance = np.sqrt(total) if rooted else total
    if norm > 0.0:
        return float(distance / norm)
    return np.inf if distance > 0.0 else 0.0


@compiled
def greatest_sums(delta: Floats, norm: Floats, rooted: bool) -> Floats:
    """By record: the greatest sum for which z < delta, -1 if there is none. Smaller sums have no greater z."""
    result = np.empty(len(delta))
    for i in range(len(delta)):
        result[i] = _greatest_sum(delta[i], norm[i], rooted)
    return result


@compiled
def _greatest_sum(delta: float, norm: float, rooted: bool) -> float:
    if not delta > 0.0:
        return -1.0
    guess = delta * norm
    if rooted:
        guess *= guess
    low, high = guess * (1.0 - 1e-15), guess * (1.0 + 1e-15)
    if not (relative(low, norm, rooted) < delta and relative(high, norm, rooted) >= delta):
        low, high = 0.0, LARGEST  # rare: norm 0, or numbers near the ends of the scale
        if relative(high, norm, rooted) < delta:
            return high
    # Numbers >= 0 have the order of their bits: halving those takes few steps even if the scale is wide.
    first, last = np.float64(low).view(np.int64), np.float64(high).view(np.int64)
    while last - first > 1:
        middle = first + (last - first) // 2
        if relative(np.int64(middle).view(np.float64), norm, rooted) < delta:
            first = middle
        else:
            last = middle
    return float(np.int64(first).view(np.float64))
