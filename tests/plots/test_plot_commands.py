"""The further commands of `tacita plot`: they print, draw, and say what is wrong."""

import sys
from pathlib import Path

import polars as pl
import pytest

import tacita as tc
from tacita.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("plots")
    firms = tc.business_survey(120, exporters=True).data
    tc.write(firms, place / "firms.csv")
    tc.write(tc.log_noise(firms, ["turnover", "employees"], sd=0.3), place / "masked.csv")
    ends = {"from": pl.col("turnover") * 0.8, "to": pl.col("turnover") * 1.3}
    tc.write(firms.table.with_columns(**ends), place / "ranges.csv")
    cells = {"value": [40.0, 42.0, 90.0], "lower": [30.0, 35.0, 88.0], "upper": [54.0, 47.0, 96.0]}
    tc.write(pl.DataFrame(cells), place / "cells.csv")
    people = {"sex": ["f", "f", "f", "m"], "region": ["n", "n", "s", "s"], "w": [9.0, 9.0, 9.0, 9.0]}
    tc.write(pl.DataFrame(people), place / "people.csv")
    return place


def run(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["tacita", "plot", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "categorical people.csv people.csv --keys sex,region --k 2 --table --out a.svg",
            "2 of 4 records in the unsafe",
        ),
        (
            "categorical people.csv people.csv --keys sex --weight w --population --k 10 --out b.svg",
            "units of the population (F, weights)",
        ),
        ("intervals firms.csv ranges.csv --interval turnover=from,to --log --table --out c.svg", "intervals: 50 %"),
        ("cells cells.csv --delta 0.1 --k 2 --out d.svg", "1 of 3 records in the unsafe zone"),
        ("released firms.csv masked.csv --variables turnover,employees --log --out e.svg", "written: e.svg"),
        ("units firms.csv masked.csv --keys turnover,employees --log --out f.svg", "written: f.svg"),
        ("units firms.csv masked.csv --keys turnover,employees --records 3,7 --out g.svg", "written: g.svg"),
        ("robust firms.csv masked.csv --variables turnover,employees --pair employees,turnover --out h.svg", "RMDID1"),
        ("confidentiality firms.csv masked.csv --keys turnover --log --table --out i.svg", "in the unsafe zone"),
        (
            "confidentiality firms.csv masked.csv --keys turnover --strata industry --by-stratum --out j.svg",
            "written: j.svg",
        ),
        ("confidentiality firms.csv masked.csv --keys turnover --values --out k.svg", "written: k.svg"),
    ],
)
def test_commands_print_and_draw(
    words: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words, folder, monkeypatch) == 0
    assert said in capsys.readouterr().out
    picture = (folder / words.split()[-1]).read_text("utf-8")
    assert picture.startswith("<svg")
    internal = any(word in words for word in ("released", "units", "robust", "--values"))
    assert ("internal: shows original values" in picture) == internal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "intervals firms.csv ranges.csv --interval turnover",
            "intervals are written KEY=LOWER,UPPER, as in turnover=from,to; got 'turnover'.",
        ),
        (
            "units firms.csv masked.csv --keys turnover,employees --records a,b --out z.svg",
            "records must be the numbers of two records, as in 12,305; got 'a,b'.",
        ),
        (
            "categorical people.csv people.csv",
            "say what an intruder could know: --keys sex,age,region, or --scenario FILE.",
        ),
        (
            "confidentiality firms.csv masked.csv --keys turnover --figure densities --table",
            "--table, --by-stratum and --values go with the confidentiality plot; leave out --figure.",
        ),
    ],
)
def test_mistakes(
    words: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words, folder, monkeypatch) == 2
    assert capsys.readouterr().err == f"tacita: {message}\n"


def test_risk_and_special_uniques_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 10, "age": [20, 30, 40, 50] * 5, "job": list("abcde") * 4})
    people.write_csv(tmp_path / "people.csv")
    for figure, said in {"risk": "NOT SAFE", "suda": "unique on the keys"}.items():
        assert run(f"{figure} people.csv --keys sex,age,job --out {figure}.svg", tmp_path, monkeypatch) == 0
        assert said in capsys.readouterr().out
        assert (tmp_path / f"{figure}.svg").read_text("utf-8").startswith("<svg")
