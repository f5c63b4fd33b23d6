"""A column of numbers out of the data and back: whole numbers without loss, codes and types as they were."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.variable import among_codes

EXACT = 2**53
"""Up to this every whole number is a float."""


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
    if frame.is_boolean(data.table, name):
        raise TacitaError(f"column {name!r} holds true and false, which are no numbers; use Recode with a mapping.")
    there = ~np.isnan(data.numbers(name))
    if not frame.is_whole(data.table, name):
        return Numbers(frame.numbers(data.table, name), there)
    series = data.table[name]
    ends = [end for end in (series.min(), series.max()) if isinstance(end, int)]
    if any(not -(1 << 63) <= end < 1 << 63 for end in ends):
        raise TacitaError(f"column {name!r} holds numbers beyond 64 bits, which are identifiers; remove it.")
    return Numbers(frame.whole_or_zero(data.table, name), there)


def written(data: Data, name: str, given: Numbers, fresh: NDArray[Any]) -> Any:
    """The column with fresh numbers where there were numbers; its type stays if they fit.

    Fractions make a column of whole numbers one of floats. A fresh number that is declared missing, or that would be
    one where whole numbers beyond 2^53 must become floats, is an error: nobody could tell it from the others.
    """
    series = data.table[name]
    whole = given.whole and bool(np.issubdtype(fresh.dtype, np.integer))
    if given.whole and not whole and not _fit_floats(given):
        raise TacitaError(
            f"column {name!r} holds whole numbers beyond 2^53, which cannot stand beside fractions; choose a whole "
            f"number."
        )
    _check_no_codes(data, name, given.there, fresh)
    mixed = np.where(given.there, fresh, given.values if whole else frame.numbers(data.table, name))
    column = frame.blanked(frame.table({name: mixed}), {name: frame.missing(data.table, name)})[name]
    if not whole and not frame.is_float(data.table, name) and not frame.is_decimal(data.table, name):
        return column
    fitted = column.cast(series.dtype, strict=False)
    kept = fitted.null_count() == column.null_count() and not frame.different(column, fitted).any()
    return fitted if kept or frame.is_float(data.table, name) else column


def _fit_floats(given: Numbers) -> bool:
    """Whether floats hold all of the whole numbers."""
    return bool(((given.values >= -EXACT) & (given.values <= EXACT)).all())


def _check_no_codes(data: Data, name: str, there: Bools, fresh: NDArray[Any]) -> None:
    known = data.variable(name)
    codes = among_codes(fresh, (*known.missing, *known.not_applicable), known.missing_ranges)
    count = int((there & codes).sum())
    if count:
        raise TacitaError(
            f"{check.counted(count, 'record')} of {name!r} would get a number that is declared missing or not "
            f"applicable; choose other parameters, or other codes."
        )
