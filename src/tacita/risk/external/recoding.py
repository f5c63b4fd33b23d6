"""Which released values an original value may become, learned from an original and its release, record by record.

An intruder recodes what he knows as the release does: classes, top codes and rounding must not read as protection.
Where values were exchanged for wrong ones nothing of the kind can be learned, and he compares them as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.repeats import distinct

MOST_LEVELS = 8
"""So many levels of classes inside classes are told apart; values that need more were exchanged, not recoded."""


class Categories(NamedTuple):
    """What codes become: by level one released code for each, -1 for none."""

    level: Ints
    """By released code: its level."""
    become: tuple[Ints, ...]
    """By level and code: the released code, -1 if there is none."""
    recoded: bool
    """Whether codes become others."""
    exchanged: bool
    """Whether values were exchanged for wrong ones."""


def recoded_categories(
    original: Ints, released: Ints, size: int, perturbed: bool, repeats: Ints | None = None
) -> Categories:
    """What the codes 1 to `size` - 1 become, from pairs of codes of the same records, both shown.

    >>> found = recoded_categories(np.array([1, 2, 1, 3]), np.array([4, 4, 5, 3]), 6, perturbed=False)
    >>> found.level.tolist(), [each.tolist() for each in found.become]
    ([0, 0, 0, 0, 0, 1], [[0, 4, 4, 3, 4, -1], [-1, 5, -1, -1, -1, 5]])
    """
    itself = np.arange(size)
    pairs, times = distinct(original * size + released, repeats)
    x, y = pairs // size, pairs % size
    if (x == y).all():
        return Categories(np.zeros(size, np.int64), (itself,), recoded=False, exchanged=False)
    kept = np.zeros(size, dtype=np.bool_)
    kept[x[x == y]] = True
    levels = None if perturbed or (kept[x] & kept[y] & (x != y)).any() else _levels(x, y, size)
    if levels is None:
        become, recoded = _most_frequent(x, y, times, size)
        return Categories(np.zeros(size, np.int64), (become,), recoded, exchanged=True)
    strange = itself[~np.isin(itself, x)]
    found: list[Ints] = []
    for number in range(int(levels[y].max()) + 1):
        here = levels[y] == number
        to = np.full(size, -1)
        to[strange[levels[strange] == number]] = strange[levels[strange] == number]
        to[x[here]] = y[here]
        found.append(to)
    return Categories(levels, tuple(found), recoded=True, exchanged=False)


def _levels(x: Ints, y: Ints, size: int) -> Ints | None:
    """By released code its level: on each level an original code becomes one code at most. None: they are too many."""
    level = np.zeros(size, np.int64)
    if len(np.unique(x)) == len(x):
        return level
    taken = np.zeros((MOST_LEVELS, size), dtype=np.bool_)
    order = np.argsort(y, kind="stable")
    starts = np.flatnonzero(np.diff(y[order], prepend=-1))
    groups = np.split(x[order], starts[1:])
    # The widest classes first, so that those of one width share a level.
    for at in sorted(range(len(groups)), key=lambda each: (-len(groups[each]), each)):
        free = np.flatnonzero(~taken[:, groups[at]].any(axis=1))
        if not len(free):
            return None
        level[y[order][starts[at]]] = free[0]
        taken[free[0], groups[at]] = True
    return level


def _most_frequent(x: Ints, y: Ints, times: Ints, size: int) -> tuple[Ints, bool]:
    """Codes as they are; one that is not released any more and mostly became a new code is taken for that."""
    become = np.arange(size)
    order = np.lexsort((y, -times, x))
    first = order[np.flatnonzero(np.diff(x[order], prepend=-1))]
    gone = first[~np.isin(x[first], y) & ~np.isin(y[first], x)]
    become[x[gone]] = y[gone]
    return become, bool(len(gone))


class Ranges(NamedTuple):
    """The released values of a number as ranges of what they stand for."""

    low: Floats
    """By released value: the least number that it may have been."""
    high: Floats
    """By released value: the greatest."""
    level: Ints
    """By released value: its level; on each the ranges follow each other."""
    recoded: bool
    """Whether values became others."""
    exchanged: bool
    """Whether values were exchanged for wrong ones."""


def recoded_numbers(original: Floats, at: Ints, values: Floats, perturbed: bool) -> Ranges:
    """The ranges of released numbers, from numbers of the same records: the original and the place of the released one.

    >>> found = recoded_numbers(np.array([3.0, 12.0, 15.0]), np.array([0, 1, 1]), np.array([3.0, 12.0]), False)
    >>> found.low.tolist(), found.high.tolist()
    ([3.0, 12.0], [3.0, 15.0])
    """
    itself = Ranges(values, values, np.zeros(len(values), np.int64), recoded=False, exchanged=False)
    if (original == values[at]).all():
        return itself
    low, high = _ends(original, at, len(values))
    level = None if perturbed else _number_levels(original, at, values, low, high)
    if level is None:
        return itself._replace(exchanged=True)
    # What no original became stands for itself, apart from the others.
    unseen = np.isnan(low)
    level[unseen] = level.max() + 1
    return Ranges(np.where(unseen, values, low), np.where(unseen, values, high), level, recoded=True, exchanged=False)


def recoded_classes(original: Floats, at: Ints, size: int) -> Ranges | None:
    """The ranges of classes that are no numbers; None where they overlap as classes do not. NaN: never seen."""
    low, high = _ends(original, at, size)
    level = _range_levels(low, high)
    return None if level is None else Ranges(low, high, level, recoded=True, exchanged=False)


def _ends(original: Floats, at: Ints, size: int) -> tuple[Floats, Floats]:
    """By place the least and the greatest original number, NaN where there is none."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    np.fmin.at(low, at, original)
    np.fmax.at(high, at, original)
    return low, high


def _number_levels(original: Floats, at: Ints, values: Floats, low: Floats, high: Floats) -> Ints | None:
    """The levels of released numbers that are recoded; None where they look exchanged.

    Recoding keeps the order, as top coding and rounding do, or makes classes inside classes of several numbers each.
    Noise does neither.
    """
    in_order = np.lexsort((values[at], original))
    if (np.diff(values[at][in_order]) >= 0).all():
        return np.zeros(len(values), np.int64)
    pairs = np.unique(np.column_stack([at, original]), axis=0)
    several = np.bincount(pairs[:, 0].astype(np.int64), minlength=len(values)) > 1
    return _range_levels(low, high) if several[at[original != values[at]]].all() else None


def _range_levels(low: Floats, high: Floats) -> Ints | None:
    """Levels on which ranges follow each other; None where some overlap without being one inside the other."""
    level = np.zeros(len(low), np.int64)
    open_ends: list[float] = []
    ends = np.full(MOST_LEVELS, -np.inf)
    for at in np.lexsort((-high, low)):
        if np.isnan(low[at]):
            continue
        while open_ends and open_ends[-1] <= low[at] and open_ends[-1] < high[at]:
            open_ends.pop()
        free = np.flatnonzero(ends <= low[at])
        if (open_ends and open_ends[-1] < high[at]) or not len(free):
            return None
        open_ends.append(high[at])
        level[at], ends[free[0]] = free[0], high[at]
    return level
