"""Prosecutor, journalist and marketer."""

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import slow
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.attackers import attackers
from tacita.scenario import Scenario

PEOPLE = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})


def test_by_hand() -> None:
    """1/f: 1/2, 1/2, 1. 1/F: 1/40, 1/40, 1/20. Marketer (1/3) (2/40 + 1/20) = 1/30."""
    found = attackers(PEOPLE, Scenario(keys=["region"], weight="w"), threshold=0.5)
    assert (found.prosecutor_maximum, found.prosecutor_mean, found.prosecutor_share) == (1.0, 2 / 3, 1 / 3)
    assert (found.journalist_maximum, found.journalist_share) == (0.05, 0.0)
    assert found.journalist_mean == found.marketer == pytest.approx(1 / 30, rel=1e-15)
    assert str(found) == (
        "a marketer is expected to match 3.33 % of the records correctly\n"
        "  attackers         highest    mean  records above 0.5\n"
        "  prosecutor (1/f)        1   0.667             33.3 %\n"
        "  journalist (1/F)     0.05  0.0333                0 %\n"
        "  marketer                   0.0333"
    )
    assert found.to_frame()["attacker"].to_list() == ["prosecutor", "journalist", "marketer"]
    assert found.to_frame()["maximum"].to_list() == [1.0, 0.05, None]
    assert found.to_frame()["share_above"].to_list() == [1 / 3, 0.0, None]


def test_the_mean_of_the_prosecutor_is_keys_over_records() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2, 3, 4, 4]})
    found = attackers(frame, Scenario(keys=["a"]))
    assert found.prosecutor_mean == found.journalist_mean == found.marketer == 4 / 8


def test_a_register_makes_F_known() -> None:
    register = pl.DataFrame({"region": ["north"] * 4 + ["south"] * 2})
    found = attackers(PEOPLE, Scenario(keys=["region"], weight="w"), register=register)
    assert (found.journalist_maximum, found.marketer) == (0.5, pytest.approx(1 / 3))


@settings(max_examples=60)
@given(surveys(), st.sampled_from(RULES), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_equals_the_slow_one(survey: Survey, rule: Rule, threshold: float) -> None:
    with quietly():
        found = attackers(survey.frame, survey.scenario(rule.text), threshold=threshold)
    f, F = survey.frequencies(rule)
    F = [max(pair) for pair in zip(f, F, strict=True)]  # the file is part of the population
    # A fraction next to the threshold, 10/3 and 0.3: rounding decides there.
    assume(not any(abs(count * threshold - 1) < 1e-12 and not count.is_integer() for count in [*f, *F]))
    right = slow.attackers(f, F, threshold)
    for name, value in right.items():
        assert getattr(found, name.replace("_above", "")) == pytest.approx(value, rel=1e-12), name
    assert found.journalist_share == sum(1 / total > threshold for total in F) / len(F)
    assert found.threshold == threshold


def test_bad_threshold() -> None:
    with pytest.raises(TacitaError) as error:
        attackers(PEOPLE, Scenario(keys=["region"]), threshold=2)
    assert str(error.value) == "threshold must be in [0, 1]; got 2."
