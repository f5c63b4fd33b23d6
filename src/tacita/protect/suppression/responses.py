"""Suppression under rules by which a blank helps others too (wildcard, conservative, partial, sdcmicro).

There is no sweep here that settles everybody at once. Each violating unit in turn blanks what is cheapest for itself,
given what all others show, until nobody could do better. Then every blanked cell is needed by its own record: showing
it again would be cheaper, so it cannot be safe. Nobody is a decoy for others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.suppression.combinations import Requirement
from tacita.protect.suppression.households import Households
from tacita.protect.suppression.reporting import Report, part, turn, unheard
from tacita.protect.suppression.sweep import Risk
from tacita.protect.suppression.units import Units, blanked, total_cost
from tacita.protect.suppression.verify import MOST_TRIALS, cells_to_try, coverage, given_back, unsafe, unsafe_units
from tacita.random import Draws
from tacita.scenario import MissingRule

MOST_KEYS = 14
"""2^q numbers are looked at for every violating unit."""
MOST_TURNS = 40
"""After so many rounds blanks are only added, so that it ends."""
MOST_ORDERS = 4
MORE_ORDERS = 16
"""So many orders are tried if nobody's blanks settle in those."""
LOOKS = 30_000_000
"""About so many pairs of units are worth looking at for further orders."""


def suppress_by_responses(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    *,
    risk: Risk | None = None,
    households: Households | None = None,
    fixed: int = 0,
    report: Report = unheard,
) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under a rule that counts blanks."""
    if units.codes.shape[1] > MOST_KEYS:
        raise TacitaError(
            f"suppression under missing {rule.name!r} takes at most {MOST_KEYS} keys; "
            f"got {units.codes.shape[1]}, use fewer or the rule 'one_way'."
        )
    start = unsafe(units.codes, units.records, units.weights, needs, rule, risk) & units.free
    if not start.any():
        return units.known
    orders = max(1, min(MOST_ORDERS, LOOKS // (int(start.sum()) * len(units.codes) * 4)))
    scarce = coverage(units, needs, rule)
    found = []
    for order in range(MORE_ORDERS):
        told = part(report, 0.7 * min(order / orders, 1.0), 0.7 * min((order + 1) / orders, 1.0))
        shown, settled = _one_order(units, needs, costs, rule, risk, start, scarce, order, fixed, told)
        found.append((not settled, total_cost(units, shown, costs), order, shown))
        if order + 1 >= orders and any(not unsettled for unsettled, *_ in found):
            break
    unsettled, *_, shown = min(found, key=lambda each: each[:3])
    if isinstance(rule.factor, str) or unsettled:
        # Shares that are worked out from the data change with every blank, and some files never settle.
        shown = given_back(units, shown, needs, costs, rule, risk, None, part(report, 0.7, 0.85))
    if households is not None:
        told = part(report, 0.85, 1.0)
        shown = _whole_households(units, shown, needs, costs, rule, risk, households, fixed, told)
    return shown


def _one_order(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    risk: Risk | None,
    start: Bools,
    scarce: Floats,
    order: int,
    fixed: int,
    report: Report,
) -> tuple[Ints, bool]:
    """What is shown in the end, and whether that was settled by everybody's own choice."""
    shown = units.known
    at_play = start.copy()
    blanks_in_order, cost = _blanks(units, costs, order, fixed)
    # Those who lack most first: their blanks help others, who may then need none.
    places = np.arange(len(shown))
    turn_order = np.lexsort((Draws(order).uniform(places) if order else places, scarce))
    for number in range(2 * MOST_TURNS + len(shown)):
        turns = turn_order[at_play[turn_order]]
        more, told = number >= MOST_TURNS, turn(report, number)
        changed = _one_round(units, shown, needs, rule, risk, turns, blanks_in_order, cost, more, report=told)
        new = unsafe_units(units, shown, needs, rule, risk) & ~at_play
        at_play |= new
        if not changed and not new.any():
            break
    return shown, number < MOST_TURNS


def _whole_households(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    risk: Risk | None,
    households: Households,
    fixed: int,
    report: Report,
) -> Ints:
    """Blank household variables for all members, repair what that breaks, and give back what is not needed any more."""
    blanks_in_order, cost = _blanks(units, costs, 0, fixed)
    shared, trials = households.bits, MOST_TRIALS
    for number in range(2 * MOST_TURNS + len(shown)):
        shown = households.spread(units.known, shown)
        told = turn(part(report, 0.0, 0.7), number)
        if number < MOST_TURNS:
            # Each member answers to what the households blank, with keys of its own.
            at_play = np.flatnonzero((units.known & ~shown & ~shared != 0) & units.free)
            changed = _one_round(
                units, shown, needs, rule, risk, at_play, blanks_in_order, cost, False, given=shared, report=told
            )
        bad = np.flatnonzero(unsafe_units(units, shown, needs, rule, risk))
        if len(bad):
            added = _one_round(units, shown, needs, rule, risk, bad, blanks_in_order, cost, True, report=told)
            if not added and (number >= MOST_TURNS or not changed):
                break
        elif number >= MOST_TURNS:
            break
        elif not changed:
            shown, tried, gained = _shared_back(units, shown, needs, rule, risk, households, trials)
            trials -= tried
            if not gained and not isinstance(rule.factor, str):
                # Every blank is needed by its own record, or by a member of its household.
                return shown
            if not gained:
                break
    return given_back(units, shown, needs, costs, rule, risk, households, part(report, 0.7, 1.0))


def _shared_back(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    rule: MissingRule,
    risk: Risk | None,
    households: Households,
    trials: int,
) -> tuple[Ints, int, bool]:
    """Show what no member of a household needs, whoever else does; how many were tried, and whether any was shown."""
    tried, gained = 0, False
    for place in households.variables:
        for together in cells_to_try(units, shown, place, households)[: trials - tried]:
            tried += 1
            trial = shown.copy()
            trial[together] |= 1 << place
            if not unsafe_units(units, trial, needs, rule, risk)[together].any():
                shown, gained = trial, True
    return shown, tried, gained


def _blanks(units: Units, costs: Sequence[float], order: int, fixed: int) -> tuple[Ints, Floats]:
    """All sets of blanks, the cheapest first, and the cost of each; keys that are always shown are never in one.

    Where sets cost the same, first those whose keys have the most values: a blank there helps the most others.
    """
    cost, gain = np.zeros(1), np.zeros(1)
    for place in range(units.codes.shape[1]):
        cost = np.concatenate([cost, cost + costs[place]])
        gain = np.concatenate([gain, gain + np.log(len(np.unique(units.codes[:, place])))])
    sets = np.arange(len(cost))
    if order > 1:
        gain = gain * (0.5 + Draws(order).uniform(sets, 1))
    ordered = np.lexsort((sets, -gain, cost))
    return ordered[ordered & fixed == 0], cost


def _one_round(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    rule: MissingRule,
    risk: Risk | None,
    turns: Ints,
    blanks_in_order: Ints,
    cost: Floats,
    only_more: bool,
    *,
    given: int = 0,
    report: Report = unheard,
) -> int:
    """Every unit at play has its turn; `shown` is changed, and how many changed is returned.

    Blanks of the keys in `given` stay as they are.
    """
    from tacita.protect.suppression import response_loops as loops

    kind, factor, shares = _kernel_rule(units, shown, rule)
    known, records = units.known & (shown | ~given), units.records.astype(np.float64)
    if given:
        blanks_in_order = blanks_in_order[blanks_in_order & given == 0]
    needed = np.array([need.members for need in needs], dtype=np.int64)
    k = np.array([need.k for need in needs], dtype=np.int64)
    if risk is None or all(need.limits is None for need in needs):
        arguments = (needed, k, blanks_in_order, cost, kind, factor, shares, only_more)
        changed, step = 0, max(1, LOOKS // len(shown))
        for first in range(0, len(turns), step):
            report(first / len(turns))
            some = turns[first : first + step]
            changed += loops.respond(units.codes, shown, known, records, some, *arguments)
        return changed
    weights = units.weights if len(units.weights) else records
    changed = 0
    for number, unit in enumerate(map(int, turns)):
        report(number / len(turns))
        rows = (units.codes, shown)
        counted = [loops.tallies(*rows, numbers, unit, known[unit]) for numbers in (records, weights)]
        safe = np.ones(len(cost), dtype=bool)
        for need in needs:
            f, weight = (
                loops.counts_by_blanks(*rows, each, unit, known[unit], need.members, *sums, kind, factor, shares)
                for each, sums in zip((records, weights), counted, strict=True)
            )
            safe &= f >= need.k
            if need.limits is not None:
                # What a unit cannot blank counts -1.
                safe[f > 0] &= risk(f[f > 0], weight[f > 0]) <= need.limits[unit]
        now = int(known[unit] & ~shown[unit])
        chosen = loops.cheapest(safe, blanks_in_order, cost, known[unit], now, only_more)
        if chosen != now:
            shown[unit] = known[unit] & ~chosen
            changed += 1
    return changed


def _kernel_rule(units: Units, shown: Ints, rule: MissingRule) -> tuple[int, float, Floats]:
    from tacita.protect.suppression import response_loops as loops

    none = np.empty(0)
    if rule.name == "wildcard":
        return loops.WILDCARD, 1.0, none
    if rule.name == "sdcmicro":
        return loops.SDCMICRO, float(rule.factor or 0.0), none
    if rule.name == "partial" and isinstance(rule.factor, int | float):
        return loops.PARTIAL, float(rule.factor), none
    if rule.name == "partial" and rule.factor == "categories":
        released = blanked(units.codes, shown)
        categories = [(np.unique(column) > 0).sum() for column in released.T]
        return loops.PARTIAL, 1.0, 1.0 / np.maximum(1, np.array(categories))
    # Conservative; also where a share is worked out from the data, as the least that it can be.
    return loops.CONSERVATIVE, 0.0, none
