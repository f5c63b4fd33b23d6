"""The model behind shuffling: how the ranks of some variables hang together, and ranks drawn from it.

Arrays in, arrays out: rows are records in the order of their numbers, NaN where a value is missing.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints

FLAT = 1e-12
"""A direction with less than this share of the variance is one in which scores do not vary."""


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equal values share the mean of theirs, and NaN has none.

    >>> mid_ranks(np.array([30.0, 10.0, np.nan, 10.0])).tolist()
    [3.0, 1.5, nan, 1.5]
    """
    there = ~np.isnan(values)
    _, group, count = np.unique(values[there], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), np.nan)
    ranks[there] = (np.cumsum(count) - (count - 1) / 2)[group]
    return ranks


def normal_scores(values: Floats) -> Floats:
    """By column the normal quantile of (rank - 1/2)/n, n being the values that are there."""
    from scipy.special import ndtri

    scores = np.empty(values.shape)
    for place, column in enumerate(values.T):
        scores[:, place] = ndtri((mid_ranks(column) - 0.5) / max(int((~np.isnan(column)).sum()), 1))
    return scores


def standardised(values: Floats) -> Floats:
    """Columns with mean 0 and mean square 1 over what is there; 0 where a column does not vary."""
    out = np.full(values.shape, np.nan)
    for place, column in enumerate(values.T):
        there = ~np.isnan(column)
        if there.any():
            moved = column[there] - column[there].mean()
            spread = np.sqrt((moved * moved).mean())
            varies = np.ptp(column[there]) > 0
            out[there, place] = moved / spread if varies and spread > 0 else 0.0
    return out


def pearson(first: Floats, second: Floats) -> float:
    """The correlation of two columns without missing values; 0 where one of them does not vary."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    x, y = first - first.mean(), second - second.mean()
    size = np.sqrt((x * x).sum() * (y * y).sum())
    return float(np.clip((x * y).sum() / size, -1.0, 1.0)) if size > 0 else 0.0


def correlations(values: Floats, by_rank: Bools) -> Floats:
    """The correlation matrix of the scores, each pair over the records that have both.

    Of two columns that go by rank it is r = 2 sin(pi rho / 6) with Spearman's rho, the correlation of normal variables
    whose ranks correlate by rho; of others that of the values as they are. A matrix that is none, as available cases
    can give, is replaced by the nearest one: negative eigenvalues become 0, and the diagonal 1 again.

    >>> values = np.column_stack([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0]])
    >>> correlations(values, np.array([True, True])).round(3).tolist()
    [[1.0, 0.813], [0.813, 1.0]]
    """
    columns = [np.ascontiguousarray(column) for column in values.T]
    there = [~np.isnan(column) for column in columns]
    ranks = [mid_ranks(column) if ranked else column for column, ranked in zip(columns, by_rank, strict=True)]
    found = np.eye(len(columns))
    for first in range(len(columns)):
        for second in range(first):
            both = there[first] & there[second]
            ranked = bool(by_rank[first] and by_rank[second])
            pair = [_among(columns[each], ranks[each] if ranked else None, both) for each in (first, second)]
            rho = pearson(*pair)
            found[first, second] = found[second, first] = 2 * np.sin(np.pi * rho / 6) if ranked else rho
    return _nearest(found)


def _among(column: Floats, ranks: Floats | None, both: Bools) -> Floats:
    """A column where both of a pair are there, or its ranks among them: those of all where nothing is missing."""
    if both.all():
        return column if ranks is None else ranks
    return column[both] if ranks is None else mid_ranks(column[both])


def _nearest(matrix: Floats) -> Floats:
    """A correlation matrix near one that may have negative eigenvalues."""
    spread, directions = np.linalg.eigh(matrix)
    if not len(spread) or spread[0] >= 0:
        return matrix
    mended = (directions * np.maximum(spread, 0.0)) @ directions.T
    size = np.sqrt(np.diag(mended))
    out: Floats = mended / np.outer(size, size)
    np.fill_diagonal(out, 1.0)
    return out


def conditional(matrix: Floats, count: int, known: Ints) -> tuple[Floats, Floats]:
    """Of the first `count` variables given others: coefficients, and the root of the covariance that is left.

    beta = r_ss^-1 r_sx and the root of r_xx - r_xs r_ss^-1 r_sx; the inverse leaves out directions without variance.
    The symmetric root is the only one of its kind, so that other libraries of linear algebra give the same data.
    """
    own = np.arange(count)
    between = matrix[np.ix_(known, own)]
    beta: Floats = np.linalg.pinv(matrix[np.ix_(known, known)], rcond=FLAT, hermitian=True) @ between
    spread, directions = np.linalg.eigh(matrix[np.ix_(own, own)] - between.T @ beta)
    root: Floats = (directions * np.sqrt(np.maximum(spread, 0.0))) @ directions.T
    return beta, root


def explained(matrix: Floats, count: int) -> Floats:
    """By variable the share of the variance of its scores that the other columns explain, from 0 to 1."""
    known = np.arange(count, len(matrix))
    beta, _ = conditional(matrix, count, known)
    share: Floats = np.clip((matrix[np.ix_(known, np.arange(count))] * beta).sum(axis=0), 0.0, 1.0)
    return share


def drawn_scores(known: Floats, matrix: Floats, normals: Floats) -> Floats:
    """Scores drawn from what is known of each record: X* = S* beta + e, e ~ N(0, r_xx - r_xs r_ss^-1 r_sx).

    A record in which some of S are missing is drawn from those that it has.
    """
    count, drawn = normals.shape[1], np.empty(normals.shape)
    packed = np.packbits(~np.isnan(known), axis=1)
    same = not len(packed) or bool((packed == packed[:1]).all())
    which = np.zeros(len(packed), dtype=np.int64) if same else np.unique(packed, axis=0, return_inverse=True)[1]
    order = np.argsort(which.reshape(-1), kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(which.reshape(-1)[order])) + 1) if len(order) else []:
        columns = np.flatnonzero(~np.isnan(known[rows[0]]))
        beta, root = conditional(matrix, count, columns + count)
        drawn[rows] = known[np.ix_(rows, columns)] @ beta + normals[rows] @ root.T
    return drawn


def places_by_rank(values: Floats, scores: Floats) -> Ints:
    """By place the place that its new value comes from: the i-th smallest score takes the i-th smallest value.

    >>> places_by_rank(np.array([5.0, 7.0, np.nan, 6.0]), np.array([0.2, -1.0, 0.0, 0.9])).tolist()
    [3, 0, 2, 1]
    """
    source = np.arange(len(values))
    there = np.flatnonzero(~np.isnan(values))
    ascending = np.argsort(values[there], kind="stable")
    source[there[np.argsort(scores[there], kind="stable")]] = there[ascending]
    return source
