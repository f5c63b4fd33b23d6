"""The step Suppress: what it takes from scenario and policy, what it says, what it refuses."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from strategies import quietly
from tacita.check import TacitaError
from tacita.parameters import parameters_of
from tacita.protect.suppress.task import costs_of

SURVEY = tc.household_survey(400, population=9000, seed=5)
DATA = SURVEY.data.without(["person", "size", "education", "marital"]).with_columns(
    {"age": SURVEY.data.numbers("age") // 20}
)
"""Without columns that no test asks about: closing attacks each of them, alone and with others."""
KEYS = ["region", "sex", "age", "citizenship"]
WHO = tc.Scenario(keys=KEYS, weight="weight", household="household", household_variables=["region"])

WORK = tc.Scenario(keys=KEYS, key_sets={"work": ["status"]})


def applied(step: tc.Suppress, who: tc.Scenario = WHO, policy: tc.Policy | None = None) -> tc.Release:
    return tc.Plan([step]).apply(DATA, who, policy)


def violating(data: object, who: tc.Scenario, k: int, keys: list[str] | None = None) -> np.ndarray:
    table = tc.key_table(data, who, keys)
    return table.per_record(table.sample_count) < k


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "own_category", "partial(0.5)"])
def test_k_comes_from_the_policy_and_the_rule_from_the_scenario(rule: str) -> None:
    who = tc.Scenario(keys=KEYS, missing=rule)
    for policy in (tc.Policy(risk=None, rate=None), tc.Policy(k=5, risk=None, rate=None)):
        release = applied(tc.Suppress(), who, policy)
        assert not violating(release, who, release.policy.k or 0).any()
        assert release.changes[0].figures["rule"] == rule
    assert violating(applied(tc.Suppress(), who, tc.Policy(risk=None, rate=None)), who, 5).any()


def test_the_log_tells_cells_and_records_of_both_kinds() -> None:
    who = tc.Scenario(keys=KEYS)
    data = DATA.blanked({"age": np.arange(len(DATA)) % 5 == 0})
    release = tc.Plan([tc.Suppress(k=3, closed=False)]).apply(data, who)
    (change,) = release.changes
    start = violating(data, who, 3)
    touched = np.zeros(len(data), dtype=bool)
    for name in KEYS:
        touched |= release.data.missing(name) & ~data.missing(name)
    figures = change.figures
    assert figures["violating"] == start.sum()
    assert figures["touched"] == touched.sum() == change.records
    assert figures["touched_because_of_others"] == (touched & ~start).sum() > 0
    assert {name: count for name, count in figures["cells"].items() if count} == dict(change.suppressed)
    drawn_in = f"and in {(touched & ~start).sum():,} more that became unsafe when cells of others were suppressed"
    assert f"{start.sum():,} unsafe records, cells suppressed in all of them {drawn_in}" in str(change)
    again = tc.Plan([tc.Suppress(k=3)]).apply(release, who)
    assert "no record is unsafe" in str(again.changes[0])


@pytest.mark.parametrize(
    ("keys", "rule", "said"),
    [
        # Under the wildcard rule the first record's blank matches the second, which needs none of its own.
        ([(1, 1), (1, 2)], "wildcard", "2 unsafe records, cells suppressed in 1 of them, 1 of them safe through what "
         "was suppressed in other records"),
        ([(1, 1), (1, 2)], "one_way", "2 unsafe records, cells suppressed in all of them"),
        ([(1, 1), (1, 1), (1, 2)], "one_way", "1 unsafe record, cells suppressed in it"),
    ],
)  # fmt: skip
def test_the_log_accounts_for_every_unsafe_record(keys: list[tuple[int, int]], rule: str, said: str) -> None:
    people = pl.DataFrame(keys, schema=["region", "sex"], orient="row")
    who = tc.Scenario(keys=["region", "sex"], missing=rule)
    (change,) = tc.Plan([tc.Suppress(k=2, closed=False)]).apply(people, who).changes
    assert change.remarks == (said,)


def test_importance() -> None:
    ranks = {"region": 4, "sex": 1, "age": 2, "citizenship": 3}
    who = tc.Scenario(keys=KEYS)
    first = applied(tc.Suppress(k=3, importance=ranks), who).changes[0].suppressed
    last = (
        applied(tc.Suppress(k=3, importance={name: 5 - rank for name, rank in ranks.items()}), who)
        .changes[0]
        .suppressed
    )
    assert first.get("region", 0) > last.get("region", 0)
    assert first.get("sex", 0) < last.get("sex", 0)
    by_suda = applied(tc.Suppress(k=3, importance="suda"), who)
    given = applied(tc.Suppress(k=3, importance=tc.risk.suda(DATA, who).importance()), who)
    assert by_suda.data.table.equals(given.data.table)


def test_costs_and_ranks() -> None:
    assert costs_of(["a", "b", "c"], None) == [1.0, 1.0, 1.0]
    assert costs_of(["a", "b", "c"], {"b": 1}) == [1.0, 3.0, 1.0]
    with pytest.raises(TacitaError, match=r"^importance must be ranks from 1 to the 2 keys; got 3\.$"):
        costs_of(["a", "b"], {"a": 3})


def test_combinations_of_keys() -> None:
    who = tc.Scenario(keys=KEYS)
    release = applied(tc.Suppress(combs={2: 8, 3: 4}), who)
    for size, k in ((2, 8), (3, 4)):
        for keys in tc.risk.unsafe_combinations(DATA, who, largest=size).combinations:
            if len(keys) == size:
                assert not violating(release, who, k, list(keys)).any()
    assert violating(release, who, 6).any()
    one = applied(tc.Suppress(k=3, combs=[1, 2, 3, 4]), who).data.table
    assert one.equals(applied(tc.Suppress(k=3), who).data.table)


def test_key_sets() -> None:
    who = tc.Scenario(keys=KEYS, key_sets={"work": {"keys": ["status", "age", "region"], "k": 5}})
    release = applied(tc.Suppress(), who)
    assert not violating(release, who, 3).any()
    assert not violating(release, who, 5, ["status", "age", "region"]).any()
    only_work = applied(tc.Suppress(key_sets=["work"]), who)
    assert not violating(only_work, who, 5, ["status", "age", "region"]).any()
    assert violating(only_work, who, 3).any()
    with pytest.raises(TacitaError, match=r"^key_sets not in the scenario: 'home'\. They are 'keys', 'work'\.$"):
        applied(tc.Suppress(key_sets=["home"]), who)


def test_strata() -> None:
    who = tc.Scenario(keys=["sex", "age"], strata=["region"])
    release = applied(tc.Suppress(k=2), who)
    for region in DATA.table["region"].unique():
        here = release.data.table.filter(pl.col("region") == region)
        assert not violating(here, who, 2).any()
    together = applied(tc.Suppress(k=2, strata=[]), who)
    assert sum(together.changes[0].suppressed.values()) < sum(release.changes[0].suppressed.values())
    # A key that is a stratum is shown to everybody, and never suppressed.
    both = applied(tc.Suppress(k=2), tc.Scenario(keys=["region", "sex", "age"], strata=["region"]))
    assert both.data.table.equals(release.data.table)
    with pytest.raises(TacitaError, match="all keys are strata"):
        applied(tc.Suppress(), tc.Scenario(keys=["region"], strata=["region"]))


def test_ghosts_follow() -> None:
    data = DATA.with_columns({"birth_year": 2020 - DATA.numbers("age")})
    who = tc.Scenario(keys=KEYS)
    release = tc.Plan([tc.Suppress(ghosts={"age": ["birth_year"], "sex": "birth_year"})]).apply(data, who)
    gone = release.data.missing("age") | release.data.missing("sex")
    assert gone.any()
    assert (release.data.missing("birth_year") == gone).all()
    with pytest.raises(TacitaError, match="a ghost variable cannot be a key at the same time: 'sex'"):
        tc.Plan([tc.Suppress(ghosts={"age": ["sex"]})]).apply(data, who)


def test_household_variables_go_for_everybody() -> None:
    release = applied(tc.Suppress(k=3, importance={"region": 4, "sex": 1, "age": 2, "citizenship": 1}))
    gone = pl.DataFrame({"household": DATA.table["household"], "gone": release.data.missing("region")})
    assert gone["gone"].any()
    assert gone.group_by("household").agg(pl.col("gone").n_unique())["gone"].max() == 1
    assert release.changes[0].figures["touched_with_household"] > 0
    assert "only because housemates need it" in str(release)
    assert not violating(release, WHO, 3).any()
    apart = applied(
        tc.Suppress(k=3, importance={"region": 4, "sex": 1, "age": 2, "citizenship": 1}, household_variables=[])
    )
    assert apart.changes[0].figures["touched_with_household"] == 0


def test_only_some_records() -> None:
    who = tc.Scenario(keys=KEYS)
    some = DATA.with_columns({"chosen": np.arange(len(DATA)) % 2})
    release = tc.Plan([tc.Suppress(k=3, only="chosen")]).apply(some, who)
    chosen = some.numbers("chosen") > 0
    still = violating(release, who, 3)
    assert not still[chosen].any()
    assert still[~chosen].any()
    assert release.changes[0].figures["left"] == still.sum()
    assert f"{still.sum():,} records outside `only` still unsafe" in str(release)
    by_number = tc.Suppress(k=3, only=some.record[chosen])
    assert tc.Plan([by_number]).apply(some, who).data.table.equals(release.data.table)


def test_record_numbers_that_nobody_has_are_said() -> None:
    who = tc.Scenario(keys=KEYS)
    release = applied(tc.Suppress(only=[0, 1, 2]), who)
    assert "1 record number of `only` not in the file" in str(release)
    assert "not in the file" not in str(applied(tc.Suppress(only=[1, 2]), who))


def test_a_member_of_the_household_outside_is_said() -> None:
    people = pl.DataFrame({"region": [1, 1, 2, 2], "sex": [1, 2, 1, 1], "hid": [1, 1, 2, 3]})
    who = tc.Scenario(keys=["region", "sex"], household="hid", household_variables=["region"])
    release = tc.Plan([tc.Suppress(k=2, only=[1, 3, 4])]).apply(people, who)
    assert release.data.table.equals(people)
    said = "2 records outside `only`, or with a member of their household outside, still unsafe"
    assert said in str(release)


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "partial(0.5)", "own_category"])
@pytest.mark.parametrize("options", [{}, {"combs": {2: 5, 3: 3}}, {"household_risk": 0.3}])
def test_the_work_is_told_and_can_be_stopped(rule: str, options: dict[str, object]) -> None:
    who = tc.Scenario(keys=KEYS[1:], household="household", missing=rule)
    told: list[float] = []
    with quietly():
        tc.Plan([tc.Suppress(**options)]).apply(DATA, who, progress=lambda done, what: told.append(done))  # type: ignore[arg-type]
    assert len(told) > 8
    assert told == sorted(told)

    def stop(done: float, what: str) -> None:
        if done > 0.2:
            raise KeyboardInterrupt

    with quietly(), pytest.raises(KeyboardInterrupt):
        tc.Plan([tc.Suppress(**options)]).apply(DATA, who, progress=stop)  # type: ignore[arg-type]


def test_only_the_unsafe_zone() -> None:
    business = tc.business_survey(300, seed=2)
    released = tc.log_noise(business.data, business.scenario.numeric_keys, sd=0.4, seed=3)
    plot = tc.risk.confidentiality(business.data, released, business.scenario, k=4)
    step = tc.Suppress(only=plot)
    assert step.only == tuple(plot.record[plot.unsafe].tolist())
    assert 0 < len(step.only) < 300
    who = tc.Scenario(keys=["industry"])
    release = tc.Plan([tc.Suppress(k=40, only=plot)]).apply(business.data, who)
    touched = release.data.missing("industry")
    assert not (touched & ~plot.unsafe).any()


def test_a_blank_that_means_not_applicable_is_not_made_by_suppression() -> None:
    people = pl.DataFrame({"job": ["a", "a", None, None, "b", "b"], "sex": ["f", "f", "f", "f", "m", "f"]})
    who = tc.Scenario(keys=["job", "sex"], not_applicable={"job": [""]})
    release = tc.Plan([tc.Suppress(k=2)]).apply(people, who)
    assert release.data.table["job"].to_list() == people["job"].to_list()
    assert release.data.table["sex"].to_list() == ["f", "f", "f", "f", None, None]
    assert not violating(release, who, 2).any()
    assert "not suppressed, since a blank there means not applicable: 'job'" in str(release)


def test_k_and_risk_together() -> None:
    who = tc.Scenario(keys=KEYS, weight="weight")
    release = applied(tc.Suppress(k=3, risk=0.01), who)
    assert not violating(release, who, 3).any()
    assert tc.risk.individual_risk(release, who).risk.max() <= 0.01
    only_risk = applied(tc.Suppress(risk=0.05), who)
    assert violating(only_risk, who, 3).any()


def test_every_parameter_is_declared() -> None:
    declared = {each.name: each for each in parameters_of(tc.Suppress)}
    own = ("k", "importance", "combs", "key_sets", "strata", "ghosts", "household_variables", "risk", "household_risk")
    assert all(declared[name].doc for name in own)
    assert declared["k"].wanted == "whole number at least 2"
    assert declared["risk"].wanted == "number in (0, 1], or true"
    assert tc.Suppress(risk=True, household_risk=False).risk is True


def test_other_rules_are_refused_with_the_way_out() -> None:
    with pytest.raises(TacitaError, match=r"not 'conservative'; suppress under one of these, then assess the release"):
        applied(tc.Suppress(), tc.Scenario(keys=KEYS, missing="conservative"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k must be at least 2; got 1."),
        ({"importance": "rank"}, "importance must be one of 'suda'; got 'rank'."),
        ({"importance": {"age": 0}}, "importance of 'age' must be at least 1; got 0."),
        ({"combs": {3: 1}}, "k of combs must be at least 2; got 1."),
        ({"combs": {"²": 3}}, "a size of combs must be a whole number of at least 1; got '²'."),
        ({"combs": "three"}, "a size of combs must be a whole number of at least 1; got 'three'."),
        ({"risk": 2}, "risk must be in (0, 1]; got 2."),
        ({"household_risk": 0.0}, "household_risk must be in (0, 1]; got 0.0."),
        ({"only": 5}, "only must be a column, record numbers or a result with an unsafe zone; got int."),
    ],
)
def test_bad_parameters(options: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        tc.Suppress(**options)  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("step", "who", "policy", "message"),
    [
        (tc.Suppress(), WHO, tc.Policy(k=None, risk=None, rate=None), "the policy has no k; pass k=3 to the step."),
        (tc.Suppress(importance={"size": 1}), WHO, None, "importance must be of keys; 'size' not among 'region', "),
        (tc.Suppress(combs=[7]), WHO, None, "combs must be sizes up to the 4 keys; got 7."),
        (tc.Suppress(strata=["rregion"]), WHO, None, "strata not in the data: 'rregion'. Did you mean 'region'?"),
        (tc.Suppress(household_risk=0.1), tc.Scenario(keys=KEYS), None, "household_risk and household_variables need"),
        (tc.Suppress(), tc.Scenario(numeric_keys=["income"]), None, "suppression needs categorical keys"),
        (tc.Suppress(ghosts={"age": ["born"]}), WHO, None, "variables of 'suppress' not in the data: 'born'."),
        (tc.Suppress(ghosts={"income": ["status"]}), WHO, None, "ghosts must be of keys; 'income' not among"),
        (tc.Suppress(ghosts={"age": ["weight"]}), WHO, None, "a ghost variable cannot be the weight at the same time"),
        (tc.Suppress(ghosts={"age": ["household"]}), WHO, None, "a ghost variable cannot be the household"),
        (tc.Suppress(ghosts={"age": ["status"]}, strata=["status"]), WHO, None, "a ghost variable cannot be a stratum"),
        (tc.Suppress(household_variables=["status"]), WHO, None, "household_variables must be of keys; 'status' not"),
        (tc.Suppress(key_sets=["work"], combs=[1]), WORK, None, "combs are combinations of the main keys, which are"),
        (tc.Suppress(key_sets=["work"], importance="suda"), WORK, None, "importance 'suda' is of the main keys, which"),
        (tc.Suppress(k=10_000), WHO, None, "k must be at most the"),
    ],
)
def test_what_cannot_be_done(step: tc.Suppress, who: tc.Scenario, policy: tc.Policy | None, message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        applied(step, who, policy)
    assert str(caught.value).startswith(message)


def test_to_a_file_and_back() -> None:
    step = tc.Suppress(combs={3: 10, 4: 5}, strata=[], ghosts={"age": "born"}, importance={"age": 2}, only=[3, 5])
    plan = tc.Plan([step])
    assert tc.Plan.from_toml(plan.to_toml()) == plan
    assert plan.steps[0].combs == {3: 10, 4: 5}  # type: ignore[attr-defined]
