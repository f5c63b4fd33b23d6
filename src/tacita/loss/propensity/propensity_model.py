"""A logistic regression of which file a record is from: its design, fit and propensity scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError

MOST_COEFFICIENTS = 1500
MOST_ENTRIES = 60_000_000
"""Entries of the design that are held in memory at a time."""
STEPS = 60
CONVERGED = 1e-13
"""Relative change of the deviance after which the fit stops."""
STALE = 0.1
"""Weights that have moved by a greater share ask for a new matrix."""
ALIASED = 1e-9
"""A column of which the ones before it leave less than this share is told by them."""
FARTHEST = 30.0
"""Log-odds beyond this are the same probability."""


class Effect(NamedTuple):
    """Some columns of a design, of which each record has at most one."""

    variables: tuple[int, ...]
    """The places of the variables that it belongs to."""
    place: Ints
    """By record the column among its own, -1 for none."""
    value: Floats
    """By record what stands in that column."""
    size: int
    """How many columns there are."""


def class_effect(variable: int, codes: Ints, count: int) -> Effect:
    """Indicators of all classes but the first."""
    return Effect((variable,), codes - 1, np.ones(len(codes)), count - 1)


def linear_effects(variable: int, values: Floats) -> list[Effect]:
    """A number itself, standardised, and an indicator of missing ones if there are any."""
    missing = np.isnan(values)
    shown = values[~missing]
    middle, spread = (float(shown.mean()), float(shown.std())) if len(shown) else (0.0, 0.0)
    found = []
    if spread > 0:
        scaled = np.where(missing, 0.0, (np.where(missing, middle, values) - middle) / spread)
        found.append(Effect((variable,), np.zeros(len(values), np.int64), scaled, 1))
    if missing.any() and len(shown):
        found.append(Effect((variable,), np.where(missing, 0, -1), np.ones(len(values)), 1))
    return found


def crossed(one: Effect, other: Effect) -> Effect:
    """The products of the columns of two effects."""
    there = (one.place >= 0) & (other.place >= 0)
    place = np.where(there, one.place * other.size + other.place, -1)
    return Effect((*one.variables, *other.variables), place, one.value * other.value, one.size * other.size)


def with_two_way(effects: Sequence[Effect]) -> list[Effect]:
    """Effects and the products of those of different variables."""
    pairs = (pair for pair in itertools.combinations(effects, 2) if pair[0].variables != pair[1].variables)
    return [*effects, *(crossed(*pair) for pair in pairs)]


class Model(NamedTuple):
    """A design with a constant."""

    place: Ints
    """By record and effect the column, -1 for none; the constant first."""
    value: Floats
    columns: tuple[slice, ...]
    """By effect its columns."""
    variables: tuple[tuple[int, ...], ...]
    """By effect its variables."""
    products: Floats
    """X'X."""
    kept: Ints
    """The columns that those before them do not tell."""
    size: int

    @property
    def rank(self) -> int:
        """The number of coefficients, that of the constant included."""
        return len(self.kept)


def model_of(effects: Sequence[Effect], records: int) -> Model:
    """The design of some effects; too large a one is an error."""
    ends = np.cumsum([1, *(effect.size for effect in effects)])
    size = int(ends[-1])
    if size > MOST_COEFFICIENTS or records * (len(effects) + 1) > MOST_ENTRIES:
        raise TacitaError(
            f"the propensity model would have {size:,} coefficients in {len(effects):,} terms, more than can be "
            f"fitted; name fewer variables, fewer classes, or no two-way terms."
        )
    place = np.zeros((records, len(effects) + 1), np.int64)
    value = np.ones((records, len(effects) + 1))
    for at, effect in enumerate(effects):
        place[:, at + 1] = np.where(effect.place >= 0, effect.place + ends[at], -1)
        value[:, at + 1] = effect.value
    from tacita.loss.propensity import propensity_loops

    products = propensity_loops.information(place, value, np.ones(records), size)
    columns = tuple(slice(int(first), int(last)) for first, last in itertools.pairwise(ends))
    variables = tuple(effect.variables for effect in effects)
    return Model(place, value, columns, variables, products, independent_columns(products), size)


def independent_columns(products: Floats) -> Ints:
    """The columns that are no combination of those before them, from X'X, by a Cholesky factor without the others.

    >>> independent_columns(np.array([[2.0, 1.0, 2.0], [1.0, 1.0, 1.0], [2.0, 1.0, 2.0]])).tolist()
    [0, 1]
    """
    size = len(products)
    factor = np.zeros((size, size))
    kept: list[int] = []
    for column in range(size):
        left = products[column:, column] - factor[column:, : len(kept)] @ factor[column, : len(kept)]
        if left[0] > ALIASED * max(products[column, column], 1e-300):
            factor[column:, len(kept)] = left / math.sqrt(left[0])
            kept.append(column)
    return np.array(kept, np.int64)


class Fit(NamedTuple):
    """A fitted logistic regression."""

    coefficients: Floats
    """By column, 0 for those that are left out."""
    score: Floats
    """By record the probability of being released."""


def fitted(model: Model, released: Floats, step: Callable[[], None]) -> Fit:
    """Maximum likelihood by Newton's steps; where the files are told apart for certain, as far as numbers go."""
    from tacita.loss.propensity import propensity_loops as loops

    share = float(released.mean())
    coefficients = np.zeros(model.size)
    coefficients[0] = math.log(share / (1.0 - share))
    score, deviance = np.full(len(released), share), math.inf
    used, inverse = (
        np.full(len(released), share * (1.0 - share)),
        _inverse(model, share * (1.0 - share) * model.products),
    )
    for _ in range(STEPS):
        step()
        weight = np.maximum(score * (1.0 - score), 1e-10)
        if (np.abs(weight - used) > STALE * used).any():
            # As long as the scores are near those of the last matrix it does for the next step too.
            used, inverse = weight, _inverse(model, loops.information(model.place, model.value, weight, model.size))
        slope = loops.gradient(model.place, model.value, released - score, model.size)[model.kept]
        coefficients[model.kept] += inverse @ slope
        score = probabilities(loops.predictor(model.place, model.value, coefficients))
        last, deviance = deviance, _deviance(score, released)
        if last - deviance <= CONVERGED * (abs(deviance) + 1.0):
            break
    return Fit(coefficients, score)


def _inverse(model: Model, information: Floats) -> Floats:
    """The inverse of the information of the columns that are kept."""
    matrix = information[np.ix_(model.kept, model.kept)]
    # Where all records of a class are of one file its weight goes to nothing.
    matrix[np.diag_indices(len(matrix))] *= 1.0 + 1e-9
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def probabilities(odds: Floats) -> Floats:
    """Log-odds as probabilities."""
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -FARTHEST, FARTHEST)))
    return found


def _deviance(score: Floats, released: Floats) -> float:
    return -2.0 * float(np.log(np.where(released > 0, score, 1.0 - score)).sum())


def shares_of_variables(model: Model, fit: Fit, count: int) -> Floats:
    """By variable its share in what the model tells: the covariance of its part of the log-odds with the score, over
    that of all; a term of two variables is halved."""
    from tacita.loss.propensity import propensity_loops as loops

    covariance = np.zeros(count)
    centred = fit.score - fit.score.mean()
    for at, (columns, variables) in enumerate(zip(model.columns, model.variables, strict=True)):
        own = np.zeros(model.size)
        own[columns] = fit.coefficients[columns]
        part = loops.predictor(model.place[:, at + 1 : at + 2], model.value[:, at + 1 : at + 2], own)
        for variable in variables:
            covariance[variable] += float((part * centred).sum()) / len(variables)
    total = covariance.sum()
    # What is left of rounding is nothing.
    return np.round(covariance / total, 9) + 0.0 if total > 0 else np.zeros(count)
