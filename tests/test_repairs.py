"""What would make a verdict hold: the repair that is proposed is tried, and what it says of the file is counted."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.keys.table import KeyTable
from tacita.protect.steps import find_step
from tacita.release.project import protect
from tacita.result import Repair
from tacita.scenario import KeySet

SURVEY = tc.household_survey(300, population=9000, seed=3)
DATA = SURVEY.data.with_columns({"age": SURVEY.data.numbers("age") // 20})
KEYS = ["region", "sex", "age"]
ALONE = {"k": None, "risk": None, "rate": None}
T_CLOSE = tc.Policy(k=None, risk=None, rate=None, limits={"t_closeness": 0.01})


def by_name(profile: tc.RiskProfile) -> dict[str, Repair]:
    return {each.name: each for each in profile.repairs}


def repaired(data: tc.Data, who: tc.Scenario, policy: tc.Policy, repair: Repair) -> tuple[tc.Release, bool | None]:
    """The release after the step that a repair names, and whether the limit holds there."""
    options = {"closed": False} if repair.step == "suppress" else {}
    step = find_step(repair.step or "")(**repair.parameters, **options)  # type: ignore[call-arg]
    release = tc.Plan([step]).apply(data, who, policy)
    verdicts = tc.assess(release.data, release.scenario, policy).verdicts()
    return release, {each.name: each.holds for each in verdicts}[repair.name]


CASES = {
    "weights": (tc.Scenario(keys=KEYS, weight="weight"), tc.Policy(k=4, risk=0.02, rate=0.003)),
    "census": (tc.Scenario(keys=KEYS), tc.Policy(rate=0.02)),
    "population": (tc.Scenario(keys=KEYS, population_size=9000), tc.Policy(k=5, risk=0.02, rate=0.003)),
    "key sets": (
        tc.Scenario(keys=KEYS, key_sets={"work": KeySet(("status", "age"), k=9)}, population_size=9000),
        tc.Policy(k=6, risk=0.02, rate=None),
    ),
    "wildcard": (tc.Scenario(keys=KEYS, missing="wildcard"), tc.Policy(k=5, risk=None, rate=None)),
    "households": (tc.Scenario(keys=KEYS, weight="weight", household="household"), tc.Policy(household_risk=0.1)),
    "l-diversity": (tc.Scenario(keys=KEYS, sensitive=["citizenship"]), tc.Policy(**ALONE, limits={"l_diversity": 2})),
    "suda": (tc.Scenario(keys=KEYS, population_size=9000), tc.Policy(**ALONE, limits={"suda": 0.01})),
    "combinations": (
        tc.Scenario(keys=KEYS, missing="own_category"),
        tc.Policy(**ALONE, limits={"unsafe_combinations": {"limit": 0, "threshold": 2, "largest": 2}}),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_step_that_is_proposed_makes_the_limit_hold(case: str) -> None:
    who, policy = CASES[case]
    profile = tc.assess(DATA, who, policy)
    failed = [each.name for each in profile.verdicts() if each.holds is False]
    found = by_name(profile)
    assert failed and list(found) == failed
    for repair in found.values():
        if repair.step is None:
            assert "no step can" in repair.text or repair.name == "rate"
            continue
        release, holds = repaired(DATA, who, policy, repair)
        assert holds, repair
        if repair.cells is not None:
            # Said as the least that it takes: never more than it took, and not far from it.
            taken = sum(release.changes[0].suppressed.values())
            assert taken / 2 <= repair.cells <= taken
        if repair.name.startswith(("k", "l_")):
            assert repair.records == release.changes[0].figures.get("violating", repair.records)


def test_without_weights_the_default_policy_asks_for_ten() -> None:
    people = pl.DataFrame({"sex": ["f"] * 1500 + ["m"] * 9 + ["m"] * 1500, "town": [*"a" * 1509, *"b" * 1500]})
    profile = tc.assess(people, tc.Scenario(keys=["sex", "town"]))
    assert profile.headline == "NOT SAFE under this policy: 9 records above a risk of 0.1."
    assert [each.to_dict() for each in profile.repairs] == [
        {
            "name": "risk",
            "text": "without weights the file is the whole population, where a risk of 0.1 asks for k = 10: "
            "Suppress(k=10) suppresses at least 9 cells in 9 records; without 'sex' 0 would be left, so Recode it "
            "first",
            "step": "suppress",
            "parameters": {"k": 10},
            "records": 9,
            "cells": 9,
        }
    ]


def test_it_stands_in_the_line_after_the_verdict_and_in_json() -> None:
    who, policy = CASES["census"]
    profile = tc.assess(DATA, who, policy)
    lines = str(profile).splitlines()
    assert any(first.endswith(".") and then.startswith("To keep the policy") for first, then in pairwise(lines)), lines[
        :5
    ]
    assert json.loads(profile.to_json())["repairs"] == json.loads(json.dumps([r.to_dict() for r in profile.repairs]))
    assert "To keep the policy" in profile._repr_html_()


def test_protect_says_it_of_the_release() -> None:
    who, policy = CASES["census"]
    done = protect(DATA, who, policy, tc.Plan([tc.Remove("person")]))
    head, following, *_ = str(done).splitlines()
    assert head.startswith("The release is NOT SAFE") and following.startswith("To keep the policy")


def test_nothing_is_said_of_a_safe_file() -> None:
    profile = tc.assess(DATA, tc.Scenario(keys=["sex"]), tc.Policy(risk=None, rate=None))
    assert profile.safe and profile.repairs == ()
    assert "To keep the policy" not in str(profile)


def test_a_limit_that_no_file_of_this_size_keeps() -> None:
    people = pl.DataFrame({"sex": list("ffmm")})
    found = by_name(tc.assess(people, tc.Scenario(keys=["sex"]), tc.Policy(k=None)))
    assert {name: each.step for name, each in found.items()} == {"risk": None, "rate": None}
    assert found["rate"].text.startswith("no step can: with all keys missing the rate of 4 records is still 25 %; if")


def test_cells_by_hand() -> None:
    """Three unsafe records: one cell for a and b, who agree on two keys; two for c, who agrees with nobody on two."""
    rows = [("n", 1, "x"), ("n", 1, "y"), ("s", 2, "z"), *[("w", 5, "q")] * 2]
    people = pl.DataFrame(rows, schema=["region", "age", "job"], orient="row")
    (repair,) = tc.assess(
        people, tc.Scenario(keys=["region", "age", "job"]), tc.Policy(k=2, risk=None, rate=None)
    ).repairs
    assert (repair.records, repair.cells) == (3, 4)


def test_agreement_on_all_keys_but_one_against_counting_pairs() -> None:
    draws = np.random.default_rng(4)
    people = pl.DataFrame({name: draws.integers(0, 4, 120) for name in "abc"})
    table = tc.key_table(people, tc.Scenario(keys=list("abc")))
    for place in range(3):
        others = [name for at, name in enumerate("abc") if at != place]
        rows = people.select(others).rows()
        slow = [sum(row == other for other in rows) for row in rows]
        assert table.per_record(table.alike_without(place)).tolist() == slow


def test_keys_of_huge_tables_are_not_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    who, policy = CASES["census"]
    monkeypatch.setattr("tacita.risk.identity.k_anonymity.MOST_CELLS", 10)
    monkeypatch.setattr(KeyTable, "alike_without", None)
    found = by_name(tc.assess(DATA, who, policy))
    assert found["k"].cells == found["k"].records


def test_what_is_given_back_names_the_repairs_of_its_leaks() -> None:
    people = pl.DataFrame({"hid": np.repeat(np.arange(80), 3), "sex": ["f", "m", "m"] * 80, "size": [3] * 240})
    people = people.with_columns(size=pl.when(pl.col("hid") < 20).then(1).otherwise(3), age=pl.col("hid") + 20)
    who = tc.Scenario(keys=["sex", "age"], household="hid")
    release = tc.Plan([tc.Recode("age", width=20)]).apply(people.with_columns(birth=2000 - pl.col("age")), who)
    found = by_name(release.assess())
    assert found["given_back"].cells == release.assess().further["reconstruction"].given_back > 0
    assert "'age': " in found["given_back"].text


def test_every_measure_that_can_be_limited_has_a_repair() -> None:
    for name in tc.measures.measure_names():
        measure = tc.measures.find(name)
        if measure.limit is not None and name not in ("reidentification",):
            result = measure.function.__annotations__.get("return")
            own = getattr(__import__(measure.function.__module__, fromlist=["x"]), str(result), None)
            assert measure.limit.moved_by or (own is not None and "repair" in vars(own)), name


def told_by(column: str) -> tuple[tc.Data, tc.Scenario]:
    """A file in which a column tells a key that will be coarser than it is."""
    ages = [20, 21, 22, 23, 24, 25] * 10
    table = pl.DataFrame({"sex": ["f", "m"] * 30, "age": ages, column: [age * 3 for age in ages]})
    return tc.Data.of(table), tc.Scenario(keys=["sex", "age"], population_size=60_000)


def test_columns_that_tell_a_key_more_finely_are_named_and_removing_them_makes_it_hold() -> None:
    """The way out was "recode, suppress or remove the columns that the cautions name"."""
    data, who = told_by("school year")
    policy = tc.Policy(k=15, risk=None, rate=None)
    plan = tc.Plan([tc.Recode("age", width=10)])
    release = plan.apply(data, who, policy)
    assert {each.name: each.holds for each in release.assess().verdicts()}["k:keys with other columns"] is False
    repair = by_name(release.assess())["k:keys with other columns"]
    assert repair.step == "remove"
    assert repair.text == (
        "'school year' tells the keys more finely than they are released: Remove(['school year']), recode it alike, or "
        "name it among the keys"
    )
    repaired = plan.then(tc.Remove(**repair.parameters)).apply(data, who, policy)
    assert repaired.assess().safe


def test_a_step_that_is_proposed_names_every_column() -> None:
    """`Remove(['a', 'b', 'c', 'd', 'e' and 2 more])` was, which nobody can run."""
    ages = [20, 21, 22, 23, 24, 25] * 60
    names = [f"part {at}" for at in range(6)]
    parts = {name: [int(age == 20 + at) for age in ages] for at, name in enumerate(names)}
    data = tc.Data.of(pl.DataFrame({"age": ages, **parts}))
    who, policy = tc.Scenario(keys=["age"], population_size=60_000), tc.Policy(k=100, risk=None, rate=None)
    plan = tc.Plan([tc.Recode("age", width=10), tc.RandomOrder()])
    repair = by_name(plan.apply(data, who, policy).assess())["k:keys with other columns"]
    told = repair.parameters["variables"]
    assert len(told) > 5
    assert f": Remove({list(told)!r}), recode them alike" in repair.text


def test_the_order_of_rows_that_tells_a_key_is_renewed() -> None:
    """A file that is sorted by a key told it again: `Remove(['(order of the rows)'])` is no step."""
    ages = sorted([20, 21, 22, 23, 24, 25] * 60)
    data = tc.Data.of(pl.DataFrame({"age": ages}))
    who, policy = tc.Scenario(keys=["age"], population_size=60_000), tc.Policy(k=100, risk=None, rate=None)
    plan = tc.Plan([tc.Recode("age", width=10)])
    repair = by_name(plan.apply(data, who, policy).assess())["k:keys with other columns"]
    assert (repair.step, dict(repair.parameters)) == ("random_order", {})
    assert repair.text.startswith("the order of the rows tells them: ")
    assert plan.then(tc.RandomOrder()).apply(data, who, policy).assess().safe


def test_steps_are_proposed_only_with_all_that_they_need() -> None:
    """`Generalise(t=0.2)` was, which needs hierarchies."""
    for case, (who, policy) in {**CASES, "t": (tc.Scenario(keys=KEYS, sensitive=["citizenship"]), T_CLOSE)}.items():
        for each in tc.assess(DATA, who, policy).repairs:
            assert each.step is None or find_step(each.step)(**each.parameters), case


def test_one_way_out_of_several_limits_is_said_once() -> None:
    """Limits on keys with other columns each repeated which columns to remove, and recoding was advised twice."""
    data, who = told_by("school year")
    policy = tc.Policy(k=15, risk=0.0001, rate=None)
    said = " ".join(str(tc.Plan([tc.Recode("age", width=10)]).apply(data, who, policy).assess()).split())
    assert said.count("'school year' tells the keys more finely than they are released: Remove") == 1
    assert "- k:keys with other columns, risk:keys with other columns: 'school year'" in said
    apart = tc.assess(pl.DataFrame({"a": range(12), "b": ["x", "y"] * 6}), tc.Scenario(keys=["a", "b"]))
    assert by_name(apart)["k"].text == (
        "Suppress(k=3) suppresses at least 12 cells in 12 records; that is most of the file; without 'a' 0 would be "
        "left, so Recode it first"
    )


def test_a_household_number_that_tells_the_number_of_a_person_is_renewed() -> None:
    """Of EU-SILC, "remove 'db030' or round it" was said of the identifier of the household."""
    numbers = np.repeat(np.arange(10, 110), 2)
    people = pl.DataFrame({"hid": numbers, "pid": numbers * 100 + np.tile([1, 2], 100), "sex": ["f", "m"] * 100})
    who = tc.Scenario(keys=["sex"], household="hid", identifiers=["pid"], population_size=1e6)
    plan = tc.Plan([tc.Remove(), tc.RandomOrder()])
    said = by_name(plan.apply(people, who, tc.Policy(k=3, risk=None, rate=None)).assess())["given_back"].text
    assert "'pid': give new identifiers in place of 'hid' with NewIdentifiers()" in said


def test_records_of_the_unsafe_zone_are_said_to_need_as_much_as_they_lack() -> None:
    """Nothing was said where the confidentiality plot failed, which is the verdict on a survey of firms."""
    draws = np.random.default_rng(0)
    firms = pl.DataFrame({name: draws.lognormal(3, 1, 200).round(2) for name in "xy"})
    who, released = tc.Scenario(numeric_keys=["x", "y"]), firms.with_columns(x=pl.col("x") * 1.01)
    profile = tc.assess(released, who, original=firms)
    plot = profile.further["confidentiality"]
    unsafe = np.flatnonzero(plot.unsafe)
    slow = [0.15 * (1 - min(int(plot.neighbours[at]), 15) / 15) for at in unsafe]
    repair = by_name(profile)["confidentiality"]
    assert repair.records == len(unsafe) > 0
    assert f"where {100 * np.mean(slow):.3g} % is enough" in repair.text
    assert "only={'unsafe': 'confidentiality'}" in repair.text
    # Moved as far as the line asks, they are safe.
    needed = plot.limits.needed(plot.neighbours.astype(float))
    assert not plot.limits.unsafe(plot.neighbours.astype(float), needed + 1e-9).any()
    alone = by_name(tc.assess(released, who, tc.Policy(perturbation=None), original=firms))["confidentiality"]
    assert "of 15 neighbours on the mean: more Noise" in alone.text
