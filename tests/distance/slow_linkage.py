"""Linkage straight from the definitions, on all n x n pairs. Sums are taken dimension by dimension, as is promised."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.distance.distances import GREATEST, MISMATCH, SQUARE, Metric, euclidean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sums(y: Floats, x: Floats, metric: Metric | None = None) -> Floats:
    metric = metric or euclidean(np.ones(y.shape[1]))
    total = np.zeros((len(y), len(x)))
    for j, (kind, weight) in enumerate(zip(metric.kind, metric.weight, strict=True)):
        difference = np.abs(y[:, None, j] - x[None, :, j])
        if kind == MISMATCH:
            difference = (difference > 0).astype(np.float64)
        difference = difference * weight
        if kind == GREATEST:
            total = np.maximum(total, difference)
        else:
            total = total + (difference * difference if kind == SQUARE else difference)
    return total


def distances(y: Floats, x: Floats, metric: Metric | None = None) -> Floats:
    total = sums(y, x, metric)
    return np.sqrt(total) if metric is None or metric.rooted else total


def z(y: Floats, x: Floats, metric: Metric | None = None, relative: bool = True) -> Floats:
    distance = distances(y, x, metric)
    norm = distances(y, np.zeros((1, y.shape[1])), metric) if relative else np.ones((len(y), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        result = distance / norm
    return np.where(distance == 0, 0.0, result)


class Critical(NamedTuple):
    delta: float
    largest: float
    smallest: float
    counted: int


def critical(z: Floats, alpha: float) -> Critical:
    others = np.sort(z[~np.eye(len(z), dtype=np.bool_)])
    if not len(others):
        return Critical(np.nan, np.nan, np.nan, 0)
    wanted = int(Fraction(repr(alpha)) * len(others))
    if wanted == len(others):
        return Critical(np.inf, np.nan, np.nan, wanted)
    smallest = others[wanted]
    below = others[others < smallest]
    if not len(below):
        return Critical(smallest / 2, np.nan, smallest, 0)
    middle = below[-1] + (smallest - below[-1]) / 2
    return Critical(middle if middle > below[-1] else smallest, below[-1], smallest, len(below))


def nearest(total: Floats, k: int) -> tuple[Ints, Floats, Ints]:
    """Rows and sums of the k nearest, lowest row first of equal ones, and how many share the least sum."""
    order = np.argsort(total, axis=1, kind="stable")[:, :k]
    rows, values = np.full((len(total), k), -1), np.full((len(total), k), np.inf)
    rows[:, : order.shape[1]], values[:, : order.shape[1]] = order, np.take_along_axis(total, order, axis=1)
    return rows, values, np.sum(total == total.min(axis=1, keepdims=True), axis=1)


def files(kind: str, n: int, dimensions: int, seed: int) -> tuple[Floats, Floats]:
    """Released and original records of some kind."""
    draw = np.random.default_rng(seed)
    x = np.exp(draw.normal(size=(n, dimensions)))
    y = x * np.exp(0.1 * draw.normal(size=x.shape))
    if kind == "ties":
        x = draw.integers(0, 30, x.shape).astype(np.float64)
        y = x + draw.integers(-1, 2, x.shape)
    elif kind == "duplicates":  # whole records several times, and rows of zeros
        x = draw.integers(0, 2, x.shape) * draw.choice([0.1, 0.7, 3.0], dimensions)
        y = np.where(draw.random((n, 1)) < 0.7, x, draw.integers(0, 3, x.shape) / 10)
    elif kind == "constant":
        x[:, 0] = 5.0
        y[:, 0] = 5.0
    elif kind == "unchanged":
        y = x.copy()
    elif kind == "negative":
        x, y = x - 1.0, y - 1.0
    elif kind == "same":
        x = np.full_like(x, 2.0)
        y = x.copy()
    return y, x


KINDS = ("plain", "ties", "duplicates", "constant", "unchanged", "negative", "same")
