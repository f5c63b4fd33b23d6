"""Household risk: whoever recognises one member knows the whole household."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys import exact_sums
from tacita.result import Result, number, percent
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk
from tacita.risk.spread import Spread, spread
from tacita.scenario import Scenario, with_codes


def at_least_one(risk: Floats, household: Ints, count: int) -> Floats:
    """By household: 1 - prod(1 - r) over its members, whatever their order."""
    certain = risk >= 1.0
    logarithms = -np.log1p(-np.where(certain, 0.0, risk))
    none = exact_sums.as_float(
        exact_sums.group_sums(logarithms, household, count, exact_sums.SMALL_BITS), exact_sums.SMALL_BITS
    )
    out = -np.expm1(-none)
    out[household[certain]] = 1.0
    return out


@dataclass(frozen=True, eq=False)
class HouseholdRisk(Result):
    """The risk that at least one member of a household is re-identified."""

    figure: ClassVar[str | None] = "risk_histogram"

    by_household: Floats
    """The risk of each household."""
    household: Ints
    """For each record the place of its household."""
    alone: int
    """Records without a household identifier, each taken as a household of its own."""

    @cached_property
    def risk(self) -> Floats:
        """By record: every member carries the risk of the household."""
        return self.by_household[self.household]

    @cached_property
    def members(self) -> Ints:
        """Number of records of each household."""
        return np.bincount(self.household, minlength=len(self.by_household))

    @cached_property
    def expected_persons(self) -> float:
        """Expected persons in re-identified households: the sum over records."""
        return math.fsum(self.by_household * self.members)

    @cached_property
    def expected_households(self) -> float:
        """Expected re-identified households: the sum over households."""
        return math.fsum(self.by_household)

    @cached_property
    def spread(self) -> Spread:
        """Minimum, quartiles, mean and maximum over records."""
        return spread(self.by_household, self.members)

    def records_above(self, limit: float) -> int:
        """How many records are in households with a higher risk."""
        return int(self.members[self.by_household > limit].sum())

    def __str__(self) -> str:
        persons, households = len(self.household), len(self.by_household)
        return (
            f"{number(self.expected_households)} of {households:,} households expected to be re-identified "
            f"({percent(self.expected_households / households)}), with {number(self.expected_persons)} "
            f"of {persons:,} persons in them"
        )

    def to_frame(self) -> frame.Frame:
        """One row per record: the risk of its household."""
        return frame.table({"household_risk": self.risk})


def household_risk_of(risk: IndividualRisk, data: Data, scenario: Scenario) -> HouseholdRisk:
    """Household risk of individual risks."""
    if scenario.household is None:
        raise TacitaError("household risk needs the household identifier; pass household=... in the scenario.")
    household, count, alone = data.households(scenario.household)
    _check_constant(data, scenario, household, count)
    return HouseholdRisk(at_least_one(risk.risk, household, count), household, alone)


def _check_constant(data: Data, scenario: Scenario, household: Ints, count: int) -> None:
    """A household variable must not differ inside a household."""
    for name in scenario.household_variables:
        codes = data.coded(name).codes.astype(np.int64)
        first = np.zeros(count, dtype=np.int64)
        first[household[::-1]] = codes[::-1]
        differing = len(np.unique(household[codes != first[household]]))
        if differing:
            raise TacitaError(
                f"household variable {name!r} must be the same for all members; it differs in "
                f"{check.counted(differing, 'household')}, correct the file or drop it from household_variables."
            )


def household_risk(data: Any, scenario: Scenario, *, method: str = "exact", register: Any = None) -> HouseholdRisk:
    """The risk that at least one member of a household is re-identified, 1 - prod(1 - r_i); every member carries it.

    Records without a household identifier are households of their own, and counted.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [40, 38, 7], "hid": [1, 1, 2], "w": [20.0, 20.0, 20.0]})
    >>> household_risk(people, Scenario(keys=["age"], weight="w", household="hid")).risk.round(4).tolist()
    [0.2905, 0.2905, 0.1577]
    """
    data = Data.of(data)
    risk = individual_risk(data, scenario, method=method, register=register)
    return household_risk_of(risk, with_codes(data, scenario), scenario)
