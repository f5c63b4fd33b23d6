"""Columns that tell a recoded or removed variable more finely: kernels against slow twins, by hand, and by chance."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from math import log

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.release.reconstruction.disclosed_classes import UNKNOWN, disclosed_classes, log_chance, refined
from tacita.risk.release.reconstruction.finer import least_set
from tacita.risk.release.reconstruction.runs import run_lengths, single_household_sizes

WHO = tc.Scenario(keys=["region", "sex"])


def slow_told(classes: list[int], original: list[int], column: list[int]) -> list[set[int]]:
    """By original value the values that it cannot be told from: it spreads along records that agree in the column."""
    found = []
    for start in range(len(classes)):
        together = {start} if start in original else set()
        grown = True
        while grown:
            seen = {c for v, c in zip(original, column, strict=True) if v in together}
            more = {v for v, c in zip(original, column, strict=True) if c in seen and classes[v] == classes[start]}
            grown = not more <= together
            together |= more
        found.append(together)
    return found


def slow_chance(classes: list[int], told: list[int], original: list[int], column: list[int]) -> float:
    """Both bounds, value by value."""
    records = list(zip(original, column, strict=True))
    bounds = []
    for by_column in (True, False):
        total = 0.0
        for released in {classes[v] for v in original}:
            here = [(v, c) for v, c in records if classes[v] == released]
            parts = len({told[v] for v, _ in here})
            groups = {(c if by_column else v) for v, c in here}
            total += len({(v if by_column else c) for v, c in here}) * log(parts)
            for group in groups:
                members = [v for v, c in here if (c if by_column else v) == group]
                share = sum(told[v] == told[members[0]] for v, _ in here) / len(here)
                total += (len(members) - 1) * log(share)
        bounds.append(total)
    return min(bounds)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes by original value, and some records: from one record and one value to many, with duplicates."""
    draw = np.random.default_rng(seed)
    values, size = int(draw.integers(1, 9)), int(draw.integers(1, 40))
    classes = np.unique(draw.integers(0, 3, values), return_inverse=True)[1]
    original = draw.integers(0, values, size)
    column = draw.integers(0, int(draw.integers(1, 12)), size)
    if seed % 3 == 0:
        # A class of the original, with missing values (0).
        column = np.where(draw.random(size) < 0.2, 0, original // 2 + 1)
    return classes.astype(np.int64), original, column


@pytest.mark.usual(seed=60)
@pytest.mark.parametrize("seed", range(300))
def test_kernels_are_their_slow_twins(seed: int) -> None:
    classes, original, column = drawn(seed)
    told = disclosed_classes(classes, original, column)
    slow = slow_told(classes.tolist(), original.tolist(), column.tolist())
    for value, together in enumerate(slow):
        assert (told[value] == UNKNOWN) == (not together)
        same = {other for other in range(len(told)) if told[other] == told[value] and classes[other] == classes[value]}
        assert not together or same == together
    expected = slow_chance(classes.tolist(), told.tolist(), original.tolist(), column.tolist())
    assert log_chance(classes, told, original, column) == pytest.approx(expected, abs=1e-9)
    finer = refined(classes, told)
    known = np.flatnonzero(told != UNKNOWN)
    for first in known:
        for second in known:
            same = classes[first] == classes[second] and told[first] == told[second]
            assert (finer[first] == finer[second]) == same
    # What is unknown makes no class of its own, unless nothing is known of its class.
    for value in np.flatnonzero(told == UNKNOWN):
        beside = known[classes[known] == classes[value]]
        assert not len(beside) or finer[value] in finer[beside]


def test_a_least_set_by_hand() -> None:
    """Four values: two dummies and a third that adds nothing to them; a code tells all."""
    none = np.zeros(4, dtype=np.int64)
    told = {"a": np.array([1, 0, 0, 0]), "ab": np.array([1, 1, 0, 0]), "cd": np.array([0, 0, 1, 1])}
    assert least_set(none, told) == ("a", "ab")
    assert least_set(none, told | {"code": np.array([4, 3, 2, 1])}) == ("code",)
    assert least_set(np.array([0, 0, 1, 1]), {"cd": told["cd"]}) == ()
    assert least_set(none, {}) == ()


def test_runs_that_are_one_household_by_hand() -> None:
    """Sizes of three and more are released as 3: rows of two regions in households of 1, 4, 3 + 3 and 5."""
    size = np.array([1, *[3] * 4, *[3] * 6, *[3] * 5])
    region = np.array([1, *[1] * 4, *[2] * 6, *[1] * 5])
    told = single_household_sizes(run_lengths(region, size), size.astype(np.float64))
    np.testing.assert_array_equal(told, [1, *[4] * 4, *[np.nan] * 6, *[5] * 5])


def people(size: int = 400, seed: int = 2) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    code = draw.integers(0, 6, size)
    return pl.DataFrame({"region": [f"r{each}" for each in code], "sex": draw.choice(["f", "m"], size), "code": code})


HALVES = pl.when(pl.col("region") < "r3").then(pl.lit("n")).otherwise(pl.lit("s"))


@pytest.mark.parametrize(
    ("column", "finer", "determining"),
    [
        (pl.col("code") // 2, True, False),
        (pl.col("code"), True, True),
        (pl.col("code") * 50 + pl.int_range(pl.len()) % 50, True, True),
        (pl.col("code") // 3, False, False),
        # Every record its own value: splits everything and says nothing.
        (pl.int_range(pl.len()), False, False),
        # Within one half only.
        (pl.when(pl.col("code") < 3).then(pl.col("code") // 2).otherwise(pl.int_range(pl.len()) % 4), True, False),
        # No function of the region and none that determines it, yet r0 and r1 never share a value with r2.
        (pl.col("code") // 2 * 2 + pl.int_range(pl.len()) % 2, True, False),
        (pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("code") // 2), True, False),
        (pl.lit(None, dtype=pl.Int64), False, False),
    ],
)
def test_what_is_finer_than_the_released_halves(column: pl.Expr, finer: bool, determining: bool) -> None:
    original = people().with_columns(column.alias("column"))
    released = original.with_columns(region=HALVES)
    found = tc.risk.reconstruction(original.drop("code"), released.drop("code"), WHO).finer
    assert ("region" in found) == finer
    if finer:
        assert found["region"].columns == ("column",)
        assert found["region"].determining == (("column",) if determining else ())


def test_keys_are_counted_with_and_declared_identifiers_left_aside() -> None:
    original = people().with_columns(pl.col("code") // 2, hid=pl.col("code") * 100 + pl.int_range(pl.len()) // 4)
    released = original.with_columns(region=HALVES)
    assert set(tc.risk.reconstruction(original, released, WHO).finer["region"].columns) == {"code", "hid"}
    counted = tc.Scenario(keys=["region", "sex", "code"], household="hid")
    assert tc.risk.reconstruction(original, released, counted).finer == {}
    named = tc.Scenario(keys=["region", "sex"], identifiers=["hid"])
    assert tc.risk.reconstruction(original, released, named).finer["region"].columns == ("code",)


def test_what_is_only_renamed_or_suppressed_is_merged_with_nothing() -> None:
    original = people()
    renamed = original.with_columns(region="x" + pl.col("region"))
    blank = original.with_columns(region=pl.when(pl.int_range(pl.len()) % 9 > 0).then(pl.col("region")))
    for released in (renamed, blank, original):
        assert tc.risk.reconstruction(original, released, WHO).finer == {}


@pytest.mark.parametrize("size", [1, 2, 5])
def test_few_records_tell_nothing(size: int) -> None:
    original = people(size)
    assert tc.risk.reconstruction(original, original.drop("region"), tc.Scenario(keys=["sex"])).finer == {}


def test_columns_at_random_are_not_finer(trials: Callable[[int], range]) -> None:
    """Of small files whose columns have nothing to do with each other, next to none raises an alarm."""
    alarms = 0
    for seed in trials(400):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(4, 60))
        columns = {f"c{at}": draw.integers(0, int(draw.integers(2, size + 1)), size) for at in range(5)}
        original = pl.DataFrame({"key": draw.integers(0, int(draw.integers(2, size + 1)), size), **columns})
        released = original.with_columns(pl.col("key") // int(draw.integers(2, 6)) * 1000)
        alarms += bool(tc.risk.reconstruction(original, released, tc.Scenario(keys=["key"])).finer)
    assert alarms <= 0.05 * len(trials(400))


@pytest.mark.usual(seed=10)
@pytest.mark.parametrize("seed", range(30))
def test_pairs_and_threes_that_tell_are_those_of_plain_loops(seed: int) -> None:
    """The codes of two or three columns together are a class of the region, and none of them alone is."""
    draw = np.random.default_rng(seed)
    size, members = int(draw.integers(300, 3000)), 2 + seed % 2
    code = draw.integers(0, 6, size)
    hidden = [draw.integers(0, 3, size) for _ in range(members - 1)]
    last = (code // 2 + sum(hidden)) % 3
    columns = {f"h{at}": each for at, each in enumerate([*hidden, last])}
    noise = {f"n{at}": draw.integers(0, 4, size) for at in range(3)}
    original = pl.DataFrame({"region": code, "sex": draw.integers(0, 2, size), **columns, **noise})
    found = tc.risk.reconstruction(original, original.drop("region"), tc.Scenario(keys=["sex"])).finer
    assert set(found["region"].columns) == set(columns)
    # Of every smaller or other set the slow twin says nothing.
    names = [*columns, *noise]
    classes = [0] * 6
    for number in (1, 2, 3):
        for chosen in combinations(names, number):
            if number == 3 and seed > 5:
                continue
            rows = [tuple(int(original[name][at]) for name in chosen) for at in range(size)]
            places = {value: place for place, value in enumerate(dict.fromkeys(rows))}
            together = slow_told(classes, code.tolist(), [places[row] for row in rows])
            assert any(len(each) < 6 for each in together) == (set(columns) <= set(chosen)), chosen


def test_sets_of_columns_at_random_tell_nothing(trials: Callable[[int], range]) -> None:
    alarms = 0
    for seed in trials(60):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(30, 400))
        columns = {f"c{at}": draw.integers(0, int(draw.integers(2, 9)), size) for at in range(8)}
        original = pl.DataFrame({"region": draw.integers(0, 9, size), "sex": draw.integers(0, 2, size), **columns})
        alarms += bool(tc.risk.reconstruction(original, original.drop("region"), tc.Scenario(keys=["sex"])).finer)
    assert alarms <= 0.05 * len(trials(60))


def blanked(original: pl.DataFrame, share: float = 0.1, seed: int = 5) -> pl.DataFrame:
    there = pl.Series(np.random.default_rng(seed).random(original.height) >= share)
    return original.with_columns(region=pl.when(there).then(pl.col("region")))


def test_what_tells_which_values_a_blank_can_have() -> None:
    original = people().with_columns(pl.col("code") // 2, noise=pl.int_range(pl.len()) % 4)
    found = tc.risk.reconstruction(original, blanked(original), WHO)
    assert found.finer == {} and set(found.narrowed) == {"region"}
    narrowed = found.narrowed["region"]
    assert narrowed.columns == ("code",)
    # By released record: three districts, one class each.
    assert len(set(zip(narrowed.classes.tolist(), original["code"].to_list(), strict=True))) == 3
    for keys in (["region", "sex", "code"], ["sex"]):
        assert tc.risk.reconstruction(original, blanked(original), tc.Scenario(keys=keys)).narrowed == {}
    # Numbers of households tell it only to who sees a housemate.
    numbers = original.with_columns(hid=pl.col("code") * 1000 + pl.int_range(pl.len()) // 3).drop("code")
    assert tc.risk.reconstruction(numbers, blanked(numbers), WHO).narrowed == {}
    # A recoded region is told apart inside its halves, and where it is blank.
    halves = blanked(original.with_columns(region=HALVES))
    both = tc.risk.reconstruction(original, halves, WHO)
    assert set(both.finer) == set(both.narrowed) == {"region"}


def test_blanks_of_columns_at_random_can_have_any_value() -> None:
    alarms = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(20, 200))
        columns = {f"c{at}": draw.integers(0, int(draw.integers(2, 12)), size) for at in range(5)}
        original = pl.DataFrame({"region": draw.integers(0, 9, size), **columns})
        found = tc.risk.reconstruction(original, blanked(original, seed=seed), tc.Scenario(keys=["region"]))
        alarms += bool(found.narrowed)
    assert alarms <= 0.05 * 100


@pytest.mark.parametrize("seed", range(20))
def test_what_counts_bound_is_what_plain_loops_find(seed: int) -> None:
    """Sizes coded at the top in a file without some members: by cell, whether its count says more, and rightly."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 6, int(draw.integers(1, 500)))
    household = np.repeat(np.arange(len(sizes)), sizes)
    kept = draw.random(len(household)) < 0.7
    original = pl.DataFrame({"hid": household, "size": sizes[household]}).filter(pl.Series(kept))
    if not original.height:
        return
    top = int(draw.integers(2, 4))
    released = original.with_columns(pl.col("size").clip(upper_bound=top))
    found = tc.risk.reconstruction(original, released, tc.Scenario(keys=["size"], household="hid"))
    bounds = [each for each in found.leaks if each.how.endswith("as the least that it can be")]
    count = Counter(original["hid"].to_list())
    told = [row for row in original.to_dicts() if row["size"] > top and count[row["hid"]] > top]
    assert sum(each.right for each in bounds) in (0, len(told))
    assert all(each.wrong == 0 for each in bounds)
    if original.height > 800:
        assert bounds
