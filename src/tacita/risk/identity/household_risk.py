"""Household risk: the probability that at least one member of the household is re-identified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.source import SMALL_BITS, as_float, group_sums
from tacita.keys.units import riskiest_of_each
from tacita.measures import measure
from tacita.result import Repair, Result, Verdict, number, percent
from tacita.risk.identity.individual_risk import IndividualRisk, Spread, individual_risk, risk_verdicts, spread
from tacita.risk.identity.options import Keys, Method, Model, Quantile, Register
from tacita.scenario import Scenario


def at_least_one(risk: Floats, household: Ints, count: int) -> Floats:
    """By household: 1 - prod(1 - r) over its members, whatever their order."""
    logarithms, certain = survival(risk)
    sums = group_sums(logarithms, household, count, SMALL_BITS)
    return of_sums(sums, np.bincount(household, weights=certain, minlength=count) > 0)


def survival(risk: Floats) -> tuple[Floats, Bools]:
    """-log(1 - r) of each risk, 0 where it is certain; and where it is."""
    certain = risk >= 1.0
    return -np.log1p(-np.where(certain, 0.0, risk)), certain


def of_sums(sums: Ints, certain: Bools) -> Floats:
    """By household: 1 - prod(1 - r), of the fixed-point sums of -log(1 - r) and whether a member is certain."""
    return np.where(certain, 1.0, -np.expm1(-as_float(sums, SMALL_BITS)))


@dataclass(frozen=True, eq=False)
class HouseholdRisk(Result):
    """The risk that at least one member of a household is re-identified."""

    by_household: Floats
    """The risk of each household."""
    household: Ints
    """For each record the place of its household."""
    alone: int
    """Records without a household identifier, each taken as a household of its own."""
    members: Ints
    """Number of members of each household: its records, or its persons where some have several records."""
    not_valid: str = ""
    """Why the figures do not hold for this file; empty if they do."""
    alike: Ints | None = None
    """How many households each entry of `by_household` stands for, where records are on an engine; None: one each.
    `household` then is empty."""

    @property
    def count(self) -> Ints:
        """How many households each entry stands for."""
        return np.ones(len(self.members), dtype=np.int64) if self.alike is None else self.alike

    @classmethod
    def of(cls, risk: IndividualRisk, data: Data, scenario: Scenario) -> HouseholdRisk:
        """The household risk of individual risks."""
        if scenario.household is None:
            raise TacitaError("household risk needs the household identifier; pass household=... in the scenario.")
        household, count, alone = data.households(scenario.household)
        _check_constant(data, scenario, household, count)
        once = _once_each(risk, household)
        by_household = at_least_one(risk.risk[once], household[once], count)
        members = np.bincount(household[once], minlength=count)
        return cls(by_household, household, alone, members, risk.not_valid or _perturbed(data, scenario.household))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Records without a household identifier."""
        if not self.alone:
            return ()
        who = check.counted(self.alone, "record")
        return (f"{who} without a household identifier: each is taken as a household of its own.",)

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether no record is above the policy's household risk."""
        return risk_verdicts(self, policy.limit_of("household_risk"), "a household risk")

    def repair(self, policy: Any) -> Repair | None:
        """Suppressing until no household is above the limit: at least one cell in each of those that are."""
        limit = policy.household_risk
        above = self.by_household > limit
        households, records = int(self.count[above].sum()), self.records_above(limit)
        text = (
            f"{check.counted(households, 'household')} with {check.counted(records, 'record')} above {limit:g}: "
            f"Suppress(household_risk={limit:g}) changes cells in each of them; coarser keys (Recode), fewer household "
            f"variables among them, or DropRecords(larger_than=...) for large households leave less to suppress"
        )
        return Repair("household_risk", text, "suppress", {"household_risk": limit}, records)

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether its household's risk is above the policy's."""
        return None if policy.household_risk is None else self.risk > policy.household_risk

    @cached_property
    def risk(self) -> Floats:
        """By record: every member carries the risk of the household. Where records are on an engine, by entry."""
        if self.alike is not None:
            return self.by_household
        return self.by_household[self.household]

    @cached_property
    def expected_persons(self) -> float:
        """Expected persons in re-identified households: the sum over members."""
        return math.fsum(self.by_household * (self.members * self.count))

    @cached_property
    def expected_households(self) -> float:
        """Expected re-identified households: the sum over households."""
        return math.fsum(self.by_household * self.count)

    @cached_property
    def spread(self) -> Spread:
        """Minimum, quartiles, mean and maximum over members."""
        return spread(self.by_household, self.members * self.count)

    def records_above(self, limit: float) -> int:
        """How many records are in households with a higher risk."""
        if self.alike is not None:
            return int((self.members * self.alike)[self.by_household > limit].sum())
        return int((self.risk > limit).sum())

    @property
    def headline(self) -> str:
        """Households and persons expected to be re-identified."""
        persons, households = int((self.members * self.count).sum()), int(self.count.sum())
        return (
            f"{number(self.expected_households)} of {households:,} households expected to be re-identified "
            f"({percent(self.expected_households / households)}), with {number(self.expected_persons)} "
            f"of {persons:,} persons in them"
        )

    def to_dict(self) -> dict[str, Any]:
        """Expected households and persons, and the spread of the risk."""
        return {
            "households": int(self.count.sum()),
            "risk": self.spread._asdict(),
            "expected_persons": self.expected_persons,
            "expected_households": self.expected_households,
            "records_without_household": self.alone,
        }

    def to_frame(self) -> frame.Frame:
        """One row per record: the risk of its household."""
        return frame.table({"household_risk": self.risk})


def _once_each(risk: IndividualRisk, household: Ints) -> Ints:
    """The records by which members count: a person with several in one household counts once, by the riskiest."""
    unit = risk.table.unit
    if unit is None:
        return np.arange(len(household), dtype=np.int64)
    return riskiest_of_each(risk.risk, unit, household)


def _perturbed(data: Data, household: str) -> str:
    """Why households say nothing: their identifier was exchanged between records; empty if it was not."""
    return households_not_known(household) if household in data.perturbed else ""


def households_not_known(household: str) -> str:
    """Why the risk of households is not valid where their identifier says nothing."""
    return (
        f"the household identifier {household!r} was perturbed, or puts other records together than in the original: "
        f"who lives together is not known; release it as it was under the same name, or leave household out."
    )


def _check_constant(data: Data, scenario: Scenario, household: Ints, count: int) -> None:
    """A household variable must not differ inside a household, unless a step exchanged values for wrong ones."""
    for name in (each for each in scenario.household_variables if each not in data.perturbed):
        codes = data.coded(name).codes.astype(np.int64)
        first = np.zeros(count, dtype=np.int64)
        first[household[::-1]] = codes[::-1]
        differing = len(np.unique(household[codes != first[household]]))
        if differing:
            raise TacitaError(
                f"household variable {name!r} must be the same for all members; it differs in "
                f"{check.counted(differing, 'household')}, correct the file or drop it from household_variables."
            )


@measure(needs=("keys", "household"), figure="risk_histogram")
def household_risk(
    data: Any,
    scenario: Scenario,
    *,
    model: Model = None,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
) -> HouseholdRisk:
    """The risk that at least one member of a household is re-identified, 1 - prod(1 - r_i); every member carries it.

    Records without a household identifier are households of their own, and counted.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [40, 38, 7], "hid": [1, 1, 2], "w": [20.0, 20.0, 20.0]})
    >>> household_risk(people, Scenario(keys=["age"], weight="w", household="hid")).risk.round(4).tolist()
    [0.2905, 0.2905, 0.1577]
    """
    risk = individual_risk(data, scenario, model=model, method=method, quantile=quantile, keys=keys, register=register)
    return HouseholdRisk.of(risk, data, scenario)
