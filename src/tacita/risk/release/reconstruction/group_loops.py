"""Counting the values of rows in chosen groups, compiled: one pass for each variable and set of columns."""

from __future__ import annotations

from typing import Any

from tacita.arrays import Ints
from tacita.compiled import compiled


@compiled
def count_in_groups(key: Ints, place: Any, value: Ints, width: int, repeats: Ints, counts: Ints) -> None:
    """Add to `counts` the rows of chosen groups that have a value: `width` numbers for each group, one for each value.

    `key` is by row its group; `place` is by group 1 for the first that is chosen, 2 for the next, 0 for the others;
    `repeats` is by row how many records it stands for, empty where each is one.
    """
    several = len(repeats) > 0
    for row in range(len(key)):
        chosen = place[key[row]]
        if chosen > 0 and value[row] > 0:
            counts[(chosen - 1) * width + value[row]] += repeats[row] if several else 1


@compiled
def tally_cells(cell: Ints, count: Ints, width: int, groups: Ints, by_value: Ints) -> int:
    """What groups of rows say, from the cells that have rows: groups times `width` plus the value, ascending.

    Fills a column of `groups` for each group, whose number is returned: its key, its rows, the most frequent value (0
    where two are), its rows, and those of them that the others tell. `by_value` gets for how many rows each value is
    guessed, each from the others of its group, and how many of those have it.
    """
    at, number = 0, 0
    while at < len(cell):
        key, first, tops, top = cell[at] // width, at, 0, 0
        total, most, second = 0, 0, 0
        while at < len(cell) and cell[at] // width == key:
            rows = count[at]
            total += rows
            if rows > most:
                second, most, tops, top = most, rows, 1, cell[at] % width
            elif rows == most:
                tops += 1
            elif rows > second:
                second = rows
            at += 1
        # Left out, a row of the most frequent value is told if that is still ahead; any other row is told wrong.
        alone = tops == 1
        hits = most if alone and most - 1 > second else 0
        if alone:
            # Where one value is ahead by one row, its own rows are left with a tie.
            by_value[0, top] += total if hits > 0 else total - most
            by_value[1, top] += hits
        elif tops == 2:
            # Where two values are ahead, each says the other.
            for one in range(first, at):
                if count[one] == most:
                    by_value[0, cell[one] % width] += most
        groups[0, number], groups[1, number], groups[2, number] = key, total, top if alone else 0
        groups[3, number], groups[4, number] = most, hits
        number += 1
    by_value[0, 0] = 0
    return number
