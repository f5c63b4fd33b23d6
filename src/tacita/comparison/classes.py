"""The categories that two files have in common: what was recoded is compared in the classes of the release.

An original value that the release no longer has belongs to the class that most of its records were put into; a number
all of whose records are missing there to that of the numbers beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.comparison.distributions import few
from tacita.data import Data
from tacita.frame import Coded

MISSING = "(missing)"
OTHER = "(other)"


class Classes(NamedTuple):
    """A categorical variable of two files in common classes: codes from 0, the last of them for missing."""

    labels: tuple[str, ...]
    """What the classes are called; the last is `MISSING`."""
    original: Ints
    released: Ints
    ordered: bool
    """Whether the classes stand in an order of their own: ordinal ones, and numbers without labels."""
    recoded: bool
    """Whether original values were put together in classes of the release."""
    mixed: int
    """Records that the release puts into another class than most records with their value; 0 unless recoded."""


def common_classes(original: Data, released: Data, name: str, was: Ints, now: Ints) -> Classes:
    """A variable of two files in common classes; `was` and `now` are the rows of the records that both have.

    >>> import polars as pl
    >>> before, after = (Data.of(pl.DataFrame({"age": ages})) for ages in ([31, 34, 47], ["30-39", "30-39", "40-49"]))
    >>> both = np.arange(3)
    >>> found = common_classes(before, after, "age", both, both)
    >>> found.labels, found.original.tolist(), found.released.tolist()
    (('30-39', '40-49', '(missing)'), [0, 0, 1], [0, 0, 1])
    """
    x, y = original.coded(name), released.coded(name)
    names_x, names_y = [_written(value) for value in x.values], [_written(value) for value in y.values]
    into, mixed = _into(x, names_x, y, names_y, was, now)
    # Classes in the order of the least original value in them, those of no original value behind.
    names = list(dict.fromkeys([into[each] for each in names_x] + names_y))
    place = {each: at for at, each in enumerate(names)}
    codes_x = np.array([len(names), *(place[into[each]] for each in names_x)], dtype=np.int64)[x.codes]
    codes_y = np.array([len(names), *(place[each] for each in names_y)], dtype=np.int64)[y.codes]
    spoken = _spoken(original, name, x) | _spoken(released, name, y)
    labels = _told_apart([spoken.get(each, each) for each in names])
    recoded = any(old != new for old, new in into.items())
    numbers = not spoken and all(isinstance(value, int | float | Decimal) for value in x.values)
    ordered = original.scale(name) != "nominal" or numbers
    return Classes((*labels, MISSING), codes_x, codes_y, ordered, recoded, mixed)


def _into(
    x: Coded, names_x: list[str], y: Coded, names_y: list[str], was: Ints, now: Ints
) -> tuple[dict[str, str], int]:
    """By original value the class that it is compared in, and how many records the release has elsewhere."""
    into = {each: each for each in names_x}
    still = set(names_y)
    gone = np.array([False, *(each not in still for each in names_x)])[x.codes[was]] & (y.codes[now] > 0)
    if not gone.any():
        return into, 0
    pairs, counts = np.unique(np.column_stack([x.codes[was][gone], y.codes[now][gone]]), axis=0, return_counts=True)
    # The most frequent class of each value, of equally frequent ones the first.
    order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
    first = order[np.unique(pairs[order, 0], return_index=True)[1]]
    found = {int(old): int(new) for old, new in pairs[first].tolist()}
    gone_codes = np.array([at for at, each in enumerate(names_x, 1) if each not in still], dtype=np.int64)
    for old, new in (_beside(x, found, gone_codes) | found).items():
        into[names_x[old - 1]] = names_y[new - 1]
    return into, int(counts.sum() - counts[first].sum())


def _beside(x: Coded, found: dict[int, int], gone: Ints) -> dict[int, int]:
    """The classes of numbers all of whose records are missing in the release: those of the numbers on both sides.

    Where those differ it is the one that is no further away than its class is wide. Without this an age
    that was suppressed throughout would stand beside the class of ages that it belongs to.
    """
    if not found or not all(isinstance(value, int | float | Decimal) for value in x.values):
        return {}
    old = np.array(sorted(found, key=lambda code: float(x.values[code - 1])), dtype=np.int64)
    new = np.array([found[code] for code in old.tolist()])
    at = np.array([float(x.values[code - 1]) for code in old.tolist()])
    width = {code: float(np.ptp(at[new == code])) for code in np.unique(new).tolist()}
    added = {}
    for code in gone[~np.isin(gone, old)].tolist():
        value = float(x.values[code - 1])
        above = int(np.searchsorted(at, value))
        ends = [side for side in (above - 1, above) if 0 <= side < len(at)]
        near = {int(new[side]) for side in ends if abs(at[side] - value) <= width[new[side]]}
        between = set(new[ends].tolist()) if len(ends) == 2 else near
        for chosen in (between, near):
            if len(chosen) == 1:
                added[code] = min(chosen)
    return added


def _written(value: Any) -> str:
    """A value as both files would write it: 1, 1.0 and the text 1 are one."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return str(value)
    return str(int(value)) if value == int(value) else repr(float(value))


def _spoken(data: Data, name: str, coded: Coded) -> dict[str, str]:
    """By value its label in the codebook, where it has one."""
    known = data.variable(name).value_labels
    return {_written(value): str(known[value]) for value in coded.values if known.get(value)}


def _told_apart(labels: list[str]) -> list[str]:
    """Labels that differ from each other and from those of missing and other values."""
    taken = {MISSING, OTHER}
    found = []
    for label in labels:
        fresh = label or "(blank)"
        while fresh in taken:
            fresh += "'"
        taken.add(fresh)
        found.append(fresh)
    return found


class Pooled(NamedTuple):
    """Some of the classes by themselves, and the others together."""

    labels: tuple[str, ...]
    into: Ints
    """By class the place of its label."""
    pooled: int
    """How many classes were put together."""


def pooled(labels: Sequence[str], counts: Ints, most: int, public: bool) -> Pooled:
    """At most so many classes by themselves, those with most records; the others together, missing behind them.

    `counts` has a row per file, its last column for missing. In public no class is left with one or two records: what
    has so few is put together, with the next smallest if need be.

    >>> pooled(["a", "b", "c", "(missing)"], np.array([[9, 1, 5, 4], [9, 2, 4, 4]]), 30, True).labels
    ('a', '(other)', '(missing)')
    """
    size = counts.sum(axis=0)
    used = size > 0
    own = np.flatnonzero(used[:-1])
    ranked = own[np.argsort(-size[own], kind="stable")]
    # One class that would be put together alone keeps its name.
    put: Bools = np.zeros(len(labels), dtype=np.bool_)
    if len(ranked) > most:
        put[ranked[most - 1 :]] = True
    if public:
        put |= few(counts).any(axis=0)
        while put.any() and few(counts[:, put].sum(axis=1)).any() and not put[used].all():
            # Missing values last: their share is looked at.
            rest = np.flatnonzero(used[:-1] & ~put[:-1])
            put[min(rest, key=size.__getitem__, default=-1)] = True
    alone = np.flatnonzero(used[:-1] & ~put[:-1]).tolist()
    names = [labels[at] for at in alone] + ([OTHER] if put.any() else [])
    into = np.full(len(labels), names.index(OTHER) if put.any() else 0)
    into[alone] = np.arange(len(alone))
    if used[-1] and not put[-1]:
        into[-1] = len(names)
        names.append(labels[-1])
    return Pooled(tuple(names), into, int((put & used).sum()))


def class_counts(codes: Ints, classes: int) -> Ints:
    """Records by class."""
    return np.bincount(codes, minlength=classes)


def class_shares(codes: Ints, weights: Floats, classes: int) -> Floats:
    """Weighted shares by class."""
    sums = np.bincount(codes, weights=weights, minlength=classes)
    return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums, dtype=np.float64)
