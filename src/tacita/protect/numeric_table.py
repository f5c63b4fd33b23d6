"""Several columns of numbers out of the data and back, by record number, for steps that treat them together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import check_sizes
from tacita.protect.numeric_column import Numbers, numbers_of, written
from tacita.protect.step import Step, present


class NumericTable(NamedTuple):
    """Columns of numbers, one row per record in the order of record numbers.

    Sums then do not depend on the order that the rows of the file have.
    """

    names: tuple[str, ...]
    """The variables."""
    columns: tuple[Numbers, ...]
    """By variable: the column as it stands in the file."""
    rows: Ints
    """By row of `values`: its row in the file."""
    record: Ints
    """By row of `values`: its record number, increasing."""
    values: Floats
    """By record and variable: the number; NaN where it is missing, or a code that is no measurement."""

    @property
    def complete(self) -> Bools:
        """Which records have all of the numbers."""
        return ~np.asarray(np.isnan(self.values).any(axis=1), dtype=np.bool_)

    @property
    def whole(self) -> Bools:
        """Which variables hold whole numbers."""
        return np.array([column.whole for column in self.columns], dtype=np.bool_)


def numeric_table(step: Step, names: tuple[str, ...], data: Data) -> NumericTable:
    """The numbers of some variables; those that are infinite or too large to be added up are an error."""
    columns = tuple(numbers_of(data, name) for name in present(step, names, data))
    rows = np.argsort(data.record, kind="stable")
    values = np.empty((len(rows), len(columns)))
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        values[:, place] = np.where(column.there, column.values, np.nan)[rows]
        check_sizes(name, values[:, place])
    return NumericTable(tuple(names), columns, rows, data.record[rows], values)


def with_numbers(data: Data, given: NumericTable, fresh: Floats) -> Data:
    """The data with fresh numbers where there were numbers.

    Numbers that did not change stay to the last digit; in a column of whole numbers the others are rounded.
    """
    new = {}
    for place, (name, column) in enumerate(zip(given.names, given.columns, strict=True)):
        changed = (fresh[:, place] != given.values[:, place]) & ~np.isnan(given.values[:, place])
        if not np.isfinite(fresh[changed, place]).all():
            raise TacitaError(f"some numbers of {name!r} would become infinite or missing; choose smaller parameters.")
        values, rows = column.values.copy(), given.rows[changed]
        values[rows] = np.rint(fresh[changed, place]) if column.whole else fresh[changed, place]
        new[name] = written(data, name, column, values)
    return data.with_columns(new)
