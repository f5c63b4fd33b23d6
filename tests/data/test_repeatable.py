"""What is written: the same bytes for the same data, and nothing that a spreadsheet runs."""

import time
import warnings
from pathlib import Path

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaWarning

TABLE = pl.DataFrame({"n": [1, 2, None], "name": ["a", None, "b"]})
SUFFIXES = (".csv", ".parquet", ".arrow", ".xlsx", ".sav", ".zsav", ".dta", ".xpt")
TIMES = {
    ".sav": b"01 Jan 0000:00:00",
    ".zsav": b"01 Jan 0000:00:00",
    ".dta": b"01 Jan 2000 00:00",
    ".xpt": b"01JAN00:00:00:00",
}


def test_the_same_data_make_the_same_file(tmp_path: Path) -> None:
    first = {suffix: tc.write(TABLE, tmp_path / f"a{suffix}").read_bytes() for suffix in SUFFIXES}
    time.sleep(1.1)
    for suffix in SUFFIXES:
        assert tc.write(TABLE, tmp_path / f"b{suffix}").read_bytes() == first[suffix], suffix


@pytest.mark.parametrize(("suffix", "stamp"), TIMES.items())
def test_no_file_tells_when_it_was_written(tmp_path: Path, suffix: str, stamp: bytes) -> None:
    raw = tc.write(TABLE, tmp_path / f"a{suffix}").read_bytes()
    assert raw.count(stamp) == (4 if suffix == ".xpt" else 1)
    assert tc.read(tmp_path / f"a{suffix}").table.rows() == TABLE.rows()


RUN = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1+2", "-2+3", "\t=1", "'=1", "''@x"]
LEFT = ["-5", "+1.5", "-1e3", "b", "'quoted'", "a=b", "-", None]


def test_texts_that_a_spreadsheet_runs_get_an_apostrophe_and_lose_it_again(tmp_path: Path) -> None:
    table = pl.DataFrame({"name": [*RUN, *LEFT]})
    with pytest.warns(TacitaWarning) as caught:
        tc.write(table, tmp_path / "a.csv", delimiter=";")
    assert [str(each.message) for each in caught] == [
        "a.csv: 7 texts of 'name' that a spreadsheet would run as a formula got an apostrophe in front, which reading "
        "takes away; formulas=True writes them as they are."
    ]
    lines = (tmp_path / "a.csv").read_text().splitlines()[1:]
    assert [line.strip('"') for line in lines] == [*("'" + text for text in RUN), *(text or "" for text in LEFT)]
    assert tc.read(tmp_path / "a.csv").table["name"].to_list() == [*RUN, *LEFT]
    assert tc.write(table, tmp_path / "b.csv", formulas=True).read_text().splitlines()[1] == RUN[0]


def test_a_file_of_others_keeps_its_apostrophes(tmp_path: Path) -> None:
    """Where a formula stands bare, nobody put apostrophes in front: '=1 and =1 are two values."""
    (tmp_path / "a.csv").write_text("name\n'=1\n=1\n")
    assert tc.read(tmp_path / "a.csv").table["name"].to_list() == ["'=1", "=1"]


def test_the_log_of_a_release_says_so(tmp_path: Path) -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 10, "note": ["=1+1", "x"] * 10})
    release = tc.Plan([]).apply(people, tc.Scenario(keys=["sex"], population_size=10_000), seed=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TacitaWarning)
        release.save(tmp_path / "out", formats=["csv"], accept_unsafe="a test")
    said = "data.csv: 10 texts of 'note' that a spreadsheet would run as a formula got an apostrophe in front"
    assert any(str(each.message).startswith(said) for each in caught)
    assert said in (tmp_path / "out" / "internal" / "log.txt").read_text()
