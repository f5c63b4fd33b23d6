"""Recalibration to crossed margins: every combination of several variables has the total that it should have."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError

DRAWS = np.random.default_rng(11)
PEOPLE = pl.DataFrame(
    {
        "sex": DRAWS.choice(["f", "m"], 200),
        "region": DRAWS.choice(["n", "s", "w"], 200),
        "age": DRAWS.integers(1, 4, 200),
        "w": DRAWS.uniform(5, 50, 200),
    }
)
WHO = tc.Scenario(keys=["sex", "region"], weight="w")


def totals(table: pl.DataFrame, *by: str) -> dict[tuple[object, ...], float]:
    return {row[:-1]: row[-1] for row in table.group_by(by).agg(pl.col("w").sum()).rows()}


def test_crossed_totals_of_the_original_come_back() -> None:
    """After a sample the margins of both variables alone leave their combinations wrong; the crossed one does not."""
    sample = tc.Sample(0.5)
    apart = tc.Plan([sample, tc.Recalibrate(["sex", "region"])]).apply(PEOPLE, WHO, seed=3).data.table
    together = tc.Plan([sample, tc.Recalibrate(["sex x region"])]).apply(PEOPLE, WHO, seed=3).data.table
    wanted = totals(PEOPLE, "sex", "region")
    assert totals(together, "sex", "region") == pytest.approx(wanted)
    assert totals(apart, "sex", "region") != pytest.approx(wanted)
    assert totals(together, "sex") == pytest.approx(totals(PEOPLE, "sex"))


def test_one_crossed_margin_is_a_ratio_in_each_cell() -> None:
    step = tc.Recalibrate(totals={"sex x region": {f"{s} x {r}": 100 for s in "fm" for r in "nsw"}})
    found = tc.Plan([step]).apply(PEOPLE, WHO)
    assert list(totals(found.data.table, "sex", "region").values()) == pytest.approx([100] * 6)
    cell = (PEOPLE["sex"] == "f") & (PEOPLE["region"] == "n")
    ratio = 100 / PEOPLE.filter(cell)["w"].sum()
    assert found.data.table.filter(cell)["w"].to_numpy() == pytest.approx(PEOPLE.filter(cell)["w"].to_numpy() * ratio)
    assert "totals of 'sex x region' met" in str(found)
    plan = found.plan
    assert tc.Plan.from_toml(plan.to_toml()).to_dict() == plan.to_dict()


def test_crossed_margins_follow_recoded_categories_and_stand_beside_others() -> None:
    steps = [
        tc.Sample(0.6),
        tc.Recode("age", mapping={1: 1, 2: 1, 3: 2}),
        tc.Recalibrate(["sex x age", "region"]),
    ]
    made = tc.Plan(steps).apply(PEOPLE, WHO, seed=5).data.table
    coarse = PEOPLE.with_columns(age=pl.col("age").replace_strict({1: 1, 2: 1, 3: 2}))
    assert totals(made, "sex", "age") == pytest.approx(totals(coarse, "sex", "age"))
    assert totals(made, "region") == pytest.approx(totals(PEOPLE, "region"))


def test_a_record_without_one_of_the_values_takes_no_part() -> None:
    missing = PEOPLE.with_columns(region=pl.when(pl.col("w") > 45).then(None).otherwise(pl.col("region")))
    found = tc.Plan([tc.Recalibrate(["sex x region"])]).apply(missing, WHO)
    gone = int((PEOPLE["w"] > 45).sum())
    assert f"{gone} records without 'sex x region' left out of its totals" in str(found)


def test_a_column_with_such_a_name_is_a_column() -> None:
    named = PEOPLE.rename({"region": "a x b"})
    step = tc.Recalibrate(totals={"a x b": {"n": 100, "s": 100, "w": 100}})
    made = tc.Plan([step]).apply(named, tc.Scenario(keys=["sex"], weight="w"))
    assert list(totals(made.data.table, "a x b").values()) == pytest.approx([100] * 3)


def test_mistakes() -> None:
    for step, message in (
        (tc.Recalibrate(["sex x regon"]), "not in the data: 'regon'. Did you mean 'region'?"),
        (tc.Recalibrate(totals={"sex x region": {"f x n": 5}}), "totals of 'sex x region' leave out 5 categories"),
    ):
        with pytest.raises(TacitaError) as error:
            tc.Plan([step]).apply(PEOPLE, WHO)
        assert message in str(error.value)
