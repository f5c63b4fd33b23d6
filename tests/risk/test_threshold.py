"""Threshold setting: one of threshold, rate and number of unsafe records gives the other two."""

import math

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import slow
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.individual_risk import individual_risk
from tacita.risk.identity.reidentification import ThresholdCurve, reidentification
from tacita.risk.identity.risk_threshold import risk_threshold
from tacita.scenario import Scenario

SIX = pl.DataFrame({"a": [1, 2, 2, 3, 3, 3]})
"""A census: risks 1, 1/2 twice, 1/3 three times; ER = 3."""
SCENARIO = Scenario(keys=["a"])

ATTACKS = st.sampled_from([("M1", None), ("M2", None), ("M3", None), ("M4", 0.37), ("M5", None)])


def test_by_hand_from_a_rate() -> None:
    """B(1/3) = 2, B(1/2) = 2.5, B(1) = 3: a tolerated 2.5 of 6 lets 1/2 stand, one record is above."""
    found = risk_threshold(SIX, SCENARIO, rate=2.5 / 6)
    assert (found.risk, found.unsafe, found.expected, found.rate) == (0.5, 1, 2.5, 2.5 / 6)
    assert str(found) == (
        "threshold 0.5: 1 of 6 records above it; once protected, at most 2.5 expected re-identifications (41.7 %)"
    )
    assert found.to_frame().to_dicts() == [{"risk": 0.5, "unsafe": 1, "expected": 2.5, "rate": 2.5 / 6}]


def test_by_hand_from_a_threshold() -> None:
    """At 0.4: three records at 1/3 and three brought down to 0.4."""
    found = risk_threshold(SIX, SCENARIO, threshold=0.4)
    assert (found.risk, found.unsafe) == (0.4, 3)
    assert found.expected == pytest.approx(1 + 3 * 0.4, rel=1e-15)
    assert risk_threshold(SIX, SCENARIO, threshold=0.1).expected == pytest.approx(0.6, rel=1e-15)
    assert risk_threshold(SIX, SCENARIO, threshold=0.1).unsafe == 6
    assert risk_threshold(SIX, SCENARIO, threshold=1).unsafe == 0
    assert risk_threshold(SIX, SCENARIO, threshold=0).expected == 0


def test_by_hand_from_unsafe_records() -> None:
    assert [risk_threshold(SIX, SCENARIO, unsafe=most).risk for most in (0, 1, 2, 3, 6)] == [1, 0.5, 0.5, 1 / 3, 1 / 3]


def test_a_file_that_is_safe_already_has_nothing_above() -> None:
    found = risk_threshold(SIX, SCENARIO, rate=0.5)
    assert (found.risk, found.unsafe, found.expected) == (1.0, 0, 3.0)


def test_when_no_observed_risk_is_low_enough_everybody_shares_what_is_tolerated() -> None:
    found = risk_threshold(SIX, SCENARIO, rate=0.1)
    assert (found.risk, found.unsafe) == (pytest.approx(0.1), 6)
    assert found.rate == pytest.approx(0.1)


def slow_figures(survey: Survey, rule: Rule, attack: str, p: float | None) -> tuple[list[float], list[float]]:
    f, F = survey.frequencies(rule)
    return survey.risks(rule), slow.attack_probability(attack, f, F, survey.weights, len(f), p)


@settings(max_examples=60)
@given(surveys(), st.sampled_from(RULES), ATTACKS, st.floats(0, 1))
def test_a_threshold_means_what_the_slow_bound_says(
    survey: Survey, rule: Rule, attack: tuple[str, float | None], threshold: float
) -> None:
    with quietly():
        found = risk_threshold(
            survey.frame,
            survey.scenario(rule.text, attack=attack[0], attack_probability=attack[1]),
            threshold=threshold,
        )
    risks, tried = slow_figures(survey, rule, *attack)
    assume(all(abs(r - threshold) > 1e-9 * r for r in risks))  # rounding decides there
    assert found.expected == pytest.approx(slow.bound_after_protection(risks, tried, threshold), rel=1e-12, abs=1e-300)
    assert found.unsafe == sum(r > threshold for r in risks)


@settings(max_examples=60)
@given(surveys(), st.sampled_from(RULES), ATTACKS, st.floats(1e-6, 1))
def test_a_tolerated_rate_gives_the_greatest_threshold_within_it(
    survey: Survey, rule: Rule, attack: tuple[str, float | None], rate: float
) -> None:
    scenario = survey.scenario(rule.text, attack=attack[0], attack_probability=attack[1])
    with quietly():
        found = risk_threshold(survey.frame, scenario, rate=rate)
    risks, tried = slow_figures(survey, rule, *attack)
    tolerated = rate * len(risks)
    bounds = {r: slow.bound_after_protection(risks, tried, r) for r in risks}
    assume(all(abs(bound - tolerated) > 1e-9 * tolerated for bound in bounds.values()))  # rounding decides there
    right = slow.threshold_for_total(risks, tried, tolerated)
    assert found.risk == pytest.approx(max(risks) if right is None else right, rel=1e-12)
    assert found.expected <= tolerated * (1 + 1e-12)
    above = 0 if right is None else sum(r > right * (1 + 1e-12) for r in risks)
    assert found.unsafe == above


@settings(max_examples=60)
@given(surveys(), st.sampled_from(RULES), ATTACKS)
def test_the_rate_of_the_file_itself_leaves_nothing_unsafe(
    survey: Survey, rule: Rule, attack: tuple[str, float | None]
) -> None:
    """ER is within the tolerated total when they are equal, whatever the rounding of sums."""
    scenario = survey.scenario(rule.text, attack=attack[0], attack_probability=attack[1])
    with quietly():
        rate = reidentification(survey.frame, scenario).rate
        found = risk_threshold(survey.frame, scenario, rate=min(1.0, rate))
    assert found.unsafe == 0


@given(surveys(), st.integers(0, 12))
def test_a_number_of_unsafe_records_gives_the_lowest_threshold(survey: Survey, most: int) -> None:
    with quietly():
        risk = individual_risk(survey.frame, survey.scenario())
        found = ThresholdCurve.of(risk).for_unsafe(most)
    per_record = risk.table.per_record(risk.base).tolist()
    allowed = [r for r in per_record if sum(other > r for other in per_record) <= most]
    assert found.risk == min(allowed)
    assert found.unsafe == sum(r > found.risk for r in per_record) <= most


@given(surveys(), st.sampled_from(RULES))
def test_the_curve_rises_to_the_expected_reidentifications(survey: Survey, rule: Rule) -> None:
    with quietly():
        risk = individual_risk(survey.frame, survey.scenario(rule.text))
    curve = ThresholdCurve.of(risk)
    assert (curve.bound[1:] >= curve.bound[:-1]).all()
    assert (curve.risk[1:] > curve.risk[:-1]).all()
    assert curve.bound[-1] == pytest.approx(math.fsum(risk.risk), rel=1e-12)
    assert curve.unsafe[-1] == 0


@settings(max_examples=40)
@given(surveys(), st.randoms(use_true_random=False), st.floats(1e-4, 1))
def test_order_does_not_matter_under_any_rule(survey: Survey, random: object, rate: float) -> None:
    """M5 gives every record its own probability, and no_match its own key: sums must not follow the rows."""
    rows = list(range(len(survey.keys)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    scenario = survey.scenario("no_match", attack="M5")
    with quietly():
        first, second = (risk_threshold(frame, scenario, rate=rate) for frame in (survey.frame, survey.frame[rows]))
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give one of threshold, rate and unsafe; got none."),
        ({"threshold": 0.1, "rate": 0.1}, "give one of threshold, rate and unsafe; got threshold and rate."),
        ({"threshold": 1.1}, "threshold must be in [0, 1]; got 1.1."),
        ({"rate": 0}, "rate must be in (0, 1]; got 0."),
        ({"rate": float("nan")}, "rate must be in (0, 1]; got nan."),
        ({"unsafe": -1}, "unsafe must be at least 0; got -1."),
        ({"unsafe": 1.5}, "unsafe must be a whole number of at least 0; got 1.5."),
        ({"rate": 0.1, "method": "rough"}, "method must be one of 'exact', 'approximate'; got 'rough'."),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        risk_threshold(SIX, SCENARIO, **options)  # type: ignore[arg-type]
    assert str(error.value) == message
