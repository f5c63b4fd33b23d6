"""Counting what would be released, by the same code as every measure: who is unsafe, and which cells nobody needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.matching import Keys, equal_pairs
from tacita.keys.missing_rules import matching_counts
from tacita.keys.source import WEIGHT_BITS, distinct_keys, group_sums, shown_fully
from tacita.keys.units import counted_units, entries
from tacita.progress import Progress, no_progress
from tacita.protect.suppress.problem import WORK, Problem, Units, columns_of, suppressed
from tacita.risk.identity.household_risk import at_least_one
from tacita.scenario import MissingRule

CLOSE = 1e-9
"""So near to a limit a cell counts as safe to show, until a recount decides."""
MOST_RECOUNTS = 150
"""So often the file is counted again to see which cells can be shown again."""


def frequencies(codes: Codes, units: Units, members: int, rule: MissingRule) -> tuple[Floats, Floats]:
    """By unit, if units show `codes`: what counts for it on some keys, and the weights; no weights: the first twice."""
    row, keys, count = _counting(codes[:, columns_of(members)], units, rule)
    counted = count(keys)[row]
    return counted[:, 0], counted[:, -1]


def _counting(codes: Codes, units: Units, rule: MissingRule) -> tuple[Ints, Codes, Callable[[Codes], Floats]]:
    """By unit its key, the distinct keys, and the function that says what counts for any key."""
    row, keys = distinct_keys(list(codes.T), [int(column.max(initial=0)) for column in codes.T])
    records = np.bincount(row, weights=units.records, minlength=len(keys)).astype(np.int64)
    weights = units.weights if len(units.weights) else None
    if len(units.person):
        given = entries(row, units.person, weights, units.records)
        return row, keys, lambda targets: counted_units(targets, keys, records, given, rule)
    totals = records[:, None]
    if weights is not None:
        totals = np.column_stack([records, group_sums(weights, row, len(keys), WEIGHT_BITS)])
    return row, keys, lambda targets: matching_counts(targets, Keys(keys, totals), rule, records)


def unsafe_units(problem: Problem, shown: Ints, progress: Progress = no_progress) -> Bools:
    """Which units do not meet every requirement with what all units show; household limits apart."""
    units, safe = problem.units, np.ones(len(shown), dtype=bool)
    codes = suppressed(units.codes, shown)
    for number, need in enumerate(problem.needs):
        progress(number / len(problem.needs), WORK)
        safe &= need.met(*frequencies(codes, units, need.members, problem.rule), slice(None), problem.risk)
    return ~safe


def record_risks(problem: Problem, shown: Ints) -> Floats:
    """By unit: the risk of re-identification on the keys of the household limit."""
    units, goal, risk = problem.units, problem.goal, problem.risk
    assert goal is not None and risk is not None
    codes = suppressed(units.codes, shown)
    return goal.attack * risk(*frequencies(codes, units, goal.members, problem.rule))


def above_household_limit(problem: Problem, shown: Ints) -> Bools:
    """Which units are in a household above its limit."""
    if problem.goal is None:
        return np.zeros(len(shown), dtype=bool)
    return problem.goal.above(record_risks(problem, shown))


class Rows(NamedTuple):
    """Units and what they would show, each row in a trial; trials are numbered from 0 and come in their order."""

    unit: Ints
    shows: Ints
    trial: Ints

    def some(self, which: Bools | Ints) -> Rows:
        """Some of the rows."""
        return Rows(self.unit[which], self.shows[which], self.trial[which])

    def trials(self, numbers: Ints) -> Rows:
        """The rows of some trials, which are numbered anew."""
        rows = self.some(np.isin(self.trial, numbers))
        return rows._replace(trial=np.searchsorted(numbers, rows.trial))

    @property
    def size(self) -> int:
        """How many trials there are."""
        return int(self.trial[-1]) + 1 if len(self.trial) else 0


def counts_in_trials(
    units: Units, shown: Ints, changed: Rows, watched: Rows, members: int, rule: MissingRule
) -> tuple[Floats, Floats]:
    """By watched row: the records, and the sum of weights, that count for it if its trial's changed rows are shown so.

    One record of each changed unit changes. Everybody is counted as now, less what the changed ones give now and more
    what they would give: all trials at once, by the same code as every measure. Of persons only the own one of a
    watched row is counted anew: who relies on more is counted again before it is released.
    """
    columns = columns_of(members)
    now = suppressed(units.codes, shown)[:, columns]
    targets = suppressed(units.codes[watched.unit], watched.shows)[:, columns]
    counted = _counting(now, units, rule)[2](targets)
    if len(units.person):
        more = 1.0 - _own_part(units, watched.unit, targets, now, rule)
        mean = units.weights[watched.unit] / units.records[watched.unit] if len(units.weights) else 1.0
        return counted[:, 0] + more, counted[:, -1] + more * mean
    pair, other = equal_pairs(watched.trial, changed.trial, np.arange(len(changed.trial)))
    unit = changed.unit[other]
    after = suppressed(units.codes[unit], changed.shows[other])[:, columns]
    more = contribution(targets[pair], after, rule) - contribution(targets[pair], now[unit], rule)
    f = counted[:, 0] + np.bincount(pair, weights=more, minlength=len(targets))
    if not len(units.weights):
        return f, f
    weight = more * units.weights[unit] / units.records[unit]
    return f, counted[:, -1] + np.bincount(pair, weights=weight, minlength=len(targets))


def _own_part(units: Units, watched: Ints, targets: Codes, now: Codes, rule: MissingRule) -> Floats:
    """By watched unit: how much its own person counts for it by what the person's units show now."""
    pair, other = equal_pairs(units.person[watched], units.person, np.arange(len(units.person)))
    part = np.zeros(len(watched))
    np.maximum.at(part, pair, contribution(targets[pair], now[other], rule))
    return part


def contribution(targets: Codes, others: Codes, rule: MissingRule) -> Floats:
    """By row: how much another record counts for a target."""
    missing, equal = others == 0, targets == others
    if rule.name != "own_category":
        equal |= targets == 0
    if rule.name in ("wildcard", "partial"):
        equal |= missing
    part: Floats = equal.all(axis=1).astype(np.float64)
    if rule.name == "partial":
        part[shown_fully(targets) & missing.any(axis=1)] *= float(rule.factor or 0.0)
    return part


def cells_to_restore(problem: Problem, shown: Ints) -> Rows:
    """Trials that show a suppressed cell again, the most valuable first; then all cells of a unit at once.

    A household variable is shown to the whole household again.
    """
    units, shared = problem.units, problem.shared
    gone = np.where(units.free, units.known & ~shown & ~problem.fixed, 0)
    parts: list[Rows] = []
    count = 0
    for column in problem.by_value:
        unit = np.flatnonzero(gone >> column & 1)
        trial = np.arange(len(unit))
        if shared is not None and column in shared.variables and len(unit):
            unit = unit[np.argsort(shared.household[unit], kind="stable")]
            trial = np.cumsum(np.r_[0, np.diff(shared.household[unit]) != 0])
        parts.append(Rows(unit, shown[unit] | 1 << column, trial + count))
        count += parts[-1].size - count if len(unit) else 0
    own = gone if shared is None else gone & ~shared.bits
    unit = np.flatnonzero(own & (own - 1))
    parts.append(Rows(unit, shown[unit] | own[unit], np.arange(len(unit)) + count))
    return Rows(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def safe_in_trials(problem: Problem, shown: Ints, rows: Rows, left: Bools | None = None) -> Bools:
    """By trial: whether those who show more meet all requirements, and their household its limit.

    A trial that is at a limit but for rounding is safe. Units that are `left` are in a household that is above its
    limit in any case.
    """
    safe = np.ones(rows.size, dtype=bool)
    bits = np.zeros(rows.size, dtype=np.int64)
    np.bitwise_or.at(bits, rows.trial, rows.shows ^ shown[rows.unit])
    for need in problem.needs:
        asked = rows.some((safe & (bits & need.members != 0))[rows.trial])
        if len(asked.unit):
            f, weight = counts_in_trials(problem.units, shown, asked, asked, need.members, problem.rule)
            safe[asked.trial[~need.met(f, weight, asked.unit, problem.risk, CLOSE)]] = False
    if problem.goal is not None and safe.any():
        _within_household_limit(problem, shown, rows, safe, left)
    return safe


def _within_household_limit(problem: Problem, shown: Ints, rows: Rows, safe: Bools, left: Bools | None) -> None:
    """Trials that put a household above its limit are no longer `safe`; all of its members count."""
    goal, risk = problem.goal, problem.risk
    assert goal is not None and risk is not None
    trial, first = np.unique(rows.trial, return_index=True)
    asked = safe[trial] if left is None else safe[trial] & ~left[rows.unit[first]]
    trial, household = trial[asked], goal.household[rows.unit[first[asked]]]
    number, unit = equal_pairs(household, goal.household, np.argsort(goal.household, kind="stable"))
    changed = rows.trials(trial)
    shows, size = shown[unit], len(shown)
    # Members come in the order of their units, so each changed row is found among those of its trial.
    shows[np.searchsorted(number * size + unit, changed.trial * size + changed.unit)] = changed.shows
    f, weight = counts_in_trials(problem.units, shown, changed, Rows(unit, shows, number), goal.members, problem.rule)
    members = goal._replace(household=number, person=None if goal.person is None else goal.person[unit])
    alone = goal.attack[unit] * risk(f, weight)
    together = at_least_one(alone * members.counts(alone), number, len(trial))
    safe[trial[together > goal.limit * (1 + CLOSE)]] = False


def needed_by_itself(problem: Problem, shown: Ints, column: int) -> Bools:
    """Which units would be unsafe if one of their records alone showed one key again."""
    unit = np.flatnonzero((problem.units.known & ~shown & 1 << column != 0) & problem.units.free)
    out = np.zeros(len(shown), dtype=bool)
    out[unit] = ~safe_in_trials(problem, shown, Rows(unit, shown[unit] | 1 << column, np.arange(len(unit))))
    return out


def restored(problem: Problem, shown: Ints, progress: Progress = no_progress) -> tuple[Ints, Ints]:
    """What is shown when cells are shown again that nobody needs, and by unit the cells that only others need, as bits.

    Where many cells could be shown again not all are tried: those that are not are counted among the second.
    """
    left, free = above_household_limit(problem, shown), problem.units.free
    recounts = 0
    while True:
        rows = cells_to_restore(problem, shown)
        rows = rows.trials(np.flatnonzero(safe_in_trials(problem, shown, rows, left)))
        waiting, before, for_others = [np.arange(rows.size)], shown, np.zeros_like(shown)
        while waiting:
            numbers = waiting.pop()
            some = rows.some(np.isin(rows.trial, numbers))
            if recounts < MOST_RECOUNTS and len(numbers):
                progress(recounts / MOST_RECOUNTS, WORK)
                recounts += 1
                trial = shown.copy()
                np.bitwise_or.at(trial, some.unit, some.shows)
                harmed = unsafe_units(problem, trial) & free | above_household_limit(problem, trial) & ~left
                if not harmed.any():
                    shown = trial
                    continue
                if len(numbers) > 1:
                    waiting += [numbers[len(numbers) // 2 :], numbers[: len(numbers) // 2]]
                    continue
                if harmed[some.unit].any():
                    continue
            np.bitwise_or.at(for_others, some.unit, some.shows & ~before[some.unit])
        if shown is before or recounts >= MOST_RECOUNTS:
            return shown, for_others & ~shown
