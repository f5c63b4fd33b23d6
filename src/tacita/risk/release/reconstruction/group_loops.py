"""Counting the values of rows in chosen groups, compiled: one pass for each variable and set of columns."""

from __future__ import annotations

from typing import Any

from tacita.arrays import Ints
from tacita.compiled import compiled


@compiled
def count_in_groups(key: Ints, place: Any, value: Ints, width: int, counts: Ints) -> None:
    """Add to `counts` the rows of chosen groups that have a value: `width` numbers for each group, one for each value.

    `key` is by row its group; `place` is by group 1 for the first that is chosen, 2 for the next, 0 for the others.
    """
    for row in range(len(key)):
        chosen = place[key[row]]
        if chosen > 0 and value[row] > 0:
            counts[(chosen - 1) * width + value[row]] += 1
