"""Orders of records along one axis: a principal component, plain or robust, or a direction of largest spread."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.distance.covariance import squared_distance
from tacita.distance.distances import mahalanobis_map, mapped
from tacita.protect.code_outliers import middle
from tacita.random import Draws

DIRECTIONS = 500
"""Directions that projection pursuit tries, each through a record."""
JUDGES = 5000
"""Records on which a direction is judged; of a larger file they are drawn by record number."""
SEED = 1
"""The draws choose directions only, which nobody could undo: a plan does the same every time."""


def ascending(scores: Floats) -> Ints:
    """The rows in the order of their scores, the lowest row first of equal ones."""
    return np.argsort(scores, kind="stable")


def principal_component(scaled: Floats) -> Floats:
    """By record: its score on the first principal component of the correlation matrix.

    The loading that is largest in size is positive, so that the order does not depend on a library.

    >>> principal_component(np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])).round(2).tolist()
    [1.41, 2.83, 5.66]
    """
    return _along(scaled, _covariance(scaled))


def robust_component(scaled: Floats, records: Ints) -> Floats:
    """By record: its score on the first principal component of the robust covariance (MCD).

    Directions in which the file does not vary, as those of sums of other variables, are left out first; see `_bulk`.
    """
    directions = _varying(scaled)
    if directions.shape[1] < 2:
        return principal_component(scaled)
    turned = mapped(scaled, directions)
    return _along(turned, _bulk(turned, records)[1])


def robust_distance(values: Floats, records: Ints) -> Floats:
    """By record: its squared Mahalanobis distance from the centre of the bulk (MCD), collinear variables or not."""
    whitened = mapped(values, mahalanobis_map(values))
    if whitened.shape[1] == 0:
        return np.zeros(len(values))
    return squared_distance(whitened, *_bulk(whitened, records))


def projection_pursuit(scaled: Floats, records: Ints) -> Floats:
    """By record: its score in the direction of largest spread, measured by the median absolute deviation.

    The directions tried go from the median through the records.

    Reference: Croux and Ruiz-Gazen (2005), High breakdown estimators for principal components: the projection-pursuit
    approach revisited. Journal of Multivariate Analysis 95.

    >>> projection_pursuit(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [9.0, 0.1]]), np.arange(4)).round(1).tolist()
    [-1.5, -0.5, 0.5, 7.5]
    """
    centred = scaled - np.median(scaled, axis=0)
    drawn = np.argsort(Draws(SEED).step("directions").bits(records), kind="stable")
    length = np.sqrt((centred**2).sum(axis=1))
    through = drawn[length[drawn] > 0][:DIRECTIONS]
    if not len(through):
        return np.zeros(len(scaled))
    directions = centred[through] / length[through, None]
    projected = mapped(centred[drawn[:JUDGES]], directions.T)
    spread = np.median(np.abs(projected - np.median(projected, axis=0)), axis=0)
    best = directions[int(spread.argmax())]
    return mapped(centred, (best * np.sign(best[np.abs(best).argmax()]))[:, None])[:, 0]


def _bulk(values: Floats, records: Ints) -> tuple[Floats, Floats]:
    """Centre and covariance of the bulk of the records (MCD).

    Where the records are too few for that, or most of them lie in a plane, it is the mean and covariance of all.
    """
    try:
        return middle(values, records, robust=True)
    except TacitaError:
        return middle(values, records, robust=False)


def _covariance(scaled: Floats) -> Floats:
    if len(scaled) < 2:
        return np.eye(scaled.shape[1])
    return np.atleast_2d(np.cov(scaled, rowvar=False))


def _varying(scaled: Floats) -> Floats:
    """Directions of the principal components in which the file varies, as columns."""
    variance, directions = np.linalg.eigh(_covariance(scaled))
    return np.asarray(directions[:, variance > 1e-12 * max(variance.max(), 0.0)])


def _along(scaled: Floats, covariance: Floats) -> Floats:
    try:
        direction = np.linalg.eigh(covariance)[1][:, -1]
    except np.linalg.LinAlgError:
        raise TacitaError("the principal components cannot be found; use method='mdav'.") from None
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    return mapped(scaled, direction[:, None])[:, 0]
