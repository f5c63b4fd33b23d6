"""The intruder's population does not change because a step changed or dropped the weight."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data
from tacita.protect.step import Step

FIRMS = pl.DataFrame(
    {"region": ["north"] * 4 + ["south"] * 96, "size": ["large"] * 4 + ["small"] * 96, "w": [1.0] * 4 + [50.0] * 96}
)
WHO = tc.Scenario(keys=["region", "size"], weight="w")
STRICT = tc.Policy(k=3, risk=0.1, rate=0.001)
HARMLESS = [
    tc.RoundWeights(base=100),
    tc.RoundWeights(digits=1),
    tc.TrimWeights(least=30),
    tc.WeightNoise(1.5),
    tc.Recalibrate(totals={"region": {"north": 4000.0, "south": 9000.0}}),
    tc.Remove("w"),
    tc.RandomOrder(),
    tc.NewIdentifiers("id"),
]
"""Steps that touch weights, order or identifiers only: they protect nobody's keys."""


@pytest.mark.parametrize("step", HARMLESS[:6], ids=str)
def test_take_all_units_stay_at_risk(step: Step) -> None:
    """Four firms of weight 1 stand for themselves, however their weights are rounded."""
    release = tc.Plan([step]).apply(FIRMS, WHO, seed=1)
    profile = tc.assess(release, release.scenario, STRICT)
    assert not profile.safe
    assert profile.failures[0] == "4 records above a risk of 0.1"
    assert profile.expected == pytest.approx(tc.assess(FIRMS, WHO).expected, rel=1e-12)


def test_without_the_weight_the_release_looks_as_before_not_worse() -> None:
    """Dropping the weight let F fall back to f: 57 expected re-identifications became 7,269."""
    survey = tc.household_survey(500, population=20000)
    release = tc.Plan([tc.Remove("weight")]).apply(survey.data, survey.scenario)
    before, after = tc.assess(survey.data, survey.scenario), tc.assess(release, release.scenario)
    assert after.expected == before.expected
    assert after.main.table.source == "original_weights"


@pytest.mark.parametrize("step", HARMLESS, ids=str)
@given(seed=st.integers(0, 2**32 - 1))
def test_risk_never_falls_by_steps_that_protect_no_key(step: Step, seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(4, 30))
    people = pl.DataFrame(
        {
            "id": np.arange(size),
            "region": ["north", "south", *draw.choice(["north", "south"], size - 2)],
            "size": draw.choice(["large", "small", None], size).tolist(),
            "w": np.round(draw.uniform(1, 150, size), 1),
        }
    )
    release = tc.Plan([step]).apply(people, WHO, seed=int(seed))
    before, after = tc.assess(people, WHO), tc.assess(release, release.scenario)
    order = np.argsort(release.data.record)
    assert after.individual.risk[order] == pytest.approx(before.individual.risk, rel=1e-12)


def test_another_weight_or_a_number_of_units_is_what_the_user_wants() -> None:
    people = FIRMS.with_columns(other=pl.col("w") * 2)
    release = tc.Plan([tc.RoundWeights(base=100)]).apply(people, WHO)
    for who, source in (
        (tc.Scenario(keys=["region"], weight="other"), "weights"),
        (tc.Scenario(keys=["region"], population_size=5000), "population_size"),
        (tc.Scenario(keys=["region"], weight="w"), "original_weights"),
        (tc.Scenario(keys=["region"]), "original_weights"),
    ):
        assert tc.key_table(release, who).source == source
    # What the weights give away is read off the released ones.
    assert tc.risk.weight_disclosure(release, release.scenario).to_frame().height > 0


def test_the_weights_as_they_were_follow_the_records_and_are_in_no_file() -> None:
    release = tc.Plan([tc.RandomOrder(), tc.RoundWeights(base=100)]).apply(FIRMS, WHO, seed=3)
    was = release.data.original_weights
    assert was is not None
    assert was.values.tolist() == FIRMS["w"].to_numpy()[release.data.record - 1].tolist()
    assert Data.of(release.to_native()).original_weights is None
