"""Mean and covariance that noise is drawn from: of a file, and of each pattern of cells that may change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints

SINGULAR = 1e-13
"""A direction with less than this share of the variance is one in which the data do not vary."""
ENOUGH = 30
"""So many records with the same pattern are treated by themselves."""


class Moments(NamedTuple):
    """Mean and covariance of some variables."""

    centre: Floats
    """The means."""
    root: Floats
    """A matrix whose product with its transpose is the covariance; as many columns as there are directions."""

    @property
    def covariance(self) -> Floats:
        """The covariance matrix."""
        product: Floats = self.root @ self.root.T
        return product


class Group(NamedTuple):
    """Records of which the same cells may change, and what their noise is drawn from."""

    rows: Ints
    columns: Ints
    moments: Moments
    own: bool
    """Whether mean and covariance are those of these records themselves."""


def moments(values: Floats, weight: Floats) -> Moments:
    """Weighted mean and covariance of complete rows; with equal weights the ordinary ones, divided by n - 1.

    S = n/(n - 1) sum w (x - m)(x - m)' / sum w.

    >>> found = moments(np.array([[1.0], [2.0], [6.0]]), np.ones(3))
    >>> found.centre.tolist(), found.covariance.round(9).tolist()
    ([3.0], [[7.0]])
    """
    share = weight / weight.sum()
    centre: Floats = share @ values
    moved = values - centre
    # The mean of equal numbers may be off in the last digit: they do not vary all the same.
    moved[:, ~varying(values)] = 0.0
    covariance = (moved * share[:, None]).T @ moved * len(values) / max(len(values) - 1, 1)
    return Moments(centre, root_of(covariance))


def varying(values: Floats) -> Bools:
    """Which variables have more than one value."""
    varies: Bools = values.max(axis=0) > values.min(axis=0)
    return varies


def root_of(covariance: Floats) -> Floats:
    """A matrix L with L L' = S: Cholesky's, or of a singular S the directions that vary.

    >>> root = root_of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> root.shape, (root @ root.T).round(9).tolist()
    ((2, 1), [[4.0, 2.0], [2.0, 1.0]])
    """
    unit = np.sqrt(np.diag(covariance))
    unit = np.where(unit > 0, unit, 1.0)
    correlation = covariance / np.outer(unit, unit)
    spread, directions = np.linalg.eigh(correlation)
    if spread[0] > SINGULAR:
        root = np.linalg.cholesky(correlation)
    else:
        kept = spread > SINGULAR
        root = directions[:, kept] * np.sqrt(spread[kept])
    scaled: Floats = unit[:, None] * root
    return scaled


def groups(values: Floats, changeable: Bools, weight: Floats) -> list[Group]:
    """Records by the pattern of cells that may change, each with the mean and covariance for its noise.

    A pattern of at least 30 records has its own: what a method keeps, it keeps in each pattern, and so in the file. The
    few records of a smaller one take those of all records that have these cells (available cases); where those are too
    few or do not vary, those of each variable by itself, without correlation.
    """
    packed = np.packbits(changeable, axis=1)
    if (packed == packed[:1]).all():
        patterns, which = packed[:1], np.zeros(len(packed), dtype=np.int64)
    else:
        patterns, which = np.unique(packed, axis=0, return_inverse=True)
    single = [_of_one(values[:, place], changeable[:, place], weight) for place in range(values.shape[1])]
    found = []
    for place in range(len(patterns)):
        rows = np.flatnonzero(which.reshape(-1) == place)
        columns = np.flatnonzero(changeable[rows[0]]) if len(rows) else np.arange(0)
        if len(columns):
            found.append(_group(values, changeable, weight, rows, columns, [single[each] for each in columns]))
    return found


def _of_one(values: Floats, changeable: Bools, weight: Floats) -> Moments:
    """Of one variable, those of its cells that may change; zero without any."""
    if not changeable.any():
        return Moments(np.zeros(1), np.zeros((1, 0)))
    return moments(values[changeable, None], weight[changeable])


def _group(
    values: Floats, changeable: Bools, weight: Floats, rows: Ints, columns: Ints, single: list[Moments]
) -> Group:
    varies = np.array([each.root.size > 0 for each in single])
    available = np.flatnonzero(changeable[:, columns].all(axis=1))
    sources = [rows, available] if len(rows) >= ENOUGH else [available]
    for source in sources:
        part = values[np.ix_(source, columns)]
        if len(source) >= 2 * len(columns) + 2 and (varying(part) >= varies).all():
            return Group(rows, columns, moments(part, weight[source]), len(source) == len(rows))
    centre = np.array([each.centre[0] for each in single])
    spread = np.array([abs(each.root[0, 0]) if each.root.size else 0.0 for each in single])
    return Group(rows, columns, Moments(centre, np.diag(spread)), own=False)
