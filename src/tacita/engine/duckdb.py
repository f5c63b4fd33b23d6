"""DuckDB: in this process, over Parquet files, with what does not fit memory on disk."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacita.engine.memory import Room
from tacita.engine.parts import ROW_NUMBER, parts_of
from tacita.engine.running import watched
from tacita.leftovers import clear_leftovers, hidden_part, released
from tacita.progress import Progress, no_progress

NO_NETWORK = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""An extension that is missing is an error: DuckDB would ask a server for it."""
ENGINE_SHARE = 0.5
"""Of the memory budget at most; the rest is for the key table and the measures."""
WORKING_SHARE = 0.6
"""Of what is left of the budget: what is read of its answers, and what it does not count itself, need the rest."""
LEAST_ENGINE = 120_000_000
"""Less is not enough to sort and group on disk."""
RESTING = 60_000_000
"""What it keeps while there is nothing to do."""
GROUP = 122_880
"""Records of a row group of what is written."""


PLAIN = {"hive_partitioning": False}
"""What a folder is called says nothing of the records in its files."""
FILE = "tacita_file"


COUNTER = itertools.count()
"""Numbers for temporary files."""


def _ended(folder: Path, own: list[Any], process: int) -> None:
    """Close connections of our own, and remove the temporary folder; not in a process that was forked meanwhile."""
    if os.getpid() != process:
        return
    try:
        for connection in own:
            connection.disconnect()
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        # Who stops the program may do so in the middle of this, which nobody would do again.
        shutil.rmtree(folder, ignore_errors=True)
        released(folder)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _parquet(files: Sequence[Path], more: str = "") -> str:
    """Parquet files as one table of SQL, by the names of their columns."""
    listed = ", ".join(_text(str(each)) for each in files)
    options = [f"{name} = {value}" for name, value in (PLAIN | {"union_by_name": True}).items()]
    return f"read_parquet([{listed}], {', '.join([*options, *([more] if more else [])])})"


class DuckDB:
    """One DuckDB database with a private temporary folder, which goes when it is closed."""

    name = "DuckDB"

    def __init__(self, memory: int, temporary: str | os.PathLike[str] | None = None, connection: Any = None) -> None:
        import ibis

        # Ibis asks for Arrow tables by a name that newer versions of DuckDB have renamed.
        warnings.filterwarnings("ignore", message="fetch_arrow_table", category=DeprecationWarning)
        self.memory, self.room, self.shared = memory, Room(memory), connection is not None
        self.folder = hidden_part(Path(temporary or tempfile.gettempdir()) / "spill")
        # What a killed process left there is of an original.
        clear_leftovers(self.folder)
        # A profile keeps its file open: what nobody closes ends with it, or with the program, even while it begins.
        own: list[Any] = []
        self.end = weakref.finalize(self, _ended, self.folder, own, os.getpid())
        self.folder.mkdir(mode=0o700)
        if connection is not None:
            self.ibis = connection
            return
        limit, spill = f"{int(memory * ENGINE_SHARE / 1e6)}MB", str(self.folder / "spill")
        self.ibis = ibis.duckdb.connect(
            memory_limit=limit, temp_directory=spill, preserve_insertion_order=True, **NO_NETWORK
        )
        own.append(self.ibis)

    def left(self) -> int:
        """Bytes of the budget that are left for measures, the least that the engine needs at the same time apart."""
        self._limit(RESTING)
        return max(self.room.left(self._held() if self.shared else 0) - LEAST_ENGINE, 0)

    def _held(self) -> int:
        """Bytes that the engine holds."""
        asked = "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory()"
        # Nothing of the answer may be left to be read: the connection would stay in use.
        return int(self.ibis.con.execute(asked).fetchall()[0][0])

    def _limit(self, most: int) -> None:
        """Let the engine hold so many bytes, the rest on disk; the connection of a user is left as it is."""
        if not self.shared:
            # What a query that is still read from holds cannot go to disk.
            with suppress(Exception):
                self.ibis.con.execute(f"SET memory_limit = '{most // 10**6}MB'")

    def _at_work(self) -> None:
        """Let the engine hold what is left of the budget."""
        if not self.shared:
            left = min(self.memory * ENGINE_SHARE, WORKING_SHARE * self.room.left(self._held()))
            self._limit(max(int(left), LEAST_ENGINE))

    def read(self, files: Sequence[Path], record: str) -> Any:
        """Parquet files as a table, with the number of each record from 1 in the order of the files."""
        found = parts_of(files)
        names = [str(each) for each in files]
        before = itertools.accumulate(found.records, initial=1)
        first = " ".join(f"WHEN {_text(name)} THEN {start}" for name, start in zip(names, before, strict=False))
        view = f"tacita_file_{next(COUNTER)}"
        # One table of all files: a union of tables does not keep their order.
        self.ibis.con.execute(
            f"CREATE TEMP VIEW {view} AS SELECT * EXCLUDE ({ROW_NUMBER}, {FILE}), "
            f"{ROW_NUMBER} + (CASE {FILE} {first} END)::BIGINT AS {_quoted(record)} "
            f"FROM {_parquet(files, f'{ROW_NUMBER} = true, filename = {FILE!r}')}"
        )
        return self.ibis.table(view)

    def read_text(self, file: Path, columns: Sequence[str], delimiter: str) -> Any:
        """A delimited text as a table of texts; a record with too few or too many fields is an error."""
        signs = {"delim": delimiter, "quote": '"', "escape": '"', "nullstr": ""}
        known = {"columns": dict.fromkeys(columns, "VARCHAR"), "auto_detect": False, "header": True}
        options = signs | known | PLAIN | {"strict_mode": True}
        return self._watched(lambda: self.ibis.read_csv(str(file), **options), no_progress, f"opening {file.name}")

    def load(self, table: Any) -> Any:
        """A table of Arrow, as one of the engine."""
        import pyarrow.parquet

        handle, path = tempfile.mkstemp(suffix=".parquet", dir=self.folder)
        os.close(handle)
        pyarrow.parquet.write_table(table, path, compression="none")
        return self.stored(Path(path))

    def stored(self, path: Path) -> Any:
        """A Parquet file of our own as a table."""
        return self.ibis.read_parquet(str(path), **PLAIN)

    def adopted(self, other: Any, table: Any, files: Sequence[Path], record: str) -> Any:
        """A table of another database as one of this: read from its files, or through a file."""
        if not files:
            path = self.folder / f"beside-{next(COUNTER)}.parquet"
            other.write(table, path, what="reading the other file")
            return self.stored(path)
        read = self.read(files, record)
        return read if record in table.columns else read.drop(record)

    def row_by_row(
        self, first: Sequence[Path], columns: Mapping[str, str], second: Sequence[Path], others: Mapping[str, str]
    ) -> Any:
        """Parquet files of as many records each side by side, in their order: some columns by new names."""
        named = [f"{side}.{_quoted(name)} AS {_quoted(alias)}" for side, given in (("a", columns), ("b", others))
                 for alias, name in given.items()]  # fmt: skip
        one, other = _parquet(first), _parquet(second)
        view = f"tacita_rows_{next(COUNTER)}"
        self.ibis.con.execute(
            f"CREATE TEMP VIEW {view} AS SELECT {', '.join(named)} FROM {one} a POSITIONAL JOIN {other} b"
        )
        return self.ibis.table(view)

    def keep(self, expression: Any, progress: Progress = no_progress, what: str = "grouping records") -> Any:
        """The rows of an expression worked out once, as a table of the engine."""
        import ibis

        name = ibis.util.gen_name("tacita")
        self._watched(lambda: self.ibis.create_table(name, expression, temp=True), progress, what)
        return self.ibis.table(name)

    def drop(self, table: Any) -> None:
        """Let go of a table that was kept."""
        self.ibis.con.execute(f'DROP TABLE temp.main."{table.get_name()}"')

    def collect(self, expression: Any, progress: Progress = no_progress, what: str = "reading") -> Any:
        """The rows of an expression, as a table of Arrow."""
        query = self.ibis.compile(expression)
        return self._watched(lambda: self.ibis.con.sql(query).to_arrow_table(), progress, what)

    def batches(self, expression: Any, size: int) -> Iterator[Any]:
        """The rows of an expression, in their order, as batches of Arrow."""
        self._at_work()
        yield from self.ibis.con.sql(self.ibis.compile(expression)).to_arrow_reader(size)

    def write(self, expression: Any, path: Path, progress: Progress = no_progress, what: str = "writing") -> None:
        """The rows of an expression as one Parquet file."""
        options = {"row_group_size": GROUP, "compression": "zstd"}
        self._watched(lambda: self.ibis.to_parquet(expression, str(path), **options), progress, what)

    def close(self) -> None:
        """Let go of everything, temporary files with it."""
        self.end()

    def _watched(self, query: Any, progress: Progress, what: str) -> Any:
        connection = self.ibis.con
        self._at_work()
        return watched(query, lambda: connection.query_progress() / 100, connection.interrupt, progress, what)
