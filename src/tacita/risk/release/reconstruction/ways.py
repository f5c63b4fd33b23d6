"""In which ways a released column can tell merged values apart: by equal values, by their order, by parts of them.

A weight with a little noise has a value of its own in every record, and yet stands near that of its stratum; the year
of birth stands inside a personal number. Ways are looked at on a few records first: what is not told there is not told
of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.risk.release.reconstruction.cells import Files
from tacita.risk.release.reconstruction.leak import LEVEL
from tacita.risk.release.reconstruction.merged import Merged
from tacita.risk.release.reconstruction.told import (
    UNKNOWN,
    log_chance,
    log_chance_of_ranges,
    refined,
    told_classes,
    told_ranges,
)
from tacita.risk.release.reconstruction.views import views_of

LOOKED_AT = (2_000, 20_000)
"""Records that a way is tried on before the whole file."""
FEW_NUMBERS = 5
"""So many different numbers have an order that says more than that they are equal or not."""


class Way(NamedTuple):
    """A column in one way: what stands in each row, as codes or as numbers, and in which rows it stands."""

    values: Ints | Floats
    there: np.ndarray[tuple[int], np.dtype[np.bool_]] | None
    """By row whether there is a value; None: everywhere, a blank being a value."""
    ordered: bool
    """Whether the values are numbers, whose order counts."""


def ways_of(files: Files, name: str) -> tuple[Way, ...]:
    """The ways in which a column can tell, worked out once."""
    key = ("ways", name)
    if key not in files.memory:
        files.memory[key] = tuple(_ways_of(files, name))
    ways: tuple[Way, ...] = files.memory[key]
    return ways


def _ways_of(files: Files, name: str) -> Iterator[Way]:
    codes = files.codes(name)
    assert codes is not None
    yield Way(codes, None, ordered=False)
    if (codes == 0).any():
        # A missing value may be one that a whole class has, or an answer that was not given: with and without them.
        yield Way(codes, codes > 0, ordered=False)
    numbers = files.numbers(name)
    if numbers is not None and files.distinct(name) >= FEW_NUMBERS:
        yield Way(numbers, ~np.isnan(numbers), ordered=True)
    for view in views_of(files, name):
        if view.codes is not None:
            yield Way(view.codes, codes > 0, ordered=False)


def told_by_ways(files: Files, merged: Merged, name: str) -> Ints | None:
    """By merged original value the class that a column tells in all ways together; None if no more than its own."""
    tried = sum(len(ways_of(files, each)) for each in files.columns)
    classes = merged.classes
    for way in ways_of(files, name):
        found = _told_by_way(way, merged._replace(classes=classes), np.log(LEVEL / tried))
        classes = classes if found is None else found
    return classes if classes.max() > merged.classes.max() else None


def _told_by_way(way: Way, merged: Merged, level: float) -> Ints | None:
    """The classes that one way tells, as the same for the whole file; None if no more than there are, or by chance."""
    if way.ordered and len(merged.classes) > len(merged.rows) / 2:
        # Where most records have an original value of their own, no order is more than chance.
        return None
    for size in (*(size for size in LOOKED_AT if size < len(merged.rows) / 2), len(merged.rows)):
        some = slice(None) if size == len(merged.rows) else np.linspace(0, len(merged.rows) - 1, size).astype(np.int64)
        rows, original = merged.rows[some], merged.original[some]
        if way.there is not None:
            there = way.there[rows]
            rows, original = rows[there], original[there]
        values = way.values[rows]
        told = (told_ranges if way.ordered else told_classes)(merged.classes, original, values)
        finer = refined(merged.classes, told)
        if finer.max() == merged.classes.max() and (size == len(merged.rows) or (told != UNKNOWN).all()):
            # More records only join more values.
            return None
    chance = (
        log_chance_of_ranges(merged.classes, told, original)
        if way.ordered
        else log_chance(merged.classes, told, original, values)
    )
    return finer if chance <= level else None
