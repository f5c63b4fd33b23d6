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
        income=pl.int_range(n) * 7.3, name=pl.int_range(n).cast(pl.String), job=pl.col("ill").fill_null("w") + "1"
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
    "nothing": [tc.Remove(["name", "income"])],
}


@pytest.mark.usual_on_spark(name=1)
@pytest.mark.parametrize("name", PLANS)
def test_the_same_release_as_in_memory(
    on_engine: Opener, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.release.large_plan.BATCH", 64)
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
        ([tc.Noise("income", amount=0.1)], "needs all records in memory; the nearest that does not: Round or TopCode"),
        ([tc.Suppress(k=3)], "pass Suppress(closed=False)"),
        ([tc.Recode("age", width=3, only="w > 2")], "`only` and `strata` need all records in memory"),
        ([tc.TopCode("income", share=0.01)], "needs all records; give at=..."),
        ([tc.Pram("sex"), tc.Suppress(k=3, closed=False)], "put it first, or write the release of the first steps"),
        ([tc.Remove("nobody")], "nobody"),
    ],
)
def test_what_needs_all_records_says_so(tmp_path: Path, steps: list[Any], words: str) -> None:
    survey(60).write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large, pytest.raises(TacitaError) as error:
        tc.Plan(steps).apply(large, scenario())
    assert words in str(error.value)
