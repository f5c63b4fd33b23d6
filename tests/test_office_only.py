"""What is for the office only says so in its name, in its first line and in its picture, and is closed to others."""

import json
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import tacita as tc
from tacita.check import Caution
from tacita.cli import app
from tacita.plots.internal.note import for_internal_use

Run = Callable[..., tuple[int, str, str]]
NOTE = "for internal use only"
INPUTS = {"survey.csv", "survey.parquet", "scenario.toml", "policy.toml", "plan.toml", "project.toml"}
"""What the demo starts from: the survey, and what is declared of it."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("office") / "demo"
    with warnings.catch_warnings():
        # As on the command line: what is measured says it itself.
        warnings.simplefilter("ignore", Caution)
        done = CliRunner().invoke(app, ["demo", "--households", "300", "--out", str(out)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Checklist before publication" in done.stdout
    return out


def marked(path: Path) -> bool:
    """Whether a file says that it is for the office only, where it is seen first."""
    if path.suffix == ".json":
        return str(next(iter(json.loads(path.read_text("utf-8")).values()))).startswith(NOTE)
    if path.suffix == ".html":
        return NOTE in path.read_text("utf-8")
    return path.read_text("utf-8").partition("\n")[0].removeprefix("# ").startswith(NOTE)


def test_every_file_of_the_demo_is_public_an_input_or_marked(demo: Path) -> None:
    for path in (each for each in demo.rglob("*") if each.is_file()):
        inside = path.relative_to(demo).parts
        if inside[0] in INPUTS or inside[:2] == ("release", "public"):
            continue
        if inside[:2] == ("release", "not_for_publication"):
            assert (path.parent / "README.txt").read_text("utf-8").startswith("NOT FOR PUBLICATION")
        elif path.suffix == ".parquet":
            assert "internal" in inside
        elif path.suffix != ".png":
            assert marked(path), path


def test_whatever_holds_record_numbers_lies_in_a_closed_folder(demo: Path) -> None:
    """Joined with the released file, records.parquet of the release undid the shuffle."""
    tables = [path for path in demo.rglob("*.parquet") if "record" in pl.read_parquet_schema(path)]
    assert sorted(path.relative_to(demo).as_posix() for path in tables) == [
        "risk/internal/records.parquet",
        "risk_after/internal/records.parquet",
    ]
    figures = [path for path in demo.rglob("*.html") if '"record"' in path.read_text("utf-8")]
    assert {path.parent.name for path in figures} <= {"internal"}
    if os.name != "nt":
        for folder in (each for each in demo.rglob("*") if each.name in ("internal", "not_for_publication")):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_an_assessment_is_marked_and_its_declarations_can_be_read_again(run: Run, tmp_path: Path) -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 10, "age": [1, 2, 3, 4] * 5})
    tc.write(people, tmp_path / "people.csv")
    words = ("assess", tmp_path / "people.csv", "--keys", "sex,age", "--measure", "suda", "--out", tmp_path / "risk")
    assert run(*words)[0] == 0
    assert sorted(each.relative_to(tmp_path / "risk").as_posix() for each in (tmp_path / "risk").rglob("*.*")) == [
        "internal/files.txt",
        "internal/records.parquet",
        "internal/suda.png",
        "policy.toml",
        "risk.html",
        "risk.json",
        "risk.png",
        "risk.txt",
        "scenario.toml",
    ]
    for name in ("policy.toml", "risk.html", "risk.json", "risk.txt", "scenario.toml"):
        assert marked(tmp_path / "risk" / name)
    assert tc.Scenario.load(tmp_path / "risk" / "scenario.toml").keys == ("sex", "age")
    assert run(*words, "--overwrite")[0] == 0


def test_the_note_stands_in_the_picture() -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 10})
    chart = tc.assess(people, tc.Scenario(keys=["sex"])).plot()
    noted = for_internal_use(chart).to_dict()["title"]
    given = chart.to_dict()["title"]
    assert noted["text"] == given["text"]
    assert noted["subtitle"] == [NOTE, *given["subtitle"]]
    assert type(for_internal_use(chart)) is type(chart)
    assert for_internal_use(chart.properties(title="bare")).to_dict()["title"]["subtitle"] == [NOTE]
