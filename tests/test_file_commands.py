"""`tacita convert`, `join` and `split`: files in, files out, all of them or none."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import tacita as tc
from tacita.cli import GROUPS, plot
from tacita.release.project import Project

Run = Callable[..., tuple[int, str, str]]
PERSONS = pl.DataFrame({"hid": [2, 1, 2], "age": [34, 71, 6], "region": ["south", "north", "south"]})
SPLIT = ("split", "s.parquet", "--on", "hid", "--household-variables", "region")


@pytest.fixture
def work(run: Run) -> Run:
    tc.write(PERSONS, "s.parquet")
    return run


def files() -> list[str]:
    return sorted(each.name for each in Path().iterdir())


def test_convert(work: Run) -> None:
    assert work("convert", "s.parquet", "s.csv") == (0, "written: s.csv (3 records, 3 variables)\n", "")
    assert tc.read("s.csv").table.equals(PERSONS)
    code, out, err = work("convert", "s.parquet", "s.csv")
    assert (code, out) == (2, "")
    assert err == "tacita: s.csv exists already; choose another name, or --overwrite to replace it.\n"


def test_split_and_join(work: Run) -> None:
    code, out, err = work(*SPLIT, "--households", "h.csv", "--persons", "p.csv")
    assert (code, out, err) == (0, "written: h.csv (2 records)\nwritten: p.csv (3 records)\n", "")
    assert tc.read("h.csv").table.rows() == [(2, "south"), (1, "north")]
    assert work("join", "h.csv", "p.csv", "--on", "hid", "--out", "j.csv") == (0, "written: j.csv (3 records)\n", "")
    assert tc.read("j.csv").table.equals(PERSONS)


def test_split_writes_both_files_or_none(work: Run) -> None:
    """A household file without its persons, or beside those of another time, would go unnoticed."""
    Path("p.csv").write_text("old\n")
    code, out, err = work(*SPLIT, "--households", "h.csv", "--persons", "p.csv")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: p.csv exists already;")
    assert files() == ["p.csv", "s.parquet"]


@pytest.mark.parametrize("persons", ["h.csv", "./h.csv"])
def test_split_needs_two_files(work: Run, persons: str) -> None:
    """The persons would replace the households."""
    code, out, err = work(*SPLIT, "--households", "h.csv", "--persons", persons, "--overwrite")
    assert (code, out) == (2, "")
    assert err == "tacita: --households and --persons must be two files; name another one.\n"
    assert files() == ["s.parquet"]


TWO = ("no.csv", "no.csv")
TABLES = [
    ("link", *TWO, "--variables", "age", "--out"),
    ("interval", *TWO, "--variables", "age", "--out"),
    ("convert", "no.csv"),
    ("corrected", "no.csv", "--variables", "age", "--matrix", "m.json", "--out"),
    ("join", *TWO, "--on", "hid", "--out"),
    ("split", "no.csv", "--on", "hid", "--household-variables", "region", "--persons", "p.csv", "--households"),
    ("split", "no.csv", "--on", "hid", "--household-variables", "region", "--households", "h.csv", "--persons"),
]
FIGURES = [
    ("plot", "confidentiality", *TWO, "--keys", "age", "--out"),
    ("plot", "categorical", *TWO, "--keys", "age", "--out"),
    ("plot", "intervals", *TWO, "--interval", "age=from,to", "--out"),
    ("plot", "cells", "no.csv", "--out"),
    ("plot", "released", *TWO, "--variables", "age", "--out"),
    ("plot", "units", *TWO, "--keys", "age,hid", "--out"),
    ("plot", "risk", "no.csv", "--keys", "age", "--out"),
    ("plot", "suda", "no.csv", "--keys", "age", "--out"),
    ("plot", "robust", *TWO, "--variables", "age,hid", "--out"),
]
PAGES = [("report", *TWO, "--keys", "age", "--out")]
FOLDERS = [
    ("assess", "no.csv", "--keys", "age", "--out"),
    ("confidentiality", *TWO, "--keys", "age", "--out"),
    ("protect", "no.csv", "--plan", "plan.toml", "--keys", "age", "--out"),
    ("run", "project.toml", "--out"),
    ("compare", *TWO, "--keys", "age", "--out"),
    ("demo", "--out"),
]


def test_every_command_that_writes_is_here() -> None:
    given = {words[1] if words[0] == "plot" else words[0] for words in (*TABLES, *FIGURES, *PAGES, *FOLDERS)}
    commands = {name for group in GROUPS for name in group.COMMANDS} | set(plot.FIGURES)
    assert given == commands - {"describe", "steps", "measures", "app"}


@pytest.mark.parametrize("words", [*TABLES, *FIGURES], ids=" ".join)
def test_an_existing_file_is_refused_before_the_work(run: Run, words: tuple[str, ...]) -> None:
    """The files to read are not there: nothing was done before the file to write was looked at."""
    name = "out.png" if words in FIGURES else "out.csv"
    Path(name).write_text("old\n")
    code, out, err = run(*words, name)
    assert (code, out) == (2, "")
    assert err.startswith(f"tacita: {name} exists already; choose another name, or --overwrite ")
    code, out, err = run(*words, name, "--overwrite")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: no.csv does not exist;")
    assert Path(name).read_text() == "old\n"


@pytest.mark.parametrize("words", [*TABLES, *FIGURES, *PAGES], ids=" ".join)
def test_a_file_of_no_known_kind_is_refused_before_the_work(run: Run, words: tuple[str, ...]) -> None:
    said, kind = {
        words in FIGURES: ("figures are saved as ", "png"),
        words in PAGES: ("a report is saved as .html", "html"),
    }.get(True, ("out.doc must end in one of ", "csv"))
    code, out, err = run(*words, "out.doc")
    assert (code, out) == (2, "")
    assert err.startswith(f"tacita: {said}")
    code, out, err = run(*words, f"no/out.{kind}")
    assert "because there is no folder 'no'" in err
    assert files() == []


def test_a_kind_that_can_only_be_read_is_refused_before_the_work(run: Run) -> None:
    code, out, err = run("convert", "no.csv", "out.sas7bdat")
    assert (code, out, err) == (2, "", "tacita: out.sas7bdat can be read but not written; write .xpt for SAS.\n")


@pytest.mark.parametrize("words", FOLDERS, ids=" ".join)
def test_an_existing_folder_is_refused_before_the_work(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def surveyed(*_: object, **__: object) -> None:
        raise AssertionError("the survey is made before its folder was looked at")

    monkeypatch.setattr("tacita.data.demo.survey.household_survey", surveyed)
    tc.Plan([tc.Suppress()]).save("plan.toml")
    Project(data="no.csv", scenario=tc.Scenario(keys=["age"])).save("project.toml")
    Path("out").mkdir()
    code, out, err = run(*words, "out")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: folder 'out' exists already;")


def test_an_unknown_figure_is_refused_before_the_work(run: Run) -> None:
    code, out, err = run("plot", "confidentiality", *TWO, "--keys", "age", "--figure", "pie", "--out", "out.png")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: figure must be one of ")
