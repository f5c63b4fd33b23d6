"""A column of numbers out of the data and back: whole numbers without loss, codes and types as they were."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita import frame
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data


class Numbers(NamedTuple):
    """A column of numbers."""

    values: NDArray[Any]
    """64-bit whole numbers, or floats; anything where there is no number."""
    there: Bools
    """Where there is a number that means something: not missing, and no code declared missing or not applicable."""

    @property
    def whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return bool(np.issubdtype(self.values.dtype, np.integer))


def numbers_of(data: Data, name: str) -> Numbers:
    """The numbers of a column, whole ones as whole ones."""
    there = ~np.isnan(data.numbers(name))
    if not frame.is_whole(data.table, name):
        return Numbers(frame.numbers(data.table, name), there)
    series = data.table[name]
    ends = [end for end in (series.min(), series.max()) if isinstance(end, int)]
    if any(not -(1 << 63) <= end < 1 << 63 for end in ends):
        raise TacitaError(f"column {name!r} holds numbers beyond 64 bits, which are identifiers; remove it.")
    return Numbers(np.array(series.fill_null(0).to_numpy(), dtype=np.int64), there)


def written(data: Data, name: str, given: Numbers, fresh: NDArray[Any]) -> Any:
    """The column with fresh numbers where there were numbers; its type stays if they fit.

    Fractions make a column of whole numbers one of floats.
    """
    series = data.table[name]
    whole = given.whole and bool(np.issubdtype(fresh.dtype, np.integer))
    mixed = np.where(given.there, fresh, given.values if whole else frame.numbers(data.table, name))
    column = frame.blanked(frame.table({name: mixed}), {name: frame.missing(data.table, name)})[name]
    if not whole and not frame.is_float(data.table, name):
        return column
    fitted = column.cast(series.dtype, strict=False)
    return fitted if fitted.null_count() == column.null_count() else column
