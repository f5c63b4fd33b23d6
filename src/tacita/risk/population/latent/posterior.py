"""The distribution of a key's population count F, given its forecast and its count f in the sample.

Given f, the rate of a key is gamma with shape a + f and rate a/M + rho, and the persons outside the sample are Poisson
around it: F = f + X, X negative binomial with shape a + f and odds (w - rho) / (a/M + rho). With a = 0 nothing is
forecast, and this is the model of Benedetti and Franconi; with a without bound it is a Poisson model of the cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.population.latent import risk_loops
from tacita.risk.population.latent.law import GREATEST_COUNT
from tacita.risk.population.latent.law_loops import powers
from tacita.risk.population.latent.sample import Sample
from tacita.threads import in_threads


def _rule(nodes: int) -> tuple[Floats, Floats]:
    """Gauss' rule on (0, 1)."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    return (places + 1) / 2, weights / 2


NODES, NODE_WEIGHTS = _rule(40)
POWER_NODES, POWER_WEIGHTS = _rule(24)
"""Fewer where each value of the integrand is a sum."""

ROOM = GREATEST_COUNT + 2
"""Chances are worked out up to a count above those that are forecast."""
BLOCK = 4096
"""Keys of which one thread works out figures at a time."""


class Others(NamedTuple):
    """By key F less f: negative binomial."""

    f: Floats
    shape: Floats
    odds: Floats

    @property
    def mean_count(self) -> Floats:
        """E(F)."""
        return self.f + self.shape * self.odds

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""
        outside = np.floor(count - self.f) + 1
        here = np.maximum(outside, 1.0)
        within: Floats = np.where(outside < 1, 0.0, betainc(self.shape, here, 1.0 / (1.0 + self.odds)))
        return within


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
        return a + self.f, self.sample.others / rate

    @cached_property
    def apart(self) -> Ints:
        """The keys whose rates are of another kind; fractions of records are left to the gamma law."""
        none = np.empty(0, dtype=np.int64)
        return none if self.index == 0.0 else np.flatnonzero(self.forecast & (self.f == np.rint(self.f)))

    def _figures(self, rows: Ints, *, integrals: bool, second: bool) -> Floats:
        """Of some of the keys apart: E(1/F), E(1/F^2), log P(nobody else), expected others."""
        sample, mean, shape = self.sample.of(rows), np.exp(self.log_mean[rows]), np.exp(self.log_shape[rows])
        found = np.zeros((len(rows), 4))

        def block(some: slice) -> None:
            risk_loops.power_figures(
                sample.f[some], sample.shown[some], sample.mean_weight[some], mean[some], shape[some], self.index,
                powers(self.index, ROOM), POWER_NODES, POWER_WEIGHTS, integrals, second, np.empty(ROOM), found[some],
            )  # fmt: skip

        _in_blocks(block, len(rows))
        return found

    @cached_property
    def others(self) -> Others:
        """A negative binomial count of others: where rates are not gamma with its mean and P(0)."""
        shape, odds = (each.copy() for each in self.gamma)
        if len(self.apart):
            figures = self._figures(self.apart, integrals=False, second=False)
            log_none, mean = np.ascontiguousarray(figures.T[2:])
            matched = np.empty(len(figures))

            def block(some: slice) -> None:
                risk_loops.odds_of(mean[some], log_none[some], matched[some])

            _in_blocks(block, len(figures))
            some = matched > 0
            odds[self.apart] = matched
            shape[self.apart[some]] = figures[some, 3] / matched[some]
        return Others(self.f, shape, odds)

    def moments(self, *, second: bool = True) -> tuple[Floats, Floats]:
        """E(1/F) and the variance of 1/F."""
        few = self.f <= GREATEST_COUNT
        few[self.apart] = False
        both = np.zeros((len(self.f), 2))
        both[few] = self._integrals(few, second)
        both[self.apart] = self._figures(self.apart, integrals=True, second=second)[:, :2]
        mean, variance = both[:, 0], np.maximum(both[:, 1] - both[:, 0] ** 2, 0.0)
        many, of_many, variance_of_many = self.sample.of_frequent
        mean[many], variance[many] = of_many, variance_of_many
        return np.minimum(mean, 1.0 / self.f), variance

    def _integrals(self, some: Bools, second: bool) -> Floats:
        """E(1/F) and E(1/F^2) where rates are gamma."""
        f, shape, odds = self.f[some], self.gamma[0][some], self.gamma[1][some]
        found = np.zeros((len(f), 2))

        def block(rows: slice) -> None:
            risk_loops.reciprocal_moments(
                f[rows], shape[rows], odds[rows], NODES, NODE_WEIGHTS, second, found[rows]
            )  # fmt: skip

        _in_blocks(block, len(f))
        return found

    def unique(self) -> Floats:
        """P(F = 1): 0 where f is greater."""
        shape, odds = self.gamma
        alone = np.zeros(len(self.f))
        gamma = self.f <= 1
        gamma[self.apart] = False
        alone[gamma] = np.exp(-shape[gamma] * np.log1p(odds[gamma]))
        rows = self.apart[self.f[self.apart] <= 1]
        alone[rows] = np.exp(self._figures(rows, integrals=False, second=False)[:, 2])
        return alone


def _in_blocks(work: Callable[[slice], None], size: int) -> None:
    """Work on so many keys, some at a time; what is found of each does not depend on the others."""
    in_threads(work, [slice(begin, begin + BLOCK) for begin in range(0, size, BLOCK)], worth=size > 2 * BLOCK)


def quantile(parts: list[tuple[float, Others]], share: float | Floats) -> Floats:
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
