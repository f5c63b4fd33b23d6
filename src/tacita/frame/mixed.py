"""Columns that hold cells of several types, which no frame library but pandas has: they become texts.

One such column must not keep the others from being used. What is counted is what a reader of the text sees.
"""

from __future__ import annotations

import warnings
from datetime import date, datetime
from typing import Any

import polars as pl

from tacita import check

ADDRESS = " at 0x"
"""In the text of an object that has no text of its own: where it lies in memory."""


def as_texts(series: pl.Series, noted: list[str]) -> pl.Series:
    """A column of several types as the texts that a reader of a file sees, noted and with a warning; NaN is missing."""
    cells = series.to_list()
    if any(ADDRESS in str(cell) for cell in cells if not isinstance(cell, str)):
        raise check.TacitaError(f"column {series.name!r} holds objects; make it all text or all numbers.")
    noted.append(series.name)
    warnings.warn(
        f"column {series.name!r} mixes several types and is read as text; make it all text or all numbers.",
        check.TacitaWarning,
        stacklevel=5,
    )
    texts = [None if _is_nothing(cell) else str(cell) for cell in cells]
    return pl.Series(series.name, texts, dtype=pl.String)


def _is_nothing(cell: Any) -> bool:
    """Whether a Python object stands for a missing value, in Python, NumPy or pandas."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


def mixed_moments(column: Any) -> list[str | None] | None:
    """Dates beside datetimes, or clocks with and without a time zone, as the texts that a reader of them sees; None of
    any other column.

    Arrow would make dates of all of them, or clocks without a zone, and what is counted would be less than is released.
    """
    cells = column.to_list()
    moments = [cell for cell in cells if isinstance(cell, date) and cell == cell]
    kinds = {(isinstance(cell, datetime), getattr(cell, "tzinfo", None) is not None) for cell in moments}
    others = any(not isinstance(cell, date) and cell is not None and cell == cell for cell in cells)
    if len(kinds) < 2 or others:
        return None
    return [str(cell) if isinstance(cell, date) and cell == cell else None for cell in cells]
