"""What the steps share that exchange whole cells: which cells can move, how many, and the columns afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Floats, Ints
from tacita.data import Data


def movable(data: Data, name: str) -> Bools:
    """Which cells of a variable can move: those with an answer, no blank and no code for missing or not applicable."""
    found: Bools = (data.groups(name)[0] >= 0) & ~frame.empty_texts(data.table, name)
    return found


def exchanged(data: Data, source: Ints, cells: Mapping[str, Bools]) -> Data:
    """The data in which cells have the value of another row: by column which cells can move, by row where from."""
    own = np.arange(len(data))
    columns: dict[str, Any] = {
        name: data.table[name][np.where(can_move, source, own)] for name, can_move in cells.items()
    }
    return data.with_columns(columns)


def patterns(cells: Iterable[Bools], length: int) -> Ints:
    """By row a number that says which of its cells can move."""
    number = np.zeros(length, dtype=np.int64)
    for can_move in cells:
        _, number = np.unique(number * 2 + can_move, return_inverse=True)
    return number


def rounded_at_random(expected: Floats, uniform: float) -> Ints:
    """Whole numbers, each the next below or above the expected one, on average the expected one.

    One draw u serves for all: number i is floor(e_1 + ... + e_i + u) - floor(e_1 + ... + e_(i-1) + u), so that the
    total is rounded too.

    >>> rounded_at_random(np.array([0.5, 0.5, 1.25, 0.75]), 0.1).tolist()
    [0, 1, 1, 1]
    """
    # Sums such as 0.1 + 0.2 must not fall below what they are.
    reached = np.floor(np.round(np.cumsum(expected), 9) + uniform)
    return np.asarray(np.diff(reached, prepend=0.0), dtype=np.int64)
