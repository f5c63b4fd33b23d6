"""A release made on an engine is the one made in memory, record by record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_assess_on_engine import people, scenario

import tacita as tc
from conftest import Opener
from tacita.check import TacitaError

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
SEED = 2**100 + 1


def survey(n: int = 400) -> pl.DataFrame:
    """People with an income and a name."""
    return people(n).with_columns(
        income=pl.int_range(n) * 7.3,
        number=pl.int_range(n),
        half=pl.when(pl.int_range(n) % 7 > 0).then(pl.int_range(n) // 3),
        name=pl.int_range(n).cast(pl.String),
        job=pl.col("ill").fill_null("w") + "1",
    )


PLANS = {
    "recode, suppress, pram": [
        tc.Recode("age", width=3),
        tc.Suppress(k=3, closed=False),
        tc.Pram("job", pd=0.7),
        tc.Remove("name"),
    ],
    "pram of a key, numbers": [
        tc.GroupRare("Region", least=110),
        tc.Pram(["Region", "sex"], pd=0.6),
        tc.Round("income", base=100),
        tc.TopCode("income", at=2000),
        tc.BottomCode("age", at=2),
    ],
    "the policy": [tc.Suppress(closed=False)],
    "noise": [
        tc.Noise(["income", "half"], amount=0.3, keep_signs=True),
        tc.Noise("score", amount=0.2, method="multiplicative"),
        tc.TopCode("number", at=170.5),
        tc.RoundWeights(base=5, keep_total=False),
    ],
    "some records": [
        tc.Recode("age", width=3, only="sex = 'f'"),
        tc.GroupRare("job", least=20, strata=["sex"]),
        tc.SuppressKey("age", risk=0.2, only={"unsafe": "k_anonymity"}),
        tc.Round("income", base=100, only="income > 1000 and sex = 'f'"),
        tc.Round("number", base=10, only=[3, 5, 77]),
        tc.Pram("ill", pd=0.5, strata=["Region", "sex"]),
    ],
    "records dropped": [tc.DropRecords("age = 3 or sex = 'm' and age = 5"), tc.Suppress(k=2, closed=False)],
    "nothing": [tc.Remove(["name", "income"])],
}


def same_log(large: Any, memory: tc.Release) -> None:
    """The cells that steps on distinct keys changed, and what these say of records, are those in memory."""
    ours = {each.label: each for each in memory.changes}
    for each in large.changes:
        assert each.cells == ours[each.label].cells
        # Of dropped records nothing is said but how many.
        assert not each.remarks or (each.remarks, each.figures) == (ours[each.label].remarks, ours[each.label].figures)


@pytest.mark.usual_on_spark(name=1)
@pytest.mark.parametrize("name", PLANS)
def test_the_same_release_as_in_memory(
    on_engine: Opener, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.release.large_release.BATCH", 64)
    plan, who, given = tc.Plan(PLANS[name]), scenario(), survey()
    safe = tc.Policy(rate=False, risk=0.9) if name == "the policy" else None
    memory = plan.apply(given, who, safe, seed=SEED)
    large = plan.apply(on_engine(given), who, safe, seed=SEED)
    large.write(tmp_path / "release.parquet")
    ours = memory.data.table.with_columns(pl.selectors.float().fill_nan(None)).with_columns(
        pl.selectors.categorical().cast(pl.String), pl.selectors.enum().cast(pl.String)
    )
    assert pl.read_parquet(tmp_path / "release.parquet").rows() == ours.rows()
    same_log(large, memory)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([tc.Microaggregate("income", k=3)], "needs all records in memory; the nearest that does not: Round or Noise"),
        ([tc.Noise("income", amount=0.1, method="exact")], "needs all records in memory for method='exact'"),
        ([tc.Suppress(k=3)], "pass Suppress(closed=False)"),
        ([tc.Recode("age", width=3, only="w > 2")], "by what has more than 5 values"),
        ([tc.TopCode("income", share=0.01)], "sets a share, mean or median by all records; give at=..."),
        ([tc.Pram("sex"), tc.Suppress(k=3, closed=False)], "put it first, or write the release of the first steps"),
        ([tc.Remove("nobody")], "nobody"),
        ([tc.DropRecords(larger_than=2)], "drops whole households in memory only"),
        ([tc.RoundWeights()], "pass RoundWeights(keep_total=False)"),
    ],
)
def test_what_needs_all_records_says_so(
    tmp_path: Path, steps: list[Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.release.large_plan.MOST_VALUES", 5)
    survey(60).write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large, pytest.raises(TacitaError) as error:
        tc.Plan(steps).apply(large, scenario(household="hid"), tc.Policy(household_risk=0.2))
    assert words in str(error.value)


def families(n: int = 400) -> pl.DataFrame:
    """People in households of one to five who share region, score and age class; some in none."""
    members = pl.int_range(n, eager=True)
    first = pl.col(["Region", "score", "age"]).first().over("hid")
    found = survey(n).with_columns(hid=pl.when(members % 23 > 0).then((members * 0.4).floor().cast(pl.Int64) // 2))
    return found.with_columns(
        pl.when(pl.col("hid").is_null()).then(pl.col(["Region", "score", "age"])).otherwise(first)
    )


SHARED = ["Region", "score"]
OF_HOUSEHOLDS = {
    "declared": ([tc.Recode("age", width=3), tc.Suppress(k=3, closed=False), tc.Pram("job", pd=0.7)], {}, "one_way"),
    "named in the step": ([tc.Suppress(k=4, household_variables=["Region", "age"], closed=False)], {}, "one_way"),
    "parts of keys": ([tc.Suppress(combs={2: 4, 3: 2}, strata=["sex"], closed=False)], {}, "one_way"),
    "some records": ([tc.Suppress(k=3, only="income > 700", closed=False)], {}, "one_way"),
    "risk": ([tc.Suppress(k=2, risk=0.08, closed=False)], {}, "one_way"),
    "household risk": ([tc.Suppress(household_risk=0.3, household_variables=[], closed=False)], {}, "one_way"),
    "the policy": ([tc.Suppress(closed=False)], {"household_risk": 0.35, "risk": 0.3, "rate": False}, "one_way"),
    "one key": ([tc.SuppressKey("Region", risk=0.1), tc.Suppress(k=2, closed=False)], {}, "one_way"),
    "wildcard": ([tc.Suppress(k=3, closed=False)], {}, "wildcard"),
    "own category": ([tc.Suppress(k=2, importance={"sex": 1}, closed=False)], {}, "own_category"),
    "no longer known": ([tc.Remove("hid"), tc.Suppress(k=3, closed=False)], {}, "one_way"),
}


@pytest.mark.usual_on_spark(name=1)
@pytest.mark.parametrize("name", OF_HOUSEHOLDS)
def test_housemates_are_protected_as_in_memory(
    on_engine: Opener, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.release.large_release.BATCH", 64)
    steps, limits, rule = OF_HOUSEHOLDS[name]
    plan, given = tc.Plan(steps), families().with_columns(income=pl.int_range(400) // 40 * 100)
    who = scenario(household="hid", household_variables=SHARED, missing=rule)
    safe = tc.Policy(**({"given_back": None, "household_risk": 0.9} | limits))
    memory = plan.apply(given, who, safe, seed=SEED)
    large = plan.apply(on_engine(given), who, safe, seed=SEED)
    large.write(tmp_path / "release.parquet")
    found, ours = (
        each.with_columns(pl.selectors.float().fill_nan(None), pl.selectors.categorical().cast(pl.String))
        for each in (pl.read_parquet(tmp_path / "release.parquet"), memory.data.table)
    )
    assert found.rows() == ours.rows()
    assert any(each.cells for each in memory.changes)
    same_log(large, memory)
    if "hid" in found.columns:
        told = found.drop_nulls("hid").group_by("hid").agg(pl.col(SHARED[0]).is_null().n_unique())
        assert name in ("household risk", "named in the step", "own category") or told[SHARED[0]].max() == 1
    if name not in ("no longer known", "household risk"):
        first, both = {}, [release.assess().verdicts() for release in (large, memory)]
        for verdicts in both:
            found = {each.name: each.to_dict() for each in reversed(verdicts)}
            first = first or found
            assert {name: found[name] for name in first} == first


def test_records_that_are_rows_of_their_own_must_fit_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    families(60).write_parquet(tmp_path / "a.parquet")
    who = scenario(household="hid", household_variables=SHARED)
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        monkeypatch.setattr("tacita.keys.condensed.BYTES_PER_VALUE", large.memory // 300)
        with pytest.raises(
            TacitaError, match=r"needs the keys of all 60 records in memory, about .* household_variables"
        ):
            tc.Plan([tc.Suppress(k=2, closed=False)]).apply(large, who)
        tc.Plan([tc.Suppress(k=2, closed=False, household_variables=[])])


OF_KEYS = [
    tc.Recode("age", width=3),
    tc.Suppress(k=3, closed=False),
    tc.Pram("job", pd=0.7),
    tc.Remove(["name", "w"]),
    tc.Noise("income", amount=0.2),
]


@pytest.mark.parametrize("rule", ["one_way", "no_match"])
def test_the_risk_of_a_release_is_that_in_memory(rule: str, tmp_path: Path) -> None:
    """Before anything is written, by the weights as they were, with households and sensitive variables."""
    who = scenario(household="hid", sensitive=["ill"], missing=rule)
    safe = tc.Policy(given_back=None, household_risk=0.3, limits={"l_diversity": 2})
    given, plan = survey(300), tc.Plan([each for each in OF_KEYS if rule == "one_way" or each.kind() != "suppress"])
    memory = plan.apply(given, who, safe, seed=SEED)
    given.write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet", temporary=tmp_path) as large:
        found = plan.apply(large, who, safe, seed=SEED)
        ours, theirs = memory.assess(), found.assess()
        assert [each.to_dict() for each in theirs.verdicts()] == [each.to_dict() for each in ours.verdicts()]
        assert theirs.expected == pytest.approx(ours.expected, rel=1e-12)
        assert theirs.household is not None and ours.household is not None
        assert theirs.household.expected_persons == pytest.approx(ours.household.expected_persons, rel=1e-12)
        theirs.write_records(tmp_path / "risk.parquet")
    written = pl.read_parquet(tmp_path / "risk.parquet").sort("record")
    assert written["household_risk"].to_list() == pytest.approx(ours.household.risk.tolist(), rel=1e-12)


def test_perturbed_keys_are_not_safe_by_their_counts(tmp_path: Path) -> None:
    survey().write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        release = tc.Plan([tc.Pram("sex", pd=0.7)]).apply(large, scenario(), tc.Policy(given_back=None, k=2, risk=None))
        assert not release.safe
        assert {each.holds for each in release.assess().verdicts()} == {None}
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        release = tc.Plan([tc.Round("income", base=10)]).apply(large, scenario(), tc.Policy())
        (told,) = (each for each in release.assess().verdicts() if each.name == "given_back")
        assert told.holds is None and "is measured once nothing else is against the release" in told.why


CLASSES = [tc.Recode("age", width=3), tc.Suppress(k=3, closed=False), tc.Remove(["name", "number", "half", "income"])]
GIVEN_BACK: dict[str, list[Any]] = {
    "by housemates": [*CLASSES, tc.Remove(["job"])],
    "by another column": [tc.Suppress(k=3, closed=False), tc.Remove(["name", "number", "half", "income", "hid"])],
    "with records dropped": [tc.DropRecords("age = 3"), *CLASSES, tc.Remove(["hid"])],
}


@pytest.mark.usual_on_spark(name=1)
@pytest.mark.parametrize("name", GIVEN_BACK)
def test_what_is_given_back_is_measured_before_a_release_is_written(on_engine: Opener, name: str) -> None:
    """As in memory, by the release's own records: it was NOT ASSESSED until it was written and compared."""
    given, who = families(), scenario(household="hid")
    safe, plan = tc.Policy(k=2, risk=False, rate=False), tc.Plan(GIVEN_BACK[name])
    memory, large = (plan.apply(each, who, safe, seed=SEED) for each in (given, on_engine(given)))
    ours, theirs = ([each.to_dict() for each in release.assess().verdicts()] for release in (memory, large))
    assert theirs == ours
    assert False in {each["holds"] for each in ours if each["name"] == "given_back"}


def test_a_release_is_safe_before_it_is_written(on_engine: Opener) -> None:
    given, who = people(400).select("Region", "age", "sex"), tc.Scenario(keys=["Region", "age", "sex"])
    plan, safe = tc.Plan([tc.Suppress(k=3, closed=False)]), tc.Policy(k=3, risk=False, rate=False)
    memory, large = (plan.apply(each, who, safe) for each in (given, on_engine(given)))
    assert (memory.verdict, large.verdict) == ("SAFE under this policy", "SAFE under this policy")
    assert sum(large.changes[0].cells.values()) == 15


def test_what_cannot_be_held_against_the_original_says_why(tmp_path: Path) -> None:
    survey().write_parquet(tmp_path / "a.parquet")
    plan = tc.Plan([tc.Remove(["name"]), tc.GroupRare("Region", least=110)])
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        release = plan.apply(large, scenario(missing="no_match"), tc.Policy(k=False, risk=False, rate=False))
        (told,) = (each for each in release.assess().verdicts() if each.name == "given_back")
    assert told.holds is None and "under rule 'no_match' an original and its release need all records" in told.why
