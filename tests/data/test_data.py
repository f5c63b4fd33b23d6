"""Data: any table at the door, the same kind back, codes, scales, record numbers."""

import datetime
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable

COLUMNS = {"region": ["n", "s", None, "n"], "age": [31, 47, 25, None], "income": [1.5, None, 3.0, 2.25]}
POLARS = pl.DataFrame(COLUMNS)


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame(COLUMNS, index=["w", "x", "y", "z"])


# Any table.


TABLES = [POLARS, POLARS.to_arrow(), pandas_frame(), pandas_frame().convert_dtypes()]


@pytest.mark.parametrize("source", TABLES, ids=lambda source: type(source).__name__)
def test_any_table_gives_the_same_values(source: object) -> None:
    data = Data.of(source)
    assert data.columns == ("region", "age", "income")
    assert len(data) == 4
    assert data.table["region"].to_list() == COLUMNS["region"]
    assert data.numbers("age")[:3].tolist() == [31, 47, 25]
    assert np.isnan(data.numbers("age")[3])
    codes, values = data.coded("income")
    assert (codes.tolist(), values) == ([1, 0, 3, 2], (1.5, 2.25, 3.0))
    assert data.missing("income").tolist() == [False, True, False, False]


def test_a_path_is_read(tmp_path: Path) -> None:
    tc.write(POLARS, tmp_path / "survey.parquet")
    assert Data.of(tmp_path / "survey.parquet").table.equals(POLARS)
    assert Data.of(str(tmp_path / "survey.parquet")).table.equals(POLARS)


def test_data_of_data_is_itself() -> None:
    data = Data.of(POLARS)
    assert Data.of(data) is data
    labelled = Data.of(data, {"age": Variable(label="age in years")})
    assert (labelled.variable("age").label, data.variable("age").label) == ("age in years", "")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (POLARS.lazy(), "data must be loaded; got a lazy frame, call .collect() on it first."),
        ([1, 2], "data must be a path or a pandas, Polars or Arrow table; got list."),
        (None, "data must be a path or a pandas, Polars or Arrow table; got NoneType."),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns must be named once each; got 'a' more than once."),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "columns must be named once each; got '1' more than once."),
    ],
)
def test_bad_tables(source: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        Data.of(source)
    assert str(error.value) == message
    assert "secret" not in "".join(traceback.format_exception(error.value))


def test_pandas_kinds() -> None:
    """Nullable, categorical, ordered, dates, all missing: each as what it is."""
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "category": pd.Categorical(["x", None, "y"]),
            "ordered": pd.Categorical(["low", None, "high"], categories=["low", "middle", "high"], ordered=True),
            "date": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "nothing": [None, None, None],
            "mask": [True, False, True],
        }
    )
    data = Data.of(frame)
    assert data.coded("nullable").values == (1, 3)
    assert data.coded("text").values == ("a", "b")
    assert data.coded("category").values == ("x", "y")
    assert data.coded("ordered").codes.tolist()[1] == 0
    assert set(data.coded("ordered").values) == {"low", "high"}
    assert data.coded("date").values == (datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1))
    assert data.coded("nothing").values == ()
    assert data.coded("mask").values == (False, True)
    assert {name: data.scale(name) for name in data.columns} == {
        "nullable": "nominal",
        "text": "nominal",
        "category": "nominal",
        "ordered": "ordinal",
        "date": "nominal",
        "nothing": "nominal",
        "mask": "nominal",
    }
    assert data.missing("nothing").all()


def test_column_names_of_pandas_may_be_numbers() -> None:
    """And a number is a name, not a place."""
    frame = pd.DataFrame({1: ["first"], 0: ["second"], "b": ["third"], 2.5: ["fourth"]})
    data = Data.of(frame)
    assert data.table.to_dicts() == [{"1": "first", "0": "second", "b": "third", "2.5": "fourth"}]
    pd.testing.assert_frame_equal(data.to_native(), frame)
    changed = data.with_columns({"0": ["new"]}).to_native()
    assert changed.to_dict("records") == [{1: "first", 0: "new", "b": "third", 2.5: "fourth"}]


# The same kind back.


def test_pandas_comes_back_with_index_and_untouched_columns() -> None:
    frame = pandas_frame()
    frame["kept"] = pd.Categorical(["a", "b", "a", "b"])
    data = Data.of(frame).with_columns({"age": [30, 40, 20, None], "extra": [1, 2, 3, 4]})
    back = data.to_native()
    assert isinstance(back, pd.DataFrame)
    assert list(back.index) == ["w", "x", "y", "z"]
    assert list(back.columns) == ["region", "age", "income", "kept", "extra"]
    pd.testing.assert_series_equal(back["kept"], frame["kept"])
    pd.testing.assert_series_equal(back["income"], frame["income"])
    assert back["age"].tolist()[:3] == [30, 40, 20]
    assert back["extra"].tolist() == [1, 2, 3, 4]
    assert list(frame.columns) == ["region", "age", "income", "kept"]


def test_arrow_and_polars_come_back() -> None:
    table = POLARS.to_arrow()
    back = Data.of(table).with_columns({"age": [1, 2, 3, 4]}).to_native()
    assert isinstance(back, pa.Table)
    assert back["age"].to_pylist() == [1, 2, 3, 4]
    assert back["region"].equals(table["region"])
    polars = Data.of(POLARS).with_columns({"age": [1, 2, 3, 4]}).to_native()
    assert isinstance(polars, pl.DataFrame)
    assert polars["age"].to_list() == [1, 2, 3, 4]


def test_untouched_is_identical() -> None:
    frame = pandas_frame()
    pd.testing.assert_frame_equal(Data.of(frame).to_native(), frame)
    assert Data.of(POLARS).to_native().equals(POLARS)


# Never changed.


def test_with_columns_is_a_copy() -> None:
    data = Data.of(POLARS, {"age": Variable(label="age")})
    more = data.with_columns({"age": [1, 2, 3, 4]})
    assert data.table["age"].to_list() == COLUMNS["age"]
    assert more.table["age"].to_list() == [1, 2, 3, 4]
    assert (more.changed, data.changed) == (frozenset({"age"}), frozenset())
    assert more.variable("age").label == "age"
    with pytest.raises(AttributeError):
        data.table = POLARS  # type: ignore[misc]


def test_coded_columns_can_be_put_back() -> None:
    codes = np.array([1, 0, 2, 1], dtype=np.uint32)
    more = Data.of(POLARS).with_columns({"region": (codes, ("east", "west"))})
    assert more.table["region"].to_list() == ["east", None, "west", "east"]


# Record numbers.


def test_record_numbers() -> None:
    data = Data.of(POLARS)
    assert data.record.tolist() == [1, 2, 3, 4]
    some = data.take(np.array([2, 0]))
    assert some.record.tolist() == [3, 1]
    assert some.table["age"].to_list() == [25, 31]
    assert some.take(np.array([1])).record.tolist() == [1]
    given = Data(POLARS, numbers_of_records=np.array([10, 20, 30, 40]))
    assert given.record.tolist() == [10, 20, 30, 40]
    assert given.with_columns({"age": [1, 2, 3, 4]}).record.tolist() == [10, 20, 30, 40]
    with pytest.raises(TacitaError) as error:
        Data(POLARS, numbers_of_records=np.array([1, 2]))
    assert str(error.value) == "record numbers must be one per record; got 2."


# Variables.


def test_variables_must_be_columns() -> None:
    with pytest.raises(TacitaError) as error:
        Data.of(POLARS, {"agee": Variable()})
    assert str(error.value) == "variables not in the data: 'agee'. Did you mean 'age'?"
    with pytest.raises(TacitaError) as error:
        Variable(scale="metric")  # type: ignore[arg-type]
    assert str(error.value) == "scale must be one of 'nominal', 'ordinal', 'numeric'; got 'metric'."


def test_scales_are_inferred_unless_declared() -> None:
    frame = pl.DataFrame(
        {
            "text": ["a"] * 30,
            "codes": [1, 2, 3] * 10,
            "years": list(range(30)),
            "share": [0.5] * 30,
            "order": pl.Series(["lo", "hi"] * 15, dtype=pl.Enum(["lo", "hi"])),
        }
    )
    data = Data.of(frame, {"codes": Variable(scale="ordinal")})
    assert [data.scale(name) for name in frame.columns] == ["nominal", "ordinal", "numeric", "numeric", "ordinal"]
    assert data.describe().to_dicts()[1] == {
        "variable": "codes",
        "label": "",
        "scale": "ordinal",
        "inferred": False,
        "values": 3,
        "missing": 0,
        "understood": "whole numbers",
    }


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(TacitaError) as error:
        Data.of(POLARS).numbers("region")
    assert str(error.value) == "column 'region' must hold numbers; it holds text."
    dates = Data.of(pl.DataFrame({"d": [datetime.date(2020, 1, 1)]}))
    with pytest.raises(TacitaError) as error:
        dates.numbers("d")
    assert str(error.value) == "column 'd' must hold numbers; it holds dates or times."


# Codes.


def test_codes_follow_the_sorted_values_and_skip_what_is_missing() -> None:
    frame = pl.DataFrame({"job": [7, 99, 3, None, 98, 7]})
    plain = Data.of(frame).coded("job")
    assert (plain.codes.tolist(), plain.values) == ([2, 4, 1, 0, 3, 2], (3, 7, 98, 99))
    known = Data.of(frame, {"job": Variable(missing=(98, 99))})
    assert (known.coded("job").codes.tolist(), known.coded("job").values) == ([2, 0, 1, 0, 0, 2], (3, 7))
    applied = known.coded("job", [98])
    assert (applied.codes.tolist(), applied.values) == ([2, 0, 1, 0, 3, 2], (3, 7, 98))
    blank = known.coded("job", ["", 98])
    assert (blank.codes.tolist(), blank.values) == ([3, 0, 2, 1, 4, 3], ("", 3, 7, 98))


def test_the_blank_category_is_that_of_the_empty_text() -> None:
    data = Data.of(pl.DataFrame({"job": ["b", "", None, "a"]}))
    codes, values = data.coded("job", [""])
    assert (codes.tolist(), values) == ([3, 1, 1, 2], ("", "a", "b"))
    codes, values = data.coded("job")
    assert (codes.tolist(), values) == ([3, 1, 0, 2], ("", "a", "b"))


KINDS = {
    "whole": st.integers(-5, 5),
    "far": st.integers(-(2**62), 2**62),
    "float": st.floats(allow_infinity=False),
    "text": st.text(max_size=3),
    "flag": st.booleans(),
    "date": st.dates(),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_codes_stand_for_the_sorted_distinct_values(kind: str, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.one_of(st.none(), KINDS[kind]), min_size=1, max_size=15))
    given = Data.of(pl.DataFrame({"x": cells}, strict=False))
    codes, values = given.coded("x")
    right = [None if cell is None or cell != cell else cell for cell in cells]
    assert [None if code == 0 else values[code - 1] for code in codes.tolist()] == right
    assert len(set(values)) == len(values)
    if kind == "text":
        assert list(values) == sorted(values, key=lambda text: text.encode())
    else:
        assert list(values) == sorted(values)
    assert set(codes.tolist()) - {0} == set(range(1, len(values) + 1))


def test_printing_shows_no_cells() -> None:
    data = Data.of(pl.DataFrame({"name": ["CANARY"], "age": [1]}))
    assert repr(data) == str(data) == "<Data: 1 record, 2 variables>"


def test_codes_for_not_applicable_stand_behind_the_order() -> None:
    known = {"x": Variable(order=("low", "high"), missing=("99",))}
    data = Data.of(pl.DataFrame({"x": ["high", "99", "low"]}), known)
    assert data.coded("x").codes.tolist() == [2, 0, 1]
    coded = data.coded("x", ["99"])
    assert (coded.codes.tolist(), coded.values) == ([2, 3, 1], ("low", "high", "99"))


@given(st.lists(st.sampled_from([None, 0, 1, 2, 3, 98]), min_size=1, max_size=12))
def test_codes_for_no_identifier_put_records_into_no_group(column: list[int | None]) -> None:
    known = Variable(missing=(0,), missing_ranges=((90.0, 99.0),), not_applicable=(1,))
    place, count = Data.of(pl.DataFrame({"id": pl.Series(column, dtype=pl.Int64)}), {"id": known}).groups("id")
    identifiers = sorted({value for value in column if value in (2, 3)})
    assert place.tolist() == [identifiers.index(value) if value in (2, 3) else -1 for value in column]
    assert count == len(identifiers)


def test_what_the_caller_changes_later_does_not_reach_the_data() -> None:
    """Numbers of pandas were shared with the caller's frame."""
    mine = pd.DataFrame({"sex": ["f", "m"] * 5, "income": np.arange(10.0)})
    data = Data.of(mine)
    mine.loc[:, "income"] = -1.0
    mine.loc[0, "sex"] = "x"
    assert data.numbers("income").tolist() == np.arange(10.0).tolist()
    assert data.table["sex"].to_list() == ["f", "m"] * 5
