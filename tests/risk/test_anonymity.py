"""k-anonymity: violations in the sample and in the population."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import slow
from strategies import FRACTIONAL_RULES, WHOLE_RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.k_anonymity import k_anonymity, violations
from tacita.scenario import Scenario

PEOPLE = pl.DataFrame({"sex": ["f", "f", "f", "m", "m", "f"], "w": [1.0, 1.0, 1.0, 1.0, 1.5, 1.0]})


def test_by_hand() -> None:
    """Four women (F 4), two men (F 2.5): below 3 are the men, below 5 everybody."""
    found = k_anonymity(PEOPLE, Scenario(keys=["sex"], weight="w"))
    assert (found.levels, found.sample, found.population) == ((2, 3, 5), (0, 2, 6), (0, 2, 6))
    assert (found.size, found.least, found.rule) == (6, 2.0, "one_way")
    assert str(found) == (
        "0 of 6 records violate 2-anonymity (0 %)\n"
        "2 of 6 records violate 3-anonymity (33.3 %)\n"
        "6 of 6 records violate 5-anonymity (100 %)\n"
        "missing values: one_way"
    )
    assert found.to_frame().rows() == [(2, 0, 0), (3, 2, 2), (5, 6, 6)]


def test_violations_kernel() -> None:
    assert violations(np.array([1.0, 2.0, 2.5]), np.array([5, 7, 11]), 2) == 5
    assert violations(np.array([1.0, 2.0, 2.5]), np.array([5, 7, 11]), 3) == 23


def test_levels_are_sorted_and_named_once() -> None:
    assert k_anonymity(PEOPLE, Scenario(keys=["sex"]), k=[4, 2, 4, 2]).levels == (2, 4)
    assert k_anonymity(PEOPLE, Scenario(keys=["sex"]), k=np.int64(3)).levels == (3,)


def test_without_a_k_small_files_are_fine() -> None:
    """Levels that nobody asked for are not the user's mistake: 2 for two records, none for one."""
    assert k_anonymity(PEOPLE.head(2), Scenario(keys=["sex"])).levels == (2,)
    alone = k_anonymity(PEOPLE.head(1), Scenario(keys=["sex"]))
    assert alone.levels == ()
    assert str(alone) == "1 record: too few for any k\nmissing values: one_way"


@pytest.mark.parametrize("rule", WHOLE_RULES, ids=lambda rule: rule.text)
@settings(max_examples=20)
@given(survey=surveys())
def test_violations_equal_the_slow_ones(rule: Rule, survey: Survey) -> None:
    levels = [k for k in (2, 3, 5, len(survey.keys)) if 2 <= k <= len(survey.keys)]
    if not levels:
        return
    with quietly():
        found = k_anonymity(survey.frame, survey.scenario(rule.text), k=levels)
    f, F = survey.frequencies(rule)
    assert found.sample == tuple(slow.k_anonymity_violations(f, k) for k in found.levels)
    if min(survey.weights) >= 1:  # weights below 1 are rounded to 52 bits, and a sum may fall short of k by that
        assert found.population == tuple(slow.k_anonymity_violations(F, k) for k in found.levels)
    assert found.least == min(f)


@pytest.mark.parametrize("rule", FRACTIONAL_RULES, ids=lambda rule: rule.text)
@settings(max_examples=20)
@given(survey=surveys())
def test_violations_of_fractional_counts_equal_the_slow_ones(rule: Rule, survey: Survey) -> None:
    """A sum of shares that is a whole number must not fall below it by rounding."""
    levels = [k for k in (2, 3, 5) if k <= len(survey.keys)]
    if not levels:
        return
    with quietly():
        found = k_anonymity(survey.frame, survey.scenario(rule.text), k=levels)
    f, _ = survey.frequencies(rule)
    assert found.sample == tuple(slow.k_anonymity_violations(f, k) for k in found.levels)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (1, "k must be at least 2; got 1."),
        (2.5, "k must be a whole number of at least 2; got 2.5."),
        (True, "k must be a whole number of at least 2; got True."),
        ("2", "k must be a whole number of at least 2; got '2'."),
        ([], "k must be one or more whole numbers of at least 2; got none."),
        ([2, float("inf")], "k must be a whole number of at least 2; got inf."),
        (
            [2, 7],
            "k must be at most the number of records, 6; got 7. Choose a smaller k, or false in the policy for none.",
        ),
    ],
)
def test_bad_k(k: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        k_anonymity(PEOPLE, Scenario(keys=["sex"]), k=k)  # type: ignore[arg-type]
    assert str(error.value) == message
