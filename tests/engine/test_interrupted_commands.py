"""Commands on files larger than memory that are killed or stopped: nothing looks complete that is not, and the same
command finishes with the release that it would have made at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_assess_on_engine import people

import tacita as tc

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
COMMAND = """
import sys
from tacita.engine import memory
from tacita.release import large_release, large_written
memory.PER_BYTE = {".parquet": 1e7}
large_release.BATCH, large_written.PART = 1000, 3000
from tacita.__main__ import main
main()
"""
SIZE = 20_000
KEYS = ("--keys", "Region,age,sex,score", "--weight", "w", "--household", "hid", "--memory", "1GB")
WORDS = {
    "protect": ("protect", "people.parquet", "--plan", "plan.toml", "--seed-file", "seed.txt", *KEYS, "--out", "out",
                "--accept-unsafe", "a test"),
    "assess": ("assess", "people.parquet", *KEYS, "--model", "benedetti_franconi", "--out", "out"),
}  # fmt: skip


Made = dict[str, tuple[dict[str, bytes], float]]


def begun(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """The command at work in a folder, its temporary files in a folder of that."""
    (folder / "temporary").mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    words = [sys.executable, "-W", "ignore", "-c", COMMAND, *WORDS[command]]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(words, cwd=folder, env=environment, stdout=quiet, stderr=quiet)


def made(folder: Path, command: str) -> None:
    """The command from beginning to end."""
    work = begun(folder, command)
    # Assessing ends with 0; a plan that is accepted though not safe too.
    assert work.wait() == 0


def prepared(folder: Path) -> Path:
    folder.mkdir()
    people(SIZE).write_parquet(folder / "people.parquet")
    tc.Plan([tc.Suppress(k=3, closed=False), tc.Pram("sex", pd=0.7)]).save(folder / "plan.toml")
    (folder / "seed.txt").write_text(f"{2**100 + 3:x}\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """By path the data of a folder of results."""
    kinds = (".parquet", ".csv", ".xml")
    return {
        str(each.relative_to(folder)): each.read_bytes() for each in sorted(folder.rglob("*")) if each.suffix in kinds
    }


def hidden(folder: Path) -> list[str]:
    """What is left of work that did not end."""
    return [each.name for each in folder.rglob("*") if each.name.startswith(".tacita-")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """By command what it makes when nobody stops it, and how long that takes."""
    found = {}
    for command in WORDS:
        folder, start = prepared(tmp_path_factory.mktemp(command) / "whole"), time.monotonic()
        made(folder, command)
        found[command] = contents(folder / "out"), time.monotonic() - start
        assert hidden(folder) == [] and not (folder / "out.unfinished").exists()
    parts = list(tmp_path_factory.getbasetemp().rglob("whole/out/**/part-*.parquet"))
    assert pl.concat([pl.read_parquet(each) for each in parts]).height == SIZE
    return found


@pytest.mark.usual(trial=2)
@pytest.mark.parametrize("trial", range(20))
@pytest.mark.parametrize("command", WORDS)
def test_killed_at_any_moment(command: str, trial: int, tmp_path: Path, whole: Made) -> None:
    expected, seconds = whole[command]
    folder = prepared(tmp_path / "killed")
    draw = np.random.Generator(np.random.Philox(trial + 100 * len(command)))
    work = begun(folder, command)
    for share in draw.uniform(0.2, 1.0, 2):
        # Killed twice: what went on from the first time is killed as well.
        try:
            work.wait(timeout=float(share) * seconds)
        except subprocess.TimeoutExpired:
            work.kill()
            work.wait()
        if (folder / "out").exists():
            assert contents(folder / "out") == expected
            return
        work = begun(folder, command)
    code = work.wait()
    assert code == 0 and contents(folder / "out") == expected
    assert hidden(folder) == [] and not (folder / "out.unfinished").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", WORDS)
def test_stopped_work_leaves_nothing_hidden(command: str, number: signal.Signals, tmp_path: Path, whole: Made) -> None:
    expected, seconds = whole[command]
    folder = prepared(tmp_path / "stopped")
    work = begun(folder, command)
    try:
        work.wait(timeout=0.7 * seconds)
    except subprocess.TimeoutExpired:
        work.send_signal(number)
    code = work.wait()
    assert hidden(folder) == []
    assert (code, (folder / "out").exists()) in ((128 + number, False), (0, True))
    if code == 0:
        assert contents(folder / "out") == expected
