"""Compiled turns: each unit blanks what is cheapest for itself, and those whom that concerns are asked again."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.protect.suppress.lookup_loops import CHANGES, FAR, FULL, Tables, counted, full, show
from tacita.protect.suppress.response_loops import CATEGORIES, EXPECTED, answer

MOST_CHANGES = 200
"""After so many changes everybody is asked again."""
MOST_NEEDS = 4
"""Of more requirements nobody works out whom a change concerns."""


@compiled
def respond(
    tables: Tables,
    turns: Ints,
    needed: Ints,
    k: Ints,
    blanks_in_order: Ints,
    cost: Floats,
    rule: int,
    factor: float,
    only_more: bool,
) -> tuple[int, int]:
    """Each unit in turn blanks what is cheapest for itself, given what the others show; how many had their turn.

    And how many changed. Not all have had their turn where the tables are full. With `only_more` a safe unit keeps its
    blanks and an unsafe one adds to them.
    """
    changed = 0
    for turn in range(len(turns)):
        unit = turns[turn]
        if not tables.asked[unit]:
            continue
        known, now = tables.known[unit], tables.known[unit] & ~tables.shown[unit]
        chosen = now
        safe = safe_now = _meets(tables, unit, now, needed, k, rule, factor)
        for blanks in blanks_in_order:
            if safe_now < 0.0 or (safe_now == 1.0 and (only_more or cost[blanks] >= cost[now])):
                break
            if blanks & ~known or (only_more and blanks & now != now):
                continue
            safe = _meets(tables, unit, blanks, needed, k, rule, factor)
            if safe == 1.0:
                chosen = blanks
            if safe != 0.0:
                break
        if safe == FULL or full(tables):
            return turn, changed
        if safe == FAR:
            chosen = answer(
                tables.codes, tables.shown, known, tables.records, unit, needed, k, blanks_in_order, cost, rule, factor,
                only_more,
            )  # fmt: skip
        unsafe = safe == FAR or (safe_now == 0.0 and chosen == now)
        changed += settle(tables, unit, chosen, np.inf if unsafe else cost[chosen], needed, cost, rule)
    return len(turns), changed


@compiled
def settle(tables: Tables, unit: int, blanks: int, reach: float, needed: Ints, cost: Floats, rule: int) -> bool:
    """Let a unit blank some keys, and ask those again whom that concerns; whether it changed anything."""
    before, after = tables.shown[unit], tables.known[unit] & ~blanks
    tables.reach[unit] = reach
    tables.asked[unit] = tables.numbers[CHANGES] > MOST_CHANGES
    if before == after:
        return False
    show(tables, unit, after)
    if tables.numbers[CHANGES] <= MOST_CHANGES:
        # Under these rules a blank can change by how much everybody counts.
        far = rule in (CATEGORIES, EXPECTED) or len(needed) > MOST_NEEDS
        tables.numbers[CHANGES] += MOST_CHANGES + 1 if far else 1
        if tables.numbers[CHANGES] > MOST_CHANGES:
            tables.asked[:] = True
        else:
            _ask_again(tables, unit, before, after, needed, cost)
    return True


@compiled
def _ask_again(tables: Tables, unit: int, before: int, after: int, needed: Ints, cost: Floats) -> None:
    """Ask all units again for which one counts, or did, with blanks that they looked at."""
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
    """Whether the keys, of some, on which a unit differs from another are no dearer than what that looked at."""
    apart, column = 0, 0
    while both >> column:
        if both >> column & 1 and tables.codes[unit, column] != tables.codes[other, column]:
            apart |= 1 << column
            if cost[apart] > tables.reach[other]:
                return False
        column += 1
    return True


@compiled
def _meets(tables: Tables, unit: int, blanks: int, needed: Ints, k: Ints, rule: int, factor: float) -> float:
    """1 if a unit meets all requirements with some blanks, 0 if not; FAR, or FULL."""
    for place in range(len(needed)):
        count, _ = counted(tables, unit, blanks, needed[place], rule, factor, float(k[place]))
        if count < 0.0:
            return count
        if count < k[place]:
            return 0.0
    return 1.0


@compiled
def counts_of(
    tables: Tables, unit: int, sets: Ints, members: int, rule: int, factor: float
) -> tuple[float, Floats, Floats]:
    """The records and the weight that count for a unit for every set of blanks; first 0, FAR or FULL."""
    f, heavy = np.empty(len(sets)), np.empty(len(sets))
    for place in range(len(sets)):
        f[place], heavy[place] = counted(tables, unit, sets[place], members, rule, factor, np.inf)
        if f[place] < 0.0:
            return f[place], f, heavy
    return 0.0, f, heavy
