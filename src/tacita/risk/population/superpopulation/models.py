"""Superpopulation models of population uniqueness: what they start from, and the two that need no likelihood.

A sample of n records out of a population of N falls into keys. All these models see of it is how many keys have 1, 2,
3, ... records; each answers how many units of the population are alone in their key. This module holds that input, the
answer, Zayatz's model and the slide negative binomial; `partitions` has Pitman's model and the
Dirichlet-multinomial, `mixtures` the Poisson mixtures.

Every model takes the sample for a simple random one. N need not be whole: it is often a sum of weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError


@dataclass(frozen=True, eq=False)
class SampleSizes:
    """How many keys have how many records: all that a superpopulation model sees of a file."""

    size: Ints
    """The different numbers of records that a key has, in ascending order."""
    keys: Ints
    """How many keys have that many (s_i)."""
    population: float
    """Units in the population (N), at least the number of records."""
    cells: float = math.inf
    """Keys that are possible, empty ones included (K)."""

    def __post_init__(self) -> None:
        if self.population < self.records:
            raise TacitaError(
                f"population must be at least the {self.records:,} records; got {check.given(self.population)}."
            )
        if self.cells < self.occupied:
            raise TacitaError(
                f"cells must be at least the {self.occupied:,} keys that occur; got {check.given(self.cells)}."
            )

    @classmethod
    def of(cls, records: ArrayLike, population: float, cells: float = math.inf) -> SampleSizes:
        """Of the number of records of each key.

        >>> SampleSizes.of([1, 1, 3], population=50).keys.tolist()
        [2, 1]
        """
        size, keys = np.unique(np.asarray(records, dtype=np.int64), return_counts=True)
        return cls(size, keys.astype(np.int64), float(population), float(cells))

    @cached_property
    def records(self) -> int:
        """Records in the sample (n)."""
        return int((self.size * self.keys).sum())

    @cached_property
    def occupied(self) -> int:
        """Keys that occur (u)."""
        return int(self.keys.sum())

    @cached_property
    def pairs(self) -> float:
        """Ordered pairs of records with the same key, sum f(f-1): few of them mean that the keys are evenly filled."""
        return float((self.size * (self.size - 1.0) * self.keys).sum())

    @property
    def fraction(self) -> float:
        """The sampling fraction pi = n/N."""
        return self.records / self.population

    def with_size(self, size: int) -> int:
        """Keys of so many records; `with_size(1)` are the sample uniques."""
        return int(self.keys[self.size == size].sum())


@dataclass(frozen=True)
class Estimate:
    """What one model says about the number of population uniques."""

    model: str
    """Name of the model."""
    population_uniques: float
    """Units of the population that are alone in their key; NaN where the model has no answer."""
    sample_uniques: float
    """Records of the file that are unique in it and in the population, the ones an intruder finds for certain."""
    share: float
    """Population uniques as a share of the population."""
    converged: bool
    """Whether the model could be fitted."""
    reason: str = ""
    """Why there is no fit, or at which end of the model it lies."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """The fitted parameters."""


Model = Callable[[SampleSizes], Estimate]


def estimate(
    sizes: SampleSizes, uniques: float, *, converged: bool = True, reason: str = "", **parameters: float
) -> Estimate:
    """The answer of a model; a population unique is in the sample with probability pi, and then unique there."""
    # A fitted model may leave more population uniques in the sample than it has uniques.
    in_sample = min(float(sizes.with_size(1)), uniques * sizes.fraction) if uniques == uniques else math.nan
    return Estimate("", uniques, in_sample, uniques / sizes.population, converged, reason, parameters)


def superpopulation_model(name: str, *, all_unique: bool = True) -> Callable[[Model], Model]:
    """Give a model its name and answer for it where there is nothing to fit.

    Without a sample unique it is 0, and with the whole population in the file it is the count. Where every record is
    unique (`all_unique`), the likelihood of a model without a given number of cells grows to where everybody is.
    """

    def decorate(model: Model) -> Model:
        @wraps(model)
        def answer(sizes: SampleSizes) -> Estimate:
            if sizes.with_size(1) == 0:
                found = estimate(sizes, 0.0, reason="no record is unique in the sample")
            elif sizes.population == sizes.records:
                found = estimate(sizes, float(sizes.with_size(1)), reason="the file is the whole population")
            elif all_unique and sizes.occupied == sizes.records:
                why = "every record is unique: the sample does not say from where on keys would repeat"
                found = estimate(sizes, sizes.population, converged=False, reason=why)
            else:
                found = model(sizes)
            return replace(found, model=name)

        return answer

    return decorate


def drawn_once(size: Ints, records: float, population: float) -> Floats:
    """g(i): the probability that one of i units is drawn when n of N are, hypergeometric.

    g(i) = i (n/N) prod_{j=1}^{i-1} [1 - (n-1)/(N-j)], which also holds for N that is not whole.
    """
    # Every factor is at most (N-n)/(N-1), so the product of this many is 0 in double precision.
    most = min(int(size.max(initial=1)), 1 + int(1000.0 * population / records))
    taken = np.minimum((records - 1.0) / (population - np.arange(1, most)), 1.0)
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log1p(-taken))])
    others = np.where(size > most, 0.0, np.exp(logs[np.minimum(size, most) - 1]))
    return np.asarray(size * (records / population) * others)


@superpopulation_model("zayatz", all_unique=False)
def zayatz(sizes: SampleSizes) -> Estimate:
    """Zayatz (1991): keys of the population are taken to have the sizes of keys of the sample.

    P(F = 1 | f = 1) = s_1 g(1) / sum_i s_i g(i); the population uniques are s_1 P N/n.
    """
    once = sizes.keys * drawn_once(sizes.size, sizes.records, sizes.population)
    probability = float(once[sizes.size == 1].sum() / once.sum())
    return estimate(sizes, sizes.with_size(1) * probability / sizes.fraction, probability=probability)


def shlosser(sizes: SampleSizes) -> float:
    """Shlosser's (1981) estimate of the number of keys that occur in the population.

    u + s_1 sum_i (1-pi)^i s_i / sum_i i pi (1-pi)^(i-1) s_i.
    """
    absent = (1.0 - sizes.fraction) ** sizes.size * sizes.keys
    once = sizes.size * sizes.fraction * absent / (1.0 - sizes.fraction)
    return sizes.occupied + sizes.with_size(1) * float(absent.sum() / once.sum())


def slide_expected(alpha: float, log_beta: float, keys: float, fraction: float) -> tuple[float, float]:
    """Expected s_1 and s_2 when F - 1 is negative binomial and each unit is sampled with probability pi.

    With D = (1-pi)(1-beta): s_1 = K pi (beta/(1-D))^alpha [1 + alpha D/(1-D)] and
    s_2 = K pi^2 alpha (1-beta) (beta/(1-D))^alpha [2 - (1-alpha) D] / (2 (1-D)^2).
    """
    rest = -math.expm1(log_beta)
    D = (1.0 - fraction) * rest
    power = keys * fraction * math.exp(alpha * (log_beta - math.log1p(-D)))
    first = power * (1.0 + alpha * D / (1.0 - D))
    second = power * fraction * alpha * rest * (2.0 - (1.0 - alpha) * D) / (2.0 * (1.0 - D) ** 2)
    return first, second


def slide_alpha(log_beta: float, ratio: float, fraction: float) -> float:
    """The alpha that gives s_2/s_1 its observed value for a given beta; `ratio` is R = 2 s_2 / (pi s_1).

    Dividing the two equations leaves (1-beta) D a^2 + [(1-beta)(2-D) - R D (1-D)] a - R (1-D)^2 = 0, whose roots
    have opposite signs: there is exactly one alpha above 0.
    """
    rest = -math.expm1(log_beta)
    D = (1.0 - fraction) * rest
    square, linear = rest * D, rest * (2.0 - D) - ratio * D * (1.0 - D)
    constant = ratio * (1.0 - D) ** 2
    root = math.sqrt(linear**2 + 4.0 * square * constant)
    # The form of the solution that subtracts nothing.
    return 2.0 * constant / (linear + root) if linear > 0 else (root - linear) / (2.0 * square)


@superpopulation_model("slide_negative_binomial")
def slide_negative_binomial(sizes: SampleSizes) -> Estimate:
    """Chen and Keller-McNulty (1998): F - 1 is negative binomial over the keys that occur in the population.

    alpha and beta make the expected s_1 and s_2 the observed ones, with K by Shlosser; uniques are K beta^alpha.
    """
    pi, first, keys = sizes.fraction, sizes.with_size(1), shlosser(sizes)
    if sizes.with_size(2) == 0:
        return estimate(sizes, math.nan, converged=False, reason="no key has two records, which the equations need")
    ratio = 2.0 * sizes.with_size(2) / (pi * first)

    def excess(log_beta: float) -> float:
        expected, _ = slide_expected(slide_alpha(log_beta, ratio, pi), log_beta, keys, pi)
        return expected - first

    # With beta near 1, F - 1 is Poisson: the most uniques for this ratio. Towards beta = 0 they go to none.
    low, high = -1.0, -1e-9
    if excess(high) < 0.0:
        why = "the equations have no solution: more keys have one record than the model allows beside those with two"
        return estimate(sizes, math.nan, converged=False, reason=why, keys=keys)
    while excess(low) >= 0.0:
        low *= 2.0
    log_beta = brentq(excess, low, high, xtol=1e-15, rtol=1e-14)
    alpha = slide_alpha(log_beta, ratio, pi)
    # The equations do not ask for N units: K (1 + alpha (1-beta)/beta) can be anything, and tells how well they fit.
    units = math.log(keys) + math.log1p(alpha * math.expm1(min(-log_beta, 700.0)))
    apart = units - math.log(sizes.population)
    reason = f"the fitted law has {math.exp(apart):.2g} times the units of the population" if abs(apart) > 1 else ""
    uniques = keys * math.exp(alpha * log_beta)
    return estimate(sizes, uniques, reason=reason, alpha=alpha, log_beta=log_beta, keys=keys)
