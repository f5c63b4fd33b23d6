"""One-to-one assignment: every record of one file gets a record of its own in the other, at the least total distance.

Records of one variable are assigned by their order, small files by the dense algorithm, others by `auction`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.distance.auction import auction
from tacita.distance.distances import GREATEST, MISMATCH, SQUARE, Metric, euclidean
from tacita.distance.equal_rows import coincident
from tacita.distance.in_order import in_order
from tacita.distance.links import own_distances
from tacita.progress import Progress, no_progress

DENSE = 1_000_000
"""Up to this many pairs a matrix of all distances is made; beyond, the auction is faster."""
EXACT = 1e-9
"""A total within this share of the bound is taken for the least one."""


MOST_ROOM = 500_000_000
"""Bytes for the choices of records of one variable, where some of the longer file stay alone."""
STRAIGHT = 1e-13
"""Points are on a line if they are no farther from it than this share of its length."""


class Assignment(NamedTuple):
    """Who is assigned to whom."""

    partner: Ints
    """By row of the first file: the row of the second, -1 for rows left over if the first file is longer."""
    distance: Floats
    """By row of the first file: the distance of its partner, NaN if it has none."""
    total: float
    """The sum of the distances."""
    bound: float
    """No assignment has a smaller sum."""


def assign(
    x: Floats,
    y: Floats,
    metric: Metric,
    *,
    gap: float = EXACT,
    dense: int = DENSE,
    progress: Progress = no_progress,
) -> Assignment:
    """The one-to-one assignment of rows of x to rows of y of least total distance.

    With fewer rows in one file some of the other stay alone. The total is within `gap` of the bound, which is a share
    of the total; below 1e-9 the assignment is the best one. `dense`: up to how many pairs all distances are computed.

    References: Bertsekas (1988), The auction algorithm: a distributed relaxation method for the assignment problem.
    Annals of Operations Research 14; Crouse (2016), On implementing 2D rectangular assignment algorithms.

    >>> from tacita.distance.distances import euclidean
    >>> found = assign(np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]]), euclidean(np.ones(1)))
    >>> found.total, found.bound
    (2.0, 2.0)
    """
    if len(x) > len(y):
        turned = assign(y, x, metric, gap=gap, dense=dense, progress=progress)
        partner, away = np.full(len(x), -1), np.full(len(x), np.nan)
        partner[turned.partner], away[turned.partner] = np.arange(len(y)), turned.distance
        return Assignment(partner, away, turned.total, turned.bound)
    used = metric.weight > 0
    kept = Metric(metric.kind[used], metric.weight[used], metric.rooted)
    x, y = (np.ascontiguousarray(values[:, used], dtype=np.float64) for values in (x, y))
    if not used.any():
        return Assignment(np.arange(len(x)), np.zeros(len(x)), 0.0, 0.0)
    partner = coincident(x, y)
    rows, columns = np.flatnonzero(partner < 0), np.setdiff1d(np.arange(len(y)), partner)
    away, bound = np.zeros(len(x)), 0.0
    if len(rows):
        found, away[rows], bound = _assigned(x[rows], y[columns], kept, gap, dense, progress)
        partner[rows] = columns[found]
    total = float(away.sum())
    return Assignment(partner, away, total, min(bound, total))


def _assigned(
    x: Floats, y: Floats, metric: Metric, gap: float, dense: int, progress: Progress
) -> tuple[Ints, Floats, float]:
    """For each row of x its row of y, the distance, and what no assignment can beat: infinite if this is the best."""
    if x.shape[1] > 1 and MISMATCH not in metric.kind:
        line = on_a_line(x * metric.weight, y * metric.weight)
        if line is not None:
            found, *_ = _assigned(*line, euclidean(np.ones(1)), gap, dense, progress)
            return found, own_distances(x, y[found], metric), np.inf
    if len(x) == len(y) and x.shape[1] == 1:
        return *_assigned_by_rank(x, y, metric), np.inf
    if x.shape[1] == 1 and metric.kind[0] != MISMATCH and len(x) * (len(y) - len(x) + 1) <= MOST_ROOM:
        found = assigned_in_order(x[:, 0], y[:, 0])
        return found, own_distances(x, y[found], metric), np.inf
    if len(x) * len(y) <= dense:
        return *_dense(x, y, metric), np.inf
    # The wider file bids: somebody must take the outlying records of the other one, for which prices have to rise long.
    if len(x) == len(y) and _width(x, metric) < _width(y, metric):
        found, away, bound = auction(y, x, metric, gap, progress)
        partner, cost = np.empty_like(found), np.empty_like(away)
        partner[found], cost[found] = np.arange(len(y)), away
        return partner, cost, bound
    return auction(x, y, metric, gap, progress)


def on_a_line(x: Floats, y: Floats) -> tuple[Floats, Floats] | None:
    """Places along the line that all points of both files are on; None if there is none.

    In every metric that is the same along a line as far as it goes, distances are then those of one variable.

    >>> first, second = on_a_line(np.array([[0.0, 1.0], [1.0, 3.0]]), np.array([[2.0, 5.0]]))
    >>> bool((first[1] - first[0] == second[0] - first[1]).all())
    True
    """
    points = np.concatenate([x, y])
    centred = points - points[0]
    far = int(np.abs(centred).max(axis=1).argmax())
    length = float(np.sqrt(np.square(centred[far]).sum()))
    if not 0.0 < length < np.inf:
        return None
    direction = centred[far] / length
    along = centred @ direction
    if np.abs(centred - along[:, None] * direction).max() > STRAIGHT * length:
        return None
    return along[: len(x), None], along[len(x) :, None]


def assigned_in_order(x: Floats, y: Floats) -> Ints:
    """For each number of the shorter list its own of the longer one, at the least sum of differences.

    Partners stand in the same order, since no two gain by an exchange. So the i-th number goes to place i + s of the
    longer list, where s never falls, and what is best up to i with s at most t follows from what was best before.

    >>> assigned_in_order(np.array([5.0, 1.0]), np.array([4.0, 9.0, 1.5])).tolist()
    [0, 2]
    """
    first, second = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    places = in_order(x[first], y[second])
    partner = np.empty(len(x), np.int64)
    partner[first] = second[places]
    return partner


def _width(values: Floats, metric: Metric) -> float:
    """How far records are from the middle, on average."""
    middle = np.broadcast_to(np.median(values, axis=0), values.shape)
    return float(own_distances(values, middle, metric).mean())


def all_distances(x: Floats, y: Floats, metric: Metric) -> Floats:
    """The distance of every row of x from every row of y."""
    total = np.zeros((len(x), len(y)))
    for j, (kind, weight) in enumerate(zip(metric.kind, metric.weight, strict=True)):
        if kind == MISMATCH:
            total += weight * (x[:, j, None] != y[None, :, j])
            continue
        difference = np.abs(x[:, j, None] - y[None, :, j]) * weight
        if kind == SQUARE:
            difference *= difference
        if kind == GREATEST:
            np.maximum(total, difference, out=total)
        else:
            total += difference
    return np.sqrt(total, out=total) if metric.rooted else total


def _dense(x: Floats, y: Floats, metric: Metric) -> tuple[Ints, Floats]:
    from scipy.optimize import linear_sum_assignment

    matrix = all_distances(x, y, metric)
    rows, columns = linear_sum_assignment(matrix)
    return columns, matrix[rows, columns]


def _assigned_by_rank(x: Floats, y: Floats, metric: Metric) -> tuple[Ints, Floats]:
    """Of one variable the lowest goes to the lowest and so on: no two partners gain by an exchange."""
    partner = np.empty(len(x), np.int64)
    partner[np.argsort(x[:, 0], kind="stable")] = np.argsort(y[:, 0], kind="stable")
    return partner, own_distances(x, y[partner], metric)
