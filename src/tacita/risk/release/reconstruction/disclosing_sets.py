"""Pairs and threes of released columns that tell merged original values apart where none of them does alone.

A municipality's number starts anew in each province: neither column tells the region, both together do. Sets are looked
at on a few records first: what is not told there is not told of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np

from tacita.arrays import Ints
from tacita.repeats import some
from tacita.risk.release.reconstruction.cells import Files
from tacita.risk.release.reconstruction.columns import MOST_TELLING, joint_key
from tacita.risk.release.reconstruction.disclosed_classes import UNKNOWN, disclosed_classes, log_chance, refined
from tacita.risk.release.reconstruction.leak import LEVEL

LOOKED_AT = (2_000, 10_000, 50_000)
"""Records that a set is tried on before the whole file."""
REPEATED = 2
"""Records that there must be for each combination of values that a set could have."""


def disclosing_sets(
    files: Files, rows: Ints, original: Ints, classes: Ints, names: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Ints]]:
    """Sets of columns with what each tells, by original value: more than the classes, and than the sets before it.

    `rows` are the records with merged values, `original` is by such record the value, `classes` by value.
    """
    own = some(files.repeats, rows)
    most = (len(rows) if own is None else int(own.sum())) // REPEATED
    if len(classes) > most:
        # A removed identifier: nobody looks for a record by it.
        return
    several = [name for name in names if 1 <= files.distinct(name) < most]
    threes = combinations(_going_with(files, rows, original, several)[:MOST_TELLING], 3)
    sets = [chosen for chosen in (*combinations(several, 2), *threes) if _combinations(files, chosen) <= most]
    level = np.log(LEVEL / max(len(sets), 1))
    looks = [_Look(files, rows, original, size) for size in LOOKED_AT if size < len(rows)]
    for chosen in sets:
        if classes.max(initial=0) == len(classes) - 1:
            return
        if any(look.joins(classes, chosen) for look in looks):
            continue
        column = joint_key(files, chosen)[0][rows]
        told = disclosed_classes(classes, original, column)
        finer = refined(classes, told)
        if finer.max() > classes.max() and log_chance(classes, told, original, column, own) <= level:
            yield chosen, told
            classes = finer


def _combinations(files: Files, names: Sequence[str]) -> int:
    """How many combinations of values columns could have, a blank being one."""
    return prod(files.distinct(name) + 1 for name in names)


class _Look:
    """Some of the records, on which sets of columns are tried: more records only join more values."""

    def __init__(self, files: Files, rows: Ints, original: Ints, size: int) -> None:
        few = np.linspace(0, len(rows) - 1, size).astype(np.int64)
        self.files, self.rows, self.original = files, rows[few], original[few]
        self.columns: dict[str, Ints] = {}

    def joins(self, classes: Ints, names: Sequence[str]) -> bool:
        """Whether chains of these records join all values of every class, by a set of columns."""
        key = np.zeros(len(self.rows), dtype=np.int64)
        for name in names:
            key = key * (self.files.distinct(name) + 1) + self._column(name)
        told = disclosed_classes(classes, self.original, key)
        return bool((told != UNKNOWN).all() and refined(classes, told).max() == classes.max())

    def _column(self, name: str) -> Ints:
        if name not in self.columns:
            codes = self.files.codes(name)
            assert codes is not None
            self.columns[name] = codes[self.rows]
        return self.columns[name]


def _going_with(files: Files, rows: Ints, original: Ints, names: Sequence[str]) -> list[str]:
    """Columns, those first of whose combinations with the original values fewer occur than by chance."""
    few = np.linspace(0, len(rows) - 1, min(len(rows), LOOKED_AT[0])).astype(np.int64)

    def occurring(name: str) -> float:
        codes = files.codes(name)
        assert codes is not None
        value, column = (np.unique(each, return_inverse=True)[1] for each in (original[few], codes[rows[few]]))
        both = np.bincount(value * (int(column.max()) + 1) + column)
        by_chance = np.outer(np.bincount(value), np.bincount(column)) / len(few)
        return float((both > 0).sum() / -np.expm1(-by_chance).sum())

    return sorted(names, key=occurring)
