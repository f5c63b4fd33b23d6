"""Until every blank is needed by its own record: what is not needed is shown again, who counted on it is placed anew.

Where a blank changes what others count, a cell may be left that only others need. It is shown again; whoever is unsafe
then blanks what is cheapest for itself, as the others stand, and so on until nobody is unsafe and no blank is wasted.
It can go in circles, so no state is entered twice and other orders are tried; some files have no such state at all.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.protect.suppress.own_need import Blanks, safe_in_trials, shown_safely, unneeded
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, turn, unheard
from tacita.protect.suppress.sweep import sets_in_order
from tacita.protect.suppress.trials import Rows
from tacita.protect.suppress.units import blanked, fingerprint
from tacita.protect.suppress.verify import frequencies, unsafe_units
from tacita.random import Draws

MOST_ORDERS = 8
MOST_ROUNDS = 60
MOST_PLACED = 400
"""So many units are placed anew after one blank is shown again."""


def settled(problem: Problem, shown: Ints, start: Bools, report: Report = unheard) -> Ints | None:
    """What is shown when everybody is safe and every blank is needed by its own record; None: not found.

    `start` are the units that violated to begin with. Everybody is safe with what is `shown`; households that are above
    their limit nevertheless cannot be helped.
    """
    left = above_goal(problem, shown)
    if not unneeded(problem, shown, left).size:
        return shown
    for order in range(MOST_ORDERS):
        after = _Search(problem, start, left, order, turn(report, order)).run(shown)
        if after is not None:
            return after
    blank = _all_blank(problem, left)
    return None if blank is None else _Search(problem, start, left, 0, turn(report, MOST_ORDERS)).run(blank)


def above_goal(problem: Problem, shown: Ints) -> Bools:
    """Which units are in a household above its limit."""
    units, goal = problem.units, problem.goal
    if goal is None or problem.risk is None:
        return np.zeros(len(shown), dtype=bool)
    f, weight = frequencies(blanked(units.codes, shown), units.records, units.weights, goal.members, problem.rule)
    return goal.above(goal.attack * problem.risk(f, weight))


def violating(problem: Problem, shown: Ints, left: Bools) -> Bools:
    """Which units that may be touched are unsafe, and who is in a household above its limit that is not `left` so."""
    unsafe = unsafe_units(problem.units, shown, problem.needs, problem.rule, problem.risk)
    return unsafe | above_goal(problem, shown) & ~left


class _Search:
    """One order in which blanks are shown again and units placed anew."""

    def __init__(self, problem: Problem, start: Bools, left: Bools, order: int, report: Report) -> None:
        self.problem, self.start, self.left, self.order, self.report = problem, start, left, order, report
        self.seen: set[bytes] = set()
        self.done = 0.0

    def run(self, shown: Ints) -> Ints | None:
        """Rounds over all blanks that are not needed, until there are none."""
        for number in range(MOST_ROUNDS):
            self.done = number / MOST_ROUNDS
            wasted = unneeded(self.problem, shown, self.left)
            shown, again = self._harmless(shown, wasted)
            if again:
                wasted = unneeded(self.problem, shown, self.left)
            if not wasted.size:
                return shown
            before = shown
            for each in self._ordered(wasted.size):
                shown = self._given_back(shown, wasted.some(np.array([each])))
            if shown is before:
                return None
        return None

    def _harmless(self, shown: Ints, wasted: Blanks) -> tuple[Ints, bool]:
        """Show again what nobody needs: all at once if that harms nobody, else half by half."""
        changed, waiting = False, [np.arange(wasted.size)]
        while waiting:
            some = waiting.pop()
            if not len(some):
                continue
            trial = wasted.some(some).again(shown)
            if not self._violating(trial).any():
                shown, changed = trial, True
            elif len(some) > 1:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        return shown, changed

    def _given_back(self, shown: Ints, blank: Blanks) -> Ints:
        """One blank shown again, and whoever is unsafe then placed anew; as it was where that leads nowhere new."""
        if (shown[blank.unit] & blank.bits).any() or not shown_safely(self.problem, shown, blank, self.left)[0]:
            return shown
        after = self._placed_anew(blank.again(shown))
        if after is None or fingerprint(after) in self.seen:
            return shown
        self.seen.add(fingerprint(after))
        return after

    def _placed_anew(self, shown: Ints) -> Ints | None:
        """Each unsafe unit in turn blanks what is cheapest for itself; None where one cannot, or it does not end."""
        passed: set[bytes] = set()
        while len(passed) < MOST_PLACED and fingerprint(shown) not in passed:
            passed.add(fingerprint(shown))
            bad = np.flatnonzero(self._violating(shown) & self.problem.units.free)
            if not len(bad):
                return shown if not self._violating(shown).any() else None
            after = self._response(shown, int(bad[self._ordered(len(bad))[0]]))
            if after is None:
                return None
            shown = after
        return None

    def _violating(self, shown: Ints) -> Bools:
        """Who is unsafe and must not be; told each time, since that takes longest."""
        self.report(self.done)
        return violating(self.problem, shown, self.left)

    def _ordered(self, count: int) -> Ints:
        numbers = np.arange(count)
        return np.argsort(Draws(self.order).uniform(numbers)) if self.order else numbers

    def _response(self, shown: Ints, unit: int) -> Ints | None:
        """What is shown when a unit, or one member of its household, blanks what is cheapest and enough."""
        problem = self.problem
        own = problem.members(unit) if problem.goal is not None else np.array([unit])
        best = self._cheapest(shown, own[problem.units.free[own]])
        if best is None and problem.goal is not None:
            return self._whole_household(shown, own)
        if best is None and problem.rule.name == "own_category":
            return self._company(shown, unit)
        return best

    def _cheapest(self, shown: Ints, some: Ints) -> Ints | None:
        """What is shown when one of some units blanks the cheapest set of keys with which it is safe; None: none is."""
        problem, units = self.problem, self.problem.units
        found, watched, trials = [], [], 0
        for unit in map(int, some):
            options = self._options(shown, unit)
            rows, mine = self._rows(shown, unit, options)
            found.append(rows._replace(trial=rows.trial + trials))
            watched.append(mine)
            trials += len(options)
        if not found:
            return None
        rows = Rows(*(np.concatenate(each) for each in zip(*found, strict=True)))
        safe = safe_in_trials(problem, shown, rows, rows.some(np.concatenate(watched)), self.left, anew=True)
        if not safe.any():
            return None
        cost = np.zeros(trials)
        for place, each in enumerate(problem.costs):
            lost = (shown[rows.unit] >> place & 1) - (rows.shows >> place & 1)
            cost += np.bincount(rows.trial, weights=each * lost * units.records[rows.unit], minlength=trials)
        after, which = shown.copy(), rows.trial == int(np.argmin(np.where(safe, cost, np.inf)))
        after[rows.unit[which]] = rows.shows[which]
        return after

    def _options(self, shown: Ints, unit: int) -> Ints:
        """What a unit could show; a household variable that is blanked stays so."""
        problem, known = self.problem, int(self.problem.units.known[unit])
        room = known & problem.used & ~problem.fixed & ~(known & ~int(shown[unit]) & problem.shared)
        kept = known & ~room & (int(shown[unit]) | ~problem.shared)
        sets = list(sets_in_order(room, problem.costs, self.order, 0, shown[unit : unit + 1] & room))
        return np.array(sets, dtype=np.int64) | kept

    def _rows(self, shown: Ints, unit: int, options: Ints) -> tuple[Rows, Bools]:
        """A trial for each set of keys that a unit could show; household variables go for the others too."""
        problem, units = self.problem, self.problem.units
        trial = np.arange(len(options))
        parts = [(np.full(len(options), unit), options, trial)]
        households = problem.households
        if households is not None:
            mates = np.flatnonzero(households.household == households.household[unit])
            gone = shown[unit] & ~options & problem.shared
            for mate in mates[mates != unit]:
                less = shown[mate] & ~gone
                hit = less != shown[mate]
                parts.append((np.full(int(hit.sum()), mate), less[hit], trial[hit]))
        row, shows, number = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(number, kind="stable")
        return Rows(row, shows, number, units.records[row]).some(order), row[order] == unit

    def _whole_household(self, shown: Ints, own: Ints) -> Ints | None:
        """All members blank everything, then show again what the household does not need, the most valuable first."""
        problem, units = self.problem, self.problem.units
        free = own[units.free[own]]
        shown = shown.copy()
        shown[free] &= problem.fixed | ~problem.used
        if self._violating(shown)[own].any():
            return None
        for place in problem.by_value:
            bit = 1 << place
            asked = free[(units.known & ~shown)[free] & bit != 0]
            groups = [asked] if problem.shared & bit else [asked[each : each + 1] for each in range(len(asked))]
            for each in groups:
                blank = Blanks(each, np.full(len(each), bit), np.zeros(len(each), dtype=np.int64))
                if len(each) and shown_safely(problem, shown, blank, self.left)[0]:
                    shown = blank.again(shown)
        return shown

    def _company(self, shown: Ints, unit: int) -> Ints | None:
        """Where a blank is a category: blank everything for a unit and for the cheapest others that violated."""
        problem, units = self.problem, self.problem.units
        least = problem.fixed | ~problem.used
        shown = shown.copy()
        shown[unit] &= least
        loss = np.zeros(len(shown))
        for place, cost in enumerate(problem.costs):
            loss += cost * units.records * (shown & ~least & 1 << place != 0)
        if self.order:
            loss = loss * Draws(self.order).uniform(np.arange(len(loss)))
        for other in np.argsort(loss, kind="stable"):
            shown = self._spread(shown)
            if not self._violating(shown)[unit]:
                return shown
            if self.start[other] and units.free[other] and loss[other] > 0:
                shown[other] &= least
        shown = self._spread(shown)
        return None if self._violating(shown)[unit] else shown

    def _spread(self, shown: Ints) -> Ints:
        households = self.problem.households
        return shown if households is None else households.spread(self.problem.units.known, shown)


def _all_blank(problem: Problem, left: Bools) -> Ints | None:
    """Everything blanked for all that violate, and for those that violate because of that; None: not enough."""
    units, shown = problem.units, problem.units.known
    least = problem.fixed | ~problem.used
    while True:
        bad = violating(problem, shown, left) & units.free
        after = np.where(bad, shown & least, shown)
        if problem.households is not None:
            after = problem.households.spread(units.known, after)
        if np.array_equal(after, shown):
            return None if violating(problem, shown, left).any() else shown
        shown = after
