"""The step that is proposed for a limit on a measure is applied with its parameters, and the limit holds afterwards."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.protect.steps import find_step
from tacita.result import Repair

NONE: dict[str, Any] = {"k": None, "risk": None, "rate": None, "given_back": None, "neighbours": False}


def limited(**limits: Any) -> tc.Policy:
    return tc.Policy(**NONE, limits=limits)


def enterprises(seed: int, size: int) -> pl.DataFrame:
    """Firms with ties, zeros, one category of one firm, and duplicate rows."""
    draws = np.random.default_rng(seed)
    turnover = draws.lognormal(5, 1.5, size).round(1)
    table = pl.DataFrame(
        {
            "industry": draws.choice(list("abcd"), size, p=[0.5, 0.3, 0.15, 0.05]),
            "region": draws.integers(1, 4, size),
            "turnover": np.where(draws.random(size) < 0.05, 0.0, turnover),
            "staff": draws.poisson(3, size),
            "weight": draws.choice([1.0, 2.5, 8.0], size),
        }
    )
    return pl.concat([table, table.head(size // 10)])


def step_of(repair: Repair) -> Any:
    return find_step(repair.step or "")(**repair.parameters)  # type: ignore[call-arg]


def alone(data: Any, who: tc.Scenario, policy: tc.Policy, released: Any = None) -> tuple[tc.RiskProfile, Repair]:
    profile = tc.assess(
        data if released is None else released, who, policy, original=None if released is None else data
    )
    (repair,) = profile.repairs
    return profile, repair


def holds_after(data: Any, who: tc.Scenario, policy: tc.Policy, step: Any, before: list[Any] | None = None) -> None:
    release = tc.Plan([*(before or []), step]).apply(data, who, policy)
    original = {"original": data} if before is not None else {}
    verdicts = tc.assess(release.data, release.scenario, policy, **original).verdicts()
    (limited_measure,) = policy.limits
    assert [each.holds for each in verdicts if each.name == limited_measure] == [True], verdicts


PRESENT = {
    "weights": {"weight": "weight"},
    "population": {"population_size": 4000},
    "census": {},
    "fraction": {"sampling_fraction": 0.3},
}


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(PRESENT)), st.sampled_from([2, 7.5, 31]), st.booleans())
def test_presence(seed: int, source: str, limit: float, missing: bool) -> None:
    data = enterprises(seed, 120)
    if missing:
        data = data.with_columns(pl.when(pl.col("staff") == 5).then(None).otherwise(pl.col("region")).alias("region"))
    who = tc.Scenario(keys=["industry", "region", "staff"], **PRESENT[source])
    policy = limited(presence=limit)
    profile = tc.assess(data, who, policy)
    if profile.safe:
        return
    (repair,) = profile.repairs
    assert repair.step == "suppress"
    assert repair.records == int(
        (profile.k_anonymity.table.sample_count < repair.parameters["k"]) @ np.array(profile.k_anonymity.table.records)
    )
    holds_after(data, who, policy, tc.Suppress(**repair.parameters, closed=False))


def test_presence_where_suppression_is_no_way_or_more_than_the_file() -> None:
    people = pl.DataFrame({"sex": list("fffmmmx"), "town": list("aabbbbc")})
    policy = limited(presence=3)
    for who in (tc.Scenario(keys=["sex", "town"], missing="own_category"), tc.Scenario(keys=["sex", "town"])):
        _, repair = alone(people, who, policy)
        assert repair.step == ("drop_records" if who.missing.name == "own_category" else "suppress")
        holds_after(people, who, policy, step_of(repair))
    _, repair = alone(people, tc.Scenario(keys=["sex", "town"]), limited(presence=8))
    assert repair.step is None and "Recode or Generalise the keys" in repair.text


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([{}, {"n": 2, "k": 60}, {"n": 1, "k": 50, "p": 40}, {"p": 100}]),
    st.sampled_from([["industry"], ["industry", "region"], []]),
)
def test_dominance(seed: int, rule: dict[str, float], by: list[str]) -> None:
    data = enterprises(seed, 60).with_columns(
        turnover=pl.when(pl.col("staff") == 4).then(None).otherwise(pl.col("turnover") ** 3)
    )
    who = tc.Scenario(keys=["industry"], numeric_keys=["turnover"])
    policy = limited(dominance={"limit": 0, "by": by, **rule})
    profile = tc.assess(data, who, policy)
    for repair in profile.repairs:
        assert repair.step in ("microaggregate", "drop_records") or repair.records == len(data)
        if repair.step is not None:
            holds_after(data, who, policy, step_of(repair))


def test_dominance_by_hand() -> None:
    """Three in the large cell can be averaged; of the two in the small one the second always knows the first."""
    firms = pl.DataFrame({"industry": list("aaaabb"), "turnover": [90.0, 6.0, 4.0, 4.0, 5.0, 5.0]})
    who = tc.Scenario(keys=["industry"], numeric_keys=["turnover"])
    _, repair = alone(firms, who, limited(dominance=0))
    assert (repair.step, repair.records) == ("drop_records", 6) or repair.step is None
    assert "2 unsafe cells, 1 of them of fewer than 3 contributors" in repair.text
    _, repair = alone(firms.head(4), who, limited(dominance=0))
    assert repair.text.startswith(
        "1 unsafe cell of 4 records: Microaggregate(variables=['turnover'], k=3, strata=['industry'], "
        "only={'unsafe': 'dominance'}) makes groups of 3 contribute alike and keeps the totals; or "
    )
    release = tc.Plan([step_of(repair)]).apply(firms.head(4), who, limited(dominance=0))
    assert release.data.table["turnover"].to_list() == [26.0] * 4


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([["industry"], ["industry", "region"]]))
def test_mixed_uniqueness(seed: int, k: int, keys: list[str]) -> None:
    data = enterprises(seed, 300).filter(pl.col("industry") != "d")
    for numeric in (["turnover"], ["turnover", "staff"]):
        who = tc.Scenario(keys=keys, numeric_keys=numeric)
        policy = limited(mixed_uniqueness=k)
        profile = tc.assess(data, who, policy)
        for repair in profile.repairs:
            assert repair.step == "round" or "rounding alone is not enough" in repair.text
            if repair.step is not None:
                holds_after(data, who, policy, step_of(repair))


def test_no_finer_rounding_of_those_that_are_tried_is_enough() -> None:
    sizes = pl.DataFrame({"x": [101.0, 104.0, 1234.0, 1250.0, 1390.0], "s": ["a"] * 5})
    who = tc.Scenario(keys=["s"], numeric_keys=["x"])
    policy = limited(mixed_uniqueness={"limit": 2, "tolerance": 0.01, "relative": True})
    _, repair = alone(sizes, who, policy)
    assert repair.parameters == {"variables": ["x"], "digits": 1}
    holds_after(sizes, who, policy, step_of(repair))
    for finer in (2, 3):
        release = tc.Plan([tc.Round("x", digits=finer)]).apply(sizes, who, policy)
        assert not tc.assess(release.data, release.scenario, policy).safe
    three = limited(mixed_uniqueness={"limit": 3, "tolerance": 0.01, "relative": True})
    _, repair = alone(sizes, who, three)
    assert repair.parameters == {"variables": ["x"], "base": 5000.0}
    holds_after(sizes, who, three, step_of(repair))


LINKAGES = ("distance_linkage", "one_to_one_linkage", "probabilistic_linkage")


@settings(max_examples=9, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LINKAGES), st.sampled_from([0.5, 0.1, 0.04]), st.booleans())
def test_linkage(seed: int, attack: str, limit: float, missing: bool) -> None:
    data = enterprises(seed, 150).with_columns(profit=pl.col("turnover") * 0.1 + pl.col("staff") * 7.3)
    if missing:
        data = data.with_columns(pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("profit").alias("profit"))
    who = tc.Scenario(numeric_keys=["turnover", "profit"])
    policy = limited(**{attack: limit})
    noise = tc.Noise(["turnover", "profit"], 0.02)
    release = tc.Plan([noise]).apply(data, who, policy)
    profile = tc.assess(release.data, release.scenario, policy, original=data)
    for repair in profile.repairs:
        assert repair.step == "microaggregate"
        holds_after(data, who, policy, step_of(repair), [noise])


def test_linkage_where_no_group_is_enough() -> None:
    data = enterprises(4, 60)
    who = tc.Scenario(keys=["industry"], numeric_keys=["turnover"])
    said = {}
    for name, limit in {"all": 0.0, "record": {"limit": 0.2, "of": "record"}, "keys": 0.1}.items():
        attack = "probabilistic_linkage" if name == "keys" else "distance_linkage"
        profile = tc.assess(data.with_row_index("nr"), who, limited(**{attack: limit}), original=data)
        (said[name],) = [each for each in profile.repairs if each.name == attack]
    assert all(each.step is None for each in said.values())
    assert "more perturbation of the variables" in said["all"].text and said["all"].text == said["record"].text
    assert "Microaggregate(variables=['turnover'], k=10, strata=['industry'])" in said["keys"].text


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.2, 0.07]), st.sampled_from([(), ("region",)]))
def test_rank_linkage(seed: int, limit: float, strata: tuple[str, ...]) -> None:
    data = enterprises(seed, 150)
    who = tc.Scenario(numeric_keys=["turnover"])
    policy = limited(rank_linkage={"limit": limit, "strata": list(strata)})
    noise = tc.Noise("turnover", 0.001)
    release = tc.Plan([noise]).apply(data, who, policy)
    profile = tc.assess(release.data, release.scenario, policy, original=data)
    for repair in profile.repairs:
        assert repair.step == "microaggregate" or "the smallest stratum has" in repair.text
        if repair.step is not None:
            holds_after(data, who, policy, step_of(repair), [noise])


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([["turnover"], ["staff"], ["turnover", "staff"]]),
    st.sampled_from([0.3, 0.15]),
    st.sampled_from([0.02, 0.05]),
)
def test_interval_disclosure(seed: int, names: list[str], limit: float, k: float) -> None:
    data = enterprises(seed, 3000)
    who = tc.Scenario(numeric_keys=names)
    policy = limited(interval_disclosure={"limit": limit, "k": k})
    small = tc.Noise(names, 0.001)
    release = tc.Plan([small]).apply(data, who, policy)
    profile = tc.assess(release.data, release.scenario, policy, original=data)
    (repair,) = profile.repairs
    if repair.step is None:
        assert "no noise is sure to keep" in repair.text
        return
    holds_after(data, who, policy, step_of(repair), [small])


def test_noise_that_no_amount_makes_enough() -> None:
    """Infinite noise leaves 2 Phi(k) - 1 inside: with k = 0.05 that is 4 %."""
    numbers = pl.DataFrame({"x": np.random.default_rng(1).normal(0, 9, 5000)})
    who = tc.Scenario(numeric_keys=["x"])
    for limit, step in ((0.03, None), (0.1, "noise")):
        _, repair = alone(numbers, who, limited(interval_disclosure=limit), numbers.with_columns(y=pl.lit(1)))
        assert repair.step == step


def test_noise_is_not_more_than_it_takes() -> None:
    """A third less would leave more inside than allowed."""
    numbers = pl.DataFrame({"x": np.random.default_rng(2).normal(0, 9, 20_000)})
    who, policy = tc.Scenario(numeric_keys=["x"]), limited(interval_disclosure=0.1)
    _, repair = alone(numbers, who, policy, numbers.with_columns(y=pl.lit(1)))
    amount = repair.parameters["amount"]
    release = tc.Plan([tc.Noise("x", amount * 0.67)]).apply(numbers, who, policy, seed=5)
    assert not tc.assess(release.data, release.scenario, policy, original=numbers).safe


@pytest.mark.parametrize("name", ["presence", "dominance", "mixed_uniqueness", "distance_linkage"])
def test_nothing_is_proposed_where_the_limit_holds(name: str) -> None:
    data = enterprises(1, 40)
    void = {"presence": 1, "dominance": 10**6, "mixed_uniqueness": 1, "distance_linkage": 1.0}[name]
    who = tc.Scenario(keys=["industry"], numeric_keys=["turnover"])
    assert not [
        each for each in tc.assess(data, who, limited(**{name: void}), original=data).repairs if each.name == name
    ]


TOWNS = 8


def towns(weights: list[float]) -> pl.DataFrame:
    """Towns of which each has a weight of its own, and is later released as one of two districts."""
    town = pl.Series("town", [at % TOWNS for at in range(40 * TOWNS)])
    return pl.DataFrame({"town": town, "sex": ["f", "m"] * 20 * TOWNS, "w": [weights[at] for at in town]})


DISTRICTS = tc.Recode("town", mapping={at: "north" if at < TOWNS // 2 else "south" for at in range(TOWNS)})
FIFTY = tc.Policy(k=50, risk=None, rate=None, given_back=None)


@pytest.mark.parametrize(
    ("weights", "digits"),
    [
        ([1003.0 + 30 * at for at in range(TOWNS)], 1),
        ([10_010.0 + at for at in range(TOWNS)], 2),
        ([2.04 + at / 100 for at in range(TOWNS)], 1),
        ([1.0, 2.0, 4.0, 8.0, 30.0, 60.0, 200.0, 500.0], None),
    ],
)
def test_a_weight_that_tells_a_key_is_rounded_to_the_digits_that_are_enough(
    weights: list[float], digits: int | None
) -> None:
    people, who = towns(weights), tc.Scenario(keys=["town", "sex"], weight="w")
    release = tc.Plan([DISTRICTS]).apply(people, who, FIFTY)
    (repair,) = release.assess().repairs
    assert repair.name == "k:keys with other columns"
    if digits is None:
        assert (repair.step, repair.parameters) == ("remove", {"variables": ["w"]})
        assert "no rounding to digits is enough, so Remove(['w'])" in repair.text
    else:
        assert (repair.step, repair.parameters) == ("round_weights", {"digits": digits})
        assert f"RoundWeights(digits={digits}) is enough" in repair.text
        finer = tc.Plan([DISTRICTS, tc.RoundWeights(digits=digits + 1)]).apply(people, who, FIFTY)
        assert not finer.safe
    done = tc.Plan([DISTRICTS, step_of(repair)]).apply(people, who, FIFTY)
    assert done.safe
    item = release.checklist()["weights"]
    assert (f"RoundWeights(digits={digits})" in item.way_out) == (digits is not None)
