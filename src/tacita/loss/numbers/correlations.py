"""Means, covariances and correlations of columns, weighted or not, and which variables make them singular."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from tacita.arrays import Bools, Floats, Ints

SINGULAR = 1e-11
"""A correlation matrix with a smaller eigenvalue has no inverse to speak of."""
MOST_SETS = 20_000
"""So many sets of variables of one size are tried for one that is singular."""


def weighted_mean(values: Floats, weights: Floats | None) -> Floats:
    """By column: the mean."""
    mean: Floats = values.mean(axis=0) if weights is None else weights @ values / weights.sum()
    return mean


def covariance(values: Floats, weights: Floats | None = None) -> Floats:
    """Covariance of the columns, over n - 1; with weights sum w (x - m)(y - m) / (sum w - sum w / n).

    >>> covariance(np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 8.0]])).tolist()
    [[4.0, 6.0], [6.0, 12.0]]
    """
    n = len(values)
    moved = values - weighted_mean(values, weights)
    if weights is None:
        return np.atleast_2d(moved.T @ moved / max(n - 1, 1))
    return np.atleast_2d((moved * weights[:, None]).T @ moved / (weights.sum() * max(n - 1, 1) / n))


def as_correlation(matrix: Floats) -> Floats:
    """The correlations of a covariance matrix; NaN beside a variable that does not vary."""
    spread = np.sqrt(np.diag(matrix))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = matrix / np.outer(spread, spread)
    np.fill_diagonal(found, np.where(spread > 0, 1.0, np.nan))
    correlations: Floats = np.clip(found, -1.0, 1.0)
    return correlations


def correlation(values: Floats, weights: Floats | None = None) -> Floats:
    """Pearson's correlation of the columns; NaN where one does not vary."""
    constant = np.ptp(values, axis=0) == 0 if len(values) else np.ones(values.shape[1], dtype=np.bool_)
    # A column without spread would have some left by rounding.
    matrix = as_correlation(covariance(values, weights))
    matrix[constant, :] = matrix[:, constant] = np.nan
    return matrix


def dense_ranks(column: Floats) -> Ints:
    """Ranks from 0 without gaps, the same for equal numbers."""
    return np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64)


def mean_ranks(column: Floats) -> Floats:
    """Ranks from 1, the mean rank for equal numbers."""
    _, place, count = np.unique(column, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(count) - (count - 1) / 2.0)[place.reshape(-1)]
    return ranks


def rank_correlation(values: Floats, weights: Floats | None = None) -> Floats:
    """Spearman's correlation of the columns: that of their mean ranks."""
    return correlation(np.column_stack([mean_ranks(column) for column in values.T]), weights)


def kendall_correlation(values: Floats, weights: Floats | None = None) -> Floats:
    """Kendall's tau-b of the columns; NaN where one does not vary."""
    # Compiles when first used.
    from tacita.loss.numbers.concordance import kendall

    ranks = [dense_ranks(column) for column in values.T]
    matrix = np.array([[1.0 if max(x) > 0 else np.nan for x in ranks]] * len(ranks)) * np.eye(len(ranks))
    for i, j in combinations(range(len(ranks)), 2):
        matrix[i, j] = matrix[j, i] = kendall(ranks[i], ranks[j], weights)
    return matrix


def is_singular(matrices: Floats) -> Bools:
    """Which of several correlation matrices have no inverse to speak of."""
    singular: Bools = np.linalg.eigvalsh(matrices)[..., 0] <= SINGULAR
    return singular


def dependent_variables(matrix: Floats) -> tuple[int, ...]:
    """The smallest set of variables without which the correlation matrix would have an inverse; () if it has one.

    One that does not vary; two that are multiples of each other; more of which one is a sum of the others. Where there
    are too many sets to try, variables are left out as long as the rest is singular, which ends with a set from which
    nothing can be left out.

    >>> x = np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 5.0], [2.0, 2.0, 4.0], [0.0, 5.0, 5.0]])
    >>> dependent_variables(correlation(x)), dependent_variables(correlation(x[:, :2]))
    ((0, 1, 2), ())
    """
    constant = np.flatnonzero(np.isnan(np.diag(matrix)))
    if len(constant):
        return (int(constant[0]),)
    if np.isnan(matrix).any() or not is_singular(matrix):
        return ()
    p = len(matrix)
    for size in range(2, p + 1):
        if comb(p, size) > MOST_SETS:
            break
        sets = np.array(list(combinations(range(p), size)))
        found = np.flatnonzero(is_singular(matrix[sets[:, :, None], sets[:, None, :]]))
        if len(found):
            return tuple(int(at) for at in sets[found[0]])
    kept = list(range(p))
    for at in range(p):
        rest = [each for each in kept if each != at]
        if len(rest) > 1 and is_singular(matrix[np.ix_(rest, rest)]):
            kept = rest
    return tuple(kept)
