"""Individual risk: how likely is each record to be re-identified?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.source import SMALL_BITS, as_float, group_sums, limbs_of, repeated_sums
from tacita.keys.table import KeyTable, key_table, population_weights
from tacita.measures import measure
from tacita.progress import Progress, no_progress, part
from tacita.result import Repair, Result, Verdict
from tacita.risk.identity.k_anonymity import out_of_reach, suppression, suppression_to_count
from tacita.risk.identity.negative_binomial import approximate_reciprocal, expected_reciprocal, population_quantile
from tacita.risk.identity.options import METHODS, Keys, Method, Model, Quantile, Register
from tacita.risk.population.latent.model import LatentModel, latent_model_of
from tacita.scenario import Scenario

ALIKE = 1e-9
"""Sampling probabilities that differ by less are one."""


class Spread(NamedTuple):
    """Minimum, quartiles, mean and maximum."""

    minimum: float
    lower_quartile: float
    median: float
    mean: float
    upper_quartile: float
    maximum: float


def spread(values: Floats, counts: Ints | None = None) -> Spread:
    """The spread of values, each occurring `counts` times; quartiles are interpolated between records."""
    low, lower, middle, upper, high = quantiles(values, (0.0, 0.25, 0.5, 0.75, 1.0), counts)
    return Spread(low, lower, middle, mean(values, counts), upper, high)


def mean(values: Floats, counts: Ints | None = None) -> float:
    """The mean, whatever the order of the values."""
    if counts is None:
        return math.fsum(values) / len(values)
    return math.fsum(values * counts) / int(counts.sum())


def quantiles(values: Floats, shares: tuple[float, ...], counts: Ints | None = None) -> list[float]:
    """Quantiles at position (n - 1) q, linear between neighbours, of values that each occur `counts` times."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = np.arange(1, len(values) + 1) if counts is None else np.cumsum(counts[order])
    out = []
    for share in shares:
        position = (int(ends[-1]) - 1) * share
        below = math.floor(position)
        left = ordered[np.searchsorted(ends, below, side="right")]
        right = ordered[np.searchsorted(ends, min(below + 1, int(ends[-1]) - 1), side="right")]
        out.append(float(left + (right - left) * (position - below)))
    return out


def base_risk(
    table: KeyTable, method: str = "exact", quantile: float | None = None, model: LatentModel | None = None
) -> Floats:
    """By key: the probability of a correct link when the intruder tries, E[1/F | f], or 1/F where F is known.

    By the latent model if there is one, else by that of Benedetti and Franconi.

    With a quantile q it is 1/F_q, F_q the q-quantile of F | f: a low q gives a cautious, higher risk.
    """
    check.one_of("method", method, METHODS)
    if quantile is not None:
        check.share("quantile", quantile, zero=False, one=False)
    if table.source == "register":
        return 1.0 / table.population_count
    if model is not None:
        return model.risk if quantile is None else 1.0 / model.quantile(quantile)
    return risk_of_counts(table.sample_count, table.sampling_probability, method, quantile)


def risk_of_counts(f: Floats, p: Floats, method: str = "exact", quantile: float | None = None) -> Floats:
    """E[1/F | f], or 1/F at a quantile of F, of counts f and sampling probabilities p."""
    if quantile is not None:
        return 1.0 / population_quantile(f, p, quantile)
    return expected_reciprocal(f, p) if method == "exact" else approximate_reciprocal(f, p)


def attack_probabilities(scenario: Scenario, size: int, units: int, weights: Floats | None) -> Floats:
    """P(L): the probability that the intruder tries a record, of `size` keys or records; by record under M5.

    Under M2 it is f/F of the key, and 1 here.
    """
    if scenario.attack == "M1":
        return np.full(size, 1.0 / units)
    if scenario.attack == "M4":
        return np.full(size, float(scenario.attack_probability or 0.0))
    if scenario.attack == "M5" and weights is not None:
        return np.minimum(1.0, 1.0 / weights)
    return np.ones(size)


@dataclass(frozen=True, eq=False)
class IndividualRisk(Result):
    """The risk of re-identification of every record."""

    table: KeyTable
    """The keys."""
    base: Floats
    """By key: the probability of a correct link when the intruder tries."""
    attack: Floats
    """The probability that he tries: by key, by record under attack model M5."""
    error_free: float
    """The probability that all keys agree in file and register."""
    method: str
    """exact or approximate, or the quantile of F that was used."""
    attack_model: str
    """M1 to M5."""
    quantile: float | None = None
    """The quantile of F at which the risk was taken; None: its expectation."""
    model: LatentModel | None = None
    """The model that F is estimated by; None: that of Benedetti and Franconi, or F is known."""

    @classmethod
    def of(
        cls,
        table: KeyTable,
        scenario: Scenario,
        weights: Floats | None = None,
        method: str = "exact",
        quantile: float | None = None,
        model: LatentModel | None = None,
    ) -> IndividualRisk:
        """The individual risk of a key table."""
        attack = attack_probabilities(scenario, len(table.codes), table.units, weights)
        return cls(
            table=table,
            base=base_risk(table, method, quantile, model),
            attack=table.sampling_probability if scenario.attack == "M2" else attack,
            error_free=math.prod(1.0 - scenario.error_rates.get(name, 0.0) for name in table.keys),
            method=method if quantile is None else f"quantile {quantile:g} of F",
            attack_model=scenario.attack,
            quantile=quantile,
            model=model,
        )

    @property
    def without_model(self) -> IndividualRisk:
        """The same risk by the model of Benedetti and Franconi."""
        return replace(self, base=base_risk(self.table, quantile=self.quantile), model=None)

    @cached_property
    def risk(self) -> Floats:
        """By record: P(L) r, an upper bound where keys can be in error."""
        if self.by_record:
            return self.table.per_record(self.base) * self.attack
        return self.table.per_record(self.by_key)

    @property
    def by_record(self) -> bool:
        """Whether the probability of an attack differs inside a key."""
        return self.attack_model == "M5"

    @cached_property
    def by_key(self) -> Floats:
        """By key: P(L) r; not defined under M5, where it differs inside a key."""
        return self.base * self.attack

    @cached_property
    def attack_total(self) -> Floats:
        """By key: the sum of P(L) over the records that carry it, of a unit with several only the riskiest one."""
        if self.by_record:
            keys, some = len(self.table.codes), self.table.one_per_unit(self.risk)
            if self.table.repeats is not None:
                limbs = limbs_of(self.attack, SMALL_BITS)
                return as_float(repeated_sums(limbs, self.table.row, keys, self.table.repeats), SMALL_BITS)
            return as_float(group_sums(self.attack[some], self.table.row[some], keys, SMALL_BITS), SMALL_BITS)
        return self.attack * self.table.units_by_key(self.by_key)

    @property
    def lower(self) -> Floats:
        """By record: the lower value, when a key error always prevents a link."""
        return self.error_free * self.risk

    @cached_property
    def spread(self) -> Spread:
        """Minimum, quartiles, mean and maximum over records."""
        if self.by_record:
            return spread(self.risk, self.table.repeats)
        return spread(self.by_key, self.table.records)

    def population_quantile(self, share: float) -> Floats:
        """By record: the quantile of F given f, the uncertainty behind a risk; F where it is known."""
        table = self.table
        if table.source == "register":
            return table.per_record(table.population_count)
        level = check.share("share", share, zero=False, one=False)
        if self.model is not None:
            return table.per_record(self.model.quantile(level))
        return table.per_record(population_quantile(table.sample_count, table.sampling_probability, level))

    def records_above(self, limit: float) -> int:
        """How many records have a higher risk."""
        if self.by_record:
            above = self.risk > limit
            return int(above.sum() if self.table.repeats is None else self.table.repeats[above].sum())
        return int(self.table.records[self.by_key > limit].sum())

    @property
    def not_valid(self) -> str:
        """Why the risk says nothing; empty if it does."""
        return self.table.not_valid

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether no record is above the policy's individual risk."""
        return risk_verdicts(self, policy.limit_of("individual_risk"), "a risk")

    def repair(self, policy: Any, key_sets: Sequence[str] = ()) -> Repair | None:
        """Suppression to the k that the policy's risk asks for where it is the same for all records, else to the risk.

        Of some key sets alone if they are named.
        """
        limit, table = policy.risk, self.table
        if limit is None:
            return None
        least, unsafe = risk_alike(self), self.records_above(limit)
        if limit < least:
            return out_of_reach(table, "the individual risk", f"{least:.3g}", unsafe)
        k = least_count(self, limit)
        if k is None:
            return suppression(table, {"risk": limit}, key_sets, unsafe, unsafe)
        where = "without weights the file is the whole population, where" if table.source == "census" else "here"
        return suppression_to_count(table, k, key_sets, f"{where} a risk of {limit:g} asks for k = {k}: ")

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether its risk is above the policy's."""
        return None if policy.risk is None else self.risk > policy.risk

    @property
    def headline(self) -> str:
        """Mean and highest risk."""
        of = f"{self.table.size:,} records"
        return f"individual risk of {of}: mean {self.spread.mean:.3g}, highest {self.spread.maximum:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Minimum, quartiles, mean and maximum, and how the risk was worked out."""
        model = "benedetti_franconi" if self.model is None else "latent"
        return self.spread._asdict() | {"method": self.method, "model": model}

    def to_frame(self) -> frame.Frame:
        """One row per record: f, F and the risk."""
        return frame.table(
            {
                "f": self.table.per_record(self.table.sample_count),
                "F": self.table.per_record(self.table.population_count),
                "risk": self.risk,
            }
        )


def risk_verdicts(risk: Any, limited: Any, words: str) -> tuple[Verdict, ...]:
    """Whether no record is above a limit of a risk."""
    if limited is None:
        return ()
    if risk.not_valid:
        return (Verdict(limited.name, limited.limit, None, None, risk.not_valid),)
    count = risk.records_above(limited.limit)
    found = check.counted(count, "record") if count else "no record"
    why = f"{found} above {words} of {limited.limit:g}"
    return (Verdict(limited.name, limited.limit, count, count == 0, why),)


# What a limit asks of counts.


def least_count(risk: IndividualRisk, limit: float) -> int | None:
    """The least f for which a record keeps a limit of individual risk; None where that depends on more than f.

    Without weights risk is 1/f, so that 0.1 asks for 10 records; with weights of their own records need different f.
    """
    p, attack = risk.table.sampling_probability, risk.attack
    known = risk.by_record or risk.table.source == "register" or risk.model is not None
    if known or np.ptp(p) > ALIKE or np.ptp(attack) > ALIKE:
        return None

    def kept(f: int) -> bool:
        return float(_risk_like(risk, np.array([float(f)]), p[:1])[0] * attack[0]) <= limit

    high = 1
    while not kept(high):
        if high > 2**40:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def risk_alike(risk: IndividualRisk) -> float:
    """The risk of every record if all keys were missing: no suppression or recoding brings it lower."""
    table = risk.table
    total = float((table.records / table.sampling_probability).sum())
    f = np.array([float(table.units)])
    p = np.minimum(1.0, f / max(total * table.units / table.size, 1.0))
    # Of a record that nobody is less likely to try.
    return float(_risk_like(risk, f, p)[0]) * float(risk.attack.min(initial=1.0))


def _risk_like(risk: IndividualRisk, f: Floats, p: Floats) -> Floats:
    return risk_of_counts(f, p, risk.method if risk.quantile is None else "exact", risk.quantile)


@measure(by_key=True, needs="keys", figure="risk_histogram")
def individual_risk(
    data: Any,
    scenario: Scenario,
    *,
    model: Model = None,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
    progress: Progress = no_progress,
) -> IndividualRisk:
    """The probability that each record is correctly re-identified.

    An intruder with a register of the whole population finds F people with the key of a record and picks one: he is
    right with probability 1/F. F is not known. By `model="benedetti_franconi"` it is negative binomial given the f
    records of the file with that key, p = f / (sum of weights), and the risk is E[1/F | f] = (p/f) 2F1(1, 1; f+1; 1-p).
    `model="latent"` also asks the other records how many people such a key should have, and measures how far real
    counts stray from that. With a register F is known and the risk is 1/F. The scenario's attack model gives the
    probability that he tries at all.

    `method="approximate"` gives the figures of sdcMicro; `quantile=0.05` the risk at a low quantile of F | f.

    Reference: Polettini (2003), Some remarks on the individual risk methodology; Skinner and Shlomo (2008).

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> individual_risk(people, Scenario(keys=["region"], weight="w")).risk.round(4).tolist()
    [0.0443, 0.0443, 0.1577]
    """
    progress(0.0, "grouping records by their keys")
    table = key_table(data, scenario, keys, register)
    found = risk_of_keys(data, scenario, table, method, quantile, model=model, progress=part(progress, 0.1, 0.9))
    progress(1.0, "done")
    return found


def risk_of_keys(
    data: Data,
    scenario: Scenario,
    table: KeyTable,
    method: str = "exact",
    quantile: float | None = None,
    *,
    model: str | None = None,
    progress: Progress = no_progress,
) -> IndividualRisk:
    """The individual risk of a file whose key table is known; worked out once where the data are remembering."""
    if model == "latent" and method == "approximate":
        raise TacitaError(
            "method 'approximate' is of model 'benedetti_franconi'; choose that model, or drop the method."
        )
    chosen = "benedetti_franconi" if method == "approximate" else (model or scenario.model)
    weights = population_weights(data, scenario) if scenario.attack == "M5" else None
    latent = latent_model_of(data, scenario, table, progress) if chosen == "latent" else None
    key = ("individual_risk", id(table), scenario.attack, method, quantile, id(latent))
    risk: IndividualRisk = data.once(key, lambda: IndividualRisk.of(table, scenario, weights, method, quantile, latent))
    return risk
