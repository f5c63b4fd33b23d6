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
    by_key = {each.label: each.cells for each in large.changes}
    assert by_key == {each.label: each.cells for each in memory.changes if each.label in by_key}


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
        ([tc.Suppress(closed=False)], "keeps a household risk in memory only; ask for the rest, as Suppress(k=3, "),
        ([tc.Suppress(k=2, household_variables=["sex"], closed=False)], "pass household_variables=[]"),
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
        assert told.holds is None and "was not measured in a file on an engine" in told.why
