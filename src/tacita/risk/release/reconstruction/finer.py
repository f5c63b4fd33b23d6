"""By finer classes: released columns that split a recoded or removed variable more finely than the release does.

What the intruder has: the original value of a key of somebody he looks for, and a released column that is a class of
that value: an age group of five years beside ages released in tens, a macro-region beside a recoded region, dummies of
a removed one, the weight of a stratum. What he does: he works out which value of the column that person must have. What
he gains: fewer records look like that person than the key as released says. Cells need not be given back, but a count
by the released key alone is too high.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from tacita.arrays import Ints
from tacita.risk.release.reconstruction.cells import Files, Protected, released_as
from tacita.risk.release.reconstruction.columns import tally
from tacita.risk.release.reconstruction.leak import HIT_RATE, LEVEL, is_trusted
from tacita.risk.release.reconstruction.order import is_identifier
from tacita.risk.release.reconstruction.telling_sets import telling_sets
from tacita.risk.release.reconstruction.told import log_chance, refined, told_classes

MOST_NAMED = 5
"""Columns that a least set names, at most."""
Name = TypeVar("Name", bound=Hashable)
LEAST_SHARED = 0.5
"""Of the records, the share whose value of a column others have too, from which on it can determine a variable."""


LEAST_ALIKE = 10
"""Records that share a value of a column on average, from which on it tells what a blank can be."""


class FinerColumns(NamedTuple):
    """Released columns each of which splits a recoded or removed variable more finely than the release does."""

    columns: tuple[str, ...]
    """All of them, those of the least set first."""
    least: tuple[str, ...]
    """A least set that together tells as much as all of them, chosen one by one, the most telling first."""
    determining: tuple[str, ...]
    """Those that determine the original value: equal values mean equal originals."""
    identifiers: tuple[str, ...]
    """Those that look like identifiers: most records or households have a value of their own."""
    classes: Ints
    """By released record: the class of original values that all of them together tell; 0 where they tell nothing."""


def least_set(classes: Ints, told: Mapping[Name, Ints]) -> tuple[Name, ...]:
    """Columns that together split classes as finely as all do, the most telling first; five at most.

    >>> least_set(np.zeros(3, int), {"north": np.array([1, 0, 0]), "code": np.array([1, 2, 3])})
    ('code',)
    """
    chosen: list[Name] = []
    while len(chosen) < MOST_NAMED:
        finer = {name: refined(classes, values) for name, values in told.items() if name not in chosen}
        best = max(finer, key=lambda name: int(finer[name].max()), default=None)
        if best is None or finer[best].max() == classes.max():
            break
        classes = finer[best]
        chosen.append(best)
    return tuple(chosen)


def finer_columns(
    files: Files, variables: Sequence[Protected], keys: Collection[str] = (), aside: Collection[str] = ()
) -> dict[str, FinerColumns]:
    """By variable of which the release merges values: columns that tell them apart, where the keys do not.

    Keys are counted with; columns `aside`, such as declared identifiers, are not looked at. Of keys and of removed
    variables sets of columns are tried, too.
    """
    found = {
        each.name: _telling_columns(files, each, _merged(each), keys, aside, each.removed or each.name in keys)
        for each in variables
    }
    return {name: columns for name, columns in found.items() if columns is not None}


def narrowing_columns(
    files: Files, variables: Sequence[Protected], keys: Collection[str], aside: Collection[str] = ()
) -> dict[str, FinerColumns]:
    """By key of which some cells are suppressed: columns that tell which values a blank can be, where keys do not.

    A blank counts as any value. It is not, beside a column that goes with the values: whoever looks for somebody from
    the only region of his district, which was blanked, leaves out all blanks of other districts. Values that hardly any
    record shares, as numbers of households, tell this only to who sees them elsewhere: those are leaks.
    """
    own = [name for name in files.columns if files.distinct(name) > len(files) / LEAST_ALIKE]
    found = {
        each.name: _telling_columns(files, each, _all_merged(each), keys, {*aside, *own}, sets=False)
        for each in variables
        if each.name in keys and each.suppressed.any()
    }
    return {name: columns for name, columns in found.items() if columns is not None}


def determined_cautions(variables: Sequence[Protected], finer: Mapping[str, FinerColumns]) -> Iterator[str]:
    """What columns mean that determine a variable which no row shows any more."""
    for protected in variables:
        names = finer[protected.name].determining if protected.name in finer else ()
        if names and not len(protected.true_rows):
            listed = ", ".join(map(repr, names[:MOST_NAMED]))
            yield (
                f"{protected.name!r} is shown nowhere, but {listed} determine{'s' if len(names) == 1 else ''} it: "
                f"whoever knows which value stands for which, as from the sampling design, has it back."
            )


class Merged(NamedTuple):
    """Original values that the release merges with others."""

    rows: Ints
    """Rows that have one of them."""
    original: Ints
    """By such row: the original value, as its place among them."""
    classes: Ints
    """By merged original value: the class it is released in."""


def _telling_columns(
    files: Files, protected: Protected, merged: Merged, keys: Collection[str], aside: Collection[str], sets: bool
) -> FinerColumns | None:
    """Columns, or sets of them if none does alone, that tell merged values apart; None if there are none."""
    for name in files.columns:
        if name in keys and name != protected.name and len(merged.rows):
            values = _told_by(files, merged, name)[0]
            if values is not None:
                merged = _still_merged(merged, refined(merged.classes, values))
    if not len(merged.rows):
        return None
    told: dict[tuple[str, ...], Ints] = {}
    determining: list[str] = []
    names = [name for name in files.columns if name not in keys and name not in aside and name != protected.name]
    for name in names:
        values, determines = _told_by(files, merged, name)
        if values is not None:
            told[name,] = values
            determining += [name] if determines else []
    classes = functools.reduce(refined, told.values(), merged.classes)
    if sets:
        for chosen, values in telling_sets(files, merged.rows, merged.original, classes, names):
            told[chosen] = values
            classes = refined(classes, values)
    if not told:
        return None
    least = dict.fromkeys(name for chosen in least_set(merged.classes, told) for name in chosen)
    ordered = tuple(dict.fromkeys([*least, *(name for chosen in told for name in chosen)]))
    identifiers = tuple(name for name in ordered if is_identifier(files, name))
    by_record = np.zeros(files.released_size, dtype=np.int64)
    by_record[files.released_rows[merged.rows]] = 1 + classes[merged.original]
    return FinerColumns(ordered, tuple(least), tuple(determining), identifiers, by_record)


def _all_merged(protected: Protected) -> Merged:
    """What a blank can be: any value of the original."""
    original = _original_codes(protected)
    rows = np.flatnonzero(original)
    values, place = np.unique(original[rows], return_inverse=True)
    return _still_merged(Merged(rows, place, np.zeros(len(values), dtype=np.int64)), np.zeros(len(values), np.int64))


def _original_codes(protected: Protected) -> Ints:
    """By row the code of the original value."""
    original = protected.shown.copy()
    original[protected.rows] = protected.truth
    return original


def _merged(protected: Protected) -> Merged:
    """What the release merges: everything of a removed variable; values without any released one form a class."""
    original = _original_codes(protected)
    classes = np.zeros(protected.codes + 1, dtype=np.int64)
    if not protected.removed:
        shown = np.bincount(original[protected.shown_rows], minlength=protected.codes + 1) > 0
        classes = np.where(shown, released_as(original, protected.shown, protected.codes), 0)
    rows = np.flatnonzero(original)
    values, place = np.unique(original[rows], return_inverse=True)
    return _still_merged(Merged(rows, place, classes[values]), classes[values])


def _still_merged(merged: Merged, classes: Ints) -> Merged:
    """The original values that still share a class with another one."""
    _, classes = np.unique(classes, return_inverse=True)
    kept = np.bincount(classes)[classes] > 1 if len(classes) else np.zeros(0, dtype=np.bool_)
    chosen = kept[merged.original]
    _, own = np.unique(classes[kept], return_inverse=True)
    return Merged(merged.rows[chosen], (np.cumsum(kept) - 1)[merged.original[chosen]], own.astype(np.int64))


def _told_by(files: Files, merged: Merged, name: str) -> tuple[Ints | None, bool]:
    """By merged original value what a column tells of it, None if nothing more than its class; whether it is all."""
    codes = files.codes(name)
    assert codes is not None
    column, tried = codes[merged.rows], len(files.columns)
    if _determines(merged, column, tried):
        return np.arange(len(merged.classes)), True
    # A missing value may be one that a whole class has, or an answer that was not given: with and without them.
    for rows in (slice(None), np.flatnonzero(column)) if (column == 0).any() else (slice(None),):
        told = told_classes(merged.classes, merged.original[rows], column[rows])
        if refined(merged.classes, told).max() > merged.classes.max():
            chance = log_chance(merged.classes, told, merged.original[rows], column[rows])
            if chance <= np.log(LEVEL / tried):
                return told, False
    return None, False


def _determines(merged: Merged, column: Ints, tried: int) -> bool:
    """Whether equal values of a column mean equal originals, more than the released class alone would say."""
    shown = column > 0
    found = tally(column[shown], merged.original[shown] + 1, len(merged.classes))
    several = found.total >= 2
    tries, hits = int(found.total[several].sum()), int(found.hits[several].sum())
    if tries < LEAST_SHARED * len(column) or hits < HIT_RATE * tries:
        return False
    count = np.bincount(merged.original)
    most = np.zeros(int(merged.classes.max()) + 1, dtype=np.int64)
    np.maximum.at(most, merged.classes, count)
    return is_trusted(hits, tries, float(most.sum() / len(column)), tried)
