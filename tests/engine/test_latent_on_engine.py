"""The latent model of a file on an engine: from the sums of weights and of their squares by key, as in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_assess_on_engine import people, same, scenario

import tacita as tc
from conftest import Opener

pytestmark = [
    pytest.mark.latent,
    pytest.mark.filterwarnings("ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


def test_the_latent_model_is_the_usual_one(on_engine: Opener) -> None:
    """Weights that differ among equal keys, missing values, a release with suppressed cells and other weights."""
    survey = people(400, seed=3).with_columns(pl.col("w") + 5)
    release = survey.with_columns(
        sex=pl.when(pl.int_range(400) % 7 != 0).then("sex"), age=pl.col("age") // 2, w=pl.col("w").round(0)
    )
    who = scenario(model="latent")
    before, after = on_engine(survey), on_engine(release)
    for memory, large in (
        (tc.assess(survey, who), tc.assess(before, who)),
        (tc.assess(release, who, original=survey), tc.assess(after, who, original=before)),
    ):
        assert large.individual.model is not None
        same(memory.to_dict()["key_sets"], large.to_dict()["key_sets"])


@pytest.mark.parametrize("step", [tc.Suppress(risk=0.02, closed=False), tc.SuppressKey("region", risk=0.05)], ids=str)
def test_risks_by_the_latent_model_are_those_in_memory(tmp_path: Path, step: Any) -> None:
    """Suppression on an engine went by the plain model whatever the scenario said: other cells than in memory."""
    survey = tc.household_survey(1500, population=60_000)
    tc.write(survey.data, tmp_path / "a.parquet")
    plan, who = tc.Plan([tc.Recode("age", width=5), step]), tc.Scenario(keys=survey.scenario.keys, weight="weight")
    plain = plan.apply(tmp_path / "a.parquet", replace(who, model="benedetti_franconi"), seed=2**100)
    memory = plan.apply(tmp_path / "a.parquet", who, seed=2**100)
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        release = plan.apply(large, who, seed=2**100)
        release.write(tmp_path / "release.parquet")
    texts = [each.select(pl.col(who.keys).cast(pl.String)) for each in (memory.data.table, plain.data.table)]
    assert (
        texts[0].rows() == pl.read_parquet(tmp_path / "release.parquet").select(pl.col(who.keys).cast(pl.String)).rows()
    )
    assert texts[0].rows() != texts[1].rows()
    assert release.changes[-1].remarks == memory.changes[-1].remarks
