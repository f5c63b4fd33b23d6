"""The same assessment in memory and on each engine: counts and sums equal exactly, all else to 1e-12."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from conftest import Opener
from tacita.check import TacitaError

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)

RULES = ("one_way", "no_match", "wildcard", "conservative", "partial(0.5)", "own_category")


def people(n: int, seed: int = 1) -> pl.DataFrame:
    """Random people with missing values in keys and households, ties, weights below 1, numbers and NaN among keys."""
    draw = np.random.Generator(np.random.Philox(seed))

    def gaps(values: Any, share: float = 0.05) -> list[Any]:
        lost = draw.random(n) < share
        return [None if gone else value for gone, value in zip(lost, np.asarray(values).tolist(), strict=True)]

    score = draw.integers(0, 4, n) / 2
    score[draw.random(n) < 0.03] = np.nan
    return pl.DataFrame(
        {
            "Region": gaps(draw.choice(["a", "b", "c", ""], n)),
            "age": gaps(draw.integers(0, 9, n)),
            "sex": draw.choice(["f", "m"], n),
            "score": score,
            "hid": gaps(np.arange(n) // 3, 0.02),
            "w": draw.uniform(0.5, 30, n),
            "ill": gaps(draw.choice(["x", "y", "z"], n)),
        }
    )


def scenario(**given: Any) -> tc.Scenario:
    usual = {"weight": "w", "model": "benedetti_franconi"}
    return tc.Scenario(keys=["Region", "age", "sex", "score"], **(usual | given))


def same(ours: Any, theirs: Any, at: str = "") -> None:
    """Whole numbers and texts are equal; other numbers agree to 1e-12."""
    if isinstance(ours, dict):
        assert set(ours) == set(theirs), at
        for name in ours:
            same(ours[name], theirs[name], f"{at}/{name}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), at
        for place, pair in enumerate(zip(ours, theirs, strict=True)):
            same(*pair, f"{at}/{place}")
    elif isinstance(ours, float):
        assert theirs == pytest.approx(ours, rel=1e-12, abs=0), at
    else:
        assert ours == theirs, at


def same_records(memory: tc.RiskProfile, file: Path) -> None:
    """What was written by record is what memory says of it, record by record."""
    written = pl.read_parquet(file).sort("record")
    for name in memory.records.columns:
        first, colon, rest = name.partition(":")
        column = {"f": "sample_count", "F": "population_count"}.get(first, first) + colon + rest
        ours, theirs = (each.to_numpy().astype(float) for each in (memory.records[name], written[column]))
        np.testing.assert_allclose(theirs, ours, rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(written["violations"], memory.records["violations"])


@pytest.mark.usual_on_spark(rule=2)
@pytest.mark.parametrize("rule", RULES)
def test_all_rules_for_missing_values(on_engine: Opener, rule: str, tmp_path: Path) -> None:
    survey, who = people(400), scenario(household="hid", sensitive=["ill"], missing=rule)
    safe = tc.Policy(household_risk=0.3, limits={"l_diversity": 2})
    wanted = ["suda", "unsafe_combinations", "benchmark", "t_closeness"]
    memory = tc.assess(survey, who, safe, measures=wanted)
    large = tc.assess(on_engine(survey), who, safe, measures=wanted)
    same(memory.to_dict(), large.to_dict())
    counts = [sorted(each.individual.table.population_count.tolist()) for each in (memory, large)]
    assert counts[0] == counts[1]
    large.write_records(tmp_path / "risk.parquet")
    same_records(memory, tmp_path / "risk.parquet")


@pytest.mark.usual_on_spark(given=1)
@pytest.mark.parametrize(
    "given",
    [
        {"attack": "M5"},
        {"attack": "M2"},
        {"weight": None, "population_size": 5000},
        {"weight": None, "sampling_fraction": 0.1},
        {"weight": None},
        {"key_sets": {"few": ["age", "sex"]}},
        {"not_applicable": {"Region": [""]}},
    ],
    ids=str,
)
def test_scenarios(on_engine: Opener, given: dict[str, Any], tmp_path: Path) -> None:
    survey, who = people(300, seed=2), scenario(**given)
    memory, large = tc.assess(survey, who), tc.assess(on_engine(survey), who)
    same(memory.to_dict(), large.to_dict())
    large.write_records(tmp_path / "risk.parquet")
    same_records(memory, tmp_path / "risk.parquet")


@pytest.mark.usual_on_spark(engine=1)
def test_models_of_weights_and_keys(on_engine: Opener) -> None:
    survey = people(300, seed=3).select("sex", "age", pl.col("w") + 5).drop_nulls()
    who = tc.Scenario(keys=["sex", "age"], weight="w", model="latent")
    files = (survey, on_engine(survey))
    memory, large = (tc.assess(each, who, model="latent", measures="loglinear_risk") for each in files)
    same(memory.to_dict(), large.to_dict())


@pytest.mark.usual_on_spark(survey=0)
@pytest.mark.parametrize("survey", [people(1), people(40).with_columns(pl.lit("x").alias("Region"), w=pl.lit(1.0))])
def test_one_record_one_category_weights_of_one(on_engine: Opener, survey: pl.DataFrame) -> None:
    who, safe = scenario(household="hid"), tc.Policy(k=False)
    same(tc.assess(survey, who, safe).to_dict(), tc.assess(on_engine(survey), who, safe).to_dict())


def test_distinct_keys_stand_for_records(on_engine: Opener) -> None:
    """By hand: three people, two of them alike."""
    survey = pl.DataFrame({"sex": ["f", "f", None], "w": [10.25, 2.5, 4.0]})
    large = tc.assess(on_engine(survey), tc.Scenario(keys=["sex"], weight="w"))
    table = large.individual.table
    assert (large.size, table.records.tolist(), table.sample_count.tolist()) == (3, [1, 2], [3.0, 2.0])
    assert table.population_count.tolist() == [16.75, 12.75]
    assert large.records["records"].to_list() == [1, 2]


def test_keys_of_all_kinds(on_engine: Opener, tmp_path: Path) -> None:
    """Numbers without sign, small numbers, dates, truth values, a column without values: in two groups, by hand."""
    kinds = (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int8, pl.Float32)
    survey = pl.DataFrame([pl.Series(str(kind), [1, 1, None, 1], dtype=kind) for kind in kinds]).with_columns(
        nothing=pl.lit(None), yes=pl.col("UInt8") == 1, day=pl.lit("2020-02-29").str.to_date()
    )
    large = tc.assess(on_engine(survey), tc.Scenario(keys=survey.columns, missing="own_category"))
    assert sorted(large.individual.table.sample_count.tolist()) == [1.0, 3.0]
    large.write_records(tmp_path / "risk.parquet")
    written = pl.read_parquet(tmp_path / "risk.parquet").sort("record")
    assert written["sample_count"].to_list() == [3.0, 3.0, 1.0, 3.0]


def test_codes_and_categories_of_a_file_are_kept(engine: str, tmp_path: Path) -> None:
    survey = people(200).with_columns(pl.col("sex").cast(pl.Enum(["m", "f"])))
    data = tc.Data.of(
        survey, {"age": tc.Variable(missing=(8,), value_labels={1: "one"}), "hid": tc.Variable(missing=(3,))}
    )
    tc.write(data, tmp_path / "noted.parquet")
    who = scenario(household="hid")
    memory = tc.assess(tmp_path / "noted.parquet", who)
    with tc.LargeData.of(tmp_path / "noted.parquet", engine=engine, temporary=tmp_path) as large:
        found = tc.assess(large, who)
        same(memory.to_dict(), found.to_dict())
        assert found.individual.table.values == memory.individual.table.values


def test_text_files_are_read_as_small_ones_are(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    rows = ["0301;1,5;f;2", "0302;NA;;3", "0301;2;m;10", ";.;f;4.5"]
    file.write_text("place;x;sex;w\n" + "\n".join(rows) + "\n")
    who = tc.Scenario(keys=["place", "sex"], weight="w", model="benedetti_franconi")
    with tc.LargeData.of(file, temporary=tmp_path) as large:
        found = tc.assess(large, who)
        same(tc.assess(file, who).to_dict(), found.to_dict())
        assert found.individual.table.values[0] == ("0301", "0302")


def test_tables_of_engines_stay_there(tmp_path: Path) -> None:
    import duckdb
    import ibis

    survey, who = people(60), scenario()
    survey.write_parquet(tmp_path / "a.parquet")
    memory = tc.assess(survey, who).to_dict()
    relation = duckdb.connect().read_parquet(str(tmp_path / "a.parquet"))
    table = ibis.duckdb.connect().read_parquet(tmp_path / "a.parquet")
    for source in (relation, table):
        found = tc.assess(source, who, memory="1GB")
        assert type(found).__name__ == "LargeProfile"
        same(memory, found.to_dict())
    with pytest.raises(TacitaError, match="no numbers to write results by"):
        found.write_records(tmp_path / "risk.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": pl.lit(None, pl.Float64)}, "weight 'w' must be positive; it is missing in 20 records"),
        ({"w": pl.lit(-1.0)}, "weight 'w' must be positive; it is negative in 20 records"),
        ({"w": pl.lit(float("inf"))}, "weight 'w' must be positive; it is infinite in 20 records"),
        ({"w": pl.lit("x")}, "column 'w' must hold numbers; it holds text."),
        ({"w": pl.lit(1e15)}, "weight 'w' must be at most 1e+14"),
    ],
)
def test_weights_are_checked_on_the_engine(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    people(20).with_columns(**change).write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large, pytest.raises(TacitaError) as error:
        tc.assess(large, scenario())
    assert message in str(error.value)


def test_what_needs_all_records_says_so(tmp_path: Path) -> None:
    survey = people(30)
    survey.write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        for who, options, words in (
            (scenario(person="hid"), {}, "units with several records"),
            (scenario(person="nobody"), {}, "person not in the data: 'nobody'"),
            (scenario(), {"register": survey}, "register=... needs all records in memory"),
            (scenario(), {"measures": "mixed_uniqueness"}, "mixed_uniqueness needs all records in memory"),
            (tc.Scenario(numeric_keys=["w"]), {}, "numeric keys need all records in memory"),
        ):
            with pytest.raises(TacitaError, match=words.replace("(", r"\(")):
                tc.assess(large, who, **options)


def test_a_household_variable_must_not_differ_inside_a_household(on_engine: Opener) -> None:
    survey = pl.DataFrame({"region": ["a", "b", None, "a", "a"], "hid": [1, 1, 2, 2, 3]})
    who = tc.Scenario(keys=["region"], household="hid", household_variables=["region"])
    with pytest.raises(TacitaError, match="it differs in 2 households"):
        tc.assess(on_engine(survey), who)


def test_more_distinct_keys_than_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacita.keys.condensed.BYTES_PER_VALUE", 1e9)
    people(50).write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet") as large, pytest.raises(TacitaError, match="different combinations"):
        tc.assess(large, scenario())


def test_a_path_larger_than_the_budget_goes_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(50).write_parquet(tmp_path / "a.parquet")
    assert type(tc.assess(tmp_path / "a.parquet", scenario())).__name__ == "RiskProfile"
    monkeypatch.setattr("tacita.engine.memory.PER_BYTE", {".parquet": 1e7})
    large = tc.assess(tmp_path / "a.parquet", scenario(), memory="1GB")
    assert type(large).__name__ == "LargeProfile"
    with pytest.raises(TacitaError, match="memory must be a size like '4GB'; got 'much'"):
        tc.assess(tmp_path / "a.parquet", scenario(), memory="much")


def test_undeclared_identifiers_are_looked_for(on_engine: Opener) -> None:
    """Numbers of the records, addresses and codes of every record; neither measurements nor categories."""
    n = 100
    survey = people(n).with_columns(
        nr=pl.int_range(n) + 70, mail=pl.format("p{}@x.org", pl.int_range(n)), real=pl.int_range(n).cast(pl.Float64),
        code=pl.format("k{}", pl.int_range(n) * 7), income=pl.int_range(n) * 7.3, town=pl.int_range(n) % 3,
        empty=pl.lit(None, pl.Float64), huge=pl.int_range(n) * (2**56) - 2**62,
    )  # fmt: skip
    told = [[each for each in tc.assess(file, scenario(household="hid")).cautions if "look like direct" in each]
            for file in (survey, on_engine(survey))]  # fmt: skip
    assert told[0] == told[1] and all(name in told[0][0] for name in ("'nr'", "'mail'", "'code'"))
