"""By finer classes: released columns that split a recoded or removed variable more finely than the release does.

What the intruder has: the original value of a key of somebody he looks for, and a released column that is a class of
that value: an age group of five years beside ages released in tens, a macro-region beside a recoded region, dummies of
a removed one, the weight of a stratum. What he does: he works out which value of the column that person must have. What
he gains: fewer records look like that person than the key as released says. Cells need not be given back, but a count
by the released key alone is too high.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacita.arrays import Ints
from tacita.risk.release.reconstruction.cells import Files, Protected, released_as
from tacita.risk.release.reconstruction.columns import tally
from tacita.risk.release.reconstruction.leak import HIT_RATE, LEVEL, is_trusted
from tacita.risk.release.reconstruction.order import is_identifier

UNKNOWN = -1
"""Stands for the value of a column that no record of an original value shows."""
MOST_NAMED = 5
"""Columns that a least set names, at most."""
LEAST_SHARED = 0.5
"""Of the records, the share whose value of a column others have too, from which on it can determine a variable."""


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


def told_classes(classes: Ints, original: Ints, column: Ints) -> Ints:
    """By original value the finest class that a column tells for certain; -1 where no record of the value is given.

    Two original values of one released class are told apart if no chain of records leads from one to the other, each
    record agreeing with the next in the original value or in the column: the connected components of the graph that
    joins the two. A column that is a function of the original tells its own classes, one that determines the original
    tells every value. `classes` is by original value, `original` and `column` by record.

    >>> told_classes(np.zeros(4, int), np.array([0, 0, 1, 2, 3]), np.array([5, 6, 6, 7, 7])).tolist()
    [0, 0, 1, 1]
    """
    size = len(classes)
    pairs, place = np.unique(_paired(classes[original], column), return_inverse=True)
    edges = coo_array((np.ones(len(original)), (original, size + place)), shape=(size + len(pairs),) * 2)
    _, component = connected_components(edges, directed=False)
    told: Ints = np.where(np.bincount(original, minlength=size) > 0, component[:size], UNKNOWN)
    return told.astype(np.int64)


def log_chance(classes: Ints, told: Ints, original: Ints, column: Ints) -> float:
    """The logarithm of a bound on how likely a column by chance tells released classes apart as finely.

    Fix m parts of the original values of a class. Given the first record of a column's value j, its n_j - 1 others are
    of the same part by chance with probability q^(n_j - 1), q being the part's share of the class. There are at most
    m^V ways to choose parts of V values: V log m + the sum over j of (n_j - 1) log q(j), over all classes. The same
    holds with original and column exchanged, and the smaller of the two counts. A column of which every record has
    its own value says nothing by this bound, however finely it splits.

    >>> four = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> round(log_chance(np.zeros(2, int), np.arange(2), four, four + 7), 3)  # log(2^2 * (1/2)^6)
    -2.773
    """
    of_record = classes[original]
    _, part, members = np.unique(_paired(of_record, told[original]), return_inverse=True, return_counts=True)
    log_share = np.log(members[part] / np.bincount(of_record)[of_record])
    first_part = np.unique(part, return_index=True)[1]
    log_parts = np.log(np.maximum(np.bincount(of_record[first_part]), 1))
    of_column = _paired(of_record, column)
    bounds = []
    for value, other in ((of_column, original), (original, of_column)):
        first, other_first = (np.unique(each, return_index=True)[1] for each in (value, other))
        ways = log_parts[of_record[other_first]].sum()
        bounds.append(ways + log_share.sum() - log_share[first].sum())
    return float(min(bounds))


def refined(classes: Ints, values: Ints) -> Ints:
    """Classes, each split by a second list of values; what is unknown (-1) goes with the least value of its class.

    >>> refined(np.array([0, 0, 0, 1]), np.array([7, 8, -1, 8])).tolist()
    [0, 1, 0, 2]
    """
    known = values != UNKNOWN
    least = np.full(int(classes.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, classes[known], values[known])
    least[least == np.iinfo(np.int64).max] = 0
    filled = np.where(known, values, least[classes])
    return np.asarray(np.unique(_paired(classes, filled), return_inverse=True)[1], dtype=np.int64)


def least_set(classes: Ints, told: Mapping[str, Ints]) -> tuple[str, ...]:
    """Columns that together split classes as finely as all do, the most telling first; five at most.

    >>> least_set(np.zeros(3, int), {"north": np.array([1, 0, 0]), "code": np.array([1, 2, 3])})
    ('code',)
    """
    chosen: list[str] = []
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

    Keys are counted with; columns `aside`, such as declared identifiers, are not looked at.
    """
    found = {each.name: _finer_columns(files, each, keys, aside) for each in variables}
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


def _finer_columns(
    files: Files, protected: Protected, keys: Collection[str], aside: Collection[str]
) -> FinerColumns | None:
    merged = _merged(protected)
    for name in files.columns:
        if name in keys and name != protected.name and len(merged.rows):
            values = _told_by(files, merged, name)[0]
            if values is not None:
                merged = _still_merged(merged, refined(merged.classes, values))
    if not len(merged.rows):
        return None
    told: dict[str, Ints] = {}
    determining = []
    for name in files.columns:
        if name in keys or name in aside or name == protected.name:
            continue
        values, determines = _told_by(files, merged, name)
        if values is not None:
            told[name] = values
            determining += [name] if determines else []
    if not told:
        return None
    least = least_set(merged.classes, told)
    ordered = (*least, *(name for name in told if name not in least))
    identifiers = tuple(name for name in ordered if is_identifier(files, name))
    classes = functools.reduce(refined, told.values(), merged.classes)
    by_record = np.zeros(files.released_size, dtype=np.int64)
    by_record[files.released_rows[merged.rows]] = 1 + classes[merged.original]
    return FinerColumns(ordered, least, tuple(determining), identifiers, by_record)


def _merged(protected: Protected) -> Merged:
    """What the release merges: everything of a removed variable; values without any released one form a class."""
    original = protected.shown.copy()
    original[protected.rows] = protected.truth
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


def _paired(first: Ints, second: Ints) -> Ints:
    """One number for each pair of values."""
    return first * (int(second.max(initial=0)) + 1) + second
