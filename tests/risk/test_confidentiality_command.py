"""`tacita confidentiality` and the options of `tacita plot confidentiality`."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import tacita as tc
from tacita.check import TacitaError
from tacita.cli import app


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    survey = tc.business_survey(200)
    tc.write(survey.data, tmp_path / "firms.parquet")
    tc.write(tc.log_noise(survey.data, ["turnover", "employees"]), tmp_path / "masked.parquet")
    return str(tmp_path / "firms.parquet"), str(tmp_path / "masked.parquet")


def run(*words: str) -> str:
    found = CliRunner().invoke(app, list(words))
    if isinstance(found.exception, TacitaError):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.output


def test_all_tables_for_several_key_sets(files: tuple[str, str]) -> None:
    words = ("--key-set", "turnover", "--key-set", "turnover,employees", "--strata", "industry", "--log")
    said = run("confidentiality", *files, *words)
    sets = tc.risk.confidentiality_sets(
        *files,
        tc.Scenario(numeric_keys=["any"]),
        key_sets=[["turnover"], ["turnover", "employees"]],
        strata="industry",
        log=True,
    )
    assert said == f"{sets}\n"
    assert said.count("Table ") == 4


def test_demo_prints_six_tables() -> None:
    said = run("confidentiality", "--demo", "--no-ratio", "--alphas", "0.01,0.1")
    assert [line[:8] for line in said.splitlines() if line.startswith("Table")] == [
        f"Table {number}." for number in range(1, 6)
    ]
    assert said.count("at 2 alphas") == 4
    said = run("confidentiality", "--demo")
    assert "Table 6. Which of the ten largest units by turnover keep their rank" in said


def test_tables_in_a_folder(files: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "tables"
    said = run("confidentiality", *files, "--keys", "turnover", "--unit-free", "--out", str(out))
    note, _, tables = (out / "tables.txt").read_text("utf-8").partition("\n\n")
    assert note == "for internal use only: how well the released file hides the original"
    assert tables in said
    assert pl.read_csv(out / "links.csv").height == 1
    assert pl.read_csv(out / "ranks.csv")["size"].to_list() == ["turnover"]
    assert pl.read_csv(out / "kolmogorov_smirnov.csv")["records"].to_list() == [200]
    assert (out / "confidentiality.png").stat().st_size > 0
    with pytest.raises(TacitaError, match="exists"):
        run("confidentiality", *files, "--keys", "turnover", "--out", str(out))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name two files and their numeric keys, ORIGINAL RELEASED --keys a,b; or use --demo."),
        (("a.csv", "b.csv"), "name two files and their numeric keys, ORIGINAL RELEASED --keys a,b; or use --demo."),
        (("a.csv", "b.csv", "--demo"), "--demo brings its own files; leave out ORIGINAL and RELEASED, or --demo."),
        (
            ("--demo", "--alphas", "0.1,x"),
            "alphas must be shares separated by commas, as in 0.01,0.05,0.1; got '0.1,x'.",
        ),
    ],
)
def test_messages(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        run("confidentiality", *words)
    assert str(error.value) == message


def test_options_of_the_plot(files: tuple[str, str], tmp_path: Path) -> None:
    policy = tc.Policy(neighbours=4, perturbation=0.3).save(tmp_path / "policy.toml")
    words = ("--keys", "turnover,employees", "--metric", "gower", "--policy", str(policy), "--no-ratio")
    said = run("plot", "confidentiality", *files, *words)
    found = tc.risk.confidentiality(
        *files, tc.Scenario(numeric_keys=["turnover", "employees"]), metric="gower", k=4, r=0.3, ratio=False
    )
    assert said == f"{found}\n"
    assert "k = 9, r = 30 %" in run("plot", "confidentiality", *files, *words, "--k", "9")
    out = tmp_path / "densities.svg"
    run(
        "plot",
        "confidentiality",
        *files,
        "--keys",
        "turnover",
        "--unit-free",
        "--figure",
        "densities",
        "--out",
        str(out),
    )
    assert "density" in out.read_text("utf-8")
