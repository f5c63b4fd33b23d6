"""The step `mask_by_model`."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.protect.model.model_values import category_columns, moved_tails, number_columns, regression

NUMBERS = ["turnover", "employees", "exports", "rd_expenditure"]
WHO = tc.Scenario(numeric_keys=NUMBERS, weight="weight", strata=["industry"])
FIRMS = tc.business_survey(800).data


def masked(step: tc.MaskByModel, data: Any = FIRMS) -> tc.Release:
    return tc.Plan([step]).apply(data, WHO)


def expected(data: tc.Data, names: list[str], by: list[str], rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The step of these rows, from its kernels, column by column."""
    values = np.column_stack([data.numbers(name) for name in names])[rows]
    out = values.copy()
    codes = np.column_stack([data.coded(name).codes.astype(np.int64) for name in by])[rows]
    for j, name in enumerate(names):
        there = values[:, j] > 0
        others = np.delete(values[there], j, axis=1)
        logs = np.full(others.shape, np.nan)
        logs[others > 0] = np.log(others[others > 0])
        own = np.log(values[there, j])
        fit = regression(own, number_columns(logs, others == 0), category_columns(codes[there]), weight[rows][there])
        made = np.exp(moved_tails(fit, own, 0.1, 1.0))
        out[there, j] = np.rint(np.maximum(made, 1)) if name == "employees" else made
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_each_stratum_has_its_own_models(weighted: bool) -> None:
    release = masked(tc.MaskByModel(NUMBERS, by=["region", "group"], strata=["industry"], weighted=weighted))
    made = release.data.table.select(NUMBERS).to_numpy()
    weight = FIRMS.numbers("weight") if weighted else np.ones(len(FIRMS))
    for industry in FIRMS.table["industry"].unique().to_list():
        rows = (FIRMS.table["industry"] == industry).arg_true().to_numpy()
        np.testing.assert_allclose(made[rows], expected(FIRMS, NUMBERS, ["region", "group"], rows, weight), rtol=1e-9)
    assert len(release.changes[0].mechanisms[0]["parameters"]["residual_deviations"]) == 8


def test_zeros_stay_and_are_counted() -> None:
    release = masked(tc.MaskByModel(NUMBERS, by=["region"]))
    for name in ("exports", "rd_expenditure"):
        zero = FIRMS.table[name] == 0
        assert ((release.data.table[name] == 0) == zero).all()
        assert f"{zero.sum()} zeros of '{name}' stay" in release.changes[0].remarks
        assert release.changes[0].figures["zeros"][name] == zero.sum()


def test_the_range_shrinks_and_whole_numbers_stay_whole() -> None:
    made = masked(tc.MaskByModel(NUMBERS, by=["region"], strata=["industry"])).data.table
    for name in NUMBERS:
        before, after = (table.filter(pl.col(name) > 0)[name].log() for table in (FIRMS.table, made))
        assert after.max() - after.min() < before.max() - before.min()
    assert made["employees"].dtype == FIRMS.table["employees"].dtype
    assert made["employees"].min() >= 1


def test_a_larger_factor_moves_the_tails_and_nobody_else() -> None:
    usual, far = (
        masked(tc.MaskByModel(NUMBERS, by=["region"], factor=factor)).data.table["turnover"] for factor in (1.0, 3.0)
    )
    rank = FIRMS.table["turnover"].rank() / (len(FIRMS) + 1)
    tail = (rank > 0.9) | (rank < 0.1)
    assert (usual == far).filter(~tail).all()
    assert (far < usual).filter(rank > 0.9).all()
    assert (far > usual).filter(rank < 0.1).all()


def test_only_chosen_records_change_but_all_are_fitted() -> None:
    everybody = masked(tc.MaskByModel(NUMBERS, by=["region"], strata=["industry"])).data.table
    some = masked(tc.MaskByModel(NUMBERS, by=["region"], strata=["industry"], only="employees < 50"))
    small = FIRMS.table["employees"] < 50
    assert some.data.table.filter(small).equals(everybody.filter(small))
    assert some.data.table.filter(~small).equals(FIRMS.table.filter(~small))
    assert f"for {small.sum()} of 800 records" in some.changes[0].remarks


def test_missing_values_stay_and_predict_as_such() -> None:
    gone = np.arange(800) % 6 == 0
    data = FIRMS.blanked({"turnover": gone, "region": np.arange(800) % 9 == 0})
    made = masked(tc.MaskByModel(NUMBERS, by=["region"]), data).data.table
    assert (made["turnover"].is_null().to_numpy() == gone).all()
    assert (made["employees"].to_numpy() != FIRMS.table["employees"].to_numpy())[gone].mean() > 0.9


def test_plain_scale_for_negative_numbers() -> None:
    profit = FIRMS.with_columns({"profit": FIRMS.table["turnover"] * 0.1 - 2000})
    made = masked(tc.MaskByModel(["profit", "employees"], log=False, by=["region"]), profit).data.table
    assert made["profit"].mean() == pytest.approx(profit.table["profit"].mean(), rel=0.3)
    message = r"^'profit' hold negative numbers, which have no logarithm; use log=False, or leave them out\.$"
    with pytest.raises(TacitaError, match=message):
        masked(tc.MaskByModel(["profit", "employees"]), profit)


def test_a_constant_is_fitted_where_nothing_predicts() -> None:
    release = masked(tc.MaskByModel("turnover", tail=0.0))
    assert release.data.table["turnover"].n_unique() == 1
    assert release.data.table["turnover"][0] == pytest.approx(np.exp(FIRMS.table["turnover"].log().mean()))
    assert "1 model of a constant only, for want of predictors or of records" in release.changes[0].remarks


@pytest.mark.parametrize("column", [[5.0], [5.0, 0.0, 6.0, 0.0]])
def test_too_few_numbers_for_a_model(column: list[float]) -> None:
    data = pl.DataFrame({"x": column})
    with pytest.raises(TacitaError, match=r"'x' has \d numbers? above 0, and a model needs 3 or more; use coarser"):
        tc.Plan([tc.MaskByModel("x")]).apply(data, tc.Scenario(numeric_keys=["x"]))


def test_columns_without_numbers_and_constant_ones() -> None:
    data = pl.DataFrame({"x": [0.0] * 9, "y": [None] * 9, "z": [3.0] * 9}, schema_overrides={"y": pl.Float64})
    release = tc.Plan([tc.MaskByModel(["x", "y", "z"])]).apply(data, tc.Scenario(numeric_keys=["x"]))
    assert release.data.table.select("x", "y").equals(data.select("x", "y"))
    assert release.data.table["z"].to_list() == pytest.approx([3.0] * 9)


def test_relations_are_repaired() -> None:
    made = masked(tc.MaskByModel(NUMBERS, by=["region"], relations=["exports <= turnover"])).data.table
    assert (made["exports"] <= made["turnover"] * (1 + 1e-12)).all()


def test_numbers_near_the_original_are_counted_in_later_rounds_too() -> None:
    first = tc.MaskByModel(NUMBERS, by=["region"])
    second = tc.MaskByModel(NUMBERS, by=["region"], factor=2.0)
    release = tc.Plan([first, second]).apply(FIRMS, WHO)
    for name in ("turnover", "employees"):
        before, after = FIRMS.numbers(name), release.data.numbers(name)
        near = int((np.abs(after - before) < 0.01 * before).sum())
        assert release.changes[1].figures["near_the_original"][name] == near > 0


def test_a_weight_is_needed_where_it_is_asked_for() -> None:
    with pytest.raises(TacitaError, match=r"^a weighted model needs a weight; name it in the scenario, or pass"):
        tc.Plan([tc.MaskByModel("turnover", weighted=True)]).apply(FIRMS, tc.Scenario(numeric_keys=["turnover"]))


def test_a_variable_cannot_predict_itself() -> None:
    with pytest.raises(TacitaError, match=r"^by must name other variables than those to mask; got 'x' in both\.$"):
        tc.MaskByModel(["x", "y"], by=["x"])
