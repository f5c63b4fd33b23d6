"""The categories of one variable, or of several taken together, out of the data and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.recode.regroup import column_of, text_of

MOST_CATEGORIES = 1000
"""A matrix of more rows would be no use to anybody."""
CLOSE_TOGETHER = 1 << 20
"""Codes below this are counted, others sorted."""


class Categories(NamedTuple):
    """The categories of some variables, and which record has which."""

    names: tuple[str, ...]
    """The variables."""
    codes: Ints
    """By record: its category, -1 where one of the variables is missing or holds a code declared so."""
    texts: tuple[tuple[str, ...], ...]
    """By category: its values as texts."""
    rows: Ints
    """By category: a row that has it, -1 if none has."""
    unchanged: tuple[str, ...]
    """Codes declared missing or not applicable, as texts: they stay."""
    repeats: Ints | None = None
    """How many records each row stands for, where data are condensed."""

    @property
    def there(self) -> Ints:
        """The rows that have a category."""
        return np.flatnonzero(self.codes >= 0)

    def totals(self, weights: Floats | None, record: Ints) -> Floats:
        """By category: how many records it has, or the sum of their weights, whatever the order of the rows."""
        if weights is None:
            repeats = None if self.repeats is None else self.repeats[self.there]
            return np.bincount(self.codes[self.there], repeats, len(self.texts)).astype(np.float64)
        rows = self.there[np.argsort(record[self.there], kind="stable")]
        return np.bincount(self.codes[rows], weights=weights[rows], minlength=len(self.texts)).astype(np.float64)


def categories_of(data: Data, names: tuple[str, ...]) -> Categories:
    """The categories that occur; of several variables the combinations that occur."""
    singles = [_single(data, name) for name in names]
    made = singles[0] if len(singles) == 1 else _together(names, singles)
    if data.condensed is not None:
        made = made._replace(repeats=data.condensed.records)
    if len(made.texts) > MOST_CATEGORIES:
        what = "have {:,} combinations" if len(names) > 1 else "has {:,} categories"
        raise TacitaError(
            f"{check.quoted(names)} {what.format(len(made.texts))}, more than {MOST_CATEGORIES:,}; recode first."
        )
    return made


def _single(data: Data, name: str) -> Categories:
    column = column_of(data, name)
    plain = set(column.plain)
    lookup = np.full(len(column.values) + 1, -1, dtype=np.int64)
    kept = [place for place, value in enumerate(column.values, start=1) if value in plain]
    lookup[kept] = np.arange(len(kept))
    codes = lookup[column.codes]
    texts = tuple((text_of(column.values[place - 1]),) for place in kept)
    return Categories((name,), codes, texts, _rows_of(codes, len(kept)), tuple(map(text_of, column.declared)))


def _together(names: tuple[str, ...], singles: Sequence[Categories]) -> Categories:
    """Combinations that occur, in the order of their first variable, then of the next."""
    joint = np.zeros(len(singles[0].codes), dtype=np.int64)
    complete = np.all([each.codes >= 0 for each in singles], axis=0)
    texts: list[tuple[str, ...]] = [()]
    for each in singles:
        size = max(len(each.texts), 1)
        found, joint[complete] = distinct_codes(joint[complete] * size + each.codes[complete])
        texts = [texts[code // size] + each.texts[code % size] for code in found.tolist()]
    codes = np.where(complete, joint, -1)
    unchanged = tuple(dict.fromkeys(code for each in singles for code in each.unchanged))
    return Categories(names, codes, tuple(texts), _rows_of(codes, len(texts)), unchanged)


def distinct_codes(codes: Ints) -> tuple[Ints, Ints]:
    """The different codes, ascending, and the place of each record's among them; without sorting if they lie close.

    >>> [each.tolist() for each in distinct_codes(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    if not len(codes) or codes.max() >= CLOSE_TOGETHER:
        found, place = np.unique(codes, return_inverse=True)
        return found, place.reshape(-1)
    occurs = np.bincount(codes) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _rows_of(codes: Ints, count: int) -> Ints:
    rows = np.full(count, -1, dtype=np.int64)
    there = np.flatnonzero(codes >= 0)
    rows[codes[there]] = there
    return rows


def as_named(given: Categories, texts: tuple[str, ...]) -> Categories:
    """The categories of one variable in the order of a matrix of the user's, with those that no record has."""
    place = {text: at for at, text in enumerate(texts)}
    unknown = sum(text not in place for (text,) in given.texts)
    if unknown:
        counted = check.counted(unknown, "category", "categories")
        raise TacitaError(f"column {given.names[0]!r} has {counted} without a row in the matrix; add them there.")
    lookup = np.array([*(place[text] for (text,) in given.texts), -1], dtype=np.int64)
    codes = lookup[given.codes]
    return given._replace(codes=codes, texts=tuple((text,) for text in texts), rows=_rows_of(codes, len(texts)))


def with_categories(data: Data, given: Categories, fresh: Ints) -> dict[str, Any]:
    """By variable the column with new categories by record of `given.there`: type, labels and order stay.

    A record takes the value of one that has it, in all variables of a combination.
    """
    rows = np.arange(len(data), dtype=np.int64)
    unseen = np.flatnonzero(given.rows < 0)
    unseen = unseen[np.isin(unseen, fresh)]
    source = given.rows.copy()
    source[unseen] = len(data) + np.arange(len(unseen))
    rows[given.there] = source[fresh]
    if not len(unseen):
        return {name: data.table[name][rows] for name in given.names}
    (name,) = given.names
    more = _written(data, name, [given.texts[code][0] for code in unseen.tolist()])
    return {name: frame.stacked([frame.table({name: each}) for each in (data.table[name], more)])[name][rows]}


def _written(data: Data, name: str, texts: list[str]) -> Any:
    """Categories that no record has, in the type of the column."""
    kind = data.table[name].dtype
    made = frame.table({name: texts})[name]
    known = frame.is_text(data.table, name) or frame.is_whole(data.table, name) or frame.is_float(data.table, name)
    made = made.cast(kind, strict=False) if known else made
    if not known or made.null_count():
        raise TacitaError(
            f"the matrix leads to categories that no record has and that do not fit the type of column {name!r}; leave "
            f"them out of it."
        )
    return made
