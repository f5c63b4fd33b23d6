"""Turns of the units, under rules by which a blank helps others: each blanks what is cheapest for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, unheard
from tacita.protect.suppress.units import NO_WEIGHTS
from tacita.scenario import MissingRule

# Numba loads when the first file is suppressed, not with the package.
if TYPE_CHECKING:
    from tacita.protect.suppress.lookup_loops import Tables

MOST_AT_ONCE = 2_000
"""So many units have their turn before progress is told."""
LOOKS = 30_000_000
"""Fewer where they could look at more than so many others."""
FIRST_SETS = 12
"""So many sets of blanks are looked at first, then four times as many."""


def one_round(
    problem: Problem,
    shown: Ints,
    turns: Ints,
    blanks: tuple[Ints, Floats],
    only_more: bool,
    *,
    given: int = 0,
    pending: tuple[Bools, Floats] | None = None,
    report: Report = unheard,
) -> int:
    """Every unit at play has its turn; `shown` is changed, and how many changed is returned.

    Blanks of the keys in `given` stay as they are. `pending` is who has a turn at all, as others changed something that
    concerns it, and the cost of the dearest blanks that mattered to it before; everybody unless given.
    """
    from tacita.protect.suppress import lookup_loops as loops

    units, needs, risk = problem.units, problem.needs, problem.risk
    known = units.known & (shown | ~given)
    limited = risk is not None and any(need.limits is not None for need in needs)
    weights = units.weights if limited else NO_WEIGHTS
    take_turns = _turns_with_limits if limited else _turns
    if given:
        blanks = blanks[0][blanks[0] & given == 0], blanks[1]
    asked, reach = pending or all_asked(len(shown))
    done, changed, slots = 0, 0, loops.fewest_slots(units)
    while done < len(turns):
        told = part(report, done / len(turns), 1.0)
        tables = loops.tables_of(units, shown, known, weights, asked, reach, slots)
        taken, more = take_turns(problem, tables, turns[done:], blanks, only_more, told)
        done, changed = done + taken, changed + more
        # Tables that are full are emptied, or larger ones taken.
        slots = min(2 * slots, loops.SLOTS)
    return changed


def all_asked(size: int) -> tuple[Bools, Floats]:
    """Everybody has a turn."""
    return np.ones(size, dtype=bool), np.full(size, np.inf)


def _turns(
    problem: Problem, tables: Tables, turns: Ints, blanks: tuple[Ints, Floats], only_more: bool, report: Report
) -> tuple[int, int]:
    """How many units had their turn before the tables were full, and how many changed."""
    from tacita.protect.suppress import turn_loops as loops

    needed = np.array([need.members for need in problem.needs], dtype=np.int64)
    k = np.array([need.k for need in problem.needs], dtype=np.int64)
    changed, step = 0, max(1, min(MOST_AT_ONCE, LOOKS // len(tables.shown)))
    for first in range(0, len(turns), step):
        report(first / len(turns))
        some = turns[first : first + step]
        done, more = loops.respond(tables, some, needed, k, *blanks, *kernel_rule(problem.rule), only_more)
        changed += more
        if done < len(some):
            return first + done, changed
    return len(turns), changed


def _turns_with_limits(
    problem: Problem, tables: Tables, turns: Ints, blanks: tuple[Ints, Floats], only_more: bool, report: Report
) -> tuple[int, int]:
    """The same with limits of risks, which are worked out unit by unit."""
    from tacita.protect.suppress import lookup_loops as loops
    from tacita.protect.suppress import turn_loops

    needed, (kind, _) = np.array([need.members for need in problem.needs]), kernel_rule(problem.rule)
    changed = 0
    for number, unit in enumerate(map(int, turns)):
        report(number / len(turns))
        now = int(tables.known[unit] & ~tables.shown[unit])
        if not tables.asked[unit]:
            continue
        chosen, reach = _choice(problem, tables, unit, now, blanks, only_more)
        if chosen == loops.FULL:
            return number, changed
        changed += turn_loops.settle(tables, unit, chosen, reach, needed, blanks[1], kind)
    return len(turns), changed


def _choice(
    problem: Problem, tables: Tables, unit: int, now: int, blanks: tuple[Ints, Floats], only_more: bool
) -> tuple[int, float]:
    """What a unit blanks that is cheapest for itself, given what the others show; FULL if the tables are.

    And the cost of the dearest blanks that mattered, infinite where nothing was enough.
    """
    from tacita.protect.suppress import lookup_loops as loops

    in_order, cost = blanks
    failed, safe = _safe_with(problem, tables, unit, np.array([now]))
    safe_now = bool(safe[0])
    sets = in_order[in_order & ~tables.known[unit] == 0]
    sets = sets[sets & now == now] if only_more else sets
    if safe_now:
        sets = sets[: 0 if only_more else int(np.searchsorted(cost[sets], cost[now]))]
    first, size = 0, FIRST_SETS
    while first < len(sets) and failed == 0:
        some = sets[first : first + size]
        failed, safe = _safe_with(problem, tables, unit, some)
        if failed == 0 and safe.any():
            chosen = int(some[np.argmax(safe)])
            return chosen, float(cost[chosen])
        first, size = first + size, 4 * size
    if failed == loops.FULL:
        return int(failed), np.inf
    if failed == loops.FAR:
        return _choice_of_all(problem, tables, unit, now, blanks, only_more), np.inf
    return now, float(cost[now]) if safe_now else np.inf


def _safe_with(problem: Problem, tables: Tables, unit: int, sets: Ints) -> tuple[float, Bools]:
    """By set of blanks whether a unit is safe with it; first 0, or FAR or FULL."""
    from tacita.protect.suppress import turn_loops

    safe = np.ones(len(sets), dtype=bool)
    for need in problem.needs:
        failed, f, weight = turn_loops.counts_of(tables, unit, sets, need.members, *kernel_rule(problem.rule))
        if failed < 0:
            return failed, safe
        safe &= _meets(problem, need, unit, f, weight)
    return 0.0, safe


def _meets(problem: Problem, need: Requirement, unit: int, f: Floats, weight: Floats) -> Bools:
    """Where a unit counts enough, and its risk is within its limit."""
    safe = f >= need.k
    if need.limits is not None and problem.risk is not None:
        safe[safe] = problem.risk(f[safe], weight[safe]) <= need.limits[unit]
    return safe


def _choice_of_all(
    problem: Problem, tables: Tables, unit: int, now: int, blanks: tuple[Ints, Floats], only_more: bool
) -> int:
    """The same where the tables would be too many: all units are looked at once, for all sets of blanks."""
    from tacita.protect.suppress import response_loops as loops

    rows, known, records = (tables.codes, tables.shown), tables.known[unit], tables.records
    weights = tables.weights if len(tables.weights) else records
    counted = [loops.tallies(*rows, numbers, unit, known) for numbers in (records, weights)]
    safe = np.ones(len(blanks[1]), dtype=bool)
    for need in problem.needs:
        f, weight = (
            loops.counts_by_blanks(*rows, records, each, unit, known, need.members, *sums, *kernel_rule(problem.rule))
            for each, sums in zip((records, weights), counted, strict=True)
        )
        safe &= _meets(problem, need, unit, f, weight)
    return loops.cheapest(safe, *blanks, known, now, only_more)


def kernel_rule(rule: MissingRule) -> tuple[int, float]:
    """The rule's number in the loops, and its factor."""
    from tacita.protect.suppress import response_loops as loops

    if isinstance(rule.factor, str):
        return (loops.CATEGORIES if rule.factor == "categories" else loops.EXPECTED), 0.0
    if rule.name == "wildcard":
        return loops.WILDCARD, 1.0
    kinds = {"sdcmicro": loops.SDCMICRO, "partial": loops.PARTIAL, "conservative": loops.CONSERVATIVE}
    return kinds[rule.name], float(rule.factor or 0.0)
