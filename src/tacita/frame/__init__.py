"""The only module that knows a frame library: Polars inside, Narwhals to convert tables of other kinds.

The rest of Tacita sees columns as NumPy arrays: numbers as float64 with NaN for missing, categories as integer codes
with 0 for missing. What a caller passed in (pandas, Polars, Arrow) is what he gets back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import polars as pl

from tacita.arrays import Bools, Floats, Ints
from tacita.frame.columns import Coded as Coded
from tacita.frame.columns import Frame as Frame
from tacita.frame.columns import all_whole as all_whole
from tacita.frame.columns import coded as coded
from tacita.frame.columns import groups as groups
from tacita.frame.columns import is_float as is_float
from tacita.frame.columns import kind_of
from tacita.frame.columns import numbers as numbers
from tacita.frame.columns import read_text as read_text
from tacita.frame.columns import typed as typed
from tacita.frame.columns import with_whole_numbers as with_whole_numbers
from tacita.frame.native import from_native as from_native
from tacita.frame.native import independent_copy as independent_copy
from tacita.frame.native import of_columns
from tacita.frame.native import of_kind as of_kind
from tacita.frame.native import to_native as to_native
from tacita.frame.native import with_categories as with_categories
from tacita.frame.rebuild import rebuilt as rebuilt
from tacita.frame.rebuild import used_categories as used_categories


def blanked(frame: Frame, cells: Mapping[str, Bools]) -> Frame:
    """A frame in which some cells are missing: by column, where."""
    # Columns themselves rather than their names, which Polars may read as patterns: `*` is every column.
    return frame.with_columns(
        pl.when(pl.Series(~where)).then(frame[name]).otherwise(None).alias(name) for name, where in cells.items()
    )


def without(frame: Frame, names: Iterable[str]) -> Frame:
    """A frame without some columns."""
    gone = set(names)
    return of_columns(frame[name] for name in frame.columns if name not in gone)


def is_categorical(frame: Frame, name: str) -> bool:
    """Whether a column carries a list of its categories."""
    return isinstance(frame[name].dtype, pl.Categorical | pl.Enum)


def different(left: pl.Series, right: pl.Series) -> Bools:
    """Where two columns differ; missing equals missing, and a text differs from any number."""
    left, right = (each.fill_nan(None) if each.dtype.is_float() else each for each in (left, right))
    kinds = [("text" if kind_of(each) == "text" else each.dtype.is_numeric() or each.dtype) for each in (left, right)]
    if kinds[0] != kinds[1]:
        return (left.is_not_null() | right.is_not_null()).to_numpy()
    return ~same(left, right) | _rounded(left, right) | _rounded(right, left)


def _rounded(whole: pl.Series, floats: pl.Series) -> Bools:
    """Where a whole number is not the float beside it, though it would become it: beyond 2^53 not all of them fit."""
    if not (whole.dtype.is_integer() and floats.dtype.is_float()):
        return np.zeros(len(whole), dtype=np.bool_)
    back = floats.cast(pl.Float64).cast(pl.Int128, strict=False)
    differ: Bools = (whole.cast(pl.Int128).ne_missing(back) & floats.is_not_null()).to_numpy()
    return differ


def table(columns: Mapping[str, Any]) -> Frame:
    """A frame of arrays and coded columns."""
    return of_columns(_column(name, values) for name, values in columns.items())


def rows(kinds: Mapping[str, type], given: Sequence[Sequence[Any]]) -> Frame:
    """A frame of rows, its columns of the kinds given even where there are no rows."""
    return pl.DataFrame(given, schema=dict(kinds), orient="row")


def whole_numbers(values: Floats) -> pl.Series:
    """Numbers as whole numbers, missing where NaN."""
    return pl.Series(values).fill_nan(None).cast(pl.Int64)


def _column(name: str, values: Any) -> pl.Series:
    if isinstance(values, tuple) and len(values) == 2 and isinstance(values[0], np.ndarray):
        codes, labels = values
        if "" in labels:
            # A blank that is a category, beside numbers or dates.
            labels = [str(label) for label in labels]
        lookup = pl.Series(name, [None, *labels])
        return lookup.gather(pl.Series(codes.astype(np.uint32)))
    series = values.alias(name) if isinstance(values, pl.Series) else pl.Series(name, values)
    return series.fill_nan(None) if series.dtype.is_float() else series


def is_whole(frame: Frame, name: str) -> bool:
    """Whether a column holds whole numbers."""
    return bool(frame[name].dtype.is_integer())


def whole_or_zero(frame: Frame, name: str) -> Ints:
    """Whole numbers of at most 64 bits of a column; 0 where missing."""
    return np.array(frame[name].cast(pl.Int64).fill_null(0).to_numpy(), dtype=np.int64)


def is_text(frame: Frame, name: str) -> bool:
    """Whether a column holds texts, as such or as categories."""
    return bool(frame[name].dtype in (pl.String, pl.Categorical, pl.Enum))


def is_date(frame: Frame, name: str) -> bool:
    """Whether a column holds days, with or without the time of day."""
    return bool(frame[name].dtype in (pl.Date, pl.Datetime))


def is_moment(frame: Frame, name: str) -> bool:
    """Whether a column holds days with the time of day."""
    return isinstance(frame[name].dtype, pl.Datetime)


def some_texts(frame: Frame, name: str, most: int) -> list[str]:
    """Values of a column that are not missing, as texts: all of them, or `most` from all over the file."""
    series = frame[name].drop_nulls()
    if len(series) > most:
        series = series.gather(np.linspace(0, len(series) - 1, most).astype(np.int64))
    return [str(value) for value in series.to_list()]


def span(frame: Frame, name: str) -> int:
    """How many whole numbers there are from the smallest to the largest of a column; 0 if it is empty."""
    low, high = cast(Any, frame[name].min()), cast(Any, frame[name].max())
    return 0 if low is None else int(high) - int(low) + 1


def is_boolean(frame: Frame, name: str) -> bool:
    """Whether a column holds true and false."""
    return bool(frame[name].dtype == pl.Boolean)


def is_decimal(frame: Frame, name: str) -> bool:
    """Whether a column holds decimal numbers."""
    return bool(frame[name].dtype.is_decimal())


def is_ordered(frame: Frame, name: str) -> bool:
    """Whether a column's categories have a declared order."""
    return bool(frame[name].dtype == pl.Enum)


def missing(frame: Frame, name: str) -> Bools:
    """Where a column is missing: null, or NaN in a column of floats."""
    series = frame[name]
    gone = series.is_null()
    if series.dtype.is_float():
        gone = gone | series.is_nan().fill_null(False)
    return gone.to_numpy()


def empty_texts(frame: Frame, name: str) -> Bools:
    """Where a column holds the empty text."""
    series = frame[name]
    if kind_of(series) != "text":
        return np.zeros(len(series), dtype=np.bool_)
    return (series.cast(pl.String) == "").fill_null(False).to_numpy()


def distinct(frame: Frame, name: str) -> int:
    """The number of different values that are not missing."""
    series = frame[name].drop_nulls()
    return int((series.drop_nans() if series.dtype.is_float() else series).n_unique())


def take(frame: Frame, rows: Ints) -> Frame:
    """Some rows, in the order given."""
    return frame[rows]


def take_or_missing(frame: Frame, rows: Ints) -> Frame:
    """Some rows, in the order given; a row of missing values for -1."""
    places = pl.Series(np.where(rows < 0, 0, rows)).set(pl.Series(rows < 0), None)
    return frame.select(pl.all().gather(places))


def beside(left: Frame, right: Frame, mark: str = " (key)") -> Frame:
    """The columns of two frames of equal length beside each other; clashing names of the right one are marked."""
    taken = {*left.columns, *right.columns}
    renamed = {}
    for name in right.columns:
        if name in left.columns:
            renamed[name] = f"{name}{mark}"
            while renamed[name] in taken:
                renamed[name] += "'"
            taken.add(renamed[name])
    return left.hstack(right.rename(renamed))


def same(left: pl.Series, right: pl.Series) -> Bools:
    """Where two columns of one kind are equal; missing equals missing."""
    if left.dtype == pl.Object:
        # Polars compares no objects.
        return np.array([one is other for one, other in zip(left, right, strict=True)], dtype=np.bool_)
    one, other = alike(left, right)
    return one.eq_missing(other).to_numpy()


def alike(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two columns of one kind in one type, so that 1 is 1 whatever its width."""
    if left.dtype in (pl.String, pl.Categorical, pl.Enum):
        return left.cast(pl.String), right.cast(pl.String)
    if left.dtype.is_integer() and right.dtype.is_integer():
        return left.cast(pl.Int128), right.cast(pl.Int128)
    if left.dtype.is_numeric() and right.dtype.is_numeric():
        return left.cast(pl.Float64).fill_nan(None), right.cast(pl.Float64).fill_nan(None)
    return left, right.cast(left.dtype)


def stacked(tables: Sequence[Frame]) -> Frame:
    """Frames with the same columns under each other."""
    return pl.concat(tables)
