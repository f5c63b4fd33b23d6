"""Compiled turns: each unit suppresses what is cheapest for itself, and those whom that concerns get another turn."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.protect.suppress.wildcard_tables import CHANGES, FULL, PATTERNS, Tables, counted, full, show

MOST_CHANGES = 200
"""After so many changes everybody gets another turn."""
MOST_NEEDS = 4
"""Of more requirements nobody works out whom a change concerns."""


@compiled
def take_turns(
    tables: Tables, turns: Ints, needed: Ints, k: Ints, sets: Ints, cost: Floats, factor: float, only_more: bool
) -> tuple[int, int]:
    """Each unit in turn suppresses what is cheapest for itself, given what the others show; how many had their turn.

    And how many changed. `sets` of keys are tried in their order, the cheapest first. Not all have had their turn where
    the tables are full. With `only_more` a safe unit stays as it is and an unsafe one suppresses more.
    """
    changed, counts = 0, np.empty((len(needed), len(tables.first)))
    for turn in range(len(turns)):
        unit = turns[turn]
        if not tables.asked[unit]:
            continue
        known, now = tables.known[unit], tables.known[unit] & ~tables.shown[unit]
        chosen = now
        safe = safe_now = _meets(tables, unit, now, needed, k, factor)
        tried, all_known = 0, False
        for missing in sets:
            if safe_now < 0.0 or (safe_now == 1.0 and (only_more or cost[missing] >= cost[now])):
                break
            if missing & ~known or (only_more and missing & now != now):
                continue
            tried += 1
            if not all_known and tried * tables.numbers[PATTERNS] > _work_of_all(tables) and not len(tables.person):
                for index in range(len(needed)):
                    all_counts(tables, unit, needed[index], counts[index])
                all_known = True
            if all_known and (factor == 1.0 or _is_partly_missing(known & missing, needed)):
                safe = _meets_known(counts, missing, needed, k)
            else:
                safe = _meets(tables, unit, missing, needed, k, factor)
            if safe == 1.0:
                chosen = missing
            if safe != 0.0:
                break
        if safe == FULL or full(tables):
            return turn, changed
        never_safe = safe_now == 0.0 and chosen == now
        changed += settle(tables, unit, chosen, np.inf if never_safe else cost[chosen], needed, cost)
    return len(turns), changed


@compiled
def settle(tables: Tables, unit: int, missing: int, reach: float, needed: Ints, cost: Floats) -> bool:
    """Suppress some keys of a unit, and let those whom that concerns have another turn; whether it changed anything."""
    before, after = tables.shown[unit], tables.known[unit] & ~missing
    tables.reach[unit] = reach
    tables.asked[unit] = tables.numbers[CHANGES] > MOST_CHANGES
    if before == after:
        return False
    show(tables, unit, after)
    if tables.numbers[CHANGES] <= MOST_CHANGES:
        tables.numbers[CHANGES] += MOST_CHANGES + 1 if len(needed) > MOST_NEEDS else 1
        if tables.numbers[CHANGES] > MOST_CHANGES:
            tables.asked[:] = True
        else:
            _ask_again(tables, unit, before, after, needed, cost)
    return True


@compiled
def _ask_again(tables: Tables, unit: int, before: int, after: int, needed: Ints, cost: Floats) -> None:
    """Give all units another turn for which one counts, or did, with the keys missing that they tried."""
    for other in range(len(tables.asked)):
        if tables.asked[other] or other == unit:
            continue
        for members in needed:
            both = tables.known[other] & members
            # Most differ already on what the unit shows before and after.
            if _near(tables, unit, other, both & before & after, cost) and (
                _near(tables, unit, other, both & before, cost) or _near(tables, unit, other, both & after, cost)
            ):
                tables.asked[other] = True


@compiled
def _near(tables: Tables, unit: int, other: int, both: int, cost: Floats) -> bool:
    """Whether the keys, of some, on which a unit differs from another are no dearer than what that tried."""
    apart, column = 0, 0
    while both >> column:
        if both >> column & 1 and tables.codes[unit, column] != tables.codes[other, column]:
            apart |= 1 << column
            if cost[apart] > tables.reach[other]:
                return False
        column += 1
    return True


@compiled
def _meets(tables: Tables, unit: int, missing: int, needed: Ints, k: Ints, factor: float) -> float:
    """1 if a unit meets all requirements with some keys missing, 0 if not; or FULL."""
    for index in range(len(needed)):
        count, _ = counted(tables, unit, missing, needed[index], factor, float(k[index]))
        if count < 0.0:
            return count
        if count < k[index]:
            return 0.0
    return 1.0


@compiled
def _work_of_all(tables: Tables) -> int:
    """How many sets of keys may be looked up in the tables, in all patterns, before `all_counts` is less work."""
    keys = tables.codes.shape[1]
    return int(keys * (len(tables.shown) + len(tables.first)) // 8)


@compiled
def all_counts(tables: Tables, unit: int, members: int, counts: Floats) -> None:
    """Fill in, by set of missing keys, all of `members`, the records that count for a unit.

    Another one counts if the keys on which both show different values are missing. So each is put down under those
    keys, and the count of a set is the sum over its parts: one pass for each key, not one for each set.
    """
    for missing in range(len(counts)):
        counts[missing] = 0.0
    mine = tables.known[unit] & members
    for other in range(len(tables.shown)):
        both, apart = tables.shown[other] & mine, 0
        if other != unit:
            for column in range(tables.codes.shape[1]):
                if both >> column & 1 and tables.codes[unit, column] != tables.codes[other, column]:
                    apart |= 1 << column
        counts[apart] += tables.records[other]
    for column in range(tables.codes.shape[1]):
        if mine >> column & 1:
            for missing in range(len(counts)):
                if missing >> column & 1:
                    counts[missing] += counts[missing ^ (1 << column)]


@compiled
def _is_partly_missing(missing: int, needed: Ints) -> bool:
    """Whether every requirement has a key that is missing: others then count fully, whatever is missing there."""
    for members in needed:  # noqa: SIM110 (compiled)
        if missing & members == 0:
            return False
    return True


@compiled
def _meets_known(counts: Floats, missing: int, needed: Ints, k: Ints) -> float:
    """1 if all requirements are met with some keys missing, 0 if not, where all counts are known."""
    for index in range(len(needed)):
        if counts[index, missing & needed[index]] < k[index]:
            return 0.0
    return 1.0


@compiled
def counts_of(tables: Tables, unit: int, sets: Ints, members: int, factor: float) -> tuple[Floats, Floats]:
    """The records and the weight that count for a unit by set of missing keys; FULL among the records if there is."""
    f, weight = np.empty(len(sets)), np.empty(len(sets))
    for index in range(len(sets)):
        f[index], weight[index] = counted(tables, unit, sets[index], members, factor, np.inf)
    return f, weight
