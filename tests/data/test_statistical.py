"""SPSS, Stata and SAS files: there and back, what the formats cannot carry, and files that are not what they seem."""

import base64
import datetime
import math
import tempfile
import warnings
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest
from fuzz.sas_file import PEOPLE
from hypothesis import example, given, settings
from hypothesis import strategies as st
from labelled import EXACT, described, tables
from polars.testing import assert_frame_equal

from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data, Variable
from tacita.data.data import used_value_labels
from tacita.data.files import read, write
from tacita.data.formats import names, special
from tacita.data.formats.missing_codes import for_spss
from tacita.scenario import Scenario

SPSS = ("a.sav", "a.zsav")
WRITTEN = (*SPSS, "a.dta", "a.xpt")

# The formats for value labels of the people that damaged files are made of.
CATALOG = (
    "eNrt3L1Kw1AUwPGTtkjdWgjSzVBdDblEiw4iRdMiRApJh+IiRasItQVF6Oru5BMIvoHOorg4+ghuDg7q6KhF0o+YtiCCWP4/CJd7cnLu5UCmkCvS"
    "dfd8sn2lpx+uz5Iyea9OM9OptJ2VbFaLKe0rRReJa31xW5uxRdfFiGtBHT/vG4V111nLl/O+UzYGkRFWP593S0Xj9WV58/LwMR+M3xLblVIiiVB4"
    "ybTmLbWx4O43jls9cdtUlmnNKZWzTKVMFS7XWsxt5ea78/a6F+feSnAN2u/A/QEAAAAAAAAAAAAAAAAAAAAAAAAjVFzfa4/BPzKpH1cqjX1vpjR6"
    "AwAAAAAAAAAAgHHzNPSu71QKw8/wi4XG35eJiN28he/2fsy7DWUn5KBar3WmE7Jb6wuIvA/dwaznFAt/3IWoxS07fNKiEdENpaLPY0xI6aje7KQl"
    "xWvuVevVxg4vBQAAAAD8Wx9EBUso"
)


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def told(action) -> list[str]:
    """The warnings of an action."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    assert all(each.category is TacitaWarning for each in caught)
    return [str(each.message) for each in caught]


def back(data, name: str, **options) -> Data:
    """Written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        return read(write(data, Path(folder) / name, **options))


# --- there and back, whatever the values ---


@settings(max_examples=60)
@given(table=tables(), name=st.sampled_from([*SPSS, "a.dta"]))
def test_values_there_and_back(table, name):
    assert_frame_equal(back(table, name).table, table, check_exact=True)


@settings(max_examples=40)
@given(table=tables(largest=1e74))
def test_values_to_sas_and_back(table):
    assert_frame_equal(back(table, "a.xpt").table, table, check_exact=True)


@settings(max_examples=40)
@given(data=tables().flatmap(described), name=st.sampled_from(SPSS))
def test_labels_and_missing_codes_to_spss_and_back(data, name):
    found = back(data, name)
    assert_frame_equal(found.table, data.table, check_exact=True)
    assert dict(found.variables) == dict(data.variables)


@settings(max_examples=40)
@given(data=tables().flatmap(lambda table: described(table, text=False, missing=False)))
def test_labels_to_stata_and_back(data):
    found = back(data, "a.dta")
    assert_frame_equal(found.table, data.table, check_exact=True)
    assert dict(found.variables) == dict(data.variables)


@settings(max_examples=30)
@given(data=tables(largest=1e74).flatmap(lambda table: described(table, text=False, numeric=False)))
def test_labels_to_sas_and_back(data):
    found = back(data, "a.xpt")
    assert_frame_equal(found.table, data.table, check_exact=True)
    assert dict(found.variables) == dict(data.variables)


@pytest.mark.parametrize("name", WRITTEN)
def test_five_hundred_variables(name):
    columns = {f"v{at}": pl.Series([at, None, at % 7], dtype=pl.Int64) for at in range(500)}
    known = {f"v{at}": Variable(label=f"Variable {at} é", value_labels={at % 7: "code"}) for at in range(500)}
    if name == "a.xpt":
        known = {each: Variable(label=variable.label) for each, variable in known.items()}
    found = back(Data(pl.DataFrame(columns), known), name)
    assert_frame_equal(found.table, pl.DataFrame(columns))
    assert found.variables == known


@pytest.mark.parametrize("name", WRITTEN)
def test_blocks_of_columns(monkeypatch, name):
    monkeypatch.setattr("tacita.data.formats.statistical.CELLS", 7)
    table = pl.DataFrame({f"v{at}": [at, None, 2 * at] for at in range(5)})
    assert_frame_equal(back(table, name).table, table)


# --- kinds of values ---


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt32, pl.UInt64, pl.Int128])
def test_whole_numbers_with_missing_stay_whole(name, kind):
    table = pl.DataFrame({"x": pl.Series([1, None, 100], dtype=kind)})
    assert_frame_equal(back(table, name).table, table.cast(pl.Int64))


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("number", [2_147_483_620, 2_147_483_621, 2**31, -(2**31), EXACT, -EXACT])
def test_large_whole_numbers_are_exact(name, number):
    table = pl.DataFrame({"x": [number, None, 1]})
    assert_frame_equal(back(table, name).table, table)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    "column",
    [
        pl.Series([EXACT + 1, None, -(2**63)]),
        pl.Series([2**64 - 1, EXACT + 2, 1], dtype=pl.UInt64),
        pl.Series([2**100, EXACT + 1, 1], dtype=pl.Int128),
    ],
)
def test_whole_numbers_beyond_doubles_are_refused(tmp_path, name, column):
    table = pl.DataFrame({"id": column})
    assert refusal(lambda: write(table, tmp_path / name)) == (
        f"column 'id' holds whole numbers beyond 2^53 in 2 records, which {name} would round; "
        "make the column text or write Parquet."
    )
    assert list(tmp_path.iterdir()) == []
    text = table.with_columns(pl.col("id").cast(pl.String))
    assert_frame_equal(back(text, name).table, text)


def test_rounded_whole_numbers_are_pointed_out(tmp_path):
    pyreadstat.write_sav(pl.DataFrame({"id": [2.0**60, 1.0]}), tmp_path / "a.sav", variable_format={"id": "F20.0"})
    assert told(lambda: read(tmp_path / "a.sav")) == [
        "a.sav: whole numbers beyond 2^53 in 'id' may have been rounded, so that different ones are equal."
    ]


@pytest.mark.parametrize("name", WRITTEN)
def test_floats_that_happen_to_be_whole_stay_floats(name):
    table = pl.DataFrame({"x": [1.0, None, 3.0], "y": [None, None, 0.5], "z": [1e20, 0.0, -1e15]})
    assert_frame_equal(back(table, name).table, table)


def test_formats_say_which_numbers_are_whole(tmp_path):
    table = pl.DataFrame({name: [1.0, 2.0, None] for name in "abcdef"})
    pyreadstat.write_sav(
        table,
        tmp_path / "a.sav",
        variable_format={"a": "F8.2", "b": "F8.0", "c": "N5", "d": "COMMA8.1", "e": "F8.3", "f": "PCT5"},
        variable_value_labels={"e": {1.0: "one"}},
    )
    types = read(tmp_path / "a.sav").table.schema
    assert [each for each in types if types[each] == pl.Int64] == ["a", "b", "c", "e", "f"]
    forms = {"a": "%9.2f", "b": "%9.0g", "c": "%12.0f", "d": "%8.1e", "e": "%-8.0fc", "f": "%9.1f"}
    pyreadstat.write_dta(table, tmp_path / "a.dta", variable_format=forms)
    types = read(tmp_path / "a.dta").table.schema
    assert [each for each in types if types[each] == pl.Int64] == ["b", "c", "e"]


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_that_do_not_fit_are_refused(tmp_path, name):
    bad = [math.inf, -math.inf, 1.7976931348623157e308, *([1e75, 1e-79] if name == "a.xpt" else [])]
    for number in bad:
        assert refusal(lambda number=number: write(pl.DataFrame({"x": [number, 1.5]}), tmp_path / name)) == (
            f"column 'x' holds numbers too large or too small for {name} in 1 record; write Parquet."
        )
    nothing = back(pl.DataFrame({"x": [math.nan, 1.5]}), name)
    assert nothing.table["x"].to_list() == [None, 1.5]


@pytest.mark.parametrize("name", WRITTEN)
def test_leading_zeros_and_accents(name):
    table = pl.DataFrame({"x": ["0012", "12", None, "é" * 300, "日本", " front"]})
    assert_frame_equal(back(table, name).table, table)


@pytest.mark.parametrize("name", WRITTEN)
def test_an_empty_text_is_missing(name):
    assert back(pl.DataFrame({"x": ["a", "", None]}), name).table["x"].to_list() == ["a", None, None]
    nothing = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.String), "y": [1, 2]})
    assert_frame_equal(back(nothing, name).table, nothing)


@pytest.mark.parametrize("name", WRITTEN)
def test_records_of_nothing_are_kept(name):
    table = pl.DataFrame({"x": ["a", None, None]})
    assert_frame_equal(back(table, name).table, table)


@pytest.mark.parametrize("name", WRITTEN)
def test_long_texts(tmp_path, name):
    table = pl.DataFrame({"x": ["b" * 5000, None, "c"], "y": ["ø" * 1100, "é", None]})
    assert_frame_equal(back(table, name).table, table)
    long = pl.DataFrame({"x": ["é" * 20_000]})
    if name == "a.dta":
        assert_frame_equal(back(long, name).table, long)
    else:
        assert refusal(lambda: write(long, tmp_path / name)) == (
            f"column 'x' holds texts of 40,000 bytes, but {name} can carry 32,767; write Parquet."
        )


@pytest.mark.parametrize("name", WRITTEN)
def test_what_no_format_carries(tmp_path, name):
    for column in (pl.Series([[1]]), pl.Series([b"x"]), pl.Series([datetime.timedelta(1)])):
        table = pl.DataFrame({"x": column})
        assert refusal(lambda table=table: write(table, tmp_path / name)) == (
            f"column 'x' holds lists, bytes or durations, which {name} cannot carry; "
            "write Parquet or leave the column out."
        )
    assert refusal(lambda: write(pl.DataFrame({"x": ["a\0b"]}), tmp_path / name)) == (
        f"column 'x' holds NUL characters, which {name} cannot carry; write Parquet."
    )


def test_spaces_at_the_end(tmp_path):
    table = pl.DataFrame({"x": ["a ", "b"], "y": [" a", "b"]})
    for name in (*SPSS, "a.xpt"):
        assert told(lambda name=name: write(table, tmp_path / name)) == [
            f"{name}: spaces at the end of texts in 'x' are lost."
        ]
    assert_frame_equal(back(table, "a.dta").table, table)


@pytest.mark.parametrize("name", WRITTEN)
def test_categories_are_texts_without_unused_ones(tmp_path, name):
    kinds = (pl.Enum(["low", "suppressed", "high"]), pl.Categorical)
    table = pl.DataFrame({f"x{at}": pl.Series(["high", None, "low"], dtype=kind) for at, kind in enumerate(kinds)})
    file = write(table, tmp_path / name)
    assert_frame_equal(read(file).table, table.cast(pl.String))
    assert b"suppressed" not in file.read_bytes()


@pytest.mark.parametrize("name", WRITTEN)
def test_truth_values_are_one_and_zero(name):
    assert back(pl.DataFrame({"x": [True, None, False]}), name).table["x"].to_list() == [1, None, 0]


# --- dates and times ---


@pytest.mark.parametrize("name", WRITTEN)
def test_dates_and_times(name):
    table = pl.DataFrame(
        {
            "d": [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)],
            "m": [datetime.datetime(1580, 1, 1, 23, 59, 59, 990_000), None, datetime.datetime(2200, 2, 29 - 1, 12)],
            "t": [datetime.time(0), None, datetime.time(23, 59, 59, 999_000)],
            "n": pl.Series([None, None, None], dtype=pl.Date),
        }
    )
    assert_frame_equal(back(table, name).table, table)


def test_counts_of_days_worked_out(tmp_path):
    """14 October 1582 is day 0 of SPSS, 1 January 1960 that of Stata and SAS."""
    first = pl.DataFrame(
        {"s": [datetime.date(1582, 10, 14), datetime.date(1582, 10, 15)], "o": 2 * [datetime.date(1960, 1, 2)]}
    )
    write(first, tmp_path / "a.sav")
    raw, _ = pyreadstat.read_sav(tmp_path / "a.sav", disable_datetime_conversion=True, output_format="dict")
    assert raw["s"] == [0.0, 86400.0]
    for name, reader in (("a.dta", pyreadstat.read_dta), ("a.xpt", pyreadstat.read_xport)):
        write(first, tmp_path / name)
        raw, _ = reader(tmp_path / name, disable_datetime_conversion=True, output_format="dict")
        assert raw["o"] == [1.0, 1.0]


def test_other_programs_read_our_dates(tmp_path):
    moments = [datetime.datetime(2020, 2, 29, 12, 30), datetime.datetime(1955, 1, 1)]
    table = pl.DataFrame({"d": [each.date() for each in moments], "m": moments})
    readers = {"a.sav": pyreadstat.read_sav, "a.dta": pyreadstat.read_dta, "a.xpt": pyreadstat.read_xport}
    for name, reader in readers.items():
        found, _ = reader(write(table, tmp_path / name), output_format="polars")
        assert found["d"].to_list() == table["d"].to_list()
        assert found["m"].to_list() == moments


def test_finer_times_are_rounded_with_a_word(tmp_path):
    moment = datetime.datetime(2020, 1, 1, 0, 0, 0, 123_456)
    table = pl.DataFrame({"m": [moment, None]})
    for name in WRITTEN:
        assert told(lambda name=name: write(table, tmp_path / name)) == [
            f"{name}: times of 'm' are rounded to 10 microseconds."
        ]
        assert read(tmp_path / name).table["m"][0] == moment.replace(microsecond=123_460)


def test_time_zones_are_dropped_with_a_word(tmp_path):
    table = pl.DataFrame({"m": [datetime.datetime(2020, 7, 1, 12)]}).with_columns(
        pl.col("m").dt.replace_time_zone("Europe/Oslo")
    )
    assert told(lambda: write(table, tmp_path / "a.dta")) == [
        "a.dta: times of 'm' are written as their clocks showed, without the time zone."
    ]
    assert read(tmp_path / "a.dta").table["m"].to_list() == [datetime.datetime(2020, 7, 1, 12)]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *((form, pl.Date) for form in ("DATE11", "ADATE10", "EDATE8", "JDATE7", "SDATE10", "MOYR8", "QYR8", "WKYR10")),
        *((form, pl.Datetime("us")) for form in ("DATETIME20", "DATETIME23.3", "YMDHMS19")),
        ("WKDAY3", pl.Int64),
        ("F11.0", pl.Int64),
    ],
)
def test_formats_of_spss(tmp_path, form, kind):
    table = pl.DataFrame({"x": [86400.0 * 150_000, None]})
    pyreadstat.write_sav(table, tmp_path / "a.sav", variable_format={"x": form})
    assert read(tmp_path / "a.sav").table["x"].dtype == kind


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *((form, pl.Date) for form in ("%td", "%d", "%-td", "%tdDD/NN/CCYY", "%tdCCYY-NN-DD")),
        *((form, pl.Datetime("us")) for form in ("%tc", "%tcDDmonCCYY_HH:MM", "%tcNN/DD/CCYY")),
        *((form, pl.Time) for form in ("%tcHH:MM:SS", "%tcHH:MM", "%tcHh:MM_am", "%tcHH:MM:SS.sss")),
        *((form, pl.Int64) for form in ("%ty", "%8.0g")),
    ],
)
def test_formats_of_stata(tmp_path, form, kind):
    pyreadstat.write_dta(pl.DataFrame({"x": [21_915.0, None]}), tmp_path / "a.dta", variable_format={"x": form})
    assert read(tmp_path / "a.dta").table["x"].dtype == kind


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *((form, pl.Date) for form in ("DATE9", "YYMMDD10", "DDMMYYP10", "MONYY7", "YEAR4", "E8601DA10", "WORDDATE")),
        *((form, pl.Datetime("us")) for form in ("DATETIME20", "DATETIME22.3", "E8601DT19", "DTDATE9", "B8601DN10")),
        *((form, pl.Time) for form in ("TIME8", "HHMM5", "TIMEAMPM11", "E8601TM8", "TOD8.1")),
        *((form, pl.Int64) for form in (None, "BEST12", "F8", "Z5")),
        ("F8.1", pl.Float64),
    ],
)
def test_formats_of_sas(tmp_path, form, kind):
    forms = {"x": form} if form else None
    pyreadstat.write_xport(pl.DataFrame({"x": [21_915.0, None]}), tmp_path / "a.xpt", variable_format=forms)
    assert read(tmp_path / "a.xpt").table["x"].dtype == kind


def test_a_date_with_a_time_of_day_keeps_it(tmp_path):
    pyreadstat.write_sav(
        pl.DataFrame({"x": [86400.0, 1.5 * 86400]}), tmp_path / "a.sav", variable_format={"x": "DATE11"}
    )
    assert read(tmp_path / "a.sav").table["x"].to_list() == [
        datetime.datetime(1582, 10, 15),
        datetime.datetime(1582, 10, 15, 12),
    ]


def test_durations_and_months_stay_numbers(tmp_path):
    pyreadstat.write_sav(pl.DataFrame({"x": [90_000.0, 5.0]}), tmp_path / "a.sav", variable_format={"x": "TIME8"})
    assert told(lambda: read(tmp_path / "a.sav")) == [
        "a.sav: numbers of 'x' are no dates or times of a day, against their format, and stay numbers."
    ]
    forms = {"m": "%tm", "q": "%-tq", "c": "%tC"}
    table = pl.DataFrame({name: [600.0, 601.0] for name in forms})
    pyreadstat.write_dta(table, tmp_path / "a.dta", variable_format=forms)
    assert told(lambda: read(tmp_path / "a.dta")) == [
        "a.dta: 'm', 'q', 'c' count weeks, months, quarters, half-years or leap seconds, and stay numbers."
    ]


# --- missing codes ---


def test_user_missing_codes_are_values_that_measures_take_for_missing():
    known = Variable(value_labels={1: "yes", -9: "refused", -8: "not asked"}, missing=(-9, -8))
    data = back(Data(pl.DataFrame({"x": [1, -9, None, -8, 2]}), {"x": known}), "a.sav")
    assert data.variable("x") == known
    assert data.table["x"].to_list() == [1, -9, None, -8, 2]
    assert data.coded("x").values == (1, 2)
    assert data.coded("x").codes.tolist() == [1, 0, 0, 0, 2]
    # A code of the file can be declared not applicable in the variable or the scenario.
    assert data.coded("x", not_applicable=(-8,)).codes.tolist() == [2, 0, 0, 1, 3]
    scenario = Scenario(keys=["x"], not_applicable={"x": (-8,)})
    assert data.coded("x", scenario.not_applicable["x"]).values == (-8, 1, 2)
    np.testing.assert_array_equal(data.numbers("x"), [1, np.nan, np.nan, np.nan, 2])
    assert data.missing("x").tolist() == [False, True, True, True, False]
    assert data.describe()["missing"].to_list() == [3]


@pytest.mark.parametrize(
    "known",
    [
        Variable(missing=(-1,)),
        Variable(missing=(-1, -2, -3)),
        Variable(missing_ranges=((-9, -5),)),
        Variable(missing_ranges=((-9.5, -5),), missing=(99,)),
        Variable(missing_ranges=((-math.inf, -1),)),
        Variable(missing_ranges=((90, math.inf),), missing=(-1,)),
    ],
)
@pytest.mark.parametrize("name", SPSS)
def test_codes_and_ranges_of_spss(name, known):
    data = Data(pl.DataFrame({"x": [-9.0, -8.0, -5.0, -1.0, 1.0, 99.0, 100.0, None]}), {"x": known})
    found = back(data, name)
    assert found.variables == {"x": known}
    assert found.coded("x").codes.tolist() == data.coded("x").codes.tolist()


def test_ranges_by_hand():
    data = Data(
        pl.DataFrame({"x": [-9.0, -8.5, -5.0, -1.0, 1.0, 99.0, None], "y": ["a", "b", "c", "d", "e", "f", "g"]}),
        {"x": Variable(missing_ranges=((-9, -5),), missing=(99,)), "y": Variable(missing_ranges=((0, 1),))},
    )
    assert data.coded("x").codes.tolist() == [0, 0, 0, 1, 2, 0, 0]
    assert data.coded("x", not_applicable=(-9,)).values == (-9.0, -1.0, 1.0)
    np.testing.assert_array_equal(data.numbers("x"), [np.nan, np.nan, np.nan, -1, 1, np.nan, np.nan])
    assert data.coded("y").codes.tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("wrong", [((1,),), (1, 2), ((2, 1),), (("a", "b"),), 5])
def test_ranges_must_be_pairs(wrong):
    assert refusal(lambda: Variable(missing_ranges=wrong)) == (
        f"missing_ranges must be pairs of a lowest and a highest code, as ((-99, -1),); got {wrong!r}."
    )


@pytest.mark.parametrize(
    ("known", "values", "expected"),
    [
        (Variable(missing=(-9, -8, -7, -6)), [1, -8], [{"lo": -9, "hi": -6}]),
        (Variable(missing=(-9, -8, -7, 99)), [1, 5], [99, {"lo": -9, "hi": -7}]),
        (Variable(missing=(-9, 97, 98, 99)), [1, 5], [-9, {"lo": 97, "hi": 99}]),
        (Variable(missing=(-9, 5, 97, 99)), [1, 6], None),
        (Variable(missing=(-9, -8, -6, -5)), [1, -7], None),
        (Variable(missing=(-9, -8, -6, -5), value_labels={-7: "valid"}), [1], None),
        (Variable(missing=(-9, -8), missing_ranges=((97, 99),)), [1], None),
        (Variable(missing=(-8,), missing_ranges=((-9, -7), (-3, -2))), [1], [{"lo": -9, "hi": -2}]),
    ],
)
def test_many_codes_are_drawn_together_for_spss(known, values, expected):
    assert for_spss(known, np.array(values, dtype=float)) == expected


@given(
    codes=st.lists(st.integers(-20, 20), max_size=6, unique=True),
    ranges=st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 9)), max_size=2),
    values=st.lists(st.integers(-20, 20), max_size=8),
)
def test_drawn_together_means_the_same(codes, ranges, values):
    known = Variable(missing=tuple(codes), missing_ranges=tuple((low, low + more) for low, more in ranges))
    pieces = for_spss(known, np.array(values, dtype=float))
    if pieces is None:
        return
    spans = [piece for piece in pieces if isinstance(piece, dict)]
    singles = [piece for piece in pieces if not isinstance(piece, dict)]
    assert len(spans) + len(singles) <= 3 and len(spans) <= 1 and (not spans or len(singles) <= 1)
    for value in values:
        said = value in singles or any(span["lo"] <= value <= span["hi"] for span in spans)
        assert said == known.is_missing(value)
    assert all(code in singles or any(span["lo"] <= code <= span["hi"] for span in spans) for code in codes)


def test_codes_that_a_file_cannot_declare(tmp_path):
    table = pl.DataFrame({"x": [-9, -5, 1, 5, 9], "y": ["refused to say", "b", "c", "d", "e"]})
    known = {"x": Variable(missing=(-9, 5, 9, -1)), "y": Variable(missing=("refused to say",))}
    for name in ("a.sav", "a.dta", "a.xpt"):
        assert told(lambda name=name: write(Data(table, known), tmp_path / name)) == [
            f"{name}: missing codes of 'x', 'y' cannot be declared in the file and count as values there."
        ]
        assert_frame_equal(read(tmp_path / name).table, table)


def test_codes_that_a_file_cannot_declare_not_applicable(tmp_path):
    """SPSS and Stata know missing values only: whoever measures the file must be told that some are categories."""
    table = pl.DataFrame({"x": [-9, -8, 1], "y": ["a", None, "b"], "z": [0, 1, 2]})
    known = {
        "x": Variable(missing=(-9, -8), not_applicable=(-8,)),
        "y": Variable(not_applicable=("",)),
        "z": Variable(not_applicable=(0, "")),
    }
    unsaid = (
        "the file cannot say that missing values of {} mean not applicable; tell it by Scenario(not_applicable=...) "
        "when measuring the file."
    )
    values = "missing codes of 'x' cannot be declared in the file and count as values there."
    said = told(lambda: write(Data(table, known), tmp_path / "a.sav"))
    assert said == ["a.sav: " + unsaid.format("'x', 'y'")]
    said = told(lambda: write(Data(table, known), tmp_path / "a.dta"))
    assert said == [f"a.dta: {values}", "a.dta: " + unsaid.format("'y'")]


def test_missing_texts_of_spss():
    known = Variable(value_labels={"NA": "no answer", "b": "bee"}, missing=("NA", "refused"))
    data = back(Data(pl.DataFrame({"x": ["NA", "b", "refused", None]}), {"x": known}), "a.sav")
    assert data.variable("x") == known
    assert data.coded("x").values == ("b",)


def test_missing_codes_among_dates(tmp_path):
    pyreadstat.write_sav(
        pl.DataFrame({"x": [86400.0, -1.0, None]}),
        tmp_path / "a.sav",
        variable_format={"x": "DATE11"},
        missing_ranges={"x": [-1.0]},
    )
    assert told(lambda: read(tmp_path / "a.sav")) == [
        "a.sav: missing codes of the dates or times in 'x' are plain missing now."
    ]


def test_the_order_of_categories_needs_no_missing_codes():
    known = Variable(order=("low", "high"), missing=("refused",))
    data = Data(pl.DataFrame({"x": ["high", "refused", "low"]}), {"x": known})
    assert data.coded("x").codes.tolist() == [2, 0, 1]


def test_labels_in_use():
    data = Data(pl.DataFrame({"x": [1, 2, None]}), {"x": Variable(value_labels={1: "a", 2.0: "b", 3: "gone"})})
    assert used_value_labels(data, "x") == {1: "a", 2: "b"}


# --- special missing values ---


def test_letters_of_stata(tmp_path):
    column = pl.Series("x", [1, 2, "a", "z", None], dtype=pl.Object)
    pyreadstat.write_dta(
        pl.DataFrame([column]),
        tmp_path / "a.dta",
        missing_user_values={"x": ["a", "b", "z"]},
        variable_value_labels={"x": {1: "one", "a": "refused", "b": "not asked"}},
    )
    data = read(tmp_path / "a.dta")
    a, b, z = (special.code_of(letter) for letter in "abz")
    assert (a, b, z) == (-9_000_001, -9_000_002, -9_000_026)
    assert data.table["x"].to_list() == [1, 2, a, z, None]
    assert data.variable("x") == Variable(
        value_labels={1: "one", a: "refused", b: "not asked", z: ".z"}, missing=(a, b, z)
    )
    assert data.coded("x").codes.tolist() == [1, 2, 0, 0, 0]
    assert data.coded("x", not_applicable=(z,)).codes.tolist() == [2, 3, 0, 1, 0]
    # Stata gets the letters back, SPSS a range of codes.
    write(data, tmp_path / "b.dta")
    raw, facts = pyreadstat.read_dta(tmp_path / "b.dta", user_missing=True, output_format="dict")
    assert raw["x"] == [1, 2, "a", "z", None]
    assert facts.variable_value_labels == {"x": {1: "one", "a": "refused", "b": "not asked"}}
    assert read(tmp_path / "b.dta").variables == data.variables
    found = back(data, "a.sav")
    assert found.table["x"].to_list() == data.table["x"].to_list()
    assert found.coded("x").codes.tolist() == [1, 2, 0, 0, 0]


@given(
    values=st.lists(st.none() | st.integers(-5, 5) | st.sampled_from("abcxyz"), min_size=1, max_size=8),
    half=st.sampled_from([0, 0.5]),
)
@settings(max_examples=40)
def test_letters_of_stata_there_and_back(values, half):
    letters = sorted({value for value in values if isinstance(value, str)})
    coded = [special.code_of(value) if isinstance(value, str) else value for value in values]
    if half:
        coded = [value if value is None or value < -9 else value + half for value in coded]
    table = pl.DataFrame({"x": pl.Series(coded, dtype=pl.Float64 if half else pl.Int64)})
    codes = tuple(special.code_of(letter) for letter in letters)
    known = {"x": Variable(missing=codes, value_labels={code: f".{special.letter_of(code)}" for code in codes})}
    found = back(Data(table, known if codes else {}), "a.dta")
    assert found.table["x"].to_list() == table["x"].to_list()
    assert found.variables == (known if codes else {})


def test_numbers_among_the_codes_of_letters(tmp_path):
    column = pl.Series("x", [-9_000_005, "a"], dtype=pl.Object)
    pyreadstat.write_dta(pl.DataFrame([column]), tmp_path / "a.dta", missing_user_values={"x": ["a"]})
    assert refusal(lambda: read(tmp_path / "a.dta")) == (
        "column 'x' has special missing values beside numbers from -9000027 to -9000001, which stand for them; "
        "recode those numbers."
    )


def test_letters_among_dates(tmp_path):
    column = pl.Series("x", [5, "a"], dtype=pl.Object)
    pyreadstat.write_dta(
        pl.DataFrame([column]), tmp_path / "a.dta", missing_user_values={"x": ["a"]}, variable_format={"x": "%td"}
    )
    with pytest.warns(TacitaWarning, match="plain missing now"):
        assert read(tmp_path / "a.dta").table["x"].to_list() == [datetime.date(1960, 1, 6), None]


def test_sas_files_with_special_missing_values_and_a_catalog(tmp_path):
    (tmp_path / "people.sas7bdat").write_bytes(PEOPLE)
    (tmp_path / "formats.sas7bcat").write_bytes(zlib.decompress(base64.b64decode(CATALOG)))
    data = read(tmp_path / "people.sas7bdat", catalog=tmp_path / "formats.sas7bcat")
    a, r, none = (special.code_of(letter) for letter in "AR_")
    assert data.table.to_dict(as_series=False) == {
        "SEX": [1, 2, r, None],
        "region": ["03", "11", "03", None],
        "income": [1200.5, a, none, None],
        "born": [datetime.date(1960, 1, 1), datetime.date(1970, 1, 1), None, datetime.date(1959, 12, 31)],
        "seen": [
            datetime.datetime(1960, 1, 1),
            datetime.datetime(1960, 1, 2, 0, 0, 0, 250_000),
            None,
            datetime.datetime(1959, 12, 31, 23, 59, 59),
        ],
        "woke": [datetime.time(1), datetime.time(0), None, datetime.time(23, 59, 59)],
        "w": [1.0, 2.0, 1.0, 2.0],
    }
    assert data.variables == {
        "SEX": Variable(label="Sex", value_labels={1: "male", 2: "female", r: ".r"}, missing=(r,)),
        "region": Variable(value_labels={"03": "Oslo", "11": "Rogaland"}),
        "income": Variable(label="Income, net", value_labels={none: "._", a: ".a"}, missing=(none, a)),
    }
    plain = read(tmp_path / "people.sas7bdat")
    assert plain.variable("region") == Variable()
    # Stata has no ._, and transport files have no value labels.
    assert told(lambda: write(data, tmp_path / "a.dta")) == [
        "a.dta: value labels of 'region' that the format cannot carry are left out.",
        "a.dta: special missing values of 'income' are plain missing.",
    ]
    assert read(tmp_path / "a.dta").table["income"].to_list() == [1200.5, a, None, None]
    assert told(lambda: write(data, tmp_path / "a.xpt")) == [
        "a.xpt: value labels of 'SEX', 'region' that the format cannot carry are left out.",
    ]
    again = read(tmp_path / "a.xpt")
    assert again.table["income"].to_list() == [1200.5, a, none, None]
    assert again.variable("income").missing == data.variable("income").missing


def test_sas_files_are_read_only(tmp_path):
    assert refusal(lambda: write(pl.DataFrame({"x": [1]}), tmp_path / "a.sas7bdat")) == (
        "a.sas7bdat can be read but not written; write .xpt for SAS."
    )
    assert list(tmp_path.iterdir()) == []


# --- labels ---


def test_scales():
    data = Data(
        pl.DataFrame({"a": [1], "b": [2], "c": [3.5], "d": ["x"], "e": ["y"]}),
        {
            "a": Variable(scale="nominal"),
            "b": Variable(scale="ordinal"),
            "c": Variable(scale="numeric"),
            "d": Variable(scale="ordinal"),
        },
    )
    assert back(data, "a.sav").variables == data.variables


def test_labels_that_are_too_long(tmp_path):
    known = {"x": Variable(label="é" * 300, value_labels={1: "ø" * 200})}
    data = Data(pl.DataFrame({"x": [1, 2]}), known)
    assert told(lambda: write(data, tmp_path / "a.sav")) == [
        "a.sav: value labels of 'x' were too long and are cut.",
        "a.sav: labels of 'x' were too long and are cut.",
    ]
    assert read(tmp_path / "a.sav").variable("x") == Variable(label="é" * 127, value_labels={1: "ø" * 60})
    assert told(lambda: write(data, tmp_path / "a.dta")) == ["a.dta: labels of 'x' were too long and are cut."]
    assert read(tmp_path / "a.dta").variable("x") == Variable(label="é" * 80, value_labels={1: "ø" * 200})
    assert read_quietly(data, tmp_path / "a.xpt").variable("x") == Variable(label="é" * 128)


def read_quietly(data, path) -> Data:
    told(lambda: write(data, path))
    return read(path)


def test_value_labels_that_a_format_cannot_carry(tmp_path):
    known = {"x": Variable(value_labels={1: "one", 1.5: "half", "a": "letter"}), "y": Variable(value_labels={"a": "A"})}
    data = Data(pl.DataFrame({"x": [1.5, 1.0], "y": ["a", "b"]}), known)
    assert told(lambda: write(data, tmp_path / "a.sav")) == [
        "a.sav: value labels of 'x' that the format cannot carry are left out."
    ]
    assert read(tmp_path / "a.sav").variable("x").value_labels == {1: "one", 1.5: "half"}
    assert told(lambda: write(data, tmp_path / "a.dta")) == [
        "a.dta: value labels of 'x', 'y' that the format cannot carry are left out."
    ]
    assert read(tmp_path / "a.dta").variable("x").value_labels == {1: "one"}


# --- names ---

ODD = ["income (net)", "1st", "Age", "AGE", "with", "_x", "x" * 70, "kjønn", "", "æ" * 40, "x.y"]


@pytest.mark.parametrize("rule", [names.SPSS, names.STATA, names.SAS])
@given(
    given=st.lists(st.one_of(st.text(max_size=40), st.sampled_from(ODD), st.text("aA_1.", max_size=40)), unique=True)
)
def test_new_names_are_accepted_and_different(rule, given):
    fresh = names.accepted(given, rule)
    assert sorted(fresh) == sorted(names.refused(given, rule))
    after = [fresh.get(name, name) for name in given]
    assert names.refused(after, rule) == []
    assert len({rule.key(name) for name in after}) == len(given)
    assert names.accepted(given, rule) == fresh


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=40)
@given(given=st.lists(st.one_of(st.text(min_size=1, max_size=40), st.sampled_from(ODD[:-3])), min_size=1, unique=True))
def test_what_we_accept_the_writers_accept(name, given):
    rule = {"a.dta": names.STATA, "a.xpt": names.SAS}.get(name, names.SPSS)
    fresh = list(names.accepted(given, rule).values()) or ["x"]
    table = pl.DataFrame({each: [at] for at, each in enumerate(fresh)})
    assert_frame_equal(back(table, name).table, table)


def test_refused_names_in_one_sentence(tmp_path):
    table = pl.DataFrame({name: [1] for name in ("ok", "income (net)", "Age", "AGE", "with", "2024")})
    assert refusal(lambda: write(table, tmp_path / "a.sav")) == (
        "a.sav cannot hold 4 names: 'income (net)', 'AGE' (the same as 'Age'), 'with' (a reserved word), '2024'; "
        "a name is letters, digits and . _ $ # @ with a letter first, at most 64 bytes long, whatever the case; "
        "rename them or pass rename=True."
    )
    assert refusal(lambda: write(table, tmp_path / "a.dta")) == (
        "a.dta cannot hold 3 names: 'income (net)', 'with' (a reserved word), '2024'; a name is letters, digits and _ "
        "with no digit first, at most 32 characters long; rename them or pass rename=True."
    )
    assert refusal(lambda: write(table.rename({"ok": "kjønn"}), tmp_path / "a.xpt")) == (
        "a.xpt cannot hold 4 names: 'kjønn', 'income (net)', 'AGE' (the same as 'Age'), '2024'; a name is a to z, "
        "digits and _ with no digit first, at most 32 characters long, whatever the case; rename them or pass "
        "rename=True."
    )
    assert list(tmp_path.iterdir()) == []


def test_renamed_with_a_word_and_the_old_name_as_label(tmp_path):
    known = {"2024": Variable(label="Year", value_labels={1: "one"}, missing=(1,), scale="nominal")}
    data = Data(pl.DataFrame({"ok": [1], "income (net)": [2], "2024": [1]}), known)
    assert told(lambda: write(data, tmp_path / "a.sav", rename=True)) == [
        "a.sav: renamed 'income (net)' to 'income__net_', '2024' to 'v2024'."
    ]
    found = read(tmp_path / "a.sav")
    assert found.columns == ("ok", "income__net_", "v2024")
    assert found.variables == {"income__net_": Variable(label="income (net)"), "v2024": known["2024"]}
    assert told(lambda: write(Data(data.table.select("ok")), tmp_path / "b.sav", rename=True)) == []


def test_names_with_value_labels_in_stata(tmp_path):
    """Stata names the labels like the variable, with a number behind."""
    name = "a" * 32
    data = Data(pl.DataFrame({name: [1], "b": [2]}), {name: Variable(value_labels={1: "one"})})
    assert refusal(lambda: write(data, tmp_path / "a.dta")) == (
        f"a.dta cannot hold 1 name: {name!r} (at most 31 with value labels); a name is letters, digits and _ with no "
        "digit first, at most 32 characters long; rename them or pass rename=True."
    )
    assert back(Data(data.table), "a.dta").columns == (name, "b")
    told(lambda: write(data, tmp_path / "a.dta", rename=True))
    assert read(tmp_path / "a.dta").variables == {"a" * 31: Variable(label=name, value_labels={1: "one"})}
    labelled = {f"{'b' * 28}{at:03}": Variable(value_labels={1: str(at)}) for at in range(12)}
    many = Data(pl.DataFrame({each: [1] for each in labelled}), labelled)
    assert "(at most 30 with value labels)" in refusal(lambda: write(many, tmp_path / "b.dta"))
    short = {each[1:]: known for each, known in labelled.items()}
    assert back(Data(pl.DataFrame({each: [1] for each in short}), short), "b.dta").variables == short


def test_too_many_variables(tmp_path):
    table = pl.DataFrame({f"v{at}": [1] for at in range(10_000)})
    assert refusal(lambda: write(table, tmp_path / "a.xpt")) == (
        "a.xpt can hold 9,999 variables and the data has 10,000; write Parquet."
    )


# --- files that are not what they seem ---

NAMED = {
    "a.sav": "an SPSS",
    "a.zsav": "an SPSS",
    "a.dta": "a Stata",
    "a.sas7bdat": "a SAS",
    "a.xpt": "a SAS transport",
}


@pytest.mark.parametrize("name", NAMED)
def test_other_files_under_these_names(tmp_path, name):
    file = tmp_path / name
    for content in (b"secret,b\n1,2\n", b"PK\x03\x04" + bytes(100), bytes(1000), b"PAR1"):
        file.write_bytes(content)
        assert refusal(lambda: read(file)) == (f"{name} is not {NAMED[name]} file; check its name and how it was made.")
    file.write_bytes(b"")
    assert refusal(lambda: read(file)) == f"{name} is empty; check that it was saved or exported completely."


def test_protected_files(tmp_path):
    (tmp_path / "a.sav").write_bytes(b"ENCRYPTEDSAV" + bytes(100))
    assert refusal(lambda: read(tmp_path / "a.sav")) == "a.sav is protected with a password; save it without one."


@pytest.mark.parametrize("name", [*WRITTEN, "a.sas7bdat"])
def test_files_that_are_cut_off(tmp_path, name):
    file = tmp_path / name
    if name == "a.sas7bdat":
        file.write_bytes(PEOPLE)
    else:
        write(pl.DataFrame({"x": [1.5, None, 3.0] * 100, "s": ["secret", "b", None] * 100}), file)
    whole = file.read_bytes()
    for share in (0.2, 0.5, 0.7, 0.9):
        file.write_bytes(whole[: int(len(whole) * share)])
        message = refusal(lambda: read(file))
        assert message.startswith(f"{name} is ") and message.endswith("."), message
        assert "secret" not in message


def test_transport_files_cut_off_between_records(tmp_path):
    file = write(pl.DataFrame({"x": np.arange(1000.0)}), tmp_path / "a.xpt")
    whole = file.read_bytes()
    for kept in (whole[:-80], whole[:-1], whole[:-4000]):
        file.write_bytes(kept)
        assert refusal(lambda: read(file)) == "a.xpt is cut off; check that it was saved or copied completely."


def test_files_without_records(tmp_path):
    for name in WRITTEN:
        write(pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)}), tmp_path / name)
        assert refusal(lambda name=name: read(tmp_path / name)) == (
            f"{name} has a header but no records; check that it was saved or exported completely."
        )


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_all_versions_of_stata(tmp_path, version):
    table = pl.DataFrame({"x": pl.Series([1, None], dtype=pl.Int32), "y": [0.5, None], "s": ["0012", ""]})
    labels = {"x": {1: "one"}}
    pyreadstat.write_dta(table, tmp_path / "a.dta", version=version, variable_value_labels=labels)
    data = read(tmp_path / "a.dta")
    assert data.table.rows() == [(1, 0.5, "0012"), (None, None, None)]
    assert data.variables == {"x": Variable(value_labels=labels["x"])}


def test_old_transport_files(tmp_path):
    table = pl.DataFrame({"x": [1.0, None], "y": [0.5, None], "s": ["0012", "b"]})
    pyreadstat.write_xport(table, tmp_path / "a.xpt", file_format_version=5, column_labels={"x": "Number"})
    data = read(tmp_path / "a.xpt")
    assert data.table.rows() == [(1, 0.5, "0012"), (None, None, "b")]
    assert data.variables == {"x": Variable(label="Number")}


def test_suffixes_in_capitals(tmp_path):
    assert read(write(pl.DataFrame({"x": [1]}), tmp_path / "A.SAV")).table.rows() == [(1,)]


def test_names_twice(tmp_path):
    file = write(pl.DataFrame({"abc1": [1], "abc2": [2]}), tmp_path / "a.dta")
    file.write_bytes(file.read_bytes().replace(b"abc2", b"abc1"))
    assert refusal(lambda: read(file)) == "a.dta names a column more than once; columns must be named once each."


def test_encodings(tmp_path):
    file = write(pl.DataFrame({"x": ["Øystein", "b"]}), tmp_path / "a.sav")
    # A file in Windows-1252 that says that it is UTF-8.
    file.write_bytes(file.read_bytes().replace("Øystein".encode(), "Øystein ".encode("cp1252")))
    assert refusal(lambda: read(file)) == (
        "a.sav holds texts that are not in the encoding it declares; pass encoding=..., such as 'windows-1252'."
    )
    assert read(file, encoding="windows-1252").table["x"].to_list() == ["Øystein", "b"]
    assert refusal(lambda: read(file, encoding="klingon")) == (
        "encoding must be the name of a text encoding such as 'utf-8' or 'windows-1252'; got 'klingon'."
    )


@pytest.mark.parametrize("name", [*WRITTEN, "a.sas7bdat"])
@settings(max_examples=60)
@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
@example(places=[(5331, 128)])  # a .sav file in which a variable has no name
def test_damage_gives_a_table_or_one_sentence(name, places):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = Path(folder) / name
        if name == "a.sas7bdat":
            damaged = bytearray(PEOPLE)
        else:
            damaged = bytearray(write(pl.DataFrame({"x": [1.5, None], "s": ["a", "b"]}), file).read_bytes())
        for place, value in places:
            damaged[place % len(damaged)] = value
        file.write_bytes(bytes(damaged))
        try:
            read(file)
        except TacitaError as error:
            assert str(error).endswith(".")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", WRITTEN)
def test_a_full_disk(tmp_path, monkeypatch, name):
    for writer in ("write_sav", "write_dta", "write_xport"):
        to_path = getattr(pyreadstat, writer)
        monkeypatch.setattr(
            pyreadstat, writer, lambda table, _, to_path=to_path, **options: to_path(table, "/dev/full", **options)
        )
    message = refusal(lambda: write(pl.DataFrame({"x": ["secret"] * 10_000}), tmp_path / name))
    assert message == f"{name} could not be written (the system refused); nothing was changed."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [{"delimiter": ","}, {"decimal": ","}, {"sheet": "a"}, {"catalog": "a"}])
def test_options_of_other_formats(tmp_path, option):
    write(pl.DataFrame({"x": [1]}), tmp_path / "a.sav")
    what = {"sheet": "Excel files", "catalog": ".sas7bdat files"}.get(next(iter(option)), "text files")
    assert refusal(lambda: read(tmp_path / "a.sav", **option)) == (
        f"{next(iter(option))} is for {what} only; leave it out for a.sav."
    )


def test_a_catalog_that_is_not_there(tmp_path):
    (tmp_path / "people.sas7bdat").write_bytes(PEOPLE)
    assert refusal(lambda: read(tmp_path / "people.sas7bdat", catalog=tmp_path / "people.sas7bcat")) == (
        "people.sas7bcat does not exist; did you mean 'people.sas7bdat'?"
    )
    (tmp_path / "formats.sas7bcat").write_bytes(b"secret")
    message = refusal(lambda: read(tmp_path / "people.sas7bdat", catalog=tmp_path / "formats.sas7bcat"))
    assert message == "formats.sas7bcat is cut off; check that it was saved or copied completely."


def test_what_the_caller_says_goes_before_what_the_file_says(tmp_path):
    write(Data(pl.DataFrame({"x": [1]}), {"x": Variable(label="Old")}), tmp_path / "a.sav")
    assert read(tmp_path / "a.sav", variables={"x": Variable(label="New")}).variable("x").label == "New"


def test_an_existing_file_is_kept(tmp_path):
    write(pl.DataFrame({"x": [1]}), tmp_path / "a.sav")
    assert refusal(lambda: write(pl.DataFrame({"x": [2]}), tmp_path / "a.sav")).startswith("a.sav exists already; ")
    write(pl.DataFrame({"x": [2]}), tmp_path / "a.sav", overwrite=True)
    assert read(tmp_path / "a.sav").table["x"].to_list() == [2]
