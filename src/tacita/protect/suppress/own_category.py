"""Suppression where a blank is one more category: records must be alike in what they show and in what they do not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, turn, unheard
from tacita.protect.suppress.sweep import Risk, enough, sets_in_order
from tacita.protect.suppress.units import Units


def suppress_own_category(problem: Problem, report: Report = unheard) -> Ints:
    """The keys that each unit shows, as bits, so that enough records are alike, blanks included.

    Violating records are gathered in groups with the same blanks. Those that are left over join others that violated:
    a record that was safe is not drawn in to help, so it can be impossible.
    """
    units, needs, households = problem.units, problem.needs, problem.households
    shown = units.known
    for number in count():
        before = shown
        for place, need in enumerate(needs):
            told = part(turn(report, number), place / len(needs), (place + 1) / len(needs))
            shown = _gather(problem, shown, need, told)
        if households is not None:
            shown = households.spread(units.known, shown)
        if np.array_equal(before, shown):
            break
    return shown


def _gather(problem: Problem, shown: Ints, need: Requirement, report: Report) -> Ints:
    units, costs, risk, fixed = problem.units, problem.costs, problem.risk, problem.fixed
    shown = shown.copy()
    inside = shown & need.members
    waiting = _violating(units, inside, need, risk) & units.free
    placed = np.zeros(len(shown), dtype=bool)
    all_units = max(1, int(waiting.sum()))
    for members in sets_in_order(need.members, costs, 0, fixed, inside):
        report(1 - waiting.sum() / all_units)
        wanted = np.flatnonzero(waiting & (inside & members == members))
        if len(wanted):
            hit = wanted[_alike(units, inside, members, wanted, need, risk)]
            inside[hit] = members
            waiting[hit], placed[hit] = False, True
    for unit in np.flatnonzero(waiting):
        if waiting[unit]:
            report(1 - waiting.sum() / all_units)
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
    part = units._replace(
        codes=units.codes[rows],
        words=units.words[rows],
        records=units.records[rows],
        weights=units.weights[rows] if len(units.weights) else units.weights,
    )
    limits = None if need.limits is None else need.limits[rows]
    shown = np.full(len(rows), members, dtype=np.int64)
    return enough(part, shown, members, np.searchsorted(rows, wanted), need._replace(limits=limits), risk)


def _draw_in(problem: Problem, inside: Ints, placed: Bools, waiting: Bools, unit: int, need: Requirement) -> None:
    """Blank everything for a unit that is left over and for the cheapest groups of violating ones, until it is safe."""
    units, least = problem.units, problem.fixed & need.members
    columns = [place for place in range(units.codes.shape[1]) if least >> place & 1]
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
    """Of the groups in which every record violated: the one that loses least when it is blanked entirely."""
    best, least = None, np.inf
    for members in map(int, np.unique(inside[candidates])):
        columns = [place for place in range(units.codes.shape[1]) if members >> place & 1]
        rows = np.flatnonzero(inside == members)
        _, group = np.unique(units.codes[rows][:, columns], axis=0, return_inverse=True)
        for number in np.unique(group[candidates[rows]]):
            found = rows[group == number]
            loss = sum(costs[place] for place in columns) * int(units.records[found].sum())
            if candidates[found].all() and loss < least:
                best, least = found, loss
    return best
