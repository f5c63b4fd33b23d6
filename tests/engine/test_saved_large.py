"""A large release in its folder: what lies there, and work that was stopped and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_assess_on_engine import scenario
from test_plan_on_engine import survey

import tacita as tc
from tacita.check import TacitaError
from tacita.data.large_data import LargeData
from tacita.progress import Cancelled

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
PLAN = tc.Plan(
    [
        tc.Remove("name"),
        tc.Recode("age", width=3),
        tc.Suppress(k=3, closed=False),
        tc.Pram("job", pd=0.7, publish_matrix=True),
        tc.TopCode("number", at=170.5),
    ]
)
SAFE = tc.Policy(k=3, risk=None, rate=None, given_back=None)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is read in batches of 64 records and written in parts of 128."""
    monkeypatch.setattr("tacita.release.large_release.BATCH", 64)
    monkeypatch.setattr("tacita.release.large_written.PART", 128)
    known = {"sex": tc.Variable(label="Sex", value_labels={"f": "female", "m": "male", "x": "other"})}
    return tc.write(tc.Data.of(survey(), known), tmp_path / "people.parquet")


def released(folder: Path) -> list[tuple[Any, ...]]:
    parts = sorted((folder / "public" / "data").glob("*.parquet"))
    return pl.concat([pl.read_parquet(each) for each in parts]).rows()


def test_the_folder_has_what_a_small_one_has(file: Path, tmp_path: Path) -> None:
    memory = PLAN.apply(tc.read(file), scenario(), SAFE, seed=2**100)
    memory.save(tmp_path / "small", report=False)
    with LargeData.of(file, temporary=tmp_path) as large:
        PLAN.apply(large, scenario(), SAFE, seed=2**100).save(tmp_path / "large")
    ours, theirs = (tmp_path / name for name in ("small", "large"))
    assert released(theirs) == pl.read_parquet(ours / "public" / "data.parquet").rows()
    for name in ("codebook.csv", "transition_matrices.json"):
        assert (theirs / "public" / name).read_text() == (ours / "public" / name).read_text(), name
    assert (theirs / "public" / "codebook.xml").read_text() == (ours / "public" / "codebook.xml").read_text()
    small, large_log = (json.loads((each / "internal" / "log.json").read_text())["steps"] for each in (ours, theirs))
    assert [each["cells"] for each in large_log] == [each["cells"] for each in small]
    assert (theirs / "internal").stat().st_mode & 0o777 == 0o700
    for name in ("plan.toml", "scenario.toml", "policy.toml", "seed.txt"):
        assert (theirs / "internal" / name).read_text() == (ours / "internal" / name).read_text()
    assert "other" not in (theirs / "public" / "codebook.csv").read_text()
    assert not (tmp_path / "large.unfinished").exists()
    assert tc.read(theirs / "public" / "data" / "part-00001.parquet").perturbed == {"job"}


def stopped_at(limit: float) -> Callable[[float, str], None]:
    def progress(done: float, what: str) -> None:
        if done >= limit:
            raise Cancelled

    return progress


def test_stopped_work_goes_on_with_its_seed(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, unfinished = tmp_path / "out", tmp_path / "out.unfinished"

    def save(limit: float = 9.0, seed: int | None = None) -> None:
        with LargeData.of(file, temporary=tmp_path) as large:
            release = PLAN.apply(large, scenario(), SAFE, seed=seed)
            release.save(out, overwrite=True, progress=stopped_at(limit))

    with pytest.raises(Cancelled):
        save(0.55)
    assert not out.exists() and len(list((unfinished / "data").iterdir())) == 2
    assert unfinished.stat().st_mode & 0o777 == 0o700
    first = (unfinished / "data" / "part-00001.parquet").read_bytes()
    seed = (unfinished / "seed.txt").read_text().splitlines()[-1]
    with monkeypatch.context() as patched:
        patched.setattr("tacita.release.large_written._empty_folder", lambda *_: pytest.fail("begun anew"))
        save()
    assert (out / "public" / "data" / "part-00001.parquet").read_bytes() == first
    assert (out / "internal" / "seed.txt").read_text().splitlines()[-1] == seed
    memory = PLAN.apply(tc.read(file), scenario(), SAFE, seed=int(seed, 16))
    assert released(out) == memory.data.table.with_columns(pl.selectors.float().fill_nan(None)).rows()
    # Another seed or file is another work.
    with pytest.raises(Cancelled):
        save(0.55)
    save(seed=2**101)
    assert (out / "internal" / "seed.txt").read_text().splitlines()[-1] == f"{2**101:x}"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "people.parquet"]


def test_unsafe_releases_are_refused_before_anything_is_written(file: Path, tmp_path: Path) -> None:
    plan = tc.Plan([tc.Round("income", base=10)])
    with LargeData.of(file, temporary=tmp_path) as large:
        release = plan.apply(large, scenario(), tc.Policy(k=50))
        with pytest.raises(TacitaError, match="the release is NOT SAFE"):
            release.save(tmp_path / "out")
        assert [each.name for each in tmp_path.glob("out*")] == []
        release.save(tmp_path / "out", accept_unsafe="a test")
    assert not (tmp_path / "out" / "public").exists()
    assert "a test" in (tmp_path / "out" / "not_for_publication" / "README.txt").read_text()


def test_protect_on_the_command_line(
    file: Path, tmp_path: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.engine.memory.PER_BYTE", {".parquet": 1e7})
    PLAN.save(tmp_path / "plan.toml")
    asked = ["protect", file, "--plan", tmp_path / "plan.toml", "--keys", "Region,age,sex,score", "--weight", "w"]
    asked += ["--memory", "1GB", "--out", tmp_path / "out"]
    code, _, errors = run(*asked)
    assert code == 1 and "nothing written, since the release is not safe" in errors
    code, out, _ = run(*asked, "--accept-unsafe", "a test")
    assert code == 0 and "NOT SAFE" in out and "both to stay in the office" in out
    assert "pram job: " in out and "cells of" in out
    assert (tmp_path / "out" / "not_for_publication" / "data" / "part-00004.parquet").exists()
    code, _, errors = run(*asked, "--overwrite", "--formats", "csv")
    assert code == 2 and "is released as Parquet; leave --formats out" in errors
