"""Scenarios without categorical keys: what is said of numbers, and what decides whether they are safe."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tacita as tc
from tacita.assessment.numeric_keys import NO_CATEGORICAL_KEYS
from tacita.check import TacitaError
from tacita.cli import app
from tacita.data import Data
from tacita.measures import find, measure_names
from tacita.mechanism import Mechanism
from tacita.parameters import Doc
from tacita.protect.step import Applied, Context, Step

WHO = tc.Scenario(numeric_keys=["turnover", "staff"])
NONE = tc.Policy(k=None, risk=None, rate=None, neighbours=None)
NOT_ASSESSED = f"NOT ASSESSED under this policy: {NO_CATEGORICAL_KEYS}"


@dataclass(frozen=True)
class Factor(Step):
    """Multiply numbers by factors between 1 and 1 + share, or below."""

    variables: Annotated[tuple[str, ...], Doc("The numbers.")]
    share: Annotated[float, Doc("The greatest change.")] = 0.5

    @property
    def draws(self) -> bool:
        """The factors."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with other numbers."""
        fresh = {}
        for name in self.variables:
            change = self.share * (0.5 + context.draws.step(name).uniform(data.record) / 2)
            sign = np.where(context.draws.step(f"{name} sign").uniform(data.record) < 0.5, -1, 1)
            fresh[name] = data.numbers(name) * (1 + sign * change)
        noise = (Mechanism("noise", self.variables, perturbs=True),)
        return Applied(data.with_columns(fresh), mechanisms=noise, public=noise)


def firms(size: int = 60) -> Data:
    at = np.arange(size)
    return Data.of(pl.DataFrame({"turnover": 100.0 * 1.2 ** (at * 7 % size), "staff": 1.0 + at * 11 % size}))


NOISE = Factor(("turnover", "staff"))


def test_one_file_is_not_assessed_and_says_the_way_out() -> None:
    found = tc.assess(firms(), WHO)
    assert not found.safe
    assert found.headline == f"{NOT_ASSESSED}."
    assert [(each.name, each.holds) for each in found.verdicts()] == [
        ("k", None),
        ("risk", None),
        ("rate", None),
        ("confidentiality", None),
    ]
    assert found.failures == ()
    assert found.not_assessed[0].endswith("and in one file by a limit on mixed_uniqueness")
    # What can be said is said.
    assert tuple(found.further) == ("mixed_uniqueness", "dominance")
    text = str(found)
    assert "k, risk and rate do not apply: all keys are numeric ('turnover', 'staff')." in text
    assert "of 60 records are unique" in text
    assert "1 cell of 'turnover'" in text
    assert "not held against an original" in text


def test_every_view_of_an_assessment_without_key_sets() -> None:
    found = tc.assess(firms(), WHO)
    told = json.loads(found.to_json())
    assert told["safe"] is False
    assert told["key_sets"] == {}
    assert told["household"] is None
    assert set(told["further"]) == {"mixed_uniqueness", "dominance"}
    assert "do not apply" in found._repr_html_()
    assert found.records.columns == ["record", "violations", "candidates"]
    assert found.to_frame().height == 60
    assert found.figures() == ()
    for ask in (lambda: found.main, lambda: found.rate, lambda: found.individual, found.spread_table):
        with pytest.raises(TacitaError) as error:
            ask()
        assert str(error.value) == ("k, risk and rate do not apply to numeric keys; pass keys=[...] in the scenario.")
    with pytest.raises(TacitaError, match=r"^numeric keys have no risk to draw; plot a measure of them"):
        found.plot()


def test_a_policy_without_a_limit_has_no_verdict() -> None:
    for policy in (NONE, replace(NONE, perturbation=None)):
        release = tc.Plan([NOISE]).apply(firms(), WHO, policy, seed=1)
        for found in (tc.assess(firms(), WHO, policy), release.assess()):
            assert found.verdicts() == ()
            assert found.headline.startswith("NO VERDICT: the policy sets no limit")
        assert not release.safe


def test_a_limit_that_does_not_judge_numeric_keys_never_makes_a_file_safe() -> None:
    policy = replace(NONE, limits={"dominance": 1})
    found = tc.assess(firms(), WHO, policy)
    assert [(each.name, each.holds) for each in found.verdicts()] == [("confidentiality", None), ("dominance", True)]
    assert found.headline == f"{NOT_ASSESSED}."
    release = tc.Plan([NOISE]).apply(firms(), WHO, policy, seed=1)
    assert release.verdict == NOT_ASSESSED
    assert not release.safe


def test_which_measures_judge_numeric_keys() -> None:
    judging = {name for name in measure_names() if find(name).for_numeric_keys}
    assert judging >= {
        "confidentiality",
        "mixed_uniqueness",
        "distance_linkage",
        "one_to_one_linkage",
        "probabilistic_linkage",
        "interval_disclosure",
        "rank_interval_disclosure",
    }
    assert all(find(name).limit is not None for name in judging)
    assert not judging & {"dominance", "reconstruction", "k_anonymity", "weight_disclosure"}


@pytest.mark.parametrize("neighbours", [2, 3, 15])
def test_neighbours_and_perturbation_judge_a_release(neighbours: int) -> None:
    policy = tc.Policy(neighbours=neighbours, perturbation=0.2)
    release = tc.Plan([NOISE]).apply(firms(), WHO, policy, seed=1)
    (*others, verdict) = release.assess().verdicts()
    assert [each.name for each in others] == ["given_back"]
    # Worked out again by hand: below the line (neighbours/k) + (perturbation/r) = 1.
    found = tc.risk.confidentiality(firms(), release, WHO, policy=policy)
    unsafe = found.neighbours / neighbours + found.perturbation / 0.2 < 1
    assert verdict.name == "confidentiality"
    assert verdict.value == pytest.approx(unsafe.mean())
    assert release.safe == (not unsafe.any())
    assert release.assess().records["violations"].to_list() == unsafe.astype(int).tolist()


def test_a_perturbed_release_can_be_safe_and_is_published(tmp_path: Path) -> None:
    release = tc.Plan([NOISE, tc.RandomOrder()]).apply(firms(), WHO, tc.Policy(neighbours=2, perturbation=0.2), seed=1)
    assert release.verdict == "SAFE under this policy"
    assert release.safe
    release.save(tmp_path / "out", report=False)
    assert (tmp_path / "out" / "public" / "data.parquet").exists()
    assert release.checklist()["verdicts"].state == "done"
    # The same numbers as they were are not.
    plain = tc.Plan([tc.RandomOrder()]).apply(firms(), WHO, seed=1)
    assert plain.verdict.startswith("NOT SAFE under this policy: ")
    with pytest.raises(TacitaError, match=r"^the release is NOT SAFE under this policy: "):
        plain.save(tmp_path / "plain", report=False)


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("distance_linkage", "share_correct"),
        ("one_to_one_linkage", "share_correct"),
        ("interval_disclosure", "share_all"),
        ("rank_interval_disclosure", "share"),
    ],
)
@pytest.mark.parametrize("share", [0.01, 0.5, 1.5])
def test_limits_on_attacks_stand_in_place_of_k_risk_and_rate(name: str, figure: str, share: float) -> None:
    value = None
    for limit in (0.0, 0.99):
        policy = tc.Policy(neighbours=None, limits={name: limit})
        release = tc.Plan([Factor(WHO.numeric_keys, share)]).apply(firms(), WHO, policy, seed=1)
        verdicts = {each.name: each for each in release.assess().verdicts()}
        assert set(verdicts) == {"given_back", name}
        value = getattr(getattr(tc.risk, name)(firms(), release, WHO), figure)
        assert verdicts[name].value == pytest.approx(value)
        assert release.safe == (value <= limit)
    assert value is not None


def test_one_file_is_judged_by_a_limit_on_mixed_uniqueness() -> None:
    data = pl.DataFrame({"turnover": [10.0] * 5 + [20.0] * 4})
    who = tc.Scenario(numeric_keys=["turnover"])
    for limit, safe in ((4, True), (5, False)):
        found = tc.assess(data, who, tc.Policy(limits={"mixed_uniqueness": limit}))
        assert [(each.name, each.value) for each in found.verdicts()] == [("mixed_uniqueness", 4.0)]
        assert found.safe is safe


def test_perturbed_numbers_near_each_other_say_nothing() -> None:
    policy = tc.Policy(neighbours=None, limits={"mixed_uniqueness": {"limit": 2, "tolerance": 1e6}})
    release = tc.Plan([NOISE]).apply(firms(), WHO, policy, seed=1)
    assert release.verdict == (
        "NOT ASSESSED under this policy: the keys 'turnover', 'staff' were perturbed: how many released records lie "
        "near each other no longer says how many people look alike; limit neighbours, or record linkage against the "
        "original (distance_linkage), in place of mixed_uniqueness"
    )
    assert tc.assess(firms(), WHO, policy).safe


def test_a_limit_on_two_files_without_the_original_is_not_assessed() -> None:
    found = tc.assess(firms(), WHO, tc.Policy(limits={"distance_linkage": 0.1}))
    assert [each.holds for each in found.verdicts()] == [None] * 5
    assert found.not_assessed[-1] == (
        "distance_linkage was not measured: it needs the original file (original=..., --original FILE)"
    )


def test_households_and_sensitive_variables_without_categorical_keys() -> None:
    at = np.arange(60)
    data = firms().with_columns({"home": at // 2, "kind": np.array(["a", "b"])[at % 2], "profit": at * 1.5})
    who = replace(WHO, household="home", sensitive=("kind", "profit"), population_size=6000)
    found = tc.assess(data, who, replace(NONE, household_risk=0.5, limits={"l_diversity": 2, "superpopulation": 1}))
    assert found.household is None
    assert [(each.name, each.holds) for each in found.verdicts()] == [
        ("household_risk", None),
        ("l_diversity", None),
        ("superpopulation", None),
    ]
    assert "l_diversity was not measured: it needs keys=[...]" in found.not_assessed
    assert tuple(tc.assess(data, who, measures="all").further) == ("mixed_uniqueness", "dominance")
    with pytest.raises(TacitaError, match=r"^the scenario has no categorical keys; pass keys=\[\.\.\.\]\.$"):
        tc.assess(data, who, measures="suda")


def test_a_plan_that_removes_all_categorical_keys_leaves_the_numbers() -> None:
    data = firms().with_columns({"region": np.array(["n", "s"])[np.arange(60) % 2]})
    who = replace(WHO, keys=("region",))
    policy = tc.Policy(neighbours=2, perturbation=0.2)
    release = tc.Plan([tc.Remove("region"), NOISE]).apply(data, who, policy, seed=1)
    assert release.scenario.keys == ()
    assert [each.name for each in release.assess().verdicts()] == ["given_back", "confidentiality"]
    assert release.safe


def test_categorical_and_numeric_keys_are_both_judged() -> None:
    data = firms().with_columns({"region": np.array(["n", "s"])[np.arange(60) % 2]})
    release = tc.Plan([NOISE]).apply(data, replace(WHO, keys=("region",)), tc.Policy(risk=None, rate=None), seed=1)
    assert [each.name for each in release.assess().verdicts()] == ["k", "given_back", "confidentiality"]


def test_records_without_a_place_in_the_plot_are_not_called_safe() -> None:
    """A firm whose staff is missing can be recognised by its turnover, and is not in the plot."""
    table = firms().table.with_columns(staff=pl.when(pl.int_range(60) < 2).then(None).otherwise("staff"))
    policy = tc.Policy(neighbours=2, perturbation=0.2)
    release = tc.Plan([NOISE]).apply(table, WHO, policy, seed=1)
    assert release.verdict == (
        "NOT ASSESSED under this policy: 2 records have a numeric key that is missing or has no logarithm, and so no "
        "place in the confidentiality plot, but show another; set neighbours = false in the policy and limit "
        "distance_linkage, which compares what both files show"
    )
    linked = replace(policy, neighbours=None, limits={"distance_linkage": 0.9})
    assert tc.Plan([NOISE]).apply(table, WHO, linked, seed=1).safe
    # Who shows nothing cannot be recognised by it.
    nothing = table.with_columns(turnover=pl.when(pl.int_range(60) < 2).then(None).otherwise("turnover"))
    assert tc.Plan([NOISE]).apply(nothing, WHO, policy, seed=1).safe


def test_files_in_another_order_are_not_called_safe(tmp_path: Path) -> None:
    """Row by row every record would seem to be moved far, and no link to be right."""
    tc.write(firms(), tmp_path / "firms.parquet")
    tc.write(firms().take(np.random.default_rng(3).permutation(60)).table, tmp_path / "shuffled.parquet")
    loose = tc.Policy(neighbours=1, perturbation=0.01)
    linked = tc.Policy(neighbours=None, limits={"distance_linkage": 0.1})
    for policy in (loose, linked):
        found = tc.assess(tmp_path / "shuffled.parquet", WHO, policy, original=tmp_path / "firms.parquet")
        assert found.verdicts()[-1].holds is None
        assert found.not_assessed[-1].endswith("bring both files into the same order")
        assert not found.safe
    # With record numbers it is known who is who.
    release = tc.Plan([tc.RandomOrder()]).apply(firms(), WHO, linked, seed=1)
    assert release.verdict.startswith("NOT SAFE under this policy: distance_linkage")


def test_the_riskiest_records_are_those_with_the_fewest_alike() -> None:
    data = pl.DataFrame({"turnover": [10.0, 10.0, 10.0, 50.0, 20.0, 20.0]})
    found = tc.assess(data, tc.Scenario(numeric_keys=["turnover"]))
    assert found.riskiest(3)["record"].to_list() == [4, 5, 6]
    with pytest.raises(TacitaError, match=r"^k, risk and rate do not apply"):
        found.riskiest(1, values=True)


def test_dominance_without_keys_is_of_the_whole_file() -> None:
    data = pl.DataFrame({"turnover": [90.0, 6.0, 4.0, None]})
    found = tc.risk.dominance(data, tc.Scenario(numeric_keys=["turnover"]))
    assert found.to_frame().to_dicts() == [
        {"contributors": 3, "total": 100.0, "largest": 90.0, "dominated": True, "too_precise": True}
    ]
    assert found.row.tolist() == [0, 0, 0, -1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.04, 2.0, 50.0, None]), min_size=1, max_size=10),
    st.sampled_from([None, 2, 15]),
    st.sampled_from([{}, {"dominance": 1}, {"mixed_uniqueness": 2}, {"distance_linkage": 0.5}]),
)
def test_safe_is_never_said_of_nothing(
    cells: list[float | None], neighbours: int | None, limits: dict[str, float]
) -> None:
    data = pl.DataFrame({"x": cells}, schema={"x": pl.Float64})
    found = tc.assess(data, tc.Scenario(numeric_keys=["x"]), tc.Policy(neighbours=neighbours, limits=limits))
    judged = [each for each in found.verdicts() if find(each.name).for_numeric_keys] if found.safe else []
    assert found.safe == bool(judged)
    if limits != {"mixed_uniqueness": 2}:
        assert not found.safe
    assert found.to_json()
    assert str(found)


def test_the_command_line(tmp_path: Path) -> None:
    original, masked = tmp_path / "firms.csv", tmp_path / "masked.csv"
    tc.write(firms(), original)
    with pytest.warns(tc.TacitaWarning, match="no room to say that"):
        tc.write(tc.Plan([NOISE]).apply(firms(), WHO, seed=1).data, masked)
    (tmp_path / "policy.toml").write_text("format = 1\n[policy]\nneighbours = 2\nperturbation = 0.2\n")
    keys = ["--numeric-keys", "turnover,staff"]
    alone = CliRunner().invoke(app, ["assess", str(original), *keys, "--fail-if-unsafe"])
    assert alone.exit_code == 1, alone.output
    assert "NOT ASSESSED under this policy: k, risk and rate need categorical keys" in alone.output
    both = ["assess", str(masked), *keys, "--original", str(original), "--policy", str(tmp_path / "policy.toml")]
    ran = CliRunner().invoke(app, [*both, "--fail-if-unsafe", "--riskiest", "2", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert ran.output.startswith("SAFE under this policy: 60 records.")
    assert json.loads((tmp_path / "out" / "risk.json").read_text())["safe"] is True
    assert not (tmp_path / "out" / "risk.png").exists()
    assert (tmp_path / "out" / "internal" / "confidentiality.png").exists()


def test_plans_and_projects_of_numeric_keys(tmp_path: Path) -> None:
    tc.write(firms(), tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(
        'format = 1\n[[plan.steps]]\nstep = "round"\nvariables = ["turnover", "staff"]\nbase = 1e9\n'
    )
    keys = ["--numeric-keys", "turnover,staff", "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(app, ["protect", f"{tmp_path}/firms.csv", "--plan", f"{tmp_path}/plan.toml", *keys])
    assert ran.exit_code in (0, 1), ran.output
    assert "k, risk and rate do not apply" in ran.output
    scenario = '[data]\nfile = "firms.csv"\n[scenario]\nnumeric_keys = ["turnover", "staff"]\n'
    policy = "[policy]\nneighbours = false\n[policy.limits]\ndistance_linkage = 0.05\n"
    plan = '[[plan.steps]]\nstep = "round"\nvariables = ["turnover", "staff"]\nbase = 1e9\n'
    (tmp_path / "project.toml").write_text(f"format = 1\n{scenario}{policy}{plan}")
    done = tc.Project.load(tmp_path / "project.toml").run(seed=1)
    assert "distance_linkage was not measured" in done.before.headline
    assert done.safe == (tc.risk.distance_linkage(firms(), done.release, WHO).share_correct <= 0.05)
    assert done.safe


def test_one_neighbour_is_no_limit() -> None:
    """Every original looks like itself: with neighbours = 1 the file as it was came out SAFE."""
    release = tc.Plan([tc.RandomOrder()]).apply(firms(), WHO, tc.Policy(neighbours=1), seed=1)
    assert release.verdict.startswith("NOT ASSESSED under this policy: k, risk and rate need categorical keys")
    assert any(each.startswith("neighbours = 1 is no limit") for each in release.assess().cautions)


def test_a_file_whose_numeric_keys_nobody_judged_is_not_called_safe() -> None:
    """Every income was unique and declared known, and the file SAFE: the last line said that it did not enter."""
    people = pl.DataFrame({"sex": ["f", "m"] * 100, "income": [1000.0 + at for at in range(200)]})
    who = tc.Scenario(keys=["sex"], numeric_keys=["income"], population_size=1e6)
    found = tc.assess(people, who)
    assert not found.safe and not found.failures
    assert str(found).startswith("NOT ASSESSED under this policy: the numeric keys 'income' are known to the intruder")
    assert tc.assess(people, who, {"neighbours": None}).safe  # type: ignore[arg-type]
    by_limit = tc.Policy(limits={"mixed_uniqueness": 2})
    assert tc.assess(people, who, by_limit).safe, "many incomes are near each other"
    assert tc.assess(people, who, original=people).failures == (
        "200 records in the unsafe zone of the confidentiality plot",
    )
