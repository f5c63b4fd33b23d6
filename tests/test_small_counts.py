"""Counts below ten are withheld, and those that would tell them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.small_counts import LEAST, decimals_for, shown_counts


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([4, 30, 966], (None, None, 966)),
        ([0, 30, 970], (0, 30, 970)),
        ([0, 9, 991], (0, None, None)),
        ([3, 4, 993], (None, None, None)),
        ([6, 7, 987], (None, None, 987)),
        ([10, 990], (10, 990)),
        ([5], (None,)),
        ([], ()),
    ],
)
def test_by_hand(parts: list[int], shown: tuple[int | None, ...]) -> None:
    assert shown_counts(parts) == shown


@given(st.lists(st.integers(0, 40), max_size=8))
def test_nothing_below_ten_is_shown_and_no_difference_tells_it(parts: list[int]) -> None:
    shown = shown_counts(parts)
    hidden = [count for count, seen in zip(parts, shown, strict=True) if seen is None]
    assert all(seen is None or seen == count for count, seen in zip(parts, shown, strict=True))
    assert not any(0 < count < LEAST for count in shown if count is not None)
    # What is hidden is known in sum, from the total: that is enough to be no small count, of two parts at least.
    if hidden and len([count for count in parts if count]) > 1:
        assert len(hidden) > 1
        assert sum(hidden) >= LEAST or sum(hidden) == sum(parts)


@pytest.mark.parametrize("records", [1, 9, 10, 99, 100, 999, 1_000, 10_000, 88_330, 10**9])
def test_the_last_decimal_stands_for_ten_records_or_more(records: int) -> None:
    decimals = decimals_for(records)
    assert decimals == 0 or 10**-decimals * records >= LEAST
    assert decimals <= 3
