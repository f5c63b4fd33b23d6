"""A Gaussian copula: every variable is a cut or stretched normal one, and the normal ones are correlated.

The distribution of each variable is kept whatever it is; what variables have to do with each other is a matrix of
correlations. Categories are cut off a normal variable in their order, missing values and codes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.protect.synthesise.columns import Column
from tacita.protect.synthesise.sequence import Normal, Synthetic
from tacita.protect.synthesise.smoothing import bandwidths, often, smoothed
from tacita.protect.synthesise.tree import Donors, donors, drawn

BINS = 50
"""Groups of a variable's values, at most, from which correlations are worked out."""
TERMS = 200
"""Terms of the tetrachoric series."""
GREATEST = 0.999
"""No correlation is farther from 0: the matrix must have an inverse."""
HALVINGS = 40


class Copula(NamedTuple):
    """The copula of a file."""

    correlation: Floats
    """Of the normal variables behind those given, then behind those drawn."""
    scores: Floats
    """By record and variable given: its normal variable, in the middle of what it may be."""
    columns: Sequence[Column]
    """The variables drawn."""
    margins: Sequence[Donors]
    """By variable drawn: all records in the order of its values."""


def shares(ranks: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """By rank: the share of weight below it, and up to it."""
    size = np.bincount(ranks, weights=weight)
    upto = np.cumsum(size) / size.sum()
    return np.append(0.0, upto[:-1]), upto


def middle_scores(ranks: Ints, weight: Floats) -> Floats:
    """By record: the normal quantile in the middle of the share of its rank."""
    from scipy.special import ndtri

    below, upto = shares(ranks, weight)
    return np.asarray(ndtri((below + upto) / 2))[ranks]


def binned(ranks: Ints, weight: Floats) -> Ints:
    """Ranks put together to at most so many groups of about the same weight; equal ranks stay together."""
    below, upto = shares(ranks, weight)
    group = np.minimum(((below + upto) / 2 * BINS).astype(np.int64), BINS - 1)
    return np.unique(group[ranks], return_inverse=True)[1].astype(np.int64)


def group_scores(groups: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """By group the mean of its stretch of a standard normal variable, and the coefficients of these scores in Hermite's
    polynomials.

    With f the step function that gives the scores and h_k the normed polynomials, a_k = E f(Z) h_k(Z); over the stretch
    from s to t the integral of h_k phi is (h_{k-1}(s) phi(s) - h_{k-1}(t) phi(t)) / sqrt(k).
    """
    from scipy.special import ndtri

    below, upto = shares(groups, weight)
    ends = np.append(ndtri(below), np.inf)
    inside = np.where(np.isfinite(ends), ends, 0.0)
    density = np.where(np.isfinite(ends), np.exp(-(inside**2) / 2) / np.sqrt(2 * np.pi), 0.0)
    scores = (density[:-1] - density[1:]) / (upto - below)
    before, now = np.zeros(len(ends)), np.ones(len(ends))
    coefficients = np.empty(TERMS)
    for k in range(1, TERMS + 1):
        at = now * density
        coefficients[k - 1] = scores @ (at[:-1] - at[1:]) / np.sqrt(k)
        before, now = now, (inside * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return scores, coefficients


def latent_correlations(groups: Sequence[Ints], weight: Floats) -> Floats:
    """The correlations of the normal variables that give the observed mean products of the groups' scores.

    E f(X) g(Y) = sum of r^k a_k b_k for standard normal X and Y of correlation r (Mehler 1866), which grows with r: it
    is found by halving. Of two variables with two groups each it is the tetrachoric correlation (Pearson 1900).
    """
    found = [group_scores(each, weight) for each in groups]
    scored = np.array([scores[each] for each, (scores, _) in zip(groups, found, strict=True)])
    coefficients = np.array([each for _, each in found])
    wanted = (scored * weight) @ scored.T / weight.sum()
    low, high = np.full(wanted.shape, -GREATEST), np.full(wanted.shape, GREATEST)
    for _ in range(HALVINGS):
        r = (low + high) / 2
        reached, power = np.zeros_like(r), np.ones_like(r)
        for k in range(TERMS):
            power *= r
            reached += power * np.outer(coefficients[:, k], coefficients[:, k])
        low, high = np.where(reached < wanted, r, low), np.where(reached < wanted, high, r)
    r = (low + high) / 2
    # A variable with one value has nothing to do with any other.
    alone = np.array([len(scores) == 1 for scores, _ in found], dtype=np.bool_)
    r[alone] = 0.0
    r[:, alone] = 0.0
    return nearest_correlation((r + r.T) / 2)


def nearest_correlation(matrix: Floats) -> Floats:
    """A matrix of correlations made positive definite: eigenvalues below a millionth are raised to it."""
    np.fill_diagonal(matrix, 1.0)
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, 1e-6)) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    return np.asarray(raised / np.outer(scale, scale))


def copula_of(given: Sequence[Column], columns: Sequence[Column], weight: Floats, sample: Ints) -> Copula:
    """The copula of all columns, fitted to a sample of the records, which may hold some of them several times."""
    ranks = [column.ranks for column in (*given, *columns)]
    correlation = latent_correlations([binned(each[sample], weight[sample]) for each in ranks], weight[sample])
    scores = [middle_scores(each, weight) for each in ranks[: len(given)]]
    margins = []
    for each in ranks[len(given) :]:
        margin = donors(np.zeros(len(sample), np.int64), each[sample].astype(np.float64), weight[sample])
        margins.append(margin._replace(rows=sample[margin.rows]))
    return Copula(correlation, np.array(scores).reshape(len(given), len(weight)).T, columns, margins)


def draw_copula(copula: Copula, rows: Ints, normal: Normal, smooth: int) -> dict[str, Synthetic]:
    """All variables of some records, drawn from the copula given those that are not drawn.

    Numbers that fewer than `smooth` records have are smoothed; 0: none are.
    """
    from scipy.special import ndtr

    count = copula.scores.shape[1]
    of_given, between = copula.correlation[:count, :count], copula.correlation[:count, count:]
    effect = np.linalg.solve(of_given, between) if count else between
    rest = np.linalg.cholesky(copula.correlation[count:, count:] - between.T @ effect)
    error = np.column_stack([normal(column.name, "value") for column in copula.columns])
    latent = copula.scores[rows] @ effect + error @ rest.T
    everybody = np.zeros(len(rows), np.int64)
    made = {}
    for place, (column, margin) in enumerate(zip(copula.columns, copula.margins, strict=True)):
        donor = drawn(margin, everybody, ndtr(latent[:, place]))
        made[column.name] = Synthetic(donor, _smooth_numbers(column, donor, normal, smooth) if smooth else None)
    return made


def _smooth_numbers(column: Column, donor: Ints, normal: Normal, least: int) -> Floats | None:
    known = np.flatnonzero(column.labels == 0)
    if not column.measured or not len(known):
        return None
    values = column.values[known]
    margin = donors(np.zeros(len(known), np.int64), values, np.ones(len(known)))
    numbers, chosen = column.values[donor], (column.labels == 0)[donor] & ~often(column.values, least)[donor]
    leaf = np.zeros(int(chosen.sum()), np.int64)
    moved = normal(column.name, "smooth")[chosen]
    fresh = smoothed(margin, values, bandwidths(margin, values), leaf, numbers[chosen], moved)
    numbers[chosen] = np.rint(fresh) if column.whole else fresh
    return numbers
