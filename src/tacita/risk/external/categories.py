"""A categorical variable of two files: the codes of either, and what an original value becomes if not wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.data.visible import visible_categories
from tacita.distance.comparison import number_columns
from tacita.risk.external.columns import UNKNOWN, Column, table, within
from tacita.risk.linkage.files import Files

LARGEST_TABLE = 4_000_000
"""A table of more cells is replaced by the range of codes that each value may become."""


class Categories(NamedTuple):
    """Codes from 1 by position in the ordered files, 0 where missing; the two files need not hold the same values."""

    x: Ints
    y: Ints
    x_texts: tuple[str, ...]
    """What the codes of the original stand for."""
    y_texts: tuple[str, ...]
    pairs: tuple[Ints, Ints]
    """Positions in the original and in the released file that are the same record."""

    @property
    def shown(self) -> tuple[Ints, Ints]:
        """Codes of the records that show the variable in both files."""
        x, y = self.x[self.pairs[0]], self.y[self.pairs[1]]
        both = (x > 0) & (y > 0)
        return x[both], y[both]

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """Codes that come together on the records of both files, and how often."""
        x, y = self.shown
        width = len(self.y_texts) + 1
        found, count = np.unique(x * width + y, return_counts=True)
        return found // width, found % width, count

    def becomes(self, *, coded: bool) -> Ints:
        """By code of the original: the released code that it has where it is not wrong; 0: none. The first: missing.

        Of values that were at most coded it is the code that their records have most often; of others the same value,
        or that code if it stands for no value of the original, as after a recoding.
        """
        place = {text: code for code, text in enumerate(self.y_texts, start=1)}
        x, y, count = self.counts()
        most = np.zeros(len(self.x_texts) + 1, dtype=np.int64)
        order = np.lexsort((-y, count))  # the most frequent last, of equally frequent ones the lowest code
        most[x[order]] = y[order]
        same = np.array([0, *(place.get(text, 0) for text in self.x_texts)])
        if coded:
            return np.where(most > 0, most, same)
        new = np.array([False, *(text not in self.x_texts for text in self.y_texts)])[most]
        return np.where(same > 0, same, np.where(new, most, 0))

    def kept(self) -> float:
        """The share of the records that show the variable in both files whose value is what it should be."""
        x, y = self.shown
        return float(np.mean(self.becomes(coded=False)[x] == y)) if len(x) else 1.0


def as_text(value: Any) -> str:
    """A value as mechanisms name it: 7 for 7.0, true for True."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value).strip()


def categories_of(files: Files, name: str) -> Categories:
    """The categories of a variable, as readers of both files tell them apart."""
    applied = (*files.original.variable(name).not_applicable, *files.released.variable(name).not_applicable)
    x, y = (visible_categories(data, name, applied) for data in (files.original, files.released))
    return Categories(
        x.codes.astype(np.int64)[files.x_order],
        y.codes.astype(np.int64)[files.y_order],
        tuple(map(as_text, x.values)),
        tuple(map(as_text, y.values)),
        own_records(files),
    )


def numbers_of(files: Files, name: str) -> tuple[Floats, Floats]:
    """A numeric variable by position in the ordered files, NaN where missing."""
    x = number_columns(files.original, (name,), "original")[:, 0][files.x_order]
    y = number_columns(files.released, (name,), "released")[:, 0][files.y_order]
    return x, y


def own_records(files: Files) -> tuple[Ints, Ints]:
    """Positions in the original and in the released file that are the same record."""
    own = files.own_positions
    known = np.flatnonzero(own >= 0)
    return own[known], known


def as_coded(given: Categories) -> Column:
    """A variable whose values were at most recoded: the intruder recodes his own alike.

    Which values a value may become is read off the records that both files have; a value that none of them shows stays
    what it is. A suppressed cell costs as much as a released value drawn at random: it could be any.
    """
    x, y, _ = given.counts()
    width = len(given.y_texts) + 1
    lowest, highest = np.full(len(given.x_texts) + 1, np.inf), np.full(len(given.x_texts) + 1, -np.inf)
    np.minimum.at(lowest, x, y)
    np.maximum.at(highest, x, y)
    never = np.isinf(lowest)
    same = given.becomes(coded=True)
    lowest[never], highest[never] = np.where(same[never] > 0, same[never], np.inf), same[never]
    shares = shares_of(given.y, width)
    released = given.y.astype(np.float64)
    if (lowest < highest).any() and len(lowest) * width <= LARGEST_TABLE:
        costs = np.full((len(lowest), width), np.inf)
        costs[x, y] = 0.0
        alone = np.flatnonzero(never & (same > 0))
        costs[alone, same[alone]] = 0.0
        costs[:, 0] = surprise(np.where(costs[:, 1:] == 0.0, shares[1:], 0.0).sum(axis=1), len(given.y))
        return table(released, unless_missing(given.x, given.x), costs)
    total = np.concatenate([[0.0], np.cumsum(shares[1:])])
    ends = np.where(np.isinf(lowest), 0, highest).astype(np.int64)
    starts = np.where(np.isinf(lowest), 1, lowest).astype(np.int64)
    blank = surprise(total[ends] - total[starts - 1], len(given.y))
    return within(released, unless_missing(lowest[given.x], given.x), highest[given.x], blank[given.x])


def unless_missing(values: Any, codes: Ints) -> Floats:
    """What the intruder's values say, nothing where they are missing."""
    found: Floats = np.where(codes > 0, values, UNKNOWN).astype(np.float64)
    return found


def shares_of(codes: Ints, width: int) -> Floats:
    """By code its share among the records that show one; 0 for a missing one."""
    count = np.bincount(codes, minlength=width).astype(np.float64)
    count[0] = 0.0
    shares: Floats = count / max(count.sum(), 1.0)
    return shares


def surprise(likelihood: Floats, size: int) -> Floats:
    """Minus the logarithm of a likelihood, which is taken for at least 1/(n + 1): a suppressed cell may be anything."""
    cost: Floats = -np.log(np.clip(likelihood, 1.0 / (size + 1.0), 1.0))
    return cost
