"""The latent model of a file on an engine: from the sums of weights and of their squares by key, as in memory."""

from __future__ import annotations

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
