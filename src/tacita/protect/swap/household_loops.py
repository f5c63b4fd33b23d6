"""Households and their donors, compiled: the first in a line that is free and lives elsewhere."""

from __future__ import annotations

from tacita.arrays import Bools, Ints
from tacita.compiled import compiled


@compiled
def next_free(position: int, stop: int, line: Ints, skip: Ints, free: Bools) -> int:
    """The first position from here on whose household is free, `stop` if there is none; the way is shortened."""
    found = position
    while found < stop and not free[line[found]]:
        found = skip[found]
    while position < found:
        following = skip[position]
        skip[position] = found
        position = following
    return found


@compiled
def first_donor(
    household: int, profile: int, area: Ints, line: Ints, stop: Ints, cell: Ints, reached: Ints, skip: Ints, free: Bools
) -> int:
    """The first free household of the same profile in another area, -1 if there is none.

    Households of the same profile stand in one line, and households of one cell (profile and area) search it from where
    the last of them stopped: what they passed is used, or of their own area. Each search is short for that reason.
    """
    own = cell[profile, household]
    end = stop[profile, household]
    position = next_free(reached[profile, own], end, line[profile], skip[profile], free)
    while position < end and area[line[profile, position]] == area[household]:
        position = next_free(position + 1, end, line[profile], skip[profile], free)
    reached[profile, own] = position
    return line[profile, position] if position < end else -1


@compiled
def swap_with_donors(
    order: Ints,
    quota: Ints,
    home: Ints,
    area: Ints,
    line: Ints,
    stop: Ints,
    cell: Ints,
    reached: Ints,
    skip: Ints,
    free: Bools,
    partner: Ints,
    matched: Ints,
    fill: bool,
) -> None:
    """Give households, one after the other, a donor; `free`, `partner`, `matched` (the profile) and `quota` change.

    With `fill` a household asks only while the quota of its home area is not used up. Every swap counts for the area of
    the household that asked.
    """
    for household in order:
        if not free[household] or (fill and quota[home[household]] <= 0):
            continue
        for profile in range(len(line)):
            donor = first_donor(household, profile, area, line, stop, cell, reached, skip, free)
            if donor >= 0:
                free[household] = False
                free[donor] = False
                partner[household] = donor
                partner[donor] = household
                matched[household] = profile
                matched[donor] = profile
                quota[home[household]] -= 1
                break
