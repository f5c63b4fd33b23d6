"""The check of the negative binomial model where the population is known (paper figure 1)."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import nbinom

import tacita as tc
from tacita.check import TacitaError
from tacita.data.demo.survey import DemoSurvey, household_survey
from tacita.plots.model_check import model_check_points
from tacita.risk.population.model_check import ModelCheck, NegativeBinomial, coverage, model_check, position
from tacita.scenario import Scenario

Floats = NDArray[np.float64]
pytestmark = pytest.mark.latent


@pytest.fixture(scope="module")
def survey() -> DemoSurvey:
    return household_survey(900, population=9000, seed=3)


def small(**scenario: object) -> ModelCheck:
    """Three records of region a, one of b; ten and four units in the population."""
    data = pl.DataFrame({"region": ["a", "b", "a", "a"]})
    register = pl.DataFrame({"region": ["a"] * 10 + ["b"] * 4 + ["c"]})
    return model_check(data, Scenario(keys=["region"], **scenario), register)  # type: ignore[arg-type]


def test_by_hand() -> None:
    found = small()
    assert (found.f.tolist(), found.F.tolist()) == ([3.0, 1.0], [10.0, 4.0])
    assert found.p.tolist() == [0.3, 0.25]
    # b: F is geometric, P(F < 4) = 1 - 0.75^3 = 0.578 and P(F <= 4) = 1 - 0.75^4 = 0.684.
    assert 1 - 0.75**3 < found.position[1] < 1 - 0.75**4
    # a: the third success at trial 10 or before, P(F < 10) = P(3 or more of 9) = 0.5372, P(F <= 10) = 0.6172.
    assert 0.5371 < found.position[0] < 0.6173
    assert (found.draw >= found.f).all()


def test_position_by_brute_force() -> None:
    f, F, p = np.array([2.0, 3.0, 1.0]), np.array([5.0, 3.0, 1.0]), np.array([0.4, 0.2, 1.0])
    by_hand = [
        sum(nbinom.pmf(x, 2, 0.4) for x in range(3)) + 0.25 * nbinom.pmf(3, 2, 0.4),
        0.25 * 0.2**3,
        0.25,
    ]
    assert position(NegativeBinomial(f, p), F, np.full(3, 0.25)) == pytest.approx(by_hand, rel=1e-12)


def test_coverage_by_hand() -> None:
    """Geometric with p = 1/2: quantiles 1/4 and 3/4 are 1 and 2, which hold F with probability 3/4."""
    found = coverage(NegativeBinomial(np.ones(4), np.full(4, 0.5)), np.array([1.0, 2.0, 3.0, 9.0]), 0.5)
    assert found == (0.5, pytest.approx(0.75), 0.5)


def test_a_right_model_is_found_right() -> None:
    """F drawn from the model itself: positions uniform, coverage as expected."""
    generator = np.random.default_rng(11)
    f = generator.integers(1, 30, 20_000).astype(np.float64)
    p = generator.uniform(0.01, 0.9, 20_000)
    F = f + generator.negative_binomial(f.astype(np.int64), p)
    right = NegativeBinomial(f, p)
    places = position(right, F, generator.random(20_000))
    found = ModelCheck(
        f=f, F=F, forecast=right, records=f, draw=F, position=places, probability="estimated", left_out=0
    )
    assert found.histogram.sum() == 20_000
    assert abs(found.histogram - 2000).max() < 5 * np.sqrt(1800)
    for level, expected, observed in found.coverage:
        assert expected >= level
        assert observed == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 20_000))


def test_draws_follow_the_model(survey: DemoSurvey) -> None:
    """Put the draw in place of F: it must look right, whatever the data."""
    found = model_check(survey.data, survey.scenario, survey.population, probability="estimated")
    uniform = np.random.default_rng(1).random(len(found.f))
    keys = len(found.f)
    counts = np.histogram(position(found.forecast, found.draw, uniform), bins=10, range=(0, 1))[0]
    assert abs(counts - keys / 10).max() < 5 * np.sqrt(0.09 * keys)


def test_known_and_estimated_probability(survey: DemoSurvey) -> None:
    known, estimated = (
        model_check(survey.data, survey.scenario, survey.population, probability=probability)
        for probability in ("known", "estimated")
    )
    assert known.p == pytest.approx(known.f / known.F)
    assert (known.f == estimated.f).all()
    assert (known.F == estimated.F).all()
    # With p from F itself the model is centred on F: nearly everything lies inside.
    assert known.coverage[0].observed > 0.95
    assert known.coverage[0].observed > known.coverage[0].expected > 0.5
    assert abs(estimated.coverage[2].observed - estimated.coverage[2].expected) < 0.03
    assert known.left_out == estimated.left_out > 0


def test_F_is_that_of_the_register(survey: DemoSurvey) -> None:
    found = model_check(survey.data, survey.scenario, survey.population)
    keys = list(survey.scenario.keys)
    counts = survey.population.table.group_by(keys).len()
    sample = survey.data.table.drop_nulls(keys).group_by(keys).len()
    joined = sample.join(counts, on=keys)
    assert sorted(found.f.tolist()) == sorted(joined["len"].to_list())
    assert found.F.sum() == joined["len_right"].sum()


def test_seed_and_order(survey: DemoSurvey) -> None:
    found = model_check(survey.data, survey.scenario, survey.population)
    order = np.random.default_rng(1).permutation(len(survey.data))
    shuffled = model_check(survey.data.take(order), survey.scenario, survey.population)
    assert found.to_frame().equals(shuffled.to_frame())
    other = model_check(survey.data, survey.scenario, survey.population, seed=2)
    assert not (found.draw == other.draw).all()
    assert (found.F == other.F).all()


def test_points_and_print() -> None:
    found = small()
    points = model_check_points(found)
    assert points.columns == ["f", "F", "p", "draw", "position"]
    assert points.height == 2
    text = str(found)
    assert text.startswith(
        "negative binomial model of F given f, 2 keys, p = f/F known: the 50 % interval holds F in 100 %"
    )


def test_keys_with_a_missing_value_are_left_out() -> None:
    data = pl.DataFrame({"region": ["a", None, "b"]})
    register = pl.DataFrame({"region": ["a"] * 5 + ["b"] * 5})
    found = model_check(data, Scenario(keys=["region"]), register)
    assert (len(found.f), found.left_out) == (2, 1)
    assert str(found).endswith("\n1 key with a missing value left out")
    assert "expected re-identifications among them: 0.4 by the register" in str(found)
    with pytest.raises(TacitaError, match=r"^every key has a missing value; name fewer keys"):
        model_check(data.filter(pl.col("region").is_null()), Scenario(keys=["region"]), register)


def test_the_latent_model_beside_a_register(survey: DemoSurvey) -> None:
    """Its draws look right to itself, its sum of risks is near the true one, and it is the model of the risk."""
    found = model_check(survey.data, survey.scenario, survey.population, probability="latent")
    usual = model_check(survey.data, survey.scenario, survey.population, probability="estimated")
    assert (found.F == usual.F).all()
    true, ours = found.expected
    with_missing = survey.data.table.select(survey.scenario.keys).null_count().sum_horizontal()[0]
    assert len(survey.data) - with_missing <= found.records.sum() < len(survey.data)
    assert abs(ours / true - 1) < abs(usual.expected[1] / true - 1)
    uniform = np.random.default_rng(1).random(len(found.f))
    counts = np.histogram(position(found.forecast, found.draw, uniform), bins=10, range=(0, 1))[0]
    assert abs(counts - len(uniform) / 10).max() < 5 * np.sqrt(0.09 * len(uniform))
    individual = tc.risk.individual_risk(survey.data, survey.scenario, model="latent")
    complete = individual.table.complete
    assert found.forecast.risk.tolist() == individual.by_key[complete].tolist()
    assert (found.p <= 1).all()
    assert str(found).startswith("latent model of F, ")
    with pytest.raises(TacitaError, match="the latent model needs 100 complete records"):
        model_check(survey.data.take(np.arange(50)), survey.scenario, survey.population, probability="latent")


def test_wrong_parameters() -> None:
    data = pl.DataFrame({"region": ["a", "b"]})
    with pytest.raises(TacitaError, match=r"^probability must be one of 'known', 'estimated', 'latent'; got 'true'\.$"):
        model_check(data, Scenario(keys=["region"]), data, probability="true")
    with pytest.raises(
        TacitaError, match=r"^probability 'estimated' needs an estimate of F; give the scenario weight="
    ):
        model_check(data, Scenario(keys=["region"]), data, probability="estimated")
    with pytest.raises(TacitaError, match=r"^register: keys not in the data: 'region'\."):
        model_check(data, Scenario(keys=["region"]), pl.DataFrame({"area": ["a"]}))
