"""Suppression to a household risk: nobody in a household may make it too easy to recognise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.suppression.combinations import Requirement, bits, places
from tacita.protect.suppression.improve import safe_with
from tacita.protect.suppression.kernel import Shared, Suppression, suppress
from tacita.protect.suppression.reporting import Report, part, turn, unheard
from tacita.protect.suppression.risk_threshold import link_limits
from tacita.protect.suppression.sweep import Risk, counted
from tacita.protect.suppression.units import NO_WEIGHTS, Units, blanked, units_of
from tacita.protect.suppression.verify import MOST_TRIALS, frequencies, unsafe
from tacita.risk.household import at_least_one
from tacita.scenario import MissingRule

MOST_ROUNDS = 50
ROUNDING = 1e-9
"""Limits of single records are a little stricter, so that rounding does not put their household above its own."""


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
    options |= {"shared": shared, "kept": kept}
    full, fixed = codes, 0
    if strata is not None:
        full, fixed = np.column_stack([codes, strata]).astype(np.uint32), 1 << keys
    goal = goal._replace(members=goal.members | fixed)
    needs_there = [need._replace(members=need.members | fixed) for need in needs]
    sums = NO_WEIGHTS if weights is None else weights
    at_start = goal.above(_risks(full, sums, goal, rule, risk))
    at_start |= unsafe(full, np.ones(size, dtype=np.int64), sums, needs_there, rule, risk)
    gone = np.zeros(full.shape, dtype=bool)
    always = kept | fixed
    floor = _risks(blanked(full, np.full(size, always)), sums, goal, MissingRule(), risk)
    caps = np.full(size, np.inf)
    found = None
    for number in range(MOST_ROUNDS):
        by_record = _risks(full * ~gone, sums, goal, rule, risk)
        lower = household_caps(by_record, goal.household, goal.limit * (1 - ROUNDING), free, floor)
        lower[~goal.above(by_record)] = np.inf
        if found is not None and not np.isfinite(lower).any():
            break
        caps = np.minimum(caps, lower)
        limited = Requirement(goal.members & ~fixed, 1, link_limits(caps, goal.attack))
        told = turn(part(report, 0.0, 0.8), number)
        found = suppress(codes, [*needs, limited], costs, rule, **options, report=told)
        gone[:, :keys] = found.gone
    else:
        raise TacitaError("the household risk could not be reached by suppression; recode first or ask for less.")

    def violate(gone: Bools) -> Bools:
        shown = full * ~gone
        above = goal.above(_risks(shown, sums, goal, rule, risk))
        return np.stack([above, unsafe(shown, np.ones(size, dtype=np.int64), sums, needs_there, rule, risk)])

    told, shared_bits = part(report, 0.8, 1.0), bits(shared.variables) if shared is not None else 0
    left, fuller = violate(gone), gone
    if rule.name == "one_way":
        units = units_of(full, free, weights, np.arange(size))
        shown = _given_back(units, gone, needs_there, goal, [*costs, 1.0], risk, shared_bits, told)
        fuller = (blanked(units.codes, shown) != units.codes)[units.row]
    if rule.name != "one_way" or (violate(fuller) & ~left).any():
        # Also under the attack M2, where one more record of a small weight is not always safer.
        fuller = _given_back_by_counting(
            gone, costs, shared_bits, lambda trial: not (violate(trial) & ~left).any(), told
        )
    gone, left = fuller, violate(fuller)
    _check_reached(left, free, goal.household)
    return Suppression(gone[:, :keys], at_start, left[0] | left[1], found.needed & gone[:, :keys])


def _check_reached(left: Bools, free: Bools, household: Ints) -> None:
    """Only households with a member that may not be touched can be left above the limit, only such members below k.

    `left` has a row for each of the two.
    """
    bound = np.zeros(int(household.max()) + 1, dtype=bool)
    bound[household[~free]] = True
    missed = int((left[0] & ~bound[household] | left[1] & free).sum())
    if missed:
        raise TacitaError(
            f"suppression could not bring the households of {check.counted(missed, 'record')} to the risk; "
            f"recode first or ask for less."
        )


def _risks(codes: Codes, weights: Floats, goal: HouseholdGoal, rule: MissingRule, risk: Risk) -> Floats:
    """By record: the risk of re-identification with what is shown."""
    f, weight = frequencies(codes, np.ones(len(codes), dtype=np.int64), weights, goal.members, rule)
    return goal.attack * risk(f, weight)


def _given_back(
    units: Units,
    gone: Bools,
    needs: Sequence[Requirement],
    goal: HouseholdGoal,
    costs: Sequence[float],
    risk: Risk,
    shared: int,
    report: Report,
) -> Ints:
    """Show again what no household needs, one cell of a household at a time, the most valuable first."""
    shown = np.empty(len(units.codes), dtype=np.int64)
    shown[units.row] = units.known[units.row] & ~(gone @ (np.int64(1) << np.arange(gone.shape[1], dtype=np.int64)))
    household, attack = np.empty(len(shown), dtype=np.int64), np.empty(len(shown))
    household[units.row], attack[units.row] = goal.household, goal.attack
    there = goal._replace(household=household, attack=attack)
    changed = True
    while changed:
        changed = False
        for place in sorted(range(gone.shape[1]), key=lambda place: (-costs[place], place)):
            report(0.5)
            bit = 1 << place
            asked = np.flatnonzero((units.known & ~shown & bit != 0) & units.free)
            if shared & bit or not len(asked):
                continue
            willing = asked[safe_with(units, shown, asked, bit, needs, risk)[asked]]
            chosen = _within(units, shown, willing, bit, there, risk)
            shown[chosen] |= bit
            changed |= len(chosen) > 0
    return shown


def _given_back_by_counting(
    gone: Bools, costs: Sequence[float], shared: int, safe: Callable[[Bools], bool], report: Report
) -> Bools:
    """Show again, one by one, cells that nobody needs, where nothing quicker than counting is known."""
    tried = 0
    for place in sorted(range(len(costs)), key=lambda place: (-costs[place], place)):
        for record in () if shared >> place & 1 else np.flatnonzero(gone[:, place])[: MOST_TRIALS - tried]:
            tried += 1
            report(tried / MOST_TRIALS)
            trial = gone.copy()
            trial[record, place] = False
            if safe(trial):
                gone = trial
    return gone


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
