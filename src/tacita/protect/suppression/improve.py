"""One-way suppression of a whole file: several sweeps, cells given back, the cheapest outcome kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.protect.suppression.combinations import Requirement
from tacita.protect.suppression.households import Households
from tacita.protect.suppression.joint import step_back
from tacita.protect.suppression.reporting import Report, part, turn, unheard
from tacita.protect.suppression.sweep import Risk, all_sets, meeting, sets_in_order, sweep, violating
from tacita.protect.suppression.units import Units, total_cost
from tacita.protect.suppression.verify import given_back
from tacita.scenario import MissingRule

MOST_ORDERS = 8
LOOKS = 1_000_000
"""About so many looks at a unit are worth spending on further orders of the sets."""


def suppress_one_way(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    *,
    risk: Risk | None = None,
    households: Households | None = None,
    fixed: int = 0,
    report: Report = unheard,
) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the one-way rule.

    Several orders of the sets of keys are tried, as many as the size of the file allows, and the cheapest kept.
    `fixed` are columns that are always shown: the strata.
    """

    chosen_by = costs if households is None else households.search_costs(costs)

    def one_order(variant: int, report: Report) -> tuple[Ints, int]:
        return _one_order(units, needs, chosen_by, variant, risk, households, fixed, report)

    best, looks = one_order(0, part(report, 0.0, 0.5))
    least = total_cost(units, best, costs)
    orders = min(MOST_ORDERS, LOOKS // max(1, looks)) if least else 0
    for variant in range(1, orders):
        shown, _ = one_order(variant, part(report, 0.5 + 0.5 * variant / orders, 0.5 + 0.5 * (variant + 1) / orders))
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
    report: Report,
) -> tuple[Ints, int]:
    """What is shown after sweeping in one order, and about how many looks at a unit it took."""
    shown, looks = units.known, 0
    if len(needs) == 1:
        order = sets_in_order(needs[0].members, costs, variant, fixed, shown)
        shown, looks = sweep(units, shown, needs[0], order, risk, part(report, 0.0, 0.8))
        report = part(report, 0.8, 1.0)
        if households is None and needs[0].limits is None and all_sets(needs[0].members & ~fixed):
            return shown, looks
    # Several requirements interfere with each other, and so do households and limits of one's own.
    for number in count():
        if households is not None:
            shown = households.spread(units.known, shown)
        before = shown
        shown = step_back(units, shown, needs, costs, variant, fixed, risk, turn(report, number))
        looks += len(shown) << min(units.codes.shape[1], 10)
        if np.array_equal(before, shown):
            # All are safe, or what is asked cannot be had.
            break
    fuller = give_back(units, shown, needs, costs, risk, households, turn(report, number))
    # Under the attack M2 a group with one more record of a small weight is not always safer.
    worse = risk is not None and (violating(units, fuller, needs, risk) & ~violating(units, shown, needs, risk)).any()
    if worse:
        fuller = given_back(units, shown, needs, costs, MissingRule(), risk, households, turn(report, number))
    return fuller, looks


def give_back(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    risk: Risk | None = None,
    households: Households | None = None,
    report: Report = unheard,
) -> Ints:
    """Show every cell again that its record does not need, the most valuable first.

    Under the one-way rule who shows more only helps others, so cells can be given back to many records at once.
    """
    known = units.known
    by_value = sorted(range(units.codes.shape[1]), key=lambda place: (-costs[place], place))
    changed = True
    while changed:
        changed = False
        for number, place in enumerate(by_value):
            report(number / len(by_value))
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
