"""Suppression where a missing value is one more category: records must be alike in what they show and do not show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.progress import Progress, halving, no_progress, part
from tacita.protect.suppress.problem import WORK, Problem, Units, columns_of
from tacita.protect.suppress.recount import unsafe_units
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
            shown = _gathered(problem._replace(needs=[need]), shown, share)
        if shared is not None:
            shown = shared.spread(units.known, shown)
        if np.array_equal(before, shown):
            break
    return shown


def _gathered(problem: Problem, shown: Ints, progress: Progress) -> Ints:
    """What is shown when violating units are gathered in groups that meet the only requirement."""
    every = problem.needs[0].members
    inside = shown & every
    waiting = unsafe_units(problem, shown) & problem.units.free
    placed = np.zeros(len(shown), dtype=bool)
    rows = np.flatnonzero(waiting)
    if not len(rows):
        return shown
    for members in sets_to_try(problem, np.where(waiting, inside, 0), rows):
        progress(1 - waiting.sum() / len(rows), WORK)
        wanted = np.flatnonzero(waiting & (inside & members == members))
        if len(wanted):
            hit = wanted[_alike(problem, inside, members, wanted)]
            inside[hit] = members
            waiting[hit], placed[hit] = False, True
    for unit in np.flatnonzero(waiting):
        if waiting[unit]:
            progress(1 - waiting.sum() / len(rows), WORK)
            _draw_in(problem, inside, placed, waiting, int(unit))
    return shown & ~every | inside


def _alike(problem: Problem, inside: Ints, members: int, wanted: Ints) -> Bools:
    """Which wanted units are in a large enough group, if they all show exactly `members`."""
    # One bit beyond those of the keys says who shows exactly these.
    exactly = members | 1 << problem.units.codes.shape[1]
    shown = np.where(inside == members, exactly, 0)
    shown[wanted] = exactly
    return enough(problem, shown, exactly, wanted, problem.needs[0])


def _draw_in(problem: Problem, inside: Ints, placed: Bools, waiting: Bools, unit: int) -> None:
    """Suppress all of a unit that is left over and of the cheapest groups of violating ones, until it is safe."""
    units, least = problem.units, problem.fixed & problem.needs[0].members
    columns = columns_of(least)
    same = (units.codes[:, columns] == units.codes[unit, columns]).all(axis=1)
    together = np.flatnonzero(same & waiting)
    while not _alike(problem, inside, least, together).all():
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
