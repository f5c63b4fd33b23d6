"""Intervals: every number in exactly one of them, exactly where a person with pencil and paper would put it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.protect.recode.intervals import (
    all_whole,
    break_labels,
    cut,
    equal_count_breaks,
    exact,
    interval_label,
    multiples,
    roundest,
)

DECIMALS = st.decimals(-1000, 1000, places=2).map(float)
"""Numbers as surveys have them."""
WHOLE = st.integers(-(2**70), 2**70)


def slow_place(value: float, breaks: list[float], right: bool) -> int:
    """By counting, in exact fractions."""
    return sum(exact(value) > exact(limit) if right else exact(value) >= exact(limit) for limit in breaks)


@given(st.lists(DECIMALS, max_size=20), st.lists(DECIMALS, min_size=1, max_size=5, unique=True), st.booleans())
def test_cut_counts_the_breaks_that_a_number_has_reached(values: list[float], breaks: list[float], right: bool) -> None:
    breaks = sorted(breaks)
    assert cut(values, breaks, right=right).tolist() == [slow_place(value, breaks, right) for value in values]


@given(st.lists(WHOLE, max_size=20), st.lists(WHOLE | DECIMALS, min_size=1, max_size=5, unique=True), st.booleans())
@example([2**53, 2**53 + 1], [2**53 + 1], False)
@example([2**63, -(2**63)], [2**63 + 1], True)
def test_whole_numbers_of_any_size_are_cut_exactly(values: list[int], breaks: list[float], right: bool) -> None:
    breaks = sorted(breaks)
    found = cut(values, breaks, right=right, whole=True).tolist()
    assert found == [sum(v > limit if right else v >= limit for limit in breaks) for v in values]


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=6, unique=True), st.booleans())
def test_labels_of_whole_numbers_say_which_they_hold(breaks: list[int], right: bool) -> None:
    """Read back, a label holds exactly the numbers that are cut into it."""
    breaks = sorted(breaks)
    labels = break_labels(breaks, right=right, whole=True)
    assert len(set(labels)) == len(breaks) + 1
    for number in range(-40, 41):
        (place,) = cut([number], breaks, right=right, whole=True).tolist()
        assert [at for at, label in enumerate(labels) if number in read_back(label)] == [place]


def read_back(label: str) -> range:
    """The whole numbers that a label speaks of, of those between -100 and 100."""
    if label.startswith("<="):
        return range(-100, int(label[2:]) + 1)
    if label.startswith("<"):
        return range(-100, int(label[1:]))
    if label.startswith(">"):
        return range(int(label[1:]) + 1, 101)
    if label.endswith("+"):
        return range(int(label[:-1]), 101)
    first, _, last = (
        label.partition(" to ") if " to " in label else label.partition("-") if label[0] != "-" else (label, "", "")
    )
    return range(int(first), int(last or first) + 1)


def test_labels_by_hand() -> None:
    assert break_labels([20, 25, 26, 65], whole=True) == ["<20", "20-24", "25", "26-64", "65+"]
    assert break_labels([0.5, 10], whole=False) == ["<0.5", "[0.5, 10)", "10+"]
    assert break_labels([0.5, 10], right=True) == ["<=0.5", "(0.5, 10]", ">10"]
    # Of whole numbers, those from 0.5 to 2.5 are 1 and 2.
    assert break_labels([0.5, 2.5], whole=True) == ["<1", "1-2", "3+"]
    assert break_labels([0.5, 2.5], whole=True, right=True) == ["<=0", "1-2", ">2"]
    assert interval_label(Fraction(-10), Fraction(0), whole=True) == "-10 to -1"
    assert interval_label(Fraction(3, 10), Fraction(4, 10)) == "[0.3, 0.4)"
    assert interval_label(Fraction(10**22), Fraction(10**22 + 10), whole=True) == f"{10**22}-{10**22 + 9}"


WIDTHS = st.sampled_from([0.1, 0.25, 0.3, 1, 5, 7.5, 1000])
STARTS = st.sampled_from([0, 0.05, -3, 18, 1.5])


@given(st.lists(DECIMALS, max_size=20), WIDTHS, STARTS, st.booleans())
@example([0.1, 0.3, 0.7, 0.6, 2.3, 1.1], 0.1, 0, False)
def test_fractions_are_put_where_their_decimals_say(
    values: list[float], width: float, start: float, right: bool
) -> None:
    found = multiples(values, exact(width), exact(start), right=right, whole=False).tolist()
    for value, k in zip(values, found, strict=True):
        low = exact(start) + int(k) * exact(width)
        if right:
            assert low < exact(value) <= low + exact(width)
        else:
            assert low <= exact(value) < low + exact(width)


@given(st.lists(WHOLE, max_size=20), WIDTHS, STARTS, st.booleans())
@example([2**53 + 1, 2**62, -(2**63)], 1, 0, False)
def test_whole_numbers_are_put_exactly(values: list[int], width: float, start: float, right: bool) -> None:
    found = multiples(values, exact(width), exact(start), right=right, whole=True).tolist()
    for value, k in zip(values, found, strict=True):
        place = (value - exact(start)) / exact(width)
        assert k == (math.ceil(place) - 1 if right else math.floor(place))


def test_a_width_too_small_for_the_numbers_is_an_error() -> None:
    with pytest.raises(TacitaError) as error:
        multiples([1e18, 0.5], Fraction(1, 100), Fraction(0), right=False, whole=False)
    assert str(error.value) == "width is too small for numbers that large; choose a larger one or set bottom and top."


def slow_breaks(values: list[float], counts: list[int], groups: int) -> set[int]:
    """After which value to part, for each cut: the one whose records so far come nearest to the wanted share."""
    total, chosen = sum(counts), set()
    for group in range(1, groups):
        wanted = Fraction(total * group, groups)
        gaps = [abs(sum(counts[: place + 1]) - wanted) for place in range(len(values) - 1)]
        if gaps:
            chosen.add(gaps.index(min(gaps)))
    return chosen


@given(st.dictionaries(DECIMALS, st.integers(1, 9), min_size=1, max_size=60), st.integers(2, 6), st.booleans())
def test_equal_counts_are_as_equal_as_ties_allow(given_counts: dict[float, int], groups: int, right: bool) -> None:
    values = sorted(given_counts)
    counts = [given_counts[value] for value in values]
    breaks = equal_count_breaks(values, np.array(counts), groups, right=right)
    best = sorted(slow_breaks(values, counts, groups))
    total, allowed = sum(counts), Fraction(sum(counts), 20 * groups)
    reached = [sum(c for v, c in zip(values, counts, strict=True) if (v <= b if right else v < b)) for b in breaks]
    wanted = [sum(counts[: place + 1]) for place in best]
    # Every break is near a best one, every best one has a break near it, and no group is empty.
    assert all(min(abs(count - other) for other in wanted) <= allowed for count in reached)
    assert all(min(abs(count - other) for other in reached) <= allowed for count in wanted)
    assert sorted(set(reached)) == reached
    assert all(0 < count < total for count in reached)
    places = cut(values, breaks, right=right).tolist()
    assert sorted(set(places)) == list(range(len(breaks) + 1))


def test_limits_of_equal_counts_are_round_where_there_is_a_choice() -> None:
    values = list(range(1003, 3003))
    assert equal_count_breaks(values, np.ones(2000, dtype=np.int64), 4) == [1500, 2000, 2500]
    # One record in twenty of a group of 500 may be elsewhere: 25 records.
    assert equal_count_breaks(list(range(1030, 3030)), np.ones(2000, dtype=np.int64), 4) == [1550, 2050, 2550]


def test_equal_counts_by_hand() -> None:
    # Nine records: cuts after the third and the sixth, but five records have a 2.
    assert equal_count_breaks([1, 2, 3, 4], np.array([1, 5, 1, 2]), 3) == [2, 3]
    assert equal_count_breaks([1, 2], np.array([8, 1]), 4) == [2]
    assert equal_count_breaks([7], np.array([5]), 3) == []


@given(DECIMALS, DECIMALS)
@example(17.9, 21.4)
@example(0.1, 0.3)
@example(99.99, 100.0)
def test_the_roundest_number_between_two(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low == high:
        return
    found = roundest(low, high)
    assert low < found <= high
    if found != 0:
        # No multiple of a higher power of ten lies between them.
        power = 0
        while exact(found) / Fraction(10) ** (power + 1) % 1 == 0:
            power += 1
        while exact(found) / Fraction(10) ** power % 1 != 0:
            power -= 1
        unit = Fraction(10) ** (power + 1)
        assert not math.floor(exact(high) / unit) * unit > exact(low)
    else:
        assert low < 0 <= high


def test_roundest_by_hand() -> None:
    pairs = [(17, 18), (17, 23), (12.34, 12.39), (-7.2, -5.5), (880.0, 1300.5)]
    assert [roundest(low, high) for low, high in pairs] == [18, 20, 12.38, -6.0, 1000.0]
    assert isinstance(roundest(17, 23), int)


def test_a_break_is_no_value_of_a_record_where_there_is_room() -> None:
    """17 and 19, and 12.34 and 12.36, have no rounder number between them, but one that nobody has."""
    assert (roundest(17, 19), roundest(12.34, 12.36), roundest(0.1, 0.2)) == (18, 12.35, 0.2)
    assert equal_count_breaks([11, 13], np.array([1, 1]), 2) == [12]
    assert equal_count_breaks([11, 13], np.array([1, 1]), 2, right=True) == [12]


def test_a_width_beyond_64_bits_is_one_interval() -> None:
    assert multiples([1, 5], Fraction(10**30), Fraction(0), right=False, whole=True).tolist() == [0, 0]


def test_whole_numbers_may_be_floats() -> None:
    assert all_whole([1, 2.0, -7.0])
    assert not all_whole([1, 2.5])
    assert not all_whole([math.inf])
