"""Recode: every way by hand and against one cell at a time, and what is known of a variable follows its values."""

import datetime as dt
import inspect
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_canary import CANARY, CODE, WHO, found, survey

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.parameters import parameters_of
from tacita.protect.recode.ways import Breaks, NewValues, Width
from tacita.release.release import FORMATS


def recoded(column: Any, step: tc.Recode, known: Variable | None = None) -> Data:
    """A column x, recoded by a plan."""
    table = column if isinstance(column, pl.DataFrame | pd.DataFrame) else pl.DataFrame({"x": column})
    data = Data.of(table, {} if known is None else {"x": known})
    return tc.Plan([step]).apply(data, tc.Scenario(keys=["x"])).data


def values(column: Any, known: Variable | None = None, **options: Any) -> list[Any]:
    return recoded(column, tc.Recode("x", **options), known).table["x"].to_list()


AGES = [0, 4, 5, 17, 18, 64, 65, 103, None]


def test_breaks_part_whole_numbers_and_lose_nothing() -> None:
    assert values(AGES, breaks=[5, 18, 65]) == ["<5", "<5", "5-17", "5-17", "18-64", "18-64", "65+", "65+", None]
    assert values(AGES, breaks=18) == ["<18"] * 4 + ["18+"] * 4 + [None]
    assert values(AGES, breaks=[5, 18], closed="right")[:6] == ["<=5", "<=5", "<=5", "6-18", "6-18", ">18"]
    # The lowest and the highest value belong to a group, also where they are breaks.
    assert values([0, 10], breaks=[0, 10]) == ["0-9", "10+"]


def test_breaks_part_fractions() -> None:
    assert values([0.0, 0.5, 9.99, 10.0, None], breaks=[0.5, 10]) == ["<0.5", "[0.5, 10)", "[0.5, 10)", "10+", None]
    assert values([0.5, 10.0, math.inf, -math.inf], breaks=[0.5, 10]) == ["[0.5, 10)", "10+", "10+", "<0.5"]


def test_whole_numbers_that_came_as_floats_are_whole_numbers() -> None:
    """pandas and SPSS have no missing whole numbers."""
    assert values([20.0, 24.0, None], width=5) == ["20-24", "20-24", None]


def test_groups_can_be_named() -> None:
    assert values(AGES, breaks=[18, 65], into=["child", "adult", "old"])[3:7] == ["child", "adult", "adult", "old"]
    assert values(AGES, breaks=[18, 65], into=[10, 20, 30])[3:7] == [10, 20, 20, 30]
    assert values(AGES, groups=2, into=["young", "old"])[:5] == ["young"] * 4 + ["old"]


def test_width_by_hand() -> None:
    assert values(AGES, width=5) == ["0-4", "0-4", "5-9", "15-19", "15-19", "60-64", "65-69", "100-104", None]
    assert values(AGES, width=10, start=5)[:4] == ["-5 to 4", "-5 to 4", "5-14", "15-24"]
    ends = values(AGES, width=10, bottom=5, top=65)
    assert ends == ["<5", "<5", "5-9", "10-19", "10-19", "60-64", "65+", "65+", None]
    right = values(AGES, width=10, bottom=5, top=65, closed="right")
    assert right == ["<=5", "<=5", "<=5", "11-20", "11-20", "61-65", "61-65", ">65", None]
    assert values([0.05, 0.1, 0.3, 0.7], width=0.1) == ["[0, 0.1)", "[0.1, 0.2)", "[0.3, 0.4)", "[0.7, 0.8)"]
    assert values([1, 2, 3, 5], width=2.5) == ["0-2", "0-2", "3-4", "5-7"]
    assert values([math.inf, 3.5], width=2, top=10) == ["10+", "[2, 4)"]


def slow_label(value: float, width: float, start: float) -> str:
    """One number, in exact fractions."""
    number, step, begin = (Fraction(str(each)) for each in (value, width, start))
    low = begin + math.floor((number - begin) / step) * step
    return f"[{short(low)}, {short(low + step)})"


def short(number: Fraction) -> str:
    return str(int(number)) if number.denominator == 1 else repr(float(number))


@given(
    st.lists(st.none() | st.decimals(-50, 50, places=2).map(float), min_size=1, max_size=15),
    st.sampled_from([0.1, 0.5, 3, 12.5]),
    st.sampled_from([0, 0.05, -7]),
)
def test_width_against_one_cell_at_a_time(cells: list[float | None], width: float, start: float) -> None:
    cells.append(0.25)  # a fraction, so that labels are those of fractions
    expected = [None if cell is None else slow_label(cell, width, start) for cell in cells]
    assert values(cells, width=width, start=start) == expected


@given(st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=30), st.integers(2, 5))
def test_equal_counts_keep_equal_values_together_and_ascend(cells: list[int | None], groups: int) -> None:
    cells = [*cells, -1, 99]
    made = recoded(cells, tc.Recode("x", groups=groups))
    released, order = made.table["x"].to_list(), made.variable("x").order
    by_value: dict[Any, set[Any]] = {}
    for cell, label in zip(cells, released, strict=True):
        by_value.setdefault(cell, set()).add(label)
    assert all(len(labels) == 1 for labels in by_value.values())
    assert by_value.get(None, {None}) == {None}
    ascending = [order.index(next(iter(by_value[cell]))) for cell in sorted(c for c in by_value if c is not None)]
    assert ascending == sorted(ascending)
    assert set(ascending) == set(range(len(order)))
    assert 2 <= len(order) <= groups


def test_too_many_ties_give_fewer_groups_and_say_so() -> None:
    data = Data.of(pl.DataFrame({"x": [1] * 8 + [2]}))
    release = tc.Plan([tc.Recode("x", groups=4)]).apply(data, tc.Scenario(keys=["x"]))
    assert release.data.table["x"].to_list() == ["<2"] * 8 + ["2+"]
    assert release.changes[0].remarks == ("'x': 2 groups in place of 4, since equal values stay together",)


def test_breaks_of_equal_counts_are_no_record_s_value() -> None:
    released = values([1234.56, 1871.2, 2954.03, 7313.9], groups=2)
    assert released == ["<2000", "<2000", "2000+", "2000+"]


def test_intervals_make_an_ordinal_variable() -> None:
    made = recoded([30, 5, 12, 5], tc.Recode("x", width=10), Variable(label="Age", scale="numeric"))
    assert made.variable("x") == Variable(label="Age", scale="ordinal", order=("0-9", "10-19", "30-39"))
    assert made.scale("x") == "ordinal"
    assert made.coded("x").values == ("0-9", "10-19", "30-39")


def test_groups_can_be_codes_with_labels() -> None:
    known = Variable(label="Age", value_labels={2: "two years", 99: "unknown"}, missing=(99,))
    made = recoded([30, 5, 99, 12, None], tc.Recode("x", breaks=[10, 20, 40], as_codes=True), known)
    assert made.table["x"].to_list() == [3, 1, 99, 2, None]
    assert made.variable("x") == Variable(
        label="Age", value_labels={1: "<10", 2: "10-19", 3: "20-39", 99: "unknown"}, missing=(99,), scale="ordinal"
    )


def test_codes_leave_out_those_declared_missing() -> None:
    known = Variable(missing=(2,), missing_ranges=((4.0, 5.0),), not_applicable=(1,))
    made = recoded([10, 20, 30, 2, 1, 4], tc.Recode("x", breaks=[15, 25], as_codes=True), known)
    assert made.table["x"].to_list() == [3, 6, 7, 2, 1, 4]
    assert (made.variable("x").missing, made.variable("x").missing_ranges) == ((2,), ((4.0, 5.0),))


def test_declared_texts_among_codes_get_codes_too() -> None:
    known = Variable(missing=("DK",), not_applicable=("NA",), value_labels={"DK": "do not know"})
    made = recoded(["a", "b", "DK", "NA"], tc.Recode("x", mapping={"a": "both", "b": "both"}, as_codes=True), known)
    assert made.table["x"].to_list() == [1, 1, 2, 3]
    assert made.variable("x") == Variable(
        value_labels={1: "both", 2: "do not know", 3: "NA"}, missing=(2,), not_applicable=(3,)
    )


def test_declared_codes_stay_and_stay_declared_where_numbers_become_texts() -> None:
    known = Variable(
        missing=(-9,),
        missing_ranges=((90.0, 99.0),),
        not_applicable=(-7,),
        value_labels={-9: "refused", 95: "lost", 3: "three"},
    )
    made = recoded([3, 8, -9, 95, -7, None], tc.Recode("x", width=5), known)
    assert made.table["x"].to_list() == ["0-4", "5-9", "-9", "95", "-7", None]
    assert made.variable("x") == Variable(
        missing=("-9", "95"),
        not_applicable=("-7",),
        value_labels={"-9": "refused", "95": "lost"},
        scale="ordinal",
        order=("0-4", "5-9", "-7"),
    )
    assert made.missing("x").tolist() == [False, False, True, True, False, True]
    assert made.coded("x").values == ("0-4", "5-9", "-7")


NOT_ASKED = Variable(not_applicable=(8, 9), value_labels={1: "yes", 2: "no", 8: "a child", 9: "not asked"})


@pytest.mark.parametrize(
    ("options", "expected", "codes"),
    [
        # Left alone, also by ranges.
        ({"mapping": {1: 3, 2: 3}}, [3, 3, 8, 9], (8, 9)),
        ({"scheme": "3:1-"}, [3, 3, 8, 9], (8, 9)),
        ({"width": 10}, ["0-9", "0-9", "8", "9"], ("8", "9")),
        # Called otherwise: still not applicable.
        ({"mapping": {9: 0}}, [1, 2, 8, 0], (8, 0)),
        ({"mapping": {8: 0, 9: 0}}, [1, 2, 0, 0], (0,)),
        ({"mapping": {8: 9}}, [1, 2, 9, 9], (9,)),
        ({"mapping": {8: "none", 9: "none"}}, ["1", "2", "none", "none"], ("none",)),
        ({"scheme": "7:8,9"}, [1, 2, 7, 7], (7,)),
        ({"mapping": {1: "x", 2: "y", 9: "none"}, "as_codes": True}, [1, 2, 8, 3], (8, 3)),
        # Put together with others: a category like any other.
        ({"mapping": {9: 2}}, [1, 2, 8, 2], (8,)),
        ({"scheme": "2:2,8,9"}, [1, 2, 2, 2], ()),
        ({"mapping": {1: "any", 2: "any", 8: "any", 9: "any"}}, ["any"] * 4, ()),
    ],
)
def test_codes_for_not_applicable_stay_unless_they_are_named(
    options: dict[str, Any], expected: list[Any], codes: tuple[Any, ...]
) -> None:
    made = recoded([1, 2, 8, 9], tc.Recode("x", **options), NOT_ASKED)
    assert made.table["x"].to_list() == expected
    assert made.variable("x").not_applicable == codes
    # The same where only the scenario knows.
    data = Data.of(pl.DataFrame({"x": [1, 2, 8, 9]}), {"x": Variable(value_labels=NOT_ASKED.value_labels)})
    who = tc.Scenario(keys=["x"], not_applicable={"x": [8, 9]})
    release = tc.Plan([tc.Recode("x", **options)]).apply(data, who)
    assert release.data.table["x"].to_list() == expected
    assert release.data.variable("x") == replace(made.variable("x"), not_applicable=())
    assert set(codes) <= set(release.scenario.not_applicable["x"])
    assert not set(release.scenario.not_applicable["x"]) & (set(expected) - set(codes))


def test_labels_of_codes_for_not_applicable_that_are_put_together_are_joined() -> None:
    made = recoded([1, 2, 8, 9], tc.Recode("x", mapping={8: 2, 9: 9}), NOT_ASKED)
    assert made.variable("x").value_labels == {1: "yes", 2: "no / a child", 9: "not asked"}


MARITAL = Variable(
    label="Marital status",
    value_labels={1: "single", 2: "married", 3: "widowed", 4: "divorced", 9: "no answer"},
    missing=(9,),
)


def test_labels_follow_a_mapping() -> None:
    made = recoded([1, 2, 3, 4, 9], tc.Recode("x", mapping={3: 3, 4: 3}), MARITAL)
    assert made.table["x"].to_list() == [1, 2, 3, 3, 9]
    assert made.variable("x") == Variable(
        label="Marital status",
        value_labels={1: "single", 2: "married", 3: "widowed / divorced", 9: "no answer"},
        missing=(9,),
    )


def test_labels_can_be_given() -> None:
    step = tc.Recode("x", mapping={3: 3, 4: 3}, labels={3: "no longer married", 7: "nobody"})
    assert recoded([1, 2, 3, 4, 9], step, MARITAL).variable("x").value_labels == {
        1: "single", 2: "married", 3: "no longer married", 9: "no answer",
    }  # fmt: skip


def test_joined_labels_name_old_codes_that_no_record_has() -> None:
    """Otherwise the label would tell which of them are in the file."""
    labels = recoded([1, 3, 3], tc.Recode("x", mapping={3: 3, 4: 3}), MARITAL).variable("x").value_labels
    assert labels == {1: "single", 3: "widowed / divorced"}


def test_half_labelled_groups_get_no_label() -> None:
    known = Variable(value_labels={1: "one"})
    assert recoded([1, 2], tc.Recode("x", mapping={1: 1, 2: 1}), known).variable("x").value_labels == {}


def test_many_labels_are_counted() -> None:
    known = Variable(value_labels={code: f"land {code}" for code in range(1, 9)})
    made = recoded(list(range(1, 9)), tc.Recode("x", mapping=dict.fromkeys(range(1, 9), 1)), known)
    assert made.variable("x").value_labels == {1: "land 1 / land 2 / land 3 / land 4 / land 5 and 3 more"}


def test_a_mapping_to_texts_makes_texts_of_all() -> None:
    assert values([1, 2, 3, None], mapping={1: "north", 2: "north"}) == ["north", "north", "3", None]
    assert values(["a", "b", None], mapping={"a": 1, "b": 2}) == [1, 2, None]
    assert values([True, False], mapping={True: "yes", False: "no"}) == ["yes", "no"]
    assert values([1.5, 2.0], mapping={1.5: 2}) == [2.0, 2.0]
    assert values([dt.date(2020, 1, 1)], mapping={dt.date(2020, 1, 1): "then"}) == ["then"]


def test_values_are_found_by_their_text() -> None:
    """In a plan file written by hand a table has texts for names."""
    text = 'format = 1\n[[plan.steps]]\nstep = "recode"\nvariables = "x"\nmapping = {1 = "a", 2 = "a"}\n'
    data = Data.of(pl.DataFrame({"x": [1, 2, 3]}))
    release = tc.Plan.from_toml(text).apply(data, tc.Scenario(keys=["x"]))
    assert release.data.table["x"].to_list() == ["a", "a", "3"]


CELLS = st.none() | st.sampled_from("abcde")


@given(
    st.lists(CELLS, min_size=1, max_size=15),
    st.dictionaries(st.sampled_from("abcxy"), st.sampled_from("vwx"), min_size=1),
)
def test_mapping_against_one_cell_at_a_time(cells: list[str | None], mapping: dict[str, str]) -> None:
    table = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String), "other": range(len(cells))})
    made = recoded(table, tc.Recode("x", mapping=mapping))
    assert made.table["x"].to_list() == [None if cell is None else mapping.get(cell, cell) for cell in cells]
    assert made.table["other"].equals(table["other"])


def test_values_without_a_target_stay_and_are_counted_or_are_an_error() -> None:
    data = Data.of(pl.DataFrame({"x": ["a", "b", "b", "c", None]}))
    who = tc.Scenario(keys=["x"])
    release = tc.Plan([tc.Recode("x", mapping={"a": "z"})]).apply(data, who)
    assert release.data.table["x"].to_list() == ["z", "b", "b", "c", None]
    assert release.changes[0].remarks == ("'x': 2 values in 3 records without a target stay",)
    with pytest.raises(TacitaError) as error:
        tc.Plan([tc.Recode("x", mapping={"a": "z"}, unmatched="error")]).apply(data, who)
    assert str(error.value) == "column 'x' has 2 values in 3 records without a target; complete the mapping."
    nothing = tc.Plan([tc.Recode("x", mapping={"q": "z"})]).apply(data, who)
    assert nothing.data.table.equals(data.table)


def test_an_order_survives_if_groups_are_stretches_of_it() -> None:
    known = Variable(scale="ordinal", order=("low", "mid", "high", "top"))
    stretch = recoded(["top", "mid", "low", "high"], tc.Recode("x", mapping={"high": "much", "top": "much"}), known)
    assert stretch.variable("x") == Variable(scale="ordinal", order=("low", "mid", "much"))
    mixed = recoded(["top", "mid", "low", "high"], tc.Recode("x", mapping={"low": "ends", "top": "ends"}), known)
    assert mixed.variable("x") == Variable(scale="nominal")
    codes = recoded([1, 2, 3], tc.Recode("x", mapping={1: 9, 2: 9}), Variable(scale="ordinal"))
    assert codes.variable("x") == Variable(scale="ordinal", order=(9, 3))


def test_digits_keep_the_beginning_of_codes() -> None:
    assert values(["A01.1", "A01.2", "B", None], digits=3) == ["A01", "A01", "B", None]
    assert values(["A01.1", "B02.5"], digits=4) == ["A01", "B02"]
    assert values([2411, 2412, 9111, None], digits=2) == [24, 24, 91, None]
    assert values([110, 2411], digits=2, length=4) == [1, 24]
    known = Variable(value_labels={"A": "Agriculture", "A01": "Crops", "A02": "Wood", "B01": "Coal", "B02": "Gas"})
    assert recoded(["A01", "B01"], tc.Recode("x", digits=1), known).variable("x").value_labels == {
        "A": "Agriculture", "B": "Coal / Gas",
    }  # fmt: skip


def test_hierarchies_from_a_file_or_made_here(tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    path.write_text("Graz;Styria;south\nLeoben;Styria;south\nWien;Vienna;east\n", encoding="utf-8")
    towns = ["Graz", "Wien", "Leoben", None]
    assert values(towns, hierarchy=path) == ["Styria", "Vienna", "Styria", None]
    step = tc.Recode("x", hierarchy=str(path), level=2)
    path.unlink()
    again = tc.Plan.from_toml(tc.Plan([step]).to_toml()).steps[0]
    assert isinstance(again, tc.Recode)
    assert recoded(towns, again).table["x"].to_list() == ["south", "east", "south", None]
    ages = recoded([3, 17, 44], tc.Recode("x", hierarchy=tc.Hierarchy.intervals([10, 20])), Variable(scale="numeric"))
    assert ages.table["x"].to_list() == ["0-9", "10-19", "40-49"]
    assert ages.variable("x").order == ("0-9", "10-19", "40-49")


DAYS = [dt.date(2024, 3, 31), dt.date(2024, 4, 1), dt.date(1999, 12, 31), None]


def test_dates() -> None:
    assert values(DAYS, dates="year") == [2024, 2024, 1999, None]
    assert values(DAYS, dates="quarter") == ["2024-Q1", "2024-Q2", "1999-Q4", None]
    made = recoded(DAYS, tc.Recode("x", dates="month"))
    assert made.table["x"].to_list() == ["2024-03", "2024-04", "1999-12", None]
    assert made.variable("x").order == ("1999-12", "2024-03", "2024-04")
    moments = [dt.datetime(2024, 2, 29, 23, 59), None]
    assert values(moments, dates="month") == ["2024-02", None]
    assert values(["2024-02-29", "1999-01-01"], dates="quarter") == ["2024-Q1", "1999-Q1"]


def test_several_variables_by_one_rule() -> None:
    table = pl.DataFrame({"a": [1, 11], "b": [22, None], "c": [1, 2]})
    release = tc.Plan([tc.Recode(["a", "b"], width=10)]).apply(table, tc.Scenario(keys=["a", "b"]))
    assert release.data.table.rows() == [("0-9", "20-29", 1), ("10-19", None, 2)]
    assert release.plan.labels == ("recode a, b",)


def test_nothing_there_nothing_done() -> None:
    assert values(pl.Series([None, None], dtype=pl.Int64), width=5) == [None, None]
    known = Variable(missing=(9,))
    assert recoded([9, 9], tc.Recode("x", width=5), known).table["x"].to_list() == [9, 9]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.Int32, pl.UInt64, pl.Float32, pl.Float64])
def test_numbers_stay_the_numbers_they_were(dtype: pl.DataType) -> None:
    column = pl.Series([1, 2, None, 3], dtype=dtype)
    assert recoded(column, tc.Recode("x", mapping={1: 2})).table["x"].dtype == dtype
    assert recoded(column, tc.Recode("x", breaks=[2, 3], as_codes=True)).table["x"].dtype == dtype


def test_a_type_too_small_gives_way() -> None:
    made = recoded(pl.Series([1, 2], dtype=pl.Int8), tc.Recode("x", mapping={1: 1000})).table["x"]
    assert made.to_list() == [1000, 2]


def test_ordered_categories_stay_ordered_categories() -> None:
    column = pl.Series(["mid", "low", "high", None], dtype=pl.Enum(["low", "mid", "high"]))
    made = recoded(column, tc.Recode("x", mapping={"mid": "some", "high": "some"})).table["x"]
    assert made.dtype == pl.Enum(["low", "some"])
    assert made.to_list() == ["some", "low", "some", None]
    given = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["a", "b", "c"], ordered=True)})
    native = recoded(given, tc.Recode("x", mapping={"a": "A"})).to_native()
    assert list(native["x"].cat.categories) == ["A", "b"]
    assert native["x"].cat.ordered


@pytest.mark.parametrize("kind", ["text", "enum", "categorical", "ordered", "pandas"])
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_released_byte_holds_what_was_recoded_away(kind: str, tmp_path: Path) -> None:
    steps = [tc.Recode("job", mapping={CANARY: "smith"}), tc.Recode("code", mapping={CODE: 2}, labels={2: "two"})]
    folder = (
        tc.Plan(steps)
        .apply(survey(kind), WHO)
        .save(tmp_path / "out", formats=list(FORMATS), accept_unsafe="a test", report=False)
    )
    assert found(folder / "not_for_publication") == []


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_nor_what_was_put_into_intervals(tmp_path: Path) -> None:
    steps = [tc.GroupRare("job", least=3), tc.Recode("code", breaks=[2, 100], as_codes=True)]
    folder = (
        tc.Plan(steps)
        .apply(survey("categorical"), WHO)
        .save(tmp_path / "out", formats=list(FORMATS), accept_unsafe="a test", report=False)
    )
    assert found(folder) == []


def test_labels_and_codes_survive_spss(tmp_path: Path) -> None:
    data = Data.of(pl.DataFrame({"x": [3, 30, 70, 99]}), {"x": Variable(missing=(99,), value_labels={99: "unknown"})})
    release = tc.Plan([tc.Recode("x", breaks=[18, 65], as_codes=True)]).apply(data, tc.Scenario(keys=["x"]))
    release.save(tmp_path / "out", formats=["sav"], accept_unsafe="a test", report=False)
    back = tc.read(tmp_path / "out" / "not_for_publication" / "data.sav")
    assert back.table["x"].to_list() == [1, 2, 3, 99]
    assert back.variable("x").value_labels == {1: "<18", 2: "18-64", 3: "65+", 99: "unknown"}
    assert back.variable("x").missing == (99,)


ONE_OF = (
    "recode needs exactly one of breaks, width, groups, quantiles, log_groups, mapping, scheme, digits, hierarchy or "
    "dates; got"
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, f"{ONE_OF} none of them."),
        ({"width": 5, "breaks": [3]}, f"{ONE_OF} breaks and width."),
        ({"variables": [], "width": 5}, "variables must name at least one variable."),
        ({"breaks": [3, 2]}, "breaks must be ascending numbers, as in [18, 65]; got [3, 2]."),
        ({"breaks": "3"}, "breaks must be ascending numbers, as in [18, 65]; got '3'."),
        ({"breaks": [1, "2"]}, "breaks must be a number; got '2'."),
        ({"breaks": [1, math.nan]}, "breaks must be a number; got nan."),
        ({"breaks": [1], "into": ["a"]}, "into must name 2 different groups, from the lowest on; got ['a']."),
        ({"breaks": [1], "into": ["a", "a"]}, "into must name 2 different groups, from the lowest on; got ['a', 'a']."),
        ({"breaks": [1], "into": [1.5, 2]}, "into must be texts or whole numbers; got [1.5, 2]."),
        ({"width": 0}, "width must be above 0; got 0."),
        ({"width": -2.5}, "width must be above 0; got -2.5."),
        ({"width": "5"}, "width must be a number; got '5'."),
        ({"width": 5, "start": "0"}, "start must be a number; got '0'."),
        ({"width": 5, "bottom": 9, "top": 9}, "bottom must be below top; got 9 and 9."),
        ({"breaks": [1], "top": 9}, "top goes with width, not with breaks; leave it out."),
        (
            {"mapping": {1: 2}, "closed": "right"},
            "closed goes with breaks or width or groups or quantiles or log_groups, not with mapping; leave it out.",
        ),
        ({"width": 5, "closed": "both"}, "closed must be one of 'left', 'right'; got 'both'."),
        (
            {"width": 5, "into": ["a"]},
            "into goes with breaks or groups or quantiles or log_groups, not with width; leave it out.",
        ),
        (
            {"width": 5, "labels": {1: "a"}},
            "labels goes with mapping or scheme or digits or hierarchy, not with width; leave it out.",
        ),
        ({"groups": 1}, "groups must be at least 2; got 1."),
        ({"groups": 2.5}, "groups must be a whole number of at least 2; got 2.5."),
        ({"mapping": [1, 2]}, "mapping must be old and new values, as in {1: 'a', 2: 'a'}; got [1, 2]."),
        ({"mapping": {1: None}}, "mapping must have a text or a number for each value; got None for 1."),
        ({"mapping": {1: 2, "1": 3}}, "values of mapping must be named once each; got '1' more than once."),
        ({"mapping": {1: 2}, "unmatched": "drop"}, "unmatched must be one of 'keep', 'error'; got 'drop'."),
        ({"mapping": {1: 2}, "labels": {2: 3}}, "labels must have a text for each code; got 3 for 2."),
        ({"scheme": 5}, "scheme must be the text of a scheme or the path of one; got 5."),
        (
            {"scheme": "1:1\n<CODELIST> a.cdl"},
            "line 2 of the scheme names a code list, which is looked for beside a file; pass the path of the scheme, "
            "or labels in place of the line.",
        ),
        ({"digits": 0}, "digits must be at least 1; got 0."),
        ({"digits": 3, "length": 3}, "length must be above digits; got length 3 and digits 3."),
        ({"hierarchy": 5}, "hierarchy must be a Hierarchy or the path of a CSV file; got int."),
        ({"hierarchy": tc.Hierarchy.redaction(), "level": 0}, "level must be at least 1; got 0."),
        (
            {"hierarchy": tc.Hierarchy.redaction(), "level": 2},
            "level must be at most 1, the height of the hierarchy; got 2.",
        ),
        (
            {"dates": "week"},
            "dates must be one of 'day', 'month', 'quarter', 'half-year', 'year', 'decade'; got 'week'.",
        ),
        ({"width": 5, "as_codes": "yes"}, "as_codes must be true or false; got 'yes'."),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Recode(**({"variables": "x"} | options))
    assert str(error.value) == message


def test_a_way_is_given_by_its_parameters_or_as_an_object() -> None:
    short = tc.Recode("x", width=5, top=80)
    assert short == tc.Recode("x", Width(5, top=80)) == tc.Recode("x", Width(5), top=80)
    assert short.way == Width(5, top=80)
    assert repr(short) == (
        "Recode(label='', only=None, strata=(), variables=('x',), "
        "way=Width(width=5, start=0, bottom=None, top=80, closed='left'), as_codes=False)"
    )
    assert str(short) == "recode(variables = ['x'], width = 5, top = 80)"
    assert short.to_dict() == {"variables": ["x"], "width": 5, "top": 80}
    assert tc.Recode.from_dict(short.to_dict()) == short
    # What an option would be anyway says nothing.
    assert tc.Recode("x", breaks=[3], unmatched="keep", start=0, labels={}) == tc.Recode("x", breaks=[3])


def test_parts_of_a_recoding_can_be_replaced() -> None:
    step = tc.Recode("x", width=5, top=80)
    assert replace(step, only="x > 3") == tc.Recode("x", width=5, top=80, only="x > 3")
    assert replace(step, way=Breaks([3])) == tc.Recode("x", breaks=[3])
    assert replace(step, width=10) == tc.Recode("x", width=10, top=80)
    assert replace(step.way, width=10) == Width(10, top=80)
    assert pickle.loads(pickle.dumps(step)) == step
    assert hash(step) == hash(tc.Recode("x", Width(5, top=80)))


def test_the_ways_and_their_parameters_can_be_listed() -> None:
    assert list(tc.Recode.ways) == [
        "breaks", "width", "groups", "quantiles", "log_groups", "mapping", "scheme", "digits", "hierarchy", "dates",
    ]  # fmt: skip
    first, *others = tc.Recode.ways["width"].parameters()
    assert (first.name, first.kind, first.wanted) == ("width", "number", "number above 0")
    assert [each.name for each in others] == ["start", "bottom", "top", "closed"]
    # Notebooks and consoles offer them all.
    assert {"width", "mapping", "unmatched", "level"} < set(inspect.signature(tc.Recode).parameters)
    assert [each.name for each in parameters_of(tc.Recode)] == [
        "label", "only", "strata", "variables", "way", "as_codes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tc.Recode("x", [18, 65]),  # type: ignore[arg-type]
            "way must be a way to recode, as Width(5), or give its parameters, as width=5; got list.",
        ),
        (lambda: tc.Recode("x", Width(5), breaks=[3]), f"{ONE_OF} breaks and width."),
        (lambda: tc.Recode("x", Width(5), level=2), "level goes with hierarchy, not with width; leave it out."),
        (lambda: tc.Recode("x", widht=5), "recode has no field 'widht'. Did you mean 'width'?"),
        (lambda: tc.Recode.from_dict({"width": 5}), "recode must name 'variables'."),
        (lambda: tc.Recode.from_dict({"variables": "x", "wide": 5, "width": 5}), "recode has no field 'wide'. "
         "Did you mean 'width'?"),
        (lambda: Width(0), "width must be above 0; got 0."),
        (lambda: Breaks([]), "breaks must be ascending numbers, as in [18, 65]; got []."),
        (lambda: NewValues({}), "mapping must be old and new values, as in {1: 'a', 2: 'a'}; got {}."),
        (
            lambda: Breaks(pl.Series([18, 65])),
            "breaks of recode must be plain values; got a Series, name its columns instead.",
        ),
    ],
)  # fmt: skip
def test_mistakes_about_ways(make: Any, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("column", "known", "options", "message"),
    [
        (
            ["a"], Variable(), {"width": 5},
            "column 'x' must hold numbers to be put into intervals; use mapping, digits, hierarchy or dates.",
        ),
        (
            [math.inf, 1.0], Variable(), {"width": 5},
            "column 'x' has infinite values; set bottom and top, so that they are part of the groups at the ends.",
        ),
        ([math.inf, 1.0], Variable(), {"groups": 2}, "column 'x' has infinite values; use breaks."),
        ([1, 1], Variable(), {"groups": 2}, "column 'x' has one value only and cannot be parted; leave it as it is."),
        (
            [1, 1, 2], Variable(), {"groups": 3, "into": ["a", "b", "c"]},
            "column 'x' can be parted into 2 groups only, but into names 3; name fewer.",
        ),
        (
            [1, 9], Variable(missing=(9,)), {"mapping": {9: 1}},
            "mapping must leave codes of 'x' alone that are declared missing; got '9'.",
        ),
        (
            [1, 9], Variable(missing=(9,)), {"scheme": "1:1\n2:9"},
            "line 2 of the scheme recodes a code of 'x' that is declared missing; take it out.",
        ),
        (
            [1, 2], Variable(), {"scheme": "1:a"},
            "the scheme has codes that are no numbers, but 'x' holds numbers; correct the scheme.",
        ),
        (
            [110, 2411], Variable(), {"digits": 2},
            "column 'x' has numbers of different lengths, whose leading zeros may be lost; pass length=4 if its "
            "codes have four digits.",
        ),
        (["soon"], Variable(), {"dates": "year"}, "of 'x' 1 value is no date; write dates as 2024-03-31."),
        (
            [9911, 99], Variable(missing=(99,)), {"digits": 2},
            "1 group of 'x' would be called like a code declared missing or not applicable; pass as_codes=True or "
            "declare other codes.",
        ),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(column: list[Any], known: Variable, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        recoded(column, tc.Recode("x", **options), known)
    assert str(error.value) == message


def test_a_fraction_among_large_whole_numbers_is_refused() -> None:
    table = pl.DataFrame({"x": [2**53 + 1, 5]})
    with pytest.raises(TacitaError, match=r"^column 'x' holds whole numbers beyond 2"):
        tc.Plan([tc.Recode("x", mapping={5: 0.5})]).apply(table, tc.Scenario(keys=["x"]))


def test_old_values_of_a_mapping_that_do_not_occur_are_named() -> None:
    data = tc.Data.of(
        pl.DataFrame({"state": ["Tyrol", "Vienna", "Styria"], "code": [1, 2, 9]}),
        {"code": tc.Variable(value_labels={1: "one", 2: "two", 3: "three"}, missing=(9,))},
    )
    who = tc.Scenario(keys=["state", "code"])
    (change,) = tc.Plan([tc.Recode("state", mapping={"Tirol": "W", "Vienna": "E"})]).apply(data, who).changes
    assert change.remarks == (
        "'state': 2 values in 2 records without a target stay; 1 value of the mapping does not occur: 'Tirol'",
    )
    # What is labelled is part of the code list, whether it occurs or not.
    (change,) = tc.Plan([tc.Recode("code", mapping={1: 1, 2: 1, 3: 1, 7: 2})]).apply(data, who).changes
    assert change.remarks == ("'code': 1 value of the mapping does not occur: '7'",)
    scheme = "E: Vienna, Viena\nW: Tyrol, Styria"
    (change,) = tc.Plan([tc.Recode("state", scheme=scheme)]).apply(data, who).changes
    assert change.remarks == ("'state': 1 value of the scheme does not occur: 'Viena'",)
