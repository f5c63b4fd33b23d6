"""Household risk: at least one member is re-identified."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.risk.identity.household_risk import at_least_one, household_risk
from tacita.scenario import Scenario

risks = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-12, 1 - 1e-12]))


def test_the_published_example() -> None:
    """0.1, 0.05 and 0.01 give 0.15355."""
    (found,) = at_least_one(np.array([0.1, 0.05, 0.01]), np.array([0, 0, 0]), 1)
    assert found == pytest.approx(1 - 0.9 * 0.95 * 0.99, rel=1e-14)
    assert round(found, 5) == 0.15355  # printed 0.15355; exactly 0.153550


def test_by_hand() -> None:
    """A census: risks 1/2, 1/2, 1, 1/2, 1/2; households {1, 2}, {3, 4} and one record without: 3/4, 1, 1/2."""
    frame = pl.DataFrame({"a": [1, 1, 2, 3, 3], "hid": ["x", "x", "y", "y", None]})
    found = household_risk(frame, Scenario(keys=["a"], household="hid"))
    assert found.risk.tolist() == [0.75, 0.75, 1.0, 1.0, 0.5]
    assert (found.alone, found.members.tolist()) == (1, [2, 2, 1])
    assert (found.expected_persons, found.expected_households) == (4.0, 2.25)
    assert found.headline == "2.25 of 3 households expected to be re-identified (75 %), with 4 of 5 persons in them"
    assert (found.records_above(0.5), found.records_above(0.75), found.records_above(1.0)) == (4, 2, 0)
    assert found.spread == (0.5, 0.75, 0.75, 0.8, 1.0, 1.0)
    assert found.to_frame().columns == ["household_risk"]
    assert found.to_frame()["household_risk"].to_list() == found.risk.tolist()


@given(st.lists(st.tuples(risks, st.integers(0, 3)), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_kernel_equals_exact_products_in_any_order(members: list[tuple[float, int]], random: object) -> None:
    def kernel(rows: list[tuple[float, int]]) -> list[float]:
        return at_least_one(np.array([r for r, _ in rows]), np.array([h for _, h in rows]), 4).tolist()

    found = kernel(members)
    right, _, _ = slow.household_risk([r for r, _ in members], [h for _, h in members])
    for (_, household), value in zip(members, right, strict=True):
        # Next to 1 the last bits of 1 - r are the error.
        assert found[household] == pytest.approx(value, rel=1e-12)
    shuffled = list(members)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert kernel(shuffled) == found


@pytest.mark.parametrize(("attack", "p"), [("M1", None), ("M2", None), ("M3", None), ("M4", 0.37), ("M5", None)])
@settings(max_examples=20)
@given(survey=surveys(), rule=st.sampled_from(RULES), method=st.sampled_from(["exact", "approximate"]))
def test_household_risk_equals_the_slow_one(
    attack: str, p: float | None, survey: Survey, rule: Rule, method: str
) -> None:
    scenario = survey.scenario(rule.text, household="hid", attack=attack, attack_probability=p)
    with quietly():
        found = household_risk(survey.frame, scenario, method=method)
    f, F = survey.frequencies(rule)
    tried = slow.attack_probability(attack, f, F, survey.weights, len(f), p)
    by_record = [a * r for a, r in zip(tried, survey.risks(rule, method), strict=True)]
    right, persons, households = slow.household_risk(by_record, survey.households)
    assert found.risk.tolist() == pytest.approx(right, rel=1e-12)
    assert found.expected_persons == pytest.approx(persons, rel=1e-12)
    assert found.expected_households == pytest.approx(households, rel=1e-12)
    assert found.alone == survey.households.count(None)
    assert len(found.by_household) == len({h for h in survey.households if h is not None}) + found.alone


@pytest.mark.parametrize(
    "households",
    [
        ["a", "a", "b", None],
        [7.0, 7.0, 8.0, float("nan")],
        pl.Series([2**64 - 1, 2**64 - 1, 5, None], dtype=pl.UInt64),
        pl.Series([2**63, 2**63, 2**63 + 1, None], dtype=pl.UInt64),
        pl.Series(["a", "a", "b", None], dtype=pl.Categorical),
        pl.Series([-(10**18), -(10**18), 10**18, None], dtype=pl.Int64),
        pl.Series(["2020-01-01", "2020-01-01", "2020-02-01", None]).str.to_date(),
        [True, True, False, None],
    ],
    ids=str,
)
def test_any_kind_of_identifier(households: object) -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "hid": households})
    found = household_risk(frame, Scenario(keys=["a"], household="hid"))
    assert found.risk.tolist() == [0.75, 0.75, 0.5, 0.5]
    assert (found.alone, len(found.by_household)) == (1, 3)


def test_all_without_identifier_are_alone() -> None:
    frame = pl.DataFrame({"a": [1, 1], "hid": pl.Series([None, None], dtype=pl.Int64)})
    found = household_risk(frame, Scenario(keys=["a"], household="hid"))
    assert (found.alone, found.risk.tolist()) == (2, [0.5, 0.5])


def test_a_register_makes_F_known() -> None:
    frame = pl.DataFrame({"a": [1, 2], "hid": [1, 1], "w": [9.0, 9.0]})
    register = pl.DataFrame({"a": [1, 1, 2, 2]})
    found = household_risk(frame, Scenario(keys=["a"], household="hid", weight="w"), register=register)
    assert found.risk.tolist() == [0.75, 0.75]


def test_a_household_variable_must_be_the_same_for_all_members() -> None:
    frame = pl.DataFrame(
        {"a": [1, 2, 3, 4], "hid": [1, 1, 2, None], "size": [2, 2, 1, 1], "region": ["n", "s", "n", "s"]}
    )
    household_risk(frame, Scenario(keys=["a"], household="hid", household_variables=["size"]))
    with pytest.raises(TacitaError) as error:
        household_risk(frame, Scenario(keys=["a"], household="hid", household_variables=["size", "region"]))
    assert str(error.value) == (
        "household variable 'region' must be the same for all members; it differs in 1 household, correct the file or "
        "drop it from household_variables."
    )


def test_without_household_there_is_none() -> None:
    with pytest.raises(TacitaError) as error:
        household_risk(pl.DataFrame({"a": [1]}), Scenario(keys=["a"]))
    assert str(error.value) == "household risk needs the household identifier; pass household=... in the scenario."


@pytest.mark.parametrize("declared", ["missing", "not_applicable", "scenario"])
def test_a_code_for_no_household_is_no_household(declared: str) -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 3], "hid": [7, 7, 0, 0]})
    known = {} if declared == "scenario" else {"hid": Variable(**{declared: (0,)})}
    codes = {"hid": (0,)} if declared == "scenario" else {}
    found = household_risk(Data.of(frame, known), Scenario(keys=["a"], household="hid", not_applicable=codes))
    assert (found.alone, len(found.by_household)) == (2, 3)
    assert found.risk.tolist() == [0.75, 0.75, 1.0, 1.0]
