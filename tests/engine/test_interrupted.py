"""Work that is stopped leaves no file that looks complete, and nothing temporary."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_assess_on_engine import people, scenario

import tacita as tc
from tacita.engine import duckdb
from tacita.progress import Cancelled
from tacita.stopping import Stopped

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
WORK = """
import sys, warnings
warnings.simplefilter("ignore")
import tacita as tc
from tacita.release import large_release, large_written
large_release.BATCH, large_written.PART = 1000, 3000
file, folder = sys.argv[1:]
who = tc.Scenario(keys=["Region", "age", "sex", "score"], weight="w", household="hid")
plan = tc.Plan([tc.Suppress(k=3, closed=False), tc.Pram("sex", pd=0.7)])
print("ready", flush=True)
with tc.LargeData.of(file, temporary=folder) as large:
    tc.assess(large, who).write_records(folder + "/risk.parquet", overwrite=True)
    release = plan.apply(large, who)
    release.write(folder + "/release.parquet", overwrite=True)
    release.save(folder + "/out", overwrite=True, accept_unsafe="a test")
"""
SIZE = 20_000


def complete(folder: Path) -> list[str]:
    """What looks complete: every file and folder of that name is."""
    there = [name for name in ("risk.parquet", "release.parquet", "out") if (folder / name).exists()]
    for name in there:
        table = pl.read_parquet(folder / name / "not_for_publication" / "data" if name == "out" else folder / name)
        assert table.height == SIZE
    if "out" in there:
        assert {"codebook.csv", "codebook.xml", "README.txt"} <= {
            each.name for each in (folder / "out" / "not_for_publication").iterdir()
        }
        assert (folder / "out" / "internal" / "log.json").exists()
    return there


def started(folder: Path) -> subprocess.Popen[str]:
    work = subprocess.Popen(
        [sys.executable, "-c", WORK, str(folder / "people.parquet"), str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert work.stdout is not None and work.stdout.readline() == "ready\n"
    return work


@pytest.mark.usual(trial=2)
@pytest.mark.parametrize("trial", range(20))
def test_killed_at_any_moment(trial: int, tmp_path: Path) -> None:
    people(SIZE).write_parquet(tmp_path / "people.parquet")
    work = started(tmp_path)
    try:
        work.wait(timeout=float(np.random.Generator(np.random.Philox(trial)).uniform(0, 6)))
    except subprocess.TimeoutExpired:
        work.kill()
    work.communicate()
    complete(tmp_path)
    again = started(tmp_path)
    again.communicate()
    assert again.returncode == 0
    assert len(complete(tmp_path)) == 3
    assert [
        each.name for each in tmp_path.iterdir() if each.name.startswith(".tacita-") or "unfinished" in each.name
    ] == []


def test_cancelled_work_leaves_nothing(tmp_path: Path) -> None:
    people(2000).write_parquet(tmp_path / "people.parquet")

    def stop_at(limit: float) -> None:
        def progress(done: float, what: str) -> None:
            if done >= limit:
                raise Cancelled

        with tc.LargeData.of(tmp_path / "people.parquet", temporary=tmp_path) as large:
            profile = tc.assess(large, scenario(household="hid"))
            profile.write_records(tmp_path / "risk.parquet", progress=progress)

    for limit in (0.0, 0.3, 0.9):
        with pytest.raises(Cancelled):
            stop_at(limit)
    with pytest.raises(Cancelled), tc.LargeData.of(tmp_path / "people.parquet", temporary=tmp_path) as large:
        tc.assess(large, scenario(), progress=lambda done, what: (_ for _ in ()).throw(Cancelled))  # type: ignore[arg-type]
    assert [each.name for each in tmp_path.iterdir()] == ["people.parquet"]


class Slow:
    """A connection during whose closing somebody stops the program."""

    def disconnect(self) -> None:
        raise Stopped(signal.SIGTERM)


def test_who_is_stopped_while_the_engine_ends_leaves_nothing(tmp_path: Path) -> None:
    (folder := tmp_path / "engine").mkdir()
    (folder / "part.parquet").write_bytes(b"of an original")
    with pytest.raises(Stopped):
        duckdb._ended(folder, [Slow()], os.getpid())
    assert not folder.exists()
