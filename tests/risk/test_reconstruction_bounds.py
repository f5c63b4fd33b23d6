"""What housemates' roles give back: numbers that bound each other, and the value that a household lacks."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.release.reconstruction.bounds import bounds_of, only_other_member, others_lack

WHO = tc.Scenario(keys=["role"], household="hid")


def blanked(original: pl.DataFrame, name: str, blank: Any) -> pl.DataFrame:
    return original.with_columns(pl.when(pl.Series(blank)).then(None).otherwise(pl.col(name)).alias(name))


def by_role(found: Any, variable: str) -> list[Any]:
    return [each for each in found.leaks if each.kind == "household" and each.variable == variable]


def families(size: int, seed: int = 1) -> pl.DataFrame:
    """Mother, father and child in any order; the month of birth of the father is 30 before that of the mother."""
    draw = np.random.default_rng(seed)
    mother = draw.integers(0, 600, size)
    born = np.column_stack([mother, mother - 30, mother + draw.integers(200, 500, size)]).ravel()
    frame = pl.DataFrame(
        {
            "hid": np.repeat(draw.permutation(size), 3),
            "role": ["mother", "father", "child"] * size,
            "born": born,
            "noise": draw.integers(0, 5, 3 * size),
        }
    )
    return frame[draw.permutation(3 * size)]


@pytest.mark.parametrize("size", [200, 2000])
def test_a_constant_difference_gives_the_other_back(size: int) -> None:
    original = families(size)
    blank = (original["role"] == "father").to_numpy() & (np.random.default_rng(3).random(3 * size) < 0.2)
    found = tc.risk.reconstruction(original, blanked(original, "born", blank), WHO)
    (leak,) = by_role(found, "born")
    assert set(leak.columns) == {"hid", "role", "born"}
    assert found.given_back == found.protected == blank.sum()
    assert leak.repair == "suppress it for all members of a household"


def test_bounds_of_two_housemates_leave_one_value() -> None:
    """Nobody is younger than the first or older than the third, by more than ten: where these agree, it is known."""
    draw = np.random.default_rng(2)
    size = 4000
    middle = draw.integers(20, 80, size)
    ages = np.column_stack([middle - draw.integers(0, 11, size), middle, middle + draw.integers(0, 11, size)]).ravel()
    original = pl.DataFrame({"hid": np.repeat(np.arange(size), 3), "role": ["a", "b", "c"] * size, "age": ages})
    original = original[draw.permutation(3 * size)]
    blank = (original["role"] == "b").to_numpy() & (draw.random(3 * size) < 0.3)
    found = tc.risk.reconstruction(original, blanked(original, "age", blank), WHO)
    home = {(hid, role): own for hid, role, own in original.select("hid", "role", "age").iter_rows()}
    known = [
        at for at in np.flatnonzero(blank) if home[original["hid"][int(at)], "a"] == home[original["hid"][int(at)], "c"]
    ]
    told = found.guessed_cells().filter(pl.col("right"))
    assert len(known) >= 5
    assert [each.columns for each in by_role(found, "age")] == [("hid", "role", "age")]
    assert set(known) <= {record - 1 for record in told["record"]}


def test_ages_that_do_not_follow_are_not_told() -> None:
    original = families(400).with_columns(born=pl.Series(np.random.default_rng(4).integers(0, 900, 1200)))
    blank = np.random.default_rng(3).random(1200) < 0.1
    found = tc.risk.reconstruction(original, blanked(original, "born", blank), WHO)
    assert found.given_back <= 0.01 * found.protected


def test_every_household_has_a_reference_person() -> None:
    """Households of many kinds, hardly two alike, with one head each: where no head is shown, the blank is it."""
    draw = np.random.default_rng(5)
    rows = []
    for hid in range(150):
        rows.append((hid, "head"))
        rows += [(hid, str(draw.choice(list("abcdefgh")))) for _ in range(int(draw.integers(3, 7)))]
    original = pl.DataFrame(rows, schema=["hid", "relation"], orient="row")
    original = original[draw.permutation(original.height)]
    heads = original["relation"] == "head"
    blank = heads.to_numpy() & (draw.random(original.height) < 0.3)
    found = tc.risk.reconstruction(
        original, blanked(original, "relation", blank), tc.Scenario(keys=["relation"], household="hid")
    )
    (leak,) = by_role(found, "relation")
    assert leak.how == "the value that a household ('hid') must have, and the other members lack"
    assert found.given_back == blank.sum() and found.guessed_wrong == 0


# The kernels, against plain loops.


@pytest.mark.parametrize("seed", range(20))
def test_kernels_as_plain_loops_find_them(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.choice([1, 5, 40]))
    household, shown = draw.integers(0, 12, size), draw.integers(0, 4, size)
    number = np.where(draw.random(size) < 0.2, np.nan, draw.integers(0, 50, size))
    chosen = draw.random(size) < 0.4
    one, lacks = only_other_member(household, chosen, number), others_lack(household, shown, 2)
    for at in range(size):
        mates = [row for row in range(size) if row != at and household[row] == household[at] > 0]
        others = [number[row] for row in mates if chosen[row]]
        expected = others[0] if len(others) == 1 else np.nan
        assert one[at] == pytest.approx(expected, nan_ok=True)
        wanted = household[at] > 0 and all(shown[row] not in (0, 2) for row in mates)
        assert lacks[at] == wanted


def test_bounds_leave_the_row_itself_out() -> None:
    difference = np.array([*range(20), np.nan, 5.0, np.nan])
    low, high = bounds_of(difference, np.array([1] * 21 + [2] * 2))
    assert (low[0], high[0], low[19], high[19], low[5], high[5]) == (1, 19, 0, 18, 0, 19)
    assert (low[20], high[20]) == (0, 19)
    assert np.isnan(low[21:]).all()
