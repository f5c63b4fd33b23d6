"""Random order of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, OneOf
from tacita.protect.step import Applied, Context, Step
from tacita.protect.weights.units import Units, household_units
from tacita.random import Draws

WAYS = ("simple", "households", "within_households")


def simple_order(record: Ints, draws: Draws) -> Ints:
    """Rows in random order."""
    return np.lexsort((record, draws.bits(record)))


def household_order(record: Ints, groups: Units, draws: Draws, *, within: bool) -> Ints:
    """Rows with the groups in random order; members by record number, or in random order too."""
    households = draws.bits(groups.first)
    members = draws.bits(record, 1) if within else np.zeros(len(record), dtype=np.uint64)
    # The group itself stands before its members' draws: two groups with the same draw would mix otherwise.
    return np.lexsort((record, members, groups.unit, households[groups.unit]))


@dataclass(frozen=True)
class RandomOrder(Step):
    """Put the records in random order.

    Files are sorted by region, by interview or by the number that was removed; the place of a record then tells what
    was taken out. The draw of a record depends on its number alone, so the order that the rows had leaves no trace.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"hid": [1, 1, 2, 3, 3], "sex": ["f", "m", "m", "f", "f"]})
    >>> scenario = tc.Scenario(keys=["sex"], household="hid")
    >>> tc.Plan([RandomOrder("households")]).apply(people, scenario, seed=1).data.table["hid"].to_list()
    [2, 1, 1, 3, 3]
    """

    how: Annotated[
        str,
        OneOf(WAYS),
        Doc(
            "simple: all records; households: households, members together in the order of the original "
            "file; within_households: households, members together in random order."
        ),
    ] = "simple"

    @property
    def draws(self) -> bool:
        """The order is drawn."""
        return True

    @property
    def keeps_records(self) -> bool:
        """Records are reordered."""
        return False

    def apply(self, data: Data, context: Context) -> Applied:
        """The data in another order."""
        order = (Mechanism("reordering", parameters={"how": self.how}),)
        if self.how == "simple":
            return Applied(data.take(simple_order(data.record, context.draws)), mechanisms=order, public=order)
        household = context.scenario.household
        if household is None:
            raise TacitaError(
                f"how={self.how!r} needs the household identifier; pass household=... in the scenario, or how='simple'."
            )
        groups = household_units(data, household)
        rows = household_order(data.record, groups, context.draws, within=self.how == "within_households")
        return Applied(data.take(rows), (), {"households": len(groups.first)}, order, order)
