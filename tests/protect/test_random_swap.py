"""Random swapping: against a slow twin, by hand, and what stays as it was."""

from collections import Counter, defaultdict
from datetime import date

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.protect.swap.exchange import patterns, rounded_at_random
from tacita.protect.swap.random_swap import random_pairs

SCENARIO = tc.Scenario(keys=["sex"])


def slow_pairs(group: np.ndarray, pairs: np.ndarray, bits: np.ndarray) -> list[int]:
    """Pairs inside groups: members in the order of their bits, two and two."""
    partner = list(range(len(group)))
    for number, wanted in enumerate(pairs.tolist()):
        members = [row for row in range(len(group)) if group[row] == number]
        members.sort(key=lambda row: (bits[row], row))
        for pair in range(wanted):
            one, other = members[2 * pair], members[2 * pair + 1]
            partner[one], partner[other] = other, one
    return partner


@pytest.mark.parametrize("count", [0, 1, 2, 9, 40])
def test_pairs_equal_the_slow_twin(count: int) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        group = draw.integers(0, max(1, count // 5), count)
        sizes = np.bincount(group)
        pairs, bits = draw.integers(0, sizes // 2 + 1), draw.integers(-5, 5, count)
        found = random_pairs(group, pairs, bits)
        assert found.tolist() == slow_pairs(group, pairs, bits)
        assert (group[found] == group).all()
        assert (found != np.arange(count)).sum() == 2 * pairs.sum()


def test_numbers_are_rounded_at_random() -> None:
    expected = np.array([0.3, 0.25, 1.45, 2.0, 0.0, 0.999])
    made = np.array([rounded_at_random(expected, (i + 0.5) / 2000) for i in range(2000)])
    assert (made >= np.floor(expected)).all()
    assert (made <= np.ceil(expected)).all()
    assert made.mean(axis=0) == pytest.approx(expected, abs=0.001)
    assert set(made.sum(axis=1)) == {4, 5}  # of 4.999
    # Tenths add up to whole numbers, whatever floats make of them.
    assert {int(rounded_at_random(np.full(30, 0.1), u).sum()) for u in (1e-9, 0.5, 1 - 1e-9)} == {3}
    assert rounded_at_random(np.zeros(0), 0.5).tolist() == []


def test_patterns_tell_which_cells_can_move() -> None:
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert len(set(patterns([a, b], 4).tolist())) == 4
    assert patterns([], 3).tolist() == [0, 0, 0]


def file(count: int = 600, seed: int = 1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    area = np.array(["n", "s", "e"])[draw.integers(0, 3, count)]
    return pl.DataFrame(
        {
            "sex": np.array(["f", "m"])[draw.integers(0, 2, count)],
            "age": draw.integers(0, 5, count),
            "area": pl.Series(area, dtype=pl.Enum(["w", "n", "s", "e"])),
            "income": pl.Series([None if draw.random() < 0.1 else float(i) for i in range(count)]),
            "born": pl.Series([date(1950 + int(i), 1, 1) for i in draw.integers(0, 50, count)]),
        }
    )


def swapped(step: tc.Step, table: pl.DataFrame, seed: int = 1, **known: tc.Variable) -> tc.Release:
    return tc.Plan([step]).apply(tc.Data.of(table, known or None), SCENARIO, seed=seed)


def test_by_hand() -> None:
    """Two in each group: only one thing can happen."""
    table = pl.DataFrame({"sex": ["f", "m", "f", "m", "x"], "area": ["a", "b", "c", "d", "e"]})
    made = swapped(tc.RandomSwap("area", rate=1.0, within="sex"), table)
    assert made.data.table["area"].to_list() == ["c", "d", "a", "b", "e"]
    assert made.changes[0].remarks == ("records in pairs: area 4",)


def test_values_stay_in_their_groups_and_types_as_they_were() -> None:
    table = file()
    step = tc.RandomSwap(["area", "income", "born"], rate=0.6, within=["sex", "age"])
    made = swapped(step, table).data.table
    # A release names no category that nobody has; the others stand in their order.
    assert made.schema == {**table.schema, "area": pl.Enum(["n", "s", "e"])}
    for name in ("area", "income", "born"):
        groups: defaultdict[object, list[Counter[object]]] = defaultdict(lambda: [Counter(), Counter()])
        for side, each in enumerate((table, made)):
            for sex, age, value in each.select("sex", "age", name).iter_rows():
                groups[sex, age][side][value] += 1
        assert all(before == after for before, after in groups.values())
    assert made["income"].is_null().to_list() == table["income"].is_null().to_list()
    assert made.select("sex", "age").equals(table.select("sex", "age"))


def test_a_block_moves_whole_and_nobody_is_swapped_twice() -> None:
    table = file().with_columns(number=pl.int_range(pl.len()))
    made = swapped(tc.RandomSwap(["number", "area", "born"], rate=0.5), table).data.table
    source = made["number"].to_numpy()
    assert (source[source] == np.arange(len(source))).all()
    assert made["area"].to_list() == table["area"].gather(source).to_list()
    assert made["born"].to_list() == table["born"].gather(source).to_list()
    assert (source != np.arange(len(source))).sum() == 300


def test_variables_apart_move_in_pairs_of_their_own() -> None:
    table = file().with_columns(one=pl.int_range(pl.len()), two=pl.int_range(pl.len()))
    made = swapped(tc.RandomSwap(["one", "two"], rate=0.5, together=False), table).data.table
    one, two = (made[name].to_numpy() for name in ("one", "two"))
    assert (one[one] == np.arange(600)).all()
    assert (one != two).sum() > 300


def test_who_lacks_an_answer_changes_the_others() -> None:
    table = pl.DataFrame(
        {"sex": ["f"] * 6, "a": [None, None, 1, 2, 9, 9], "b": ["p", "q", None, None, "r", "s"]},
    )
    made = swapped(tc.RandomSwap(["a", "b"], rate=1.0), table, a=tc.Variable(not_applicable=(9,))).data.table
    assert made["a"].to_list() == [None, None, 2, 1, 9, 9]
    # Blank and not applicable are the same here: no answer that could move.
    assert made["b"].to_list()[2:4] == [None, None]
    assert sorted(made["b"].drop_nulls()) == ["p", "q", "r", "s"]


@pytest.mark.parametrize("rate", [0.05, 0.33, 1.0])
def test_the_rate_is_kept(rate: float) -> None:
    table = pl.DataFrame({"sex": ["f"] * 1000, "x": range(1000)})
    made = swapped(tc.RandomSwap("x", rate=rate), table)
    assert abs((made.data.table["x"] != table["x"]).sum() - rate * 1000) <= 2
    many = pl.DataFrame({"sex": [str(i // 3) for i in range(3000)], "x": range(3000)})
    some = swapped(tc.RandomSwap("x", rate=rate, within="sex"), many)
    # Groups of three hold one pair each: of the expected 1.5 at a rate of 1 the half is lost.
    assert (some.data.table["x"] != many["x"]).sum() == pytest.approx(min(rate * 3000, 2000), abs=2)


def test_strata_are_not_all_rounded_alike() -> None:
    table = pl.DataFrame({"sex": [str(i // 4) for i in range(400)], "x": range(400)})
    made = swapped(tc.RandomSwap("x", rate=0.25, strata=["sex"]), table).data.table
    assert 60 <= (made["x"] != table["x"]).sum() <= 140


@pytest.mark.parametrize("values", [[1], [None, None], [4, 4, 4]])
def test_the_smallest_files(values: list[int | None]) -> None:
    table = pl.DataFrame({"sex": ["f"] * len(values), "x": pl.Series(values, dtype=pl.Int64)})
    assert swapped(tc.RandomSwap("x", rate=1.0), table).data.table["x"].to_list() == values


def test_what_is_said() -> None:
    change = swapped(tc.RandomSwap("x", rate=0.1), pl.DataFrame({"sex": ["f", "m"], "x": [1, 2]}), seed=3).changes[0]
    assert change.remarks == ("'x': nothing swapped in 2 records; choose a higher rate",)
    (public,) = swapped(tc.RandomSwap("age", rate=0.1), file()).changes[0].public
    assert public["parameters"] == {"method": "random swapping", "rate": 0.1, "within": [], "together": True}
    with pytest.raises(TacitaError) as refused:
        tc.RandomSwap(["a", "b"], rate=0.1, within="b")
    assert str(refused.value) == "pairs that agree in 'b' cannot change it; name it in one place only."
