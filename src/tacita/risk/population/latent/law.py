"""How far real counts stray from their forecast, measured on the counts that the forecast has not seen.

A cell with forecast m has a rate that is gamma with mean M and shape a; log M - log m and log a are linear in log m
between knots, so that keys thought rare may stray otherwise than frequent ones. The sample counts are then negative
binomial. In the second form a share of the cells, by log m too, has rate 0: combinations that cannot occur.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from tacita.arrays import Floats, Ints
from tacita.risk.population.latent import law_loops

KNOTS = np.array([-8.0, -5.0, -3.0, -1.5, 0.0, 1.5, 3.0])
AT_ZERO = 4
"""The knot at log m = 0, where the priors of the level stand."""
GREATEST_COUNT = 40
"""Greater counts speak for themselves: nothing is forecast for them."""
GREATEST_LOG = 4.0
"""Cells with a greater forecast say nothing about small ones. Left out by forecast and not by count, which would make
the law too low."""
LEAST_LOG = -27.0
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
    """Pooled cells: the forecast of what the sample holds, the count, and how many cells there are."""

    place: Ints
    share: Floats
    log_m: Floats
    log_shown: float
    """Logarithm of the share of records that show all keys: the sample holds so much of the forecast."""
    count: Ints
    weight: Floats

    @property
    def log_factorials(self) -> float:
        """What the likelihood leaves out."""
        return float((self.weight * gammaln(self.count + 1)).sum())


def between_knots(log_m: Floats) -> tuple[Ints, Floats]:
    """By forecast the knot to its left, and how far it is on the way to the next; constant outside."""
    within = np.clip(log_m, KNOTS[0], KNOTS[-1])
    place = np.minimum(np.searchsorted(KNOTS, within, side="right") - 1, len(KNOTS) - 2)
    return place, (within - KNOTS[place]) / (KNOTS[place + 1] - KNOTS[place])


def pooled(log_m: Floats, count: Ints, empty_log_m: Floats, empty_weight: Floats, shown: float) -> Counts:
    """Cells of the sample and empty cells, pooled by count and forecast."""
    every = np.concatenate([log_m, empty_log_m])
    some = every <= GREATEST_LOG
    counts = np.concatenate([count, np.zeros(len(empty_log_m), dtype=np.int64)])[some]
    every, weight = every[some], np.concatenate([np.ones(len(log_m)), empty_weight])[some]
    most = counts.max(initial=0) + 1
    different, row = np.unique(np.floor(every / BIN).astype(np.int64) * most + counts, return_inverse=True)
    total = np.bincount(row, weights=weight)
    mean = np.bincount(row, weights=weight * every) / total
    return Counts(*between_knots(mean), mean, float(np.log(shown)), different % most, total)


class Law(NamedTuple):
    """A fitted law."""

    mean: Floats
    """By knot: log M - log m."""
    shape: Floats
    """By knot: log a."""
    possible: Floats | None
    """By knot: logit of the share of cells that can occur; None: all can."""
    value: float
    """The logarithm of likelihood times prior."""

    @property
    def parameters(self) -> Floats:
        """All of them in one row."""
        parts = [self.mean, self.shape] if self.possible is None else [self.mean, self.shape, self.possible]
        return np.concatenate(parts)

    @classmethod
    def of(cls, parameters: Floats, value: float) -> Law:
        """The law with these parameters."""
        parts = np.split(parameters, len(parameters) // len(KNOTS))
        return cls(parts[0], parts[1], parts[2] if len(parts) > 2 else None, value)

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


def start(*, steep: bool | None = None) -> Law:
    """Where a fit may start: without impossible cells (None), or with a flat or a steep share of them."""
    if steep is None:
        return Law(MEAN.mean, SHAPE.mean, None, -np.inf)
    return Law(MEAN.mean, SHAPE.mean, STEEP_START if steep else np.full(len(KNOTS), POSSIBLE.level), -np.inf)


def posterior(parameters: Floats, counts: Counts) -> tuple[float, Floats]:
    """The logarithm of likelihood times prior, less a constant, and its gradient."""
    parts = np.split(parameters, len(parameters) // len(KNOTS))
    gradient = np.empty_like(parameters)
    value = law_loops.likelihood(
        parameters, len(parts) == 3, counts.place, counts.share, counts.log_m + counts.log_shown, counts.count,
        counts.weight, gradient,
    )  # fmt: skip
    for index, (part, prior) in enumerate(zip(parts, (MEAN, SHAPE, POSSIBLE), strict=False)):
        log, slope = prior.log(part)
        value += log
        gradient[index * len(KNOTS) : (index + 1) * len(KNOTS)] += slope
    return value, gradient


def _spread(parameters: int) -> Floats:
    """The covariance of the priors: the scale that the search starts with."""
    blocks, size = np.zeros((parameters, parameters)), len(KNOTS)
    for index, prior in enumerate((MEAN, SHAPE, POSSIBLE)[: parameters // size]):
        part = slice(index * size, (index + 1) * size)
        curvature = np.column_stack([-(prior.log(prior.mean + one)[1]) for one in np.eye(size)])
        blocks[part, part] = np.linalg.inv(curvature)
    return blocks


def fitted(counts: Counts, start: Law) -> Law:
    """The likeliest law, searched from a start."""

    def loss(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = posterior(parameters, counts)
        return -value, -gradient

    found = minimize(
        loss, start.parameters, jac=True, method="BFGS", options={"gtol": 1e-3, "maxiter": 500},
    )  # fmt: skip
    return Law.of(found.x, -float(found.fun) - counts.log_factorials)


def curvature(law: Law, counts: Counts) -> Floats:
    """Minus the matrix of second derivatives at the law, by differences of the gradient."""
    at, step = law.parameters, 1e-4
    columns = []
    for one in np.eye(len(at)) * step:
        columns.append((posterior(at - one, counts)[1] - posterior(at + one, counts)[1]) / (2 * step))
    matrix = np.column_stack(columns)
    symmetric: Floats = (matrix + matrix.T) / 2
    return symmetric
