"""Least squares and logistic regression with weights, and their standard errors under a sampling design."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.loss.estimates.survey_design import Design

Kind = Literal["least_squares", "logistic"]
Errors = Literal["design", "classical"]
ALIASED = 1e-9
"""A column of which the ones before it leave less than this share is told by them."""
STEPS = 50
CONVERGED = 1e-12
FARTHEST = 30.0
"""Log-odds beyond this are the same probability."""


class Solved(NamedTuple):
    """Weighted least squares."""

    coefficients: Floats
    """By column; NaN for one that those before it tell."""
    kept: Bools
    """By column whether it has a coefficient."""
    inverse: Floats
    """The inverse of X'WX, of the columns that are kept."""


def solved(x: Floats, y: Floats, weight: Floats) -> Solved:
    """Least squares by a QR decomposition; combinations of earlier columns have no coefficient.

    >>> found = solved(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0]), np.ones(3))
    >>> found.coefficients.round(6).tolist()
    [1.0, 2.0]
    """
    root = np.sqrt(weight)
    scaled = x * root[:, None]
    length = np.sqrt(np.square(scaled).sum(axis=0))
    kept = length > 0
    kept[kept] = _independent(scaled[:, kept] / length[kept])
    q, r = np.linalg.qr(scaled[:, kept] / length[kept])
    upper = np.linalg.solve(r, np.eye(len(r)))
    coefficients = np.full(x.shape[1], np.nan)
    coefficients[kept] = upper @ (q.T @ (y * root)) / length[kept]
    inverse = upper @ upper.T / length[kept][:, None] / length[kept]
    return Solved(coefficients, kept, inverse)


def _independent(columns: Floats) -> Bools:
    """Which columns of length 1 those before them do not tell."""
    if columns.shape[0] < columns.shape[1]:
        columns = np.vstack([columns, np.zeros((columns.shape[1] - columns.shape[0], columns.shape[1]))])
    kept = np.ones(columns.shape[1], np.bool_)
    while True:
        # The first zero on the diagonal is told for certain; what follows it is only known without it.
        diagonal = np.abs(np.diag(np.linalg.qr(columns[:, kept], mode="r")))
        told = np.flatnonzero(diagonal < ALIASED)
        if not len(told):
            return kept
        kept[np.flatnonzero(kept)[told[0]]] = False


class Regressed(NamedTuple):
    """Coefficients with their variances; NaN where the file does not give one."""

    coefficients: Floats
    variances: Floats


def regressed(x: Floats, y: Floats, rows: Ints, design: Design, kind: Kind, errors: Errors) -> Regressed:
    """A regression of some rows of a file, with standard errors.

    `design`: of the linearised coefficients between sampling units within strata (Binder 1983), which without strata
    and clusters are the robust errors of White; or from replicate weights. `classical`: as if the model held and
    records were independent.
    """
    fit = _logistic if kind == "logistic" else _least_squares
    own = design.weight[rows]
    found, residual, spread = fit(x, y, own)
    variances = np.full(x.shape[1], np.nan)
    if len(rows) <= int(found.kept.sum()):
        return Regressed(found.coefficients, variances)
    if errors == "classical":
        variances[found.kept] = spread * np.diag(found.inverse)
    elif design.replicates is not None:
        again = np.array([fit(x, y, each)[0].coefficients for each in design.replicates[rows].T])
        columns = zip(found.coefficients.tolist(), again.T, strict=True)
        variances = np.array([design.replicate_variance(value, each) for value, each in columns])
    else:
        scores = (x[:, found.kept] * (own * residual)[:, None]) @ found.inverse
        variances[found.kept] = [design.variance(rows, column) for column in scores.T]
    return Regressed(found.coefficients, variances)


def _least_squares(x: Floats, y: Floats, weight: Floats) -> tuple[Solved, Floats, float]:
    """The fit, its residuals, and the variance of a residual for the mean weight."""
    found = solved(x, y, weight)
    residual = y - x @ np.nan_to_num(found.coefficients)
    free = len(y) - int(found.kept.sum())
    return found, residual, float((weight * residual * residual).sum()) / free if free > 0 else math.nan


def _logistic(x: Floats, y: Floats, weight: Floats) -> tuple[Solved, Floats, float]:
    """The same by Newton's steps, with y less the probabilities for residuals."""
    odds = np.zeros(len(y))
    last = math.inf
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-odds))
        slope = np.maximum(p * (1.0 - p), 1e-12)
        found = solved(x, odds + (y - p) / slope, weight * slope)
        odds = np.clip(x @ np.nan_to_num(found.coefficients), -FARTHEST, FARTHEST)
        deviance = -2.0 * float((weight * (y * odds - np.logaddexp(0.0, odds))).sum())
        if abs(last - deviance) <= CONVERGED * (abs(deviance) + 1.0):
            break
        last = deviance
    # Weights count records in proportion, whatever they add up to.
    return found, y - 1.0 / (1.0 + np.exp(-odds)), float(weight.mean()) if len(weight) else math.nan
