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
from tacita.protect.suppress.problem import NO_WEIGHTS, WORK, HouseholdVariables, Problem
from tacita.protect.suppress.recount import cells_to_restore, frequencies, safe_in_trials, unsafe_units
from tacita.random import Draws

# Numba loads when the first file is suppressed, not with the package.
if TYPE_CHECKING:
    from tacita.protect.suppress.wildcard_tables import Tables

MOST_KEYS = 14
"""There could be 3^q tables."""
MOST_TURNS = 40
"""After so many rounds, or where they go in circles, cells are only suppressed, so that it ends."""
MOST_ORDERS = 4
MORE_ORDERS = 16
"""So many orders are tried if the turns do not end by themselves in those."""
COMPARISONS = 30_000_000
"""About so many pairs of units are worth comparing for further orders, and before progress is reported."""
MOST_AT_ONCE = 2_000
"""So many units have their turn before progress is reported."""
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
    turns: Ints,
    choices: Choices,
    only_more: bool,
    pending: tuple[Bools, Floats],
    progress: Progress,
    given: int = 0,
) -> int:
    """Every unit of `turns` has its turn; `shown` is changed, and how many changed is returned.

    `pending` is who has a turn at all, as others changed something that concerns it, and the cost of the dearest
    suppression that mattered to it before. Missing keys of `given` stay as they are.
    """
    from tacita.protect.suppress import wildcard_tables

    units = problem.units
    known = units.known & (shown | ~given)
    limited = problem.risk is not None and any(need.limits is not None for need in problem.needs)
    weights = units.weights if limited else NO_WEIGHTS
    turns_of = _turns_with_limits if limited else _turns
    choices = choices[0][choices[0] & given == 0], choices[1]
    done, changed, slots = 0, 0, wildcard_tables.fewest_slots(units)
    while done < len(turns):
        tables = wildcard_tables.tables_of(units, shown, known, weights, *pending, slots)
        share = part(progress, done / len(turns), 1.0)
        taken, more = turns_of(problem, tables, turns[done:], choices, only_more, share)
        done, changed = done + taken, changed + more
        # Tables that are full are emptied, or larger ones taken.
        slots = min(2 * slots, wildcard_tables.SLOTS)
    return changed


def _factor(problem: Problem) -> float:
    """By how much a complete record counts others that match it through missing values."""
    return 1.0 if problem.rule.name == "wildcard" else float(problem.rule.factor or 0.0)


def _turns(
    problem: Problem, tables: Tables, turns: Ints, choices: Choices, only_more: bool, progress: Progress
) -> tuple[int, int]:
    """How many units had their turn before the tables were full, and how many changed."""
    from tacita.protect.suppress.wildcard_turns import take_turns

    needed = np.array([need.members for need in problem.needs], dtype=np.int64)
    k = np.array([need.k for need in problem.needs], dtype=np.int64)
    changed, step = 0, max(1, min(MOST_AT_ONCE, COMPARISONS // len(tables.shown)))
    for first in range(0, len(turns), step):
        progress(first / len(turns), WORK)
        some = turns[first : first + step]
        done, more = take_turns(tables, some, needed, k, *choices, _factor(problem), only_more)
        changed += more
        if done < len(some):
            return first + done, changed
    return len(turns), changed


def _turns_with_limits(
    problem: Problem, tables: Tables, turns: Ints, choices: Choices, only_more: bool, progress: Progress
) -> tuple[int, int]:
    """The same with limits of risks, which are worked out unit by unit."""
    from tacita.protect.suppress.wildcard_turns import settle

    needed = np.array([need.members for need in problem.needs])
    changed = 0
    for number, unit in enumerate(map(int, turns)):
        progress(number / len(turns), WORK)
        if not tables.asked[unit]:
            continue
        chosen = _choice(problem, tables, unit, choices, only_more)
        if chosen is None:
            return number, changed
        changed += settle(tables, unit, *chosen, needed, choices[1])
    return len(turns), changed


def _choice(problem: Problem, tables: Tables, unit: int, choices: Choices, only_more: bool) -> tuple[int, float] | None:
    """What is cheapest for a unit to suppress, given what the others show; None if the tables are full.

    And the cost of the dearest suppression that mattered, infinite where nothing was enough.
    """
    (sets, cost), now = choices, int(tables.known[unit] & ~tables.shown[unit])
    safe = _safe_with(problem, tables, unit, np.array([now]))
    safe_now = safe is not None and bool(safe[0])
    sets = sets[sets & ~tables.known[unit] == 0]
    sets = sets[sets & now == now] if only_more else sets
    if safe_now:
        sets = sets[: 0 if only_more else int(np.searchsorted(cost[sets], cost[now]))]
    first, size = 0, FIRST_SETS
    while first < len(sets) and safe is not None:
        some = sets[first : first + size]
        safe = _safe_with(problem, tables, unit, some)
        if safe is not None and safe.any():
            chosen = int(some[np.argmax(safe)])
            return chosen, float(cost[chosen])
        first, size = first + size, 4 * size
    return None if safe is None else (now, float(cost[now]) if safe_now else np.inf)


def _safe_with(problem: Problem, tables: Tables, unit: int, sets: Ints) -> Bools | None:
    """By set of missing keys whether a unit is safe with it; None if the tables are full."""
    from tacita.protect.suppress.wildcard_turns import counts_of

    safe = np.ones(len(sets), dtype=bool)
    for need in problem.needs:
        f, weight = counts_of(tables, unit, sets, need.members, _factor(problem))
        if (f < 0.0).any():
            return None
        safe &= need.met(f, weight, unit, problem.risk)
    return safe
