"""The checklist before publication, and what a release says of its own safety."""

import datetime
import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.release.checklist import Checklist

N = 60
PEOPLE = pl.DataFrame(
    {
        "household": np.arange(N) // 2,
        "region": ["north", "south"] * (N // 2),
        "sex": ["f"] * (N // 2) + ["m"] * (N // 2),
        "income": np.arange(N) * 10.0,
        "w": [1000.0] * N,
    }
)
WHO = tc.Scenario(keys=["region", "sex"], weight="w", household="household")
LOOSE = tc.Policy(k=3, risk=None, rate=None)
STATES = ("done", "not done", "not applicable")


def listed(
    *steps: Any, data: Any = PEOPLE, who: tc.Scenario = WHO, policy: tc.Policy = LOOSE, **options: Any
) -> Checklist:
    return tc.Plan(steps).apply(data, who, policy, **options).checklist()


def test_every_item_is_there_once_with_a_state_and_a_way_out() -> None:
    found = listed()
    assert [item.name for item in found] == [
        "identifiers",
        "ids renewed",
        "record order",
        "weights",
        "households",
        "small geography",
        "dates",
        "reconstruction",
        "verdicts",
        "rules",
        "seed",
    ]
    for item in found.items:
        assert item.state in STATES
        assert bool(item.way_out) == (item.state == "not done"), item
        assert str(item).count("\n") == 0 and str(item).endswith(".")
    assert found.headline == "Checklist before publication: 5 done, 4 not done, 2 not applicable"
    assert [item.name for item in found.open_items] == [
        item["name"] for item in json.loads(found.to_json())["items"] if item["state"] == "not done"
    ]
    assert found.to_frame().height == 11
    assert str(found).splitlines()[1].startswith("  [x] identifiers (done): none declared")
    with pytest.raises(KeyError):
        found["nonsense"]


@pytest.mark.parametrize(
    ("name", "steps", "state"),
    [
        ("ids renewed", [tc.NewIdentifiers()], "done"),
        ("ids renewed", [], "not done"),
        ("ids renewed", [tc.Remove("household")], "not applicable"),
        ("record order", [tc.RandomOrder()], "done"),
        ("record order", [], "not done"),
        ("weights", [], "not done"),
        ("weights", [tc.RoundWeights(base=300)], "done"),
        ("weights", [tc.Remove("w")], "not applicable"),
        ("households", [], "not done"),
        ("households", [tc.Remove("household"), tc.RandomOrder()], "not applicable"),
        # The order tells who lives together as well as the identifier did.
        ("households", [tc.Remove("household")], "not done"),
        ("households", [tc.RandomOrder("within_households"), tc.Remove("household")], "not done"),
        ("small geography", [], "done"),
        ("small geography", [tc.Remove("region")], "not applicable"),
        # The population does not shrink because the weights go.
        ("small geography", [tc.Remove("w")], "done"),
        ("dates", [], "not applicable"),
        ("rules", [], "not applicable"),
    ],
)
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_what_steps_do(name: str, steps: list[Any], state: str) -> None:
    assert listed(*steps)[name].state == state


def test_identifiers() -> None:
    named = PEOPLE.with_columns(pl.Series("name", [f"person {at}" for at in range(N)]))
    declared = replace(WHO, identifiers=("name",))
    assert str(listed(data=named, who=declared)["identifiers"]) == (
        "[ ] identifiers (not done): 'name' declared and still there; add Remove()."
    )
    assert listed(tc.Remove(), data=named, who=declared)["identifiers"].found.startswith("'name' taken out, and no")
    assert listed(data=named)["identifiers"].found == "1 column not declared ('name': names)"


def test_small_areas_dates_rules_and_seeds() -> None:
    few = PEOPLE.with_columns(w=pl.Series([600.0, 1000.0] * (N // 2)))
    assert listed(data=few)["small geography"].found == "units in the smallest area: 'region' 18,000"
    days = [datetime.date(2020, 1, 1 + at % 30) for at in range(N)]
    dated = PEOPLE.with_columns(pl.Series("born", days), pl.Series("seen", [f"{day}" for day in days]))
    assert listed(data=dated)["dates"].found == "exact days in 'born', 'seen'"
    assert listed(rules=["income >= 0"])["rules"].state == "done"
    assert listed(rules=["income >= 0", "income > 0"])["rules"].found == "1 of 2 rules broken or not checked"
    assert listed()["seed"].state == "done"
    assert listed(seed=5)["seed"].state == "not done"


def test_areas_of_a_sample_stand_for_all_from_whom_it_was_drawn() -> None:
    """A fiftieth of 57,867 households was said to have an area of 188 units."""
    people = pl.DataFrame({"sex": ["f", "m"] * 2000, "region": ["n"] * 1000 + ["s"] * 3000})
    release = tc.Plan([tc.Sample(fraction=0.1, strata=["region"])]).apply(people, tc.Scenario(keys=["sex", "region"]))
    found = {each.name: each.found for each in release.checklist().items}["small geography"]
    assert found == "units in the smallest area: 'region' 1,000"


@pytest.mark.parametrize(
    ("name", "place"),
    [("geo1", True), ("geo_2", True), ("adm2", True), ("birthplace", True), ("geometry", False), ("admission", False)],
)
def test_places_are_known_by_what_they_are_called(name: str, place: bool) -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 10, name: [*"ab"] * 10})
    release = tc.Plan([]).apply(people, tc.Scenario(keys=["sex"]))
    (item,) = [each for each in release.checklist().items if each.name == "small geography"]
    assert (item.state != "not applicable") == place


def test_households_go_by_their_limit() -> None:
    for limit, state in ((0.99, "done"), (1e-9, "not done")):
        found = listed(policy=replace(LOOSE, household_risk=limit))["households"]
        assert (found.state, "limit" in found.found) == (state, True)


def test_verdicts() -> None:
    assert listed()["verdicts"].found == "SAFE under this policy: k = 3"
    assert listed(policy=tc.Policy(k=50, risk=None, rate=None))["verdicts"].state == "not done"
    assert listed(policy=tc.Policy(k=None, risk=None, rate=None))["verdicts"].found == (
        "NO VERDICT: the policy sets no limit"
    )


def test_a_release_assesses_itself_once() -> None:
    release = tc.Plan().apply(PEOPLE, WHO, LOOSE)
    profile = release.assess()
    assert profile.policy == LOOSE
    assert profile is release.assess()
    assert release.safe and release.verdict == "SAFE under this policy"
    more = release.assess(measures="suda")
    assert "suda" in more.further and more is not profile
    assert release.assess() is profile


def test_an_unsafe_release_is_refused_with_the_way_out(tmp_path: Any) -> None:
    release = tc.Plan().apply(PEOPLE, WHO, tc.Policy(k=50, risk=None, rate=None))
    with pytest.raises(TacitaError) as refused:
        release.save(tmp_path / "out")
    assert str(refused.value) == (
        "the release is NOT SAFE under this policy: 60 records below k = 50; protect it further, or pass "
        "accept_unsafe='reason' to write it as not for publication."
    )
    for reason in ("", " \n", 5, True):
        with pytest.raises(TacitaError, match=r"^accept_unsafe must be the reason in words"):
            release.save(tmp_path / "out", accept_unsafe=reason)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    assert (release.save(tmp_path / "out", accept_unsafe="for us") / "not_for_publication" / "README.txt").exists()
    safe = tc.Plan().apply(PEOPLE, WHO, LOOSE)
    assert (safe.save(tmp_path / "safe", accept_unsafe="for us") / "public" / "data.parquet").exists()


def test_what_cannot_be_assessed_is_not_for_publication(tmp_path: Any) -> None:
    unlimited = replace(LOOSE, neighbours=None)
    release = tc.Plan().apply(PEOPLE, tc.Scenario(numeric_keys=["income"]), unlimited)
    assert not release.safe
    with pytest.raises(TacitaError, match=r"^the release is NOT ASSESSED under this policy: k, risk and rate need ca"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", accept_unsafe="for us")
    perturbed = replace(release, data=Data.of(PEOPLE).with_perturbed(["sex"]), scenario=WHO)
    with pytest.warns(tc.TacitaWarning, match="was perturbed"):
        assert perturbed.verdict.startswith("NOT ASSESSED under this policy: the key 'sex' was perturbed")
    assert perturbed.checklist()["verdicts"].state == "not done"
