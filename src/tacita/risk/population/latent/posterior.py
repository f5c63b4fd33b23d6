"""What the forecast of a key and its count in the sample say about its count in the population.

Given f, the rate of a key is gamma with shape a + f and rate a/M + rho, and the persons outside the sample are Poisson
around it: F = f + X, X negative binomial with shape a + f and odds (w - rho) / (a/M + rho). With a = 0 nothing is
forecast, and this is the model of Benedetti and Franconi; with a without bound it is a Poisson model of the cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.identity.negative_binomial import expected_reciprocal, reciprocal_variance
from tacita.risk.population.latent import risk_loops
from tacita.risk.population.latent.law import GREATEST_COUNT


def _rule(nodes: int) -> tuple[Floats, Floats]:
    """Gauss' rule on (0, 1)."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    return (places + 1) / 2, weights / 2


NODES, NODE_WEIGHTS = _rule(40)
POWER_NODES, POWER_WEIGHTS = _rule(24)
"""Fewer where each value of the integrand is a sum."""


class Sample(NamedTuple):
    """By key what the file says."""

    f: Floats
    shown: Floats
    """The share of records that show at least what the key shows (rho)."""
    mean_weight: Floats
    forecast: Bools
    """Which keys the model speaks of; of the others f alone does."""


@dataclass(frozen=True, eq=False)
class Population:
    """By key the distribution of F, for rates with some mean, shape and index."""

    sample: Sample
    log_mean: Floats
    log_shape: Floats
    index: float = 0.0

    @property
    def f(self) -> Floats:
        """By key: units of the sample."""
        return self.sample.f

    @cached_property
    def forecast(self) -> Bools:
        """Which keys the forecast says something of; great counts speak for themselves."""
        return (self.f <= GREATEST_COUNT) & self.sample.forecast

    @cached_property
    def gamma(self) -> tuple[Floats, Floats]:
        """Shape and odds of the negative binomial count of others, where rates are gamma."""
        a = np.where(self.forecast, np.exp(self.log_shape), 0.0)
        rate = a * np.exp(-self.log_mean) + self.sample.shown
        # Who stands for himself alone has no others, whatever they might have answered.
        weight = self.sample.mean_weight
        others = np.where(weight > 1, np.maximum(weight - self.sample.shown, 0.0), 0.0)
        return a + self.f, others / rate

    @cached_property
    def apart(self) -> Ints:
        """The keys whose rates are of another kind; fractions of records are left to the gamma law."""
        none = np.empty(0, dtype=np.int64)
        return none if self.index == 0.0 else np.flatnonzero(self.forecast & (self.f == np.rint(self.f)))

    def _figures(self, *, integrals: bool, second: bool) -> Floats:
        """Of the keys apart: E(1/F), E(1/F^2), log P(nobody else), expected others."""
        found = np.zeros((len(self.apart), 4))
        rows = self.apart
        risk_loops.power_figures(
            self.f[rows], self.sample.shown[rows], self.sample.mean_weight[rows], np.exp(self.log_mean[rows]),
            np.exp(self.log_shape[rows]), self.index, POWER_NODES, POWER_WEIGHTS, integrals, second, found,
        )  # fmt: skip
        return found

    @cached_property
    def others(self) -> tuple[Floats, Floats]:
        """Shape and odds of a negative binomial count of others: where rates are not gamma with its mean and P(0)."""
        shape, odds = (each.copy() for each in self.gamma)
        if len(self.apart):
            figures = self._figures(integrals=False, second=False)
            matched = risk_loops.odds_of(figures[:, 3], figures[:, 2])
            some = matched > 0
            odds[self.apart] = matched
            shape[self.apart[some]] = figures[some, 3] / matched[some]
        return shape, odds

    @property
    def mean_count(self) -> Floats:
        """E(F)."""
        shape, odds = self.others
        return self.f + shape * odds

    def moments(self, *, second: bool = True) -> tuple[Floats, Floats]:
        """E(1/F) and the variance of 1/F."""
        few = self.f <= GREATEST_COUNT
        few[self.apart] = False
        both = np.zeros((len(self.f), 2))
        both[few] = self._integrals(few, second)
        both[self.apart] = self._figures(integrals=True, second=second)[:, :2]
        mean, variance = both[:, 0], np.maximum(both[:, 1] - both[:, 0] ** 2, 0.0)
        many = self.f > GREATEST_COUNT
        if many.any():
            p = 1.0 / (1.0 + self.gamma[1][many])
            mean[many] = expected_reciprocal(self.f[many], p)
            variance[many] = reciprocal_variance(self.f[many], p)
        return np.minimum(mean, 1.0 / self.f), variance

    def _integrals(self, some: Bools, second: bool) -> Floats:
        """E(1/F) and E(1/F^2) where rates are gamma."""
        shape, odds = self.gamma
        found = np.zeros((int(some.sum()), 2))
        risk_loops.reciprocal_moments(self.f[some], shape[some], odds[some], NODES, NODE_WEIGHTS, second, found)
        return found

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""
        shape, odds = self.others
        outside = np.floor(count - self.f) + 1
        here = np.maximum(outside, 1.0)
        within: Floats = np.where(outside < 1, 0.0, betainc(shape, here, 1.0 / (1.0 + odds)))
        return within

    def unique(self) -> Floats:
        """P(F = 1): 0 where f is greater."""
        shape, odds = self.others
        alone: Floats = np.where(self.f <= 1, np.exp(-shape * np.log1p(odds)), 0.0)
        return alone


def quantile(parts: list[tuple[float, Population]], share: float | Floats) -> Floats:
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
