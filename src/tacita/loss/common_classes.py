"""A variable of two files in the same classes: those of the release, where it was recoded."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.frame import Coded
from tacita.loss.both_files import Both


class Classes(NamedTuple):
    """A variable of both files as codes that mean the same, 0 where missing."""

    original: Ints
    released: Ints
    values: tuple[Any, ...]
    """What the codes 1, 2, ... stand for."""
    recoded: bool
    """Whether the original is told by the classes of the release."""

    @property
    def size(self) -> int:
        """The number of codes, that of missing included."""
        return len(self.values) + 1

    @property
    def both(self) -> tuple[Ints, Ints]:
        """The codes of the original and of the release."""
        return self.original, self.released


def common_classes(both: Both, name: str) -> Classes:
    """A variable of both files in common classes.

    Where the release is a function of the original, record by record, that leaves the values it
    kept as they were, it was recoded, and the original is recoded in the same way. Codes declared not applicable are
    categories; those declared missing are missing.
    """
    applied = tuple(code for data in both.files for code in data.variable(name).not_applicable)
    x, y, values = with_common_codes(*(data.coded(name, applied) for data in both.files))
    # Where a step exchanged values for wrong ones, a rare one may by chance look as if it had been recoded.
    exchanged = both.own is None or both.released.variable(name).perturbed
    recoding = None if exchanged or both.own is None else learned_recoding(x, y, both.own, len(values))
    if recoding is None:
        return Classes(x, y, values, False)
    return Classes(*_compacted(recoding[x], y, values), True)


def with_common_codes(x: Coded, y: Coded) -> tuple[Ints, Ints, tuple[Any, ...]]:
    """Two coded columns in codes that mean the same, and what they stand for: equal values are the same."""
    place: dict[Any, int] = {}
    for value in (*x.values, *y.values):
        place.setdefault(_plain(value), len(place) + 1)
    found = (np.array([0, *(place[_plain(value)] for value in each.values)], np.int64)[each.codes] for each in (x, y))
    return next(found), next(found), tuple(place)


def _plain(value: Any) -> Any:
    """A decimal number as the float that another file may have in its place."""
    return float(value) if isinstance(value, Decimal) else value


def learned_recoding(x: Ints, y: Ints, own: Ints, count: int) -> Ints | None:
    """By code of the original the code that the release has for it; None if the release is no recoding.

    A recoding gives all records of a code the same one, and a code that it uses and the original has stays what it is.

    >>> x, y = np.array([1, 2, 3, 1, 3]), np.array([1, 1, 4, 1, 4])
    >>> learned_recoding(x, y, np.arange(5), 4).tolist()
    [0, 1, 1, 4, 4]
    >>> learned_recoding(x, np.array([1, 2, 3, 2, 3]), np.arange(5), 4) is None
    True
    """
    before, after = x[own[own >= 0]], y[own >= 0]
    shown = (before > 0) & (after > 0)
    before, after = before[shown], after[shown]
    recoding = np.arange(count + 1)
    recoding[before] = after
    if (recoding[before] != after).any() or (recoding[before] == before).all():
        return None
    # What stands in the release under a name of the original must be what it was.
    used = np.unique(after)
    return recoding if (recoding[used] == used).all() else None


def _compacted(x: Ints, y: Ints, values: tuple[Any, ...]) -> tuple[Ints, Ints, tuple[Any, ...]]:
    """Codes without those that neither file has."""
    occurs = np.zeros(len(values) + 1, np.bool_)
    occurs[x] = occurs[y] = True
    occurs[0] = False
    place = np.where(occurs, np.cumsum(occurs), 0)
    return place[x], place[y], tuple(value for value, kept in zip(values, occurs[1:], strict=True) if kept)


def class_weights(codes: Ints, weight: Any, count: int) -> Any:
    """The share of the weight that each code has."""
    totals = np.bincount(codes, weights=weight, minlength=count)
    return totals / totals.sum()
