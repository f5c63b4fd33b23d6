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
from tacita.protect.suppress.problem import WORK, HouseholdVariables, Problem
from tacita.protect.suppress.recount import cells_to_restore, frequencies, safe_in_trials, unsafe_units
from tacita.random import Draws

# Numba loads when the first file is suppressed, not with the package.
if TYPE_CHECKING:
    from tacita.protect.suppress.wildcard_turns import State

MOST_KEYS = 14
"""In its turn a unit has 2^q sets to choose from."""
MOST_TURNS = 40
"""After so many rounds, or where they go in circles, cells are only suppressed, so that it ends."""
MOST_ORDERS = 4
MORE_ORDERS = 16
"""So many orders are tried if the turns do not end by themselves in those."""
COMPARISONS = 30_000_000
"""About so many pairs of units are worth comparing for further orders, and before progress is reported."""
MOST_AT_ONCE = 2_000
"""So many units have their turn before progress is reported."""

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
    known = problem.units.known
    state, choices, taking_turns = _state_of(problem, known, known), _choices(problem, order), start.copy()
    shown = state.shown
    # Those who lack most first: their missing values help others, who may then need none.
    numbers = np.arange(len(shown))
    turn_order = np.lexsort((Draws(order).uniform(numbers) if order else numbers, coverage))
    circling, seen = False, set()
    for number in count():
        turns = turn_order[taking_turns[turn_order]]
        changed = _one_round(problem, state, turns, choices, circling, halving(progress, number))
        new = unsafe_units(problem, shown) & problem.units.free & ~taking_turns
        taking_turns |= new
        if not changed and not new.any():
            break
        now = blake2b(shown.tobytes(), digest_size=16).digest(), int(taking_turns.sum())
        circling |= number + 1 >= MOST_TURNS or now in seen
        seen.add(now)
    return shown.astype(np.int64), not circling


def _whole_households(problem: Problem, shared: HouseholdVariables, shown: Ints, progress: Progress) -> Ints:
    """Suppress household variables for all members, and repair what that breaks."""
    units, choices = problem.units, _choices(problem, 0)
    own = choices[0][choices[0] & shared.bits == 0], choices[1]
    for number in count():
        shown, share, changed = shared.spread(units.known, shown), halving(progress, number), 0
        if number < MOST_TURNS:
            # Each member responds to what the households suppress, with keys of its own.
            turns = np.flatnonzero((units.known & ~shown & ~shared.bits != 0) & units.free)
            state = _state_of(problem, shown, units.known & (shown | ~shared.bits))
            changed = _one_round(problem, state, turns, own, False, share)
            shown = state.shown.astype(np.int64)
        # A member for whom no key of its own was enough has another turn, with all keys.
        bad = np.flatnonzero(unsafe_units(problem, shown) & units.free)
        state = _state_of(problem, shown, units.known)
        changed += _one_round(problem, state, bad, choices, True, share)
        before, shown = shown, state.shown.astype(np.int64)
        if not changed:
            if number < MOST_TURNS and not len(bad):
                shown = _shown_to_households(problem, shared, shown)
            if np.array_equal(shown, before):
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


def _state_of(problem: Problem, shown: Ints, known: Ints) -> State:
    """What all units show, of the keys that they may show, before any turn."""
    from tacita.protect.suppress.wildcard_turns import State

    factor = 1.0 if problem.rule.name == "wildcard" else float(problem.rule.factor or 0.0)
    return State.of(problem.units, shown, known, factor)


def _one_round(
    problem: Problem, state: State, turns: Ints, choices: Choices, only_more: bool, progress: Progress
) -> int:
    """Every unit of `turns` that others changed something for has its turn; how many changed.

    Limits of risk are worked out unit by unit.
    """
    from tacita.protect.suppress.wildcard_turns import settle, take_turns

    needed = np.array([need.members for need in problem.needs], dtype=np.int64)
    k = np.array([need.k for need in problem.needs], dtype=np.int64)
    limited = problem.risk is not None and any(need.limits is not None for need in problem.needs)
    changed, step = 0, 1 if limited else max(1, min(MOST_AT_ONCE, COMPARISONS // len(state.shown)))
    for first in range(0, len(turns), step):
        progress(first / len(turns), WORK)
        if not limited:
            changed += take_turns(state, turns[first : first + step], needed, k, *choices, only_more)
        elif state.asked[turns[first]]:
            unit = int(turns[first])
            changed += settle(state, unit, *_choice(problem, state, unit, choices, only_more), needed, choices[1])
    return changed


def _choice(problem: Problem, state: State, unit: int, choices: Choices, only_more: bool) -> tuple[int, float]:
    """What is cheapest for a unit to suppress, given what the others show.

    And the cost of the dearest suppression that mattered, infinite where nothing was enough.
    """
    (sets, cost), now = choices, int(state.known[unit] & ~state.shown[unit])
    safe_now = bool(_safe_with(problem, state, unit, np.array([now]))[0])
    sets = sets[sets & ~state.known[unit] == 0]
    sets = sets[sets & now == now] if only_more else sets
    if safe_now:
        sets = sets[: 0 if only_more else int(np.searchsorted(cost[sets], cost[now]))]
    safe = _safe_with(problem, state, unit, sets)
    if safe.any():
        chosen = int(sets[np.argmax(safe)])
        return chosen, float(cost[chosen])
    return now, float(cost[now]) if safe_now else np.inf


def _safe_with(problem: Problem, state: State, unit: int, sets: Ints) -> Bools:
    """By set of missing keys whether a unit is safe with it."""
    from tacita.protect.suppress.wildcard_turns import counts_of

    safe = np.ones(len(sets), dtype=bool)
    for need in problem.needs:
        safe &= need.met(*counts_of(state, unit, sets, need.members), unit, problem.risk)
    return safe
