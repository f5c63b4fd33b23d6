"""What one variable tells an intruder who compares a record of his with released ones.

A column says what every released value costs every value of his: nothing where it is just what he expects, more the
less likely it is, infinitely much where it cannot be. Costs of several columns are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints

TABLE, RANGE, EQUAL, SQUARE, ABSOLUTE = range(5)
"""How a column finds the cost of a pair: looked up by both codes; nothing within a range of codes, infinite outside;
one cost if codes are equal and another if not; half the squared difference; the difference."""
UNKNOWN = -np.inf
"""In place of a value of the intruder's: he does not know it, and the column costs nothing."""


class Column(NamedTuple):
    """The costs of one variable, or of several that changed together."""

    kind: int
    released: Floats
    """By released row: a code from 1 or a coordinate, 0 where a code is suppressed."""
    first: Floats
    """By row of the intruder's file: the row of the table, the least code, the code, or the coordinate."""
    second: Floats
    """By row of the intruder's file: the greatest code, or the cost of an equal code."""
    blank: Floats
    """By row of the intruder's file: the cost of a suppressed cell; with EQUAL of any other code too."""
    table: Floats
    """With TABLE: by row of the table and released code the cost."""


NO_TABLE = np.zeros((0, 0))


def table(released: Floats, first: Floats, costs: Floats) -> Column:
    """Costs looked up by a row for the intruder's value and a column for the released code, 0 for a suppressed one."""
    none = np.zeros(len(first))
    return Column(TABLE, released, first, none, none, costs)


def within(released: Floats, lowest: Floats, highest: Floats, blank: Floats) -> Column:
    """Released codes within a range cost nothing, others cannot be."""
    return Column(RANGE, released, lowest, highest, blank, NO_TABLE)


def equal(released: Floats, code: Floats, same: float, other: float) -> Column:
    """An equal released code has one cost, any other another, a suppressed one too."""
    size = len(code)
    return Column(EQUAL, released, code, np.full(size, same), np.full(size, other), NO_TABLE)


def square(released: Floats, coordinate: Floats) -> Column:
    """Half the squared difference of two coordinates; none is missing."""
    none = np.zeros(len(coordinate))
    return Column(SQUARE, released, coordinate, none, none, NO_TABLE)


def absolute(released: Floats, coordinate: Floats, blank: float) -> Column:
    """The difference of two coordinates from 1 on; a suppressed one is 0 and has a cost of its own."""
    size = len(coordinate)
    return Column(ABSOLUTE, released, coordinate, np.zeros(size), np.full(size, blank), NO_TABLE)


def of_rows(column: Column, intruder: Ints, released: Ints) -> Column:
    """The column for some rows of both files."""
    return column._replace(
        released=column.released[released],
        first=column.first[intruder],
        second=column.second[intruder],
        blank=column.blank[intruder],
    )
