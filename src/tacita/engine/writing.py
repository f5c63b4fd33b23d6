"""A Parquet file that is written batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class ParquetFile:
    """A file open for writing; the first batch says what kinds of columns it has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer: Any = None

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self.writer is not None:
            self.writer.close()

    def write(self, table: Any) -> None:
        """Write the records of a table of Arrow."""
        import pyarrow.parquet

        if self.writer is None:
            self.writer = pyarrow.parquet.ParquetWriter(self.path, table.schema, compression="zstd")
        self.writer.write_table(table.cast(self.writer.schema))
