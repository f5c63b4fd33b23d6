"""One-way suppression of a whole file: several sweeps, cells given back, the cheapest outcome kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.protect.suppression.combinations import Requirement
from tacita.protect.suppression.joint import step_back
from tacita.protect.suppression.sweep import Risk, all_sets, meeting, sets_in_order, sweep
from tacita.protect.suppression.units import Units, total_cost

MOST_ORDERS = 8
LOOKS = 1_000_000
"""About so many looks at a unit are worth spending on further orders of the sets."""


class Households(NamedTuple):
    """Variables that are blanked for all members of a household or for none."""

    household: Ints
    """For each unit the number of its household; every record is a unit of its own."""
    variables: tuple[int, ...]
    """The columns."""

    def spread(self, known: Ints, shown: Ints) -> Ints:
        """What is shown when a household variable blanked for one member is blanked for all."""
        count = int(self.household.max()) + 1
        for place in self.variables:
            gone = known & ~shown & 1 << place != 0
            hit = np.zeros(count, dtype=bool)
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


def suppress_one_way(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    *,
    risk: Risk | None = None,
    households: Households | None = None,
    fixed: int = 0,
) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the one-way rule.

    Several orders of the sets of keys are tried, as many as the size of the file allows, and the cheapest kept.
    `fixed` are columns that are always shown: the strata.
    """

    chosen_by = costs if households is None else households.search_costs(costs)

    def one_order(variant: int) -> tuple[Ints, int]:
        return _one_order(units, needs, chosen_by, variant, risk, households, fixed)

    best, looks = one_order(0)
    least = total_cost(units, best, costs)
    orders = min(MOST_ORDERS, LOOKS // max(1, looks)) if least else 0
    for variant in range(1, orders):
        shown, _ = one_order(variant)
        cost = total_cost(units, shown, costs)
        if cost < least:
            best, least = shown, cost
    return best


def _one_order(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    variant: int,
    risk: Risk | None,
    households: Households | None,
    fixed: int,
) -> tuple[Ints, int]:
    """What is shown after sweeping in one order, and about how many looks at a unit it took."""
    shown, looks = units.known, 0
    if len(needs) == 1:
        order = sets_in_order(needs[0].members, costs, variant, fixed)
        shown, looks = sweep(units, shown, needs[0], order, risk)
        if households is None and needs[0].limits is None and all_sets(needs[0].members & ~fixed):
            return shown, looks
    # Several requirements interfere with each other, and so do households and limits of one's own.
    while True:
        if households is not None:
            shown = households.spread(units.known, shown)
        before = shown
        shown = step_back(units, shown, needs, costs, variant, fixed, risk)
        looks += len(shown) << min(units.codes.shape[1], 10)
        if np.array_equal(before, shown):
            # All are safe, or what is asked cannot be had.
            break
    return give_back(units, shown, needs, costs, risk, households), looks


def give_back(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    risk: Risk | None = None,
    households: Households | None = None,
) -> Ints:
    """Show every cell again that its record does not need, the most valuable first.

    Under the one-way rule who shows more only helps others, so cells can be given back to many records at once.
    """
    known = units.known
    by_value = sorted(range(units.codes.shape[1]), key=lambda place: (-costs[place], place))
    changed = True
    while changed:
        changed = False
        for place in by_value:
            bit = 1 << place
            asked = (known & ~shown & bit != 0) & units.free
            if not asked.any():
                continue
            willing = safe_with(units, shown, np.flatnonzero(asked), bit, needs, risk)
            if households is not None and place in households.variables:
                willing = households.all_agree(willing, asked)
            if willing.any():
                shown = np.where(willing, shown | bit, shown)
                changed = True
    return shown


def needs_itself(
    units: Units, shown: Ints, needs: Sequence[Requirement], place: int, risk: Risk | None = None
) -> Bools:
    """Which units would be unsafe if they alone showed one key again."""
    bit = 1 << place
    asked = np.flatnonzero(units.known & ~shown & bit)
    out = np.zeros(len(shown), dtype=bool)
    out[asked] = True
    return out & ~safe_with(units, shown, asked, bit, needs, risk)


def safe_with(
    units: Units, shown: Ints, asked: Ints, bit: int, needs: Sequence[Requirement], risk: Risk | None
) -> Bools:
    """Which of the units asked would still be safe if they showed one key more."""
    willing = np.zeros(len(shown), dtype=bool)
    touched = [need for need in needs if need.members & bit]
    willing[asked] = meeting(units, shown, asked, shown[asked] | bit, touched, risk)
    return willing
