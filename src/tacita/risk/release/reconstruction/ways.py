"""The ways in which a released column can tell merged values apart: by equal values, by order, by parts of values.

A weight with a little noise has a value of its own in every record, and yet stands near that of its stratum; the year
of birth stands inside a personal number. Ways are looked at on a few records first: what is not told there is not told
of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.repeats import counts, mean
from tacita.risk.release.reconstruction.cells import Files
from tacita.risk.release.reconstruction.disclosed_classes import (
    UNKNOWN,
    disclosed_classes,
    disclosed_ranges,
    log_chance,
    log_chance_of_ranges,
    refined,
)
from tacita.risk.release.reconstruction.leak import LEVEL
from tacita.risk.release.reconstruction.merged import Merged
from tacita.risk.release.reconstruction.order import ROWS
from tacita.risk.release.reconstruction.views import views_of

LOOKED_AT = (2_000, 20_000)
"""Records that a way is tried on before the whole file."""
MANY_ALONE = 0.25
"""The share of records with a value of their own, from which on a column is taken for a measurement."""
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
    if name == ROWS:
        if files.repeats is not None:
            # Distinct values stand in no order that means anything.
            return
        # A file that is sorted by a variable tells it, block by block.
        yield Way(np.arange(len(files), dtype=np.float64), None, ordered=True)
        return
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


def disclosed_by_ways(files: Files, merged: Merged, name: str) -> Ints | None:
    """By merged original value the class that a column tells in all ways together; None if no more than its own."""
    tried = sum(len(ways_of(files, each)) for each in (*files.columns, ROWS))
    classes = merged.classes
    for way in ways_of(files, name):
        found = _told_by_way(way, merged._replace(classes=classes), np.log(LEVEL / tried), files.repeats)
        classes = classes if found is None else found
    return classes if classes.max() > merged.classes.max() else None


def _told_by_way(way: Way, merged: Merged, level: float, repeats: Ints | None) -> Ints | None:
    """The classes that one way tells, as the same for the whole file; None if no more than there are, or by chance."""
    own = np.ones(len(merged.rows), np.int64) if repeats is None else repeats[merged.rows]
    if way.ordered and len(merged.classes) > own.sum() / 2:
        # Where most records have an original value of their own, no order is more than chance.
        return None
    there = slice(None) if way.there is None else way.there[merged.rows]
    every, all_values, times = merged.original[there], way.values[merged.rows[there]], own[there]
    if not way.ordered:
        all_values = _shared(all_values.astype(np.int64), times)
    for size in (*(size for size in LOOKED_AT if size < len(every) / 2), len(every)):
        some = slice(None) if size == len(every) else np.linspace(0, len(every) - 1, size).astype(np.int64)
        original, values = every[some], all_values[some]
        told = _told(way, merged, original, values)
        finer = refined(merged.classes, told)
        if finer.max() == merged.classes.max() and (size == len(every) or (told != UNKNOWN).all()):
            # More records only join more values.
            return None
    chance = (
        log_chance_of_ranges(merged.classes, told, original, times)
        if way.ordered
        else log_chance(merged.classes, told, original, values.astype(np.int64), times)
    )
    return finer if chance <= level else None


def _shared(codes: Ints, times: Ints) -> Ints:
    """Codes of some records; where many have a value of their own, these are one: nobody sees what they stand for.

    Incomes that only one record has tell nothing by being different, even though nobody of a group has none.
    """
    alone = (counts(codes, times, 1) == 1)[codes]
    many = alone.any() and mean(alone, times) > MANY_ALONE
    return np.where(alone, int(codes.max()) + 1, codes) if many else codes


def _told(way: Way, merged: Merged, original: Ints, values: Ints | Floats) -> Ints:
    """By merged original value the class that one way tells for certain."""
    if way.ordered:
        return disclosed_ranges(merged.classes, original, values.astype(np.float64))
    return disclosed_classes(merged.classes, original, values.astype(np.int64))
