"""One set of tests for memory, DuckDB and Spark."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacita.data.large_data import LargeData

Opener = Callable[..., LargeData]


def why_no_spark() -> str:
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed (pip install 'tacita[spark]')"
    return "" if shutil.which("java") else "there is no Java runtime (Debian: default-jre-headless)"


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "spark" and why_no_spark():
        pytest.skip(why_no_spark())
    return str(request.param)


@pytest.fixture
def on_engine(engine: str, tmp_path: Path) -> Iterator[Opener]:
    """A frame written to Parquet and opened on the engine."""
    opened: list[LargeData] = []

    def open_frame(frame: Any, **given: Any) -> LargeData:
        file = tmp_path / f"survey{len(opened)}.parquet"
        frame.write_parquet(file)
        opened.append(LargeData.of(file, engine=engine, temporary=tmp_path, **given))
        return opened[-1]

    yield open_frame
    for each in opened:
        each.close()
