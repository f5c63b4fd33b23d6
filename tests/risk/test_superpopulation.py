"""Population uniques of a file: where N comes from, who is left out, which model the decision rule takes."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.check import Caution, TacitaError
from tacita.data.demo import household
from tacita.data.demo.survey import DemoSurvey, household_survey
from tacita.risk.population.superpopulation.models import Estimate, SampleSizes
from tacita.risk.population.superpopulation.superpopulation import (
    DEFAULT,
    LABELS,
    MODELS,
    dankar_choice,
    superpopulation,
)
from tacita.scenario import Scenario

# Keys of 1, 1, 2, 3 and 3 records.
AGES = [20, 21, 22, 22, 23, 23, 23, 24, 24, 24]


@pytest.fixture(scope="module")
def survey() -> DemoSurvey:
    return household_survey(900, population=9000, seed=3)


def people(**columns: object) -> pl.DataFrame:
    return pl.DataFrame({"age": AGES, **columns})


def fitted(model: str, uniques: float, converged: bool = True) -> Estimate:
    return Estimate(model, uniques, 0.0, 0.0, converged)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(keys=["age"], weight="w"),
        Scenario(keys=["age"], population_size=50),
        Scenario(keys=["age"], sampling_fraction=0.2),
    ],
)
def test_population_size_three_ways(scenario: Scenario) -> None:
    """N = 50 by weights, by name, and by n/N; the Zayatz figure is the one worked out in the tests of the models."""
    found = superpopulation(people(w=[5.0] * 10), scenario)
    assert (found.size, found.population, found.uniques, found.left_out) == (10, pytest.approx(50), 2, 0)
    assert found.sampling_fraction == pytest.approx(0.2)
    zayatz = next(estimate for estimate in found.estimates if estimate.model == "zayatz")
    assert zayatz.population_uniques == pytest.approx(2.6273, abs=1e-4)
    assert zayatz.sample_uniques == pytest.approx(0.52547, abs=1e-5)
    assert zayatz.share == pytest.approx(2.6273 / 50, abs=1e-6)


def test_without_a_population_size_there_is_no_answer() -> None:
    message = (
        "the models need the size of the population; give the scenario weight=, population_size= or sampling_fraction=."
    )
    with pytest.raises(TacitaError) as error:
        superpopulation(people(), Scenario(keys=["age"]))
    assert str(error.value) == message


def test_wrong_models_and_cells() -> None:
    scenario = Scenario(keys=["age"], population_size=50)
    with pytest.raises(TacitaError, match=r"^models must be one of 'pitman', 'zayatz', .*; got 'poisson'\.$"):
        superpopulation(people(), scenario, models=["zayatz", "poisson"])
    with pytest.raises(TacitaError, match=r"^models must name at least one of 'pitman', "):
        superpopulation(people(), scenario, models=[])
    with pytest.raises(TacitaError, match=r"^cells must be at least the 5 keys that occur; got 4\.0\.$"):
        superpopulation(people(), scenario, cells=4)
    with pytest.raises(TacitaError, match=r"^cells must be a number; got 'many'\.$"):
        superpopulation(people(), scenario, cells="many")  # type: ignore[arg-type]


def test_records_with_a_missing_key_value_are_left_out_and_counted() -> None:
    """The same figures as without them, the population staying the whole one."""
    scenario = Scenario(keys=["age", "sex"], population_size=50)
    plain = superpopulation(people(sex=["f"] * 10), scenario, models=list(MODELS))
    wider = pl.DataFrame({"age": [*AGES, 20, None], "sex": ["f"] * 10 + [None, "f"]})
    for rule in ("one_way", "wildcard", "conservative", "no_match", "own_category", "partial(0.5)"):
        found = superpopulation(wider, Scenario(keys=["age", "sex"], population_size=50, missing=rule), models=MODELS)
        assert (found.size, found.left_out, found.uniques) == (10, 2, 2)
        assert found.estimates == plain.estimates
    assert "; 2 records with a missing key value left out" in str(found)


def test_only_records_with_missing_key_values() -> None:
    data = pl.DataFrame({"age": [1, None], "sex": [None, "f"]})
    with pytest.raises(TacitaError, match=r"^every record has a missing key value; name fewer keys, or declare "):
        superpopulation(data, Scenario(keys=["age", "sex"], population_size=50))


def test_not_applicable_is_not_missing() -> None:
    data = people(status=["working"] * 9 + [None])
    keys, apart = ["age", "status"], {"status": ("",)}
    assert superpopulation(data, Scenario(keys=keys, population_size=50)).left_out == 1
    assert superpopulation(data, Scenario(keys=keys, population_size=50, not_applicable=apart)).left_out == 0


def test_the_whole_population_is_simply_counted() -> None:
    found = superpopulation(people(w=[1.0] * 10), Scenario(keys=["age"], weight="w"), models=list(MODELS))
    assert {estimate.population_uniques for estimate in found.estimates} == {2.0}
    assert found.headline.startswith("about 2 of 10 units are unique in the population (20 %); 2 of the 2 records")


def test_weights_below_one_count_as_the_whole_population() -> None:
    with pytest.warns(Caution, match="below 1"):
        found = superpopulation(people(w=[0.5] * 10), Scenario(keys=["age"], weight="w"))
    assert (found.population, found.estimate.population_uniques) == (10.0, 2.0)
    assert "caution: weight 'w' is below 1 in 10 records" in str(found)


def test_unequal_weights_are_pointed_out() -> None:
    """n sum w^2 / (sum w)^2 = 10 (9 * 25 + 55^2) / 100^2 = 3.25."""
    found = superpopulation(people(w=[5.0] * 9 + [55.0]), Scenario(keys=["age"], weight="w"))
    (caution,) = found.cautions
    assert "the weights differ (n sum w^2 / (sum w)^2 = 3.25)" in caution
    assert superpopulation(people(w=[5.0] * 9 + [6.0]), Scenario(keys=["age"], weight="w")).cautions == ()


def test_cells_are_the_cross_classification_unless_given() -> None:
    data = people(sex=["f", "m"] * 5)
    scenario = Scenario(keys=["age", "sex"], population_size=50)
    assert superpopulation(data, scenario).cells == 10
    assert superpopulation(data, scenario, cells=240).cells == 240
    wide = pl.DataFrame({f"key {i}": np.arange(200) * (i + 1) % 199 for i in range(60)})
    huge = superpopulation(wide, Scenario(keys=wide.columns, population_size=1e6))
    assert huge.cells == 1e100
    assert all(math.isfinite(estimate.population_uniques) or estimate.reason for estimate in huge.estimates)


# The decision rule


@pytest.mark.parametrize(
    ("fraction", "pitman", "zayatz", "slide", "chosen"),
    [
        (0.05, fitted("pitman", 30), fitted("zayatz", 10), fitted("slide", 20), "pitman"),
        (0.1, fitted("pitman", 30), fitted("zayatz", 10), fitted("slide", 20), "pitman"),
        (0.1, fitted("pitman", 30, False), fitted("zayatz", 10), fitted("slide", 20), "zayatz"),
        (0.11, fitted("pitman", 5), fitted("zayatz", 10), fitted("slide", 20), "zayatz"),
        (0.11, fitted("pitman", 5), fitted("zayatz", 20), fitted("slide", 10), "slide"),
        (0.5, fitted("pitman", 5), fitted("zayatz", 20), fitted("slide", math.nan, False), "zayatz"),
    ],
)
def test_decision_rule(fraction: float, pitman: Estimate, zayatz: Estimate, slide: Estimate, chosen: str) -> None:
    found = {"pitman": pitman, "zayatz": zayatz, "slide_negative_binomial": slide}
    assert dankar_choice(found, fraction) == chosen


def test_decision_rule_needs_its_models() -> None:
    found = superpopulation(people(), Scenario(keys=["age"], sampling_fraction=0.05), models="poisson_gamma")
    assert found.chosen is None
    assert found.estimate.model == "poisson_gamma"
    assert "(Poisson-gamma, the first model asked for)" in found.headline


def test_all_unique_falls_back_to_zayatz() -> None:
    data = pl.DataFrame({"age": range(20)})
    found = superpopulation(data, Scenario(keys=["age"], sampling_fraction=0.01))
    assert (found.chosen, found.estimate.population_uniques) == ("zayatz", 2000.0)


# What is printed and handed on


def test_print_by_hand() -> None:
    """Pitman at its edge: theta = 3.3015 makes sum_{i<10} theta/(theta+i) = 5 keys; 50 theta/(theta+49) = 3.156."""
    found = superpopulation(people(), Scenario(keys=["age"], population_size=50), models=["zayatz", "pitman"])
    assert str(found).splitlines() == [
        "about 2.63 of 50 units are unique in the population (5.25 %); 0.525 of the 2 records that are unique in the "
        "file are among them (Zayatz, the first model asked for)",
        "  model   population uniques   share  of them in the file",
        "  Zayatz                2.63  5.25 %                0.525",
        "  Pitman                3.16  6.31 %                0.631",
        "the models differ: 2.63 to 3.16",
        "sampling fraction 20 %",
        "Pitman: a = 0, the edge of the model (Ewens): key sizes are more even than it allows inside",
    ]


def test_no_answer_is_said_in_words() -> None:
    data = pl.DataFrame({"age": [1, 2, 3, 3, 3]})
    found = superpopulation(data, Scenario(keys=["age"], population_size=20), models="slide_negative_binomial")
    assert str(found).splitlines()[0] == (
        "no estimate of the units that are unique in the population (slide negative binomial, the first model asked "
        "for): no key has two records, which the equations need"
    )
    assert found.to_frame()["population_uniques"].to_list() == [None]


def test_frame_has_one_row_per_model(survey: DemoSurvey) -> None:
    found = superpopulation(survey.data, survey.scenario)
    frame = found.to_frame()
    assert frame["model"].to_list() == list(DEFAULT)
    assert set(LABELS) == set(MODELS)
    assert frame.filter("chosen")["model"].to_list() == [found.chosen]
    assert frame["parameters"][1].startswith("probability = 0.")
    assert str(found).splitlines()[0] == found.headline
    assert "by the rule of Dankar et al." in found.headline


def test_result_does_not_depend_on_the_order_of_the_records(survey: DemoSurvey) -> None:
    order = np.random.default_rng(1).permutation(len(survey.data))
    found, shuffled = (superpopulation(data, survey.scenario) for data in (survey.data, survey.data.take(order)))
    assert found.estimates == shuffled.estimates
    assert str(found) == str(shuffled)


def test_the_population_is_the_sum_of_the_weights(survey: DemoSurvey) -> None:
    weights = survey.data.numbers("weight")
    found = superpopulation(survey.data, survey.scenario)
    assert found.population == pytest.approx(weights.sum())


def test_odd_column_names() -> None:
    data = pl.DataFrame({"": AGES, "a b;c": ["x"] * 10})
    assert superpopulation(data.rename({"": "ÿ "}), Scenario(keys=["ÿ ", "a b;c"], population_size=50)).uniques == 2


@settings(max_examples=20)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.floats(1.0, 1e6))
def test_any_file(values: list[int], times: float) -> None:
    scenario = Scenario(keys=["k"], population_size=len(values) * times)
    found = superpopulation(pl.DataFrame({"k": values}), scenario, models=list(MODELS))
    uniques = sum(values.count(value) == 1 for value in values)
    assert found.uniques == uniques
    for estimate in found.estimates:
        assert math.isnan(estimate.population_uniques) or 0 <= estimate.population_uniques <= found.population * 1.0001
        assert str(found)


# Against the truth


def test_estimates_against_a_known_population() -> None:
    """A simple random sample of a tenth of the persons: Pitman within a fifth; the file's own uniques tell nothing."""
    persons = household.population(20_000, 1)
    codes = [household.values_of(persons, name) for name in ("region", "sex", "age", "citizenship", "status", "size")]
    key = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    truth = int((np.bincount(key) == 1).sum())
    chosen = np.random.default_rng(2).choice(len(key), len(key) // 10, replace=False)
    data = pl.DataFrame({"key": key[chosen]})
    found = superpopulation(data, Scenario(keys=["key"], population_size=len(key)), cells=9 * 2 * 100 * 4 * 9 * 8)
    assert found.chosen == "pitman"
    assert found.estimate.population_uniques == pytest.approx(truth, rel=0.2)
    assert found.uniques / found.size > 3 * truth / len(key)
    sizes = SampleSizes.of(np.unique(key[chosen], return_counts=True)[1], len(key))
    assert MODELS["pitman"](sizes).population_uniques == found.estimate.population_uniques
