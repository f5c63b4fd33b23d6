"""LargeData: a file that stays on an engine, DuckDB or Spark, since it is larger than memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.data.formats import columnar
from tacita.data.variable import Variable
from tacita.engine import memory as sizes
from tacita.engine.expressions import RECORD
from tacita.engine.source import files_of, opened
from tacita.frame import files as frame_files


@dataclass(frozen=True, eq=False)
class LargeData:
    """A survey file on an engine: a path, a relation of DuckDB, a table of Ibis, or a DataFrame of Spark.

    `tacita.assess` and `Plan.apply` take it in place of data in memory, and make it themselves of what is too large.

    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.parquet"
    ...     pl.DataFrame({"sex": ["f", "f", "m"], "age": [31, 31, 47]}).write_parquet(file)
    ...     with LargeData.of(file) as people:
    ...         print(people.columns, people.size)
    ('sex', 'age') 3
    """

    name: str
    """What messages call it."""
    database: Any = field(repr=False)
    """The engine."""
    table: Any = field(repr=False)
    """Its records, as a table of Ibis."""
    memory: int
    """Bytes of memory that the work may take."""
    record: str | None
    """The column with the numbers of the records; None: they have none."""
    variables: Mapping[str, Variable] = field(default_factory=dict, repr=False)
    """What is known of the variables."""
    like: Any = field(default=None, repr=False)
    """An empty frame with the types of the columns, where the file has types of its own."""
    files: tuple[Path, ...] = field(default=(), repr=False)
    """The Parquet files that it is, where it is some: another database can read them too."""
    paths: tuple[Path, ...] = field(default=(), repr=False)
    """The files that the user named, if it is a path."""

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        memory: int | str | None = None,
        record: str | None = None,
        engine: str | None = None,
        temporary: str | os.PathLike[str] | None = None,
        variables: Mapping[str, Variable] | None = None,
    ) -> LargeData:
        """Open a file or a table of an engine.

        `memory` is what the work may take, "4GB"; `record` names a column with a number for each record, which draws
        and results go by (files have their order); `engine` is "duckdb" or "spark" for a path; `temporary` is the
        folder for what does not fit memory.
        """
        if isinstance(source, LargeData):
            return source
        budget = sizes.budget(memory)
        found = opened(source, budget, record, engine, temporary)
        like, known = described(found.files) if found.files else (None, {})
        known = known if variables is None else variables
        paths = tuple(files_of(Path(source))) if isinstance(source, str | os.PathLike) else ()
        return cls(found.name, found.database, found.table, budget, found.record, known, like, found.files, paths)

    def __enter__(self) -> LargeData:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LargeData: {self.name} on {self.database.name}, {check.counted(len(self.columns), 'variable')}>"

    def close(self) -> None:
        """Let go of the engine and its temporary files."""
        self.database.close()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(name for name in self.table.columns if name != RECORD)

    @cached_property
    def size(self) -> int:
        """The number of records."""
        found = self.database.collect(self.table.aggregate(n=self.table.count()), what="counting records")
        return int(found["n"][0].as_py())

    @cached_property
    def different(self) -> Mapping[str, int]:
        """By variable about how many different values it has."""
        counts = {f"column_{at}": self.table[name].approx_nunique() for at, name in enumerate(self.columns)}
        found = self.database.collect(self.table.aggregate(**counts), what="looking at the columns").to_pylist()[0]
        return {name: int(found[f"column_{at}"]) for at, name in enumerate(self.columns)}

    @property
    def room(self) -> int:
        """Bytes of the memory budget that are left for its distinct keys and their measures."""
        return int(self.database.left())

    def on(self, other: LargeData) -> Any:
        """Its records as a table of another file's database."""
        if self.database is other.database:
            return self.table
        return other.database.adopted(self.database, self.table, self.files, RECORD)

    @property
    def identity(self) -> list[list[str | int]]:
        """Name, size and time of change of its files, by which work that was stopped knows them again."""
        found = [(each.name, each.stat()) for each in self.paths]
        return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in found]

    @property
    def numbered(self) -> str:
        """The column with the numbers of the records, where there must be one."""
        if self.record is None:
            raise TacitaError(
                f"the records of {self.name} have no numbers, and a table of an engine has no order: name a column "
                f"that numbers them, as in LargeData.of(table, record='id'), or give a Parquet file."
            )
        return self.record


def described(files: Sequence[Path]) -> tuple[Any, Mapping[str, Variable]]:
    """The types of the columns that are the same in all Parquet files, and what the first one's note says of them."""
    like = frame_files.parquet_columns(files[0])
    known = columnar.described(like, frame_files.parquet_note(files[0], columnar.NOTE), files[0].name).variables
    others = [frame_files.parquet_columns(each) for each in files[1:]]
    alike = [name for name in like.columns if all(each[name].dtype == like[name].dtype for each in others)]
    return like.select(alike), known
