"""Exact quantile classes and log-equidistant classes."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.protect.recode.ways.log_groups import log_breaks
from tacita.protect.recode.ways.quantiles import exact_quantiles


def classes(values: list[object], **way: object) -> tc.Release:
    people = pl.DataFrame({"x": values, "sex": ["f"] * len(values)}, strict=False)
    return tc.Plan([tc.Recode("x", **way)]).apply(people, tc.Scenario(keys=["sex"]))


def test_quartiles_by_hand() -> None:
    """Of eight values the quartiles are the second, fourth and sixth, each in the group that it ends."""
    release = classes([5, 1, 8, 2, 7, 3, 6, 4], quantiles=4)
    assert release.data.variable("x").order == ("<=2", "3-4", "5-6", ">6")
    assert release.data.table["x"].to_list() == ["5-6", "<=2", ">6", "<=2", ">6", "3-4", "5-6", "3-4"]
    assert release.changes[0].remarks == (
        "'x': the ends of the groups are values of the file and stand in their names; groups=... takes round ones",
    )


def test_shares_of_their_own_and_names() -> None:
    release = classes(list(range(1, 101)), quantiles=[0.1, 0.9], into=["low", "middle", "high"])
    assert release.data.table["x"].value_counts().sort("x").rows() == [("high", 10), ("low", 10), ("middle", 80)]
    assert release.changes[0].remarks == ()
    left = classes(list(range(1, 101)), quantiles=[0.1], closed="left")
    assert left.data.table["x"].to_list() == ["<10"] * 9 + ["10+"] * 91


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=60), st.integers(2, 8))
def test_a_quantile_is_the_smallest_value_that_enough_records_do_not_exceed(numbers: list[int], parts: int) -> None:
    values, counts = np.unique(numbers, return_counts=True)
    shares = [Fraction(at, parts) for at in range(1, parts)]
    slow = [
        min(v for v in numbers if Fraction(sum(w <= v for w in numbers), len(numbers)) >= share) for share in shares
    ]
    assert exact_quantiles(values.tolist(), counts, shares) == slow


def test_equal_values_stay_together() -> None:
    release = classes([1] * 8 + [2, 3], quantiles=4)
    assert release.data.table["x"].to_list() == ["<=1"] * 8 + ["2", ">2"][:1] * 0 + [">1"] * 2
    assert release.changes[0].remarks[0].startswith("'x': 2 groups in place of 4, since equal values stay together")


@given(st.integers(1, 1000), st.integers(2, 100), st.integers(2, 6))
def test_log_breaks_ascend_inside_the_file_and_are_near_equal_ratios(low: int, times: int, groups: int) -> None:
    breaks = log_breaks(low, low * times, groups)
    assert breaks == sorted(set(breaks)) and all(low < each <= low * times for each in breaks)
    if len(breaks) == groups - 1:
        for at, each in enumerate(breaks, start=1):
            assert each / (low * times ** (at / groups)) == pytest.approx(1, abs=0.06)


def test_log_classes_by_hand() -> None:
    release = classes([0, 1, 9, 10, 99, 100, 1000, 10000, None], log_groups=4)
    assert release.data.variable("x").order == ("<10", "10-99", "100-999", "1000+")
    assert release.data.table["x"].to_list() == ["<10"] * 3 + ["10-99"] * 2 + ["100-999"] + ["1000+"] * 2 + [None]
    assert release.changes[0].remarks == ("'x': 1 record of 0 or below in the lowest group",)


def test_log_breaks_do_not_tell_the_ends_of_the_file() -> None:
    """Two exact breaks would: their ratio is that of the ends, in as many steps as there are groups."""
    breaks = log_breaks(1234.5, 98765.4, 5)
    ratio = breaks[1] / breaks[0]
    assert abs(breaks[0] / ratio - 1234.5) > 10
    assert all(float(f"{each:.1e}") == each for each in breaks)
    assert math.isclose(breaks[0], 3000)


def test_what_cannot_be_parted() -> None:
    with pytest.raises(TacitaError, match="must have different numbers above 0 for classes on the log scale"):
        classes([-1, 0, 5, 5], log_groups=3)
    with pytest.raises(TacitaError, match="has one value for most records and cannot be parted"):
        classes([3, 3, 3], quantiles=2)
    with pytest.raises(TacitaError, match="can be parted into 2 groups only, but into names 3"):
        classes([1, 1, 1, 2], quantiles=[0.2, 0.9], into=["a", "b", "c"])
    for wrong, message in (
        (1, "quantiles must be at least 2; got 1"),
        ([0.5, 0.1], "quantiles must be ascending shares"),
        ([0, 0.5], "quantiles must be in"),
        ("four", "quantiles must be a number of groups, or ascending shares"),
    ):
        with pytest.raises(TacitaError, match=message):
            tc.Recode("x", quantiles=wrong)


def test_to_a_file_and_back() -> None:
    plan = tc.Plan([tc.Recode("x", quantiles=[0.25, 0.5]), tc.Recode("y", quantiles=5), tc.Recode("z", log_groups=3)])
    assert tc.Plan.from_toml(plan.to_toml()).to_dict() == plan.to_dict()
