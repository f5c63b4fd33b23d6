"""The attack itself: the most likely released records of each unit, and the nearest ones of who knows no method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.progress import Progress, part
from tacita.risk.external.best_records import EQUALLY_GOOD, best_records
from tacita.risk.external.categories import categories_of, numbers_of, unless_missing
from tacita.risk.external.columns import UNKNOWN, Column, absolute, equal, of_rows, square
from tacita.risk.external.knowledge import Knowledge, is_numeric
from tacita.risk.external.number_costs import Part, parts_of
from tacita.risk.linkage.files import Files


class Linked(NamedTuple):
    """By position in the ordered original: the released records that are linked to it."""

    candidates: Ints
    """How many are equally good."""
    correct: Floats
    """The probability that one of them, drawn at random, is the right one."""
    impossible: Ints
    """Units none of whose own released records is possible by what the intruder takes to be known."""


def informed(files: Files, knowledge: Knowledge, progress: Progress) -> Linked:
    """The most likely released records of each unit."""
    return _attack(files, knowledge.columns, list(_parts(files, knowledge)), progress)


def plain(files: Files, coded: frozenset[str], progress: Progress) -> Linked:
    """The released records that differ least from each unit, by Gower's distance.

    A category that differs counts 1, a number the share of its range, a suppressed cell 1. `coded`: variables that were
    recoded at most; he recodes his own values alike.
    """
    rows = np.arange(len(files.original)), np.arange(len(files.released))
    columns = [_plain_column(files, name, name in coded) for name in files.names]
    return _attack(files, columns, [Part(*rows, [], np.zeros(len(rows[0])))], progress)


def _plain_column(files: Files, name: str, coded: bool) -> Column:
    if is_numeric(files, name):
        x, y = numbers_of(files, name)
        both = np.concatenate([x, y])
        shown = both[~np.isnan(both)]
        low, width = (float(shown.min()), float(np.ptp(shown)) or 1.0) if len(shown) else (0.0, 1.0)
        place = np.where(np.isnan(x), UNKNOWN, 1.0 + (x - low) / width)
        return absolute(np.where(np.isnan(y), 0.0, 1.0 + (y - low) / width), place, 1.0)
    given = categories_of(files, name)
    becomes = given.becomes(coded=coded)[given.x]
    code = unless_missing(np.where(becomes > 0, becomes, len(given.y_texts) + 1), given.x)
    return equal(given.y.astype(np.float64), code, 0.0, 1.0)


def _parts(files: Files, knowledge: Knowledge) -> Iterator[Part]:
    if knowledge.errors is not None:
        yield from parts_of(knowledge.errors)
        return
    size = len(files.original)
    yield Part(np.arange(size), np.arange(len(files.released)), [], np.zeros(size))


def _attack(files: Files, columns: list[Column], parts: list[Part], progress: Progress) -> Linked:
    """The records of least cost over all parts."""
    size = len(files.original)
    theirs, mine = files.own_pairs()
    least, ties, right = np.full(size, np.inf), np.zeros(size, np.int64), np.zeros(size, np.int64)
    for at, each in enumerate(parts):
        here = part(progress, at / len(parts), (at + 1) / len(parts))
        x_place, y_place = (
            _places(rows, count) for rows, count in ((each.intruder, size), (each.released, len(files.released)))
        )
        both = (x_place[mine] >= 0) & (y_place[theirs] >= 0)
        own = (x_place[mine[both]], y_place[theirs[both]])
        chosen = [*(of_rows(column, each.intruder, each.released) for column in columns), *each.columns]
        found = best_records(chosen or [_nothing(each)], own, here)
        total = found.cost + each.base
        before = least[each.intruder]
        possible = found.ties > 0
        better = possible & ~(total >= before - EQUALLY_GOOD)
        same = possible & ~better & (total <= before + EQUALLY_GOOD)
        for counts, fresh in ((ties, found.ties), (right, found.right)):
            counts[each.intruder] = np.where(better, fresh, counts[each.intruder] + np.where(same, fresh, 0))
        least[each.intruder] = np.where(better, total, before)
    correct = right / np.maximum(ties, 1)
    return Linked(ties, correct, np.unique(mine[np.isinf(least[mine])]))


def _places(some: Ints, count: int) -> Ints:
    place = np.full(count, -1)
    place[some] = np.arange(len(some))
    return place


def _nothing(given: Part) -> Column:
    """A column that costs nothing, where there is no other."""
    return square(np.zeros(len(given.released)), np.zeros(len(given.intruder)))
