"""Group rare categories: none is left below, and nothing else is touched."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.group_rare import neighbours_together, rare_together


def grouped(column: Any, step: tc.GroupRare, known: Variable | None = None, k: int | None = 3) -> Any:
    data = Data.of(pl.DataFrame({"x": column}), {"x": known} if known else {})
    return tc.Plan([step]).apply(data, tc.Scenario(keys=["x"]), tc.Policy(k=k))


def values(column: Any, known: Variable | None = None, **options: Any) -> list[Any]:
    found: list[Any] = grouped(column, tc.GroupRare("x", **options), known).data.table["x"].to_list()
    return found


def test_rare_categories_go_into_one() -> None:
    column = ["a"] * 5 + ["b"] * 4 + ["c", "c", "d", None]
    assert values(column, least=3) == ["a"] * 5 + ["b"] * 4 + ["other"] * 3 + [None]
    assert values(column) == values(column, least=3)
    assert values(column, least=4, into="rest") == ["a"] * 5 + ["rest"] * 7 + [None]


def test_the_next_rarest_joins_until_there_are_enough() -> None:
    assert values(["a"] * 5 + ["b"] * 4 + ["c"], least=3) == ["a"] * 5 + ["other"] * 5
    # Of two equally rare ones the first.
    assert values(["a"] * 4 + ["b"] * 4 + ["c"], least=3) == ["other"] * 4 + ["b"] * 4 + ["other"]


def test_an_own_category_other_takes_part() -> None:
    assert values(["a"] * 4 + ["other"] * 9 + ["c"], least=3) == ["a"] * 4 + ["other"] * 10


def test_a_share_of_those_that_have_a_value() -> None:
    column = ["a"] * 8 + ["b", "c", None, None]
    # 15 % of 10 records are 2 at least.
    assert values(column, least_share=0.15) == ["a"] * 8 + ["other", "other", None, None]
    assert values(column, least_share=0.1) == column


CELLS = st.lists(st.none() | st.sampled_from(["a", "b", "c", "d", "e", "other"]), min_size=1, max_size=40)


@given(CELLS, st.integers(2, 8))
def test_no_category_is_left_below(cells: list[str | None], least: int) -> None:
    counts = Counter(cell for cell in cells if cell is not None)
    if not least <= sum(counts.values()):
        return
    released = values(pl.Series(cells, dtype=pl.String), least=least)
    left = Counter(cell for cell in released if cell is not None)
    assert min(left.values()) >= least
    for before, after in zip(cells, released, strict=True):
        assert after in (before, "other")
        assert (before is None) == (after is None)
    # Who was not rare stays, unless he had to help out; and then nobody rarer stayed.
    joined = {cell for cell, label in zip(cells, released, strict=True) if cell not in (None, label)}
    helped = [name for name in joined if counts[name] >= least]
    stayed = [name for name in left if name != "other"]
    assert all(counts[helper] <= counts[name] for helper in helped for name in stayed)
    needed = sum(count for name, count in counts.items() if count < least or name == "other")
    assert not helped or needed < least


def slow_neighbours(counts: list[int], least: int) -> list[list[int]]:
    """One merge at a time, on lists of members."""
    groups = [[place] for place in range(len(counts))]

    def size(group: list[int]) -> int:
        return sum(counts[place] for place in group)

    while len(groups) > 1 and any(size(group) < least for group in groups):
        rarest = min(range(len(groups)), key=lambda at: (size(groups[at]), at))
        sides = [at for at in (rarest - 1, rarest + 1) if 0 <= at < len(groups)]
        other = min(sides, key=lambda at: (size(groups[at]), at))
        low, high = sorted((rarest, other))
        groups[low : high + 1] = [groups[low] + groups[high]]
    return groups


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(2, 15))
def test_neighbours_against_lists(counts: list[int], least: int) -> None:
    found = neighbours_together(np.array(counts), least)
    assert found == sorted(found)
    expected = slow_neighbours(counts, least)
    assert found == [number for number, group in enumerate(expected) for _ in group]


def test_kernels_by_hand() -> None:
    assert rare_together(np.array([50, 1, 9, 1]), 5) == [1, 2, 3]
    assert rare_together(np.array([50, 1, 9, 1]), 5, other=0) == [0, 1, 3]
    assert rare_together(np.array([50, 9]), 5, other=0) == []
    assert neighbours_together(np.array([5, 1, 5]), 3) == [0, 0, 1]
    assert neighbours_together(np.array([1, 1]), 3) == [0, 0]


def test_ordinal_categories_join_a_neighbour() -> None:
    known = Variable(scale="ordinal", order=("none", "low", "mid", "high"))
    column = ["none"] * 5 + ["low"] * 4 + ["mid"] * 6 + ["high", None]
    release = grouped(column, tc.GroupRare("x", least=3), known)
    assert release.data.table["x"].to_list() == ["none"] * 5 + ["low"] * 4 + ["mid to high"] * 7 + [None]
    assert release.data.variable("x") == Variable(scale="ordinal", order=("none", "low", "mid to high"))
    assert release.changes[0].remarks == ("'x': 4 categories became 3",)


def test_ordinal_codes_keep_the_lowest_code_and_join_labels() -> None:
    known = Variable(scale="ordinal", value_labels={1: "never", 2: "rarely", 3: "often", 9: "refused"}, missing=(9,))
    made = grouped([1] * 5 + [2] * 5 + [3, 9], tc.GroupRare("x", least=3), known).data
    assert made.table["x"].to_list() == [1] * 5 + [2] * 6 + [9]
    assert made.variable("x") == Variable(
        scale="ordinal", value_labels={1: "never", 2: "rarely to often", 9: "refused"}, missing=(9,)
    )
    plain = grouped([1] * 5 + [2] * 5 + [3], tc.GroupRare("x", least=3), Variable(scale="ordinal")).data
    assert plain.variable("x").value_labels == {2: "2 or more"}


def test_groups_of_plain_numbers_do_not_tell_the_lowest_and_the_highest() -> None:
    """The youngest and the oldest are one person each: the names of the groups at the ends leave their ages open."""
    ages = [13, 17, 17] + [20] * 4 + [31, 33, 34] + [60] * 4 + [88, 90, 97]
    made = grouped(ages, tc.GroupRare("x", least=3), Variable(scale="ordinal")).data
    assert made.table["x"].to_list() == [17] * 3 + [20] * 4 + [31] * 3 + [60] * 4 + [88] * 3
    labels = {17: "17 or less", 31: "31 to 34", 88: "88 or more"}
    assert made.variable("x").value_labels == labels
    assert not {13, 97} & set(made.table["x"])
    one = grouped([13, 97, 50], tc.GroupRare("x", least=3), Variable(scale="ordinal", missing=(1,))).data
    assert (one.table["x"].to_list(), dict(one.variable("x").value_labels)) == ([2, 2, 2], {2: "any"})


def test_infinite_numbers_are_a_category_too() -> None:
    made = grouped([float("inf"), 1.0, 1.0, 1.0, 2.0, 2.0], tc.GroupRare("x", least=3), Variable(scale="nominal")).data
    assert made.table["x"].to_list() == [3.0, 1.0, 1.0, 1.0, 3.0, 3.0]


def test_codes_get_a_new_code_with_a_label() -> None:
    known = Variable(value_labels={1: "Austria", 2: "Germany", 3: "Fiji", 4: "Tonga", 99: "unknown"}, missing=(99,))
    made = grouped([1] * 5 + [2] * 4 + [3, 4, 4, 99], tc.GroupRare("x"), known).data
    assert made.table["x"].to_list() == [1] * 5 + [2] * 4 + [5, 5, 5, 99]
    assert made.variable("x") == Variable(
        value_labels={1: "Austria", 2: "Germany", 5: "other", 99: "unknown"}, missing=(99,)
    )


def test_codes_use_the_code_that_is_labelled_so() -> None:
    known = Variable(value_labels={1: "Austria", 3: "Fiji", 4: "Tonga", 8: "other"})
    made = grouped([1] * 5 + [3, 4, 4], tc.GroupRare("x"), known).data
    assert made.table["x"].to_list() == [1] * 5 + [8, 8, 8]
    assert made.variable("x").value_labels == {1: "Austria", 8: "other"}
    given_code = grouped([1] * 5 + [3, 4, 4], tc.GroupRare("x", into=70), known).data
    assert given_code.table["x"].to_list() == [1] * 5 + [70, 70, 70]
    assert given_code.variable("x").value_labels == {1: "Austria", 70: "70"}


def test_new_codes_are_never_declared_ones() -> None:
    known = Variable(missing=(3,), not_applicable=(4,), missing_ranges=((5.0, 6.0),))
    assert values([1] * 4 + [2, 2, 0, 3, 4, 5], known, least=3) == [1] * 4 + [7, 7, 7, 3, 4, 5]


def test_declared_codes_are_not_rare() -> None:
    known = Variable(missing=("DK",), not_applicable=("NA",))
    assert values(["a"] * 3 + ["b", "b", "c", "DK", "NA"], known, least=3) == ["a"] * 3 + ["other"] * 3 + ["DK", "NA"]


def test_nothing_rare_nothing_changed() -> None:
    column = ["a"] * 3 + ["b"] * 3
    release = grouped(column, tc.GroupRare("x"))
    assert release.data.table["x"].to_list() == column
    assert release.changes[0].remarks == ()
    assert values(pl.Series([None, None], dtype=pl.String)) == [None, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"least": 3, "least_share": 0.1},
            "group_rare takes least (records) or least_share (of the records), not both; give one of them.",
        ),
        ({"least": 1}, "least must be at least 2; got 1."),
        ({"least_share": 0}, "least_share must be in (0, 1); got 0."),
        ({"into": ""}, "into must be a text or a whole number; got ''."),
        ({"into": 1.5}, "into must be a text or a whole number; got 1.5."),
        ({"variables": []}, "variables must name at least one variable."),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.GroupRare(**({"variables": "x"} | options))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("column", "known", "options", "message"),
    [
        (
            [1.5, 2.5], Variable(), {},
            "column 'x' holds numbers, not categories; use Recode or TopCode, or declare it nominal or ordinal.",
        ),
        (
            ["a", "b"], Variable(), {},
            "column 'x' has 2 records with a value, fewer than least = 3; remove it or choose a smaller least.",
        ),
        (
            ["a"] * 4 + ["b"], Variable(missing=("DK",)), {"into": "DK"},
            "into must be no code declared missing or not applicable; got 'DK'.",
        ),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(column: Any, known: Variable, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        values(column, known, **options)
    assert str(error.value) == message


def test_joining_categories_of_more_than_half_of_the_records_is_remarked() -> None:
    data = pl.DataFrame({"job": ["a"] * 4 + list("bbccdd") + [None]})
    change = tc.Plan([tc.GroupRare("job", least_share=0.3)]).apply(data, tc.Scenario(keys=["job"])).changes[0]
    assert change.remarks == (
        "'job': 4 categories became 2",
        "'job': 6 of the 10 records that have a value were joined, more than half",
    )
