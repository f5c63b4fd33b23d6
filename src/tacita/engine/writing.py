"""A Parquet file that is written batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class FractionsError(Exception):
    """Columns of whole numbers have fractions in a later batch: the file must be begun anew with columns of floats."""

    def __init__(self, columns: Iterable[str]) -> None:
        super().__init__("fractions among whole numbers")
        self.columns = frozenset(columns)


class ParquetFile:
    """A file open for writing; the first batch says what kinds of columns it has.

    `kinds` are those of a file that it goes on from; `fractions` are columns that are floats whatever they begin with.
    """

    def __init__(self, path: Path, *, kinds: Any = None, fractions: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.kinds = kinds
        self.fractions = fractions
        self.writer: Any = None

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self.writer is not None:
            self.writer.close()

    def write(self, table: Any, notes: Mapping[str, str]) -> None:
        """Write the records of a table of Arrow; the notes of the first batch are those of the file."""
        import pyarrow as pa
        import pyarrow.parquet

        if self.kinds is None:
            floats = {name: pa.float64() for name in self.fractions}
            self.kinds = pa.schema([each.with_type(floats.get(each.name, each.type)) for each in table.schema])
        later = {each.name: each.type for each in table.schema}
        mixed = [each.name for each in self.kinds if pa.types.is_integer(each.type) and not _whole(later[each.name])]
        if mixed:
            raise FractionsError(mixed)
        if self.writer is None:
            # What Polars notes of its types would name the categories that were there before.
            schema = self.kinds.with_metadata(dict(notes))
            self.writer = pyarrow.parquet.ParquetWriter(self.path, schema, compression="zstd")
        self.writer.write_table(table.cast(self.kinds).replace_schema_metadata(self.writer.schema.metadata))


def _whole(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_null(kind))


def kinds_of(path: Path) -> Any:
    """The kinds of the columns of a Parquet file."""
    import pyarrow.parquet

    return pyarrow.parquet.read_schema(path).remove_metadata()
