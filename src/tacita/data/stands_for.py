"""What the records of a file stand for: units of the population, or the rows of a table that is too large."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tacita.arrays import Floats, Ints


class Condensed(NamedTuple):
    """What the rows of a table stand for that is too large for memory: one row per combination of some variables."""

    records: Ints
    """By row: how many records have its values."""
    weights: Ints | None = None
    """By row: the limbs of the fixed-point sum of their weights."""
    below_one: int = 0
    """How many records have a weight below 1."""
    squares: Floats | None = None
    """By row: the sum of squared deviations of their weights from the mean of the row."""
    means: str | None = None
    """The column that holds the mean weight of the rows, which no record need have; None: there is none."""
    apart: Any = None
    """What of both files is no part of the rows, and can be looked at besides; None: nothing."""

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.records.sum())

    def of_rows(self, rows: Ints) -> Condensed:
        """Those of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        squares = None if self.squares is None else self.squares[rows]
        return self._replace(records=self.records[rows], weights=weights, squares=squares)


class OriginalWeights(NamedTuple):
    """What each record stood for in the population before a step changed or dropped the weight, or dropped records."""

    name: str | None
    """The weight's column; None: there is none, and every record stands for itself."""
    values: Floats
    """By record; in no released file."""
    growth: Floats | None = None
    """By record: how many times its weight it stands for since records with the same keys were dropped."""
    keys: frozenset[str] = frozenset()
    """The keys that those records shared: the growth holds for them, and for some of them."""
    condensed: Condensed | None = None
    """Of rows that stand for many records each: the sums of those weights."""

    def of_rows(self, rows: Ints) -> OriginalWeights:
        """Those of some of the records."""
        growth = None if self.growth is None else self.growth[rows]
        condensed = None if self.condensed is None else self.condensed.of_rows(rows)
        return self._replace(values=self.values[rows], growth=growth, condensed=condensed)

    def stands_for(self, keys: Iterable[str]) -> Floats:
        """By record: how many units of the population it stands for, on these keys."""
        return self.values * self.growth if self.growth is not None and self.keys.issuperset(keys) else self.values
