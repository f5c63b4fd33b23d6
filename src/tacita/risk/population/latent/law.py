"""How far real counts vary around their forecast, measured on counts that the forecast was made without.

A cell with forecast m has a rate with mean M and shape a; log M - log m and log a are linear in log m between knots,
so that keys thought rare may stray otherwise than frequent ones. An index says how the rate is distributed: gamma (0),
with much of its weight next to 0, or laws with less there and a longer tail, the inverse Gaussian one (1/2) among them.
In the second form a share of the cells, by log m too, has rate 0: combinations that cannot occur.

Hougaard (1986), Biometrika 73, 387-396; Hougaard, Lee and Whitmore (1997), Biometrics 53, 1225-1238.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from tacita.arrays import Floats, Ints
from tacita.risk.population.latent import law_loops
from tacita.risk.population.latent.cells import ranked
from tacita.risk.population.latent.law_loops import MOST

KNOTS = np.array([-8.0, -5.0, -3.0, -1.5, 0.0, 1.5, 3.0])
AT_ZERO = 4
"""The knot at log m = 0, where the priors of the level stand."""
GREATEST_COUNT = 40
"""Greater counts speak for themselves: nothing is forecast for them."""
GREATEST_LOG = 4.0
"""Cells with a greater forecast say nothing about small ones. Left out by forecast and not by count, which would make
the law too low."""
LEAST_LOG = -27.0
LEAST_CURVATURE = 0.01
"""Against that of the prior: where the search ended beside a top, less would be meaningless."""
BIN = 0.05
"""Cells with equal counts are pooled within bins of log m of this width."""


class Prior(NamedTuple):
    """A normal prior for a piecewise linear function: its value at log m = 0, and its slope between knots."""

    level: float
    level_sd: float
    slope: float
    slope_sd: float

    def log(self, value: Floats) -> tuple[float, Floats]:
        """The logarithm of the density, less a constant, and its gradient."""
        width = np.diff(KNOTS)
        level = (value[AT_ZERO] - self.level) / self.level_sd
        steps = (np.diff(value) - self.slope * width) / (self.slope_sd * np.sqrt(width))
        by_step = steps / (self.slope_sd * np.sqrt(width))
        gradient = np.concatenate([by_step, [0.0]]) - np.concatenate([[0.0], by_step])
        gradient[AT_ZERO] -= level / self.level_sd
        return float(-0.5 * (level**2 + (steps**2).sum())), gradient

    @property
    def mean(self) -> Floats:
        """The function that is likeliest beforehand."""
        return self.level + self.slope * KNOTS


MEAN = Prior(0.0, 0.5, 0.0, 0.25)
SHAPE = Prior(1.0, 2.0, 0.4, 0.6)
POSSIBLE = Prior(3.0, 2.0, 0.3, 1.0)
"""The logit of the share of cells that can occur at all."""
STEEP_START = 3.0 + 0.8 * KNOTS


class Counts(NamedTuple):
    """Pooled cells: forecasts of what the sample holds, and by forecast the counts and how many cells have them."""

    place: Ints
    share: Floats
    log_m: Floats
    log_shown: float
    """Logarithm of the share of records that show all keys: the sample holds so much of the forecast."""
    start: Ints
    """By forecast where its counts begin; one more at the end."""
    records: Ints
    weight: Floats


def between_knots(log_m: Floats) -> tuple[Ints, Floats]:
    """By forecast the knot to its left, and how far it is on the way to the next; constant outside."""
    within = np.clip(log_m, KNOTS[0], KNOTS[-1])
    place = np.minimum(np.searchsorted(KNOTS, within, side="right") - 1, len(KNOTS) - 2)
    return place, (within - KNOTS[place]) / (KNOTS[place + 1] - KNOTS[place])


def pooled(log_m: Floats, count: Ints, empty_log_m: Floats, empty_weight: Floats, shown: float) -> Counts:
    """Cells of the sample and empty cells, pooled by forecast and count."""
    every = np.concatenate([log_m, empty_log_m])
    some = every <= GREATEST_LOG
    counts = np.concatenate([np.minimum(count, MOST + 1), np.zeros(len(empty_log_m), dtype=np.int64)])[some]
    every, weight = every[some], np.concatenate([np.ones(len(log_m)), empty_weight])[some]
    bin_ = np.floor(every / BIN).astype(np.int64)
    least = bin_.min(initial=0)
    bins, of_cell = ranked(bin_ - least, int(bin_.max(initial=0) - least) + 1)
    mean = np.bincount(of_cell, weights=weight * every) / np.bincount(of_cell, weights=weight)
    different, row = ranked(of_cell * (MOST + 2) + counts, len(bins) * (MOST + 2))
    start = np.searchsorted(different // (MOST + 2), np.arange(len(bins) + 1)).astype(np.int64)
    total = np.bincount(row, weights=weight).astype(np.float64)
    place, share = between_knots(mean)
    return Counts(place, share, mean, float(np.log(shown)), start, different % (MOST + 2), total)


class Law(NamedTuple):
    """A fitted law."""

    mean: Floats
    """By knot: log M - log m."""
    shape: Floats
    """By knot: log a."""
    possible: Floats | None
    """By knot: logit of the share of cells that can occur; None: all can."""
    power: float
    """The index of the law: 0 for gamma rates."""
    value: float
    """The logarithm of likelihood times prior."""

    @property
    def parameters(self) -> Floats:
        """All of them in one row."""
        parts = [self.mean, self.shape] if self.possible is None else [self.mean, self.shape, self.possible]
        return np.concatenate(parts)

    @classmethod
    def of(cls, parameters: Floats, index: float, value: float) -> Law:
        """The law with these parameters."""
        parts = np.split(parameters, len(parameters) // len(KNOTS))
        return cls(parts[0], parts[1], parts[2] if len(parts) > 2 else None, index, value)

    def at(self, log_m: Floats) -> tuple[Floats, Floats, Floats]:
        """By forecast: log M / pi (the mean of a cell that can occur), log a and pi."""
        place, share = between_knots(log_m)
        mean, shape = (_between(values, place, share) for values in (self.mean, self.shape))
        possible = np.ones(len(log_m))
        if self.possible is not None:
            possible = 1.0 / (1.0 + np.exp(-np.clip(_between(self.possible, place, share), -40.0, 40.0)))
        return log_m + mean - np.log(possible), np.clip(shape, -40.0, 40.0), possible


def _between(values: Floats, place: Ints, share: Floats) -> Floats:
    between: Floats = (1 - share) * values[place] + share * values[place + 1]
    return between


def start(index: float = 0.0, *, steep: bool | None = None) -> Law:
    """Where a fit may start: without impossible cells (None), or with a flat or a steep share of them."""
    possible = None
    if steep is not None:
        possible = STEEP_START if steep else np.full(len(KNOTS), POSSIBLE.level)
    return Law(MEAN.mean, priors(index)[1].mean, possible, index, -np.inf)


def priors(index: float) -> tuple[Prior, Prior, Prior]:
    """The priors of mean, shape and possible share; shapes are compared by the variance, M^2 (1 - index)/a."""
    return MEAN, SHAPE._replace(level=SHAPE.level + np.log1p(-index)), POSSIBLE


def posterior(parameters: Floats, index: float, counts: Counts) -> tuple[float, Floats]:
    """The logarithm of likelihood times prior, less a constant, and its gradient."""
    parts = np.split(parameters, len(parameters) // len(KNOTS))
    gradient = np.empty_like(parameters)
    value = law_loops.likelihood(
        parameters, index, law_loops.powers(index, MOST + 1), len(parts) == 3, counts.place, counts.share,
        counts.log_m + counts.log_shown, counts.start, counts.records, counts.weight, np.empty((3, MOST + 2)), gradient,
    )  # fmt: skip
    for place, (part, prior) in enumerate(zip(parts, priors(index), strict=False)):
        log, slope = prior.log(part)
        value += log
        gradient[place * len(KNOTS) : (place + 1) * len(KNOTS)] += slope
    return value, gradient


def fitted(counts: Counts, start: Law) -> Law:
    """The likeliest law, searched from a start."""

    def loss(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = posterior(parameters, start.power, counts)
        return -value, -gradient

    found = minimize(loss, start.parameters, jac=True, method="BFGS", options={"gtol": 1e-3, "maxiter": 500})
    return Law.of(found.x, start.power, -float(found.fun))


def curvature(law: Law, counts: Counts) -> Floats:
    """Minus the matrix of second derivatives at the law, by differences of the gradient."""
    at, step = law.parameters, 1e-4
    columns = []
    for one in np.eye(len(at)) * step:
        ends = [posterior(at + side * one, law.power, counts)[1] for side in (-1, 1)]
        columns.append((ends[0] - ends[1]) / (2 * step))
    matrix = np.column_stack(columns)
    symmetric: Floats = (matrix + matrix.T) / 2
    return symmetric


def evidence(law: Law, curvature: Floats) -> float:
    """The logarithm of the probability of the counts under all parameters of a law, by Laplace's method.

    Directions in which the likelihood says nothing have the curvature of the prior, and cost nothing.
    """
    spread = np.linalg.cholesky(np.linalg.inv(_prior_curvature(len(law.parameters))))
    gained = np.linalg.eigvalsh(spread.T @ curvature @ spread)
    return law.value - 0.5 * float(np.log(np.maximum(gained, LEAST_CURVATURE)).sum())


def _prior_curvature(parameters: int) -> Floats:
    """Minus the second derivatives of the logarithm of the prior; the same for every index."""
    size = len(KNOTS)
    matrix = np.zeros((parameters, parameters))
    for place, prior in enumerate(priors(0.0)[: parameters // size]):
        part = slice(place * size, (place + 1) * size)
        matrix[part, part] = np.column_stack([-prior.log(prior.mean + one)[1] for one in np.eye(size)])
    return matrix
