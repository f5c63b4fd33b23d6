"""`tacita link` and `tacita interval`: what they print and write, and every mistake in one sentence."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc

Run = Callable[..., tuple[int, str, str]]
FILES = ("x.parquet", "y.parquet", "--variables", "a,b")


@pytest.fixture
def files(run: Run) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two files in the working folder of `run`, and a register with other rows and columns."""
    draw = np.random.default_rng(1)
    first = pl.DataFrame(
        {
            "id": range(1, 61),
            "a": draw.gamma(2.0, 10.0, 60).round(2),
            "b": draw.gamma(1.0, 5.0, 60).round(2),
            "sex": draw.choice(["f", "m"], 60),
            "age": draw.integers(20, 60, 60),
            "region": draw.choice(["n", "s"], 60),
        }
    )
    second = first.with_columns(a=pl.col("a") + 0.5, age=pl.col("age") + (pl.int_range(60) % 5 == 0))
    tc.write(first, "x.parquet")
    tc.write(second, "y.parquet")
    tc.write(first.select("id", "a", "b")[10:50].sort("a"), "register.csv")
    return first, second


@pytest.mark.parametrize(
    ("method", "measure"), [("distance", tc.risk.distance_linkage), ("one-to-one", tc.risk.one_to_one_linkage)]
)
def test_link_prints_and_writes_what_the_function_gives(
    run: Run, files: tuple[pl.DataFrame, pl.DataFrame], method: str, measure: Callable[..., tc.TacitaError]
) -> None:
    found = measure(*files, tc.Scenario(numeric_keys=["a", "b"]), distance="manhattan", standardise=False)
    words = (*FILES, "--method", method, "--distance", "manhattan", "--no-standardise", "--out", "records.parquet")
    code, out, err = run("link", *words)
    assert (code, err) == (0, "")
    assert out == f"{found}\n\nwritten: records.parquet (60 records)\n"
    assert os.name == "nt" or Path("records.parquet").stat().st_mode & 0o777 == 0o600
    assert pl.read_parquet("records.parquet").equals(found.to_frame())  # type: ignore[attr-defined]


def test_link_by_agreement(run: Run, files: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = tc.risk.probabilistic_linkage(
        *files, tc.Scenario(numeric_keys=["sex", "age", "a"]), block=["region"], tolerance={"a": 1.0, "age": 2.0}
    )
    words = ("x.parquet", "y.parquet", "--variables", "sex,age,a", "--method", "probabilistic", "--block", "region")
    code, out, err = run("link", *words, "--tolerance", "a=1,age=2")
    assert (code, out, err) == (0, f"{found}\n", "")


def test_link_to_an_external_file(run: Run, files: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    code, out, err = run("link", "register.csv", "y.parquet", "--variables", "a,b", "--unit", "id", "--external")
    assert (code, err) == (0, "")
    assert "of 60 released records" in out
    code, out, err = run("link", "register.csv", "y.parquet", "--variables", "a,b", "--external")
    assert (code, err) == (0, "")
    assert "whether rightly is not known" in out


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--k", "0.1"], lambda x, y: tc.risk.interval_disclosure(x, y, tc.Scenario(numeric_keys=["a", "b"]), k=0.1)),
        (
            ["--method", "rank", "--widths", "1,25"],
            lambda x, y: tc.risk.rank_interval_disclosure(x, y, tc.Scenario(numeric_keys=["a", "b"]), widths=[1, 25]),
        ),
        (
            ["--method", "rmd", "--scaled-by", "original"],
            lambda x, y: tc.risk.robust_interval_disclosure(
                x, y, tc.Scenario(numeric_keys=["a", "b"]), scale="original"
            ),
        ),
    ],
    ids=["sd", "rank", "rmd"],
)
def test_interval(
    run: Run, files: tuple[pl.DataFrame, pl.DataFrame], words: list[str], found: Callable[..., object]
) -> None:
    result = found(*files)
    code, out, err = run("interval", *FILES, *words, "--out", "records.parquet")
    assert (code, err) == (0, "")
    assert out == f"{result}\n\nwritten: records.parquet (60 records)\n"
    assert pl.read_parquet("records.parquet").equals(result.to_frame())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["link", *FILES, "--method", "near"],
            "method must be one of 'distance', 'one-to-one', 'probabilistic'; got 'near'.",
        ),
        (
            ["link", *FILES, "--distance", "far"],
            "distance must be one of 'euclidean', 'manhattan', 'mahalanobis', 'gower'; got 'far'.",
        ),
        (["link", *FILES, "--block", "region"], "--block goes with --method probabilistic; leave it out of distance."),
        (["link", *FILES, "--gap", "0.1"], "--gap goes with --method one-to-one; leave it out of distance."),
        (
            ["link", *FILES, "--method", "probabilistic", "--distance", "gower"],
            "--distance goes with --method distance or one-to-one; leave it out of probabilistic.",
        ),
        (
            ["link", *FILES, "--method", "probabilistic", "--tolerance", "a"],
            "tolerance is written variable=number, as in age=1,income=50; got 'a'.",
        ),
        (
            ["link", *FILES, "--method", "probabilistic", "--tolerance", "a=x"],
            "tolerance is written variable=number, as in age=1,income=50; got 'a=x'.",
        ),
        (
            ["link", "x.parquet", "y.parquet", "--variables", "c"],
            "keys of the original file not in the data: 'c'. The columns are 'id', 'a', 'b', 'sex', 'age', 'region'.",
        ),
        (["link", "x.parquet", "y.parquet", "--variables", "sex"], "column 'sex' must hold numbers; it holds text."),
        (
            ["link", *FILES, "--unit", "sex"],
            "unit 'sex' must identify the records; in the original file 58 values of it come again, name "
            "another column.",
        ),
        (
            ["link", "register.csv", *FILES[1:]],
            "original and released must have the same records, row by row; got 40 and 60, name a column "
            "that identifies them with --unit.",
        ),
        (["interval", *FILES, "--method", "iqr"], "method must be one of 'sd', 'rank', 'rmd'; got 'iqr'."),
        (
            ["interval", *FILES, "--method", "rank", "--k", "1"],
            "--k goes with --method sd or rmd; leave it out of rank.",
        ),
        (["interval", *FILES, "--scaled-by", "own"], "--scaled-by goes with --method rmd; leave it out of sd."),
        (
            ["interval", *FILES, "--method", "rank", "--widths", "a"],
            "widths must be percentages separated by commas, as in 1,5,10; got 'a'.",
        ),
        (["interval", *FILES, "--k", "-1"], "k must be at least 0; got -1.0."),
        (
            ["interval", *FILES, "--out", "x.parquet"],
            "x.parquet exists already; choose another name, or --overwrite to replace it.",
        ),
        (["link", "nowhere.csv", *FILES[1:]], "nowhere.csv does not exist; check the path."),
    ],
)
def test_mistakes(run: Run, files: tuple[pl.DataFrame, pl.DataFrame], words: list[str], message: str) -> None:
    before = sorted(Path().iterdir())
    code, out, err = run(*words)
    assert (code, out, err) == (2, "", f"tacita: {message}\n")
    assert sorted(Path().iterdir()) == before


def test_a_file_is_replaced_if_asked(run: Run, files: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    Path("records.csv").write_text("old")
    code, _, err = run("link", *FILES, "--out", "records.csv", "--overwrite")
    assert (code, err) == (0, "")
    assert Path("records.csv").read_text().startswith("record,link,status,candidates,correct")
