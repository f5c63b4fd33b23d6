"""Which record of the intruder's file is the same unit as a released record, where that is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes
from tacita.repeats import how_many


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


class Shared(NamedTuple):
    """The records that two files have in common, in the order of the released one."""

    original: Ints
    """Their rows in the original."""
    released: Ints
    """Their rows in the released file."""
    new: int
    """Released records that are not in the original."""


def shared_records(original: Data, released: Data, unit: str | None) -> Shared:
    """The records that both files have; an error if they have none in common.

    A step can drop records and add others: those that it added have no original to be compared with.

    >>> import numpy as np, polars as pl
    >>> firms = Data(pl.DataFrame({"turnover": [1, 2, 3]}), numbers_of_records=np.array([1, 2, 3]))
    >>> released = Data(pl.DataFrame({"turnover": [3, 9, 1]}), numbers_of_records=np.array([3, 4, 1]))
    >>> shared_records(firms, released, None)
    Shared(original=array([2, 0]), released=array([0, 2]), new=1)
    """
    own = same_unit(original, released, unit)
    if not len(own):
        raise TacitaError("the released file has no records.")
    rows = np.flatnonzero(own >= 0)
    if not len(rows):
        raise TacitaError(
            "no released record is in the original, so there is nothing to compare; check the record numbers or name "
            "another column with unit=...."
        )
    return Shared(own[rows], rows, how_many(own < 0, released.repeats))


def new_records_caution(count: int) -> tuple[str, ...]:
    """That some released records have no original; nothing where all of them have one."""
    if not count:
        return ()
    are = "is" if count == 1 else "are"
    return (
        f"{check.counted(count, 'released record')} {are} not in the original: what is compared record by record is "
        f"compared for the others.",
    )
