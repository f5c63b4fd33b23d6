"""What a first-time user stumbled over on the way from a raw file to a safe release, each as a test."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.protect.steps import own_steps
from tacita.protect.written_step import written_step

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Suppress(k=3)", tc.Suppress(k=3)),
        ("Suppress()", tc.Suppress()),
        ("RandomOrder", tc.RandomOrder()),
        (" tc.Recode('age', width=10) ", tc.Recode("age", width=10)),
        ("recode(variables=['age'], breaks=[15, 30])", tc.Recode("age", breaks=[15, 30])),
        ("group_rare(['job'], least_share=0.06)", tc.GroupRare(["job"], least_share=0.06)),
        ("DropRecords(where={'unsafe': 'dominance'})", tc.DropRecords(where={"unsafe": "dominance"})),
    ],
)
def test_a_step_is_read_as_it_is_printed(text: str, step: object) -> None:
    assert written_step(text) == step


def test_every_step_has_its_name() -> None:
    for step in own_steps():
        with pytest.raises(tc.TacitaError) as refused:
            written_step(f"{step.__name__}(nothing_of_the_kind=1)")
        assert "nothing_of_the_kind" in str(refused.value) or "lacks a parameter" in str(refused.value)


@pytest.mark.parametrize(
    "text", ["Suppress(k=3", "", "Suppress(k=open('x'))", "os.system('x')", "1 + 1", "Suppress(**{'k': 3})", "(" * 999]
)
def test_what_is_no_step_is_one_sentence(text: str) -> None:
    with pytest.raises(tc.TacitaError, match="cannot be read; write it as it is printed"):
        written_step(text)
    with pytest.raises(tc.TacitaError, match=r"there is no step 'Supress'\. Did you mean 'suppress'"):
        written_step("Supress(k=3)")


def people(size: int = 900) -> pl.DataFrame:
    draws = np.random.default_rng(3)
    black, hispanic = draws.random(size) < 0.1, draws.random(size) < 0.1
    age = draws.integers(20, 60, size)
    return pl.DataFrame({"age": age, "black": black * 1, "hispanic": hispanic * 1, "both": (black | hispanic) * 1})


def test_what_assess_proposes_is_given_to_protect_as_it_stands(run: Run, tmp_path: Path) -> None:
    """`assess` said "Suppress(k=3)", and `protect` took a file of a language that no page next to it showed."""
    people().write_csv(tmp_path / "people.csv")
    who = [tmp_path / "people.csv", "--keys", "age,black,hispanic", "--population-size", "900000"]
    code, _, err = run("protect", *who, "--out", tmp_path / "out")
    assert code == 2 and "no steps are given; name them as `tacita assess` proposes them" in " ".join(err.split())
    _, said, _ = run("assess", *who)
    assert "Suppress(k=3) suppresses" in " ".join(said.split())
    ranks = "importance={'age': 1, 'black': 2, 'hispanic': 3}, closed=False"
    steps = ["--step", f"Suppress(k=3, {ranks})", "--step", "RandomOrder()"]
    code, out, _ = run("protect", *who, *steps, "--out", tmp_path / "out")
    # The first release is not safe: another column tells what was suppressed, and the next line says what to do.
    assert code == 1 and "protect 'both' as 'black' is, or remove it" in " ".join(out.split())
    code, out, _ = run("protect", *who, *steps, "--step", "Remove(['both'])", "--out", tmp_path / "out")
    assert code == 0 and "The release is SAFE" in out
    again = ["--plan", tmp_path / "out/internal/plan.toml", "--out", tmp_path / "again"]
    assert run("protect", *who, *again)[0] == 0


def test_a_removed_column_that_follows_from_the_keys_needs_no_protection() -> None:
    """Its removal was proposed, and then its cells counted as given back by keys that the intruder knows anyway."""
    data, who = people(), tc.Scenario(keys=["age", "black", "hispanic"])
    released = data.drop("both")
    assert tc.risk.reconstruction(data, released, who).given_back == 0
    # Of a variable that the scenario names, and by a column that is no key, they count.
    named = tc.Scenario(keys=["age", "black", "hispanic"], sensitive=["both"])
    assert tc.risk.reconstruction(data, released, named).given_back == len(data)
    fewer = tc.Scenario(keys=["age", "black"])
    assert tc.risk.reconstruction(data, released, fewer).given_back == len(data)


def test_answers_of_yes_and_no_that_agree_by_chance_are_no_copies() -> None:
    """One suppressed answer was "revealed by a copy of it" by each column that held the same figure there."""
    draws = np.random.default_rng(8)
    table = pl.DataFrame({f"q{at}": (draws.random(2000) < 0.2 + at / 20) * 1 for at in range(14)})
    who = tc.Scenario(keys=["q0", "q1"])
    for row in range(3):
        blank = table.with_columns(pl.when(pl.int_range(pl.len()) == row).then(None).otherwise("q0").alias("q0"))
        assert not tc.risk.reconstruction(table, blank, who).leaks
    # A true copy is one still, also if it is true for half of the records only.
    for share in (1.0, 0.5):
        copied = draws.random(2000) < share
        twin = table.with_columns(
            q99=np.where(copied, table["q0"].to_numpy(), (draws.random(2000) < table["q0"].mean()) * 1)
        )
        gone = draws.permutation(2000) < 200
        blank = twin.with_columns(q0=pl.Series(np.where(gone, np.nan, twin["q0"].to_numpy())).fill_nan(None))
        twin = twin.with_columns(pl.col("q0").cast(pl.Float64))
        assert any(leak.columns == ("q99",) for leak in tc.risk.reconstruction(twin, blank, who).leaks) is (
            share == 1.0
        )


def test_counts_are_no_identifiers() -> None:
    """A count of cells in a drop of blood had "identifiers are those of the original ...; give new ones"."""
    draws = np.random.default_rng(4)
    table = pl.DataFrame(
        {
            "sex": draws.integers(0, 2, 2000),
            "cells": draws.normal(400, 140, 2000).round().astype(int).clip(1),
            "days": (1200 * draws.beta(4, 1, 2000)).astype(int) + 1,
            "home": np.repeat(np.arange(700), 3)[:2000] + 5000,
        }
    )
    found = tc.risk.reconstruction(table, table.with_columns(sex=None), tc.Scenario(keys=["sex"]))
    (said,) = [each for each in found.cautions if "identifiers are those" in each]
    assert "('home')" in said


def test_a_release_without_the_weight_is_refused_in_one_sentence() -> None:
    """Total risk of a file without the scenario's weight ended in an error of the frame library."""
    before = pl.DataFrame({"x": [1, 2], "y": ["a", "b"], "w": [1, 1]})
    who = tc.Scenario(keys=["x", "y"], weight="w")
    with pytest.raises(tc.TacitaError, match="weight of the released file"):
        tc.risk.total_risk(before, before.drop("w"), who, register=before, unit="x")
