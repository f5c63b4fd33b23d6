"""Tables of the caller's own kind: taken in, given back, and taken apart without changing the types of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.frame.mixed import as_texts, mixed_moments

Frame = pl.DataFrame


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


def from_native(native: Any, mixed: list[str] | None = None) -> Frame:
    """A Polars frame of any eager frame; the caller's frame is never changed.

    To `mixed` go the names of columns that hold values of several types, and are columns of texts now.
    """
    noted: list[str] = [] if mixed is None else mixed
    if isinstance(native, pl.LazyFrame):
        raise TacitaError("data must be loaded; got a lazy frame, call .collect() on it first.")
    if isinstance(native, pl.DataFrame):
        objects = [as_texts(series, noted) for series in native if series.dtype == pl.Object]
        return native.with_columns(objects) if objects else native
    try:
        door = nw.from_native(native, eager_only=True)
    except TypeError:
        kind = type(native).__name__
        raise TacitaError(f"data must be a path or a pandas, Polars or Arrow table; got {kind}.") from None
    except ValueError:
        # Narwhals refuses duplicate column names before we can; its message is long.
        check.unique_names("columns", [str(name) for name in native.columns])
        raise TacitaError("the table could not be read; check its column names.") from None
    columns = [str(name) for name in door.columns]
    check.unique_names("columns", columns)
    return of_columns(
        _series(name, door.get_column(given), noted) for name, given in zip(columns, door.columns, strict=True)
    )


def of_columns(columns: Iterable[pl.Series]) -> Frame:
    """A frame of columns."""
    # Of a list of columns Polars would rename one without a name.
    return pl.DataFrame({column.name: column for column in columns})


def _series(name: str, column: Any, noted: list[str]) -> pl.Series:
    moments = mixed_moments(column) if column.dtype == nw.Object else None
    if moments is not None:
        return pl.Series(name, moments, dtype=pl.String)
    try:
        series = pl.Series(name, column.to_arrow())
    except Exception:
        # One such column must not keep the others from being used; Arrow's message would quote a cell.
        return as_texts(pl.Series(name, column.to_list(), dtype=pl.Object), noted)
    if series.dtype == pl.Null:
        return series.cast(pl.String)
    if column.dtype == nw.Enum and series.dtype == pl.Categorical:
        # Arrow forgets that a pandas categorical is ordered.
        return series.cast(pl.Enum(column.dtype.categories))
    return series.fill_nan(None) if series.dtype.is_float() else series


def to_native(frame: Frame, native: Any, changed: Iterable[str], orders: Mapping[str, tuple[Any, ...]]) -> Any:
    """The caller's kind of table with the changed columns replaced; index and untouched columns as they were.

    Changed columns of pandas whose categories are in an order say so. What comes back shares no memory with `native`.
    """
    if native is None or isinstance(native, pl.DataFrame):
        return frame
    door = nw.from_native(native, eager_only=True)
    given = {str(name): name for name in door.columns}
    backend = door.implementation
    categorical = {name for name in door.columns if door.schema[name] in (nw.Categorical, nw.Enum)}
    fresh = []
    for name in frame.columns:
        if name in set(changed) or name not in given:
            ordered = (
                in_order(frame[name], orders.get(name, ())) if backend is nw.Implementation.PANDAS else frame[name]
            )
            series = native_series(ordered, backend, given.get(name) in categorical)
            fresh.append(nw.from_native(series, series_only=True).alias(given.get(name, name)))
    names = [nw.col(given.get(name, name)) for name in frame.columns]
    return independent_copy(door.with_columns(*fresh).select(names).to_native())


def with_categories(native: Any) -> list[str]:
    """The columns of the caller's table that carry a list of categories, of texts or of numbers."""
    if native is None or isinstance(native, pl.DataFrame):
        return []
    schema = nw.from_native(native, eager_only=True).schema
    return [str(name) for name, kind in schema.items() if kind in (nw.Categorical, nw.Enum)]


def independent_copy(native: Any) -> Any:
    """A copy of a table that shares no memory with it: a column of pandas is a view of a block of columns."""
    return native.copy() if nw.dependencies.is_pandas_dataframe(native) else native


def of_kind(frame: Frame, native: Any) -> Any:
    """A frame as the kind of table that the caller has, without index; None if there is no table of the caller."""
    if native is None or isinstance(native, pl.DataFrame):
        return None
    backend = nw.from_native(native, eager_only=True).implementation
    if backend is nw.Implementation.PANDAS:
        return frame.to_pandas()
    return frame.to_arrow() if backend is nw.Implementation.PYARROW else None
