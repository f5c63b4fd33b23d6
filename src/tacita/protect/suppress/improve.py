"""One-way suppression of a whole file: several sweeps, cells given back, the cheapest outcome kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.joint import step_back
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, turn, unheard
from tacita.protect.suppress.sweep import Risk, all_sets, meeting, sets_in_order, sweep, violating
from tacita.protect.suppress.units import Units, total_cost

MOST_ORDERS = 8
LOOKS = 1_000_000
"""About so many looks at a unit are worth spending on further orders of the sets."""


def suppress_one_way(problem: Problem, report: Report = unheard) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the one-way rule.

    Several orders of the sets of keys are tried, as many as the size of the file allows, and the cheapest kept.
    """
    units, costs = problem.units, problem.costs
    if problem.households is not None:
        problem = problem._replace(costs=problem.households.search_costs(costs))
    best, looks = _one_order(problem, 0, part(report, 0.0, 0.5))
    least = total_cost(units, best, costs)
    orders = min(MOST_ORDERS, LOOKS // max(1, looks)) if least else 0
    for variant in range(1, orders):
        told = part(report, 0.5 + 0.5 * variant / orders, 0.5 + 0.5 * (variant + 1) / orders)
        shown, _ = _one_order(problem, variant, told)
        cost = total_cost(units, shown, costs)
        if cost < least:
            best, least = shown, cost
    return best


def _one_order(problem: Problem, variant: int, report: Report) -> tuple[Ints, int]:
    """What is shown after sweeping in one order, and about how many looks at a unit it took."""
    units, needs, costs, risk, fixed = problem.units, problem.needs, problem.costs, problem.risk, problem.fixed
    households = problem.households
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
    fuller = give_back(problem, shown, turn(report, number))
    # Under the attack M2 a group with one more record of a small weight is not always safer.
    worse = risk is not None and (violating(units, fuller, needs, risk) & ~violating(units, shown, needs, risk)).any()
    return (shown if worse else fuller), looks


def give_back(problem: Problem, shown: Ints, report: Report = unheard) -> Ints:
    """Show every cell again that its record does not need, the most valuable first.

    Under the one-way rule who shows more only helps others, so cells can be given back to many records at once.
    """
    units, households, by_value = problem.units, problem.households, problem.by_value
    known = units.known
    changed = True
    while changed:
        changed = False
        for number, place in enumerate(by_value):
            report(number / len(by_value))
            bit = 1 << place
            asked = (known & ~shown & bit != 0) & units.free
            if not asked.any():
                continue
            willing = safe_with(units, shown, np.flatnonzero(asked), bit, problem.needs, problem.risk)
            if households is not None and place in households.variables:
                willing = households.all_agree(willing, asked)
            if willing.any():
                shown = np.where(willing, shown | bit, shown)
                changed = True
    return shown


def safe_with(
    units: Units, shown: Ints, asked: Ints, bit: int, needs: Sequence[Requirement], risk: Risk | None
) -> Bools:
    """Which of the units asked would still be safe if they showed one key more."""
    willing = np.zeros(len(shown), dtype=bool)
    touched = [need for need in needs if need.members & bit]
    willing[asked] = meeting(units, shown, asked, shown[asked] | bit, touched, risk)
    return willing
