"""Spark: on this machine, or on a cluster by a session that the user brings."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacita.check import TacitaError
from tacita.engine.memory import Room
from tacita.engine.parts import parts_of
from tacita.engine.running import no_share, watched
from tacita.leftovers import clear_leftovers, hidden_part, released
from tacita.progress import Progress, no_progress

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.debug.maxToStringFields": "1000",
}
"""A session of our own listens on this machine only, and has no page on the web."""
BROADCAST = 256_000_000
"""Bytes up to which a table of ours is sent to every worker, so that the records that it is joined to stay in place."""


def for_java(memory: int) -> int:
    """Bytes of a memory budget that Java takes."""
    return max(memory // 2, 500 * 10**6)


def local_session(memory: int, temporary: str) -> Any:
    """The session of this process, started if there is none."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise TacitaError("Spark is not installed; install it with pip install 'tacita[spark]'.") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # By this Spark chooses what to listen on before it reads its settings.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[*]").appName("tacita")
    folder, sessions = private_folder(temporary), list[Any]()
    atexit.register(ended, sessions, folder)
    own = {"spark.driver.memory": f"{for_java(memory) // 10**6}m", "spark.local.dir": str(folder)}
    own |= {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    for name, value in (LOCAL | own).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    sessions.append(session)
    return session


def private_folder(temporary: str | os.PathLike[str]) -> Path:
    """A new hidden folder, which only its owner can look into; those of killed processes are removed."""
    folder = hidden_part(Path(temporary) / "spark")
    clear_leftovers(folder)
    folder.mkdir(mode=0o700)
    return folder


def ended(sessions: list[Any], folder: Path) -> None:
    """End sessions of our own, and remove the folder that they worked in."""
    for session in sessions:
        with suppress(Exception):
            session.stop()
    removed(folder, os.getpid())


def removed(folder: Path, process: int) -> None:
    """Remove a folder; not in a process that was forked meanwhile."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
        released(folder)


def with_kinds_of_spark(table: Any) -> Any:
    """A table of Arrow whose columns are of kinds that Spark has: it has no unsigned numbers, but wider ones."""
    import pyarrow as pa

    wider = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
    }
    return table.cast(pa.schema([each.with_type(wider.get(each.type, each.type)) for each in table.schema]))


def check_kinds(kinds: Mapping[str, Any], file: str) -> None:
    """An error where columns are of kinds that Spark does not read."""
    import pyarrow as pa

    for name, kind in kinds.items():
        if pa.types.is_time(kind) or (pa.types.is_timestamp(kind) and kind.unit == "ns"):
            raise TacitaError(
                f"column {name!r} of {file} holds {kind}, which Spark does not read; write it as text or in "
                f"microseconds, or leave engine out."
            )


class Spark:
    """A Spark session, through Ibis."""

    name = "Spark"

    def __init__(self, memory: int, temporary: str | os.PathLike[str] | None = None, session: Any = None) -> None:
        import ibis

        # Java takes its part of the budget, unless it is the user's.
        self.memory, self.room = memory, Room(memory if session is not None else memory - for_java(memory))
        self.folder = private_folder(temporary or tempfile.gettempdir())
        # The session outlives this object, and so does the folder that it works in.
        self.session = session or local_session(memory, os.fspath(temporary or tempfile.gettempdir()))
        self.ibis = ibis.pyspark.connect(self.session)
        self.kept: list[Any] = []
        # A profile keeps its file open: what nobody closes ends with it, or with the program.
        self.end = weakref.finalize(self, removed, self.folder, os.getpid())

    def left(self) -> int:
        """Bytes of the budget that are left for measures."""
        return self.room.left()

    def read(self, files: Sequence[Path], record: str) -> Any:
        """Parquet files as a table, with the number of each record from 1 in the order of the files."""
        import ibis
        from ibis.formats.pyarrow import PyArrowType

        found = parts_of(files)
        check_kinds(dict(zip(found.columns, found.kinds, strict=True)), files[0].name)
        kinds = {name: PyArrowType.to_ibis(kind) for name, kind in zip(found.columns, found.kinds, strict=True)}
        parts, before = [], 0
        for each, records in zip(files, found.records, strict=True):
            frame = self.session.read.parquet(str(each))
            numbered = frame.selectExpr("*", f"_metadata.row_index + {before + 1} as `{record}`")
            table = self.of_frame(numbered)
            parts.append(table if len(files) == 1 else table.cast(kinds).select(*found.columns, record))
            before += records
        return parts[0] if len(parts) == 1 else ibis.union(*parts)

    def of_frame(self, frame: Any) -> Any:
        """A frame of Spark as a table of Ibis."""
        import ibis

        name = ibis.util.gen_name("tacita")
        frame.createOrReplaceTempView(name)
        return self.ibis.table(name)

    def load(self, table: Any) -> Any:
        """A table of Arrow, as one of the engine; of Arrow, since a missing text of pandas would become 'NaN'."""
        frame = self.session.createDataFrame(with_kinds_of_spark(table))
        # Spark takes a table from here for too large to be sent to the workers, and would sort all records to join it.
        return self.of_frame(frame.hint("broadcast") if table.nbytes <= BROADCAST else frame)

    def stored(self, path: Path) -> Any:
        """A Parquet file of our own as a table."""
        return self.of_frame(self.session.read.parquet(str(path)))

    def adopted(self, other: Any, table: Any, files: Sequence[Path], record: str) -> Any:
        """A table of another database as one of this: one of the same session, or read from its files."""
        if other.name == self.name:
            return self.of_frame(other.ibis.raw_sql(other.ibis.compile(table)))
        if not files:
            path = self.folder / "beside.parquet"
            other.write(table, path, what="reading the other file")
            return self.stored(path)
        read = self.read(files, record)
        return read if record in table.columns else read.drop(record)

    def keep(self, expression: Any, progress: Progress = no_progress, what: str = "grouping records") -> Any:
        """The rows of an expression worked out once, as a table of the engine."""
        frame = self._frame(expression).cache()
        self.kept.append(frame)
        self._watched(frame.count, progress, what)
        return self.of_frame(frame)

    def drop(self, table: Any) -> None:
        """Let go of a table that was kept."""
        self.session.catalog.dropTempView(table.get_name())

    def collect(self, expression: Any, progress: Progress = no_progress, what: str = "reading") -> Any:
        """The rows of an expression, as a table of Arrow."""
        return self._watched(self._frame(expression).toArrow, progress, what)

    def batches(self, expression: Any, size: int) -> Iterator[Any]:
        """The rows of an expression as batches of Arrow, partition by partition."""
        frame = self._frame(expression)
        for _, each in self._parts(frame):
            yield from each.to_batches(size)

    def write(self, expression: Any, path: Path, progress: Progress = no_progress, what: str = "writing") -> None:
        """The rows of an expression as one Parquet file: it comes to this machine part by part."""
        import pyarrow.parquet

        frame = self._frame(expression)
        writer = None
        try:
            for share, each in self._parts(frame):
                progress(share, what)
                writer = writer or pyarrow.parquet.ParquetWriter(path, each.schema, compression="zstd")
                writer.write_table(each)
        finally:
            if writer is not None:
                writer.close()

    def close(self) -> None:
        """Free everything that was kept; the session stays open."""
        for frame in self.kept:
            frame.unpersist()
        self.end()

    def _frame(self, expression: Any) -> Any:
        return self.ibis.raw_sql(self.ibis.compile(expression))

    def _parts(self, frame: Any) -> Iterator[tuple[float, Any]]:
        """The rows of a frame, written by the workers and read file by file, with the share that was read before."""
        import pyarrow.parquet

        folder = Path(tempfile.mkdtemp(dir=self.folder))
        frame.write.mode("overwrite").parquet(str(folder))
        files = sorted(folder.glob("part-*.parquet"))
        for at, each in enumerate(files):
            yield at / len(files), pyarrow.parquet.read_table(each)
        shutil.rmtree(folder, ignore_errors=True)

    def _watched(self, query: Any, progress: Progress, what: str) -> Any:
        context = self.session.sparkContext
        return watched(query, no_share, context.cancelAllJobs, progress, what)
