"""The ready-made surveys: data, scenario and population fit together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tacita as tc
from tacita import frame
from tacita.check import TacitaError
from tacita.data.demo import accident, business, household
from tacita.data.demo.survey import DemoSurvey, accident_survey, business_survey, household_survey
from tacita.keys.table import key_table

SMALL: dict[str, Callable[..., DemoSurvey]] = {
    "household": lambda seed=1: household_survey(100, population=2_000, seed=seed),
    "business": lambda seed=1: business_survey(200, seed=seed),
    "accident": lambda seed=1: accident_survey(2_000, seed=seed),
}
MODULES = {"household": household, "business": business, "accident": accident}


@pytest.fixture(params=SMALL)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_scenario_fits_the_data_and_the_population(name: str) -> None:
    survey = SMALL[name]()
    survey.scenario.check_against(survey.data)
    unknown = {survey.scenario.weight} - {None}
    assert set(survey.data.columns) - set(survey.population.columns) == unknown
    table = key_table(survey.data, survey.scenario)
    assert (table.sample_count[table.row] >= 1).all()
    for key in survey.scenario.keys:
        assert set(survey.data.coded(key).values) <= set(survey.population.coded(key).values)


def test_labels_and_scales_are_declared(name: str) -> None:
    survey, module = SMALL[name](), MODULES[name]
    for data in (survey.data, survey.population):
        for column in data.columns:
            assert data.variable(column).label == module.LABELS[column] != ""
            assert data.scale(column) == module.SCALES[column]
    for key in survey.scenario.numeric_keys:
        assert survey.data.scale(key) == "numeric"
        assert np.isfinite(survey.population.numbers(key)).all()


def test_the_population_has_nothing_missing(name: str) -> None:
    population = SMALL[name]().population
    assert not any(frame.missing(population.table, column).any() for column in population.columns)


def test_the_same_seed_gives_the_same_survey(name: str) -> None:
    first, second, other = SMALL[name](), SMALL[name](), SMALL[name](2)
    assert first.data.table.equals(second.data.table)
    assert first.population.table.equals(second.population.table)
    assert not first.data.table.equals(other.data.table)
    assert first.scenario == second.scenario == other.scenario


def test_the_business_survey_has_its_published_size() -> None:
    survey = business_survey()
    assert (len(survey.data), len(survey.population)) == (2_123, 12_000)
    codes, values = survey.data.coded("industry")
    assert dict(zip(values, np.bincount(codes)[1:].tolist(), strict=True)) == {
        "15": 222, "18": 157, "24": 205, "25": 214, "26": 185, "28": 338, "29": 528, "36": 274,
    }  # fmt: skip
    assert survey.data.variable("industry").value_labels["18"] == "wearing apparel and dressing"
    assert survey.scenario.strata == ("industry",)
    assert survey.data.numbers("weight").sum() == pytest.approx(12_000)


def test_exporters_only_as_in_the_published_study() -> None:
    survey = business_survey(exporters=True)
    assert np.bincount(survey.data.coded("industry").codes)[1:].tolist() == business.SAMPLED.tolist()
    for data in (survey.data, survey.population):
        assert data.numbers("exports").min() >= 1
    assert (survey.data.numbers("rd_expenditure") == 0).any()
    assert survey.data.numbers("weight").sum() == pytest.approx(len(survey.population))


def test_the_population_may_be_chosen() -> None:
    assert len(business_survey(100, population=500).population) == 500
    assert len(business_survey(4_246).population) == 24_000


def test_the_accident_survey_has_34_variables_and_no_weights() -> None:
    survey = accident_survey(3_000)
    assert len(survey.data) == len(survey.population) == 3_000
    assert len(survey.data.columns) == 34 + 1
    assert key_table(survey.data, survey.scenario).source == "census"
    assert survey.scenario.household == "accident"
    groups, count = frame.groups(survey.data.table, "accident")
    assert 2_800 < count < 3_000
    for name in survey.scenario.household_variables:
        codes = survey.data.coded(name).codes
        first = np.unique(groups, return_index=True)[1]
        np.testing.assert_array_equal(codes, codes[first][groups])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: business_survey(0), "size must be at least 1; got 0."),
        (lambda: business_survey("many"), "size must be a whole number of at least 1; got 'many'."),
        (
            lambda: business_survey(200, population=100),
            "size must be at most 100, the enterprises in the population; got 200.",
        ),
        (lambda: business_survey(5, population=1_000), "size must be at least 8, one for each industry; got 5."),
        (lambda: accident_survey(0), "records must be at least 1; got 0."),
        (lambda: accident_survey(10, seed=-1), "seed must be a whole number of at least 0; fresh_seed() gives one."),
    ],
)
def test_mistakes_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        call()
    assert str(error.value) == message


def test_ordinal_variables_know_their_order() -> None:
    survey = tc.household_survey(60, population=2000)
    values = survey.data.coded("education").values
    order = survey.data.variable("education").order
    assert values == tuple(each for each in order if each in values)
    assert values != tuple(sorted(values))
