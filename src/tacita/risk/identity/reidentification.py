"""Expected re-identifications: how many records would an intruder get right?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from tacita import frame
from tacita.arrays import Floats, Ints
from tacita.measures import at_most, measure
from tacita.result import Result, Verdict, number, number_of, percent
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk
from tacita.risk.identity.negative_binomial import reciprocal_variance
from tacita.risk.identity.options import Keys, Method, Quantile, Register
from tacita.scenario import Scenario

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Reidentification(Result):
    """Expected re-identifications (ER) and their share of the records (the rate)."""

    size: int
    """Number of records, or of units where some have several."""
    expected: float
    """ER = sum over records of P(L) r."""
    interval: tuple[float, float]
    """95 % interval of the re-identifications to be expected, under the model of F given f."""
    lower_with_errors: float
    """ER when a key error always prevents a link; equal to `expected` without error rates."""
    attack: str
    """The attack model."""
    quantile: float | None = None
    """The quantile of F at which the risks were taken; None: their expectation."""
    not_valid: str = ""
    """Why the figures do not hold for this file; empty if they do."""

    @classmethod
    def of(cls, risk: IndividualRisk) -> Reidentification:
        """The expected re-identifications of individual risks.

        The sum runs over records (n_k of them carry key k), never over the f_k that count for a key: with missing
        values one record counts for several keys. A unit with several records counts once, by the riskiest.
        """
        table = risk.table
        expected = math.fsum(risk.attack_total * risk.base)
        variance = 0.0
        if table.source != "register" and risk.quantile is None:
            of_reciprocal = reciprocal_variance(table.sample_count, table.sampling_probability)
            variance = math.fsum(np.square(risk.attack_total) * of_reciprocal)
        return cls(
            size=table.units,
            expected=expected,
            interval=interval(expected, variance),
            lower_with_errors=risk.error_free * expected,
            attack=risk.attack_model,
            quantile=risk.quantile,
            not_valid=risk.not_valid,
        )

    @property
    def rate(self) -> float:
        """ER / n."""
        return self.expected / self.size

    @property
    def rate_interval(self) -> tuple[float, float]:
        """95 % interval of the rate."""
        return self.interval[0] / self.size, self.interval[1] / self.size

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether the re-identification rate is at most the policy's."""
        limited = policy.limit_of("reidentification")
        if limited is None:
            return ()
        if self.not_valid:
            return (Verdict("rate", limited.limit, None, None, self.not_valid),)
        holds = self.rate <= limited.limit
        why = f"a re-identification rate {'within' if holds else 'above'} {100 * limited.limit:g} %"
        return (Verdict("rate", limited.limit, self.rate, holds, why),)

    @property
    def headline(self) -> str:
        """Expected re-identifications, their share and interval."""
        low, high = (number(end) for end in self.interval)
        ends = f", 95 % interval under the model {low} to {high}" if self.interval[0] < self.interval[1] else ""
        at = "" if self.quantile is None else f" at quantile {self.quantile:g} of F"
        expected = number_of(self.expected, "expected re-identification")
        return f"{expected}{at} ({percent(self.rate)} of {self.size:,}{ends})"

    def to_dict(self) -> dict[str, Any]:
        """ER, the rate and their intervals."""
        return {
            "expected_reidentifications": self.expected,
            "expected_interval": list(self.interval),
            "expected_with_key_errors": self.lower_with_errors,
            "rate": self.rate,
            "rate_interval": list(self.rate_interval),
        }

    def to_frame(self) -> frame.Frame:
        """One row: ER, its interval, the rate and its interval."""
        return frame.table(
            {
                "expected": [self.expected],
                "low": [self.interval[0]],
                "high": [self.interval[1]],
                "rate": [self.rate],
                "rate_low": [self.rate_interval[0]],
                "rate_high": [self.rate_interval[1]],
            }
        )


def interval(expected: float, variance: float, level: float = LEVEL) -> tuple[float, float]:
    """The central interval of a gamma distribution with this mean and variance: never below 0."""
    if variance <= 0 or expected <= 0:
        return expected, expected
    shape, scale = expected**2 / variance, variance / expected
    low, high = (float(scale * gammaincinv(shape, q)) for q in ((1 - level) / 2, (1 + level) / 2))
    return low, high


class Threshold(NamedTuple):
    """A threshold on the individual risk, and what it means for the file."""

    risk: float
    """The threshold: records with a higher base individual risk are unsafe."""
    unsafe: int
    """How many records are above it."""
    expected: float
    """Expected re-identifications once no record is above it, at most."""


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Every observed risk with what a threshold there would mean: B(r) = sum of P(L) min(risk, r)."""

    risk: Floats
    """The different observed risks, in ascending order."""
    bound: Floats
    """B at each of them."""
    unsafe: Ints
    """Records above each of them."""
    attack: float
    """The sum of P(L) over all records."""
    size: int
    """Number of records."""

    @classmethod
    def of(cls, risk: IndividualRisk) -> ThresholdCurve:
        """The curve of individual risks."""
        observed, place = np.unique(risk.base, return_inverse=True)
        records = np.bincount(place, weights=risk.table.units_by_key(risk.base))
        attack = np.bincount(place, weights=risk.attack_total)
        attack_above = attack.sum() - np.cumsum(attack)
        bound = np.cumsum(attack * observed) + observed * np.maximum(attack_above, 0.0)
        # The last one is ER itself, and so small rounding must not make it look higher than the ones before.
        bound = np.maximum.accumulate(bound)
        unsafe = (records.sum() - np.cumsum(records)).astype(np.int64)
        return cls(observed, bound, unsafe, float(attack.sum()), risk.table.units)

    def at(self, threshold: float) -> Threshold:
        """What a risk threshold means."""
        place = int(np.searchsorted(self.risk, threshold, side="right"))
        if place == 0:
            return Threshold(float(threshold), self.size, threshold * self.attack)
        safe = place - 1
        expected = float(self.bound[safe] + (threshold - self.risk[safe]) * self._attack_above(safe))
        return Threshold(float(threshold), int(self.unsafe[safe]), expected)

    def _attack_above(self, place: int) -> float:
        if place + 1 >= len(self.risk):
            return 0.0
        return float((self.bound[place + 1] - self.bound[place]) / (self.risk[place + 1] - self.risk[place]))

    def for_expected(self, tolerated: float) -> Threshold:
        """The greatest observed risk that keeps the expected re-identifications within what is tolerated."""
        # A file whose own rate is tolerated is safe, whatever the rounding of its sums.
        within = np.flatnonzero(self.bound <= tolerated * (1 + 1e-12))
        if len(within) == 0:
            # No observed value is low enough: everybody must come down to the same risk.
            return self.at(tolerated / self.attack)
        return self.at(float(self.risk[within[-1]]))

    def for_unsafe(self, unsafe: int) -> Threshold:
        """The lowest observed risk with at most so many records above it."""
        return self.at(float(self.risk[np.flatnonzero(self.unsafe <= unsafe)[0]]))


@measure(needs="keys", limit=at_most("rate", "the re-identification rate", void=1.0))
def reidentification(
    data: Any,
    scenario: Scenario,
    *,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
) -> Reidentification:
    """How many records an intruder is expected to re-identify, with a 95 % interval.

    ER is the sum of the individual risks; the rate is ER / n. The interval is that of sum P(L_i) / F over the
    distribution of the unknown F given f, keys taken as independent and the sum as gamma: it speaks of the model's own
    uncertainty, not of a wrong model (see the page on how well it does). At a quantile of F there is no interval.

    Reference: Polettini (2003), section 5.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> print(reidentification(people, Scenario(keys=["region"], weight="w")))
    0.246 expected re-identifications (8.21 % of 3, 95 % interval under the model 0.00635 to 0.906)
    """
    risk = individual_risk(data, scenario, method=method, quantile=quantile, keys=keys, register=register)
    return Reidentification.of(risk)
