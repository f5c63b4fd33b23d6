"""A Gaussian copula: every variable is a cut or stretched normal one, and the normal ones are correlated.

The distribution of each variable is kept whatever it is; what variables have to do with each other is a matrix of
correlations. Categories are cut off a normal variable in their order. Where some values are missing, or codes, a normal
variable of its own says which cells are, so that the correlations of values are those of the records that have both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.protect.synthesise.columns import Column
from tacita.protect.synthesise.sequence import Normal, Synthetic
from tacita.protect.synthesise.smoothing import bandwidths, often, smoothed
from tacita.trees.tree import Donors, donors, drawn

BINS = 50
"""Groups of a variable's values, at most, from which correlations are worked out."""
TERMS = 200
"""Terms of the tetrachoric series."""
GREATEST = 0.999
"""No correlation is farther from 0: the matrix must have an inverse."""
HALVINGS = 40


class Part(NamedTuple):
    """A normal variable behind a column."""

    column: Column
    what: str
    """Which `kind` of cell there is, or which `value`."""
    ranks: Ints
    """By record its place in the order; -1 where it has none."""


class Copula(NamedTuple):
    """The copula of a file."""

    correlation: Floats
    """Of the normal variables behind those given, then behind those drawn."""
    scores: Floats
    """By record and normal variable given: the middle of what it may be; 0 where nothing is known of it."""
    parts: Sequence[Part]
    """The normal variables drawn."""
    margins: Sequence[Donors]
    """By normal variable drawn: all records that have it, in its order."""


def parts_of(columns: Sequence[Column]) -> list[Part]:
    """The normal variables behind some columns."""
    return [Part(column, what, ranks) for column in columns for what, ranks in column.ranks().items()]


def shares(ranks: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """By rank: the share of weight below it, and up to it."""
    size = np.bincount(ranks, weights=weight)
    upto = np.cumsum(size) / size.sum()
    return np.append(0.0, upto[:-1]), upto


def middle_scores(ranks: Ints, weight: Floats) -> Floats:
    """By record: the normal quantile in the middle of the share of its rank; 0 where it has none."""
    from scipy.special import ndtri

    there, scores = ranks >= 0, np.zeros(len(ranks))
    below, upto = shares(ranks[there], weight[there])
    scores[there] = np.asarray(ndtri((below + upto) / 2))[ranks[there]]
    return scores


def binned(ranks: Ints, weight: Floats) -> Ints:
    """Ranks put together to at most so many groups of about the same weight; equal ranks stay together, -1 stays."""
    there, groups = ranks >= 0, np.full(len(ranks), -1)
    if there.any():
        below, upto = shares(ranks[there], weight[there])
        group = np.minimum(((below + upto) / 2 * BINS).astype(np.int64), BINS - 1)
        groups[there] = np.unique(group[ranks[there]], return_inverse=True)[1]
    return groups


def group_scores(groups: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """By group the mean of its stretch of a standard normal variable, and the coefficients of these scores in Hermite's
    polynomials.

    With f the step function that gives the scores and h_k the normed polynomials, a_k = E f(Z) h_k(Z); over the stretch
    from s to t the integral of h_k phi is (h_{k-1}(s) phi(s) - h_{k-1}(t) phi(t)) / sqrt(k).
    """
    from scipy.special import ndtri

    there = groups >= 0
    if not there.any():
        return np.zeros(1), np.zeros(TERMS)
    below, upto = shares(groups[there], weight[there])
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

    Of two variables the records count that have both; -1 is no group.

    E f(X) g(Y) = sum of r^k a_k b_k for standard normal X and Y of correlation r (Mehler 1866), which grows with r: it
    is found by halving. Of two variables with two groups each it is the tetrachoric correlation (Pearson 1900).
    """
    found = [group_scores(each, weight) for each in groups]
    there = np.array([each >= 0 for each in groups], dtype=np.float64)
    scored = there * np.array([scores[each] for each, (scores, _) in zip(groups, found, strict=True)])
    coefficients = np.array([each for _, each in found])
    both = (there * weight) @ there.T
    wanted = (scored * weight) @ scored.T / np.where(both > 0, both, 1.0)
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
    known, parts = parts_of(given), parts_of(columns)
    groups = [binned(part.ranks[sample], weight[sample]) for part in (*known, *parts)]
    scores = [middle_scores(part.ranks, weight) for part in known]
    margins = []
    for part in parts:
        rows = sample[part.ranks[sample] >= 0]
        margin = donors(np.zeros(len(rows), np.int64), part.ranks[rows].astype(np.float64), weight[rows])
        margins.append(margin._replace(rows=rows[margin.rows]))
    correlation = latent_correlations(groups, weight[sample])
    return Copula(correlation, np.array(scores).reshape(len(known), len(weight)).T, parts, margins)


def draw_copula(copula: Copula, rows: Ints, normal: Normal, smooth: int) -> dict[str, Synthetic]:
    """All variables of some records, drawn from the copula given those that are not drawn.

    Numbers that fewer than `smooth` records have are smoothed; 0: none are.
    """
    from scipy.special import ndtr

    count = copula.scores.shape[1]
    of_given, between = copula.correlation[:count, :count], copula.correlation[:count, count:]
    effect = np.linalg.solve(of_given, between) if count else between
    rest = np.linalg.cholesky(copula.correlation[count:, count:] - between.T @ effect)
    error = np.column_stack([normal(part.column.name, part.what) for part in copula.parts])
    uniform = ndtr(copula.scores[rows] @ effect + error @ rest.T)
    made: dict[str, Synthetic] = {}
    for place, (part, margin) in enumerate(zip(copula.parts, copula.margins, strict=True)):
        name = part.column.name
        donor = made[name].donors if name in made else np.zeros(len(rows), np.int64)
        # A value where the kind of cell drawn before is a value.
        where = np.flatnonzero(part.column.known[donor]) if name in made else np.arange(len(rows))
        donor[where] = drawn(margin, np.zeros(len(where), np.int64), uniform[where, place])
        made[name] = Synthetic(donor, _smooth_numbers(part.column, donor, normal, smooth) if smooth else None)
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
