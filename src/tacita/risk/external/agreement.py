"""How many released records agree with each record of the intruder's file, without looking at pairs.

Every variable comes ready to be compared: a released record has a place in a *level*, and a record of the intruder
agrees with a range of places of each level, most often with one. Released records whose values stand in the same levels
share a *pattern*, so that each pattern is one join: on groups of equal places, and where ranges are wider by a sorted
search or a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.keys.source import combined
from tacita.progress import Progress, no_progress

NOTHING = -1
"""As the first place of a range: the record agrees with no place of the level."""


class Level(NamedTuple):
    """With which places of a level each record of the intruder's file agrees."""

    first: Ints
    """By record of the intruder's file: the first place, -1 if there is none."""
    last: Ints | None = None
    """The last place; None: with the first one only."""

    def of_rows(self, rows: Ints) -> Level:
        """The same for some records of the intruder's file."""
        return Level(self.first[rows], None if self.last is None else self.last[rows])

    def agrees(self, rows: Ints, place: Ints) -> Bools:
        """Whether some records of the intruder's file agree with some places, one by one."""
        first = self.first[rows]
        last = first if self.last is None else self.last[rows]
        found: Bools = (first <= place) & (place <= last) & (first != NOTHING)
        return found


@dataclass(frozen=True)
class Compared:
    """One variable of both files, ready to be compared."""

    name: str
    level: Ints
    """By released record: the level that its value stands in."""
    place: Ints
    """By released record: its place there."""
    levels: tuple[Level | None, ...]
    """By level: who agrees with its places; None: everybody."""
    missing: Bools
    """By released record: whether it shows nothing."""

    def with_any(self) -> Compared:
        """The same for an intruder who lets a missing released value stand for anything."""
        level = np.where(self.missing, len(self.levels), self.level)
        return replace(self, level=level, levels=(*self.levels, None))

    def agrees(self, rows: Ints, released: Ints) -> Bools:
        """Whether records of the intruder's file agree with released ones, pair by pair."""
        found = np.ones(len(rows), dtype=np.bool_)
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(self.level[released] == number)
            if level is not None and len(here):
                found[here] = level.agrees(rows[here], self.place[released[here]])
        return found


def pair_sums(variables: Sequence[Compared], size: int, amounts: Ints, progress: Progress = no_progress) -> Ints:
    """By record of the intruder's file, `size` of them: sums of the amounts of the released records that agree with it.

    Amounts are columns of whole numbers by released record, so that sums are exact.
    """
    once, again = _distinct(variables, size)
    few = [[None if level is None else level.of_rows(once) for level in each.levels] for each in variables]
    sums = np.zeros((len(once), amounts.shape[1]), dtype=np.int64)
    number = combined([each.level for each in variables], [len(each.levels) for each in variables], len(amounts))
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    for at, rows in enumerate(np.split(order, starts[1:])):
        progress(at / len(starts), "looking for records that agree")
        asked = [
            (each.place[rows], level)
            for each, levels in zip(variables, few, strict=True)
            if (level := levels[each.level[rows[0]]]) is not None
        ]
        who = _who_agrees_somewhere([level for _, level in asked], len(once))
        if len(who):
            sums[who] += _of_pattern(asked, who, amounts[rows])
    return sums[again]


def _distinct(variables: Sequence[Compared], size: int) -> tuple[Ints, Ints]:
    """Records of the intruder's file that agree with other places each, in order; and by record the one like it."""
    columns = [
        column + 1
        for each in variables
        for level in each.levels
        if level is not None
        for column in (level.first, level.last)
        if column is not None
    ]
    numbers = combined(columns, [int(column.max()) + 1 for column in columns], size)
    return np.unique(numbers, return_index=True, return_inverse=True)[1:]


def _who_agrees_somewhere(levels: list[Level], size: int) -> Ints:
    able = np.ones(size, dtype=np.bool_)
    for level in levels:
        able &= level.first != NOTHING
    return np.flatnonzero(able)


def _of_pattern(asked: list[tuple[Ints, Level]], who: Ints, amounts: Ints) -> Ints:
    """Sums for some records of the intruder's file over the released records of one pattern."""
    equal = [(place, level.first[who]) for place, level in asked if level.last is None]
    ranged = [(place, level.first[who], level.last[who]) for place, level in asked if level.last is not None]
    sizes = [int(max(place.max(), first.max())) + 1 for place, first in equal]
    # Both files at once: numbers of many variables are folded together.
    numbers = combined([np.concatenate(pair) for pair in equal], sizes, len(amounts) + len(who))
    group, wanted = numbers[: len(amounts)], numbers[len(amounts) :]
    different, group = np.unique(group, return_inverse=True)
    at = np.minimum(np.searchsorted(different, wanted), len(different) - 1)
    there = np.flatnonzero(different[at] == wanted)
    sums = np.zeros((len(who), amounts.shape[1]), dtype=np.int64)
    if not ranged:
        sums[there] = sums_between(group, amounts, np.arange(len(different)), np.arange(len(different)))[at[there]]
        return sums
    columns = [at[there], *(column[there] for _, first, last in ranged for column in (first, last))]
    # Records that ask for the same range of the same group are looked up once.
    same = combined(columns, [int(column.max(initial=0)) + 1 for column in columns], len(there))
    _, once, again = np.unique(same, return_index=True, return_inverse=True)
    wanted, *ends = (column[once] for column in columns)
    sums[there] = _in_ranges(group, [place for place, _, _ in ranged], amounts, wanted, ends[::2], ends[1::2])[again]
    return sums


def _in_ranges(
    group: Ints, places: list[Ints], amounts: Ints, wanted: Ints, first: list[Ints], last: list[Ints]
) -> Ints:
    """Sums over the released records of a wanted group whose places are in ranges."""
    if not len(wanted):
        return np.zeros((0, amounts.shape[1]), dtype=np.int64)
    if len(places) == 1:
        width = int(max(places[0].max(), last[0].max())) + 1
        return sums_between(group * width + places[0], amounts, wanted * width + first[0], wanted * width + last[0])
    from tacita.risk.external.boxes import sums_in_boxes

    points, low, high = (
        np.column_stack(columns).astype(np.float64) for columns in ([group, *places], [wanted, *first], [wanted, *last])
    )
    return sums_in_boxes(points, amounts, low, high)


def sums_between(values: Ints, amounts: Ints, low: Ints, high: Ints) -> Ints:
    """For each range the sums of the amounts whose value is in it, both ends included.

    >>> amounts = np.array([[1], [1], [5]])
    >>> sums_between(np.array([3, 1, 1]), amounts, np.array([1, 2]), np.array([1, 9])).tolist()
    [[6], [1]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    until = np.zeros((len(values) + 1, amounts.shape[1]), dtype=np.int64)
    np.cumsum(amounts[order], axis=0, out=until[1:])
    found: Ints = (
        until[np.searchsorted(ordered, high, side="right")] - until[np.searchsorted(ordered, low, side="left")]
    )
    return found
