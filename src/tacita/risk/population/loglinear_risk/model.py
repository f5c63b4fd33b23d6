"""Poisson log-linear models of the cells of a cross-classification, fitted by maximum likelihood.

Models of factors alone are fitted by iterative proportional fitting, which needs nothing but margins; models with
linear variables or a covariate by Newton steps with step-halving.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.risk.population.loglinear_risk.design import Cells, Design, Effect, margin

MOST_PARAMETERS = 3000
"""Above this many parameters the information matrix is not held in memory."""
TOLERANCE = 1e-10
"""Relative change of the deviance at which a fit has converged."""
MOST_STEPS = 100
MOST_SWEEPS = 500
COLLINEAR = 1e-9
"""Pivots of the scaled cross-product below this belong to columns that others already span."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model."""

    mean: Floats
    """The fitted mean of every cell, one axis per variable."""
    deviance: float
    parameters: int
    """Free parameters, the constant included."""
    steps: int
    converged: bool


def deviance(cells: Cells, mean: Floats) -> float:
    """Twice the log-likelihood that the model lacks against the counts themselves."""
    fitted = mean.reshape(-1)[cells.index]
    with np.errstate(divide="ignore"):
        logs = cells.response * np.log(cells.response / fitted)
    return 2.0 * (math.fsum(logs) - math.fsum(cells.response) + float(mean.sum()))


def allowed_cells(cells: Cells, effects: Sequence[Effect], possible: Floats | None = None) -> Floats:
    """1 where the fitted mean is positive, 0 at declared zeros and where an observed margin of the model is zero."""
    out = np.ones(cells.shape) if possible is None else possible.copy()
    for effect in effects:
        if not effect.linear and not any(set(effect.factors) < set(e.factors) for e in effects if not e.linear):
            out *= cells.margin(effect.factors) > 0
    return out


# Models of factors: iterative proportional fitting


def proportional_fit(cells: Cells, generators: Sequence[tuple[int, ...]], start: Floats | None = None) -> Fit:
    """The model that keeps the margins of `generators` (sets of axes), by iterative proportional fitting.

    `start` holds 0 at impossible cells, and an exposure elsewhere where there is an offset. Cells of a zero margin get
    a mean of exactly 0. Without a start, parts of the model that share no variable are fitted apart and multiplied.
    """
    if start is not None:
        mean, steps, converged = _proportional(cells, generators, start.copy())
    else:
        total = float(cells.response.sum())
        mean, steps, converged = np.full((1,) * len(cells.shape), total), 0, True
        for part in _parts(generators):
            sub = _collapsed(cells, sorted({axis for generator in part for axis in generator}))
            fitted, sweeps, settled = _proportional(sub, part, np.ones(sub.shape))
            mean, steps, converged = mean * (fitted / total), max(steps, sweeps), converged and settled
        mean = np.ascontiguousarray(np.broadcast_to(mean, cells.shape))
    return Fit(mean, deviance(cells, mean), _free_parameters(cells, generators), steps, converged)


def _parts(generators: Sequence[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """Generators in groups that share no axis."""
    parts: list[list[tuple[int, ...]]] = []
    for generator in generators:
        joined = [part for part in parts if any(set(generator) & set(other) for other in part)]
        parts = [part for part in parts if part not in joined]
        parts.append([generator, *(other for part in joined for other in part)])
    return parts


def _collapsed(cells: Cells, axes: Sequence[int]) -> Cells:
    """The marginal table of some axes; the other axes have length 1."""
    table = cells.margin(axes)
    index = np.flatnonzero(table)
    return Cells(table.shape, index, table.reshape(-1)[index])


def _proportional(cells: Cells, generators: Sequence[tuple[int, ...]], mean: Floats) -> tuple[Floats, int, bool]:
    targets = [cells.margin(generator) for generator in generators]
    before = math.inf
    for sweep in range(1, MOST_SWEEPS + 1):
        off = 0.0
        for generator, target in zip(generators, targets, strict=True):
            fitted = margin(mean, generator)
            ratio = np.divide(target, fitted, out=np.zeros_like(target), where=fitted > 0)
            off = max(off, float(np.abs(target - fitted).max(initial=0.0, where=target > 0)))
            mean *= ratio
        if off <= TOLERANCE * max(1.0, cells.response.max()):
            return mean, sweep, True
        if sweep % 20 == 0:
            # A fit on the boundary creeps: its margins settle slowly, its likelihood does not change any more.
            after = deviance(cells, mean)
            if abs(before - after) <= TOLERANCE * (abs(after) + 0.1):
                return mean, sweep, True
            before = after
    return mean, MOST_SWEEPS, False


def _free_parameters(cells: Cells, generators: Sequence[tuple[int, ...]]) -> int:
    """Parameters of the margins that are not zero; those that several effects share are counted once."""
    effects: dict[tuple[int, ...], int] = {(): 1}
    subsets = {
        tuple(axis for place, axis in enumerate(g) if bits >> place & 1)
        for g in generators
        for bits in range(1, 1 << len(g))
    }
    for subset in sorted(subsets, key=len):
        inside = sum(count for other, count in effects.items() if set(other) < set(subset))
        effects[subset] = int(np.count_nonzero(cells.margin(subset))) - inside
    return sum(effects.values())


# Any model: Newton steps


def newton_fit(cells: Cells, design: Design, allowed: Floats | None = None, exposure: Floats | None = None) -> Fit:
    """The model of a design by Newton steps with step-halving; the mean is 0 where `allowed` is 0.

    The exposure multiplies the mean (its logarithm is an offset). Columns that others span are left out.
    """
    if design.size > MOST_PARAMETERS:
        raise TacitaError(
            f"a model with numeric keys or a weight covariate can have {MOST_PARAMETERS:,} parameters; this one has "
            f"{design.size:,}, leave out interactions of keys with many values or make all keys factors."
        )
    base = np.ones(cells.shape) if exposure is None else exposure
    base = base if allowed is None else base * allowed
    kept = np.sort(pivoted(design.cross_product((base > 0).astype(np.float64))).columns)
    target = design.sums(cells)
    coefficients = _first_coefficients(cells, design, base, target, kept)
    mean, reached = _mean(design, coefficients, base, cells)
    if not math.isfinite(reached):
        coefficients = np.zeros(design.size)
        coefficients[0] = math.log(cells.response.sum() / base.sum())
        mean, reached = _mean(design, coefficients, base, cells)
    for step in range(1, MOST_STEPS + 1):
        information = design.cross_product(mean)
        change = solved(information, target - information[:, 0], kept)
        before = reached
        # Towards the boundary a whole step can overshoot: halve it until the likelihood does not fall.
        for _ in range(40):
            mean, reached = _mean(design, coefficients + change, base, cells)
            if reached <= before + TOLERANCE * (abs(before) + 0.1):
                break
            change = change / 2
        coefficients = coefficients + change
        if abs(before - reached) <= TOLERANCE * (abs(reached) + 0.1):
            return Fit(mean, reached, len(kept), step, True)
    return Fit(mean, reached, len(kept), MOST_STEPS, False)


def _mean(design: Design, coefficients: Floats, base: Floats, cells: Cells) -> tuple[Floats, float]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(base > 0, base * np.exp(design.predictor(coefficients)), 0.0)
        reached = deviance(cells, mean)
    return mean, reached if math.isfinite(reached) else math.inf


def _first_coefficients(cells: Cells, design: Design, base: Floats, target: Floats, kept: Ints) -> Floats:
    """Weighted least squares on the logarithms of the counts, each raised by a tenth."""
    raised: Floats = np.where(base > 0, 0.1, 0.0)
    raised.reshape(-1)[cells.index] += cells.response
    logs = np.log(np.divide(raised, base, out=np.ones(cells.shape), where=base > 0))
    return solved(design.cross_product(raised), design.sums(raised * logs - raised) + target, kept)


class Factor(NamedTuple):
    """The Cholesky factor of the part of a cross-product that is not singular."""

    columns: Ints
    """Columns that no others span, in the order of the factor."""
    scale: Floats
    """Square roots of their diagonal."""
    upper: Floats
    """The factor of the scaled part."""

    def solved(self, right: Floats) -> Floats:
        """The solution on these columns, 0 on the others; right sides are the columns of a matrix."""
        out = np.zeros(right.shape)
        scaled = right[self.columns] / self.scale[:, None]
        out[self.columns] = linalg.cho_solve((self.upper, False), scaled, check_finite=False) / self.scale[:, None]
        return out


def pivoted(cross_product: Floats) -> Factor:
    """A pivoted Cholesky factorisation, stopped where the columns left over are spanned by the others."""
    present = np.flatnonzero(np.diag(cross_product) > 0)
    scale = np.sqrt(np.diag(cross_product)[present])
    scaled = cross_product[np.ix_(present, present)] / np.outer(scale, scale)
    factor, pivots, rank, _ = linalg.lapack.dpstrf(scaled, tol=COLLINEAR)
    order = pivots[:rank] - 1
    return Factor(present[order], scale[order], factor[:rank, :rank])


def solved(information: Floats, right: Floats, kept: Ints) -> Floats:
    """The solution on the columns kept, 0 elsewhere; a hair is added to the diagonal where it is not definite."""
    inner = information[np.ix_(kept, kept)]
    scale = np.sqrt(np.maximum(np.diag(inner), np.finfo(float).tiny))
    inner /= np.outer(scale, scale)
    out, hair = np.zeros(right.shape), 0.0
    while True:
        try:
            factor = linalg.cho_factor(inner + hair * np.eye(len(kept)), check_finite=False)
        except linalg.LinAlgError:
            hair = max(1e-12, 100 * hair)
            continue
        out[kept] = linalg.cho_solve(factor, right[kept] / scale, check_finite=False) / scale
        return out


def propagated_variances(
    design: Design, mean: Floats, slopes: Sequence[Cells], noise: Cells | None = None
) -> list[float]:
    """The variances that figures have from the fitted parameters, by the delta method.

    `slopes` holds for each figure its derivatives by the linear predictor of cells. The variance of the parameters is
    the inverse information at the fitted `mean`; where the response is not Poisson, `noise` holds its variance by cell.
    """
    gradients = np.column_stack([design.sums(slope) for slope in slopes])
    if design.size <= MOST_PARAMETERS:
        directions = pivoted(design.cross_product(mean)).solved(gradients)
    else:
        columns = [_by_conjugate_gradients(design, mean, gradient) for gradient in gradients.T]
        directions = np.column_stack(columns)
    if noise is None:
        return [max(0.0, float(one @ other)) for one, other in zip(gradients.T, directions.T, strict=True)]
    effects = (design.predictor(direction).reshape(-1)[noise.index] for direction in directions.T)
    return [math.fsum(noise.response * effect**2) for effect in effects]


def _by_conjugate_gradients(design: Design, mean: Floats, gradient: Floats) -> Floats:
    """The inverse information times a vector, without the information.

    The variance errs by the square of what the vector errs by, so that a rough solution is enough for an interval.
    """
    diagonal = design.diagonal(mean)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def product(vector: Floats) -> Floats:
        return design.sums(mean * design.predictor(vector / scale)) / scale

    operator = LinearOperator((design.size, design.size), matvec=product, dtype=np.float64)
    direction, _ = cg(operator, gradient / scale, rtol=0.01, maxiter=200)
    return np.asarray(direction / scale)
