"""Suppression to a household risk: nobody in a household may make it too easy to recognise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.suppress.combinations import Requirement, places
from tacita.protect.suppress.households import HouseholdGoal, Households
from tacita.protect.suppress.improve import safe_with
from tacita.protect.suppress.kernel import Shared, Suppression, no_own_need, suppress
from tacita.protect.suppress.own_need import needed_by_itself
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, turn, unheard
from tacita.protect.suppress.risk_threshold import link_limits
from tacita.protect.suppress.settle import settled
from tacita.protect.suppress.sweep import Risk, counted
from tacita.protect.suppress.units import Units, blanked, units_of
from tacita.protect.suppress.verify import frequencies, unsafe
from tacita.scenario import MissingRule

MOST_ROUNDS = 50
ROUNDING = 1e-9
"""Limits of single records are a little stricter, so that rounding does not put their household above its own."""


def household_caps(risk: Floats, household: Ints, limit: float, free: Bools, floor: Floats) -> Floats:
    """By record: how much risk it may keep so that 1 - prod(1 - r) of its household is within the limit.

    Only the members with the highest risks are lowered, all to the same cap, but nobody below his `floor`, the risk of
    showing as little as possible; infinite for everybody else. Where the limit is out of reach nothing is asked.
    """
    lowest = np.zeros(len(risk), dtype=bool)
    while True:
        caps = _equal_caps(np.where(lowest, floor, risk), household, limit, free & ~lowest)
        stuck = free & ~lowest & (caps < floor)
        if not stuck.any():
            break
        lowest |= stuck
    # A little above, so that rounding does not make it impossible.
    caps = np.where(lowest, floor * (1 + 1e-12), caps)
    loads = np.bincount(household, weights=_load(np.minimum(caps, risk)))
    caps[(loads > _load(np.array(limit)) * (1 + 1e-9))[household]] = np.inf
    return caps


def _equal_caps(risk: Floats, household: Ints, limit: float, free: Bools) -> Floats:
    """The same cap for all members of a household that must be lowered."""
    room, load = _load(np.array(limit)), _load(risk)
    order = np.lexsort((np.where(free, risk, -1.0), household))
    group, loads = household[order], load[order]
    first = np.r_[True, group[1:] != group[:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(len(group)), 0))
    members = np.bincount(household)[group]
    place = np.arange(len(group)) - start
    running = np.cumsum(loads) - loads
    before = running - running[start]
    level = (room - before) / (members - place)
    above = (loads > level) & free[order] & (level > 0)
    caps = np.full(len(group), np.inf)
    seen = np.full(int(household.max()) + 1, len(group))
    hit = np.flatnonzero(above)[::-1]
    seen[group[hit]] = hit
    lowered = np.arange(len(group)) >= seen[group]
    caps[lowered] = -np.expm1(-level[seen[group[lowered]]])
    out = np.empty(len(group))
    out[order] = caps
    return out


def _load(risk: Floats) -> Floats:
    """-log(1 - r), which adds up over a household; a certain re-identification counts as nearly certain."""
    return -np.log1p(-np.minimum(risk, 1.0 - 2.0**-53))


def suppress_to_household_risk(
    codes: Codes,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    goal: HouseholdGoal,
    risk: Risk,
    *,
    strata: Codes | None = None,
    free: Bools | None = None,
    weights: Floats | None = None,
    shared: Shared | None = None,
    kept: int = 0,
    report: Report = unheard,
) -> Suppression:
    """Blank cells until no household is above its limit, and further requirements hold.

    The members with the highest risk get limits of their own; where blanks of others raise a risk again these are
    lowered, until every household is within the limit. Then cells are given back that no household needs.
    """
    size, keys = codes.shape
    free = np.ones(size, dtype=bool) if free is None else free
    free = free if shared is None else shared.all_free(free)
    options: dict[str, Any] = {"strata": strata, "free": free, "weights": weights, "risk": risk}
    options |= {"shared": shared, "kept": kept, "settle": False}
    full, fixed = codes, 0
    if strata is not None:
        full, fixed = np.column_stack([codes, strata]).astype(np.uint32), 1 << keys
    units = units_of(full, free, weights, np.arange(size))
    record = np.argsort(units.row)
    goal = goal._replace(members=goal.members | fixed)
    there = goal._replace(household=goal.household[record], attack=goal.attack[record])
    by_unit = [_by_unit(need._replace(members=need.members | fixed), record) for need in needs]
    households = None if shared is None else Households(shared.household[record], shared.variables)
    problem = Problem(units, by_unit, [*costs, 1.0], rule, risk, households, kept | fixed, there)
    at_start = np.logical_or(*_left(problem, units.known))
    floor = _risks(problem._replace(rule=MissingRule()), units.known & problem.fixed)[units.row]
    caps = np.full(size, np.inf)
    shown, found = units.known, None
    for number in range(MOST_ROUNDS):
        by_record = _risks(problem, shown)[units.row]
        lower = household_caps(by_record, goal.household, goal.limit * (1 - ROUNDING), free, floor)
        lower[~goal.above(by_record)] = np.inf
        if found is not None and not np.isfinite(lower).any():
            break
        caps = np.minimum(caps, lower)
        limited = Requirement(goal.members & ~fixed, 1, link_limits(caps, goal.attack))
        told = turn(part(report, 0.0, 0.7), number)
        found = suppress(codes, [*needs, limited], costs, rule, **options, report=told)
        shown = units.known & ~(found.gone[record] @ (np.int64(1) << np.arange(keys, dtype=np.int64)))
    else:
        raise TacitaError("the household risk could not be reached by suppression; recode first or ask for less.")
    if rule.name == "one_way":
        fuller = _given_back(problem, shown, part(report, 0.7, 0.8))
        # Under the attack M2 one more record of a small weight is not always safer.
        shown = shown if (_left(problem, fuller) & ~_left(problem, shown)).any() else fuller
    _check_reached(problem, shown)
    final = settled(problem, shown, at_start, part(report, 0.8, 1.0))
    if final is None:
        raise TacitaError(no_own_need(rule))
    _check_reached(problem, final)
    gone = (blanked(units.codes, final) != units.codes)[:, :keys]
    needed = gone.copy()
    for place in () if shared is None else shared.variables:
        needed[:, place] &= needed_by_itself(problem, final, place)
    left = np.logical_or(*_left(problem, final))
    return Suppression(*(each[units.row] for each in (gone, at_start, left, needed)))


def _by_unit(need: Requirement, record: Ints) -> Requirement:
    return need if need.limits is None else need._replace(limits=need.limits[record])


def _left(problem: Problem, shown: Ints) -> Bools:
    """Two rows, by unit: in a household above its limit; not meeting another requirement."""
    units, goal = problem.units, problem.goal
    assert goal is not None
    codes = blanked(units.codes, shown)
    missed = unsafe(codes, units.records, units.weights, problem.needs, problem.rule, problem.risk)
    return np.stack([goal.above(_risks(problem, shown)), missed])


def _check_reached(problem: Problem, shown: Ints) -> None:
    """Only households with a member that may not be touched can be left above the limit, only such members below k."""
    goal, free = problem.goal, problem.units.free
    assert goal is not None
    above, below = _left(problem, shown)
    bound = np.isin(goal.household, goal.household[~free])
    missed = int((above & ~bound | below & free).sum())
    if missed:
        raise TacitaError(
            f"suppression could not bring the households of {check.counted(missed, 'record')} to the risk; "
            f"recode first or ask for less."
        )


def _risks(problem: Problem, shown: Ints) -> Floats:
    """By unit: the risk of re-identification with what is shown."""
    units, goal, risk = problem.units, problem.goal, problem.risk
    assert goal is not None and risk is not None
    codes = blanked(units.codes, shown)
    f, weight = frequencies(codes, units.records, units.weights, goal.members, problem.rule)
    return goal.attack * risk(f, weight)


def _given_back(problem: Problem, shown: Ints, report: Report) -> Ints:
    """Show again what no household needs, one cell of a household at a time, the most valuable first."""
    units, goal, risk = problem.units, problem.goal, problem.risk
    assert goal is not None and risk is not None
    shown, changed = shown.copy(), True
    while changed:
        changed = False
        for place in problem.by_value:
            report(0.5)
            bit = 1 << place
            asked = np.flatnonzero((units.known & ~shown & bit != 0) & units.free)
            if problem.shared & bit or not len(asked):
                continue
            willing = asked[safe_with(units, shown, asked, bit, problem.needs, risk)[asked]]
            chosen = _within(units, shown, willing, bit, goal, risk)
            shown[chosen] |= bit
            changed |= len(chosen) > 0
    return shown


def _within(units: Units, shown: Ints, asked: Ints, bit: int, goal: HouseholdGoal, risk: Risk) -> Ints:
    """Of the units asked, for each household the one that adds least, if it stays within the limit."""
    codes = blanked(units.codes, shown)
    f, weight = frequencies(codes, units.records, units.weights, goal.members, MissingRule())
    now = goal.attack * risk(f, weight)
    after = now[asked]
    inside = shown[asked] & goal.members | bit
    for members in map(int, np.unique(inside)) if goal.members & bit else ():
        part = np.flatnonzero(inside == members)
        others, sums = counted(units, shown, members, asked[part])
        count = (others + units.records[asked[part]]).astype(np.float64)
        total = sums + units.weights[asked[part]] if len(sums) else count
        after[part] = goal.attack[asked[part]] * risk(count, total)
    added = _load(after) - _load(now[asked])
    if goal.members & bit:
        added += _helped(units, codes, asked, bit, goal, risk, f, weight)
    total_load = np.bincount(goal.household, weights=_load(now))
    room = _load(np.array(goal.limit * (1 - ROUNDING)))
    fits = total_load[goal.household[asked]] + added <= room
    order = np.lexsort((asked, added))
    order = order[fits[order]]
    _, first = np.unique(goal.household[asked[order]], return_index=True)
    return asked[order[first]]


def _helped(
    units: Units, codes: Codes, asked: Ints, bit: int, goal: HouseholdGoal, risk: Risk, f: Floats, weight: Floats
) -> Floats:
    """By unit asked: what the others of its household gain if it shows one key more, and counts for them then."""
    order = np.argsort(goal.household, kind="stable")
    members = np.bincount(goal.household, minlength=int(goal.household.max()) + 1)
    start = np.cumsum(members) - members
    size = members[goal.household[asked]]
    place = np.repeat(np.arange(len(asked)), size)
    nth = np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size)
    unit = asked[place]
    other = order[start[goal.household[unit]] + nth]
    columns = places(goal.members)
    key = columns.index(bit.bit_length() - 1)
    theirs, shows = codes[other][:, columns], codes[unit][:, columns]
    shows[:, key] = units.codes[unit, columns[key]]
    counts = (theirs[:, key] > 0) & ((theirs == 0) | (theirs == shows)).all(axis=1) & (other != unit)
    place, unit, other = place[counts], unit[counts], other[counts]
    more = f[other] + units.records[unit]
    heavier = weight[other] + units.weights[unit] if len(units.weights) else more
    gain = _load(goal.attack[other] * risk(more, heavier)) - _load(goal.attack[other] * risk(f[other], weight[other]))
    return np.bincount(place, weights=gain, minlength=len(asked)).astype(np.float64)
