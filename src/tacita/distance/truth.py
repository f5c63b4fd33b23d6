"""Which record of the intruder's file is the same unit as a released record, where that is known."""

from __future__ import annotations

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes


def same_unit(original: Data, released: Data, unit: str | None) -> Ints:
    """For each released record the row of its original, -1 if it has none.

    By a column that identifies the units, or by record number. Two tables without record numbers belong together row by
    row, and then must be equally long.
    """
    if unit is not None:
        return _by_column(original, released, unit)
    numbered = original.numbers_of_records is not None or released.numbers_of_records is not None
    if not numbered and len(original) != len(released):
        raise TacitaError(
            f"original and released must have the same records, row by row; got {len(original):,} and "
            f"{len(released):,}, name a column that identifies them with unit=...."
        )
    order = np.argsort(original.record, kind="stable")
    numbers = original.record[order]
    if (numbers[1:] == numbers[:-1]).any():
        raise TacitaError("record numbers of the original must differ; read the file again.")
    place = np.minimum(np.searchsorted(numbers, released.record), len(numbers) - 1)
    return np.where(numbers[place] == released.record, order[place], -1)


def _by_column(original: Data, released: Data, unit: str) -> Ints:
    for what, data in (("original", original), ("released", released)):
        check.columns_exist(f"unit of the {what} file", (unit,), data.columns)
    x, y = common_codes(original, released, unit, identifier=True)
    for what, codes in (("original", x), ("released", y)):
        shown = codes[~np.isnan(codes)]
        twice = len(shown) - len(np.unique(shown))
        if twice:
            raise TacitaError(
                f"unit {unit!r} must identify the records; in the {what} file {check.counted(twice, 'value')} of it "
                f"{'comes' if twice == 1 else 'come'} again, name another column."
            )
    place = np.full(int(np.nanmax(np.concatenate([x, y, [0.0]]))) + 1, -1)
    known = np.flatnonzero(~np.isnan(x))
    place[x[known].astype(np.int64)] = known
    return np.where(np.isnan(y), -1, place[np.where(np.isnan(y), 0.0, y).astype(np.int64)])


def paired(original: Data, released: Data, unit: str | None) -> Ints:
    """For each released record the row of its original; an error if one has none."""
    rows = same_unit(original, released, unit)
    if not len(rows):
        raise TacitaError("the released file has no records.")
    alone = int((rows < 0).sum())
    if alone:
        raise TacitaError(
            f"every released record must have its original; {check.counted(alone, 'record')} "
            f"{'has' if alone == 1 else 'have'} none, check the record numbers or name another column with unit=...."
        )
    return rows
