"""Every measure and step there is: on an engine it gives what it gives in memory, or says what does instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_assess_on_engine import same
from test_compare_on_engine import near

import tacita as tc
import test_contracts as of_measures
from conftest import Opener
from protect import test_contracts_steps as of_steps
from tacita.check import TacitaError
from tacita.measure_index import MEASURES
from tacita.measures import find
from tacita.protect.step import Step
from tacita.protect.steps import own_steps

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
SEED = 2**100 + 7
NEEDS = re.compile(r"in memory|needs? all (records|values)|by all records|of all records|have no record numbers")
"""How a refusal says that all records are needed."""
OF_KEYS = [name for name in MEASURES if find(name).by_key]
OF_RECORDS = [name for name in MEASURES if not find(name).by_key and not find(name).by_sample]


def is_of_files(options: dict[str, Any]) -> bool:
    """Whether options hold another file, or name a column of records: those are tried where two files are."""
    return any(isinstance(each, pl.DataFrame) for each in options.values()) or "unit" in options


@pytest.mark.parametrize("name", OF_KEYS)
def test_measures_of_keys_give_what_they_give_in_memory(on_engine: Opener, name: str) -> None:
    """With each of its options: equal counts, all else to 1e-12; or a sentence on the option that cannot be had."""
    measure, agreed = find(name), 0
    who = of_measures.scenario(numeric_keys=[])
    files = [each.drop("income") for each in (of_measures.ORIGINAL, of_measures.RELEASED)][: measure.files]
    if measure.files == 1:
        who = of_measures.scenario(numeric_keys=[], household=None)
    large = [on_engine(each) for each in files]
    for options in of_measures.EXAMPLES[name]:
        if is_of_files(options) or "income" in str(options):
            continue
        memory = measure.function(*files, who, **options)
        try:
            found = measure.function(*large, who, **options)
        except TacitaError as error:
            assert NEEDS.search(str(error)), str(error)
            continue
        (same if measure.files == 1 else near)(memory.to_dict(), found.to_dict())
        agreed += 1
    assert agreed


@pytest.mark.parametrize("name", OF_RECORDS)
def test_other_measures_name_the_nearest_that_does_not_need_all_records(name: str, tmp_path: Path) -> None:
    measure, who = find(name), of_measures.scenario(numeric_keys=["income"])
    of_measures.ORIGINAL.write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet", temporary=tmp_path) as large, pytest.raises(TacitaError) as error:
        measure.function(*[large] * measure.files, who, **of_measures.EXAMPLES[name][0])
    said = str(error.value)
    assert "needs all records in memory" in said and said.count(". ") == 0
    named = [each for each in MEASURES if re.search(rf"\b{each}\b", said.partition("leave it out")[2])]
    assert named and all(find(each).by_key or find(each).by_sample for each in named)


def told(data: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The rows, categories as texts."""
    texts = pl.selectors.categorical() | pl.selectors.enum()
    return data.with_columns(texts.cast(pl.String), pl.selectors.float().fill_nan(None)).rows()


def refusal_or_release(step: Step, large: tc.LargeData, out: Path) -> str | list[tuple[Any, ...]]:
    try:
        tc.Plan([step]).apply(large, of_steps.WHO, seed=SEED).write(out, overwrite=True)
    except TacitaError as error:
        return str(error)
    return told(pl.read_parquet(out))


MORE = {
    "round_weights": [tc.RoundWeights(base=5, keep_total=False)],
    "noise": [tc.Noise(["income", "age"], amount=0.2)],
}
"""Examples of our own, of steps that take something of all records in those that every step is tried with."""
STREAMED = ("remove", "recode", "top_code", "bottom_code", "group_rare", "round", "suppress", "suppress_key",
            "drop_records", "pram", "noise", "round_weights")  # fmt: skip


@pytest.mark.parametrize("kind", STREAMED)
def test_steps_give_the_release_that_they_give_in_memory(on_engine: Opener, kind: str, tmp_path: Path) -> None:
    """Record by record, each step with each of its examples; or a sentence on the parameter that cannot be had."""
    agreed, data = 0, of_steps.FEW.table if kind == "suppress" else of_steps.DATA.table
    large = on_engine(data)
    for step in (*of_steps.EXAMPLES[kind], *MORE.get(kind, ())):
        found = refusal_or_release(step, large, tmp_path / "release.parquet")
        if isinstance(found, str):
            assert NEEDS.search(found), found
            continue
        assert found == told(tc.Plan([step]).apply(data, of_steps.WHO, seed=SEED).data.table)
        agreed += 1
    assert agreed


@pytest.mark.parametrize("kind", [each for each in of_steps.EXAMPLES if each not in STREAMED])
def test_other_steps_name_the_nearest_that_does_not_need_all_records(kind: str, tmp_path: Path) -> None:
    classes = [step.__name__ for step in own_steps() if step.kind() in STREAMED]
    of_steps.DATA.table.write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet", temporary=tmp_path) as large:
        for step in of_steps.EXAMPLES[kind]:
            said = refusal_or_release(step, large, tmp_path / "out.parquet")
            assert isinstance(said, str)
            nearest = said.partition("needs all records in memory; the nearest that does not: ")[2]
            assert said.count(". ") == 0 and any(re.search(rf"\b{name}\b", nearest) for name in classes), said
