"""Whether every blank is needed by its own record: shown again, alone, that record, or its household, violates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.trials import Rows, counted_in_trials
from tacita.protect.suppress.units import blanked
from tacita.protect.suppress.verify import frequencies, unsafe
from tacita.risk.identity.household_risk import at_least_one

CLOSE = 1e-9
"""So near to a limit a trial is counted again by itself, so that rounding does not decide."""


class Blanks(NamedTuple):
    """Cells that could be shown again: those with the same number together, and nothing else."""

    unit: Ints
    bits: Ints
    number: Ints

    def some(self, numbers: Ints) -> Blanks:
        """Those with some numbers, numbered anew."""
        which = np.isin(self.number, numbers)
        place = np.searchsorted(numbers, self.number[which])
        return Blanks(self.unit[which], self.bits[which], place)

    def again(self, shown: Ints) -> Ints:
        """What is shown with all of them shown again."""
        out = shown.copy()
        np.bitwise_or.at(out, self.unit, self.bits)
        return out

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(self.number[-1]) + 1 if len(self.number) else 0


def blanks_of(problem: Problem, shown: Ints) -> Blanks:
    """Every blank by itself, the most valuable first, household variables by household; then all blanks of a unit."""
    units, households = problem.units, problem.households
    gone = np.where(units.free, units.known & ~shown & ~problem.fixed, 0)
    found: list[tuple[Ints, Ints]] = []
    count = 0
    numbers = []
    for place in problem.by_value:
        unit = np.flatnonzero(gone >> place & 1)
        number = np.arange(len(unit))
        if households is not None and place in households.variables and len(unit):
            unit = unit[np.argsort(households.household[unit], kind="stable")]
            number = np.cumsum(np.r_[0, np.diff(households.household[unit]) != 0])
        found.append((unit, np.full(len(unit), 1 << place)))
        numbers.append(number + count)
        count += int(number[-1]) + 1 if len(number) else 0
    own = gone & ~problem.shared
    unit = np.flatnonzero(own & (own - 1))
    found.append((unit, own[unit]))
    numbers.append(np.arange(len(unit)) + count)
    return Blanks(
        np.concatenate([each for each, _ in found]),
        np.concatenate([each for _, each in found]),
        np.concatenate(numbers),
    )


def unneeded(problem: Problem, shown: Ints, left: Bools | None = None) -> Blanks:
    """Blanks whose own record, and its household, would be safe if they were shown again, one record at a time.

    Everybody who may be touched is safe now, but for the units that are `left`.
    """
    blanks = blanks_of(problem, shown)
    return blanks.some(np.flatnonzero(shown_safely(problem, shown, blanks, left)))


def shown_safely(problem: Problem, shown: Ints, blanks: Blanks, left: Bools | None = None) -> Bools:
    """By number: whether those who show the blanks again would be safe, each number by itself."""
    if not blanks.size:
        return np.zeros(0, dtype=bool)
    rows = Rows(blanks.unit, shown[blanks.unit] | blanks.bits, blanks.number, np.ones(len(blanks.unit), dtype=np.int64))
    return safe_in_trials(problem, shown, rows, rows, left)


def needed_by_itself(problem: Problem, shown: Ints, place: int) -> Bools:
    """Which units would be unsafe if they alone showed one key again."""
    unit = np.flatnonzero((problem.units.known & ~shown & 1 << place != 0) & problem.units.free)
    out = np.zeros(len(shown), dtype=bool)
    blanks = Blanks(unit, np.full(len(unit), 1 << place), np.arange(len(unit)))
    out[unit] = ~shown_safely(problem, shown, blanks)
    return out


def safe_in_trials(
    problem: Problem, shown: Ints, changed: Rows, watched: Rows, left: Bools | None = None, *, anew: bool = False
) -> Bools:
    """By trial: whether the watched rows meet all requirements, and the household of the changed rows its limit.

    Requirements on keys that a trial does not change hold as they did, unless they are looked at `anew`.
    """
    trials = int(changed.trial[-1]) + 1
    safe, close = np.ones(trials, dtype=bool), np.zeros(trials, dtype=bool)
    bits = np.zeros(trials, dtype=np.int64)
    np.bitwise_or.at(bits, changed.trial, changed.shows ^ shown[changed.unit])
    for need in problem.needs:
        asked = safe & (anew | (bits & need.members != 0))
        theirs, rows = changed.some(asked[changed.trial]), watched.some(asked[watched.trial])
        if len(rows.unit):
            f, weight = counted_in_trials(problem.units, shown, theirs, rows, need.members, problem.rule)
            met, near = _meets(problem, need, rows.unit, f, weight)
            safe[rows.trial[~met & ~near]] = False
            close[rows.trial[near]] = True
    if problem.goal is not None:
        _within_goal(problem, shown, changed, safe, close, left)
    for trial in np.flatnonzero(safe & close):
        safe[trial] = _exactly(problem, shown, changed.some(changed.trial == trial), watched, int(trial), left)
    return safe


def _meets(problem: Problem, need: Requirement, unit: Ints, f: Floats, weight: Floats) -> tuple[Bools, Bools]:
    """Which rows meet a requirement, and which are so near to it that rounding could decide."""
    met, near = f >= need.k, (f != need.k) & (np.abs(f - need.k) <= CLOSE * need.k)
    if need.limits is not None and problem.risk is not None:
        risk, limits = problem.risk(np.maximum(f, CLOSE), np.maximum(weight, CLOSE)), need.limits[unit]
        met &= risk <= limits
        near |= np.isfinite(limits) & (np.abs(risk - limits) <= CLOSE * limits)
    return met, near


def _within_goal(problem: Problem, shown: Ints, changed: Rows, safe: Bools, close: Bools, left: Bools | None) -> None:
    """Household risk in every trial; all members of the household of the changed rows are looked at."""
    goal, risk = problem.goal, problem.risk
    assert goal is not None and risk is not None
    trial, first = np.unique(changed.trial, return_index=True)
    household = goal.household[changed.unit[first]]
    asked = safe[trial] if left is None else safe[trial] & ~left[changed.unit[first]]
    trial, household = trial[asked], household[asked]
    if not len(trial):
        return
    order = np.argsort(goal.household, kind="stable")
    start = np.searchsorted(goal.household[order], household)
    size = np.searchsorted(goal.household[order], household, side="right") - start
    row = np.repeat(np.arange(len(trial)), size)
    unit = order[np.repeat(start - (np.cumsum(size) - size), size) + np.arange(len(row))]
    theirs = changed.some(np.isin(changed.trial, trial))
    shows = shown[unit]
    # The rows of a trial are few: those that are changed in it are looked up by trial and unit.
    place = trial[row] * len(shown) + unit
    order = np.argsort(theirs.trial * len(shown) + theirs.unit, kind="stable")
    ordered = (theirs.trial * len(shown) + theirs.unit)[order]
    at = np.minimum(np.searchsorted(ordered, place), len(ordered) - 1)
    hit = ordered[at] == place
    shows[hit] = theirs.shows[order[at[hit]]]
    members = Rows(unit, shows, trial[row], np.ones(len(unit), dtype=np.int64))
    f, weight = counted_in_trials(problem.units, shown, theirs, members, goal.members, problem.rule)
    all_risk = at_least_one(goal.attack[unit] * risk(f, weight), row, len(trial))
    near = np.abs(all_risk - goal.limit) <= CLOSE * goal.limit
    safe[trial[(all_risk > goal.limit) & ~near]] = False
    close[trial[near]] = True


def _exactly(problem: Problem, shown: Ints, changed: Rows, watched: Rows, trial: int, left: Bools | None) -> bool:
    """One trial, counted as if it were the file."""
    units = problem.units
    rest = units.records.copy()
    rest[changed.unit] -= changed.records
    row = np.r_[np.flatnonzero(rest), changed.unit]
    codes = blanked(units.codes[row], np.r_[shown[rest > 0], changed.shows])
    records = np.r_[rest[rest > 0], changed.records]
    weights = units.weights[row] * records / units.records[row] if len(units.weights) else units.weights
    needs = [each if each.limits is None else each._replace(limits=each.limits[row]) for each in problem.needs]
    new = np.arange(len(row)) >= len(row) - len(changed.unit)
    seen = new & np.isin(row, watched.unit[watched.trial == trial])
    if (unsafe(codes, records, weights, needs, problem.rule, problem.risk) & seen).any():
        return False
    goal, risk = problem.goal, problem.risk
    if goal is None or risk is None or (left is not None and left[changed.unit[0]]):
        return True
    f, weight = frequencies(codes, records, weights, goal.members, problem.rule)
    here = goal.household[row] == goal.household[changed.unit[0]]
    one = np.zeros(int(here.sum()), dtype=np.int64)
    return bool(at_least_one((goal.attack[row] * risk(f, weight))[here], one, 1)[0] <= goal.limit)
