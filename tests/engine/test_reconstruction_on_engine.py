"""What a release on an engine gives back: by columns of all records, and by what single records have of a sample."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from conftest import Opener
from tacita.keys import sampled_blocks

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
NONE = tc.Policy(k=2, risk=None, rate=None, given_back=0)


def survey(n: int = 3_000) -> tuple[pl.DataFrame, pl.Series]:
    """People in households of three, whose region they share; and who has no region or sex in the release."""
    draws = np.random.default_rng(1)
    hid = np.arange(n) // 3
    people = pl.DataFrame(
        {
            "hid": draws.permutation(n)[hid],
            "region": draws.integers(0, 6, n)[hid],
            "sex": draws.integers(0, 2, n),
            "age": draws.integers(0, 60, n),
            "income": np.round(draws.lognormal(10, 1, n), 2),
        }
    )
    return people.sample(fraction=1.0, shuffle=True, seed=2), pl.Series(draws.random(n) < 0.03)


def without(people: pl.DataFrame, name: str, blank: pl.Series) -> pl.DataFrame:
    return people.with_columns(pl.when(~blank).then(name).alias(name))


def holds(found: tc.risk.Reconstruction) -> list[bool | None]:
    return [each.holds for each in found.verdicts(NONE)]


def test_a_clean_release_has_a_verdict(on_engine: Opener) -> None:
    people, blank = survey()
    people = people.drop("hid")
    release, who = without(people, "sex", blank), tc.Scenario(keys=["region", "sex"])
    memory = tc.risk.reconstruction(people, release, who)
    large = on_engine(people), on_engine(release)
    found = tc.risk.reconstruction(*large, who)
    assert (found.protected, found.given_back) == (memory.protected, memory.given_back) == (int(blank.sum()), 0)
    assert holds(found) == holds(memory) == [True]
    assert "arithmetic and columns of more values were tried on" in found.cautions[0]
    profile = tc.assess(large[1], who, NONE, original=large[0])
    assert profile.safe


def test_housemates_are_asked_in_the_sample(on_engine: Opener) -> None:
    people, blank = survey()
    release, who = without(people, "region", blank), tc.Scenario(keys=["region", "sex"], household="hid")
    memory = tc.risk.reconstruction(people, release, who)
    found = tc.risk.reconstruction(on_engine(people), on_engine(release), who)
    assert memory.leaks[0].kind == found.leaks[0].kind == "housemates"
    assert found.given_back == memory.given_back > 50
    assert holds(found) == [False]


def test_columns_of_many_values_are_tried_in_the_sample(on_engine: Opener) -> None:
    people, blank = survey()
    people = people.drop("hid").with_columns(income=pl.col("income") + pl.col("sex") * 1e6)
    release, who = without(people, "sex", blank), tc.Scenario(keys=["region", "sex"])
    found = tc.risk.reconstruction(on_engine(people), on_engine(release), who)
    assert found.leaks[0].columns == ("income",) and found.given_back == int(blank.sum())
    assert holds(found) == [False]


def test_a_variable_of_many_values_that_is_told_leaves_the_verdict_open(on_engine: Opener) -> None:
    people, blank = survey()
    people = people.drop("hid").with_columns(tax=pl.col("income") * 0.25)
    release, who = without(people, "income", blank), tc.Scenario(keys=["region", "sex"])
    memory = tc.risk.reconstruction(people, release, who)
    assert holds(memory) == [False]
    found = tc.risk.reconstruction(on_engine(people), on_engine(release), who)
    assert holds(found) == [None] and "cells of 'income' are given back" in found.verdicts(NONE)[0].why


def test_the_sample_has_cells_of_every_variable(on_engine: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 150 runs those are drawn that have the blanks of a variable: all five rare ones, and enough of the other."""
    for name, value in {"BLOCK": 20, "MOST_BLOCKS": 3, "CELLS": 30}.items():
        monkeypatch.setattr(sampled_blocks, name, value)
    people, blank = survey()
    people = people.select("region", "sex", "age")
    rare = pl.Series(np.arange(3_000) % 601 == 7)
    release = without(without(people, "sex", blank), "region", rare)
    found = tc.risk.reconstruction(on_engine(people), on_engine(release), tc.Scenario(keys=["region", "sex"]))
    assert found.given_back == 0 and holds(found) == [True]
    records, cells = re.search(r"tried on ([\d,]+) records with (\d+) protected", found.cautions[0]).groups()
    assert 400 < int(records.replace(",", "")) < 900
    assert 5 + 30 <= int(cells) < 80


def test_where_nothing_is_protected_nothing_is_given_back(on_engine: Opener) -> None:
    people, _ = survey()
    found = tc.risk.reconstruction(on_engine(people), on_engine(people), tc.Scenario(keys=["region", "sex"]))
    assert found.given_back == 0 and holds(found) == [True]


def test_an_original_is_open_while_its_records_are_sampled(tmp_path: Path) -> None:
    people, blank = survey()
    people = people.drop("hid")
    people.write_parquet(tmp_path / "survey.parquet")
    without(people, "sex", blank).write_parquet(tmp_path / "release.parquet")
    with tc.LargeData.of(tmp_path / "release.parquet", temporary=tmp_path) as release:
        who = tc.Scenario(keys=["region", "sex"])
        assert tc.assess(release, who, NONE, original=tmp_path / "survey.parquet").safe
