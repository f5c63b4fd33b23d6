"""Frames to files and back, column by column: the part of `frame` that only file formats need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import polars as pl

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.frame import Frame, rebuilt, used_categories


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


def parquet_shape(path: Path) -> tuple[int, int]:
    """How many records and columns a Parquet file says it has."""
    try:
        scanned = pl.scan_parquet(path, glob=False)
        return int(scanned.select(pl.len()).collect().item()), len(scanned.collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Reading it says why.
        return 0, 0


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
    used = [used_categories(series) if series.dtype in (pl.Categorical, pl.Enum) else series for series in table]
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


def arrow_shape(path: Path) -> tuple[int, int]:
    """How many records and columns an Arrow file says it has."""
    from pyarrow import ArrowException, ipc

    try:
        with path.open("rb") as opened:
            reader = ipc.open_file(opened)
            batches = (reader.get_batch(place).num_rows for place in range(reader.num_record_batches))
            return sum(batches), len(reader.schema)
    except (ArrowException, UnicodeError, ValueError):
        # Reading it says why.
        return 0, 0


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
    """An Arrow (Feather) file with notes beside the values, and nothing else that memory may hold besides them."""
    from pyarrow import ipc

    used = rebuilt(
        pl.DataFrame([series.cast(pl.String) if series.dtype == pl.Categorical else series for series in table])
    )
    with _written():
        # Polars writes no notes, so Arrow writes the file.
        arrow = used.to_arrow().replace_schema_metadata(dict(notes))
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
    """Whether the times of a column have a time zone."""
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


def like(table: Frame, other: Frame | None, names: Sequence[str]) -> Frame:
    """A table in the order of the values of some columns, whose types are those of the same columns of another table.

    NaN is missing, as in any file that is read.
    """
    table = of_kinds(table, other, names)
    return table.sort([table[name] for name in names], nulls_last=False)


def of_kinds(table: Frame, other: Frame | None, names: Sequence[str]) -> Frame:
    """A table some columns of which have the types of those of another one; NaN is missing."""
    table = table.with_columns(pl.selectors.float().fill_nan(None), pl.col(pl.Null).cast(pl.String))
    if other is None:
        return table
    return table.with_columns(table[name].cast(other[name].dtype) for name in names if name in other.columns)


def parquet_columns(path: Path) -> Frame:
    """The columns of a Parquet file with their types, and none of its records."""
    try:
        return pl.scan_parquet(path, glob=False).head(0).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise TacitaError(f"{path.name} is damaged or uses something Polars cannot read; export it again.") from None


def one_row_each(table: Frame, names: Sequence[str]) -> Any:
    """A table with the first row of each combination of some columns, as a table of Arrow with plain texts."""
    return plain_arrow(table.unique(subset=list(names), keep="first", maintain_order=True))


def places(table: Frame, keys: Frame, names: Sequence[str]) -> Ints:
    """For each row of a table the row of `keys` with the same values in some columns, missing being one; -1: none."""
    kinds = {name: keys[name].dtype for name in names}
    left = pl.DataFrame(
        {name: table[name].fill_nan(None) if table[name].dtype.is_float() else table[name] for name in names}
    )
    left = left.cast(kinds)  # type: ignore[arg-type]
    right = keys.select(pl.col(list(names))).with_row_index("\0row")
    found = left.join(right, on=list(names), how="left", nulls_equal=True, maintain_order="left")["\0row"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy()


def plain_arrow(table: Frame) -> Any:
    """A table as one of Arrow, categories as plain texts."""
    plain = [
        series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series for series in table
    ]
    return pl.DataFrame(plain).to_arrow(compat_level=pl.CompatLevel.oldest())
