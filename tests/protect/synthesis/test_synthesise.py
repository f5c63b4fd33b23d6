"""The step: what is drawn, what stays, what the log says, and what is kept for the office."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.synthesise.replicated import replicated_uniques
from tacita.protect.synthesise.smoothing import bandwidths, often, smoothed
from tacita.trees.tree import donors

SURVEY = tc.household_survey(400, population=9000, seed=2)
DATA, WHO = SURVEY.data, SURVEY.scenario


def made(step: tc.Synthesise, data: object = DATA, scenario: tc.Scenario = WHO, seed: int = 1) -> tc.Release:
    return tc.Plan([step]).apply(data, scenario, seed=seed)


def test_what_is_not_drawn_stays() -> None:
    release = made(tc.Synthesise(["age", "income"])).data
    for name in DATA.columns:
        assert release.table[name].equals(DATA.table[name]) == (name not in ("age", "income")), name
    assert made(tc.Synthesise()).data.table["household"].equals(DATA.table["household"])


def test_every_value_is_somebodys_and_types_stay() -> None:
    release = made(tc.Synthesise()).data
    assert release.table.schema == DATA.table.schema
    for name in DATA.columns:
        assert set(release.table[name]) <= set(DATA.table[name])


def test_variables_that_are_determined_stay_so() -> None:
    """The region says the country: in every synthetic record as well."""
    table = pl.DataFrame({"region": ["a", "b", "c"] * 40, "country": ["x", "x", "y"] * 40, "n": list(range(120))})
    release = made(tc.Synthesise(["region", "country"], given=()), table, tc.Scenario(keys=["region"])).data.table
    assert set(release.select("region", "country").iter_rows()) == {("a", "x"), ("b", "x"), ("c", "y")}
    back = made(tc.Synthesise(["region", "country"], given=(), order=["country"]), table, tc.Scenario(keys=["region"]))
    assert set(back.data.table.select("region", "country").iter_rows()) == {("a", "x"), ("b", "x"), ("c", "y")}
    assert back.changes[0].mechanisms[0]["variables"] == ["country", "region"]


def test_what_is_given_is_drawn_given_it() -> None:
    table = pl.DataFrame({"sex": ["f", "m"] * 50, "uniform": ["skirt", "trousers"] * 50})
    release = made(tc.Synthesise("uniform"), table, tc.Scenario(keys=["sex"])).data.table
    assert release.equals(table)
    alone = made(tc.Synthesise("uniform", given=()), table, tc.Scenario(keys=["sex"])).data.table
    assert not alone.equals(table)


def test_records_that_break_a_rule_are_drawn_again() -> None:
    table = pl.DataFrame({"age": list(range(100)), "born": [2000 - age for age in range(100)], "k": ["a", "b"] * 50})
    rule = "age + born > 1990"
    apart = {"given": (), "least_leaf": 50}
    free, held = (
        made(tc.Synthesise(["age", "born"], **apart, **more), table, tc.Scenario(keys=["k"]))
        for more in ({}, {"rules": [rule], "tries": 50})
    )
    broken = int((free.data.table["age"] + free.data.table["born"] <= 1990).sum())
    assert broken > 5
    assert (held.data.table["age"] + held.data.table["born"] > 1990).all()
    assert held.changes[0].figures["redrawn"] == broken
    assert f"{broken} records drawn again for breaking a rule" in str(held.changes[0])
    never = made(tc.Synthesise("age", rules=["age > 500"], tries=2), table, tc.Scenario(keys=["k"]))
    assert "100 records drawn again for breaking a rule, 100 of which still break one" in str(never.changes[0])


def test_copies_are_put_under_each_other_and_the_first_is_the_one_alone() -> None:
    alone, several = made(tc.Synthesise(["age", "income"])), made(tc.Synthesise(["age", "income"], copies=3))
    tables = several.data.table.partition_by("copy", include_key=False)
    assert tables[0].equals(alone.data.table)
    assert not tables[1].equals(tables[0])
    assert not tables[1].equals(tables[2])
    assert several.data.record.tolist() == list(range(1, 3 * len(DATA) + 1))
    with pytest.raises(TacitaError, match="the data have a variable 'age' already; pass another copy_name"):
        made(tc.Synthesise("income", copies=2, copy_name="age"))


def test_other_records_are_in_every_copy_as_they_were() -> None:
    release = made(tc.Synthesise(["income"], copies=2, only="age > 60"))
    elders = (DATA.table["age"] > 60).fill_null(False)
    for table in release.data.table.partition_by("copy", include_key=False):
        assert table.filter(~elders).equals(DATA.table.filter(~elders))
        assert not table.filter(elders).equals(DATA.table.filter(elders))


def test_weights_make_the_file_one_of_the_population() -> None:
    """Of four in five records with weight 1 and one in five with weight 16, the latter are four in five people."""
    table = pl.DataFrame({"k": (["a"] * 4 + ["b"]) * 400, "w": ([1.0] * 4 + [16.0]) * 400})
    release = made(tc.Synthesise("k", given=(), weighted=True), table, tc.Scenario(keys=["k"], weight="w"))
    assert float((release.data.table["k"] == "b").mean()) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 2000))
    assert "drawn by weight: the file stands for the population without weights" in release.changes[0].remarks


def test_smoothed_numbers_are_new_and_within_what_was_there() -> None:
    release = made(tc.Synthesise(["income"], smooth=True)).data
    before, after = DATA.table["income"].drop_nulls(), release.table["income"].drop_nulls()
    assert len(set(after) - set(before)) > 0.5 * len(set(after))
    assert before.min() <= after.min()
    assert after.max() <= before.max()
    assert int((after == 0).sum()) == pytest.approx(int((before == 0).sum()), abs=60)


def test_smoothing_by_hand() -> None:
    """Numbers 1, 2, 3, 4: sd sqrt(1.25), quartiles 1.75 and 3.25; 0.9 * min(1.118, 1.119) * 4^-0.2."""
    values = np.array([3.0, 1.0, 4.0, 2.0])
    leaf = np.zeros(4, np.int64)
    given = donors(leaf, values, np.ones(4))
    width = bandwidths(given, values)
    assert width == pytest.approx([0.9 * np.sqrt(1.25) * 4**-0.2])
    moved = smoothed(given, values, width, leaf, np.array([2.0, 1.0, 4.0, 4.0]), np.array([1.0, -1.0, 1.0, 99.0]))
    assert moved == pytest.approx([2 + width[0], 1 + width[0], 4 - width[0], 1.0])
    assert often(np.array([1.0, 1.0, 2.0]), 2).tolist() == [True, True, False]


def test_a_smoothed_number_is_never_a_code() -> None:
    ages = [*range(20, 60)] * 3
    data = Data.of(pl.DataFrame({"age": ages, "k": ["a", "b"] * 60}), {"age": tc.Variable(missing=(30, 31, 32))})
    release = made(tc.Synthesise("age", smooth=True, given=()), data, tc.Scenario(keys=["k"])).data
    assert abs(int(release.missing("age").sum()) - 9) < 12


def test_replicated_uniques_are_counted() -> None:
    draw = np.random.default_rng(1)
    for _ in range(20):
        original, synthetic = draw.integers(0, 4, (2, 15, 2)).astype(float)
        rows = [tuple(row) for row in original]
        slow = sum(rows.count(tuple(row)) == 1 for row in synthetic)
        assert replicated_uniques(original, synthetic) == slow
    table = pl.DataFrame({"k": ["a"] * 19 + ["b"], "x": list(range(20))})
    release = made(tc.Synthesise(["k", "x"], least_leaf=2), table, tc.Scenario(keys=["k"]))
    rows = list(table.iter_rows())
    expected = sum(row in rows for row in release.data.table.iter_rows())
    assert release.changes[0].figures["replicated_uniques"] == expected
    assert release.changes[0].figures["replicated_keys"] == int((release.data.table["k"] == "b").sum())


def test_names_households_and_leaves_of_one_number_are_remarked() -> None:
    table = pl.DataFrame({"name": [f"p{i}" for i in range(40)], "k": ["a", "b"] * 20, "x": [1.5, 2.5] * 20})
    said = str(made(tc.Synthesise(["k", "x", "name"]), table, tc.Scenario(keys=["k"])).changes[0])
    assert "most records have a value of their own of 'name': remove what is a name" in said
    assert "leaves whose records all have the same number: 'x' 2; least_distinct=2 avoids them" in said
    avoided = made(tc.Synthesise(["k", "x"], least_distinct=2), table, tc.Scenario(keys=["k"])).changes[0]
    assert avoided.figures["one_value_leaves"] == {"x": 0}
    assert "who shares 'household' no longer belongs together" in str(made(tc.Synthesise()).changes[0])


def test_trees_are_kept_for_the_office_and_in_no_log(tmp_path: Path) -> None:
    release = made(tc.Synthesise(["income", "education"], strata=["sex"]))
    folder = release.save(tmp_path / "out", accept_unsafe="a test", report=False)
    kept = json.loads((folder / "internal" / "models.json").read_text("utf-8"))
    assert kept["note"].startswith("for internal use only")
    (models,) = kept["steps"].values()
    assert len(models) == 2
    assert set(models[0]["trees"]) == {"income", "education"}
    assert "threshold" not in json.dumps(release.to_dict())
    copula = made(tc.Synthesise(["age", "income"], method="copula")).changes[0].fitted[0]
    assert np.shape(copula["correlation"]) == (len(copula["parts"]),) * 2
    assert copula["parts"][-2:] == [["income", "kind"], ["income", "value"]]
    assert ["sex", "value"] in copula["parts"]


def test_all_missing_constant_and_dates() -> None:
    table = pl.DataFrame(
        {
            "nothing": pl.Series([None] * 30, dtype=pl.Float64),
            "same": [7] * 30,
            "day": pl.Series(range(30), dtype=pl.Int32).cast(pl.Date),
            "kind": pl.Series(["low", "high", None] * 10, dtype=pl.Enum(["low", "high"])),
            "true": [True, False, None] * 10,
        }
    )
    for method in ("trees", "copula"):
        for smooth in (False, True):
            step = tc.Synthesise(method=method, smooth=smooth)
            release = made(step, table, tc.Scenario(keys=["same"])).data.table
            assert release.select("nothing", "same").equals(table.select("nothing", "same"))
            assert set(release["day"]) <= set(table["day"])
            assert set(release["kind"]) <= {"low", "high", None}


@pytest.mark.parametrize(
    ("step", "scenario", "message"),
    [
        (
            lambda: tc.Synthesise("age", given=["age"]),
            WHO,
            "a variable is drawn or given, not both; got 'age' in both.",
        ),
        (lambda: tc.Synthesise("age", order=["sex"]), WHO, "order must name variables that are drawn; got 'sex'."),
        (lambda: tc.Synthesise(order=["household"]), WHO, "order must name variables that are drawn; got 'household'."),
        (
            lambda: tc.Synthesise("age", weighted=True),
            replace(WHO, weight=None),
            "weighted synthesis needs a weight; name it in the scenario, or pass weighted=False.",
        ),
        (
            lambda: tc.Synthesise("sex", strata=["sex"]),
            WHO,
            "in one of the strata of 'sex': strata stay as they are; leave 'sex' out of what is drawn.",
        ),
        (
            lambda: tc.Synthesise("age", least_leaf=5000),
            WHO,
            "synthesis draws a value from at least 5000 records, and there are fewer; choose more records, coarser "
            "strata, or a smaller least_leaf.",
        ),
    ],
)
def test_errors_are_one_sentence(step: object, scenario: tc.Scenario, message: str) -> None:
    with pytest.raises(TacitaError) as found:
        made(step(), DATA, scenario)  # type: ignore[operator]
    assert str(found.value) == message
