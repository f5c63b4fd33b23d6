"""Columns as the rest of Tacita takes them: texts of a file as numbers, numbers as arrays, values as codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tacita.arrays import Codes, Floats, Ints
from tacita.check import TacitaError

Frame = pl.DataFrame
Words = dict[str, dict[str, int]]
"""How often some texts stand in some columns."""


class Coded(NamedTuple):
    """A categorical column: codes, 0 for missing, and the values that the codes 1, 2, ... stand for."""

    codes: Codes
    values: tuple[Any, ...]


def read_text(source: bytes, *, delimiter: str, columns: Sequence[str], quote: str | None = '"') -> Frame:
    """The records of a delimited text of known shape, without its header, as texts; empty fields are missing."""
    kinds = dict.fromkeys(columns, pl.String)
    try:
        table = pl.read_csv(source, separator=delimiter, has_header=False, schema=kinds, quote_char=quote)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Their messages quote cells.
        raise TacitaError("the text could not be split into fields; write it as Parquet instead.") from None
    # Polars keeps a quoted empty field as an empty text.
    return table.select(pl.when(pl.all() != "").then(pl.all()))


def typed(
    table: Frame, *, decimals: Sequence[str], words: Sequence[str], missing: Sequence[str], grouped: bool
) -> tuple[Frame, Words, Words]:
    """Columns of texts as whole numbers, numbers or texts; by column how often each of `words` stayed a value, and how
    often it was taken for missing.

    Texts in `missing` are missing everywhere, `words` only beside numbers. `decimals` are the decimal signs to try;
    `grouped` leaves '1,234' alone, which may be a thousand.
    """
    columns: list[pl.Series] = []
    kept: Words = {}
    gone: Words = {}
    for series in table:
        bare = series.str.strip_chars()
        if missing:
            blank = bare.is_in(list(missing))
            if blank.any():
                gone[series.name] = {word: int((bare == word).sum()) for word in missing if word in bare}
            series, bare = (texts.set(blank, None) for texts in (series, bare))
        blank = bare == ""
        values = _numbers_of(bare.set(blank, None) if blank.any() else bare, decimals, words, grouped)
        columns.append(series if values is None else values)
        # Among numbers a word leaves a blank where there was none.
        told = values is None or values.null_count() > series.null_count()
        found = bare.filter(bare.is_in(list(words))) if told else bare.clear()
        if len(found):
            counts = {word: int((found == word).sum()) for word in words if word in found}
            (kept if values is None else gone).setdefault(series.name, {}).update(counts)
    return pl.DataFrame(columns), kept, gone


def _numbers_of(texts: pl.Series, decimals: Sequence[str], words: Sequence[str], grouped: bool) -> pl.Series | None:
    """The numbers that texts stand for, or None where one of them is no number or would lose a leading zero."""
    first = texts.head(1000).drop_nulls()
    first = first.filter(~first.is_in(list(words))).str.replace(",", ".", literal=True)
    if first.cast(pl.Float64, strict=False).null_count():
        # Not needed, but columns of texts are the slow ones.
        return None
    whole = texts.cast(pl.Int64, strict=False)
    other = texts.filter(texts.is_not_null() & whole.is_null())
    other = other.filter(~other.is_in(list(words)))
    values: pl.Series | None = whole
    if len(other):
        # Whole numbers that Int64 cannot hold are identifiers, not measurements.
        long = other.filter(other.str.len_bytes() > 18).str.contains(r"^[+-]?[0-9]+$").any()
        tried = (_fractions_of(texts, other, sign, grouped) for sign in decimals)
        values = None if long else next((numbers for numbers in tried if numbers is not None), None)
    if values is None or values.null_count() == len(values) or texts.str.contains(r"^[+-]?0[0-9]").any():
        return None
    return values


def _fractions_of(texts: pl.Series, other: pl.Series, sign: str, grouped: bool) -> pl.Series | None:
    """Texts as floats with this decimal sign; `other` are those that are not whole numbers."""
    if sign == ",":
        thousands = grouped and other.str.contains(r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$").all()
        if thousands or other.str.contains(".", literal=True).any():
            return None
        texts, other = (given.str.replace(",", ".", literal=True) for given in (texts, other))
    if other.cast(pl.Float64, strict=False).null_count():
        return None
    return texts.cast(pl.Float64, strict=False).fill_nan(None)


def numbers(frame: Frame, name: str) -> Floats:
    """A numeric column as float64, NaN where missing; text is an error that names the column."""
    series = frame[name]
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise TacitaError(f"column {name!r} must hold numbers; it holds {kind_of(series)}.")
    return series.cast(pl.Float64).to_numpy()


def kind_of(series: pl.Series) -> str:
    """What a column that holds no numbers holds, in words."""
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return "dates or times" if series.dtype.is_temporal() else "something else"


def is_float(frame: Frame, name: str) -> bool:
    """Whether a column holds floating-point numbers."""
    return bool(frame[name].dtype.is_float())


def with_whole_numbers(frame: Frame, names: Iterable[str]) -> Frame:
    """A frame in which those of some columns of fractions that hold whole numbers only are columns of whole numbers."""
    whole = [frame[name].fill_nan(None).cast(pl.Int64) for name in names if all_whole(frame, name)]
    return frame.with_columns(whole) if whole else frame


def all_whole(frame: Frame, name: str) -> bool:
    """Whether a column of floats holds whole numbers only, of a size at which floats are exact."""
    if not frame[name].dtype.is_float():
        return False
    values = frame[name].fill_nan(None).drop_nulls()
    return len(values) > 0 and bool(((values == values.floor()) & (values.abs() <= 2**53)).all())


def coded(frame: Frame, name: str) -> Coded:
    """A column as codes into its sorted values, so that codes do not depend on the order of the records."""
    series = _told_apart(frame, name)
    if series.dtype.is_integer():
        quick = _coded_by_range(series)
        if quick is not None:
            return quick
    if series.dtype == pl.Categorical:
        series = series.cast(pl.String)
    # An Enum sorts by its declared order, everything else by value.
    values = series.drop_nulls().unique().sort()
    if series.dtype == pl.Enum:
        values, series = values.cast(pl.String), series.cast(pl.String)
    if series.dtype == pl.String:
        # Enum codes follow the order of its categories, and the cast is Polars' fastest way from text to codes.
        codes = series.cast(pl.Enum(values)).to_physical()
        return Coded((codes.cast(pl.UInt32) + 1).fill_null(0).to_numpy(), tuple(values.to_list()))
    places = pl.DataFrame({"value": values, "code": np.arange(1, len(values) + 1, dtype=np.uint32)})
    joined = pl.DataFrame({"value": series}).join(places, on="value", how="left", maintain_order="left")
    return Coded(joined["code"].fill_null(0).to_numpy(), tuple(values.to_list()))


def _coded_by_range(series: pl.Series, most: int = 1 << 20) -> Coded | None:
    """Codes of whole numbers that lie close together, without hashing or sorting."""
    low, high = series.min(), series.max()
    if not isinstance(low, int) or not isinstance(high, int) or high - low >= most:
        return None
    offsets = (_offsets(series, low) + 1).fill_null(0).to_numpy()
    present = np.bincount(offsets, minlength=high - low + 2) > 0
    present[0] = False
    lookup = np.cumsum(present).astype(np.uint32)
    lookup[0] = 0
    # Python adds: the lowest value may not fit 64 bits.
    return Coded(lookup[offsets], tuple(offset - 1 + low for offset in np.flatnonzero(present).tolist()))


def _offsets(series: pl.Series, low: int) -> pl.Series:
    """Distances from the lowest value; types that may not fit 64 bits are subtracted before they are cast."""
    if series.dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        return (series - pl.Series([low], dtype=series.dtype)).cast(pl.Int64)
    return series.cast(pl.Int64) - low


def _told_apart(frame: Frame, name: str) -> pl.Series:
    """A column whose values can be compared, with NaN as missing; lists and objects are an error."""
    series = frame[name]
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise TacitaError(f"column {name!r} holds lists or objects; keys must be text, numbers or dates.")
    return series.fill_nan(None) if series.dtype.is_float() else series


def groups(frame: Frame, name: str) -> tuple[Ints, int]:
    """For each record the place of its group, -1 where missing, and the number of groups; values do not matter."""
    series = _told_apart(frame, name)
    if series.dtype.is_integer() and series.null_count() < len(series):
        low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if high - low < max(1 << 22, 4 * len(series)):
            offsets = _offsets(series, low).fill_null(-1).to_numpy()
            occurs = np.bincount(offsets[offsets >= 0]) > 0
            places = np.cumsum(occurs) - 1
            return np.where(offsets < 0, -1, places[offsets]), int(occurs.sum())
    ranks = series.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy(), series.n_unique() - (1 if series.null_count() else 0)
