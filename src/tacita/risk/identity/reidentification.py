"""Expected re-identifications: how many records would an intruder get right?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.measures import at_most, measure
from tacita.progress import Progress, no_progress
from tacita.result import Repair, Result, Verdict, number, number_of, percent
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk, risk_alike
from tacita.risk.identity.k_anonymity import out_of_reach, recode_first
from tacita.risk.identity.negative_binomial import reciprocal_variance
from tacita.risk.identity.options import Keys, Method, Model, Quantile, Register
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
    model: str = "benedetti_franconi"
    """How F is estimated where it is not known."""
    benedetti_franconi: float | None = None
    """What the model of Benedetti and Franconi expects, beside another model."""
    population_uniques: float | None = None
    """How many of the sample uniques are expected to be unique in the population (tau_1), by the latent model."""
    matched_uniques: float | None = None
    """How many sample uniques an intruder who tries them all is expected to match correctly (tau_2), by that model."""
    sample_uniques: int = 0
    """How many units are alone with their key in the sample."""
    notes_of_model: tuple[str, ...] = ()
    """How the model was chosen."""
    cautions: tuple[str, ...] = ()
    """What of the model is to be taken with care."""

    @classmethod
    def of(cls, risk: IndividualRisk) -> Reidentification:
        """The expected re-identifications of individual risks.

        The sum runs over records (n_k of them carry key k), never over the f_k that count for a key: with missing
        values one record counts for several keys. A unit with several records counts once, by the riskiest.
        """
        table, model = risk.table, risk.model
        expected = math.fsum(risk.attack_total * risk.base)
        plain = None if model is None else risk.without_model
        of_model: dict[str, Any] = {}
        if model is not None and plain is not None:
            of_model = {
                "model": "latent",
                "benedetti_franconi": math.fsum(plain.attack_total * plain.base),
                "population_uniques": None if risk.quantile is not None else model.population_uniques,
                "matched_uniques": None if risk.quantile is not None else model.matched_uniques,
                "sample_uniques": int(table.units_by_key(risk.base)[table.sample_count <= 1].sum()),
                "notes_of_model": model.notes,
                "cautions": model.cautions,
            }
        ends = (expected, expected)
        if table.source != "register" and risk.quantile is None:
            ends = model.interval(risk.attack_total) if model is not None else _own_interval(risk, expected)
        return cls(
            size=table.units,
            expected=expected,
            interval=ends,
            lower_with_errors=risk.error_free * expected,
            attack=risk.attack_model,
            quantile=risk.quantile,
            not_valid=risk.not_valid,
            **of_model,
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
        rate = self.judged_rate(policy)
        holds = rate <= limited.limit
        end = " at the upper end of its interval" if policy.rate_at == "upper" else ""
        why = f"a re-identification rate{end} {'within' if holds else 'above'} {100 * limited.limit:g} %"
        return (Verdict("rate", limited.limit, rate, holds, why),)

    def judged_rate(self, policy: Any) -> float:
        """The rate that a policy limits: the expected one, or the upper end of its interval."""
        return self.rate_interval[1] if policy.rate_at == "upper" else self.rate

    @property
    def headline(self) -> str:
        """Expected re-identifications, their share and interval."""
        low, high = (number(end) for end in self.interval)
        ends = f", 95 % interval under the model {low} to {high}" if self.interval[0] < self.interval[1] else ""
        at = "" if self.quantile is None else f" at quantile {self.quantile:g} of F"
        expected = number_of(self.expected, "expected re-identification")
        return f"{expected}{at} ({percent(self.rate)} of {self.size:,}{ends})"

    def sentences(self) -> list[str]:
        """Population uniques, and what another model says, with the reason where it says something else."""
        if self.benedetti_franconi is None:
            return []
        said = []
        if self.population_uniques is not None and self.matched_uniques is not None and self.sample_uniques:
            said.append(
                f"{number(self.population_uniques)} of {self.sample_uniques:,} sample uniques are expected to be "
                f"unique in the population, and {number(self.matched_uniques)} to be matched correctly if all are tried"
            )
        other = f"{number(self.benedetti_franconi)} by the model of Benedetti and Franconi"
        if self.interval[0] <= self.benedetti_franconi <= self.interval[1] or self.quantile is not None:
            return [*said, other]
        rarer = self.benedetti_franconi < self.interval[0]
        return [
            *said,
            f"{other}, which sees of each key only its records and weights: the others say that many keys are "
            f"{'rarer' if rarer else 'more frequent'} in the population than that",
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """How the model was chosen."""
        return self.notes_of_model

    def to_dict(self) -> dict[str, Any]:
        """ER, the rate and their intervals; the same by another model, and population uniques."""
        of_model = {}
        if self.benedetti_franconi is not None:
            of_model = {
                "expected_benedetti_franconi": self.benedetti_franconi,
                "population_uniques": self.population_uniques,
                "matched_uniques": self.matched_uniques,
                "model": self.model,
            }
        return {
            "expected_reidentifications": self.expected,
            "expected_interval": list(self.interval),
            "expected_with_key_errors": self.lower_with_errors,
            "rate": self.rate,
            "rate_interval": list(self.rate_interval),
            **of_model,
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


def _own_interval(risk: IndividualRisk, expected: float) -> tuple[float, float]:
    """The interval of the model of Benedetti and Franconi."""
    table = risk.table
    of_reciprocal = reciprocal_variance(table.sample_count, table.sampling_probability)
    return interval(expected, math.fsum(np.square(risk.attack_total) * of_reciprocal))


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


def repair_of_rate(
    risk: IndividualRisk, threshold: Threshold | None, rate: float, key_sets: Sequence[str] = ()
) -> Repair:
    """Suppression to the threshold of risk that keeps a rate, of some key sets alone if they are named."""
    table, least = risk.table, risk_alike(risk)
    if rate < least or threshold is None:
        return out_of_reach(table, "the rate", percent(least), table.size)
    given = {"rate": rate} | ({"key_sets": list(key_sets)} if key_sets else {})
    call = f"Suppress({', '.join(f'{name}={value!r}' for name, value in given.items())}), or Recode of the keys"
    who = f"the {check.counted(threshold.unsafe, 'record')} above a risk of {threshold.risk:.3g}"
    text = f"it holds once {who} {'is' if threshold.unsafe == 1 else 'are'} brought down to it: {call}"
    if table.source == "census" and risk.attack_model == "M3":
        # Without weights the rate is the number of different keys over that of records.
        most = math.floor(rate * table.units)
        text += f"; it takes at most {check.counted(most, 'different key')}, and there are {len(table.codes):,}"
    return Repair("", text + recode_first(table, threshold.unsafe), "suppress", given, threshold.unsafe)


@measure(by_key=True, needs="keys", limit=at_most("rate", "the re-identification rate", void=1.0))
def reidentification(
    data: Any,
    scenario: Scenario,
    *,
    model: Model = None,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
    progress: Progress = no_progress,
) -> Reidentification:
    """How many records an intruder is expected to re-identify, with a 95 % interval.

    ER is the sum of the individual risks; the rate is ER / n. By `model="benedetti_franconi"` the interval is that of
    sum P(L_i) / F over the distribution of the unknown F given f, keys taken as independent and the sum as gamma: it
    speaks of the model's own uncertainty, not of a wrong model (see the page on how well it does). By `model="latent"`
    it also has the uncertainty of the law, of the number of classes and of the folds. At a quantile of F there is none.

    Reference: Polettini (2003), section 5.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> print(reidentification(people, Scenario(keys=["region"], weight="w")))
    0.246 expected re-identifications (8.21 % of 3, 95 % interval under the model 0.00635 to 0.906)
    """
    risk = individual_risk(
        data, scenario, model=model, method=method, quantile=quantile, keys=keys, register=register, progress=progress
    )
    return Reidentification.of(risk)
