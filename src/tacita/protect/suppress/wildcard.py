"""Suppression under rules by which a missing value matches any value, fully (wildcard) or in part (partial).

There is no sweep here that settles everybody at once. Each violating unit in turn suppresses what is cheapest for
itself, given what all others show, until nobody could do better. Then every suppressed cell is needed by its own
record: showing it again would be cheaper, so it cannot be safe.
"""

from __future__ import annotations

from functools import cache, reduce
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
FEW_UNITS = 3_000
"""So few are compared with each other at once, without tables."""
SLOTS = 1 << 25
"""Most slots of all tables, of 16 bytes, unless one table needs more."""


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
    shown, taking_turns = problem.units.known, start.copy()
    turns = turns_of(problem, shown, order)
    # Missing values of others take nothing from anybody, unless they count in part or by their weights.
    drawn_in = problem.rule.name != "wildcard" or any(need.limits is not None for need in problem.needs)
    # Those who lack most first: their missing values help others, who may then need none.
    numbers = np.arange(len(shown))
    turn_order = np.lexsort((Draws(order).uniform(numbers) if order else numbers, coverage))
    circling, seen = False, set()
    for number in count():
        some = turn_order[taking_turns[turn_order]]
        changed = _one_round(problem, turns, some, circling, halving(progress, number))
        new = drawn_in and unsafe_units(problem, shown) & problem.units.free & ~taking_turns
        taking_turns |= new
        if not changed and not np.any(new):
            return shown, not circling
        state = blake2b(shown.tobytes(), digest_size=16).digest(), int(taking_turns.sum())
        circling |= number + 1 >= MOST_TURNS or state in seen
        seen.add(state)
    raise AssertionError


def _whole_households(problem: Problem, shared: HouseholdVariables, shown: Ints, progress: Progress) -> Ints:
    """Suppress household variables for all members, repair what that breaks, show again what no member needs."""
    units = problem.units
    for number in count():
        shown, share, changed = shared.spread(units.known, shown), halving(progress, number), 0
        if number < MOST_TURNS:
            # Each member responds to what the households suppress, with keys of its own.
            some = np.flatnonzero((units.known & ~shown & ~shared.bits != 0) & units.free)
            changed = _one_round(problem, turns_of(problem, shown, given=shared.bits), some, False, share)
        # A member for whom no key of its own was enough has another turn, with all keys.
        bad = np.flatnonzero(unsafe_units(problem, shown) & units.free)
        changed += _one_round(problem, turns_of(problem, shown), bad, True, share)
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


def turns_of(problem: Problem, shown: Ints, order: int = 0, given: int = 0) -> Turns:
    """What turns go by, without tables yet; `shown` changes with them. Missing keys of `given` stay as they are.

    Sets of keys that cost the same come in the order of how many values they have: missing there, they help the most
    others.
    """
    from tacita.protect.suppress.wildcard_loops import Turns

    units, costs, size = problem.units, problem.costs, len(shown)
    cost, gain, masks = np.zeros(1), np.zeros(1), units.fields[:1] * np.uint64(0)
    for column in range(units.codes.shape[1]):
        cost = np.concatenate([cost, cost + costs[column]])
        gain = np.concatenate([gain, gain + np.log(len(np.unique(units.codes[:, column])))])
        masks = np.concatenate([masks, masks | units.fields[column]])
    sets = np.arange(len(cost))
    if order > 1:
        gain = gain * (0.5 + Draws(order).uniform(sets, 1))
    ordered = np.lexsort((sets, -gain, cost))
    known = units.known & (shown | ~given)
    showing, none = np.bincount(shown, minlength=len(cost)), np.zeros(len(cost), dtype=np.int64)
    occurring = np.flatnonzero(showing)
    slots = max(min(SLOTS, 1 << (128 * size).bit_length()), 1 << (2 * (size + 2 * len(cost))).bit_length())
    return Turns(
        columns=np.ascontiguousarray(suppressed(units.codes, known).T),
        known=known,
        shown=shown,
        asked=np.ones(size, dtype=bool),
        reach=np.full(size, np.inf),
        needed=np.array([need.members for need in problem.needs]),
        sets=ordered[ordered & (problem.fixed | given) == 0],
        cost=cost,
        records=units.records,
        words=units.words,
        masks=masks,
        patterns=np.pad(occurring, (0, len(cost) - len(occurring))),
        showing=showing,
        tables=none,
        built=none > 0,
        last=none.copy(),
        table=np.zeros((slots, 2), dtype=np.uint64),
        numbers=np.array([0, 0, len(occurring), 0, 0]),
    )


def _one_round(problem: Problem, turns: Turns, taking_turns: Ints, only_more: bool, progress: Progress) -> int:
    """Every unit of `taking_turns` that is asked has its turn; how many changed what they show.

    With `only_more` a safe unit stays as it is and an unsafe one suppresses more.
    """
    from tacita.protect.suppress import wildcard_loops

    if len(problem.units.person) or any(need.limits is not None for need in problem.needs):
        return _one_by_one(problem, turns, taking_turns, only_more, progress)
    changed, size = 0, len(turns.shown)
    k, step = np.array([need.k for need in problem.needs]), max(1, min(MOST_AT_ONCE, COMPARISONS // size))
    apart, counts = np.empty(size, dtype=np.uint16), np.empty((len(k), len(turns.cost)))
    turns.numbers[wildcard_loops.CHANGES] = 0
    # So many lookups take as long as comparing a unit with all others.
    most = 0 if size < FEW_UNITS else len(turns.columns) * (8 * size + len(turns.cost)) // 64
    for first in range(0, len(taking_turns), step):
        progress(first / len(taking_turns), WORK)
        some = taking_turns[first : first + step]
        changed += wildcard_loops.take_turns(turns, some, k, _factor(problem), only_more, most, apart, counts)
    return changed


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

        self.problem, self.turns, self.unit = problem, turns, unit
        self.apart = np.empty(len(turns.shown), dtype=np.uint16)
        keys_apart(turns.columns, unit, self.apart)
        self._by_missing = cache(self._counted_by_missing)

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

        units, turns, members = self.problem.units, self.turns, need.members
        limited = need.limits is not None and len(units.weights) > 0
        f = self._by_missing(members, False)[sets & members]
        weight = self._by_missing(members, True)[sets & members] if limited else f.copy()
        if len(units.person):
            # There are no more persons than units.
            some = np.flatnonzero(f >= need.k)
            found, sums, enough = np.zeros(len(some)), np.zeros(len(some)), np.inf if limited else float(need.k)
            whose = units.person, units.records, units.weights
            persons_by_missing(
                turns.shown, self.apart, self.unit, whose, members, sets[some], self._factor(members),
                enough, found, sums,
            )  # fmt: skip
            f[some], weight[some] = found, sums
        return f, weight

    def _counted_by_missing(self, members: int, weights: bool) -> Floats:
        """By set of missing keys the units or records, or their weights, that count for the unit."""
        from tacita.protect.suppress.wildcard_loops import counts_by_missing

        units, counts = self.problem.units, np.empty(len(self.turns.cost))
        given = units.weights if weights else np.where(len(units.person) > 0, 1.0, units.records)
        counts_by_missing(self.turns.shown, self.apart, self.unit, given, members, self._factor(members), counts)
        return counts

    def _factor(self, members: int) -> float:
        """By how much others that miss some keys count if the unit misses none of them."""
        return _factor(self.problem) if self.turns.known[self.unit] & members == members else 1.0
