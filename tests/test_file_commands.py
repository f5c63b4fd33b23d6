"""`tacita convert`, `join` and `split`: files in, files out, all of them or none."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import tacita as tc

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
    assert err == "tacita: s.csv exists already; choose another name, or overwrite=True (--overwrite) to replace it.\n"


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


def test_link_refuses_an_existing_file_before_the_work(work: Run) -> None:
    Path("links.csv").write_text("old\n")
    code, out, err = work("link", "no.csv", "s.parquet", "--variables", "age", "--out", "links.csv")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: links.csv exists already;")
