"""Suppression where a missing value is one more category: records must be alike in what they show and do not show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.problem import WORK, Problem, Requirement, Risk, Units, columns_of
from tacita.protect.suppress.requirements import enough, sets_to_try


def suppress_own_category(problem: Problem, progress: Progress = no_progress) -> Ints:
    """The keys that each unit shows, as bits, so that enough records are alike, missing values included.

    Violating records are gathered in groups with the same suppressed keys. Those that are left over join others that
    violated: a record that was safe is not drawn in to help, so it can be impossible.
    """
    units, needs, shared = problem.units, problem.needs, problem.shared
    shown = units.known
    for number in count():
        before = shown
        for index, need in enumerate(needs):
            share = part(halving(progress, number), index / len(needs), (index + 1) / len(needs))
            shown = _gathered(problem, shown, need, share)
        if shared is not None:
            shown = shared.spread(units.known, shown)
        if np.array_equal(before, shown):
            break
    return shown


def _gathered(problem: Problem, shown: Ints, need: Requirement, progress: Progress) -> Ints:
    """What is shown when violating units are gathered in groups that meet one requirement."""
    units, risk = problem.units, problem.risk
    inside = shown & need.members
    waiting = _violating(units, inside, need, risk) & units.free
    placed = np.zeros(len(shown), dtype=bool)
    rows = np.flatnonzero(waiting)
    if not len(rows):
        return shown
    k = need.k if need.limits is None else None
    for members in sets_to_try(problem, np.where(waiting, inside, 0), rows, need.members, k):
        progress(1 - waiting.sum() / len(rows), WORK)
        wanted = np.flatnonzero(waiting & (inside & members == members))
        if len(wanted):
            hit = wanted[_alike(units, inside, members, wanted, need, risk)]
            inside[hit] = members
            waiting[hit], placed[hit] = False, True
    for unit in np.flatnonzero(waiting):
        if waiting[unit]:
            progress(1 - waiting.sum() / len(rows), WORK)
            _draw_in(problem, inside, placed, waiting, int(unit), need)
    return shown & ~need.members | inside


def _violating(units: Units, inside: Ints, need: Requirement, risk: Risk | None) -> Bools:
    out = np.zeros(len(inside), dtype=bool)
    for members in map(int, np.unique(inside)):
        wanted = np.flatnonzero(inside == members)
        out[wanted] = ~_alike(units, inside, members, wanted, need, risk)
    return out


def _alike(units: Units, inside: Ints, members: int, wanted: Ints, need: Requirement, risk: Risk | None) -> Bools:
    """Which wanted units are in a large enough group, if they all show exactly `members`."""
    taken = inside == members
    taken[wanted] = True
    rows = np.flatnonzero(taken)
    group = units._replace(
        codes=units.codes[rows],
        words=units.words[rows],
        records=units.records[rows],
        weights=units.weights[rows] if len(units.weights) else units.weights,
        person=units.person[rows] if len(units.person) else units.person,
    )
    shown = np.full(len(rows), members, dtype=np.int64)
    return enough(group, shown, members, np.searchsorted(rows, wanted), need.rows(rows), risk)


def _draw_in(problem: Problem, inside: Ints, placed: Bools, waiting: Bools, unit: int, need: Requirement) -> None:
    """Suppress all of a unit that is left over and of the cheapest groups of violating ones, until it is safe."""
    units, least = problem.units, problem.fixed & need.members
    columns = columns_of(least)
    same = (units.codes[:, columns] == units.codes[unit, columns]).all(axis=1)
    together = np.flatnonzero(same & waiting)
    while not _alike(units, inside, least, together, need, problem.risk).all():
        group = _cheapest_group(units, inside, placed & same & (inside != least), problem.costs)
        if group is None:
            return
        together = np.union1d(together, group)
        placed[group] = False
        inside[group] = least
    inside[together] = least
    waiting[together] = False


def _cheapest_group(units: Units, inside: Ints, candidates: Bools, costs: Sequence[float]) -> Ints | None:
    """Of the groups in which every record violated: the one that loses least when all of it is suppressed."""
    best, least = None, np.inf
    for members in map(int, np.unique(inside[candidates])):
        columns = columns_of(members)
        rows = np.flatnonzero(inside == members)
        _, group = np.unique(units.codes[rows][:, columns], axis=0, return_inverse=True)
        for number in np.unique(group[candidates[rows]]):
            found = rows[group == number]
            loss = sum(costs[column] for column in columns) * int(units.records[found].sum())
            if candidates[found].all() and loss < least:
                best, least = found, loss
    return best
