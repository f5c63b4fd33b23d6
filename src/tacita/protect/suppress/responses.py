"""Suppression under rules by which a blank helps others too (wildcard, conservative, partial, sdcmicro).

There is no sweep here that settles everybody at once. Each violating unit in turn blanks what is cheapest for itself,
given what all others show, until nobody could do better. Then every blanked cell is needed by its own record: showing
it again would be cheaper, so it cannot be safe. Nobody is a decoy for others.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.suppress.households import Households
from tacita.protect.suppress.own_need import shown_safely, unneeded
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, turn, unheard
from tacita.protect.suppress.turns import all_asked, one_round
from tacita.protect.suppress.units import fingerprint, total_cost
from tacita.protect.suppress.verify import coverage, unsafe_units
from tacita.random import Draws

MOST_KEYS = 14
"""There could be 3^q tables, and 2^q numbers are looked at for a unit for which they would be too many."""
MOST_TURNS = 40
"""After so many rounds, or where they go in circles, blanks are only added, so that it ends."""
MOST_ORDERS = 4
MORE_ORDERS = 16
"""So many orders are tried if nobody's blanks settle in those."""
LOOKS = 30_000_000
"""About so many pairs of units are worth looking at for further orders."""


def suppress_by_responses(problem: Problem, report: Report = unheard) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under a rule that counts blanks."""
    units, needs, rule = problem.units, problem.needs, problem.rule
    if units.codes.shape[1] > MOST_KEYS:
        raise TacitaError(
            f"suppression under missing {rule.name!r} takes at most {MOST_KEYS} keys; "
            f"got {units.codes.shape[1]}, use fewer or the rule 'one_way'."
        )
    start = unsafe_units(units, units.known, needs, rule, problem.risk)
    if not start.any():
        return units.known
    orders = max(1, min(MOST_ORDERS, LOOKS // (int(start.sum()) * len(units.codes) * 4)))
    scarce = coverage(units, needs, rule)
    found = []
    for order in range(MORE_ORDERS):
        told = part(report, 0.8 * min(order / orders, 1.0), 0.8 * min((order + 1) / orders, 1.0))
        shown, settled = _one_order(problem, start, scarce, order, told)
        found.append((not settled, total_cost(units, shown, problem.costs), order, shown))
        if order + 1 >= orders and any(not unsettled for unsettled, *_ in found):
            break
    *_, shown = min(found, key=lambda each: each[:3])
    if problem.households is not None:
        shown = _whole_households(problem, problem.households, shown, part(report, 0.8, 1.0))
    return shown


def _one_order(problem: Problem, start: Bools, scarce: Floats, order: int, report: Report) -> tuple[Ints, bool]:
    """What is shown in the end, and whether that was settled by everybody's own choice."""
    shown = problem.units.known
    at_play = start.copy()
    blanks, pending = _blanks(problem, order), all_asked(len(shown))
    # Those who lack most first: their blanks help others, who may then need none.
    places = np.arange(len(shown))
    turn_order = np.lexsort((Draws(order).uniform(places) if order else places, scarce))
    circling, passed = False, set()
    for number in range(2 * MOST_TURNS + len(shown)):
        turns = turn_order[at_play[turn_order]]
        told = turn(report, number)
        changed = one_round(problem, shown, turns, blanks, circling, pending=pending, report=told)
        new = unsafe_units(problem.units, shown, problem.needs, problem.rule, problem.risk) & ~at_play
        at_play |= new
        if not changed and not new.any():
            break
        state = fingerprint(shown), int(at_play.sum())
        circling |= number + 1 >= MOST_TURNS or state in passed
        passed.add(state)
    return shown, not circling


def _whole_households(problem: Problem, households: Households, shown: Ints, report: Report) -> Ints:
    """Blank household variables for all members, repair what that breaks, and show what is not needed any more."""
    units, shared, blanks = problem.units, households.bits, _blanks(problem, 0)
    for number in range(2 * MOST_TURNS + len(shown)):
        shown = households.spread(units.known, shown)
        told = turn(report, number)
        changed = 0
        if number < MOST_TURNS:
            # Each member answers to what the households blank, with keys of its own.
            at_play = np.flatnonzero((units.known & ~shown & ~shared != 0) & units.free)
            changed = one_round(problem, shown, at_play, blanks, False, given=shared, report=told)
        bad = np.flatnonzero(unsafe_units(units, shown, problem.needs, problem.rule, problem.risk))
        if len(bad):
            added = one_round(problem, shown, bad, blanks, True, report=told)
            if not added and not changed:
                break
        elif not changed:
            before = shown
            if number < MOST_TURNS:
                shown = _shared_back(problem, shown)
            if shown is before:
                break
    return shown


def _shared_back(problem: Problem, shown: Ints) -> Ints:
    """Show what no member of a household needs, whoever else does, one after the other."""
    found = unneeded(problem, shown)
    for each in range(found.size):
        blank = found.some(np.array([each]))
        if blank.bits[0] & problem.shared and shown_safely(problem, shown, blank)[0]:
            shown = blank.again(shown)
    return shown


def _blanks(problem: Problem, order: int) -> tuple[Ints, Floats]:
    """All sets of blanks, the cheapest first, and the cost of each; keys that are always shown are never in one.

    Where sets cost the same, first those whose keys have the most values: a blank there helps the most others.
    """
    units, costs = problem.units, problem.costs
    cost, gain = np.zeros(1), np.zeros(1)
    for place in range(units.codes.shape[1]):
        cost = np.concatenate([cost, cost + costs[place]])
        gain = np.concatenate([gain, gain + np.log(len(np.unique(units.codes[:, place])))])
    sets = np.arange(len(cost))
    if order > 1:
        gain = gain * (0.5 + Draws(order).uniform(sets, 1))
    ordered = np.lexsort((sets, -gain, cost))
    return ordered[ordered & problem.fixed == 0], cost
