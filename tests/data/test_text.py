"""Delimited text: encodings, delimiters, the shape of the file, types, words for missing."""

import csv
import io
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError, TacitaWarning
from tacita.data.formats import text


def parse(raw, name="survey.csv", **options):
    return text.parse(raw if isinstance(raw, bytes) else raw.encode(), name, **options)


def column(*values, **options):
    """One column of a file whose other column is text, so that a delimiter is always there."""
    lines = "".join(f"r;{value}\n" for value in values)
    return parse("key;x\n" + lines, **options)["x"]


def refused(raw, **options):
    with pytest.raises(TacitaError) as caught:
        parse(raw, **options)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


# --- encoding ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_or_valid_unicode_is_found(encoding):
    table = parse("næme,n\nØystein 😀,1\n".encode(encoding))
    assert table.columns == ["næme", "n"]
    assert table.rows() == [("Øystein 😀", 1)]


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_of_either_byte_order(order):
    mark = {"le": b"\xff\xfe", "be": b"\xfe\xff"}[order]
    assert parse(mark + "a\nø\n".encode(f"utf-16-{order}"))["a"].to_list() == ["ø"]


def test_other_bytes_are_windows_1252_with_a_warning():
    raw = "a,b\nx,1\nblåbær €,2\nø,3\n".encode("cp1252")
    with pytest.warns(TacitaWarning) as caught:
        table = parse(raw)
    assert table["a"].to_list() == ["x", "blåbær €", "ø"]
    assert [str(each.message) for each in caught] == [
        "survey.csv is not UTF-8 (line 3) and was read as windows-1252; pass encoding=... to say what it is."
    ]


def test_a_given_encoding_is_used_without_a_warning():
    assert parse("a\nø\n".encode("cp1252"), encoding="windows-1252")["a"].to_list() == ["ø"]
    assert parse("a\nж\n".encode("koi8-r"), encoding="koi8-r")["a"].to_list() == ["ж"]
    assert parse("a\nø\n".encode("utf-16-le"), encoding="utf-16-le")["a"].to_list() == ["ø"]
    assert parse("\ufeffa\nø\n".encode(), encoding="utf-8")["a"].to_list() == ["ø"]


def test_bytes_of_no_encoding():
    assert refused(b"a\nx\n\x81\n") == (
        "survey.csv is neither UTF-8 (line 3) nor windows-1252; pass encoding=... with the right one."
    )


def test_a_wrong_given_encoding():
    assert refused(b"a\nx\ny\xff\n", encoding="utf-8") == (
        "survey.csv is not 'utf-8' (line 3); pass encoding=... with the right one."
    )
    assert refused("a\nsecret\n".encode("utf-16-le") + b"\x00\xd8", encoding="utf-16-le") == (
        "survey.csv is not 'utf-16-le' (line 3); pass encoding=... with the right one."
    )
    assert refused("ab\nc".encode("utf-16-le"), encoding="utf-8") == (
        "survey.csv is not a text file in 'utf-8'; pass encoding=... with the right one."
    )


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "", 8, "undefined", "a\0b"])
def test_an_unknown_encoding(encoding):
    assert refused(b"a\n1\n", encoding=encoding) == (
        f"encoding must be the name of a text encoding such as 'utf-8' or 'windows-1252'; got {encoding!r}."
    )


def test_nul_bytes_are_no_text():
    assert refused(b"a,b\n1,\x002\n") == (
        "survey.csv is not a text file; if it is UTF-16 pass encoding='utf-16-le' or 'utf-16-be'."
    )


# --- delimiter ---


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(sign):
    table = parse(f"a{sign}b b{sign}c\n1{sign}x{sign}y\n2{sign}z{sign}\n")
    assert table.columns == ["a", "b b", "c"]
    assert table.rows() == [(1, "x", "y"), (2, "z", None)]


def test_the_delimiter_fits_header_and_records():
    # Both signs are in the header, but only one cuts every record alike.
    assert parse("a,b;c\n1;2\n3;4\n").columns == ["a,b", "c"]
    # Both cut alike: the one that gives more fields.
    assert parse("a;b, or c;d\n1;x, y;2\n").columns == ["a", "b, or c", "d"]
    # Signs inside quotes do not count.
    assert parse('"a,b,c";d\n"1,2,3";4\n').columns == ["a,b,c", "d"]
    assert parse("a;b\n1,5;2,5\n").rows() == [(1.5, 2.5)]


def test_a_tab_comes_first_in_files_named_so():
    assert parse("a,b\tc\n1,2\t3\n").columns == ["a", "b\tc"]
    assert parse("a,b\tc\n1,2\t3\n", name="survey.TSV").columns == ["a,b", "c"]


def test_a_given_delimiter():
    assert parse("a:b\n1:2\n", delimiter=":").rows() == [(1, 2)]
    assert parse("a;b\n1;2\n", delimiter=",").rows() == [("1;2",)]


@pytest.mark.parametrize("delimiter", ["", ",,", "§", '"', "\n", "\r", "\0", 1, b","])
def test_a_delimiter_that_cannot_be(delimiter):
    assert refused(b"a\n1\n", delimiter=delimiter) == (
        f"delimiter must be one ASCII character other than a quote or an end of line; got {delimiter!r}."
    )


# --- shape ---


def test_one_column():
    assert parse("a\n1\n\n3\n").rows() == [(1,), (None,), (3,)]
    assert parse("a\n\nx\n").rows() == [(None,), ("x",)]
    assert parse("a\r\n\r\n2\r\n\r\n\r\n").rows() == [(None,), (2,)]
    assert parse('a\n1\n""\n').rows() == [(1,), (None,)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "{end}", "{end}{end}{end}"])
def test_ends_of_line(end, last):
    raw = f"a,b{end}1,x{end}2,y" + last.format(end=end)
    table = parse(raw)
    assert table.columns == ["a", "b"]
    assert table.rows() == [(1, "x"), (2, "y")]


@pytest.fixture(params=[text.BLOCK, 1, 2, 3, 7, 64])
def any_block(request, monkeypatch):
    """The file is looked at in blocks of this size: faults are found across them."""
    monkeypatch.setattr(text, "BLOCK", request.param)


@pytest.mark.usefixtures("any_block")
def test_quotes():
    table = parse('a,b\n"x, y","say ""hi"""\r\n"two\nlines",""\n"""","\r\n"\n')
    assert table.rows() == [("x, y", 'say "hi"'), ("two\nlines", None), ('"', "\r\n")]


def test_quotes_are_characters_where_no_field_starts_with_one():
    assert parse('size,n\n5" pipe,1\n6\'2",2\n').rows() == [('5" pipe', 1), ("6'2\"", 2)]


@pytest.mark.usefixtures("any_block")
def test_ragged():
    assert refused("a,b,c\n1,2,3\n1,2\n1,2,3\n1,2,3,4\n1\n") == (
        "survey.csv is ragged: record 2 (line 3) has 2 fields where the header has 3 (3 such records); "
        "quote fields that contain the delimiter, or pass delimiter=... with the right one."
    )
    # Lines and records part ways at a quoted end of line; a blank line is a record of one field.
    assert refused('"a\nb",c\n"x\ny",2\n\n1,2\n') == (
        "survey.csv is ragged: record 2 (line 5) has 1 field where the header has 2 (1 such record); "
        "quote fields that contain the delimiter, or pass delimiter=... with the right one."
    )
    assert refused("a\n1,2\n3,4\n") == (
        "survey.csv is ragged: record 1 (line 2) has 2 fields where the header has 1 (2 such records); "
        "quote fields that contain the delimiter, or pass delimiter=... with the right one."
    )


@pytest.mark.usefixtures("any_block")
def test_misplaced_quotes():
    assert refused('a,b\nx,1\n"y,2\nz,3\n') == (
        "survey.csv has a quoted field that opens in line 3 and is never closed; "
        "close it at its end and double the quotes inside it."
    )
    assert refused('a,b\n"v","w"\n"x ""y"" ,1\nq,2\n"z",3\n') == (
        "survey.csv has a quoted field that opens in line 3 and goes on after its closing quote; "
        "close it at its end and double the quotes inside it."
    )
    assert refused('a,b\n"v",1\n5" pipe,2\n') == (
        "survey.csv has a quote inside an unquoted field in line 3; "
        "quote the whole field and double the quotes inside it."
    )
    assert refused('a,b\n"v"\r,1\n') == (
        "survey.csv has a quoted field that opens in line 2 and goes on after its closing quote; "
        "close it at its end and double the quotes inside it."
    )


fields = st.text(alphabet='ab",;\n 1', max_size=5)
rows = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(fields, min_size=width, max_size=width), min_size=1, max_size=8)
)


@given(rows=rows, sign=st.sampled_from(",;"), end=st.sampled_from(["\n", "\r\n"]), block=st.integers(1, 40))
def test_fields_are_those_of_the_csv_module(rows, sign, end, block):
    width = len(rows[0])
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=sign, lineterminator=end)
    writer.writerows([[f"name {place}" for place in range(width)], *rows, ["end"] * width])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        table = parse(written.getvalue(), delimiter=sign, decimal=".", missing=[])
    assert table.rows() == [tuple(each or None for each in row) for row in rows] + [("end",) * width]


@given(raw=st.text(alphabet='a",\n', max_size=25).map(str.encode), quoted=st.booleans(), block=st.integers(1, 9))
def test_records_by_walking_through_the_bytes(raw, quoted, block):
    ends, counts, count, inside = [], [], 1, False
    for place, sign in enumerate(raw.decode()):
        inside ^= quoted and sign == '"'
        count += sign == "," and not inside
        if sign == "\n" and not inside:
            ends.append(place)
            counts.append(count)
            count = 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        found = text.records(raw, ",", quoted)
    assert (found[0].tolist(), found[1].tolist()) == (ends, counts)


def test_many_records_with_quoted_ends_of_line():
    # Large enough for Polars to cut the text among threads, which must not happen inside a quoted field.
    count = 60_000
    odd = 'line one\nnext, "quoted"\n\n,,\n'
    table = pl.DataFrame({"n": range(count), "t": [odd * (1 + n % 3) if n % 2 else "plain" for n in range(count)]})
    assert parse(table.write_csv().encode()).equals(table)


# --- header ---


def test_names_may_be_odd():
    table = parse('  a b ,"say ""x""","two\nlines",😀,"p,q"\r\n1,2,3,4,5\n')
    assert table.columns == ["a b", 'say "x"', "two\nlines", "😀", "p,q"]
    assert table.rows() == [(1, 2, 3, 4, 5)]


def test_names_must_be_there_and_differ():
    assert refused('"",x,row\n1,2,3\n') == "survey.csv has no name for column 1; name every column in the header."
    assert refused(",x,\n1,2,3\n") == "survey.csv has no name for column 1; name every column in the header."
    assert refused("a,b, \n1,2,3\n") == "survey.csv has no name for column 3; name every column in the header."
    twice = "survey.csv has several columns of one name: 'x' (1, 3); rename all but one of each in its header."
    assert refused("x,y, x\n1,2,3\n") == twice


@pytest.mark.parametrize("raw", [b"", b"\n\r\n", b"  \n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_empty(raw):
    assert refused(raw) == "survey.csv is empty; check that it was saved or exported completely."


@pytest.mark.parametrize("raw", ["a,b", "a,b\n", "a\r\n\r\n"])
def test_no_records(raw):
    assert refused(raw) == "survey.csv has a header but no records; check that it was saved or exported completely."


# --- types ---


@pytest.mark.parametrize(
    ("given_texts", "expected"),
    [
        (["1", "-2", "+3", "0", "-0"], [1, -2, 3, 0, 0]),
        ([" 1", "2  ", "\t3"], [1, 2, 3]),
        (["9007199254740993", "9223372036854775807", "-9223372036854775808"], [2**53 + 1, 2**63 - 1, -(2**63)]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        (["99999999999999999999", "0.5"], ["99999999999999999999", "0.5"]),
        (["1.5", "2", ".5", "3.", "-1e-3", "0"], [1.5, 2.0, 0.5, 3.0, -0.001, 0.0]),
        (["0.1", "0.10000000000000000001"], [0.1, 0.1]),
        (["1", "inf", "-Infinity"], [1.0, float("inf"), float("-inf")]),
        (["0012", "13"], ["0012", "13"]),
        (["007"], ["007"]),
        (["-01", "5"], ["-01", "5"]),
        (["00.5", "1.5"], ["00.5", "1.5"]),
        (["0.5", "0"], [0.5, 0.0]),
        (["1", "x"], ["1", "x"]),
        (["2020-01-31", "2020-02-01"], ["2020-01-31", "2020-02-01"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["0x10", "2"], ["0x10", "2"]),
        (["true", "false"], ["true", "false"]),
        (["1 000", "2"], ["1 000", "2"]),
        (["", "", ""], [None, None, None]),
        (["1", "", '""', "  "], [1, None, None, None]),
        ([" a ", "  ", "b"], [" a ", "  ", "b"]),
        (["1", "NA", "NaN", "NULL", ".", "nan", "N/A", " NA "], [1] + [None] * 7),
        (["1.5", "NA", "NaN", ".", "nan"], [1.5] + [None] * 4),
        (["1", " ?", "?"], [1, None, None]),
        (["1,5", "NA", ".", "2"], [1.5, None, None, 2.0]),
        (["1,5", "-0,25", "2", "1,5e3", ",5"], [1.5, -0.25, 2.0, 1500.0, 0.5]),
        (["1,234", "5,678"], [1.234, 5.678]),
        (["1,5", "1.5"], ["1,5", "1.5"]),
        (["1,234,567", "2"], ["1,234,567", "2"]),
        (["1.234,5", "2"], ["1.234,5", "2"]),
        (["00,5", "2"], ["00,5", "2"]),
        (["2020", "2.5", "0,5"], ["2020", "2.5", "0,5"]),
    ],
)
def test_types(given_texts, expected):
    series = column(*given_texts)
    assert series.to_list() == expected
    kind = {int: pl.Int64, float: pl.Float64, str: pl.String, type(None): pl.String}[type(expected[0])]
    assert series.dtype == kind


def test_one_text_far_down_makes_a_column_text():
    assert column(*["1"] * 3000, "x").dtype == pl.String
    assert column(*[""] * 3000, "7").to_list() == [None] * 3000 + [7]
    assert column(*["7"] * 3000, "07").dtype == pl.String


def test_decimal_comma_between_commas_needs_quotes_and_no_doubt():
    assert parse('a,b\n"1,5",2\n"0,25",3\n')["a"].to_list() == [1.5, 0.25]
    # Might be thousands; only the user knows.
    assert parse('a,b\n"1,234",2\n"12,500",3\n')["a"].to_list() == ["1,234", "12,500"]
    assert parse('a,b\n"1,234",2\n"12,500",3\n', decimal=",")["a"].to_list() == [1.234, 12.5]
    assert parse('a,b\n"0,234",2\n"12,500",3\n')["a"].to_list() == [0.234, 12.5]


def test_a_given_decimal_sign():
    assert column("1,5", "2", decimal=".").to_list() == ["1,5", "2"]
    assert column("1.5", "2", decimal=",").to_list() == ["1.5", "2"]
    assert column("1,5", "2", decimal=",").to_list() == [1.5, 2.0]
    assert refused("a\n1\n", decimal="'") == "decimal must be one of '.', ','; got \"'\"."


# --- missing ---


def test_a_question_mark_is_missing_among_numbers_and_told_of_among_texts():
    """A census of incomes had ' ?' for 2,399 people: a country of its own, without a word."""
    said = r"has '\?' among the texts of 'country' \(1 time\), kept as values; .* \(--na '\?'\)"
    with pytest.warns(TacitaWarning, match=said):
        table = parse("country, n\nNO, 1\n ?, 2\nSE, ?\n")
    assert table.rows() == [("NO", 1), (" ?", 2), ("SE", None)]


def test_words_among_texts_are_values_with_a_warning():
    raw = "country;code;n\nNA;x;1\nNO;.;.\nNA;N/A;\n"
    with pytest.warns(TacitaWarning) as caught:
        table = parse(raw)
    assert table.rows() == [("NA", "x", 1), ("NO", ".", None), ("NA", "N/A", None)]
    assert [str(each.message) for each in caught] == [
        "survey.csv has 'NA', '.', 'N/A' among the texts of 'country', 'code' (4 times), kept as values; "
        "pass missing=['NA', '.', 'N/A'] (--na NA,.,N/A) if they are missing, missing=[] (--na '') if they are not."
    ]


def test_a_column_of_words_alone_stays_text():
    with pytest.warns(TacitaWarning) as caught:
        assert column("NA", "NA").to_list() == ["NA", "NA"]
    assert str(caught[0].message) == (
        "survey.csv has 'NA' among the texts of 'x' (2 times), kept as values; "
        "pass missing=['NA'] (--na NA) if they are missing, missing=[] (--na '') if they are not."
    )
    with pytest.warns(TacitaWarning):
        assert column("nan", "NaN").to_list() == ["nan", "NaN"]


def test_given_texts_are_missing_everywhere():
    raw = "a;b\nx;-9\nunknown;1\nNA; -9 \n"
    assert parse(raw, missing=["unknown", "-9", "NA"]).rows() == [("x", None), (None, 1), (None, None)]
    assert parse("a;b\nx;-9\ny;1\n", missing="-9").rows() == [("x", None), ("y", 1)]
    assert parse("a;b\nx;no answer\ny;1\n", missing=("no answer",))["b"].to_list() == [None, 1]


def test_no_warning_where_the_user_has_decided():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert column("NA", "x", missing=[]).to_list() == ["NA", "x"]
        assert column("NA", "1", missing=[]).to_list() == [None, 1]


@pytest.mark.parametrize(("missing", "wrong"), [(-9, -9), (["NA", -9], -9), ([None], None)])
def test_missing_must_be_texts(missing, wrong):
    assert refused(b"a\n1\n", missing=missing) == (
        f"missing must be one text or several, such as 'NA' or '-9'; got {wrong}."
    )


# --- nothing of the records in messages ---


@given(
    raw=st.one_of(
        st.binary(max_size=60).map(lambda body: b"a,b\n" + body),
        st.text(alphabet='SECRT",\n\r;\t 0', max_size=40).map(lambda body: f'a,b\n"{body}'.encode()),
    )
)
def test_whatever_the_bytes_a_table_or_one_sentence(raw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        try:
            table = parse(raw, encoding="latin-1")
        except TacitaError as error:
            assert str(error).endswith(".")
            assert "\n" not in str(error)
            assert "SECR" not in str(error)
        else:
            assert table.height >= 1


@given(
    values=st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1).filter(
        lambda values: set(values) != {None}
    )
)
def test_floats_are_read_to_the_last_bit(values):
    # repr is the shortest text that stands for exactly this float.
    found = column(*["" if value is None else repr(value) for value in values])
    assert found.dtype == pl.Float64
    assert [value is None for value in found] == [value is None for value in values]
    known = np.array([value for value in values if value is not None], dtype=float)
    assert found.drop_nulls().to_numpy().tobytes() == known.tobytes()
