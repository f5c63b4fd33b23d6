"""Hierarchies: groups by level, nested; made of files, mappings, widths, codes and dates; to a plan file and back."""

import datetime as dt
import itertools
import tomllib
from dataclasses import FrozenInstanceError
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.frame import Coded
from tacita.protect.recode.hierarchies import Hierarchy, recoded

REGIONS = Hierarchy.rows([("Vienna", "east", "AT"), ("Graz", "south", "AT"), ("Bern", "mid", "CH")])

EVERY_KIND = [
    REGIONS,
    Hierarchy.mappings({1: "a", 2: "a", 3: "b"}, {"a": "x", "b": "x"}),
    Hierarchy.intervals([5, 10, 20], top=80, bottom=15),
    Hierarchy.intervals([0.5, 1.5], start=0.25, whole=False, redact=False),
    Hierarchy.truncation([3, 2, 1], digits=4),
    Hierarchy.dates(["month", "year"]),
    Hierarchy.redaction(),
]


def test_levels_of_rows() -> None:
    assert REGIONS.height == 3
    assert REGIONS.labels_at(["Bern", "Graz"], 0) == ["Bern", "Graz"]
    assert REGIONS.labels_at(["Bern", "Graz"], 1) == ["mid", "south"]
    assert REGIONS.labels_at(["Bern", "Graz"], 2) == ["CH", "AT"]
    assert REGIONS.labels_at(["Bern", "Graz"], 3) == ["*", "*"]
    levels = REGIONS.levels(("Bern", "Graz", "Vienna"), "town")
    assert levels.groups.tolist() == [[0, 1, 2], [0, 1, 2], [0, 1, 1], [0, 0, 0]]
    assert levels.labels == (("Bern", "Graz", "Vienna"), ("mid", "south", "east"), ("CH", "AT"), ("*",))


def test_a_last_level_of_one_group_is_the_star_already() -> None:
    assert Hierarchy.rows([("a", "*"), ("b", "*")]).height == 1
    assert Hierarchy.rows([("a", "x"), ("b", "y")]).height == 2
    assert Hierarchy.rows([("a", "x"), ("b", "y")], redact=False).height == 1


def test_mappings_follow_each_other() -> None:
    made = Hierarchy.mappings({1: "a", 2: "a", 3: "b"}, {"a": "low", "b": "high"})
    assert made.labels_at([3, 1], 1) == ["b", "a"]
    assert made.labels_at([3, 1], 2) == ["high", "low"]
    with pytest.raises(TacitaError, match=r"^mapping 2 of the hierarchy lacks 1 group of the one before; add them"):
        Hierarchy.mappings({1: "a", 2: "b"}, {"a": "x"})


def test_intervals() -> None:
    ages = Hierarchy.intervals([5, 10], bottom=16, top=82)
    assert ages.height == 3
    assert ages.labels_at([15, 16, 19, 20, 79, 80, 81, 82, 99], 1) == [
        "<16", "16-19", "16-19", "20-24", "75-79", "80-81", "80-81", "82+", "82+",
    ]  # fmt: skip
    assert ages.labels_at([15, 16, 20, 81, 99], 2) == ["<16", "16-19", "20-29", "80-81", "82+"]
    assert Hierarchy.intervals([4], start=1).labels_at([-3, 0, 1, 4, 5], 1) == [
        "-3 to 0", "-3 to 0", "1-4", "1-4", "5-8",
    ]  # fmt: skip
    assert Hierarchy.intervals([1, 2]).labels_at([7], 1) == ["7"]


def test_intervals_of_fractions_are_exact() -> None:
    """0.3 and 0.7 begin an interval of width 0.1, though no double is exactly either of them."""
    tenths = Hierarchy.intervals([0.1, 0.5], whole=False)
    assert tenths.labels_at([0.3, 0.7, 0.29], 1) == ["0.3 to <0.4", "0.7 to <0.8", "0.2 to <0.3"]
    assert tenths.labels_at([0.3, 0.7], 2) == ["0 to <0.5", "0.5 to <1"]


def test_decimal_numbers_are_numbers() -> None:
    values = [Decimal("4.0"), Decimal("5"), Decimal("12")]
    assert Hierarchy.intervals([5, 10]).labels_at(values, 1) == ["0-4", "5-9", "10-14"]
    assert Hierarchy.intervals([0.1], whole=False).labels_at([Decimal("0.30")], 1) == ["0.3 to <0.4"]


def test_codes_are_cut_from_the_right() -> None:
    nace = Hierarchy.truncation([4, 2, 1])
    assert nace.labels_at(["01.11", "01.2", "A"], 1) == ["01.1", "01.2", "A"]
    assert nace.labels_at(["01.11", "01.2", "A"], 2) == ["01", "01", "A"]
    assert Hierarchy.truncation([3]).labels_at(["01.11"], 1) == ["01"]
    assert Hierarchy.truncation([2], digits=4).labels_at([110, 2411], 1) == ["01", "24"]
    assert Hierarchy.truncation([2]).labels_at([110], 1) == ["11"]


def test_dates() -> None:
    days = [dt.date(2023, 12, 31), dt.datetime(2024, 7, 1, 8, 30), "2024-06-30"]
    made = Hierarchy.dates(["day", "month", "quarter", "half-year", "year", "decade"])
    found = [made.labels_at(days, level) for level in range(1, 7)]
    assert found == [
        ["2023-12-31", "2024-07-01", "2024-06-30"],
        ["2023-12", "2024-07", "2024-06"],
        ["2023-Q4", "2024-Q3", "2024-Q2"],
        ["2023-H2", "2024-H2", "2024-H1"],
        ["2023", "2024", "2024"],
        ["2020s", "2020s", "2020s"],
    ]


def test_values_are_found_by_their_text() -> None:
    made = Hierarchy.rows([("7", "x"), ("true", "y"), ("2024-01-05", "z")])
    assert made.labels_at([7, 7.0, True, dt.date(2024, 1, 5)], 1) == ["x", "x", "y", "z"]


# Nesting.


@given(st.lists(st.integers(-200, 200), min_size=1, unique=True), st.integers(1, 7), st.lists(st.integers(2, 4)))
def test_intervals_nest(values: list[int], width: int, factors: list[int]) -> None:
    widths = [width]
    for factor in factors[:3]:
        widths.append(widths[-1] * factor)
    assert_nested(Hierarchy.intervals(widths, start=3, bottom=-50, top=61), values)


@given(st.lists(st.text("0123.", min_size=1, max_size=6), min_size=1, unique=True))
def test_codes_nest(values: list[str]) -> None:
    assert_nested(Hierarchy.truncation([5, 3, 2, 1]), values)


@given(st.lists(st.dates(), min_size=1, unique=True))
def test_dates_nest(values: list[dt.date]) -> None:
    assert_nested(Hierarchy.dates(["day", "month", "quarter", "half-year", "year", "decade"]), values)


def assert_nested(hierarchy: Hierarchy, values: list[object]) -> None:
    groups = hierarchy.levels(values, "x").groups
    for below, above in itertools.pairwise(groups):
        assert len(set(zip(below.tolist(), above.tolist(), strict=True))) == len(set(below.tolist()))
    assert len(groups) == hierarchy.height + 1


def test_rows_that_do_not_nest_are_an_error() -> None:
    with pytest.raises(TacitaError) as caught:
        Hierarchy.rows([("a", "x", "1"), ("b", "x", "2"), ("c", "x", "2"), ("d", "y", "1")])
    assert str(caught.value) == (
        "level 2 of the hierarchy parts values that level 1 has put together: 2 values break the nesting; correct "
        "the groups."
    )


# What the data have and the hierarchy does not.


@pytest.mark.parametrize(
    ("hierarchy", "values", "message"),
    [
        (REGIONS, ["Bern", "Xanadu", "Ys"], "the hierarchy of 'v' does not have 2 values of the data; add them to it"),
        (Hierarchy.intervals([5]), [3, 4.5], "'v' has 1 value that cannot be put into intervals of whole numbers"),
        (Hierarchy.intervals([5], whole=False), ["a"], "'v' has 1 value that cannot be put into intervals of numbers"),
        (Hierarchy.truncation([2]), [-1], "'v' has 1 value that cannot be cut as codes"),
        (Hierarchy.dates(), ["5 May"], "of 'v' 1 value is no date; write dates as"),
    ],
)
def test_unknown_values_are_counted_never_quoted(hierarchy: Hierarchy, values: list[object], message: str) -> None:
    for level in range(1, hierarchy.height + 1):
        with pytest.raises(TacitaError, match=f"^{message}") as caught:
            hierarchy.labels_at(values, level, "v")
        assert "Xanadu" not in str(caught.value)
        assert "5 May" not in str(caught.value)


def test_codes_for_not_applicable_stay_apart() -> None:
    """-9 is no age: it stays itself at every level but the star."""
    levels = Hierarchy.intervals([10]).levels((-9, 23, 27), "age", apart=(-9,))
    assert levels.labels == ((-9, 23, 27), (-9, "20-29"), ("*",))
    assert levels.groups.tolist() == [[0, 1, 2], [0, 1, 1], [0, 0, 0]]


def test_recoded_columns() -> None:
    column = Coded(np.array([0, 1, 2, 3, 1], dtype=np.uint32), (23, 27, 31))
    made = recoded(column, Hierarchy.intervals([10]), 1, "age")
    assert made.values == ("20-29", "30-39")
    assert made.codes.tolist() == [0, 1, 1, 2, 1]
    assert recoded(column, Hierarchy.intervals([10]), 0, "age").values == (23, 27, 31)
    with pytest.raises(TacitaError, match="the level of 'age' must be at most 2, the height of its hierarchy; got 3"):
        recoded(column, Hierarchy.intervals([10]), 3, "age")


# Files.


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_csv_files_as_arx_writes_them(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "age.csv"
    rows = [["34", "<50", "*"], ["45", "<50", "*"], ["66", ">=50", "*"]]
    path.write_text("\n".join(delimiter.join(row) for row in rows) + "\n", encoding="utf-8-sig")
    made = Hierarchy.csv(path)
    assert made.height == 2
    assert made.labels_at([66, 34], 1) == [">=50", "<50"]
    assert Hierarchy.of(str(path)) == made == Hierarchy.of(path) == Hierarchy.of(made)


def test_csv_files_with_a_header_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "town.csv"
    path.write_text('town,region\n"Graz, city",south\nBern,mid\n', encoding="utf-8")
    made = Hierarchy.csv(path, header=True)
    assert made.labels_at(["Graz, city"], 1) == ["south"]
    assert made.height == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x\nb\n", "h.csv: row 2 of the hierarchy has 1 field; every row must have as many as the first"),
        ("a;x\nb;\n", "h.csv: row 2 of the hierarchy has an empty field"),
        ("a;x\nb;y\na;y\n", "h.csv: row 3 of the hierarchy puts a value into other groups than a row above it."),
        (
            "a;x;1\nb;x;2\n",
            "h.csv: level 2 of the hierarchy parts values that level 1 has put together: 1 value breaks",
        ),
        ("\n", "h.csv has no rows"),
        ("a\nb\n", "h.csv: row 1 of the hierarchy has 1 field"),
        ('a;"' + "x" * 140_000 + "\nb;y\n", "h.csv has a field without an end; check its quotes."),
    ],
)
def test_wrong_files_are_errors_that_name_the_row(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "h.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TacitaError) as caught:
        Hierarchy.csv(path)
    assert str(caught.value).startswith(message)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TacitaError, match=r"^absent.csv cannot be read: no such file or directory; check the path"):
        Hierarchy.csv(tmp_path / "absent.csv")
    (tmp_path / "latin.csv").write_bytes(b"\xe4;x\n")
    with pytest.raises(TacitaError, match=r"^latin.csv is not UTF-8 text; save the hierarchy as UTF-8.$"):
        Hierarchy.csv(tmp_path / "latin.csv")


def test_a_row_twice_is_once() -> None:
    assert Hierarchy.rows([("a", "x"), ("b", "y"), ("a", "x")]) == Hierarchy.rows([("a", "x"), ("b", "y")])


# Data like any other.


@pytest.mark.parametrize("hierarchy", EVERY_KIND, ids=lambda each: each.kind)
def test_to_a_plan_file_and_back(hierarchy: Hierarchy) -> None:
    text = tomli_w.dumps({"h": hierarchy.to_dict()})
    back = Hierarchy.from_dict(tomllib.loads(text)["h"])
    assert back == hierarchy
    assert Hierarchy.of(tomllib.loads(text)["h"]) == hierarchy
    assert hash(back) == hash(hierarchy)


@pytest.mark.parametrize("hierarchy", EVERY_KIND, ids=lambda each: each.kind)
def test_frozen(hierarchy: Hierarchy) -> None:
    with pytest.raises(FrozenInstanceError):
        hierarchy.redact = False  # type: ignore[misc]


def test_different_hierarchies_differ() -> None:
    assert len(set(EVERY_KIND)) == len(EVERY_KIND)
    assert Hierarchy.intervals([5]) != Hierarchy.intervals([5], redact=False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.intervals([]), "widths must be one or more numbers above 0; got []."),
        (lambda: Hierarchy.intervals([0]), "widths must be one or more numbers above 0; got [0]."),
        (lambda: Hierarchy.intervals([5, 12]), "every width must be a multiple of the one before, as in [5, 10, 20]"),
        (lambda: Hierarchy.intervals([2.5]), "widths must be whole, or pass whole=False; got 2.5."),
        (lambda: Hierarchy.intervals([5], bottom=9, top=9), "bottom must be below top; got 9 and 9."),
        (lambda: Hierarchy.truncation([1, 2]), "keep must be lengths that become shorter, as in [3, 2, 1]; got"),
        (lambda: Hierarchy.truncation([0]), "keep must be at least 1; got 0."),
        (lambda: Hierarchy.dates(["year", "month"]), "units must go from short to long, in the order day, month,"),
        (lambda: Hierarchy.dates(["week"]), "a unit of dates must be one of 'day', 'month',"),
        (lambda: Hierarchy.rows([]), "a hierarchy must have at least one row: the value, then its groups."),
        (lambda: Hierarchy.rows([7]), "the rows of a hierarchy must be lists: the value, then its groups."),
        (lambda: Hierarchy.rows([("a", ["x"])]), "row 1 of the hierarchy must hold texts and numbers, no lists."),
        (
            lambda: Hierarchy.mappings({"a": ["x"]}, {"x": 1}),
            "the groups of a hierarchy of mappings must be texts or numbers, no lists.",
        ),
        (lambda: Hierarchy.intervals([5], redact="no"), "redact must be true or false; got 'no'."),  # type: ignore[arg-type]
        (lambda: Hierarchy.intervals([5], whole=1), "whole must be true or false; got 1."),  # type: ignore[arg-type]
        (
            lambda: Hierarchy.from_dict({"kind": "redaction", "redact": "yes"}),
            "redact must be true or false; got 'yes'.",
        ),
        (lambda: Hierarchy.csv(__file__, delimiter=";;"), "delimiter must be one sign, as ';'; got ';;'."),
        (lambda: Hierarchy.csv(__file__, header="yes"), "header must be true or false; got 'yes'."),  # type: ignore[arg-type]
        (lambda: Hierarchy.mappings(), "a hierarchy of mappings needs at least one, as in"),
        (lambda: Hierarchy.of(7, "age"), "the hierarchy of 'age' must be a Hierarchy or the path of a CSV file"),
        (lambda: Hierarchy.from_dict({"kind": "tree"}), "the kind of a hierarchy must be one of 'dates', 'intervals',"),
        (lambda: Hierarchy.from_dict({"kind": "intervals"}), "a hierarchy of kind 'intervals' must have 'widths', a"),
        (
            lambda: Hierarchy.from_dict({"kind": "intervals", "width": [5]}),
            "a hierarchy of kind 'intervals' has the fields redact, widths, start, bottom, top, whole; got 'width'.",
        ),
    ],
)  # fmt: skip
def test_wrong_parameters(make: object, message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value).startswith(message)


def test_limits_beyond_floats_are_written_in_full() -> None:
    halves = Hierarchy.intervals([0.5], whole=False)
    assert halves.labels_at([2**53], 1) == ["9007199254740992 to <9007199254740992.5"]
