"""Numeric keys as coordinates, and how unlike two records are in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats
from tacita.distance.distances import (
    Metric,
    distances,
    euclidean,
    gower,
    mahalanobis_map,
    manhattan,
    mapped,
    norms,
    standard_weight,
    without_overflow,
)

METRICS = ("relative", "euclidean", "standardised", "manhattan", "mahalanobis", "gower")
"""How unlike two records are: the first is z = ||y - x|| / ||y||, the others are distances themselves."""
ZEROS = ("shift", "exclude")
"""What becomes of zeros on a log scale."""
LOGS = (False, True, "unit_free")
"""The scales: as numbers are, log, and log without units."""
SMALL = 0.1
"""On the unit-free scale zeros are shifted by the value that this share of the positive originals does not exceed."""


class Space(NamedTuple):
    """Released and original records in the coordinates that distances are taken in."""

    y: Floats
    x: Floats
    metric: Metric
    relative: bool
    """Whether distances are divided by the norm of y."""


def unit_free_log(x: Floats, y: Floats, *, shift: bool) -> tuple[Floats, Floats, Bools]:
    """Logarithms whose differences do not depend on the units of the keys, and which rows have them all.

    log x, or for a key that has zeros in either file, if they are shifted, log(1 + x/c). c is a small value of the
    key, the lower decile of the positive originals, so that all but the smallest values keep their ratios. Rows with a
    missing value, a negative one, or a zero that is not shifted have no logarithm.

    >>> x, y, kept = unit_free_log(np.array([[2.0], [0.0]]), np.array([[2.0], [4.0]]), shift=True)
    >>> x.round(3).tolist(), y.round(3).tolist()
    ([[0.693], [0.0]], [[0.693], [1.099]])
    """
    kept = np.all((x >= 0) & (y >= 0) if shift else (x > 0) & (y > 0), axis=1)
    logs = [np.full(x.shape, np.nan), np.full(y.shape, np.nan)]
    for key in range(x.shape[1]):
        pair = x[kept, key], y[kept, key]
        zeros = any((values == 0).any() for values in pair)
        for log, values in zip(logs, pair, strict=True):
            log[kept, key] = np.log1p(values / _small(pair[0])) if zeros else np.log(values)
    return logs[0], logs[1], kept


def _small(values: Floats) -> float:
    positive = values[values > 0]
    return float(np.quantile(positive, SMALL, method="inverted_cdf")) if len(positive) else 1.0


def space(y: Floats, x: Floats, metric: str, *, unit_free: bool = False) -> Space:
    """The records in the coordinates of a metric; what a metric needs of the spread is that of both files together.

    On the unit-free scale `relative` is the root mean square of the log ratios, which is relative already.
    """
    keys = x.shape[1]
    if metric in ("standardised", "mahalanobis"):
        unit = _units(x, y)
        x, y = x * unit, y * unit
    both = np.concatenate([x, y])
    both = both[np.lexsort(both.T)]  # sums must not depend on the order of a file
    if metric == "relative":
        weight = np.full(keys, 1.0 / np.sqrt(keys) if unit_free else 1.0)
        return Space(y, x, euclidean(weight), not unit_free)
    if metric == "mahalanobis":
        matrix = mahalanobis_map(both)
        if not matrix.shape[1]:  # nothing varies
            matrix = np.zeros((keys, 1))
        return Space(mapped(y, matrix), mapped(x, matrix), euclidean(np.ones(matrix.shape[1])), False)
    if metric == "gower":
        return Space(y, x, gower(np.ptp(both, axis=0), np.zeros(keys, np.bool_)), False)
    if metric == "manhattan":
        return Space(y, x, manhattan(np.ones(keys)), False)
    weight = standard_weight(both) if metric == "standardised" else np.ones(keys)
    return Space(y, x, euclidean(weight), False)


def _units(x: Floats, y: Floats) -> Floats:
    """By key a power of 2 with which no square overflows or vanishes; metrics that have no unit do not notice."""
    most = np.maximum(np.abs(x).max(axis=0, initial=0.0), np.abs(y).max(axis=0, initial=0.0))
    # Not beyond what a number can hold, for numbers so small that they have no room for all digits.
    unit: Floats = np.ldexp(1.0, np.minimum(-np.frexp(most)[1], 1000))
    return unit


def perturbation(where: Space) -> Floats:
    """d(y, x) / d(x, 0) by record; 0 where nothing moved, infinite where nothing was there to move."""
    metric, _ = without_overflow(where.metric, where.y, where.x)  # the unit drops out
    moved, length = distances(where.y, where.x, metric), norms(where.x, metric)
    share = np.divide(moved, length, out=np.full(len(moved), np.inf), where=length > 0)
    return np.where(moved == 0, 0.0, share)


def log_ratio(y: Floats, x: Floats) -> Floats:
    """The root mean square over the keys of log y - log x: about the share by which values were changed."""
    result: Floats = np.sqrt(((y - x) ** 2).mean(axis=1))
    return result
