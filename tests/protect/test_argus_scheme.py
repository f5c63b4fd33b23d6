"""Schemes of mu-ARGUS: read as it reads them, and every mistake told by its line."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.recode.argus_scheme import Range, load_scheme, parse_scheme, scheme_places, whole_codes
from tacita.protect.recode.recode import Recode

AGE = "1: -20\n2: 21-30\n\n3: 31 - 40, 45,48\n6: 61-\n"


def test_lines_are_targets_with_codes_and_ranges() -> None:
    assert parse_scheme(AGE).ranges == (
        Range(1, None, "20", "1"),
        Range(2, "21", "30", "2"),
        Range(4, "31", "40", "3"),
        Range(4, "45", "45", "3"),
        Range(4, "48", "48", "3"),
        Range(5, "61", None, "6"),
    )


@pytest.mark.parametrize("line", ["<MISSING> 98 99", "<missing> 98, 99", '<Missing>  "98"  99 '])
def test_missing_codes_and_the_code_list_are_directives(line: str) -> None:
    scheme = parse_scheme(f"1:1\r\n{line}\r\n<CODELIST>    Age.cdl\r\n")
    assert scheme.missing == ("98", "99")
    assert scheme.codelist == (3, "Age.cdl")


def test_quotes_hold_what_would_part() -> None:
    scheme = parse_scheme('"a: b":"c, d","e-f"-"g h"\n"-5":"-3"')
    assert scheme.ranges == (
        Range(1, "c, d", "c, d", "a: b"),
        Range(1, "e-f", "g h", "a: b"),
        Range(2, "-3", "-3", "-5"),
    )
    assert not scheme.numeric
    assert parse_scheme('1:"-3"-5').numeric


ENDS = st.integers(0, 60)


def slow_target(value: int, lines: list[tuple[int, list[tuple[int | None, int | None]]]]) -> str | None:
    for target, ranges in lines:
        for low, high in ranges:
            if (low is None or value >= low) and (high is None or value <= high):
                return str(target)
    return None


@st.composite
def schemes(draw: st.DrawFn) -> tuple[str, list[tuple[int, list[tuple[int | None, int | None]]]]]:
    """Ranges that have nothing in common, dealt to lines, as text and as numbers."""
    ends = sorted(draw(st.lists(st.integers(0, 60), min_size=2, max_size=10, unique=True)))
    ranges: list[tuple[int | None, int | None]] = [
        (low, high) for low, high in zip(ends[::2], ends[1::2], strict=False)
    ]
    if draw(st.booleans()):
        ranges[0] = (None, ranges[0][1])
    if draw(st.booleans()):
        ranges[-1] = (ranges[-1][0], None)
    ranges = [pair for pair in ranges if pair != (None, None)]
    lines = [(draw(st.integers(1, 3)), [pair]) for pair in ranges] or [(1, [(3, 3)])]
    shown = []
    for target, pairs in lines:
        items = [str(a) if a == b else f"{'' if a is None else a}-{'' if b is None else b}" for a, b in pairs]
        shown.append(f"{target}: {', '.join(items)}")
    return "\n".join(shown), lines


@given(schemes(), st.lists(st.integers(-5, 70), max_size=20))
def test_values_find_their_range(
    scheme: tuple[str, list[tuple[int, list[tuple[int | None, int | None]]]]], values: list[int]
) -> None:
    text, lines = scheme
    found = scheme_places(parse_scheme(text), values, "x", numeric=True)
    assert [each and each.target for each in found] == [slow_target(value, lines) for value in values]


def test_codes_of_letters_go_by_length_then_letters() -> None:
    scheme = parse_scheme("x: B-AA\ny:AB-")
    found = scheme_places(scheme, ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"], "x", numeric=False)
    assert [each and each.target for each in found] == [None, "x", "x", "x", "y", "y", "y"]


LINE = "of the scheme must list old codes or ranges such as 5, 8-10, -4 or 21-; got"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the scheme has no lines; write new code, colon, old codes on each, as in 1:1-10."),
        ("<MISSING> 9", "the scheme has no lines; write new code, colon, old codes on each, as in 1:1-10."),
        ("1:1\n2 3", "line 2 of the scheme must begin with a new code and a colon, as in 1:1-10; got '2 3'."),
        (":1", "line 1 of the scheme must begin with a new code and a colon, as in 1:1-10; got ':1'."),
        ("1:", f"line 1 {LINE} ''."),
        ("1:-", f"line 1 {LINE} '-'."),
        ("1:2,", f"line 1 {LINE} ''."),
        ("1:2,,3", f"line 1 {LINE} ''."),
        ("1:2 3", f"line 1 {LINE} '2 3'."),
        ("1:2-3-4", f"line 1 {LINE} '2-3-4'."),
        ("\n1:2:3", f"line 2 {LINE} '2:3'."),
        ("1:7-3", "line 1 of the scheme has a range that ends before it begins; turn it round."),
        ("1:1-10\n2:10-20", "lines 1 and 2 of the scheme have a code in common; a code can become only one."),
        ("1:-10\n2:20\n3:3", "lines 1 and 3 of the scheme have a code in common; a code can become only one."),
        ("1:5,5", "line 1 of the scheme names a code twice; name it once."),
        (
            "<MISING> 9",
            "line 1 of the scheme must be <MISSING> with codes or <CODELIST> with a file; got '<MISING> 9'.",
        ),
        (
            "1:1\n<MISSING>",
            "line 2 of the scheme must be <MISSING> with codes or <CODELIST> with a file; got '<MISSING>'.",
        ),
    ],
)
def test_mistakes_are_told_by_line(text: str, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        parse_scheme(text)
    assert str(error.value) == message


def test_whole_codes_lose_no_zero() -> None:
    assert whole_codes(["1", "20", "-3"]) == [1, 20, -3]
    assert whole_codes(["01"]) is None
    assert whole_codes(["1.5"]) is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Age.grc").write_bytes(b"1: -20\r\n2: 21-\r\n\r\n<MISSING> 8 9\r\n<CODELIST>    Age.cdl\r\n")
    (tmp_path / "Age.cdl").write_bytes("1, under 21\r\n2, 21 and \xe4lter\r\n".encode("cp1252"))
    return tmp_path


def test_a_file_brings_its_code_list(folder: Path) -> None:
    text, labels = load_scheme(folder / "Age.grc")
    assert labels == {"1": "under 21", "2": "21 and älter"}
    assert parse_scheme(text).codelist is None
    assert parse_scheme(text).missing == ("8", "9")


def test_a_step_holds_the_scheme_not_its_path(folder: Path) -> None:
    plan = tc.Plan([Recode("age", scheme=str(folder / "Age.grc"))])
    (folder / "Age.grc").unlink()
    again = tc.Plan.from_toml(plan.to_toml())
    assert again == plan
    known = {"age": Variable(missing=(-1, -2), value_labels={-1: "refused", 30: "thirty"}, not_applicable=(-7,))}
    people = Data.of(pl.DataFrame({"age": [5, 20, 21, -1, -2, -7, None]}), known)
    data = again.apply(people, tc.Scenario(keys=["age"])).data
    assert data.table["age"].to_list() == [1, 1, 2, 8, 9, -7, None]
    assert data.variable("age") == Variable(
        value_labels={1: "under 21", 2: "21 and älter", 8: "refused"}, missing=(8, 9), not_applicable=(-7,)
    )
    assert data.missing("age").tolist() == [False, False, False, True, True, False, True]


def test_files_that_are_not_there_are_named(folder: Path) -> None:
    with pytest.raises(TacitaError) as error:
        Recode("age", scheme=folder / "Alter.grc")
    assert str(error.value) == "Alter.grc cannot be read: no such file or directory; check the path of the scheme."
    (folder / "Age.cdl").unlink()
    with pytest.raises(TacitaError) as error:
        Recode("age", scheme=folder / "Age.grc")
    assert str(error.value) == "Age.cdl cannot be read: no such file or directory; check the path of the code list."
    (folder / "Age.cdl").write_text("1 under 21\n")
    with pytest.raises(TacitaError) as error:
        Recode("age", scheme=folder / "Age.grc")
    assert str(error.value) == "line 1 of Age.cdl must be a code, a comma and a label; correct it."
