"""What a researcher estimates from several columns of numbers, and how far it is off after protection."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.distance.covariance import mcd
from tacita.loss.numbers.correlations import as_correlation, correlation, covariance, rank_correlation
from tacita.random import Draws


class Matrices(NamedTuple):
    """Covariances and correlations of the records that show all variables."""

    covariance: Floats
    correlation: Floats
    rank: Floats
    """Spearman's correlation."""
    robust: Floats | None = None
    """The covariance of the core of the data, by the minimum covariance determinant."""


def matrices(values: Floats, weights: Floats | None, seed: int | None, records: Ints) -> Matrices:
    """The matrices of complete records; the robust one where there is a seed. It takes all records alike."""
    robust = None
    if seed is not None:
        robust = mcd(values, Draws(seed).step("covariance"), records=records).covariance
    return Matrices(
        covariance(values, weights), correlation(values, weights), rank_correlation(values, weights), robust
    )


def relative_deviation(before: Floats, after: Floats) -> float:
    """The mean of |after - before| / |before| over what was not 0; NaN where nothing was.

    >>> relative_deviation(np.array([2.0, 0.0, 4.0]), np.array([3.0, 1.0, 4.0]))
    0.25
    """
    known = np.isfinite(before) & np.isfinite(after) & (before != 0)
    return float(np.mean(np.abs((after - before)[known] / before[known]))) if known.any() else float("nan")


def signed_deviation(before: Floats, after: Floats) -> float:
    """The mean of (after - before) / |before|: above 0 where figures grew."""
    known = np.isfinite(before) & np.isfinite(after) & (before != 0)
    return float(np.mean((after - before)[known] / np.abs(before[known]))) if known.any() else float("nan")


def absolute_deviation(before: Floats, after: Floats) -> float:
    """The mean of |after - before|; NaN where nothing can be compared."""
    known = np.isfinite(before) & np.isfinite(after)
    return float(np.mean(np.abs((after - before)[known]))) if known.any() else float("nan")


def triangle(matrix: Floats, *, diagonal: bool) -> Floats:
    """The entries of a symmetric matrix, each once."""
    return matrix[np.triu_indices(len(matrix), 0 if diagonal else 1)]


def loadings(matrix: Floats) -> Floats:
    """Principal components of a correlation matrix, one per column, the largest first; the entry of greatest size of
    each is positive, since a component has no sign of its own.

    >>> loadings(np.array([[1.0, 0.5], [0.5, 1.0]])).round(3).tolist()
    [[0.707, 0.707], [0.707, -0.707]]
    """
    if not np.isfinite(matrix).all():
        return np.full(matrix.shape, np.nan)
    components = np.linalg.eigh(matrix)[1][:, ::-1]
    # Of two entries that differ by rounding alone the first decides.
    largest = np.argmax(np.abs(components).round(9), axis=0)
    signed: Floats = components * np.sign(components[largest, np.arange(len(matrix))])
    return signed


def loadings_deviation(before: Floats, after: Floats) -> float:
    """The mean absolute difference of the loadings, each component after protection turned to the side of the first."""
    one, two = loadings(before), loadings(after)
    turned = two * np.where((one * two).sum(axis=0) < 0, -1.0, 1.0)
    return absolute_deviation(one, turned)


def regression_coefficients(matrix: Floats) -> Floats:
    """By row the standardised coefficients of the regression of one variable on all others; NaN where there is none."""
    p = len(matrix)
    found = np.full((p, p), np.nan)
    if p < 2 or not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] <= 1e-11:
        return found
    inverse = np.linalg.inv(matrix)
    found = -inverse / np.diag(inverse)[:, None]
    np.fill_diagonal(found, np.nan)
    return found


def eigen_difference(before: Floats, after: Floats) -> float:
    """sum |e - e'| / e of the eigenvalues in descending order; NaN where the matrix before is singular."""
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return float("nan")
    one, two = (np.linalg.eigvalsh(matrix)[::-1] for matrix in (before, after))
    return float((np.abs(one - two) / one).sum()) if one[-1] > 1e-11 else float("nan")


def deviations(
    before: Floats, after: Floats, names: tuple[str, ...], first: Matrices, second: Matrices
) -> dict[str, float]:
    """Sixteen figures of how far estimates are off: statistics (a row per variable), covariances, correlations,
    regressions, principal components; those of the robust covariance where there is one."""
    column = {name: at for at, name in enumerate(names)}
    single = {"means": "mean", "medians": "median", "one-step means": "one-step mean", "variances": "variance"}
    found = {
        many: relative_deviation(before[:, column[one]], after[:, column[one]])
        for many, one in {**single, "median absolute deviations": "mad"}.items()
    }
    found["covariances"] = relative_deviation(*(triangle(each.covariance, diagonal=True) for each in (first, second)))
    found["correlations"] = relative_deviation(
        *(triangle(each.correlation, diagonal=False) for each in (first, second))
    )
    found["rank correlations"] = relative_deviation(*(triangle(each.rank, diagonal=False) for each in (first, second)))
    both = first.correlation, second.correlation
    found["regression coefficients"] = absolute_deviation(*map(regression_coefficients, both))
    found["loadings"] = loadings_deviation(*both)
    if first.robust is not None and second.robust is not None:
        core = as_correlation(first.robust), as_correlation(second.robust)
        found["robust covariances"] = relative_deviation(
            triangle(first.robust, diagonal=True), triangle(second.robust, diagonal=True)
        )
        found["robust correlations"] = relative_deviation(*(triangle(each, diagonal=False) for each in core))
        found["robust regression coefficients"] = absolute_deviation(*map(regression_coefficients, core))
        found["robust loadings"] = loadings_deviation(*core)
    totals = before[:, column["total"]], after[:, column["total"]]
    found["totals"] = relative_deviation(*totals)
    found["totals, signed"] = signed_deviation(*totals)
    return found
