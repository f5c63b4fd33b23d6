"""One named key suppressed above a threshold of individual risk."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError

SURVEY = tc.household_survey(300, population=9000, seed=3)
DATA = SURVEY.data.with_columns({"age": SURVEY.data.numbers("age") // 20})
WHO = tc.Scenario(keys=["region", "sex", "age"], weight="weight")


def test_by_hand() -> None:
    """Without weights risk is 1/f: the two alone have 1, the pair 1/2, the three 1/3."""
    people = pl.DataFrame({"sex": list("ffffffm"), "age": [30, 30, 30, 40, 40, 81, 80]})
    who = tc.Scenario(keys=["sex", "age"])
    for risk, ages in ((0.5, [30, 30, 30, 40, 40, None, None]), (0.4, [30, 30, 30, None, None, None, None])):
        release = tc.Plan([tc.SuppressKey("age", risk=risk)]).apply(people, who)
        assert release.data.table["age"].to_list() == ages
    change = tc.Plan([tc.SuppressKey("age", risk=0.4)]).apply(people, who).changes[0]
    assert change.remarks == ("4 records above a risk of 0.4", "1 record above it afterwards")
    assert change.figures == {"threshold": 0.4, "above": 4, "cells": 4, "left": 1}


def test_exactly_the_records_above_the_threshold_lose_the_key() -> None:
    risk = tc.risk.individual_risk(DATA, WHO).risk
    release = tc.Plan([tc.SuppressKey("age", risk=0.05)]).apply(DATA, WHO)
    assert np.array_equal(release.data.missing("age"), risk > 0.05)
    assert release.changes[0].suppressed == {"age": int((risk > 0.05).sum())}
    left = tc.risk.individual_risk(release.data, release.scenario).risk > 0.05
    assert release.changes[0].figures["left"] == left.sum()
    by_policy = tc.Plan([tc.SuppressKey("age")]).apply(DATA, WHO, tc.Policy(risk=0.05))
    assert by_policy.data.table.equals(release.data.table)


def test_only_chooses_among_them_and_the_whole_file_counts() -> None:
    risk = tc.risk.individual_risk(DATA, WHO).risk
    release = tc.Plan([tc.SuppressKey("age", risk=0.05, only="sex = 'male'")]).apply(DATA, WHO)
    male = DATA.table["sex"].to_numpy() == "male"
    assert male.any() and np.array_equal(release.data.missing("age"), (risk > 0.05) & male)


def test_a_household_variable_goes_for_all_members() -> None:
    who = tc.Scenario(keys=["region", "sex", "age"], household="household", household_variables=["region"])
    release = tc.Plan([tc.SuppressKey("region", risk=0.3)]).apply(DATA, who)
    shown = pl.DataFrame({"hid": DATA.table["household"], "gone": release.data.missing("region")})
    assert 0 < shown["gone"].sum() < len(shown)
    assert shown.group_by("hid").agg(pl.col("gone").n_unique())["gone"].max() == 1
    assert any("of their housemates with them" in each for each in release.changes[0].remarks)


def test_a_variable_of_another_key_set_goes_by_its_risk() -> None:
    who = tc.Scenario(keys=["region", "sex"], key_sets={"work": ["status", "sex"]}, weight="weight")
    risk = tc.risk.individual_risk(DATA, who, keys=["status", "sex"]).risk
    release = tc.Plan([tc.SuppressKey("status", risk=0.05)]).apply(DATA, who)
    assert np.array_equal(release.data.missing("status"), (risk > 0.05) | DATA.missing("status"))


def test_what_cannot_be_done() -> None:
    blank = tc.Scenario(keys=["region", "age"], not_applicable={"age": [""]})
    for step, who, policy, message in (
        (tc.SuppressKey("income"), WHO, None, "suppress_key takes a key of the scenario; 'income' is none of"),
        (tc.SuppressKey("age"), WHO, tc.Policy(risk=None), "the policy has no risk; pass risk=0.1 to the step."),
        (tc.SuppressKey("age"), blank, None, "a blank of 'age' stands for not applicable, so it cannot be suppressed"),
        (tc.SuppressKey("agee"), WHO, None, "variables of 'suppress_key agee' not in the data: 'agee'."),
    ):
        with pytest.raises(TacitaError) as error:
            tc.Plan([step]).apply(DATA, who, policy)
        assert str(error.value).startswith(message)
    with pytest.raises(TacitaError, match="use only in place of strata"):
        tc.SuppressKey("age", strata=["sex"])


def test_to_a_file_and_back() -> None:
    plan = tc.Plan([tc.SuppressKey("age", risk=0.05, only="sex = 'male'")])
    assert tc.Plan.from_toml(plan.to_toml()).to_dict() == plan.to_dict()
