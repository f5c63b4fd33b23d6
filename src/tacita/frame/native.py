"""Tables of the caller's own kind, taken apart without changing the types of their columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from tacita.arrays import Ints
from tacita.check import TacitaError


def native_rows(native: Any, rows: Ints) -> Any:
    """Some rows of a table of any kind, in the order given, as that kind.

    >>> import numpy as np, polars as pl
    >>> native_rows(pl.DataFrame({"sex": ["f", "m"]}), np.array([1, 1]))["sex"].to_list()
    ['m', 'm']
    """
    return nw.from_native(native, eager_only=True)[rows, :].to_native()


def refuse_objects(native: Any) -> None:
    """An error for a Polars frame with a column of objects: all that is handed out of them is where they lie."""
    if isinstance(native, pl.DataFrame) and pl.Object in native.dtypes:
        raise TacitaError("columns of objects cannot be read; make them all text or all numbers.")
