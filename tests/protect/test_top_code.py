"""Top and bottom coding, one variable at a time and several together; outliers."""

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.distance.covariance import mcd
from tacita.protect.code_outliers import STARTS, middle
from tacita.protect.top_code import quantile
from tacita.random import Draws


def coded(columns: dict[str, Any], *steps: Any, known: dict[str, Variable] | None = None, k: int = 2) -> Any:
    data = Data.of(pl.DataFrame(columns), known or {})
    return tc.Plan(list(steps)).apply(data, tc.Scenario(keys=[next(iter(columns))]), tc.Policy(k=k))


def values(column: Any, step: Any, known: Variable | None = None) -> list[Any]:
    found: list[Any] = coded({"x": column}, step, known={"x": known} if known else None).data.table["x"].to_list()
    return found


INCOME = [100, 200, None, 300, 1000, 2000]


def test_values_above_the_limit_get_the_limit_and_it_itself_stays() -> None:
    assert values(INCOME, tc.TopCode("x", at=300)) == [100, 200, None, 300, 300, 300]
    assert values(INCOME, tc.TopCode("x", at=299)) == [100, 200, None, 299, 299, 299]
    assert values(INCOME, tc.BottomCode("x", at=300)) == [300, 300, None, 300, 1000, 2000]
    assert values(INCOME, tc.TopCode("x", at=5000)) == INCOME


def test_what_replaces_them() -> None:
    assert values(INCOME, tc.TopCode("x", at=300, value="mean")) == [100, 200, None, 300, 1500, 1500]
    assert values([*INCOME, 6000], tc.TopCode("x", at=300, value="mean"))[4:] == [3000, 3000, 3000]
    assert values([*INCOME, 6000], tc.TopCode("x", at=300, value="median"))[4:] == [2000, 2000, 2000]
    assert values(INCOME, tc.TopCode("x", at=300, value=999))[4:] == [999, 999]
    assert values(INCOME, tc.BottomCode("x", at=250, value="mean")) == [150, 150, None, 300, 1000, 2000]


def test_a_mean_with_a_fraction_makes_fractions_of_whole_numbers() -> None:
    released = coded({"x": [1, 10, 11]}, tc.TopCode("x", at=5, value="mean")).data.table["x"]
    assert released.to_list() == [1.0, 10.5, 10.5]
    assert released.dtype == pl.Float64


@given(st.lists(st.none() | st.integers(0, 1000), min_size=4, max_size=30), st.integers(0, 900))
def test_the_mean_keeps_the_total(cells: list[int | None], limit: int) -> None:
    cells = [*cells, 950, 960]
    released = values(cells, tc.TopCode("x", at=limit, value="mean"))
    total = sum(cell for cell in cells if cell is not None)
    assert math.isclose(math.fsum(cell for cell in released if cell is not None), total)


def slow_code(cell: float | None, limit: float, code: Any, top: bool) -> Any:
    if cell is None or (cell <= limit if top else cell >= limit):
        return cell
    return code


@given(
    st.lists(st.none() | st.decimals(-99, 99, places=1).map(float), min_size=1, max_size=20),
    st.sampled_from([0.5, -3.2, 40.0]),
    st.sampled_from(["threshold", "mean", "median", 77.0]),
    st.booleans(),
)
def test_coding_against_one_cell_at_a_time(cells: list[float | None], limit: float, value: Any, top: bool) -> None:
    cells = [*cells, 90.1, 91.2, -90.3, -91.4]
    beyond = [cell for cell in cells if cell is not None and (cell > limit if top else cell < limit)]
    codes = {"threshold": limit, "mean": math.fsum(beyond) / len(beyond), "median": statistics.median(beyond)}
    step = (tc.TopCode if top else tc.BottomCode)("x", at=limit, value=value)
    assert values(cells, step) == [slow_code(cell, limit, codes.get(value, value), top) for cell in cells]


def test_a_category_of_its_own() -> None:
    known = Variable(
        label="Age", missing=(999,), value_labels={999: "unknown", 80: "eighty", 1: "one"}, scale="numeric"
    )
    release = coded({"x": [1, 80, 85, 102, 999, None]}, tc.TopCode("x", at=80, value="81+"), known={"x": known})
    assert release.data.table["x"].to_list() == ["1", "80", "81+", "81+", "999", None]
    assert release.data.variable("x") == Variable(
        label="Age",
        missing=("999",),
        value_labels={"1": "one", "80": "eighty", "999": "unknown"},
        scale="ordinal",
        order=("1", "80", "81+"),
    )
    low = coded({"x": [1, 2, 30, 40]}, tc.BottomCode("x", at=10, value="below 10")).data
    assert low.table["x"].to_list() == ["below 10", "below 10", "30", "40"]
    assert low.variable("x").order == ("below 10", "30", "40")


def slow_quantile(numbers: list[float], share: float) -> float:
    return min(v for v in numbers if Fraction(sum(w <= v for w in numbers), len(numbers)) >= Fraction(str(share)))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.sampled_from([0.05, 0.1, 0.5, 0.9, 0.99]))
def test_the_quantile_is_a_value_that_the_share_does_not_exceed(numbers: list[int], share: float) -> None:
    found = quantile(np.array(numbers), share)
    assert found == slow_quantile(list(map(float, numbers)), share)
    top = values(numbers, tc.TopCode("x", share=float(1 - Fraction(str(share)))))
    assert top == [min(number, found) for number in numbers]
    mirrored = values([-number for number in numbers], tc.BottomCode("x", share=float(1 - Fraction(str(share)))))
    assert mirrored == [-number for number in top]


def test_declared_codes_are_no_values() -> None:
    known = Variable(missing=(9999,), not_applicable=(8888,))
    assert values([1, 2, 3, 9999, 8888], tc.TopCode("x", at=2), known) == [1, 2, 2, 9999, 8888]
    assert values([1, 2, 3, 4, 9999, 8888], tc.TopCode("x", share=0.5), known) == [1, 2, 2, 2, 9999, 8888]


def test_large_whole_numbers_are_compared_exactly() -> None:
    big = 2**60
    assert values([big, big + 1, 5], tc.TopCode("x", at=big)) == [big, big, 5]
    assert values([big, big + 1, 5], tc.BottomCode("x", at=4.5)) == [big, big + 1, 5]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64, pl.Float32])
def test_types_stay(dtype: pl.DataType) -> None:
    released = coded({"x": pl.Series([1, 5, None, 9, 11], dtype=dtype)}, tc.TopCode("x", at=6, value="mean")).data
    assert released.table["x"].dtype == dtype
    assert released.table["x"].to_list() == [1, 5, None, 10, 10]


def test_a_limit_for_each_variable() -> None:
    step = tc.TopCode(["x", "y"], at={"x": 3, "y": 30})
    released = coded({"x": [1, 4, 5], "y": [31, 2, 40]}, step).data.table
    assert released.rows() == [(1, 30), (3, 2), (3, 30)]


def test_together_all_variables_of_a_record_are_coded() -> None:
    columns = {"x": [1, 2, 3, 90, None], "y": [10.0, 20.0, 99.0, 30.0, 98.0], "z": [1, 1, 1, 1, 1]}
    step = tc.TopCode(["x", "y"], at={"x": 50, "y": 50}, value="mean", together=True)
    released = coded(columns, step).data.table
    # Records 3, 4 and 5 are beyond one limit; the mean of x is (3 + 90)/2, of y (99 + 30 + 98)/3.
    assert released["x"].to_list() == [1, 2, 46.5, 46.5, None]
    assert released["y"].to_list() == [10.0, 20.0, 227 / 3, 227 / 3, 227 / 3]
    assert released["z"].to_list() == [1] * 5
    named = coded(columns, tc.TopCode(["x", "y"], at=50, value="large", together=True)).data.table
    assert named["x"].to_list() == ["1", "2", "large", "large", None]


def test_a_code_that_few_share_is_remarked() -> None:
    release = coded({"x": [1, 2, 3, 8, 9]}, tc.TopCode("x", at=5, value="mean"), k=3)
    assert release.changes[0].remarks == ("'x': 2 records share the code, fewer than k = 3",)
    assert release.changes[0].figures == {"coded": {"x": 2}}
    # A record that has the limit anyway shares it.
    assert coded({"x": [1, 5, 8, 9]}, tc.TopCode("x", at=5), k=3).changes[0].remarks == ()
    assert coded({"x": [1, 8, 9]}, tc.TopCode("x", at=5), k=3).changes[0].remarks != ()
    open_policy = tc.Plan([tc.TopCode("x", at=5)]).apply(
        pl.DataFrame({"x": [1, 9]}), tc.Scenario(keys=["x"]), tc.Policy(k=None)
    )
    assert open_policy.changes[0].remarks == ()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            tc.TopCode("x", at=5, value="mean"),
            "1 record of 'x' would be coded, fewer than 2, so that the code gives away what they had; choose a lower "
            "limit.",
        ),
        (
            tc.BottomCode("x", at=3, least=5),
            "2 records of 'x' would be coded, fewer than 5, so that the code gives away what they had; choose a higher "
            "limit.",
        ),
    ],
)
def test_too_few_to_be_coded_are_an_error(step: Any, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        values([1, 2, 3, 9], step)
    assert str(error.value) == message


def test_none_to_be_coded_are_not() -> None:
    assert values([1, 2], tc.TopCode("x", at=5, value="mean", least=5)) == [1, 2]
    assert values([None, None], tc.TopCode("x", share=0.1)) == [None, None]


LIMIT = "top_code needs either at (a limit) or share (of the records to code); give one of them."
VALUE = "value must be 'threshold', 'mean', 'median', a number or a text; got"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, LIMIT),
        ({"at": 1, "share": 0.5}, LIMIT),
        ({"at": "5"}, "at must be a number; got '5'."),
        ({"at": math.inf}, "at must be a number; got inf."),
        ({"at": {"y": 5}}, "at must have one limit for each of the variables; got it for 'y'."),
        ({"share": 1.0}, "share must be in (0, 1); got 1.0."),
        ({"at": 1, "value": None}, f"{VALUE} None."),
        ({"at": 1, "value": ""}, f"{VALUE} ''."),
        ({"at": 1, "value": True}, f"{VALUE} True."),
        ({"at": 1, "value": math.nan}, "value must be a number; got nan."),
        ({"at": 1, "least": 0}, "least must be at least 1; got 0."),
        ({"at": 1, "together": 1}, "together must be true or false; got 1."),
        (
            {"at": 1, "together": True},
            "together codes values below their limit too; pass value='mean', 'median', a number or a text.",
        ),
        ({"variables": []}, "variables must name at least one variable."),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.TopCode(**({"variables": "x"} | options))
    assert str(error.value) == message


def test_texts_are_an_error() -> None:
    with pytest.raises(TacitaError) as error:
        values(["a"], tc.TopCode("x", at=1))
    assert str(error.value) == "column 'x' must hold numbers; it holds text."
    with pytest.raises(TacitaError) as error:
        values([2**64 - 1], tc.TopCode("x", at=1))
    assert str(error.value) == "column 'x' holds numbers beyond 64 bits, which are identifiers; remove it."


# Outliers over several variables.


def bulk() -> dict[str, Any]:
    """A cloud of two related variables, and three records far from it."""
    draws = np.random.RandomState(4)
    x = draws.normal(50, 10, 200)
    y = 2 * x + draws.normal(0, 5, 200)
    x[:3], y[:3] = [50, 20, 120], [200, 140, 20]
    return {"x": x, "y": y, "g": ["a"] * 200}


@pytest.mark.parametrize("robust", [True, False])
def test_outliers_go_to_the_border(robust: bool) -> None:
    columns = bulk()
    given_values = np.column_stack([columns["x"], columns["y"]])
    release = coded(columns, tc.CodeOutliers(["x", "y"], robust=robust))
    made = release.data.table.select("x", "y").to_numpy()
    if robust:
        core = mcd(given_values, Draws(STARTS), records=np.arange(1, 201))
        centre, covariance = core.centre, core.covariance
    else:
        centre, covariance = given_values.mean(axis=0), np.cov(given_values.T)
    inverse = np.linalg.inv(covariance)
    limit = chi2.ppf(0.975, 2)
    for before, after in zip(given_values, made, strict=True):
        squared = (before - centre) @ inverse @ (before - centre)
        if squared <= limit:
            assert (before == after).all()
        else:
            # On the border, on the way to the centre.
            assert np.isclose((after - centre) @ inverse @ (after - centre), limit)
            np.testing.assert_allclose((after - centre) / (before - centre), np.sqrt(limit / squared))
    assert release.changes[0].records >= 3
    assert release.data.perturbed == {"x", "y"}
    assert release.changes[0].figures == {"records_judged": 200, "records_coded": release.changes[0].records}


def test_outliers_can_get_their_mean_which_keeps_totals() -> None:
    columns = bulk()
    release = coded(columns, tc.CodeOutliers(["x", "y"], value="mean"))
    for name in ("x", "y"):
        released = release.data.table[name].to_numpy()
        assert math.isclose(released.sum(), columns[name].sum())
        assert len(set(released[:3].tolist())) == 1


def test_outliers_do_not_depend_on_order_seed_or_missing_values() -> None:
    columns = {name: list(column) for name, column in bulk().items()}
    columns["x"][7] = None
    data = Data.of(pl.DataFrame(columns))
    order = np.random.RandomState(2).permutation(200)
    plan, who = tc.Plan([tc.CodeOutliers(["x", "y"])]), tc.Scenario(keys=["g"])
    one, other = plan.apply(data, who, seed=1), plan.apply(data.take(order), who, seed=2)
    assert one.data.table[order].equals(other.data.table)
    assert one.data.table["x"][7] is None
    assert one.data.table["y"][7] == columns["y"][7]


def test_distances_on_the_log_scale() -> None:
    columns = bulk()
    logs = coded(columns, tc.CodeOutliers(["x", "y"])).data.table
    skewed = {name: np.exp(np.array(columns[name]) / 20) for name in ("x", "y")}
    made = coded(skewed, tc.CodeOutliers(["x", "y"], log=True)).data.table
    for name in ("x", "y"):
        np.testing.assert_allclose(20 * np.log(made[name].to_numpy()), logs[name].to_numpy(), rtol=1e-9)
        stays = logs[name].to_numpy() == np.array(columns[name])
        # To the last bit: a number is not rounded on its way through the logarithm.
        assert (made[name].to_numpy()[stays] == skewed[name][stays]).all()
        assert 0 < stays.sum() < len(stays)


def test_whole_numbers_stay_whole_at_the_border() -> None:
    columns = bulk()
    columns["x"] = [round(value) for value in columns["x"]]
    assert coded(columns, tc.CodeOutliers(["x", "y"])).data.table["x"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [1.0], "y": [2.0]}, {}, "1 record has all of 'x', 'y', too few for a covariance; leave out variables "
         "that are often missing."),
        ({"x": [1.0, 0.0], "y": [2.0, 1.0]}, {"log": True}, "1 record of 'x', 'y' not above 0 have no logarithm; pass "
         "log=False."),
        ({"x": [1.0, math.inf], "y": [2.0, 1.0]}, {}, "variables must be finite; 'x' has infinite "
         "values, correct the file."),
        (
            {"x": [1.0, 1e308], "y": [2.0, 1.0]},
            {},
            "numbers must be below 1e+150 in size to be compared; those of 'x' are not, declare such codes missing.",
        ),
    ],
)  # fmt: skip
def test_files_without_a_bulk(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        coded(columns, tc.CodeOutliers(["x", "y"], **options))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": 1}, "quantile must be in (0, 1); got 1."),
        ({"robust": "yes"}, "robust must be true or false; got 'yes'."),
        ({"value": "limit"}, "value must be one of 'border', 'mean', 'median'; got 'limit'."),
    ],
)
def test_bad_parameters_of_outliers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.CodeOutliers(["x"], **options)
    assert str(error.value) == message


def test_one_outlier_has_no_mean() -> None:
    x = [float(v) for v in range(60)]
    y = [(v * 7) % 60 for v in x]
    with pytest.raises(TacitaError) as error:
        coded({"x": [*x, 500.0], "y": [*y, 600.0]}, tc.CodeOutliers(["x", "y"], value="mean", quantile=0.9999))
    assert str(error.value) == "one record is extreme, and its mean would be what it has; choose a lower quantile."


def test_of_large_files_a_sample_is_enough_for_the_robust_middle() -> None:
    draws = np.random.RandomState(7)
    cloud = draws.normal(size=(4000, 2)) @ np.array([[3.0, 1.0], [0.0, 2.0]])
    records = np.arange(1, 4001)
    whole = middle(cloud, records, robust=True)
    sample = middle(cloud, records, robust=True, most=1500)
    np.testing.assert_allclose(sample[0], whole[0], atol=0.3)
    np.testing.assert_allclose(sample[1], whole[1], rtol=0.2, atol=0.5)
    assert not np.array_equal(sample[1], whole[1])


def test_the_code_is_none_that_is_declared_missing() -> None:
    with pytest.raises(TacitaError, match=r"^2 records of 'x' would get a number that is declared missing or not"):
        values([1, 5, 7, 99], tc.TopCode("x", at=4, value=99), Variable(missing=(99,)))


def test_infinite_numbers_have_no_mean() -> None:
    with pytest.raises(TacitaError, match=r"^column 'x' has infinite values, of which there is no mean.$"):
        values([1.0, math.inf, -math.inf, 5.0, 6.0], tc.TopCode("x", at=4, value="mean"))
    assert values([1.0, math.inf, 6.0], tc.TopCode("x", at=4)) == [1.0, 4.0, 4.0]


def test_a_fraction_does_not_round_the_other_numbers() -> None:
    with pytest.raises(TacitaError, match=r"^column 'x' holds whole numbers beyond 2"):
        values([2**53 + 1, 2**60, 5], tc.TopCode("x", at=2**59, value=2.5))


def test_share_is_the_share_of_records_that_are_coded() -> None:
    data = pl.DataFrame({"x": list(range(1, 201)), "job": ["a", "b"] * 100})
    for step in (tc.TopCode("x", share=0.01), tc.BottomCode("x", share=0.01)):
        change = tc.Plan([step]).apply(data, tc.Scenario(keys=["job"])).changes[0]
        assert change.records == 2
        assert not any("more than half" in each for each in change.remarks)


def test_coding_more_than_half_is_remarked() -> None:
    data = pl.DataFrame({"x": [*range(1, 101), None], "job": ["a"] * 101})
    for step in (tc.TopCode("x", at=40), tc.TopCode("x", share=0.6), tc.BottomCode("x", at=61)):
        change = tc.Plan([step]).apply(data, tc.Scenario(keys=["job"])).changes[0]
        assert "'x': 60 of the 100 records that have a value were coded, more than half" in change.remarks
    half = tc.Plan([tc.TopCode("x", at=50)]).apply(data, tc.Scenario(keys=["job"])).changes[0]
    assert not any("more than half" in each for each in half.remarks)
