"""What large data come from: which kinds of source there are, and how each is opened on its engine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.engine import memory as sizes
from tacita.engine.expressions import RECORD
from tacita.engine.parts import check_names

ENGINES = ("duckdb", "spark")
PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".txt", ".tab")
MISSING = "ibis-framework and duckdb are not installed; install them with pip install 'tacita[large]'."


@dataclass(frozen=True)
class Opened:
    """A source on its engine."""

    name: str
    database: Any
    table: Any
    record: str | None
    """The column with the numbers of the records."""
    files: tuple[Path, ...] = ()
    """The Parquet files that it is, if it is some."""


def kind_of(source: Any) -> str:
    """relation (DuckDB), ibis, spark, or nothing: by the name of its class, so that no engine is imported to know."""
    for each in type(source).__mro__:
        module, name = each.__module__, each.__name__
        if name == "DuckDBPyRelation" and module.lstrip("_").startswith("duckdb"):
            return "relation"
        if name == "Table" and module.startswith("ibis.expr"):
            return "ibis"
        if name == "DataFrame" and module.startswith("pyspark.sql"):
            return "spark"
    return ""


def files_of(path: Path) -> list[Path]:
    """The files of a path: itself, or the Parquet files in a folder, in the order of their names."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.iterdir() if each.suffix.lower() in PARQUET)


def opened(
    source: Any, memory: int, record: str | None, engine: str | None, temporary: str | os.PathLike[str] | None
) -> Opened:
    """A path or a table of an engine, opened."""
    if engine is not None:
        check.one_of("engine", engine, ENGINES)
    kind = kind_of(source)
    if kind == "spark":
        return _of_spark(source, memory, record, temporary)
    if kind == "ibis":
        return _of_ibis(source, memory, record, temporary)
    if kind == "relation":
        return _staged(source, memory, record, temporary)
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source), memory, record, engine, temporary)
    raise TacitaError(
        f"large data must be a path, a relation of DuckDB, a table of Ibis or a DataFrame of Spark; got "
        f"{type(source).__name__}."
    )


def _database(engine: str, memory: int, temporary: Any, **given: Any) -> Any:
    try:
        import ibis  # noqa: F401
    except ImportError:
        raise TacitaError(MISSING) from None
    if engine == "spark":
        from tacita.engine.spark import Spark

        return Spark(memory, temporary, **given)
    from tacita.engine.duckdb import DuckDB

    return DuckDB(memory, temporary, **given)


def _of_path(
    path: Path, memory: int, record: str | None, engine: str | None, temporary: str | os.PathLike[str] | None
) -> Opened:
    try:
        files = files_of(path)
        missing = not files or not all(each.exists() for each in files)
    except OSError as error:
        raise TacitaError(f"{path.name[:50]} could not be read ({error.strerror}).") from None
    if missing:
        raise TacitaError(f"{path.name} does not exist, or holds no Parquet file; check the path.")
    database = _database(engine or "duckdb", memory, temporary)
    try:
        return _of_files(path, files, database, record)
    except BaseException:
        database.close()
        raise


def _of_files(path: Path, files: list[Path], database: Any, record: str | None) -> Opened:
    suffix = files[0].suffix.lower()
    if suffix in TEXT:
        from tacita.engine.text import as_parquet

        files = [as_parquet(files[0], database)]
    elif suffix not in PARQUET:
        raise TacitaError(f"{path.name} must be Parquet or text to be read in parts; write it as Parquet first.")
    table = database.read(files, RECORD)
    if record is not None:
        check.columns_exist("record", [record], table.columns)
        return Opened(path.name, database, table.drop(RECORD), record, tuple(files))
    return Opened(path.name, database, table, RECORD, tuple(files))


def _of_spark(source: Any, memory: int, record: str | None, temporary: Any) -> Opened:
    database = _database("spark", memory, temporary, session=source.sparkSession)
    return _of_table(database, database.of_frame(source), record)


def _of_ibis(source: Any, memory: int, record: str | None, temporary: Any) -> Opened:
    backend = source.get_backend()
    if backend.name == "duckdb":
        return _of_table(_database("duckdb", memory, temporary, connection=backend), source, record)
    if backend.name == "pyspark":
        database = _database("spark", memory, temporary, session=backend._session)
        return _of_table(database, database.of_frame(backend.raw_sql(backend.compile(source))), record)
    raise TacitaError(f"tables of Ibis must be on DuckDB or PySpark; got {backend.name}, write it to Parquet first.")


def _of_table(database: Any, table: Any, record: str | None) -> Opened:
    check_names(table.columns, "the table")
    if record is not None:
        check.columns_exist("record", [record], table.columns)
    return Opened("the table", database, table, record)


def _staged(source: Any, memory: int, record: str | None, temporary: Any) -> Opened:
    """A relation of DuckDB, written to a temporary file: its own connection is not known."""
    database = _database("duckdb", memory, temporary)
    path = database.folder / "relation.parquet"
    source.write_parquet(str(path))
    found = _of_files(path, [path], database, record)
    return Opened("the relation", database, found.table, found.record, found.files)


def belongs_on_engine(source: Any, memory: int | str | None) -> bool:
    """Whether a source is a table of an engine, or a path whose file would need more memory than there may be."""
    if kind_of(source):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    path = Path(source)
    suffixes = (*PARQUET, *TEXT)
    try:
        folder, file = path.is_dir(), path.is_file()
    except OSError:
        # A name that no system can have: reading it says so.
        return False
    if folder:
        return any(each.suffix.lower() in PARQUET for each in path.iterdir())
    if not file or path.suffix.lower() not in suffixes:
        return False
    return sizes.needed([path]) > sizes.budget(memory)
