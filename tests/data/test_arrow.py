"""Arrow and Feather files: there and back with labels, for other programs too."""

import io
import tempfile
import warnings
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import described, tables
from polars.testing import assert_frame_equal

from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data, Variable
from tacita.data.files import read, write

NAMES = ("a.arrow", "a.feather", "a.ipc")
SMALL = pl.DataFrame({"sex": ["f", None, "m"], "age": [31, 47, None], "w": [1.5, None, 0.1]})


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def back(data, name: str) -> Data:
    with tempfile.TemporaryDirectory() as folder:
        return read(write(data, Path(folder) / name))


@settings(max_examples=40)
@given(data=tables().flatmap(described), name=st.sampled_from(NAMES))
def test_there_and_back(data, name):
    found = back(data, name)
    assert_frame_equal(found.table, data.table, check_exact=True)
    assert dict(found.variables) == dict(data.variables)


@pytest.mark.parametrize("name", NAMES)
def test_what_doubles_cannot_hold(name):
    table = pl.DataFrame({"id": [2**63 - 1, 2**53 + 1, None], "code": ["0012", "", "a\0b"], "b": [True, None, False]})
    assert_frame_equal(back(table, name).table, table)


def test_five_hundred_variables():
    columns = {f"v{at} é": pl.Series([at, None, at % 7], dtype=pl.Int64) for at in range(500)}
    known = {name: Variable(label=f"L {name}", value_labels={at: "code"}) for at, name in enumerate(columns)}
    found = back(Data(pl.DataFrame(columns), known), "a.arrow")
    assert_frame_equal(found.table, pl.DataFrame(columns))
    assert found.variables == known


def test_everything_that_can_be_known():
    known = {
        "sex": Variable(label="Sex", value_labels={"f": "female"}, not_applicable=("",), order=("f", "m")),
        "age": Variable(missing=(-9, 1.5), missing_ranges=((-float("inf"), -1), (97, 99)), scale="numeric"),
    }
    for name in ("a.arrow", "a.parquet"):
        assert back(Data(SMALL, known), name).variables == known


def test_arrow_itself_reads_what_we_write(tmp_path):
    file = write(Data(SMALL, {"age": Variable(label="Age")}), tmp_path / "a.feather")
    assert_frame_equal(pl.DataFrame(pa.feather.read_table(file)), SMALL)


def test_feather_files_of_others(tmp_path):
    for compression in ("uncompressed", "lz4", "zstd"):
        pa.feather.write_feather(SMALL.to_arrow(), tmp_path / "a.feather", compression=compression)
        assert_frame_equal(read(tmp_path / "a.feather").table, SMALL)
    odd = pa.table({"none": pa.nulls(2), "f": [1.0, float("nan")]})
    pa.feather.write_feather(odd, tmp_path / "a.feather")
    assert read(tmp_path / "a.feather").table.to_dict(as_series=False) == {"none": [None, None], "f": [1.0, None]}


@pytest.mark.parametrize("kind", [pl.Enum(["low", "suppressed", "high"]), pl.Categorical])
def test_categories_that_no_record_has_are_not_written(tmp_path, kind):
    column = pl.Series("x", ["low", "suppressed", "high", None], dtype=kind)
    file = write(pl.DataFrame({"x": column.gather([0, 2, 3])}), tmp_path / "a.arrow")
    assert read(file).table["x"].to_list() == ["low", "high", None]
    assert b"suppressed" not in file.read_bytes()
    assert "suppressed" not in str(pa.ipc.open_file(file.read_bytes()).schema)


def test_files_that_are_not_whole_arrow_files(tmp_path):
    file = tmp_path / "survey.arrow"
    whole = write(SMALL, file).read_bytes()
    for content, message in {
        b"": "survey.arrow is empty; check that it was saved or exported completely.",
        b"secret,b\n1,2\n": "survey.arrow is not an Arrow file; check its name and how it was made.",
        b"FEA1" + bytes(40): "survey.arrow is not an Arrow file; check its name and how it was made.",
        whole[:-10]: "survey.arrow is cut off; check that it was saved or copied completely.",
        b"ARROW1": "survey.arrow is cut off; check that it was saved or copied completely.",
        b"ARROW1\0\0" + b"\xff" * 40 + b"ARROW1": (
            "survey.arrow is damaged or uses something Polars cannot read; export it again."
        ),
    }.items():
        file.write_bytes(content)
        assert refusal(lambda: read(file)) == message


def test_files_without_columns_records_or_good_names(tmp_path):
    file = tmp_path / "a.arrow"
    SMALL.clear().write_ipc(file)
    assert refusal(lambda: read(file)) == (
        "a.arrow has a header but no records; check that it was saved or exported completely."
    )
    pl.DataFrame({"a": [1], "": [2]}).write_ipc(file)
    assert refusal(lambda: read(file)) == "a.arrow has no name for column 2; name every column."
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pa.OSFile(str(file), "wb") as opened, pa.ipc.new_file(opened, twice.schema) as writer:
        writer.write_table(twice)
    assert refusal(lambda: read(file)) == "a.arrow names a column more than once; columns must be named once each."


def test_damaged_descriptions_are_left_out(tmp_path):
    table = SMALL.to_arrow().replace_schema_metadata({"tacita": "{"})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as opened, pa.ipc.new_file(opened, table.schema) as writer:
        writer.write_table(table)
    with pytest.warns(TacitaWarning) as caught:
        assert read(tmp_path / "a.arrow").variables == {}
    assert [str(each.message) for each in caught] == [
        "a.arrow has damaged descriptions of its variables, left out; pass variables=... instead."
    ]
    assert caught[0].filename == __file__


@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_damage_gives_a_table_or_one_sentence(places):
    content = io.BytesIO()
    SMALL.write_ipc(content)
    damaged = bytearray(content.getvalue())
    for place, value in places:
        damaged[8 + place % (len(damaged) - 16)] = value
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = Path(folder) / "survey.arrow"
        file.write_bytes(bytes(damaged))
        try:
            read(file)
        except TacitaError as error:
            assert str(error).startswith("survey.arrow ")
            assert str(error).endswith(".")


@pytest.mark.parametrize("option", [{"delimiter": ","}, {"decimal": ","}, {"encoding": "cp1252"}])
def test_options_of_text_are_refused(tmp_path, option):
    expected = f"{next(iter(option))} is for text files only; leave it out for a.arrow."
    assert refusal(lambda: write(SMALL, tmp_path / "a.arrow", **option)) == expected
    write(SMALL, tmp_path / "a.arrow")
    assert refusal(lambda: read(tmp_path / "a.arrow", **option)) == expected
