"""Individual risk by record: exact, approximate, with a register, at a quantile, under every attack model."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

import slow
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.individual_risk import individual_risk
from tacita.scenario import Scenario

PEOPLE = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 30.0]})


def test_by_hand() -> None:
    """South: f 1, p 1/30, r = p ln(1/p) / (1-p). North: f 2, p 1/20, r = q - q^2 ln(1/p), q = p / (1-p)."""
    found = individual_risk(PEOPLE, Scenario(keys=["region"], weight="w"))
    q = (1 / 20) / (19 / 20)
    north, south = q - q**2 * math.log(20), (1 / 30) * math.log(30) / (29 / 30)
    assert found.risk.tolist() == pytest.approx([north, north, south], rel=1e-14)
    assert (found.method, found.attack_model, found.error_free) == ("exact", "M3", 1.0)
    assert str(found) == "individual risk of 3 records: mean 0.0686, highest 0.117"
    assert found.to_frame().columns == ["f", "F", "risk"]
    assert found.to_frame().rows() == list(zip([2, 2, 1], [40, 40, 30], found.risk.tolist(), strict=True))
    assert found.records_above(0.1) == 1
    assert found.records_above(float(found.risk[2])) == 0  # above is strict
    assert found.spread.median == found.risk[0]
    assert found.spread.maximum == found.risk[2]
    assert found.spread.mean == pytest.approx((2 * north + south) / 3, rel=1e-14)


def test_census_risk_is_one_over_f() -> None:
    assert individual_risk(PEOPLE, Scenario(keys=["region"])).risk.tolist() == [0.5, 0.5, 1.0]


def test_weights_below_one_give_one_over_f() -> None:
    """The reference program gives 1.386 for f 1 and weight 0.5; a risk cannot be above 1."""
    with quietly():
        found = individual_risk(pl.DataFrame({"a": [1, 2, 2], "w": [0.5, 0.5, 0.5]}), Scenario(keys=["a"], weight="w"))
    assert found.risk.tolist() == [1.0, 0.5, 0.5]


def test_next_to_a_census_nothing_cancels() -> None:
    """Weights 1 and 1 + 1e-8: the reference program gives 1.5 for what is 0.5."""
    frame = pl.DataFrame({"a": [1, 1], "w": [1.0, 1.0 + 1e-8]})
    for method in ("exact", "approximate"):
        found = individual_risk(frame, Scenario(keys=["a"], weight="w"), method=method)
        assert found.risk.tolist() == pytest.approx([0.5, 0.5], rel=1e-8)


def test_a_register_makes_F_known() -> None:
    register = pl.DataFrame({"region": ["north"] * 5 + ["south"] * 4})
    found = individual_risk(PEOPLE, Scenario(keys=["region"], weight="w"), register=register)
    assert found.risk.tolist() == [1 / 5, 1 / 5, 1 / 4]
    assert found.population_quantile(0.05).tolist() == [5, 5, 4]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
@settings(max_examples=20)
@given(survey=surveys(), method=st.sampled_from(["exact", "approximate"]))
def test_risk_equals_the_slow_one(rule: Rule, survey: Survey, method: str) -> None:
    with quietly():
        found = individual_risk(survey.frame, survey.scenario(rule.text), method=method)
    right = survey.risks(rule, method)
    assert found.risk.tolist() == pytest.approx(right, rel=1e-12)
    assert found.lower.tolist() == found.risk.tolist()
    assert ((found.risk > 0) & (found.risk <= 1)).all()


ATTACKS = [("M1", None), ("M2", None), ("M3", None), ("M4", 0.37), ("M4", 1.0), ("M5", None)]


@pytest.mark.parametrize(("attack", "probability"), ATTACKS)
@settings(max_examples=30)
@given(survey=surveys(), rule=st.sampled_from(RULES))
def test_attack_models_equal_the_slow_ones(attack: str, probability: float | None, survey: Survey, rule: Rule) -> None:
    scenario = survey.scenario(rule.text, attack=attack, attack_probability=probability)
    with quietly():
        found = individual_risk(survey.frame, scenario)
    f, F = survey.frequencies(rule)
    base = survey.risks(rule)
    tried = slow.attack_probability(attack, f, F, survey.weights, len(f), probability)
    right = [a * r for a, r in zip(tried, base, strict=True)]
    assert found.risk.tolist() == pytest.approx(right, rel=1e-12)
    assert found.table.per_record(found.base).tolist() == pytest.approx(base, rel=1e-12)
    assert found.spread.mean == pytest.approx(math.fsum(right) / len(right), rel=1e-12)
    assert [found.spread.minimum, found.spread.maximum] == pytest.approx([min(right), max(right)], rel=1e-12)
    totals = np.zeros(len(found.base))
    np.add.at(totals, found.table.row, tried)
    assert found.attack_total.tolist() == pytest.approx(totals.tolist(), rel=1e-12)
    for limit in (0.0, 0.05, 0.5, 1.0):
        assert found.records_above(limit) == int((found.risk > limit).sum())


@given(survey=surveys(), rates=st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_key_errors_equal_the_slow_bounds(survey: Survey, rates: list[float]) -> None:
    errors = dict(zip(survey.columns, rates, strict=False))
    with quietly():
        found = individual_risk(survey.frame, survey.scenario(error_rates=errors))
    lower, upper = slow.key_error_bounds(found.risk.tolist(), [1.0] * len(found.risk), list(errors.values()))
    assert found.lower.tolist() == pytest.approx(lower, rel=1e-12, abs=1e-300)
    assert found.risk.tolist() == upper


@settings(max_examples=30)
@given(survey=surveys(), q=st.sampled_from([0.01, 0.05, 0.5, 0.95]))
def test_quantiles_of_the_population_count(survey: Survey, q: float) -> None:
    """1/F_q: F_q is the smallest value that F given f does not exceed with probability q or more."""
    with quietly():
        found = individual_risk(survey.frame, survey.scenario(), quantile=q)
    assert found.method == f"quantile {q:g} of F"
    table = found.table
    for f, p, risk in zip(table.sample_count, table.sampling_probability, found.base, strict=True):
        absent = round(1 / risk - f)
        assert risk == pytest.approx(1 / (f + absent), rel=1e-12)
        if p == 1:
            assert absent == 0
        else:
            assert nbinom.cdf(absent, f, p) >= q * (1 - 1e-9)
            assert absent == 0 or nbinom.cdf(absent - 1, f, p) < q * (1 + 1e-9)
    assert (1 / found.population_quantile(q)).tolist() == pytest.approx(found.risk.tolist(), rel=1e-12)


def test_a_low_quantile_is_cautious() -> None:
    scenario = Scenario(keys=["region"], weight="w")
    cautious = individual_risk(PEOPLE, scenario, quantile=0.05).risk
    assert (cautious > individual_risk(PEOPLE, scenario).risk).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "approx"}, "method must be one of 'exact', 'approximate'; got 'approx'."),
        ({"quantile": 0}, "quantile must be in (0, 1); got 0."),
        ({"quantile": 1.0}, "quantile must be in (0, 1); got 1.0."),
        ({"quantile": "low"}, "quantile must be in (0, 1); got 'low'."),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        individual_risk(PEOPLE, Scenario(keys=["region"], weight="w"), **options)  # type: ignore[arg-type]
    assert str(error.value) == message
