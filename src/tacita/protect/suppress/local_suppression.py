"""Local suppression of a file: which cells are suppressed, for whom, and whether it is enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.keys.matching import MOST_KEYS
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.one_way import show_again, suppress_one_way
from tacita.protect.suppress.own_category import suppress_own_category
from tacita.protect.suppress.problem import HouseholdLimit, Problem, Request, Requirement, link_limits, problem_of
from tacita.protect.suppress.recount import (
    above_household_limit,
    needed_by_itself,
    record_risks,
    restored,
    unsafe_units,
)
from tacita.protect.suppress.requirements import essential, union
from tacita.protect.suppress.wildcard import suppress_wildcard
from tacita.scenario import MissingRule

SEARCHES = {
    "one_way": suppress_one_way,
    "own_category": suppress_own_category,
    "wildcard": suppress_wildcard,
    "partial": suppress_wildcard,
}
"""How the cells are found, by missing-value rule."""
MOST_ROUNDS = 50
ROUNDING = 1e-9
"""Limits of single records are a little stricter, so that rounding does not put their household above its own."""
STEPS = 60
"""Halvings of the level of risk to which members of a household are lowered."""


class Suppression(NamedTuple):
    """Which cells are to be suppressed, and which records they are of."""

    gone: Bools
    """By record and key: suppressed."""
    violated: Bools
    """Records that violate before anything is done."""
    left: Bools
    """Records that violate afterwards, because they may not be changed."""
    needed: Bools
    """By record and key: suppressed for the record itself, not because its household shares the variable."""
    for_others: Bools
    """By record and key: only others need it; the record, or its household, would be safe if it were shown."""

    @property
    def touched(self) -> Bools:
        """Records with a suppressed cell."""
        return np.asarray(self.gone.any(axis=1))

    @property
    def with_household(self) -> Bools:
        """Records that are touched only because another member of the household is."""
        return self.touched & ~self.needed.any(axis=1)

    @property
    def drawn_in(self) -> Bools:
        """Records that were safe until cells of other records were suppressed, and lost cells themselves."""
        return self.needed.any(axis=1) & ~self.violated


class OutOfReach(TacitaError):  # noqa: N818
    """Records that no suppression of the cells that may go makes safe."""


def suppress(request: Request, progress: Progress = no_progress) -> Suppression:
    """The cells to suppress so that every record meets every requirement under the missing-value rule.

    The outcome is counted again with the code that every measure uses; if a record that may be changed is still unsafe
    that is an error.
    """
    _check_rule(request.rule)
    _check_size(request)
    problem = problem_of(request)
    units = problem.units
    known = shown = units.known
    at_start = unsafe_units(problem, known, part(progress, 0.0, 0.1)) | above_household_limit(problem, known)
    for_others = np.zeros_like(shown)
    if problem.goal is not None:
        shown = lower_household_risk(problem, problem.goal, part(progress, 0.1, 0.8))
    elif (at_start & units.free).any():
        shown = _searched(problem, part(progress, 0.1, 0.8))
    left = _still_unsafe(problem, shown, part(progress, 0.8, 0.9))
    # The one-way search itself leaves no cell that its record does not need, without risks and households.
    plain = problem.rule.name == "one_way" and problem.risk is None and problem.shared is None
    if (shown != known).any() and not plain:
        shown, for_others = restored(problem, shown, part(progress, 0.9, 1.0))
        left = _still_unsafe(problem, shown)
    columns = np.arange(request.codes.shape[1])
    gone, unneeded = ((sets[:, None] >> columns & 1 > 0)[units.row] for sets in (known & ~shown, for_others))
    needed = gone.copy()
    for column in () if request.shared is None else request.shared.variables:
        # Which member needs a suppressed household variable.
        needed[:, column] &= needed_by_itself(problem, shown, column)[units.row]
    return Suppression(gone, at_start[units.row], left[units.row], needed, unneeded)


def _searched(problem: Problem, progress: Progress) -> Ints:
    """What is shown when requirements are met as cheaply as the search can, if it can."""
    units, search = problem.units, SEARCHES[problem.rule.name]
    asked = problem._replace(needs=essential(problem.needs, problem.rule.name))
    if len(asked.needs) == 1 or any(need.limits is not None for need in asked.needs):
        return search(asked, progress)
    shown = search(asked, part(progress, 0.0, 0.8))
    # The greatest k on all keys at once is more than is asked, and yet it is sometimes found with fewer cells.
    together = [Requirement(union(asked.needs), max(need.k for need in asked.needs))]
    other = search(problem._replace(needs=together), part(progress, 0.8, 1.0))
    if problem.rule.name == "one_way":
        other = show_again(asked, other)
    better = units.total_cost(other, problem.costs) < units.total_cost(shown, problem.costs)
    if problem.rule.name == "own_category":
        better |= bool((unsafe_units(problem, shown) & units.free).any())
    return other if better and not (unsafe_units(problem, other) & units.free).any() else shown


def _still_unsafe(problem: Problem, shown: Ints, progress: Progress = no_progress) -> Bools:
    """Which units are unsafe with what all units show; an error if one of them could be helped.

    Where the household risk is limited that is a unit whose household has no member that may not be changed.
    """
    free, goal = problem.units.free, problem.goal
    below, above = unsafe_units(problem, shown, progress), above_household_limit(problem, shown)
    missed = below & free
    if goal is not None:
        missed |= above & ~np.isin(goal.household, goal.household[~free])
    if missed.any():
        raise OutOfReach(_failure(problem, int(problem.units.records[missed].sum())))
    return below | above


def _failure(problem: Problem, records: int) -> str:
    who = check.counted(records, "record")
    if problem.goal is not None:
        return f"suppression could not bring the households of {who} to the risk; recode first or ask for less."
    limit = " or the risk limit" if problem.risk is not None else ""
    one_way = problem.rule.name == "one_way"
    ways = "recode first or ask for less" if one_way else "recode first, ask for less, or choose the rule 'one_way'"
    return f"suppression could not bring {who} to k{limit} under missing {str(problem.rule)!r}; {ways}."


def _check_rule(rule: MissingRule) -> None:
    if rule.name not in SEARCHES or isinstance(rule.factor, str):
        raise TacitaError(
            f"suppression takes missing 'one_way', 'own_category', 'wildcard' or 'partial(c)' with a number c, not "
            f"{str(rule)!r}; suppress under one of these, then assess the release under {str(rule)!r}."
        )


def _check_size(request: Request) -> None:
    """Few enough keys; the file, and every stratum, must have k records or units."""
    strata, (size, keys) = request.strata, request.codes.shape
    k, what = max((need.k for need in request.needs), default=1), "records" if request.person is None else "units"
    stratum = np.zeros(size, dtype=np.int64) if strata is None else strata.astype(np.int64)
    if request.person is not None:  # a unit counts once in every stratum that it has records in
        stratum = np.unique(stratum * size + request.person) // size
    sizes = np.bincount(stratum, request.repeats).astype(np.int64)
    if keys + (strata is not None) > MOST_KEYS:
        raise TacitaError(
            f"suppression takes at most {MOST_KEYS} keys, strata counted as one; got {keys + (strata is not None)}, "
            f"protect fewer or several key sets, one after the other."
        )
    if strata is None and k > sizes[0]:
        raise TacitaError(f"k must be at most the {sizes[0]:,} {what} of the file; got {k}.")
    small = int(((sizes > 0) & (sizes < k)).sum())
    if small:
        raise TacitaError(
            f"every stratum must have at least k = {k} {what}; {check.counted(small, 'stratum', 'strata')} "
            f"of {int((sizes > 0).sum()):,} {'has' if small == 1 else 'have'} fewer, use coarser strata."
        )


def lower_household_risk(problem: Problem, goal: HouseholdLimit, progress: Progress) -> Ints:
    """The keys that each unit shows, as bits, so that no household is above its limit, and further requirements hold.

    The members with the highest risk get limits of their own, which suppression meets; where suppression for others
    raises a risk again these are lowered, until every household is within the limit.
    """
    units, shown = problem.units, problem.units.known
    floor = record_risks(problem._replace(rule=MissingRule()), shown & problem.fixed)
    caps = np.full(len(shown), np.inf)
    for number in range(MOST_ROUNDS):
        risk = record_risks(problem, shown)
        lower = household_caps(risk, goal.household, goal.limit * (1 - ROUNDING), units.free, floor, goal.counts(risk))
        lower[~goal.above(risk)] = np.inf
        if number and not np.isfinite(lower).any():
            return shown
        caps = np.minimum(caps, lower)
        limited = Requirement(goal.members, 1, link_limits(caps, goal.attack))
        capped = problem._replace(goal=None, needs=[*problem.needs, limited])
        shown = units.known
        if unsafe_units(capped, shown).any():
            shown = _searched(capped, halving(progress, number))
        _still_unsafe(capped, shown)
    raise TacitaError("the household risk could not be reached by suppression; recode first or ask for less.")


def household_caps(
    risk: Floats, household: Ints, limit: float, free: Bools, floor: Floats, counts: Floats | float = 1.0
) -> Floats:
    """By record: how much risk it may keep so that 1 - prod(1 - r) of its household is within the limit.

    Only the members with the highest risks are lowered, all to the same cap, but nobody below its `floor`, the risk of
    showing as little as possible; infinite for everybody else. Where the limit is out of reach nothing is asked. Of
    several records of a person the riskiest `counts`.
    """
    # -log(1 - r) adds up over a household, so the level to which members are lowered is found by halving.
    room, load, least = _load(np.array(limit)), _load(risk), _load(floor * (1 + 1e-12))

    def within(level: Floats) -> Bools:
        lowered = np.where(free, np.minimum(load, np.maximum(level[household], least)), load)
        return np.bincount(household, weights=lowered * counts, minlength=len(level)) <= room

    low = np.zeros(int(household.max()) + 1)
    high = np.full(len(low), float(load.max()))
    possible, enough = within(low), within(high)
    for _ in range(STEPS):
        middle = (low + high) / 2
        inside = within(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    caps = -np.expm1(-np.maximum(low[household], least))
    asked = free & (risk > caps) & possible[household] & ~enough[household]
    return np.where(asked, caps, np.inf)


def _load(risk: Floats) -> Floats:
    """-log(1 - r), which adds up over a household; a certain re-identification counts as nearly certain."""
    return -np.log1p(-np.minimum(risk, 1.0 - 2.0**-53))
