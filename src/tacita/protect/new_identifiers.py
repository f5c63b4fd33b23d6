"""New identifiers: numbers in random order in place of the office's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
from tacita.parameters import Doc
from tacita.protect.step import Applied, Context, Step, present
from tacita.protect.weights.units import Units, household_units, units
from tacita.random import Draws


def new_numbers(groups: Units, draws: Draws) -> Floats:
    """For each row the new number of its group, 1 to m in random order; NaN for rows of no group."""
    numbers = np.empty(len(groups.first) + 1)
    # Groups stand by their smallest record number, which breaks ties.
    numbers[np.argsort(draws.bits(groups.first), kind="stable")] = np.arange(1, len(groups.first) + 1)
    numbers[-1] = np.nan
    return numbers[groups.unit]


def new_numbers_within(groups: Units, outer: Ints, draws: Draws) -> Floats:
    """The same inside each outer group: 1 to the number of its groups."""
    around = np.empty(len(groups.first), dtype=np.int64)
    inside = groups.unit >= 0
    around[groups.unit[inside]] = outer[inside]
    order = np.lexsort((groups.first, draws.bits(groups.first), around))
    start = np.flatnonzero(np.diff(around[order], prepend=-1))
    sizes = np.diff(np.append(start, len(order)))
    numbers = np.empty(len(order) + 1)
    numbers[order] = np.arange(len(order)) - np.repeat(start, sizes) + 1
    numbers[-1] = np.nan
    return numbers[groups.unit]


@dataclass(frozen=True)
class NewIdentifiers(Step):
    """Replace identifiers by new numbers 1, 2, ... in random order: the same old value gets the same new number.

    A number that the office uses elsewhere leads to the person for whoever meets it there, and a number that grows
    with region or interview tells those. The new ones tell only which records belong together. Blanks, and codes that
    stand for them, are blank. The rows keep their order, which may tell as much as the old number did: see
    `RandomOrder`.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"hid": [70311, 70311, 70312], "sex": ["f", "m", "m"]})
    >>> release = tc.Plan([NewIdentifiers()]).apply(people, tc.Scenario(keys=["sex"], household="hid"), seed=5)
    >>> release.data.table["hid"].to_list()
    [2, 2, 1]
    """

    variables: Annotated[tuple[str, ...], Doc("The identifiers; none: the scenario's household and person.")] = ()
    within_households: Annotated[
        bool,
        Doc(
            "Whether persons are numbered inside their household, so that each one has a person 1; they "
            "are then renumbered there. Households themselves always get numbers of the whole file."
        ),
    ] = False

    @property
    def draws(self) -> bool:
        """The new numbers are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with new numbers."""
        roles = (context.scenario.household, context.scenario.person)
        names = present(self, self.variables or tuple(name for name in roles if name is not None), data)
        if not names:
            raise TacitaError(
                "the scenario names no household or person to number anew; pass NewIdentifiers(['hid', ...])."
            )
        household = context.scenario.household
        if self.within_households and household is None:
            raise TacitaError("within_households needs the household identifier; pass household=... in the scenario.")
        outer = household_units(data, household) if household is not None else None
        fresh, known, remarks, figures = {}, {}, [], {}
        for name in names:
            place, _ = data.groups(name)
            groups, draws = units(place, data.record), context.draws.step(name)
            figures[name] = len(groups.first)
            if outer is None or name == household or not self.within_households:
                numbers = new_numbers(groups, draws)
            else:
                inner = units(_pairs(outer.unit, place), data.record)
                numbers = new_numbers_within(inner, outer.unit, draws)
            if outer is not None and name == context.scenario.person and not self.within_households:
                remarks += _in_several_households(name, household or "", outer.unit, groups)
            fresh[name] = frame.whole_numbers(numbers)
            # Codes of old values, and their labels, mean nothing among the new numbers.
            known[name] = Variable(label=data.variable(name).label, scale="nominal")
        renewal = Mechanism("renewal", names, {"within_households": self.within_households, "identifiers": figures})
        made = data.with_columns(fresh, variables=known)
        return Applied(made, tuple(remarks), {"identifiers": figures}, (renewal,), (renewal.with_parameters(),), names)


def _pairs(outer: Ints, place: Ints) -> Ints:
    """Places of pairs of an outer group and a place in it, -1 where there is none."""
    pair = np.where(place < 0, -1, outer * (int(place.max(initial=0)) + 1) + place)
    _, found = np.unique(pair, return_inverse=True)
    # Where some row has none, -1 is the smallest pair.
    return found - 1 if (pair < 0).any() else found


def _in_several_households(name: str, household: str, outer: Ints, groups: Units) -> list[str]:
    inside = groups.unit >= 0
    around = int(outer.max(initial=0)) + 1
    pairs = np.unique(groups.unit[inside] * around + outer[inside])
    several = int((np.bincount(pairs // around) > 1).sum())
    if not several:
        return []
    found = f"{check.counted(several, 'value')} of {name!r} {'is' if several == 1 else 'are'}"
    return [
        f"{found} in more than one {household!r}: if persons are numbered inside households, pass "
        f"within_households = true"
    ]
