"""Compiled turns: each unit suppresses what is cheapest for itself, and those whom that concerns get another turn.

A missing value matches any value here, so another unit counts for one if the keys on which both show different values
are missing. One pass puts every unit down under those keys; the count of a set of missing keys is the sum over its
parts: one pass for each key, not one for each set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.keys.unit_loops import nearest, units_that_match
from tacita.protect.suppress.problem import Units

Sets = NDArray[Any]
"""Sets of keys in 32 bits: the loops over all units take twice as many at once."""


class State(NamedTuple):
    """What all units show; changed in place."""

    columns: Sets
    """By key and unit: the values."""
    known: Sets
    """By unit: the keys that it may show."""
    shown: Sets
    """By unit: the keys that it shows."""
    records: Ints
    weights: Floats
    """By unit; empty where there are none."""
    person: Ints
    """By unit: whose it is, in ascending order; empty where records count."""
    asked: Bools
    """By unit: whether others changed something that concerns it since its last turn."""
    reach: Floats
    """By unit: the cost of the dearest suppression that it tried in its last turn."""
    apart: Sets
    """By unit: the keys on which its values are not those of the unit that was compared last."""
    factor: float
    """By how much others with missing values count for a complete unit: 1 under the wildcard rule."""

    @classmethod
    def of(cls, units: Units, shown: Ints, known: Ints, factor: float) -> State:
        """Before any turn, with everybody asked."""
        columns, size = np.ascontiguousarray(units.codes.T.astype(np.int32)), len(shown)
        sets, apart = (known.astype(np.int32), shown.astype(np.int32)), np.zeros(size, dtype=np.int32)
        asked, reach = np.ones(size, dtype=np.bool_), np.full(size, np.inf)
        return cls(columns, *sets, units.records, units.weights, units.person, asked, reach, apart, factor)


@compiled
def take_turns(state: State, turns: Ints, needed: Ints, k: Ints, sets: Ints, cost: Floats, only_more: bool) -> int:
    """Each unit in turn suppresses what is cheapest for itself, given what the others show; how many changed.

    `sets` of keys are tried in their order, the cheapest first. With `only_more` a safe unit stays as it is and an
    unsafe one suppresses more.
    """
    changed, counts = 0, np.empty((len(needed), len(cost)))
    for unit in turns:
        if not state.asked[unit]:
            continue
        known, now = state.known[unit], state.known[unit] & ~state.shown[unit]
        _compare(state, unit)
        for index in range(0 if len(state.person) else len(needed)):
            _count(state, unit, needed[index], state.records, counts[index])
        chosen, safe_now = now, _meets(state, unit, now, counts, needed, k)
        for missing in sets:
            if safe_now and (only_more or cost[missing] >= cost[now]):
                break
            possible = missing & ~known == 0 and (not only_more or missing & now == now)
            if possible and _meets(state, unit, missing, counts, needed, k):
                chosen = missing
                break
        reach = np.inf if chosen == now and not safe_now else cost[chosen]
        changed += settle(state, unit, chosen, reach, needed, cost)
    return changed


@compiled
def settle(state: State, unit: int, missing: int, reach: float, needed: Ints, cost: Floats) -> bool:
    """Suppress keys of the unit compared last, and let those concerned have another turn; whether it changed anything.

    It concerns those for whom the unit counts, or did, with the keys missing that they tried.
    """
    before, after = state.shown[unit], state.known[unit] & ~missing
    state.reach[unit], state.asked[unit], state.shown[unit] = reach, False, after
    if before == after:
        return False
    for members in needed:
        for other in range(len(state.shown)):
            apart, tried = state.apart[other] & state.known[other] & members, state.reach[other]
            if cost[apart & before] <= tried or cost[apart & after] <= tried:
                state.asked[other] = other != unit
    return True


@compiled
def _compare(state: State, unit: int) -> None:
    """Note on which keys the values of units are not those of one."""
    state.apart[:] = 0
    for column in range(len(state.columns)):
        values, bit = state.columns[column], np.int32(1 << column)
        own = values[unit]
        for other in range(len(values)):
            state.apart[other] |= bit if values[other] != own else np.int32(0)


@compiled
def _count(state: State, unit: int, members: int, amounts: Ints | Floats, counts: Floats) -> None:
    """Fill in, by set of missing keys, all of `members`, what counts for a unit that was compared."""
    mine, partly = state.known[unit] & members, 0.0
    counts[:] = 0.0
    for other in range(len(state.shown)):
        counts[state.apart[other] & state.shown[other] & mine] += amounts[other]
    for column in range(len(state.columns)):
        if mine >> column & 1:
            for missing in range(len(counts)):
                if missing >> column & 1:
                    counts[missing] += counts[missing ^ (1 << column)]
    if mine == members and state.factor != 1.0:
        for other in range(len(state.shown)):
            shown = state.shown[other] & members
            if state.apart[other] & shown == 0 and shown != members and other != unit:
                partly += amounts[other]
        counts[0] = nearest(counts[0] - partly + state.factor * partly)


@compiled
def _count_persons(state: State, unit: int, missing: int, members: int, enough: float) -> tuple[float, float]:
    mine = state.known[unit] & ~missing & members
    whose = state.person, state.records, state.weights
    return units_that_match(state.apart, state.shown, *whose, unit, mine, members, state.factor, enough)


@compiled
def _meets(state: State, unit: int, missing: int, counts: Floats, needed: Ints, k: Ints) -> bool:
    """Whether a unit meets all requirements with some keys missing."""
    for index in range(len(needed)):
        if len(state.person):
            count, _ = _count_persons(state, unit, missing, needed[index], float(k[index]))
        else:
            count = counts[index, missing & needed[index]]
        if count < k[index]:
            return False
    return True


@compiled
def counts_of(state: State, unit: int, sets: Ints, members: int) -> tuple[Floats, Floats]:
    """The records or persons, and the weight, that count for a unit on some keys, by set of missing keys."""
    f, weight = np.empty(len(sets)), np.empty(len(sets))
    _compare(state, unit)
    if len(state.person):
        for index in range(len(sets)):
            f[index], weight[index] = _count_persons(state, unit, sets[index], members, np.inf)
        return f, weight
    counts = np.empty(1 << len(state.columns))
    _count(state, unit, members, state.records, counts)
    f[:] = counts[sets & members]
    if len(state.weights):
        _count(state, unit, members, state.weights, counts)
    weight[:] = counts[sets & members]
    return f, weight
