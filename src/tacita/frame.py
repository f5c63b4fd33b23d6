"""The only module that knows a frame library: Polars inside, Narwhals at the door.

The rest of Tacita sees columns as NumPy arrays: numbers as float64 with NaN for missing, categories as integer codes
with 0 for missing. What a caller passed in (pandas, Polars, Arrow) is what he gets back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError

Frame = pl.DataFrame


class Coded(NamedTuple):
    """A categorical column: codes, 0 for missing, and the values that the codes 1, 2, ... stand for."""

    codes: Codes
    values: tuple[Any, ...]


def from_native(native: Any) -> Frame:
    """A Polars frame of any eager frame; the caller's frame is never changed."""
    if isinstance(native, pl.LazyFrame):
        raise TacitaError("data must be loaded; got a lazy frame, call .collect() on it first.")
    if isinstance(native, pl.DataFrame):
        return native
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
    return pl.DataFrame(
        [_series(name, door.get_column(given)) for name, given in zip(columns, door.columns, strict=True)]
    )


def _series(name: str, column: Any) -> pl.Series:
    try:
        series = pl.Series(name, column.to_arrow())
    except Exception:
        # Arrow's message quotes a cell.
        raise TacitaError(f"column {name!r} mixes several types; make it all text or all numbers.") from None
    if series.dtype == pl.Null:
        return series.cast(pl.String)
    if column.dtype == nw.Enum and series.dtype == pl.Categorical:
        # Arrow forgets that a pandas categorical is ordered.
        return series.cast(pl.Enum(column.dtype.categories))
    return series.fill_nan(None) if series.dtype.is_float() else series


def to_native(frame: Frame, native: Any, changed: Iterable[str]) -> Any:
    """The caller's kind of table with the changed columns replaced; index and untouched columns as they were."""
    if native is None or isinstance(native, pl.DataFrame):
        return frame
    door = nw.from_native(native, eager_only=True)
    given = {str(name): name for name in door.columns}
    backend = door.implementation
    fresh = [
        nw.new_series(given.get(name, name), frame[name].to_list(), backend=backend)
        for name in frame.columns
        if name in set(changed) or name not in given
    ]
    return door.with_columns(*fresh).select([nw.col(given.get(name, name)) for name in frame.columns]).to_native()


def table(columns: Mapping[str, Any]) -> Frame:
    """A frame of arrays and coded columns."""
    return pl.DataFrame([_column(name, values) for name, values in columns.items()])


def _column(name: str, values: Any) -> pl.Series:
    if isinstance(values, tuple) and len(values) == 2 and isinstance(values[0], np.ndarray):
        codes, labels = values
        if "" in labels:
            # A blank that is a category, beside numbers or dates.
            labels = [str(label) for label in labels]
        lookup = pl.Series(name, [None, *labels])
        return lookup.gather(pl.Series(codes.astype(np.uint32)))
    series = pl.Series(name, values)
    return series.fill_nan(None) if series.dtype.is_float() else series


def numbers(frame: Frame, name: str) -> Floats:
    """A numeric column as float64, NaN where missing; text is an error that names the column."""
    series = frame[name]
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise TacitaError(f"column {name!r} must hold numbers; it holds {_kind(series)}.")
    return series.cast(pl.Float64).to_numpy()


def _kind(series: pl.Series) -> str:
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return "dates or times" if series.dtype.is_temporal() else "something else"


def is_float(frame: Frame, name: str) -> bool:
    """Whether a column holds floating-point numbers."""
    return bool(frame[name].dtype.is_float())


def is_whole(frame: Frame, name: str) -> bool:
    """Whether a column holds whole numbers."""
    return bool(frame[name].dtype.is_integer())


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


def distinct(frame: Frame, name: str) -> int:
    """The number of different values that are not missing."""
    series = frame[name].drop_nulls()
    return int((series.drop_nans() if series.dtype.is_float() else series).n_unique())


def coded(frame: Frame, name: str) -> Coded:
    """A column as codes into its sorted values, so that codes do not depend on the order of the records."""
    series = frame[name]
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise TacitaError(f"column {name!r} holds lists or objects; keys must be text, numbers or dates.")
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


def groups(frame: Frame, name: str) -> tuple[Ints, int]:
    """For each record the place of its group, -1 where missing, and the number of groups; values do not matter."""
    series = frame[name]
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype.is_integer() and series.null_count() < len(series):
        low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if high - low < max(1 << 22, 4 * len(series)):
            offsets = _offsets(series, low).fill_null(-1).to_numpy()
            occurs = np.bincount(offsets[offsets >= 0]) > 0
            places = np.cumsum(occurs) - 1
            return np.where(offsets < 0, -1, places[offsets]), int(occurs.sum())
    ranks = series.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy(), series.n_unique() - (1 if series.null_count() else 0)


def _offsets(series: pl.Series, low: int) -> pl.Series:
    """Distances from the lowest value; types that may not fit 64 bits are subtracted before they are cast."""
    if series.dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        return (series - pl.Series([low], dtype=series.dtype)).cast(pl.Int64)
    return series.cast(pl.Int64) - low


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


def take(frame: Frame, rows: Ints) -> Frame:
    """Some rows, in the order given."""
    return frame[rows]


def beside(left: Frame, right: Frame) -> Frame:
    """The columns of two frames of equal length beside each other; clashing names of the right one are marked."""
    taken = {*left.columns, *right.columns}
    renamed = {}
    for name in right.columns:
        if name in left.columns:
            renamed[name] = f"{name} (key)"
            while renamed[name] in taken:
                renamed[name] += "'"
            taken.add(renamed[name])
    return left.hstack(right.rename(renamed))


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
) -> tuple[Frame, dict[str, dict[str, int]]]:
    """Columns of texts as whole numbers, numbers or texts, and how often each of `words` stayed a value, by column.

    Texts in `missing` are missing everywhere, `words` only beside numbers. `decimals` are the decimal signs to try;
    `grouped` leaves '1,234' alone, which may be a thousand.
    """
    columns: list[pl.Series] = []
    kept: dict[str, dict[str, int]] = {}
    for series in table:
        bare = series.str.strip_chars()
        if missing:
            gone = bare.is_in(list(missing))
            series, bare = (texts.set(gone, None) for texts in (series, bare))
        blank = bare == ""
        values = _numbers_of(bare.set(blank, None) if blank.any() else bare, decimals, words, grouped)
        columns.append(series if values is None else values)
        found = bare.filter(bare.is_in(list(words))) if values is None else bare.clear()
        if len(found):
            kept[series.name] = {word: int((found == word).sum()) for word in words if word in found}
    return pl.DataFrame(columns), kept


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


def holds_nul(table: Frame, name: str) -> bool:
    """Whether a column of texts holds the character NUL."""
    return table[name].dtype == pl.String and bool(table[name].str.contains("\0", literal=True).any())


def read_parquet(path: Path) -> Frame:
    """A Parquet file, loaded; NaN is missing, and a column without a type holds missing texts."""
    try:
        # From memory: a mapped file could neither be replaced on Windows nor truncated by others without a crash.
        table = pl.read_parquet(path.read_bytes(), use_pyarrow=False)
    except pl.exceptions.DuplicateError:
        raise TacitaError(f"{path.name} names a column more than once; columns must be named once each.") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise TacitaError(f"{path.name} is damaged or uses something Polars cannot read; export it again.") from None
    return table.with_columns(pl.selectors.float().fill_nan(None), pl.col(pl.Null).cast(pl.String))


def parquet_note(path: Path, key: str) -> str | None:
    """A text that a Parquet file carries beside its values."""
    try:
        return pl.read_parquet_metadata(path).get(key)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def write_text(table: Frame, path: Path, *, delimiter: str, decimal: str) -> None:
    """A delimited UTF-8 text with a header; missing is nothing, an empty text is `""`."""
    for series in table:
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Duration, pl.Object):
            raise TacitaError(
                f"column {series.name!r} holds lists, bytes or durations, which a text file cannot carry; "
                "write Parquet or leave the column out."
            )
    shown = table.with_columns(pl.selectors.float().fill_nan(None))
    if decimal == ",":
        point = (pl.selectors.float() | pl.selectors.decimal()).cast(pl.String)
        shown = shown.with_columns(point.str.replace(".", ",", literal=True))
    if shown.width == 1:
        # A line with nothing in it would be no record at the end of a file.
        shown = shown.select(pl.all().cast(pl.String).fill_null(""))
    with _written():
        shown.write_csv(path, separator=delimiter)


def write_parquet(table: Frame, path: Path, notes: Mapping[str, str]) -> None:
    """A Parquet file with notes beside the values; categories that no record has are not written."""
    used = [_used(series) if series.dtype in (pl.Categorical, pl.Enum) else series for series in table]
    with _written():
        pl.DataFrame(used).write_parquet(path, metadata=dict(notes))


def read_arrow(path: Path) -> Frame:
    """An Arrow (Feather) file, loaded; NaN is missing, and a column without a type holds missing texts."""
    from pyarrow import ArrowException, ipc

    try:
        # Arrow's own reader: it checks the file, where Polars would panic.
        arrow = ipc.open_file(path.read_bytes()).read_all()
        arrow.validate(full=True)
        names = arrow.schema.names
        table = pl.DataFrame() if len(set(names)) < len(names) else pl.DataFrame(arrow)
    except (ArrowException, UnicodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise TacitaError(f"{path.name} is damaged or uses something Polars cannot read; export it again.") from None
    if table.width < len(names):
        raise TacitaError(f"{path.name} names a column more than once; columns must be named once each.")
    # Polars gives a name to a column without one.
    table.columns = names
    return table.with_columns(pl.selectors.float().fill_nan(None), pl.col(pl.Null).cast(pl.String))


def arrow_note(path: Path, key: str) -> str | None:
    """A text that an Arrow file carries beside its values."""
    from pyarrow import ArrowException, ipc

    try:
        with path.open("rb") as opened:
            note = (ipc.open_file(opened).schema.metadata or {}).get(key.encode())
        return None if note is None else str(note, "utf-8")
    except (ArrowException, ValueError):
        return None


def write_arrow(table: Frame, path: Path, notes: Mapping[str, str]) -> None:
    """An Arrow (Feather) file with notes beside the values; categories that no record has are not written."""
    from pyarrow import ipc

    used = [_used(series) if series.dtype in (pl.Categorical, pl.Enum) else series for series in table]
    with _written():
        # Polars writes no notes, so Arrow writes the file.
        arrow = pl.DataFrame(used).to_arrow().replace_schema_metadata(dict(notes))
    with (
        path.open("wb") as opened,
        ipc.new_file(opened, arrow.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer,
    ):
        writer.write_table(arrow)


Kind = Literal["text", "whole", "number", "logical", "date", "datetime", "time", "other"]


def kind(table: Frame, name: str) -> Kind:
    """What a column holds, for formats that know a few kinds only."""
    dtype = table[name].dtype
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return "text"
    if dtype.is_integer():
        return "whole"
    if dtype.is_float() or dtype.is_decimal():
        return "number"
    simple: dict[Any, Kind] = {pl.Boolean: "logical", pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}
    return next((word for known, word in simple.items() if dtype == known), "other")


def column(kind: Kind | Literal["whole32", "mixed"], values: Any, missing: Bools | None = None) -> pl.Series:
    """A column of a kind: of texts (an empty one is missing), numbers, days or microseconds since 1970, microseconds
    since midnight, or, mixed, of numbers and letters."""
    if kind == "mixed":
        return pl.Series(values, dtype=pl.Object)
    if kind == "text":
        return pl.Series(values, dtype=pl.String).replace("", None)
    series = pl.Series(values)
    if missing is not None:
        series = series.set(pl.Series(missing), None)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if kind == "time":
        series = series.cast(pl.Int64) * 1000
    types: dict[str, Any] = {
        "whole": pl.Int64,
        "whole32": pl.Int32,
        "logical": pl.Boolean,
        "date": pl.Int32,
        "datetime": pl.Int64,
        "time": pl.Int64,
        "number": pl.Float64,
    }
    series = series.cast(types[kind])
    moments: dict[str, Any] = {"date": pl.Date, "datetime": pl.Datetime("us"), "time": pl.Time}
    return series.cast(moments[kind]) if kind in moments else series


def ticks(table: Frame, name: str) -> Ints:
    """Days since 1970 of dates, microseconds since 1970 on the wall clock of dates with times, microseconds since
    midnight of times; 0 where missing."""
    series = table[name]
    if isinstance(series.dtype, pl.Datetime):
        if series.dtype.time_zone is not None:
            series = series.dt.replace_time_zone(None)
        series = series.dt.cast_time_unit("us")
    physical = series.to_physical().cast(pl.Int64)
    if series.dtype == pl.Time:
        physical = physical // 1000
    return physical.fill_null(0).to_numpy()


def seconds(table: Frame, name: str) -> Floats:
    """Durations as seconds, NaN where missing."""
    return (table[name].dt.total_microseconds() / 1e6).to_numpy()


def plain_values(table: Frame, name: str) -> list[Any]:
    """A column as texts, numbers, dates and times of Python, None where missing; time zones are dropped."""
    series = table[name]
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_float() or series.dtype.is_decimal():
        series = series.cast(pl.Float64).fill_nan(None)
    return (series.dt.replace_time_zone(None) if has_time_zone(table, name) else series).to_list()


def has_time_zone(table: Frame, name: str) -> bool:
    """Whether the times of a column are told with a time zone."""
    dtype = table[name].dtype
    return isinstance(dtype, pl.Datetime) and dtype.time_zone is not None


def filled_texts(table: Frame, name: str) -> pl.Series:
    """A column of texts or categories as texts, empty where missing."""
    return table[name].cast(pl.String).fill_null("")


def longest_text(table: Frame, name: str, unit: Literal["bytes", "signs"] = "bytes") -> int:
    """The length of the longest text of a column: bytes in UTF-8, or signs as Excel counts them, in UTF-16."""
    texts = table[name].cast(pl.String).str
    beyond = texts.count_matches(r"[^\x{0}-\x{FFFF}]") if unit == "signs" else 0
    longest = (texts.len_bytes() if unit == "bytes" else texts.len_chars() + beyond).max()
    return longest if isinstance(longest, int) else 0


def matching_texts(table: Frame, name: str, pattern: str) -> int:
    """How many texts of a column match a regular expression."""
    return int(table[name].cast(pl.String).str.contains(pattern).sum())


def beyond(table: Frame, name: str, limit: int) -> int:
    """How many whole numbers of a column lie outside plus or minus a limit."""
    series = table[name].cast(pl.Int128)
    return int(((series > limit) | (series < -limit)).sum())


def places(left: Frame, right: Frame, on: Sequence[str]) -> Ints:
    """For each row of the left frame the row of the right one with the same values, -1 if there is none or one is
    missing; the values of the right frame must differ."""
    names = [str(place) for place in range(len(on))]
    pairs = [_alike(left[name], right[name]) for name in on]
    wanted = pl.DataFrame([pair[0].alias(name) for name, pair in zip(names, pairs, strict=True)])
    offered = pl.DataFrame([pair[1].alias(name) for name, pair in zip(names, pairs, strict=True)])
    found = wanted.join(offered.with_row_index("row"), on=names, how="left", maintain_order="left")
    return found["row"].cast(pl.Int64).fill_null(-1).to_numpy()


def same(left: pl.Series, right: pl.Series) -> Bools:
    """Where two columns of one kind are equal; missing equals missing."""
    one, other = _alike(left, right)
    return one.eq_missing(other).to_numpy()


def _alike(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two columns of one kind in one type, so that 1 is 1 whatever its width."""
    if left.dtype in (pl.String, pl.Categorical, pl.Enum):
        return left.cast(pl.String), right.cast(pl.String)
    if left.dtype.is_integer() and right.dtype.is_integer():
        return left.cast(pl.Int128), right.cast(pl.Int128)
    if left.dtype.is_numeric() and right.dtype.is_numeric():
        return left.cast(pl.Float64).fill_nan(None), right.cast(pl.Float64).fill_nan(None)
    return left, right.cast(left.dtype)


def from_arrow(batch: Any) -> Frame:
    """A frame of an Arrow record batch; a column without a type holds missing texts."""
    return pl.DataFrame(batch).with_columns(pl.col(pl.Null).cast(pl.String))


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError:
        # A full disk comes as one of several errors; none of their texts may quote a cell.
        raise OSError("could not be written") from None


def _used(series: pl.Series) -> pl.Series:
    """Categories without those that no record has: a suppressed one would still stand in the written file."""
    texts = series.cast(pl.String)
    if not isinstance(series.dtype, pl.Enum):
        return texts
    present = set(texts.unique())
    return texts.cast(pl.Enum([label for label in series.dtype.categories if label in present]))
