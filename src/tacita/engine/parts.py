"""The Parquet files of one table: their columns by name, of kinds that go together, and none that an engine confuses.

An engine that is given files of several kinds casts the later ones to the kinds of the first, 2.5 to 2; one that is
given two columns whose names differ by capitals alone gives one of them another name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError

OURS = "tacita_"
"""Names that begin so are columns of our own on the engine."""
ROW_NUMBER = "file_row_number"
"""The column in which DuckDB numbers the records of a file."""


class Parts(NamedTuple):
    """What Parquet files say of themselves."""

    columns: tuple[str, ...]
    """Those of the first file, in its order."""
    kinds: tuple[Any, ...]
    """The kind of Arrow that holds the values of all files, by column."""
    records: tuple[int, ...]
    """By file."""


def parts_of(files: Sequence[Path]) -> Parts:
    """The columns that all files have, and how many records each has; an error where they are not one table."""
    import pyarrow.parquet

    schemas, records = [], []
    for each in files:
        try:
            said = pyarrow.parquet.read_metadata(each)
            schemas.append(said.schema.to_arrow_schema())
        except (pyarrow.ArrowException, OSError):
            raise TacitaError(f"{each.name} is damaged or is no Parquet file; export it again.") from None
        records.append(said.num_rows)
    columns = tuple(schemas[0].names)
    check_names(columns, files[0].name)
    for each, schema in zip(files, schemas, strict=True):
        if sorted(schema.names) != sorted(columns):
            other = sorted(set(columns) ^ set(schema.names))
            raise TacitaError(
                f"{each.name} and {files[0].name} have other columns: {check.quoted(other, most=8)} not in both; write "
                f"all parts with the same columns."
            )
    kinds = tuple(_common(name, [each.field(name).type for each in schemas], files) for name in columns)
    return Parts(columns, kinds, tuple(records))


def check_names(columns: Iterable[str], file: str) -> None:
    """An error where columns have names that an engine takes for the same, or that are taken there."""
    seen: dict[str, str] = {}
    for name in columns:
        if name.casefold().startswith(OURS) or name.casefold() == ROW_NUMBER:
            raise TacitaError(f"column {name!r} of {file} has a name that is taken on an engine; rename it first.")
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise TacitaError(
                f"engines do not tell capitals from small letters, and {file} has columns {other!r} and {name!r}; "
                f"rename one of them."
            )


def _common(name: str, kinds: Sequence[Any], files: Sequence[Path]) -> Any:
    """The kind of a column that is whole numbers of several widths, or that some file has nothing in."""
    import pyarrow as pa

    plain = [each.value_type if pa.types.is_dictionary(each) else each for each in kinds]
    plain = [_text(each) for each in plain]
    told = [each for each in plain if not pa.types.is_null(each)]
    different = set(told)
    if len(different) <= 1:
        return told[0] if told else pa.string()
    if all(pa.types.is_signed_integer(each) for each in told):
        return max(different, key=lambda each: each.bit_width)
    at = next(at for at, each in enumerate(plain) if not pa.types.is_null(each) and each != told[0])
    first = next(at for at, each in enumerate(plain) if not pa.types.is_null(each))
    raise TacitaError(
        f"column {name!r} holds {plain[first]} in {files[first].name} and {plain[at]} in {files[at].name}; write all "
        f"parts with the same kinds."
    )


def _text(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(kind) else kind
