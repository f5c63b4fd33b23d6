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
from tacita.random import Draws
from tacita.repeats import counts, some
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.disclosed_classes import paired, refined
from tacita.risk.release.reconstruction.disclosing_sets import disclosing_sets
from tacita.risk.release.reconstruction.leak import HIT_RATE, is_trusted
from tacita.risk.release.reconstruction.merged import Merged, all_merged, merged_values, still_merged
from tacita.risk.release.reconstruction.order import ROWS, is_identifier
from tacita.risk.release.reconstruction.tallies import tally
from tacita.risk.release.reconstruction.ways import disclosed_by_ways

MOST_NAMED = 5
"""Columns that a least set names, at most."""
Name = TypeVar("Name", bound=Hashable)
LEAST_SHARED = 0.5
"""Of the records, the share whose value of a column others have too, from which on it can determine a variable."""


LEAST_ALIKE = 10
"""Records that share a value of a column on average, from which on it tells what a blank can be."""
MOST_BESIDE = 50
"""Values up to which a key is looked at beside another."""
SEED = 20_260
"""Of the draw by which a key is dealt out anew: the same for every file."""


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

    Keys are counted with; columns `aside`, such as declared identifiers, and the order of the rows if it is one of
    them, are not looked at. Of keys and of removed variables sets of columns are tried, too.
    """
    found = {
        each.name: _disclosing_columns(files, each, merged_values(each), keys, aside, each.removed or each.name in keys)
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
    own = [name for name in files.columns if files.distinct(name) > files.size / LEAST_ALIKE]
    found = {
        each.name: _disclosing_columns(files, each, all_merged(each), keys, {*aside, *own}, sets=False)
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


def _disclosing_columns(
    files: Files, protected: Protected, merged: Merged, keys: Collection[str], aside: Collection[str], sets: bool
) -> FinerColumns | None:
    """Columns, or sets of them if none does alone, that tell merged values apart; None if there are none."""
    for name in files.columns:
        if name in keys and name != protected.name and len(merged.rows):
            values = _told_by(files, merged, name)[0]
            if values is not None:
                merged = still_merged(merged, refined(merged.classes, values))
    if not len(merged.rows):
        return None
    told: dict[tuple[str, ...], Ints] = {}
    determining: list[str] = []
    names = _others(files, protected, keys, aside)
    for name in names:
        values, determines = _told_by(files, merged, name)
        if values is not None:
            told[name,] = values
            determining += [name] if determines else []
    by_order = None if ROWS in aside else disclosed_by_ways(files, merged, ROWS)
    if by_order is not None:
        told[ROWS,] = by_order
    if sets:
        classes = functools.reduce(refined, told.values(), merged.classes)
        told |= dict(disclosing_sets(files, merged.rows, merged.original, classes, names))
    return _found(files, merged, told, tuple(determining)) if told else None


def _others(files: Files, protected: Protected, keys: Collection[str], aside: Collection[str]) -> list[str]:
    """Columns that may tell a variable."""
    return [name for name in files.columns if name not in keys and name not in aside and name != protected.name]


def _found(
    files: Files, merged: Merged, told: Mapping[tuple[str, ...], Ints], determining: tuple[str, ...]
) -> FinerColumns:
    classes = functools.reduce(refined, told.values(), merged.classes)
    least = dict.fromkeys(name for chosen in least_set(merged.classes, told) for name in chosen)
    ordered = tuple(dict.fromkeys([*least, *(name for chosen in told for name in chosen)]))
    identifiers = tuple(name for name in ordered if name != ROWS and is_identifier(files, name))
    by_record = np.zeros(files.released_size, dtype=np.int64)
    by_record[files.released_rows[merged.rows]] = 1 + classes[merged.original]
    return FinerColumns(ordered, tuple(least), determining, identifiers, by_record)


def beside_another_key(
    files: Files,
    variables: Sequence[Protected],
    keys: Collection[str],
    aside: Collection[str],
    finer: Mapping[str, FinerColumns],
) -> dict[tuple[str, str], FinerColumns]:
    """By recoded or removed key, and another key beside it: columns that tell the first one among records that agree
    in the other.

    A number of children is missing for men and for girls: nothing of the age alone, but whoever looks for a woman
    knows which of the two she is.
    """
    found = {}
    for protected in variables:
        if not (protected.removed or protected.name in keys):
            continue
        merged = merged_values(protected)
        if protected.name in finer and len(merged.rows):
            classes = np.zeros(len(merged.classes), dtype=np.int64)
            classes[merged.original] = finer[protected.name].classes[files.released_rows[merged.rows]]
            merged = still_merged(merged, refined(merged.classes, classes))
        for key in files.columns:
            if key not in keys or key == protected.name or not 2 <= files.distinct(key) <= MOST_BESIDE:
                continue
            codes = files.codes(key)
            assert codes is not None
            own = _beside(files, merged, key, codes[merged.rows])
            names = _others(files, protected, keys, aside) if len(own.rows) else []
            telling: dict[tuple[str, ...], Ints] = {}
            for name in names:
                values = _told_beside(files, merged, own, key, name)
                if values is not None:
                    telling[name,] = values
            if telling:
                found[protected.name, key] = _found(files, own, telling, ())
    return found


def _told_beside(files: Files, merged: Merged, own: Merged, key: str, name: str) -> Ints | None:
    """What a column tells of merged values beside another key; None if it would tell as much beside any other.

    A column that tells a variable with few exceptions does so without any among few records, whatever they have in
    common: the key counts only if, dealt out anew among the records, it leaves less than half of what is told.
    """
    found = disclosed_by_ways(files, own, name)
    if found is None:
        return None
    codes = files.codes(key)
    assert codes is not None
    if files.repeats is not None:
        # Of rows that stand for many records none can be dealt out by itself: rather too much is said to be told.
        return found
    # By record numbers, so that the order of the rows does not matter.
    record = files.released.record[merged.rows]
    dealt = np.empty(len(record), dtype=np.int64)
    dealt[np.argsort(record)] = codes[merged.rows[np.argsort(Draws(SEED).bits(record))]]
    chance = _beside(files, merged, key, dealt)
    by_chance = disclosed_by_ways(files, chance, name) if len(chance.rows) else None
    gained = int(found.max() - own.classes.max())
    return found if by_chance is None or 2 * int(by_chance.max() - chance.classes.max()) < gained else None


def _beside(files: Files, merged: Merged, key: str, beside: Ints) -> Merged:
    """What is merged, by value of another key: each pair of an original value and a released value of the key."""
    shown = beside > 0
    width = files.distinct(key) + 1
    pairs, place = np.unique(merged.original[shown] * width + beside[shown], return_inverse=True)
    classes = paired(merged.classes[pairs // width], pairs % width)
    return still_merged(Merged(merged.rows[shown], place, classes), classes)


def _told_by(files: Files, merged: Merged, name: str) -> tuple[Ints | None, bool]:
    """By merged original value what a column tells of it, None if nothing more than its class; whether it is all."""
    codes = files.codes(name)
    assert codes is not None
    if _determines(merged, codes[merged.rows], len(files.columns), some(files.repeats, merged.rows)):
        return np.arange(len(merged.classes)), True
    return disclosed_by_ways(files, merged, name), False


def _determines(merged: Merged, column: Ints, tried: int, repeats: Ints | None) -> bool:
    """Whether equal values of a column mean equal originals, more than the released class alone would say."""
    shown = column > 0
    found = tally(column[shown], merged.original[shown] + 1, len(merged.classes), some(repeats, shown))
    size = len(column) if repeats is None else int(repeats.sum())
    several = found.total >= 2
    tries, hits = int(found.total[several].sum()), int(found.hits[several].sum())
    if tries < LEAST_SHARED * size or hits < HIT_RATE * tries:
        return False
    count = counts(merged.original, repeats)
    most = np.zeros(int(merged.classes.max()) + 1, dtype=np.int64)
    np.maximum.at(most, merged.classes, count)
    return is_trusted(hits, tries, float(most.sum() / size), tried)
