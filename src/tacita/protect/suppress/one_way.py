"""One-way suppression of a whole file: several sweeps, cells shown again, the cheapest outcome kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.problem import WORK, Problem, Risk
from tacita.protect.suppress.requirements import Demands, Requirement, demands_of, union
from tacita.protect.suppress.sweep import counted, few_keys, meeting, sets_to_try, sweep, violating
from tacita.protect.suppress.units import Units

MOST_ORDERS = 8
LOOKS = 1_000_000
"""About so many looks at a unit are worth spending on further orders of the sets."""


def suppress_one_way(problem: Problem, progress: Progress = no_progress) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the one-way rule.

    Several orders of the sets of keys are tried, as many as the size of the file allows, and the cheapest kept.
    """
    units, costs = problem.units, problem.costs
    if problem.shared is not None:
        problem = problem._replace(costs=problem.shared.search_costs(costs))
    best, looks = _one_order(problem, 0, part(progress, 0.0, 0.5))
    least = units.total_cost(best, costs)
    orders = min(MOST_ORDERS, LOOKS // max(1, looks)) if least else 0
    for variant in range(1, orders):
        share = part(progress, 0.5 + 0.5 * variant / orders, 0.5 + 0.5 * (variant + 1) / orders)
        shown, _ = _one_order(problem, variant, share)
        cost = units.total_cost(shown, costs)
        if cost < least:
            best, least = shown, cost
    return best


def _one_order(problem: Problem, variant: int, progress: Progress) -> tuple[Ints, int]:
    """What is shown after sweeping in one order, and about how many looks at a unit it took."""
    units, needs, risk, shared = problem.units, problem.needs, problem.risk, problem.shared
    shown, looks = units.known, 0
    if len(needs) == 1:
        shown, looks = sweep(problem, shown, needs[0], variant, part(progress, 0.0, 0.8))
        progress = part(progress, 0.8, 1.0)
        if shared is None and needs[0].limits is None and few_keys(needs[0].members & ~problem.fixed):
            return shown, looks
    # Several requirements interfere with each other, and so do households and limits of one's own.
    for number in count():
        if shared is not None:
            shown = shared.spread(units.known, shown)
        before = shown
        shown = step_back(problem, shown, variant, halving(progress, number))
        looks += len(shown) << min(units.codes.shape[1], 10)
        if np.array_equal(before, shown):
            # All are safe, or what is asked cannot be had.
            break
    fuller = give_back(problem, shown, halving(progress, number))
    # Under the attack M2 a group with one more record of a small weight is not always safer.
    worse = risk is not None and (violating(units, fuller, needs, risk) & ~violating(units, shown, needs, risk)).any()
    return (shown if worse else fuller), looks


def step_back(problem: Problem, shown: Ints, variant: int, progress: Progress) -> Ints:
    """What is shown when each violating unit shows less: the most valuable part with which it meets all requirements.

    That is as the others stand, and they may have counted on it, so rounds are repeated. Nobody ever shows more again,
    and with nothing shown a unit counts everybody, so it ends. Units for which nothing is enough stay as they are.
    """
    units, needs, risk = problem.units, problem.needs, problem.risk
    rows = np.flatnonzero(violating(units, shown, needs, risk) & units.free)
    if not len(rows):
        return shown
    counts, demands = _Counts(units, shown, rows), demands_of(needs)
    limited = [need for need in needs if need.limits is not None]
    every, most = union(needs), None if limited else max(need.k for need in needs)
    before = shown[rows]
    after = before.copy()
    waiting = np.arange(len(rows))
    for members in sets_to_try(problem, shown, rows, every, most, variant):
        progress(1 - len(waiting) / len(rows), WORK)
        possible = before[waiting] & every & members == members
        if possible.any():
            some = waiting[possible]
            safe = _safe(counts, some, members, demands, limited, risk)
            after[some[safe]] = before[some[safe]] & ~every | members
            waiting = np.setdiff1d(waiting, some[safe], assume_unique=True)
        if not len(waiting):
            break
    shown = shown.copy()
    shown[rows] = after
    return shown


class _Counts:
    """What some units count on any set of keys that they show, worked out when it is asked for."""

    def __init__(self, units: Units, shown: Ints, rows: Ints) -> None:
        self.units, self.shown, self.rows = units, shown, rows
        self.known: dict[int, tuple[Ints, Floats]] = {}

    def on(self, members: int) -> tuple[Ints, Floats]:
        """By row the records, and the sum of weights, that show the same on a set of keys."""
        if members not in self.known:
            there = np.flatnonzero(self.shown[self.rows] & members == members)
            f, weight = counted(self.units, self.shown, members, self.rows[there])
            every = np.zeros(len(self.rows), dtype=np.int64)
            every[there] = f
            sums = np.zeros(len(self.rows) if len(weight) else 0)
            sums[there[: len(weight)]] = weight
            self.known[members] = every, sums
        return self.known[members]


def _safe(
    counts: _Counts, some: Ints, members: int, demands: Demands, limited: Sequence[Requirement], risk: Risk | None
) -> Bools:
    """Which of some units would meet all requirements if they showed exactly `members`."""
    safe = np.ones(len(some), dtype=bool)
    for need in limited:
        if need.limits is not None and risk is not None:
            f, weight = counts.on(members & need.members)
            count = f[some].astype(np.float64)
            safe &= risk(count, weight[some] if len(weight) else count) <= need.limits[counts.rows[some]]
    for inside, k in demands.of(members):
        if not safe.any():
            break
        safe &= counts.on(inside)[0][some] >= k
    return safe


def give_back(problem: Problem, shown: Ints, progress: Progress = no_progress) -> Ints:
    """What is shown when every cell is shown again that its record does not need, the most valuable first.

    Under the one-way rule who shows more only helps others, so cells can be shown again to many records at once.
    """
    units, shared = problem.units, problem.shared
    known, changed = units.known, True
    while changed:
        changed = False
        for number, column in enumerate(problem.by_value):
            progress(number / len(problem.by_value), WORK)
            bit = 1 << column
            asked = (known & ~shown & bit != 0) & units.free
            if not asked.any():
                continue
            rows, willing = np.flatnonzero(asked), np.zeros(len(shown), dtype=bool)
            concerned = [need for need in problem.needs if need.members & bit]
            willing[rows] = meeting(units, shown, rows, shown[rows] | bit, concerned, problem.risk)
            if shared is not None and column in shared.variables:
                willing = shared.all_agree(willing, asked)
            if willing.any():
                shown = np.where(willing, shown | bit, shown)
                changed = True
    return shown
