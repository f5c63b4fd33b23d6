"""Tables of two categorical variables in two files, for a mosaic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.comparison.classes import OTHER, Classes, Pooled, pooled
from tacita.comparison.distributions import few, half_difference

MOST_CLASSES = 8
"""A mosaic has at most so many classes of each variable."""


class CrossTable(NamedTuple):
    """Two categorical variables in both files; the classes of the first are the rows."""

    variables: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    original: Floats
    """By row and column the share of the original."""
    released: Floats
    counts: Ints
    """By file, row and column: records."""

    @property
    def distance(self) -> float:
        """Half the sum of the differences of all cells: 0 the same table, 1 no cell in common."""
        return half_difference(self.original, self.released)


def cross_table(
    names: tuple[str, str], classes: Mapping[str, Classes], weights: tuple[Floats, Floats], public: bool
) -> CrossTable:
    """The table of two variables; in public no cell holds one or two records of a file."""
    first, second = (classes[name] for name in names)
    one, other = _pooled(first, public), _pooled(second, public)
    while True:
        counts = np.stack([_counts(one, first, other, second, file) for file in (0, 1)])
        small: Bools = np.asarray(few(counts).any(axis=0))
        if not public or not small.any():
            break
        one, other = _coarser(one, other, counts, small)
    shares = [_shares(one, first, other, second, file, weight) for file, weight in enumerate(weights)]
    return CrossTable(names, one.labels, other.labels, shares[0], shares[1], counts)


def _pooled(given: Classes, public: bool) -> Pooled:
    size = len(given.labels)
    counts = np.stack([np.bincount(codes, minlength=size) for codes in (given.original, given.released)])
    return pooled(given.labels, counts, MOST_CLASSES, public)


def _cells(one: Pooled, first: Classes, other: Pooled, second: Classes, file: int) -> Ints:
    rows, columns = (pool.into[(each.original, each.released)[file]] for pool, each in ((one, first), (other, second)))
    return np.asarray(rows * len(other.labels) + columns)


def _counts(one: Pooled, first: Classes, other: Pooled, second: Classes, file: int) -> Ints:
    shape = len(one.labels), len(other.labels)
    return np.bincount(_cells(one, first, other, second, file), minlength=shape[0] * shape[1]).reshape(shape)


def _shares(one: Pooled, first: Classes, other: Pooled, second: Classes, file: int, weights: Floats) -> Floats:
    shape = len(one.labels), len(other.labels)
    cells = _cells(one, first, other, second, file)
    sums = np.bincount(cells, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)
    return np.asarray(sums / sums.sum() if len(weights) else sums, dtype=np.float64)


def _coarser(one: Pooled, other: Pooled, counts: Ints, small: Bools) -> tuple[Pooled, Pooled]:
    """One class less: the smaller of the row and the column of the first cell with few records is put to others."""
    row, column = (int(each[0]) for each in np.nonzero(small))
    margins = counts.sum(axis=(0, 2)), counts.sum(axis=(0, 1))
    by_row = len(one.labels) > 1 and (len(other.labels) == 1 or margins[0][row] <= margins[1][column])
    if by_row:
        return _put_together(one, row, margins[0]), other
    return one, _put_together(other, column, margins[1])


def _put_together(pool: Pooled, place: int, sizes: Ints) -> Pooled:
    """A class and the other small ones as one; without such, with the smallest of the rest."""
    if OTHER in pool.labels and pool.labels[place] != OTHER:
        partner = pool.labels.index(OTHER)
    else:
        rest = [at for at in range(len(pool.labels)) if at != place]
        partner = min(rest, key=sizes.__getitem__)
    both = {place, partner}
    kept = [at for at in range(len(pool.labels)) if at not in both]
    behind = [at for at in kept if pool.labels[at] == "(missing)"]
    alone = [at for at in kept if at not in behind]
    labels = [*(pool.labels[at] for at in alone), OTHER, *(pool.labels[at] for at in behind)]
    moved = np.zeros(len(pool.labels), dtype=np.int64)
    moved[[*alone, *behind]] = [*range(len(alone)), *(len(alone) + 1 + at for at in range(len(behind)))]
    moved[list(both)] = len(alone)
    return Pooled(tuple(labels), moved[pool.into], pool.pooled + 1)
