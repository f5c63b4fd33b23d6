"""Expected re-identifications: sums over records, and the interval of the model."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma

import slow
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.risk.identity.negative_binomial import reciprocal_variance
from tacita.risk.identity.reidentification import interval, reidentification
from tacita.scenario import Scenario


def test_by_hand() -> None:
    """Without weights F = f: two records of north with 1/2 each, one of south with 1."""
    found = reidentification(pl.DataFrame({"region": ["north", "north", "south"]}), Scenario(keys=["region"]))
    assert (found.size, found.expected, found.interval) == (3, 2.0, (2.0, 2.0))
    assert found.rate == 2 / 3
    assert found.rate_interval == (2 / 3, 2 / 3)
    assert (found.lower_with_errors, found.attack) == (2.0, "M3")
    assert str(found) == "2 expected re-identifications (66.7 % of 3)"
    assert found.to_frame().to_dicts() == [
        {"expected": 2.0, "low": 2.0, "high": 2.0, "rate": 2 / 3, "rate_low": 2 / 3, "rate_high": 2 / 3}
    ]


def test_the_headline_has_the_interval() -> None:
    frame = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    text = str(reidentification(frame, Scenario(keys=["region"], weight="w")))
    assert text.startswith("0.246 expected re-identifications (8.21 % of 3")
    assert text.endswith(" 0.00635 to 0.906)")


def test_blanks_do_not_count_twice() -> None:
    """The blank counts for both regions, f is 2, 2 and 3: ER = 1/2 + 1/2 + 1/3, where the sum of f_k r_k gives 3."""
    frame = pl.DataFrame({"region": ["north", "south", None]})
    found = reidentification(frame, Scenario(keys=["region"], missing="wildcard"))
    assert found.expected == pytest.approx(4 / 3, rel=1e-15)


@pytest.mark.parametrize(("attack", "p"), [("M1", None), ("M2", None), ("M3", None), ("M4", 0.37), ("M5", None)])
@settings(max_examples=30)
@given(survey=surveys(), rule=st.sampled_from(RULES), method=st.sampled_from(["exact", "approximate"]))
def test_expected_equals_the_slow_sum(attack: str, p: float | None, survey: Survey, rule: Rule, method: str) -> None:
    scenario = survey.scenario(rule.text, attack=attack, attack_probability=p, error_rates={"k0": 0.25})
    with quietly():
        found = reidentification(survey.frame, scenario, method=method)
    f, F = survey.frequencies(rule)
    tried = slow.attack_probability(attack, f, F, survey.weights, len(f), p)
    right = slow.expected_reidentifications(survey.risks(rule, method), tried)
    assert found.expected == pytest.approx(right, rel=1e-12)
    assert found.lower_with_errors == pytest.approx(0.75 * right, rel=1e-12)
    assert found.interval[0] <= found.interval[1]


@settings(max_examples=30)
@given(survey=surveys(), rule=st.sampled_from(RULES))
def test_trying_by_inclusion_finds_at_least_as_many_as_by_key(survey: Survey, rule: Rule) -> None:
    """ER_5 >= ER_2 by Jensen where the weights summed are those of the records that carry the key."""
    complete = [key for key in survey.keys if None not in key]
    if len(complete) < len(survey.keys) or min(survey.weights) < 1:
        return
    er = {
        attack: reidentification(survey.frame, survey.scenario(rule.text, attack=attack)).expected
        for attack in ("M2", "M5")
    }
    assert er["M5"] >= er["M2"] * (1 - 1e-12)
    constant = survey.frame.with_columns(w=pl.lit(2.5))
    er = {
        attack: reidentification(constant, survey.scenario(rule.text, attack=attack)).expected
        for attack in ("M2", "M5")
    }
    assert er["M5"] == pytest.approx(er["M2"], rel=1e-12)


def test_a_register_leaves_nothing_uncertain() -> None:
    frame = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    register = pl.DataFrame({"region": ["north"] * 8 + ["south"] * 4})
    found = reidentification(frame, Scenario(keys=["region"], weight="w"), register=register)
    assert (found.expected, found.interval) == (0.5, (0.5, 0.5))


# The interval.


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_interval_is_that_of_a_gamma_with_this_mean_and_variance(mean: float, relative: float) -> None:
    variance = mean**2 * min(relative, 50.0)
    low, high = interval(mean, variance)
    shape = mean**2 / variance
    right = gamma.interval(0.95, shape, scale=mean / shape)
    assert [low, high] == pytest.approx(right, rel=1e-9, abs=1e-300)
    assert 0 <= low <= high


def test_without_variance_the_interval_is_a_point() -> None:
    assert interval(3.0, 0.0) == (3.0, 3.0)
    assert interval(0.0, 0.0) == (0.0, 0.0)


def test_the_interval_holds_the_simulated_totals() -> None:
    """F drawn from the model: 95 % of the totals of n_k / F_k lie inside, within the error of 20,000 draws."""
    draw = np.random.default_rng(11)
    frame = pl.DataFrame({"key": np.repeat(np.arange(40), [1, 2, 3, 5] * 10), "w": 25.0})
    found = reidentification(frame, Scenario(keys=["key"], weight="w"))
    f = np.repeat([1, 2, 3, 5], 10)
    totals = (f / (f + draw.negative_binomial(f, 1 / 25, (20_000, 40)))).sum(axis=1)
    assert totals.mean() == pytest.approx(found.expected, rel=0.01)
    variance = (f**2 * reciprocal_variance(f, 1 / 25)).sum()
    assert totals.var() == pytest.approx(variance, rel=0.05)
    inside = ((totals >= found.interval[0]) & (totals <= found.interval[1])).mean()
    assert inside == pytest.approx(0.95, abs=0.015)
