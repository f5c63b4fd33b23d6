"""Excel workbooks: there and back, what Excel would spoil, and files that are not what they seem."""

import datetime
import logging
import math
import tempfile
import warnings
import zipfile
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import EXACT, described, tables
from polars.testing import assert_frame_equal

from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data, Variable
from tacita.data.files import read, write


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def told(action) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    assert all(each.category is TacitaWarning and each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def back(data) -> Data:
    with tempfile.TemporaryDirectory() as folder:
        return read(write(data, Path(folder) / "a.xlsx"))


def workbook(path: Path, *sheets: tuple[str, list[list]]) -> Path:
    """A workbook as somebody else would make it."""
    with xlsxwriter.Workbook(path, {"strings_to_formulas": False, "default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets:
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(rows):
                for at, cell in enumerate(cells):
                    if cell is not None:
                        sheet.write(row, at, cell)
    return path


# --- there and back ---


@settings(max_examples=60)
@given(data=tables(first_year=1900).flatmap(described))
def test_there_and_back(data):
    found = back(data)
    assert_frame_equal(found.table, data.table, check_exact=True)
    assert dict(found.variables) == dict(data.variables)


def test_everything_that_can_be_known():
    known = {
        "x": Variable(
            label="Sex «♀♂»",
            value_labels={1: "male", -9: "refused", 1.5: "half", "a": "text", False: "no"},
            missing=(-9, "x", None),
            missing_ranges=((-math.inf, -10), (97, 99.5)),
            not_applicable=("", 0),
            scale="ordinal",
            order=(2, 1),
        ),
        "y": Variable(label="=1+1"),
    }
    data = Data(pl.DataFrame({"x": [1, 2, None], "y": ["a", "b", "c"]}), known)
    found = back(data).variables
    assert found == known
    assert [type(code) for code in found["x"].value_labels] == [int, int, float, str, bool]


def test_five_hundred_variables():
    columns = {f"v{at}": pl.Series([at, None, at % 7], dtype=pl.Int64) for at in range(500)}
    known = {f"v{at}": Variable(label=f"Variable {at} é", value_labels={at % 7: "code"}) for at in range(500)}
    found = back(Data(pl.DataFrame(columns), known))
    assert_frame_equal(found.table, pl.DataFrame(columns))
    assert found.variables == known


def test_floats_to_the_last_bit():
    numbers = [0.1 + 0.2, 1 / 3, 1e300, 5e-324, -0.0, 123456789.12345679, 1.7976931348623157e308]
    found = back(pl.DataFrame({"x": numbers})).table["x"]
    assert found.to_numpy().tobytes() == pl.Series(numbers).to_numpy().tobytes()


def test_types_without_values():
    table = pl.DataFrame(
        {
            "t": pl.Series([None, None], dtype=pl.String),
            "i": pl.Series([None, None], dtype=pl.Int64),
            "f": pl.Series([None, None], dtype=pl.Float64),
            "d": pl.Series([None, None], dtype=pl.Date),
            "m": pl.Series([None, None], dtype=pl.Datetime("us")),
            "c": pl.Series([None, None], dtype=pl.Time),
            "b": pl.Series([None, None], dtype=pl.Boolean),
            "one": [1, 2],
        }
    )
    assert_frame_equal(back(table).table, table)


def test_dates_and_times():
    table = pl.DataFrame(
        {
            "d": [datetime.date(1900, 1, 1), datetime.date(1900, 2, 28), datetime.date(9999, 12, 31)],
            "m": [datetime.datetime(1900, 3, 1), None, datetime.datetime(2024, 2, 29)],
            "t": [datetime.time(0), None, datetime.time(23, 59, 59, 999_000)],
            "z": [datetime.time(0), None, datetime.time(0)],
        }
    )
    assert_frame_equal(back(table).table, table)


def test_truth_values_and_categories():
    table = pl.DataFrame(
        {"b": [True, None, False], "c": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "suppressed", "high"]))}
    )
    assert_frame_equal(back(table).table, table.with_columns(pl.col("c").cast(pl.String)))


def test_unused_categories_are_not_written(tmp_path):
    table = pl.DataFrame({"c": pl.Series(["low"], dtype=pl.Enum(["low", "suppressed"]))})
    with zipfile.ZipFile(write(table, tmp_path / "a.xlsx")) as parts:
        assert not any(b"suppressed" in parts.read(each) for each in parts.namelist())


def test_the_same_data_gives_the_same_bytes(tmp_path):
    table = pl.DataFrame({"x": [1.5, None], "y": ["a", "b"]})
    first = write(table, tmp_path / "a.xlsx").read_bytes()
    assert write(table, tmp_path / "b.xlsx").read_bytes() == first


# --- what Excel would spoil ---


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "{=1}", "http://example.org"])
def test_formulas_and_links_stay_texts(tmp_path, text):
    table = pl.DataFrame({"x": [text, "b"]})
    file = write(table, tmp_path / "a.xlsx")
    assert_frame_equal(read(file).table, table)
    with zipfile.ZipFile(file) as parts:
        assert b"<f>" not in parts.read("xl/worksheets/sheet1.xml")
        assert not any("rels" in each and b"example.org" in parts.read(each) for each in parts.namelist())


def test_names_and_labels_are_no_formulas(tmp_path):
    data = Data(pl.DataFrame({"=1+1": [1]}), {"=1+1": Variable(label="=2+2", value_labels={1: "=3+3"})})
    file = write(data, tmp_path / "a.xlsx")
    with zipfile.ZipFile(file) as parts:
        assert not any(b"<f>" in parts.read(f"xl/worksheets/sheet{at}.xml") for at in (1, 2))
    assert read(file).variables == data.variables


def test_names_and_labels_that_a_workbook_cannot_carry(tmp_path):
    message = "a.xlsx cannot carry some name or label of a variable: it is too long or not writable."
    for name, label in (("a\0", ""), ("a" * 40_000, ""), ("<r></r>", ""), ("a", "\uffff")):
        data = Data(pl.DataFrame({name: [1]}), {name: Variable(label=label)})
        assert refusal(lambda data=data: write(data, tmp_path / "a.xlsx")) == message


def test_leading_zeros_stay():
    table = pl.DataFrame({"x": ["0012", "12", None], "y": ["1", "2", "3"]})
    assert_frame_equal(back(table).table, table)


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        (pl.Series([EXACT + 1, None]), "whole numbers beyond 2^53"),
        (pl.Series([-(2**63), None]), "whole numbers beyond 2^53"),
        (pl.Series([math.inf, 1.0]), "infinite numbers"),
        (pl.Series([[1], [2]]), "lists, bytes or durations"),
        (pl.Series([datetime.timedelta(1)]), "lists, bytes or durations"),
        (pl.Series(["a" * 32_768]), "texts of more than 32,767 characters"),
        (pl.Series(["😀" * 16_384]), "texts of more than 32,767 characters"),
        (pl.Series(["secret\0"]), "characters or markup that a workbook cannot carry"),
        (pl.Series(["\uffff"]), "characters or markup that a workbook cannot carry"),
        (pl.Series(["<r>&\n</r>"]), "characters or markup that a workbook cannot carry"),
        (pl.Series([datetime.date(1899, 12, 31)]), "dates before 1900 or after 9999"),
        (pl.Series([datetime.datetime(1850, 1, 1)]), "dates before 1900 or after 9999"),
    ],
)
def test_what_excel_cannot_hold(tmp_path, column, fault):
    assert refusal(lambda: write(pl.DataFrame({"x": column}), tmp_path / "a.xlsx")) == (
        f"column 'x' holds {fault}, which a.xlsx cannot carry; make the column text or write Parquet."
    )
    assert list(tmp_path.iterdir()) == []


def test_what_just_fits():
    table = pl.DataFrame({"x": [EXACT, None, -EXACT], "y": ["é" * 32_767, "<r>", None]})
    assert_frame_equal(back(table).table, table)


def test_too_many_records_or_variables(tmp_path):
    message = "a.xlsx can hold 1,048,575 records of 16,384 variables at most; write Parquet."
    assert (
        refusal(lambda: write(pl.DataFrame({"x": pl.repeat(1, 1_048_576, eager=True)}), tmp_path / "a.xlsx")) == message
    )
    wide = pl.DataFrame({f"v{at}": [1] for at in range(16_385)})
    assert refusal(lambda: write(wide, tmp_path / "a.xlsx")) == message


def test_what_is_rounded_or_lost_is_said(tmp_path):
    file = tmp_path / "a.xlsx"
    moment = datetime.datetime(2020, 7, 1, 12, 0, 0, 123_456)
    table = pl.DataFrame({"m": [moment, None]}).with_columns(pl.col("m").dt.replace_time_zone("Europe/Oslo"))
    assert told(lambda: write(table, file)) == [
        "a.xlsx: times of 'm' are rounded to milliseconds.",
        "a.xlsx: times of 'm' are written as their clocks showed, without the time zone.",
        "a.xlsx: 1 record at the end without any value is lost.",
    ]
    assert read(file).table["m"].to_list() == [moment.replace(microsecond=123_000)]


# --- workbooks of others ---


def test_numbers_texts_and_mixtures(tmp_path):
    file = workbook(
        tmp_path / "a.xlsx",
        (
            "Sheet1",
            [
                ["id", "age", "w", "code", "mixed", "day", 2024],
                ["0012", 31, 1.5, "1", "007", datetime.date(2020, 1, 2), True],
                ["12", 47, 2, "2", 12, datetime.date(1950, 5, 6), False],
                [None, None, None, None, 1.5, None, None],
            ],
        ),
    )
    assert read(file).table.to_dict(as_series=False) == {
        "id": ["0012", "12", None],
        "age": [31, 47, None],
        "w": [1.5, 2.0, None],
        "code": ["1", "2", None],
        "mixed": ["007", "12", "1.5"],
        "day": [datetime.date(2020, 1, 2), datetime.date(1950, 5, 6), None],
        "2024": [True, False, None],
    }


def test_times_and_durations(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["clock", "moment", "hours"])
        forms = [book.add_format({"num_format": each}) for each in ("hh:mm", "yyyy-mm-dd hh:mm", "[h]:mm")]
        for row, numbers in enumerate(((0.5, 43831.25, 1.5), (0.0, 43832.0, 0.25)), start=1):
            for at, number in enumerate(numbers):
                sheet.write_number(row, at, number, forms[at])
    table = read(tmp_path / "a.xlsx").table
    assert table["clock"].to_list() == [datetime.time(12), datetime.time(0)]
    assert table["moment"].to_list() == [datetime.datetime(2020, 1, 1, 6), datetime.datetime(2020, 1, 2)]
    assert table["hours"].to_list() == [36 * 3600.0, 6 * 3600.0]


def test_a_type_that_shows_late(tmp_path):
    """Two thousand numbers, and then a text."""
    rows = [["x"], *([1] for _ in range(2000)), ["0012"]]
    assert read(workbook(tmp_path / "a.xlsx", ("a", rows))).table["x"].to_list() == ["1"] * 2000 + ["0012"]


def test_error_cells_are_missing_with_a_word(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["x", "y", "z"])
        sheet.write_row(1, 0, [1, "a", 5])
        sheet.write_formula(2, 0, "=NA()", None, "#N/A")
        sheet.write_formula(3, 0, "=1/0", None, "#DIV/0!")
        sheet.write_formula(2, 1, "=NA()", None, "#N/A")
        sheet.write_string(3, 1, "#N/A")
        sheet.write_formula(2, 2, "=1+1", None, 2)
    assert told(lambda: read(tmp_path / "a.xlsx")) == [
        "a.xlsx: 3 cells of 'x', 'y' hold an error such as #N/A and are missing."
    ]
    with pytest.warns(TacitaWarning):
        found = read(tmp_path / "a.xlsx").table
    assert found.rows() == [(1, "a", 5), (None, None, 2), (None, "#N/A", None)]


def test_sheets(tmp_path):
    file = workbook(tmp_path / "a.xlsx", ("people", [["x"], [1]]), ("firms", [["y"], [2]]))
    assert read(file).table.rows() == [(1,)]
    assert read(file, sheet="firms").columns == ("y",)
    assert (
        refusal(lambda: read(file, sheet="shops")) == "a.xlsx has no sheet 'shops'; its sheets are 'people', 'firms'."
    )


def test_a_sheet_called_variables_that_is_not_ours(tmp_path):
    file = workbook(tmp_path / "a.xlsx", ("data", [["x"], [1]]), ("variables", [["x", "what"], ["x", 5]]))
    assert read(file).variables == {}
    assert read(file, sheet="variables").table.rows() == [("x", 5)]
    ours = write(Data(pl.DataFrame({"x": [1]}), {"x": Variable(label="X")}), tmp_path / "b.xlsx")
    assert read(ours, sheet="variables").columns[:3] == ("variable", "type", "label")


def test_descriptions_that_somebody_changed(tmp_path):
    header = ["variable", "type", "label", "scale", "use of code", "code", "to", "type of code", "label of code"]
    for row in (["x", "odd"], ["x", "text", "", "secret"], ["x", None, None, None, "label", "a", None, "number", "b"]):
        rows = [header, [*row, *[None] * (9 - len(row))]]
        file = workbook(tmp_path / "a.xlsx", ("data", [["x"], [1]]), ("variables", rows))
        assert read(file).variables == {}


def test_descriptions_of_dropped_columns_are_dropped(tmp_path):
    header = ["variable", "type", "label", "scale", "use of code", "code", "to", "type of code", "label of code"]
    rows = [header, ["x", "whole number", "X", *[None] * 6], ["gone", "text", "G", *[None] * 6]]
    file = workbook(tmp_path / "a.xlsx", ("data", [["x"], [1]]), ("variables", rows))
    assert read(file).variables == {"x": Variable(label="X")}


def test_headers(tmp_path):
    file = tmp_path / "a.xlsx"
    workbook(file, ("a", [["x", None, "y"], [1, 2, 3]]))
    assert refusal(lambda: read(file)) == "a.xlsx has no name for column 2; name every column."
    workbook(file, ("a", [["x", "y", "x"], [1, 2, 3]]))
    assert refusal(lambda: read(file)) == (
        "a.xlsx has several columns of one name: 'x' (1, 3); rename all but one of each in its header."
    )
    workbook(file, ("a", [["x", "y"]]))
    assert refusal(lambda: read(file)) == (
        "a.xlsx has a header but no records; check that it was saved or exported completely."
    )
    workbook(file, ("a", []))
    assert refusal(lambda: read(file)) == "a.xlsx is empty; check that it was saved or exported completely."


def test_empty_columns_rows_and_tails(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True})
        sheet.write_row(0, 0, ["x", "y"])
        sheet.write_row(1, 0, [1, "a"])
        sheet.write_row(3, 0, [3, "c"])
        sheet.write_blank(9, 9, None, bold)
        sheet.write_string(7, 1, "  ")
    assert read(tmp_path / "a.xlsx").table.rows() == [(1, "a"), (None, None), (3, "c")]


def test_nothing_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.DEBUG):
        read(workbook(tmp_path / "a.xlsx", ("a", [["x", "empty"], [1, None]])))
    assert caplog.records == []


# --- files that are not what they seem ---


def test_other_files_under_this_name(tmp_path):
    file = tmp_path / "a.xlsx"
    for content, message in {
        b"": "a.xlsx is empty; check that it was saved or exported completely.",
        b"secret,b\n": "a.xlsx is not an Excel file; check its name and how it was made.",
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600): (
            "a.xlsx is protected with a password or an old .xls file; save it as .xlsx without one."
        ),
        b"PK\x03\x04secret": "a.xlsx is damaged or cut off; save it again with Excel.",
    }.items():
        file.write_bytes(content)
        assert refusal(lambda: read(file)) == message
    whole = write(pl.DataFrame({"x": list(range(500))}), file, overwrite=True).read_bytes()
    file.write_bytes(whole[:-100])
    assert refusal(lambda: read(file)) == "a.xlsx is damaged or cut off; save it again with Excel."


@settings(max_examples=60)
@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_damage_gives_a_table_or_one_sentence(places):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = Path(folder) / "a.xlsx"
        damaged = bytearray(write(pl.DataFrame({"x": [1.5, None], "s": ["a", "b"]}), file).read_bytes())
        for place, value in places:
            damaged[place % len(damaged)] = value
        file.write_bytes(bytes(damaged))
        try:
            read(file)
        except TacitaError as error:
            assert str(error).endswith(".")


def test_options_of_other_formats(tmp_path):
    file = workbook(tmp_path / "a.xlsx", ("a", [["x"], [1]]))
    assert refusal(lambda: read(file, encoding="utf-8")) == "encoding is for text files only; leave it out for a.xlsx."
    write(pl.DataFrame({"x": [1]}), tmp_path / "a.csv")
    assert refusal(lambda: read(tmp_path / "a.csv", sheet="a")) == (
        "sheet is for Excel files only; leave it out for a.csv."
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk(tmp_path, monkeypatch):
    to_path = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda _, content: to_path(Path("/dev/full"), content))
    message = refusal(lambda: write(pl.DataFrame({"x": ["secret"] * 10_000}), tmp_path / "a.xlsx"))
    assert message == "a.xlsx could not be written (No space left on device); nothing was changed."
    assert list(tmp_path.iterdir()) == []
