"""What is to be solved, by unit: who must count how many, what blanks cost, what goes for whole households."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.households import HouseholdGoal, Households
from tacita.protect.suppress.sweep import Risk
from tacita.protect.suppress.units import Units
from tacita.scenario import MissingRule


class Problem(NamedTuple):
    """A suppression in units."""

    units: Units
    needs: Sequence[Requirement]
    """What every unit that may be touched must meet; limits are by unit."""
    costs: Sequence[float]
    """Of a blank, by key."""
    rule: MissingRule = MissingRule()
    risk: Risk | None = None
    households: Households | None = None
    """What goes for whole households; every record is a unit of its own then."""
    fixed: int = 0
    """Keys that are always shown, as bits: the strata, and those in which a blank means something else."""
    goal: HouseholdGoal | None = None
    """By unit; every record is a unit of its own then."""

    @property
    def shared(self) -> int:
        """The keys that go for whole households, as bits."""
        return 0 if self.households is None else self.households.bits

    @property
    def used(self) -> int:
        """All keys that something is asked of."""
        every = 0 if self.goal is None else self.goal.members
        for need in self.needs:
            every |= need.members
        return every

    @property
    def by_value(self) -> list[int]:
        """The keys, those whose blanks cost most first."""
        return sorted(range(self.units.codes.shape[1]), key=lambda place: (-self.costs[place], place))

    def members(self, unit: int) -> Ints:
        """All units of the household of one, or that alone."""
        of = self.goal or self.households
        return np.array([unit]) if of is None else np.flatnonzero(of.household == of.household[unit])
