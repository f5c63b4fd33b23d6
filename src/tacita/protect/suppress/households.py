"""What goes for whole households: variables blanked for all members or for none, and the risk of all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.suppress.combinations import bits
from tacita.risk.identity.household_risk import at_least_one


class Households(NamedTuple):
    """Variables that are blanked for all members of a household or for none."""

    household: Ints
    """For each unit the number of its household; every record is a unit of its own."""
    variables: tuple[int, ...]
    """The columns."""

    def spread(self, known: Ints, shown: Ints) -> Ints:
        """What is shown when a household variable blanked for one member is blanked for all."""
        size = int(self.household.max()) + 1
        for place in self.variables:
            gone = known & ~shown & 1 << place != 0
            hit = np.zeros(size, dtype=bool)
            hit[self.household[gone]] = True
            shown = np.where(hit[self.household], shown & ~(1 << place), shown)
        return shown

    def search_costs(self, costs: Sequence[float]) -> list[float]:
        """What a blank costs when it is chosen: that of a household variable goes for all members."""
        members = float(np.bincount(self.household)[self.household].mean())
        return [cost * (members if place in self.variables else 1.0) for place, cost in enumerate(costs)]

    def all_agree(self, willing: Bools, asked: Bools) -> Bools:
        """Of the units asked, those in whose household everybody who was asked is willing."""
        refused = np.zeros(int(self.household.max()) + 1, dtype=bool)
        refused[self.household[asked & ~willing]] = True
        return willing & ~refused[self.household]

    @property
    def bits(self) -> int:
        """The columns as one number."""
        return bits(self.variables)


class HouseholdGoal(NamedTuple):
    """No household may have a higher risk that one of its members is re-identified."""

    members: int
    """The keys, one bit each."""
    limit: float
    household: Ints
    """By record."""
    attack: Floats
    """By record: the probability that the intruder tries it."""

    def above(self, risk: Floats) -> Bools:
        """Records whose household is above the limit, of the risk of each record."""
        found: Bools = (at_least_one(risk, self.household, int(self.household.max()) + 1) > self.limit)[self.household]
        return found
