"""Suppression under rules by which a missing value matches any value, fully (wildcard) or in part (partial).

There is no sweep here that settles everybody at once. Each violating unit in turn suppresses what is cheapest for
itself, given what all others show, until nobody could do better. Then every suppressed cell is needed by its own
record: showing it again would be cheaper, so it cannot be safe.
"""

from __future__ import annotations

from functools import reduce
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.problem import WORK, HouseholdVariables, Problem, Requirement, suppressed
from tacita.protect.suppress.recount import cells_to_restore, frequencies, safe_in_trials, unsafe_units
from tacita.random import Draws

# Numba loads when the first file is suppressed, not with the package.
if TYPE_CHECKING:
    from tacita.protect.suppress.wildcard_loops import Turns

MOST_KEYS = 14
"""There are 2^q sets of keys to choose from."""
MOST_TURNS = 40
"""After so many rounds, or where they go in circles, cells are only suppressed, so that it ends."""
MOST_ORDERS = 4
MOST_AT_ONCE = 2_000
"""So many units have their turn before progress is reported."""
MORE_ORDERS = 16
"""So many orders are tried if the turns do not end by themselves in those."""
COMPARISONS = 30_000_000
"""About so many pairs of units are worth comparing for further orders."""
FIRST_SETS = 12
"""So many sets of keys are tried first, then four times as many."""

Choices = tuple[Ints, Floats]
"""Sets of keys that a unit could suppress, the cheapest first; and by set of keys its cost."""


def suppress_wildcard(problem: Problem, progress: Progress = no_progress) -> Ints:
    """The keys that each unit shows, as bits, so that every requirement holds under the wildcard or a partial rule."""
    units = problem.units
    if units.codes.shape[1] > MOST_KEYS:
        raise TacitaError(
            f"suppression under missing {problem.rule.name!r} takes at most {MOST_KEYS} keys; "
            f"got {units.codes.shape[1]}, use fewer or the rule 'one_way'."
        )
    start = unsafe_units(problem, units.known) & units.free
    if not start.any():
        return units.known
    orders = max(1, min(MOST_ORDERS, COMPARISONS // (int(start.sum()) * len(units.codes) * 4)))
    coverage = _coverage(problem)
    found = []
    for order in range(MORE_ORDERS):
        share = part(progress, 0.8 * min(order / orders, 1.0), 0.8 * min((order + 1) / orders, 1.0))
        shown, settled = _one_order(problem, start, coverage, order, share)
        found.append((not settled, units.total_cost(shown, problem.costs), order, shown))
        if order + 1 >= orders and any(not unsettled for unsettled, *_ in found):
            break
    *_, shown = min(found, key=lambda each: each[:3])
    if problem.shared is not None:
        shown = _whole_households(problem, problem.shared, shown, part(progress, 0.8, 1.0))
    return shown


def _coverage(problem: Problem) -> Floats:
    """By unit: what counts for it as a share of the k asked, where it lacks most."""
    units = problem.units
    counts = ((frequencies(units.codes, units, need.members, problem.rule)[0], need.k) for need in problem.needs)
    return reduce(np.minimum, (f / k for f, k in counts))


def _one_order(problem: Problem, start: Bools, coverage: Floats, order: int, progress: Progress) -> tuple[Ints, bool]:
    """What is shown in the end, and whether that was settled by everybody's own choice."""
    shown = problem.units.known
    taking_turns = start.copy()
    choices, pending = _choices(problem, order), (np.ones(len(shown), dtype=bool), np.full(len(shown), np.inf))
    # Those who lack most first: their missing values help others, who may then need none.
    numbers = np.arange(len(shown))
    turn_order = np.lexsort((Draws(order).uniform(numbers) if order else numbers, coverage))
    circling, seen = False, set()
    for number in count():
        turns = turn_order[taking_turns[turn_order]]
        changed = _one_round(problem, shown, turns, choices, circling, pending, halving(progress, number))
        new = unsafe_units(problem, shown) & problem.units.free & ~taking_turns
        taking_turns |= new
        if not changed and not new.any():
            break
        state = blake2b(shown.tobytes(), digest_size=16).digest(), int(taking_turns.sum())
        circling |= number + 1 >= MOST_TURNS or state in seen
        seen.add(state)
    return shown, not circling


def _whole_households(problem: Problem, shared: HouseholdVariables, shown: Ints, progress: Progress) -> Ints:
    """Suppress household variables for all members, repair what that breaks, show again what no member needs."""
    units, choices = problem.units, _choices(problem, 0)
    for number in count():
        everybody = np.ones(len(shown), dtype=bool), np.full(len(shown), np.inf)
        shown = shared.spread(units.known, shown)
        share = halving(progress, number)
        changed = 0
        if number < MOST_TURNS:
            # Each member responds to what the households suppress, with keys of its own.
            taking_turns = np.flatnonzero((units.known & ~shown & ~shared.bits != 0) & units.free)
            changed = _one_round(problem, shown, taking_turns, choices, False, everybody, share, given=shared.bits)
        bad = np.flatnonzero(unsafe_units(problem, shown) & units.free)
        # A member for whom no key of its own was enough has another turn, with all keys.
        everybody[0][bad] = True
        changed += _one_round(problem, shown, bad, choices, True, everybody, share)
        if not changed:
            before, try_more = shown, number < MOST_TURNS and not len(bad)
            shown = _shown_to_households(problem, shared, shown) if try_more else shown
            if shown is before:
                break
    return shown


def _shown_to_households(problem: Problem, shared: HouseholdVariables, shown: Ints) -> Ints:
    """What is shown when household variables are shown again that no member needs, whoever else does, one by one."""
    rows = cells_to_restore(problem, shown)
    for number in np.flatnonzero(safe_in_trials(problem, shown, rows)):
        one = rows.trials(np.array([number]))
        more = one.shows & ~shown[one.unit] & shared.bits
        one = one._replace(shows=shown[one.unit] | more)
        if more.any() and safe_in_trials(problem, shown, one)[0]:
            shown = shown.copy()
            shown[one.unit] = one.shows
    return shown


def _choices(problem: Problem, order: int) -> Choices:
    """All sets of keys that could be suppressed, the cheapest first.

    Where sets cost the same, first those whose keys have the most values: missing there, they help the most others.
    """
    units, costs = problem.units, problem.costs
    cost, gain = np.zeros(1), np.zeros(1)
    for column in range(units.codes.shape[1]):
        cost = np.concatenate([cost, cost + costs[column]])
        gain = np.concatenate([gain, gain + np.log(len(np.unique(units.codes[:, column])))])
    sets = np.arange(len(cost))
    if order > 1:
        gain = gain * (0.5 + Draws(order).uniform(sets, 1))
    ordered = np.lexsort((sets, -gain, cost))
    return ordered[ordered & problem.fixed == 0], cost


def _one_round(
    problem: Problem,
    shown: Ints,
    taking_turns: Ints,
    choices: Choices,
    only_more: bool,
    pending: tuple[Bools, Floats],
    progress: Progress,
    given: int = 0,
) -> int:
    """Every unit of `taking_turns` has its turn; `shown` is changed, and how many changed is returned.

    `pending` is who has a turn at all, as others changed something that concerns it, and the cost of the dearest
    suppression that mattered to it before. Missing keys of `given` stay as they are. With `only_more` a safe unit
    stays as it is and an unsafe one suppresses more.
    """
    from tacita.protect.suppress import wildcard_tables

    turns = turns_of(problem, shown, choices, pending, given)
    if len(problem.units.person) or any(need.limits is not None for need in problem.needs):
        return _one_by_one(problem, turns, taking_turns, only_more, progress)
    tables, changed = wildcard_tables.tables_of(problem.units, turns), 0
    k, step = np.array([need.k for need in problem.needs]), max(1, min(MOST_AT_ONCE, COMPARISONS // len(shown)))
    for first in range(0, len(taking_turns), step):
        progress(first / len(taking_turns), WORK)
        some = taking_turns[first : first + step]
        changed += wildcard_tables.take_turns(tables, some, k, _factor(problem), only_more)
    return changed


def turns_of(problem: Problem, shown: Ints, choices: Choices, pending: tuple[Bools, Floats], given: int = 0) -> Turns:
    """What turns go by; `shown` and `pending` change with them."""
    from tacita.protect.suppress.wildcard_loops import Turns

    (sets, cost), known = choices, problem.units.known & (shown | ~given)
    columns = np.ascontiguousarray(suppressed(problem.units.codes, known).T)
    needed = np.array([need.members for need in problem.needs])
    return Turns(columns, known, shown, *pending, needed, sets[sets & given == 0], cost)


def _factor(problem: Problem) -> float:
    """By how much a complete record counts others that match it through missing values."""
    return 1.0 if problem.rule.name == "wildcard" else float(problem.rule.factor or 0.0)


def _one_by_one(problem: Problem, turns: Turns, taking_turns: Ints, only_more: bool, progress: Progress) -> int:
    """The same with persons, or limits of risks, which are worked out unit by unit."""
    from tacita.protect.suppress.wildcard_loops import ask_again

    changed = 0
    for number, unit in enumerate(map(int, taking_turns)):
        if not turns.asked[unit]:
            continue
        progress(number / len(taking_turns), WORK)
        turn, before = Turn(problem, turns, unit), int(turns.shown[unit])
        missing, turns.reach[unit] = turn.cheapest(only_more)
        turns.shown[unit], turns.asked[unit] = turns.known[unit] & ~missing, False
        if turns.shown[unit] != before:
            ask_again(turns, turn.apart, unit, before)
            changed += 1
    return changed


class Turn:
    """The turn of one unit: what is cheapest for it to suppress, given what all others show."""

    def __init__(self, problem: Problem, turns: Turns, unit: int) -> None:
        from tacita.protect.suppress.wildcard_loops import keys_apart

        self.problem, self.turns, self.unit, self.apart = problem, turns, unit, keys_apart(turns, unit)
        self._known: dict[tuple[int, bool], Floats] = {}

    def cheapest(self, only_more: bool) -> tuple[int, float]:
        """The cheapest set of keys with which the unit is safe when they are missing.

        And the cost of the dearest that mattered, infinite where nothing is enough.
        """
        known, cost = int(self.turns.known[self.unit]), self.turns.cost
        now = known & ~int(self.turns.shown[self.unit])
        sets = self.turns.sets[self.turns.sets & ~known == 0]
        safe_now = bool(self.safe(np.array([now]))[0])
        if safe_now:
            sets = sets[: 0 if only_more else int(np.searchsorted(cost[sets], cost[now]))]
        elif only_more:
            sets = sets[sets & now == now]
        first, size = 0, 1 if len(self.problem.units.person) else FIRST_SETS
        while first < len(sets):
            some = sets[first : first + size]
            safe = self.safe(some)
            if safe.any():
                chosen = int(some[np.argmax(safe)])
                return chosen, float(cost[chosen])
            first, size = first + size, 4 * size
        return now, float(cost[now]) if safe_now else np.inf

    def safe(self, sets: Ints) -> Bools:
        """By set of missing keys whether the unit is safe with it."""
        safe = np.ones(len(sets), dtype=bool)
        for need in self.problem.needs:
            if safe.any():
                safe[safe] = need.met(*self.counted(sets[safe], need), self.unit, self.problem.risk)
        return safe

    def counted(self, sets: Ints, need: Requirement) -> tuple[Floats, Floats]:
        """By set of missing keys: the records, or persons, that count for the unit, and their weight."""
        from tacita.protect.suppress.wildcard_loops import persons_by_missing

        units, members = self.problem.units, need.members
        limited = need.limits is not None and len(units.weights) > 0
        f = self._by_missing(members, False)[sets & members]
        weight = self._by_missing(members, True)[sets & members] if limited else f.copy()
        if len(units.person):
            # There are no more persons than units.
            some = np.flatnonzero(f >= need.k)
            whose = units.person, units.records, units.weights
            factor, enough = self._factor(members), np.inf if limited else float(need.k)
            found = persons_by_missing(self.turns, self.apart, self.unit, whose, members, sets[some], factor, enough)
            f[some], weight[some] = found
        return f, weight

    def _by_missing(self, members: int, weights: bool) -> Floats:
        """By set of missing keys the units or records, or their weights, that count for the unit; worked out once."""
        from tacita.protect.suppress.wildcard_loops import counts_by_missing

        if (members, weights) not in self._known:
            units, factor = self.problem.units, self._factor(members)
            found = self._known[members, weights] = np.empty(len(self.turns.cost))
            given = units.weights if weights else np.where(len(units.person), 1.0, units.records)
            counts_by_missing(self.turns, self.apart, self.unit, given, members, factor, found)
        return self._known[members, weights]

    def _factor(self, members: int) -> float:
        """By how much others that miss some keys count if the unit misses none of them."""
        return _factor(self.problem) if self.turns.known[self.unit] & members == members else 1.0
