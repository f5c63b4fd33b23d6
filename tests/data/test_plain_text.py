"""Text that is read in one go is what reading it field by field gives, and falls back to that where it must."""

from __future__ import annotations

import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.data.formats import plain_text, text

FIELDS = st.sampled_from(
    ["1", "25", "-3", "0", "0.5", "-0.25", "1e5", "1.25E-3", "", "", "x", "two words", "1.50", "007", "-01", "+4", " 5",
     "NA", "NaN", ".", "inf", "9" * 19, "9" * 25, "1,5", "1 000", "é", "'=1", "-", "0x1F", "12 ", "1.", "-0", "00.5"]
)  # fmt: skip
PLAIN = st.sampled_from(["1", "25", "-3", "0", "0.5", "-0.25", "1e5", "7.125"])


def outcome(raw: bytes, **given: object) -> object:
    """The table of a text and what is said of it, or the message of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = text.load(raw, "a.csv", **given)  # type: ignore[arg-type]
        except TacitaError as error:
            return str(error)
    return found.table.rows(), found.table.schema, found.remarks, dict(found.understood)


def both(raw: bytes, monkeypatch: pytest.MonkeyPatch, **given: object) -> tuple[object, object]:
    with monkeypatch.context() as patch:
        patch.setattr(plain_text, "LEAST", 0)
        ours = outcome(raw, **given)
        patch.setattr(plain_text, "plain", lambda *_: None)
        return ours, outcome(raw, **given)


@given(
    st.lists(st.tuples(PLAIN, FIELDS, FIELDS), min_size=1, max_size=12),
    st.sampled_from([";", "\t", "|"]),
    st.integers(1, 5),
)
def test_any_text_is_as_read_field_by_field(rows: list[tuple[str, ...]], sign: str, sample: int) -> None:
    raw = "\n".join([sign.join(("a", "b", "c")), *(sign.join(each) for each in rows)]).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "SAMPLE", sample)
        ours, theirs = both(raw, patch)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    "raw",
    [
        b"a,b\n1,2\n3\n4,5,6\n",
        b"a,b\n1,2,3\n4\n",
        b"a,b\n1,2\n\n3,4\n",
        b"a,b\r\n1,2\r\n3,4\r\n",
        b"a,b\n1,2\n3,4\n\n\n",
        b"a,b\n1,2\n3,4",
        b",b\n1,2\n3,4\n",
        b"a,a\n1,2\n",
        b"a,b\n",
        b"a,b\n1,NA\n2,x\n",
    ],
)
def test_files_of_odd_shapes(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = both(raw, monkeypatch)
    assert repr(ours) == repr(theirs)


def test_a_plain_file_is_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one in whose last record a field is otherwise is not."""
    table = pl.DataFrame({"a": range(4000), "b": [f"t{i % 7}" for i in range(4000)], "c": [i / 4 for i in range(4000)]})
    raw = table.write_csv().encode()
    with monkeypatch.context() as patch:
        patch.setattr(text, "_check_shape", lambda *_: pytest.fail("field by field"))
        patch.setattr(plain_text, "LEAST", 0)
        assert text.load(raw, "a.csv").table.equals(table)
    for last in (b"007,x,1.5\n", b"1,NA,2.5\n", b"1.5,x,2.5\n", b"1,x,99999999999999999999\n"):
        ours, theirs = both(raw + last, monkeypatch)
        assert repr(ours) == repr(theirs)
