"""Tables of the caller's own kind, taken apart without changing the types of their columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from tacita.arrays import Ints


def native_rows(native: Any, rows: Ints) -> Any:
    """Some rows of a table of any kind, in the order given, as that kind.

    >>> import numpy as np, polars as pl
    >>> native_rows(pl.DataFrame({"sex": ["f", "m"]}), np.array([1, 1]))["sex"].to_list()
    ['m', 'm']
    """
    return nw.from_native(native, eager_only=True)[rows, :].to_native()


def in_order(series: pl.Series, order: tuple[Any, ...]) -> pl.Series:
    """Texts as categories in their order, if it names all of them."""
    named = bool(order) and all(isinstance(value, str) for value in order) and series.dtype == pl.String
    return series.cast(pl.Enum(order)) if named and set(series.drop_nulls().unique()) <= set(order) else series


def native_series(series: pl.Series, backend: Any, categorical: bool) -> Any:
    """A column of the caller's kind."""
    if backend is nw.Implementation.PANDAS:
        # Of texts and numbers pandas makes categories that occur; ordered ones bring their own.
        bare = categorical and series.dtype != pl.Enum
        return series.to_pandas().astype("category") if bare else series.to_pandas()
    if backend is nw.Implementation.PYARROW:
        import pyarrow

        return pyarrow.chunked_array([series.to_arrow()])
    return nw.new_series(series.name, series.to_list(), backend=backend).to_native()
