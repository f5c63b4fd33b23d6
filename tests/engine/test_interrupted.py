"""Work that is stopped leaves no file that looks complete, and nothing temporary."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_assess_on_engine import people, scenario

import tacita as tc
from tacita.progress import Cancelled

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
WORK = """
import sys, warnings
warnings.simplefilter("ignore")
import tacita as tc
file, folder = sys.argv[1:]
who = tc.Scenario(keys=["Region", "age", "sex", "score"], weight="w", household="hid")
plan = tc.Plan([tc.Suppress(k=3, closed=False), tc.Pram("sex", pd=0.7)])
print("ready", flush=True)
with tc.LargeData.of(file, temporary=folder) as large:
    tc.assess(large, who).write_records(folder + "/risk.parquet", overwrite=True)
    plan.apply(large, who, seed=1).write(folder + "/release.parquet", overwrite=True)
"""
SIZE = 20_000


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
        work.wait(timeout=float(np.random.Generator(np.random.Philox(trial)).uniform(0, 3)))
    except subprocess.TimeoutExpired:
        work.kill()
    work.communicate()
    for name in ("risk.parquet", "release.parquet"):
        if (tmp_path / name).exists():
            assert pl.read_parquet(tmp_path / name).height == SIZE
    again = started(tmp_path)
    again.communicate()
    assert again.returncode == 0
    assert all(pl.read_parquet(tmp_path / name).height == SIZE for name in ("risk.parquet", "release.parquet"))
    assert list(tmp_path.glob(".tacita-*")) == []


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
