"""Suppression to a household risk: nobody in a household may make it too easy to recognise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.progress import Progress, halving
from tacita.protect.suppress.problem import Problem, Request, link_limits
from tacita.protect.suppress.recount import record_risks
from tacita.protect.suppress.requirements import Requirement
from tacita.scenario import MissingRule

MOST_ROUNDS = 50
ROUNDING = 1e-9
"""Limits of single records are a little stricter, so that rounding does not put their household above its own."""
STEPS = 60
"""Halvings of the level of risk to which members of a household are lowered."""


def lower_household_risk(
    request: Request, problem: Problem, solve: Callable[[Request, Progress], Ints], progress: Progress
) -> Ints:
    """The keys that each unit shows, as bits, so that no household is above its limit, and further requirements hold.

    The members with the highest risk get limits of their own, which `solve` meets; where suppression for others raises
    a risk again these are lowered, until every household is within the limit.
    """
    goal, free, row = request.goal, request.changeable, problem.units.row
    assert goal is not None
    floor = record_risks(problem._replace(rule=MissingRule()), problem.units.known & problem.fixed)[row]
    caps = np.full(len(row), np.inf)
    shown = problem.units.known
    for number in range(MOST_ROUNDS):
        risk = record_risks(problem, shown)[row]
        lower = household_caps(risk, goal.household, goal.limit * (1 - ROUNDING), free, floor)
        lower[~goal.above(risk)] = np.inf
        if number and not np.isfinite(lower).any():
            return shown
        caps = np.minimum(caps, lower)
        limited = Requirement(goal.members, 1, link_limits(caps, goal.attack))
        capped = request._replace(goal=None, needs=[*request.needs, limited])
        shown = np.empty_like(shown)
        shown[row] = solve(capped, halving(progress, number))
    raise TacitaError("the household risk could not be reached by suppression; recode first or ask for less.")


def household_caps(risk: Floats, household: Ints, limit: float, free: Bools, floor: Floats) -> Floats:
    """By record: how much risk it may keep so that 1 - prod(1 - r) of its household is within the limit.

    Only the members with the highest risks are lowered, all to the same cap, but nobody below its `floor`, the risk of
    showing as little as possible; infinite for everybody else. Where the limit is out of reach nothing is asked.
    """
    # -log(1 - r) adds up over a household, so the level to which members are lowered is found by halving.
    room, load, least = _load(np.array(limit)), _load(risk), _load(floor * (1 + 1e-12))

    def within(level: Floats) -> Bools:
        lowered = np.where(free, np.minimum(load, np.maximum(level[household], least)), load)
        return np.bincount(household, weights=lowered, minlength=len(level)) <= room

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
