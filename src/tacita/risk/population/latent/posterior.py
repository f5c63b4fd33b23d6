"""What the forecast of a key and its count in the sample say about its count in the population.

Given f, the rate of a key is gamma with shape a + f and rate a/M + rho, and the persons outside the sample are Poisson
around it: F = f + X, X negative binomial with shape a + f and odds (w - rho) / (a/M + rho). With a = 0 nothing is
forecast, and this is the model of Benedetti and Franconi; with a without bound it is a Poisson model of the cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from tacita.arrays import Bools, Floats
from tacita.risk.identity.negative_binomial import expected_reciprocal, reciprocal_variance
from tacita.risk.population.latent import risk_loops
from tacita.risk.population.latent.law import GREATEST_COUNT

NODES, NODE_WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(40))
NODES = NODES + 0.5


class Sample(NamedTuple):
    """By key what the file says."""

    f: Floats
    shown: Floats
    """The share of records that show at least what the key shows (rho)."""
    mean_weight: Floats
    forecast: Bools
    """Which keys the model speaks of; of the others f alone does."""


class Population(NamedTuple):
    """By key the distribution of F: f and a negative binomial count of others.

    Where rates are not gamma the negative binomial has the mean and the P(0) of the others; E(1/F) is exact there too.
    """

    f: Floats
    shape: Floats
    odds: Floats
    exact: Floats | None = None
    """By key E(1/F) and E(1/F^2), where rates are not gamma; nan where they are all the same."""

    @classmethod
    def of(cls, sample: Sample, log_mean: Floats, log_shape: Floats, index: float = 0.0) -> Population:
        """F given f, for rates with this mean, shape and index; great counts speak for themselves."""
        spoken = (sample.f <= GREATEST_COUNT) & sample.forecast
        a = np.where(spoken, np.exp(log_shape), 0.0)
        rate = a * np.exp(-log_mean) + sample.shown
        # Who stands for himself alone has no others, whatever they might have answered.
        others = np.where(sample.mean_weight > 1, np.maximum(sample.mean_weight - sample.shown, 0.0), 0.0)
        shape, odds = a + sample.f, others / rate
        rows = np.flatnonzero(spoken & (sample.f == np.rint(sample.f)))
        if index == 0.0 or len(rows) == 0:
            return cls(sample.f, shape, odds)
        found = np.full((len(shape), 4), np.nan)
        risk_loops.power_moments(
            rows, sample.f, sample.shown, sample.mean_weight, np.exp(log_mean), np.exp(log_shape), index, NODES,
            NODE_WEIGHTS, True, found,
        )  # fmt: skip
        odds[rows] = risk_loops.odds_of(found[rows, 3], found[rows, 2])
        shape[rows] = np.where(odds[rows] > 0, found[rows, 3] / np.maximum(odds[rows], 1e-300), shape[rows])
        return cls(sample.f, shape, odds, found[:, :2])

    def moments(self, *, second: bool = True) -> tuple[Floats, Floats]:
        """E(1/F) and the variance of 1/F."""
        both = np.full((len(self.f), 2), np.nan) if self.exact is None else self.exact.copy()
        few = np.flatnonzero((self.f <= GREATEST_COUNT) & np.isnan(both[:, 0]))
        if len(few):
            some = np.zeros((len(few), 2))
            risk_loops.reciprocal_moments(
                self.f[few], self.shape[few], self.odds[few], NODES, NODE_WEIGHTS, second, some
            )
            both[few] = some
        mean, variance = both[:, 0], np.maximum(both[:, 1] - both[:, 0] ** 2, 0.0)
        many = self.f > GREATEST_COUNT
        if many.any():
            p = 1.0 / (1.0 + self.odds[many])
            mean[many] = expected_reciprocal(self.f[many], p)
            variance[many] = reciprocal_variance(self.f[many], p)
        return mean, variance

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""
        outside = np.floor(count - self.f) + 1
        here = np.maximum(outside, 1.0)
        within: Floats = np.where(outside < 1, 0.0, betainc(self.shape, here, 1.0 / (1.0 + self.odds)))
        return within

    def unique(self) -> Floats:
        """P(F = 1): 0 where f is greater."""
        alone: Floats = np.where(self.f <= 1, np.exp(-self.shape * np.log1p(self.odds)), 0.0)
        return alone


def quantile(parts: list[tuple[float, Population]], share: float) -> Floats:
    """The least count that F stays within with probability `share`, F having one distribution or another."""
    f = parts[0][1].f
    low, high = f - 1.0, f.copy()

    def reached(count: Floats) -> Floats:
        total: Floats = sum((weight * part.at_most(count) for weight, part in parts), np.zeros(len(f)))
        return total

    step = 1.0
    while True:
        short = reached(high) < share
        if not short.any():
            break
        low[short] = high[short]
        high[short] += step
        step *= 2
    while (high - low > 1).any():
        middle = low + np.floor((high - low) / 2)
        enough = reached(middle) >= share
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return high
