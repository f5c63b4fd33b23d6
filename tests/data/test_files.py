"""Files in and out: what a path may be, what comes back, what a Parquet file carries."""

import datetime
import errno
import io
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data, Variable
from tacita.data.files import read, write
from tacita.frame import files as frame_files

SMALL = pl.DataFrame({"sex": ["f", None, "m"], "age": [31, 47, None], "w": [1.5, None, 0.1]})


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# --- paths ---


def test_a_path_that_is_not_there(tmp_path):
    write(SMALL, tmp_path / "survey_2024.csv")
    assert refusal(lambda: read(tmp_path / "survey_2042.csv")) == (
        "survey_2042.csv does not exist; did you mean 'survey_2024.csv'?"
    )
    assert refusal(lambda: read(str(tmp_path / "zzz.parquet"))) == "zzz.parquet does not exist; check the path."
    assert refusal(lambda: read(tmp_path / "data" / "a.csv")) == "a.csv cannot be found: there is no folder 'data'."


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "out.csv").mkdir()
    assert refusal(lambda: read(tmp_path / "out.csv")) == "'out.csv' is a folder; give the path of a file in it."
    assert refusal(lambda: write(SMALL, tmp_path / "out.csv")) == "out.csv is a folder; give the path of a file."


@pytest.mark.parametrize(
    ("name", "suffix"), [("survey.por", ".por"), ("survey", ""), ("survey.csv.gz", ".gz"), (".csv", "")]
)
def test_a_kind_of_file_that_is_not_known(tmp_path, name, suffix):
    (tmp_path / name).write_text("a\n1\n")
    known = ".csv, .tsv, .txt, .tab, .parquet, .pq, .arrow, .feather, .ipc, .xlsx, .sav, .zsav, .dta, .sas7bdat, .xpt"
    expected = f"{name} must end in one of {known}; got {suffix!r}."
    assert refusal(lambda: read(tmp_path / name)) == expected
    assert refusal(lambda: write(SMALL, tmp_path / name, overwrite=True)) == expected


@pytest.mark.parametrize("path", [None, 3, b"survey.csv", "a\0.csv"])
def test_what_is_no_path(path):
    expected = f"path must be the path of a file; got {path!r}."
    assert refusal(lambda: read(path)) == expected
    assert refusal(lambda: write(SMALL, path)) == expected


@pytest.mark.parametrize("name", ["survey.csv", "survey.parquet"])
def test_no_permission_to_read(tmp_path, monkeypatch, name):
    write(SMALL, tmp_path / name)

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "secret")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    monkeypatch.setattr(Path, "open", forbidden)
    assert refusal(lambda: read(tmp_path / name)) == f"no permission to read {name}; check its rights."
    monkeypatch.setattr(Path, "is_dir", forbidden)
    assert refusal(lambda: read(tmp_path / name)) == f"no permission to read {name}; check the rights of its folder."


def test_a_disk_that_fails(tmp_path, monkeypatch):
    write(SMALL, tmp_path / "survey.csv")

    def fails(_):
        raise OSError(errno.EIO, "secret")

    monkeypatch.setattr(Path, "read_bytes", fails)
    expected = f"survey.csv could not be read ({os.strerror(errno.EIO)})."
    assert refusal(lambda: read(tmp_path / "survey.csv")) == expected


def test_a_name_that_the_system_refuses(tmp_path):
    long = "a" * 300 + ".csv"
    expected = f"{long} could not be read ({os.strerror(errno.ENAMETOOLONG)})."
    assert refusal(lambda: read(tmp_path / long)) == expected


# --- reading and writing ---


@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "a.txt", "a.tab", "a.parquet", "a.pq", "[a]*.csv", "å 😀.parquet"])
def test_every_kind_there_and_back(tmp_path, name):
    written = write(SMALL, tmp_path / name)
    assert written == tmp_path / name
    data = read(str(written))
    assert isinstance(data, Data)
    assert_frame_equal(data.table, SMALL)
    assert_frame_equal(data.to_native(), SMALL)
    assert names(tmp_path) == [name]


def test_the_text_that_is_written(tmp_path):
    table = pl.DataFrame({"a b": ["x", "", None, 'say "hi"'], "c,d": [1.0, float("nan"), float("inf"), -0.5]})

    def written(name, **options):
        return write(table, tmp_path / name, overwrite=True, **options).read_bytes().decode()

    assert written("a.csv") == 'a b,"c,d"\nx,1.0\n"",\n,inf\n"say ""hi""",-0.5\n'
    assert written("a.tsv") == 'a b\tc,d\nx\t1.0\n""\t\n\tinf\n"say ""hi"""\t-0.5\n'
    assert written("a.csv", decimal=",") == 'a b;c,d\nx;1,0\n"";\n;inf\n"say ""hi""";-0,5\n'
    assert written("a.txt", delimiter=",", decimal=",") == 'a b,"c,d"\nx,"1,0"\n"",\n,inf\n"say ""hi""","-0,5"\n'
    assert written("a.csv", delimiter="|", encoding="utf-8-sig").startswith("\ufeffa b|c,d\n")


def test_missing_values_of_a_single_column_are_records(tmp_path):
    table = pl.DataFrame({"n": [1, None, None]})
    assert write(table, tmp_path / "a.csv").read_bytes() == b'n\n1\n""\n""\n'
    assert_frame_equal(read(tmp_path / "a.csv").table, table)


def test_other_kinds_of_values_as_text(tmp_path):
    table = pl.DataFrame(
        {
            "flag": [True, None],
            "day": [datetime.date(2020, 1, 31), None],
            "ordered": pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])),
            "nothing": [None, None],
        }
    )
    assert write(table, tmp_path / "a.csv").read_text() == ("flag,day,ordered,nothing\ntrue,2020-01-31,low,\n,,high,\n")
    assert read(tmp_path / "a.csv").table.rows() == [("true", "2020-01-31", "low", None), (None, None, "high", None)]


@pytest.mark.parametrize("values", [[[1]], [{"a": 1}], [b"\xff"], [datetime.timedelta(1)]])
def test_values_that_a_text_cannot_carry(tmp_path, values):
    table = pl.DataFrame({"x": values, "y": [1]})
    assert refusal(lambda: write(table, tmp_path / "a.csv")) == (
        "column 'x' holds lists, bytes or durations, which a text file cannot carry; "
        "write Parquet or leave the column out."
    )
    write(table, tmp_path / "a.parquet")
    assert_frame_equal(read(tmp_path / "a.parquet").table, table)
    assert names(tmp_path) == ["a.parquet"]


def test_nul_characters(tmp_path):
    assert refusal(lambda: write(pl.DataFrame({"x": ["a\0b"]}), tmp_path / "a.csv")) == (
        "column 'x' holds NUL characters, which a text file cannot carry; write Parquet."
    )
    assert refusal(lambda: write(pl.DataFrame({"x\0": [1]}), tmp_path / "a.csv")) == (
        "column 'x\\x00' holds NUL characters, which a text file cannot carry; write Parquet."
    )
    assert names(tmp_path) == []


def test_encodings_of_written_text(tmp_path):
    table = pl.DataFrame({"næme": ["Øystein", "Åse"]})
    for encoding in ("utf-8", "UTF8", "utf-8-sig", "utf-16"):
        write(table, tmp_path / "a.csv", encoding=encoding, overwrite=True)
        assert_frame_equal(read(tmp_path / "a.csv").table, table)
    write(table, tmp_path / "b.csv", encoding="cp1252")
    assert_frame_equal(read(tmp_path / "b.csv", encoding="cp1252").table, table)
    assert refusal(lambda: write(pl.DataFrame({"x": ["ж"]}), tmp_path / "c.csv", encoding="cp1252")) == (
        "c.csv cannot be written as 'cp1252', which lacks some of its characters; use encoding='utf-8'."
    )
    assert names(tmp_path) == ["a.csv", "b.csv"]


def test_bad_options_of_write(tmp_path):
    assert refusal(lambda: write(SMALL, tmp_path / "a.csv", delimiter="::")) == (
        "delimiter must be one ASCII character other than a quote or an end of line; got '::'."
    )
    assert refusal(lambda: write(SMALL, tmp_path / "a.csv", decimal=";")) == (
        "decimal must be one of '.', ','; got ';'."
    )
    assert refusal(lambda: write(SMALL, tmp_path / "a.csv", encoding="klingon")) == (
        "encoding must be the name of a text encoding such as 'utf-8' or 'windows-1252'; got 'klingon'."
    )
    assert refusal(lambda: write(pl.DataFrame(), tmp_path / "a.csv")) == (
        "a.csv would be empty: the data has no variables."
    )
    assert refusal(lambda: write(pl.DataFrame({"a": [1], "": [2]}), tmp_path / "a.csv")) == (
        "column 2 has no name; name it before writing."
    )
    assert names(tmp_path) == []


@pytest.mark.parametrize("option", [{"delimiter": ","}, {"decimal": ","}, {"encoding": "cp1252"}])
def test_options_of_text_are_refused_for_parquet(tmp_path, option):
    write(SMALL, tmp_path / "a.parquet")
    expected = f"{next(iter(option))} is for text files only; leave it out for a.parquet."
    assert refusal(lambda: read(tmp_path / "a.parquet", **option)) == expected
    if "missing" not in option:
        assert refusal(lambda: write(SMALL, tmp_path / "a.parquet", **option)) == expected


def test_any_table_can_be_written(tmp_path):
    for table in (SMALL, SMALL.to_pandas(), SMALL.to_arrow(), Data.of(SMALL)):
        write(table, tmp_path / "a.parquet", overwrite=True)
        found = read(tmp_path / "a.parquet").table
        assert_frame_equal(found.with_columns(pl.col("age").cast(pl.Int64)), SMALL)


def test_errors_name_the_file(tmp_path):
    (tmp_path / "survey.csv").write_text("a,b\n1\n")
    assert refusal(lambda: read(tmp_path / "survey.csv")) == (
        "survey.csv is ragged: record 1 (line 2) has 1 field where the header has 2 (1 such record); "
        "quote fields that contain the delimiter, or pass delimiter=... with the right one."
    )


def test_warnings_point_to_the_caller(tmp_path):
    (tmp_path / "survey.csv").write_bytes(b"a,b\n\xe6,NA\n")
    with pytest.warns(TacitaWarning) as caught:
        read(tmp_path / "survey.csv")
    assert [each.filename for each in caught] == [__file__, __file__]


def test_reading_leaves_the_file_alone(tmp_path):
    write(SMALL, tmp_path / "a.csv")
    before = (tmp_path / "a.csv").read_bytes()
    data = read(tmp_path / "a.csv")
    write(data, tmp_path / "a.csv", overwrite=True)
    assert (tmp_path / "a.csv").read_bytes() == before


# --- whole or not at all ---


@pytest.mark.parametrize(("name", "writer"), [("a.csv", "write_text"), ("a.parquet", "write_parquet")])
def test_a_fault_midway_leaves_the_old_file(tmp_path, monkeypatch, name, writer):
    write(SMALL, tmp_path / name)
    before = (tmp_path / name).read_bytes()

    def half(table, path, *_, **__):
        path.write_bytes(before[:10])
        raise RuntimeError

    monkeypatch.setattr(frame_files, writer, half)
    with pytest.raises(RuntimeError):
        write(SMALL.head(1), tmp_path / name, overwrite=True)
    assert names(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == before
    assert (
        refusal(lambda: write(SMALL, tmp_path / name))
        == f"{name} exists already; choose another name, or overwrite=True (--overwrite) to replace it."
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_full_disk(tmp_path, monkeypatch, name):
    for method in ("write_csv", "write_parquet"):
        to_path = getattr(pl.DataFrame, method)
        monkeypatch.setattr(
            pl.DataFrame, method, lambda self, _, to_path=to_path, **options: to_path(self, "/dev/full", **options)
        )
    message = refusal(lambda: write(pl.DataFrame({"x": ["secret"] * 100_000}), tmp_path / name))
    assert message == f"{name} could not be written (the system refused); nothing was changed."
    assert names(tmp_path) == []


# --- Parquet ---


def test_files_that_are_not_whole_parquet_files(tmp_path):
    file = tmp_path / "survey.parquet"
    whole = write(SMALL, file).read_bytes()
    for content, message in {
        b"": "survey.parquet is empty; check that it was saved or exported completely.",
        b"a,b\n1,2\n": "survey.parquet is not a Parquet file; check its name and how it was made.",
        whole[:-10]: "survey.parquet is cut off; check that it was saved or copied completely.",
        b"PAR1": "survey.parquet is cut off; check that it was saved or copied completely.",
        b"PAR1" + b"\xff" * 40 + b"PAR1": (
            "survey.parquet is damaged or uses something Polars cannot read; export it again."
        ),
    }.items():
        file.write_bytes(content)
        assert refusal(lambda: read(file)) == message


def test_parquet_without_columns_records_or_good_names(tmp_path):
    file = tmp_path / "survey.parquet"
    pa.parquet.write_table(pa.table({}), file)
    assert refusal(lambda: read(file)) == "survey.parquet is empty; check that it was saved or exported completely."
    SMALL.clear().write_parquet(file)
    assert refusal(lambda: read(file)) == (
        "survey.parquet has a header but no records; check that it was saved or exported completely."
    )
    pa.parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), file)
    assert refusal(lambda: read(file)) == (
        "survey.parquet names a column more than once; columns must be named once each."
    )
    pl.DataFrame({"a": [1], "": [2]}).write_parquet(file)
    assert refusal(lambda: read(file)) == "survey.parquet has no name for column 2; name every column."


def test_odd_columns_of_parquet(tmp_path):
    file = tmp_path / "survey.parquet"
    odd = pa.table({' a "b"\n😀': [1, 2], "none": pa.nulls(2), "list": [[1], [2]], "f": [1.0, float("nan")]})
    pa.parquet.write_table(odd, file)
    table = read(file).table
    assert table.columns == [' a "b"\n😀', "none", "list", "f"]
    assert table.dtypes == [pl.Int64, pl.String, pl.List(pl.Int64), pl.Float64]
    assert table["none"].to_list() == [None, None]
    assert table["f"].to_list() == [1.0, None]


def test_what_is_known_of_variables_is_carried(tmp_path):
    known = {
        "sex": Variable(label="Sex «♀♂»", value_labels={"f": "female", "m": "male"}, not_applicable=("", "z")),
        "age": Variable(value_labels={-9: "refused", 1.5: "one and a half", True: "yes"}, missing=(-9, "x", None)),
        "w": Variable(scale="numeric"),
    }
    write(Data(SMALL, known), tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet").variables
    assert found == known
    assert [type(code) for code in found["age"].value_labels] == [int, float, bool]
    # What the caller says goes before what the file says.
    said = read(tmp_path / "a.parquet", variables={"age": Variable(label="Age")}).variables
    assert said == known | {"age": Variable(label="Age")}
    assert read(write(Data(SMALL, known), tmp_path / "a.csv")).variables == {}


def test_codes_from_numpy_are_carried_and_others_refused(tmp_path):
    known = {"age": Variable(missing=(np.int64(-9), np.float64(0.5)))}
    write(Data(SMALL, known), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").variables["age"].missing == (-9, 0.5)
    dated = {"age": Variable(missing=(datetime.date(1900, 1, 1),))}
    assert refusal(lambda: write(Data(SMALL, dated), tmp_path / "b.parquet")) == (
        "codes of 'age' must be texts or numbers to be written; got date."
    )
    assert names(tmp_path) == ["a.parquet"]


def test_columns_that_another_program_dropped(tmp_path):
    write(Data(SMALL, {"age": Variable(label="Age"), "sex": Variable(label="Sex")}), tmp_path / "a.parquet")
    note = pl.read_parquet_metadata(tmp_path / "a.parquet")["tacita"]
    SMALL.drop("age").write_parquet(tmp_path / "b.parquet", metadata={"tacita": note})
    assert read(tmp_path / "b.parquet").variables == {"sex": Variable(label="Sex")}


@pytest.mark.parametrize(
    "note",
    [
        "{",
        "[]",
        "{}",
        '{"variables": {"sex": {}}}',
        '{"variables": {"sex": 3}}',
        json.dumps(
            {
                "variables": {
                    "sex": {"label": "", "value_labels": [], "missing": [], "not_applicable": [], "scale": "secret"}
                }
            }
        ),
    ],
)
def test_damaged_descriptions_are_left_out(tmp_path, note):
    SMALL.write_parquet(tmp_path / "a.parquet", metadata={"tacita": note})
    with pytest.warns(TacitaWarning) as caught:
        data = read(tmp_path / "a.parquet")
    assert data.variables == {}
    assert [str(each.message) for each in caught] == [
        "a.parquet has damaged descriptions of its variables, left out; pass variables=... instead."
    ]


@pytest.mark.parametrize("wrong", [{"age": "Age"}, ["age"], 3])
def test_variables_must_be_described_by_variables(tmp_path, wrong):
    write(SMALL, tmp_path / "a.csv")
    assert refusal(lambda: read(tmp_path / "a.csv", variables=wrong)) == (
        "variables must give a Variable for each name, such as {'age': Variable(label='Age')}."
    )


def test_described_variables_must_be_there(tmp_path):
    write(SMALL, tmp_path / "a.csv")
    assert refusal(lambda: read(tmp_path / "a.csv", variables={"agee": Variable()})) == (
        "variables not in the data: 'agee'. Did you mean 'age'?"
    )


@pytest.mark.parametrize("kind", [pl.Enum(["low", "suppressed", "high"]), pl.Categorical])
def test_categories_that_no_record_has_are_not_written(tmp_path, kind):
    column = pl.Series("x", ["low", "suppressed", "high", None], dtype=kind)
    kept = pl.DataFrame({"x": column.gather([0, 2, 3])})
    write(kept, tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet").table
    assert table["x"].to_list() == ["low", "high", None]
    assert b"suppressed" not in (tmp_path / "a.parquet").read_bytes()
    assert "suppressed" not in str(pa.parquet.read_schema(tmp_path / "a.parquet").metadata)
    if isinstance(kind, pl.Enum):
        assert table["x"].dtype == pl.Enum(["low", "high"])


def test_pandas_categories_that_no_record_has_are_not_written(tmp_path):
    kept = pd.DataFrame({"x": pd.Categorical(["low", "high"], categories=["low", "suppressed", "high"], ordered=True)})
    write(kept, tmp_path / "a.parquet")
    assert b"suppressed" not in (tmp_path / "a.parquet").read_bytes()


@given(places=st.lists(st.tuples(st.integers(4, 800), st.integers(0, 255)), min_size=1, max_size=4))
def test_damage_gives_a_table_or_one_sentence(places):
    content = io.BytesIO()
    SMALL.write_parquet(content)
    damaged = bytearray(content.getvalue())
    for place, value in places:
        damaged[4 + place % (len(damaged) - 8)] = value
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = Path(folder) / "survey.parquet"
        file.write_bytes(bytes(damaged))
        try:
            read(file)
        except TacitaError as error:
            assert str(error).startswith("survey.parquet ")
            assert str(error).endswith(".")


# --- there and back, whatever the values ---

SIGNS = st.characters(codec="utf-8", exclude_characters="\0\ufeff", exclude_categories=["Cs"])
NAMES = st.one_of(st.text(SIGNS, min_size=1, max_size=6), st.text(' "\n,;😀a', min_size=1, max_size=6)).map(str.strip)
TEXTS = st.one_of(
    st.text(SIGNS, max_size=6), st.text(' "\n\r,;\t|😀a0', max_size=6), st.sampled_from(["007", "NA", "-01"])
)


@st.composite
def tables(draw):
    """Tables of whole numbers, floats and texts; a letter in each column of texts says that it is one."""
    labels = draw(st.lists(NAMES.filter(bool), min_size=1, max_size=4, unique=True))
    height = draw(st.integers(1, 6))
    columns = []
    for label in labels:
        kind = draw(st.sampled_from([pl.Int64, pl.Float64, pl.String]))
        values = {
            pl.Int64: st.integers(-(2**63), 2**63 - 1),
            pl.Float64: st.floats(allow_nan=False),
            pl.String: TEXTS,
        }[kind]
        drawn = draw(st.lists(st.none() | values, min_size=height - 1, max_size=height - 1))
        known = {pl.Int64: 7, pl.Float64: 0.5, pl.String: "x"}[kind]
        columns.append(pl.Series(label, [*drawn, known], dtype=kind))
    return pl.DataFrame(columns)


@given(table=tables(), name=st.sampled_from(["a.csv", "a.tsv", "a.parquet"]), decimal=st.sampled_from(".,"))
def test_there_and_back(table, name, decimal):
    text = {} if name.endswith("parquet") else {"decimal": decimal, "delimiter": "\t" if name == "a.tsv" else ";"}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # Texts that a spreadsheet would run get an apostrophe in front, and lose it again.
        warnings.simplefilter("ignore", TacitaWarning)
        write(table, Path(folder) / name, **text)
        found = read(Path(folder) / name, **(text | {"missing": []} if text else {})).table
    # In text an empty text is missing; a float is the same to the last bit, the sign of zero included.
    expected = table.with_columns(pl.col(pl.String).replace("", None)) if text else table
    assert found.schema == expected.schema
    assert found.rows() == expected.rows()
    for label in table.columns:
        if table[label].dtype == pl.Float64:
            assert found[label].drop_nulls().to_numpy().tobytes() == table[label].drop_nulls().to_numpy().tobytes()


@given(table=tables())
def test_there_and_back_with_everything_found(table):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        write(table, Path(folder) / "a.csv")
        found = read(Path(folder) / "a.csv", delimiter=",", missing=[]).table
    assert found.rows() == table.with_columns(pl.col(pl.String).replace("", None)).rows()
