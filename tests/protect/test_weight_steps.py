"""Weights: rounded, trimmed, with noise; totals kept, households together, row order without effect."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.step import Step
from tacita.protect.weights.round_weights import nearest_ups, quotients, random_ups
from tacita.protect.weights.totals import scaled_between
from tacita.protect.weights.trim_weights import limit_of_share
from tacita.protect.weights.units import constant, units
from tacita.random import Draws

WHO = tc.Scenario(keys=["sex"], weight="w")
HOUSEHOLDS = tc.Scenario(keys=["sex"], weight="w", household="hid")


def people(weights: list[float], **columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"sex": ["f", "m"] * (len(weights) // 2) + ["f"] * (len(weights) % 2), "w": weights, **columns})


def made(step: Step, table: object, who: tc.Scenario = WHO, seed: int = 1) -> list[float]:
    return tc.Plan([step]).apply(table, who, seed=seed).data.table["w"].to_list()


# Rounding


def test_the_greatest_remainders_go_up() -> None:
    # 2.4 + 3.4 + 4.2 = 10.0: one of them goes up, the first of the two greatest remainders.
    assert made(tc.RoundWeights(), people([2.4, 3.4, 4.2])) == [3.0, 3.0, 4.0]
    assert made(tc.RoundWeights(), people([2.5, 3.5, 4.5, 5.5])) == [3.0, 4.0, 4.0, 5.0]
    assert made(tc.RoundWeights(keep_total=False), people([2.5, 3.4, 4.5])) == [3.0, 3.0, 5.0]


def test_the_log_says_what_became_of_the_total() -> None:
    kept = tc.Plan([tc.RoundWeights()]).apply(people([2.4, 3.4, 4.2]), WHO)
    assert kept.changes[0].remarks == ("the total is as it was",)
    off = tc.Plan([tc.RoundWeights(keep_total=False)]).apply(people([2.4, 3.4, 4.2]), WHO)
    assert off.changes[0].remarks == ("the total changed by 10 %",)
    assert off.changes[0].figures == {"change_of_total": pytest.approx(0.1)}
    groups = tc.Plan([tc.RoundWeights(within="sex", base=10)]).apply(people([11.0, 30.0, 12.0]), WHO)
    assert groups.changes[0].remarks == ("the greatest total of a group changed by 13 %",)


def test_bases_and_digits() -> None:
    assert made(tc.RoundWeights(base=10), people([14.0, 27.0, 39.0])) == [10.0, 30.0, 40.0]
    assert made(tc.RoundWeights(base=0.1), people([0.3, 0.25, 0.75])) == [0.3, 0.3, 0.7]
    assert made(tc.RoundWeights(base=2.5), people([5.0, 7.5, 3.0])) == [5.0, 7.5, 2.5]
    # 123 -> 120 leaves 3 for the smaller steps: 45.6 and 7.89 go up, which leaves 1.89 + 0.6 ...
    assert made(tc.RoundWeights(digits=2), people([123.0, 45.6, 7.89])) == [120.0, 46.0, 7.9]
    assert made(tc.RoundWeights(digits=1), people([0.034, 0.036])) == [0.03, 0.04]
    # 96 goes up to 100, 4 too many, so that 9.7 goes down: 109 is nearer to 105.7 than 110 or 100.
    assert made(tc.RoundWeights(digits=1), people([9.7, 96.0])) == [9.0, 100.0]
    assert made(tc.RoundWeights(digits=1), people([9.7])) == [10.0]


def test_no_weight_becomes_zero() -> None:
    assert made(tc.RoundWeights(), people([0.2, 0.3, 5.6, 6.6])) == [1.0, 1.0, 5.0, 6.0]
    assert made(tc.RoundWeights(keep_total=False), people([0.2, 1.2])) == [1.0, 1.0]
    for seed in range(10):
        assert min(made(tc.RoundWeights(random=True), people([0.2, 0.3, 5.6, 6.6]), seed=seed)) >= 1.0


def test_totals_are_kept_within_groups() -> None:
    table = people([1.6, 1.6, 1.6, 1.6], region=["a", "a", "b", "b"])
    assert made(tc.RoundWeights(within="region"), table) == [2.0, 1.0, 2.0, 1.0]
    assert made(tc.RoundWeights(), table) == [2.0, 2.0, 1.0, 1.0]


def test_whole_weights_stay_whole() -> None:
    release = tc.Plan([tc.RoundWeights(base=5)]).apply(pl.DataFrame({"sex": ["f", "m"], "w": [12, 13]}), WHO)
    assert release.data.table["w"].dtype == pl.Int64
    assert release.data.table["w"].to_list() == [10, 15]


@given(st.lists(st.integers(1, 99), min_size=1, max_size=6), st.integers(0, 2))
def test_controlled_rounding_is_the_nearest_of_all(tenths: list[int], forced: int) -> None:
    """A slow twin tries every way to round up or down: no total is nearer, nor any that moves less."""
    weights = [1 + each / 10 for each in tenths] + [0.5] * forced
    found = np.array(made(tc.RoundWeights(), people(weights)))
    choices = [{max(1.0, np.floor(w)), max(1.0, np.ceil(w))} for w in weights]
    total = sum(weights)
    best = min(abs(sum(way) - total) for way in itertools.product(*choices))
    assert abs(found.sum() - total) == pytest.approx(best)
    assert all(value in choice for value, choice in zip(found, choices, strict=True))
    ways = [way for way in itertools.product(*choices) if sum(way) == found.sum()]
    moved = min(np.abs(np.array(way) - weights).sum() for way in ways)
    assert np.abs(found - weights).sum() == pytest.approx(moved)


def test_random_rounding_is_unbiased_and_keeps_the_total() -> None:
    weights = np.array([1.1, 2.5, 3.75, 4.05, 5.6])  # adds up to 17
    found = np.array(made(tc.RoundWeights(random=True), people(weights.tolist())))
    assert found.sum() == 17 and (np.abs(found - weights) < 1).all()
    low, part = quotients(weights, np.ones(5))
    one, cell, first = np.ones(5), np.zeros(5, int), np.arange(1, 6)
    draws = np.array([low + random_ups(part, one, cell, first, Draws(seed)) for seed in range(3000)])
    assert (draws.sum(axis=1) == 17).all()
    assert np.abs(draws.mean(axis=0) - weights).max() < 4 * 0.5 / np.sqrt(3000)
    alone = np.array(
        [made(tc.RoundWeights(random=True, keep_total=False), people([2.3] * 200), seed=s) for s in range(9)]
    )
    assert set(alone.reshape(-1)) == {2.0, 3.0}
    assert abs(alone.mean() - 2.3) < 4 * 0.46 / np.sqrt(1800)
    assert len(set(alone.sum(axis=1))) > 3


@given(st.lists(st.floats(0, 0.999), min_size=1, max_size=30), st.integers(1, 3), st.integers(0, 5))
def test_random_ups_are_whole_numbers_next_to_the_sum(parts: list[float], cells: int, seed: int) -> None:
    part, cell = np.array(parts), np.arange(len(parts)) % cells
    first = np.arange(1, len(parts) + 1)
    up = random_ups(part, np.ones(len(parts)), cell, first, Draws(seed))
    for each in range(cells):
        inside = cell == each
        assert abs(up[inside].sum() - part[inside].sum()) < 1 + 1e-9
    assert not up[part == 0].any()


def test_households_are_rounded_together_and_the_smallest_make_the_total_fit() -> None:
    table = people([2.5] * 3 + [4.5] * 2 + [1.3], hid=[1, 1, 1, 2, 2, 3])
    # 7.5 + 9 + 1.3 = 17.8. Three by half: 1.5 of a step of 3 is even, stays down, 1.5 left; 2 by half: 2.5 of 2, up,
    # 0.5 left; 1 by 0.3: 0.8 of 1, up.
    assert made(tc.RoundWeights(), table, HOUSEHOLDS) == [2.0] * 3 + [5.0] * 2 + [2.0]
    release = tc.Plan([tc.RoundWeights()]).apply(table, HOUSEHOLDS)
    assert release.changes[0].remarks[1] == "members of a household share one weight, and still do"
    for seed in range(10):
        found = made(tc.RoundWeights(random=True), table, HOUSEHOLDS, seed)
        assert len(set(found[:3])) == len(set(found[3:5])) == 1


@pytest.mark.parametrize("declared", ["missing", "not_applicable", "scenario"])
def test_people_without_a_household_are_no_household_of_their_own(declared: str) -> None:
    """0 is no household: those who live in none differ in their weights, and households are still kept together."""
    table = people([2.6, 2.6, 3.3, 4.4, 5.1], hid=[1, 1, 0, 0, 0])
    known = {} if declared == "scenario" else {"hid": Variable(**{declared: (0,)})}
    who = tc.Scenario(
        keys=["sex"], weight="w", household="hid", not_applicable={"hid": [0]} if declared == "scenario" else {}
    )
    release = tc.Plan([tc.RoundWeights()]).apply(Data.of(table, known), who)
    assert "members of a household share one weight, and still do" in release.changes[0].remarks
    first, second, *_ = release.data.table["w"].to_list()
    assert first == second


def test_persons_with_weights_of_their_own_are_rounded_apart() -> None:
    table = people([2.5, 2.5, 4.5, 4.4], hid=[1, 1, 2, 2])
    assert made(tc.RoundWeights(), table, HOUSEHOLDS) == [3.0, 3.0, 4.0, 4.0]


def test_nearest_ups_by_hand() -> None:
    # Sizes 3 and 1: 3 * 0.6 = 1.8, nearer to 3 than to 0; then -1.2 + 0.5 + 0.9 = 0.2: none of the small ones.
    assert nearest_ups(np.array([0.6, 0.5, 0.9]), np.array([3.0, 1.0, 1.0]), np.zeros(3, int), 1).tolist() == [
        True,
        False,
        False,
    ]


# Trimming


def test_what_is_cut_off_goes_to_the_others_in_proportion() -> None:
    # 8 is cut to 6; 2 are left for 1 + 3: times 6/4.
    assert made(tc.TrimWeights(most=6), people([1.0, 3.0, 8.0])) == [1.5, 4.5, 6.0]
    # 20 is cut to 12; 8 more for 1 + 6 would give 6 * 15/7 = 12.9: the second is at the limit too, the first has 3.
    assert made(tc.TrimWeights(most=12), people([1.0, 6.0, 20.0])) == [3.0, 12.0, 12.0]
    # 0.5 is raised to 1, the others give 0.5 of 9.5.
    assert made(tc.TrimWeights(least=1), people([0.5, 3.0, 6.5])) == pytest.approx([1.0, 3 * 9 / 9.5, 6.5 * 9 / 9.5])


def test_a_share_is_cut_to_the_next_weight() -> None:
    assert limit_of_share(np.array([1.0, 9.0, 5.0, 7.0]), np.ones(4), 0.25) == 7.0
    assert limit_of_share(np.array([1.0, 9.0, 5.0, 7.0]), np.ones(4), 0.5) == 5.0
    assert limit_of_share(np.array([1.0, 9.0]), np.array([1.0, 2.0]), 0.5) == 9.0
    assert limit_of_share(np.arange(1.0, 101.0), np.ones(100), 0.29) == 71.0
    weights = made(tc.TrimWeights(share=0.25), people([1.0, 9.0, 5.0, 7.0]))
    assert weights == pytest.approx([8 / 6, 7.0, 40 / 6, 7.0])


@pytest.mark.parametrize("share", [0.5, 0.999999, 1 - 1e-12])
@pytest.mark.parametrize("size", [1, 5])
def test_a_share_of_nearly_all_leaves_the_smallest_weight(share: float, size: int) -> None:
    assert limit_of_share(np.arange(1.0, size + 1), np.ones(size), share) == (3.0 if (share, size) == (0.5, 5) else 1.0)


def test_weights_within_the_limits_are_left_to_the_last_bit() -> None:
    weights = [1 / 3, 2 / 7, 0.1 + 0.2]
    release = tc.Plan([tc.TrimWeights(most=5)]).apply(people(weights), WHO)
    assert release.data.table["w"].to_list() == weights
    assert str(release.changes[0]) == "trim_weights: nothing changed"
    table = people([1.0, 9.0, 1 / 3, 2 / 3], region=["a", "a", "b", "b"])
    assert made(tc.TrimWeights(most=6, within="region"), table) == [4.0, 6.0, 1 / 3, 2 / 3]


def test_trimmed_weights_are_counted() -> None:
    release = tc.Plan([tc.TrimWeights(least=2, most=6)]).apply(people([1.0, 3.0, 8.0, 8.0]), WHO)
    assert release.changes[0].remarks == ("2 weights above the limit", "1 weight below the limit")
    assert release.changes[0].figures == {"above": 2, "below": 1}


def slow_factor(weight: list[float], size: list[float], total: float, least: float, most: float) -> list[float]:
    """Bisection on c."""
    low, high = 0.0, 1e9
    for _ in range(300):
        middle = (low + high) / 2
        reached = sum(s * min(max(middle * w, least), most) for w, s in zip(weight, size, strict=True))
        low, high = (middle, high) if reached < total else (low, middle)
    return [min(max(high * w, least), most) for w in weight]


WEIGHT = st.floats(0.01, 1000).map(lambda value: float(f"{value:.4g}"))


@given(st.data())
@settings(max_examples=120)
def test_scaling_between_limits_is_what_bisection_finds(data: st.DataObject) -> None:
    weights = data.draw(st.lists(WEIGHT, min_size=1, max_size=12))
    size = data.draw(st.lists(st.integers(1, 4).map(float), min_size=len(weights), max_size=len(weights)))
    cell = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(weights), max_size=len(weights))))
    cell = np.unique(cell, return_inverse=True)[1]
    cells = int(cell.max()) + 1
    means = [np.average(np.array(weights)[cell == c], weights=np.array(size)[cell == c]) for c in range(cells)]
    least = data.draw(st.floats(0, 1)) * min(means)
    most = max(means) * data.draw(st.floats(1, 4))
    total = np.array([float((np.array(weights) * size)[cell == c].sum()) for c in range(cells)])
    found = scaled_between(np.array(weights), np.array(size), cell, total, least, most)
    for c in range(cells):
        inside = cell == c
        expected = slow_factor(
            np.array(weights)[inside].tolist(), np.array(size)[inside].tolist(), total[c], least, most
        )
        assert found[inside] == pytest.approx(expected, rel=1e-7, abs=1e-12)
        assert float((found * size)[inside].sum()) == pytest.approx(total[c], rel=1e-12)
    assert (found >= least).all() and (found <= most).all()


# Noise


def test_noise_keeps_the_total_and_has_the_spread_asked_for() -> None:
    table = people([10.0] * 2000 + [30.0] * 2000)
    release = tc.Plan([tc.WeightNoise(0.2)]).apply(table, WHO, seed=1)
    weights = release.data.numbers("w")
    ratio = weights / table["w"].to_numpy()
    assert weights.sum() == pytest.approx(80_000, rel=1e-13)
    assert ratio.mean() == pytest.approx(1, abs=0.01)
    assert ratio.std() == pytest.approx(np.sqrt(np.exp(0.04) - 1), abs=0.01)
    assert abs(np.corrcoef(np.log(ratio)[:-1], np.log(ratio)[1:])[0, 1]) < 0.06
    assert release.data.perturbed == {"w"}


def test_noise_by_hand() -> None:
    factors = np.exp(0.5 * Draws(9).step("weight_noise").normal([1, 2, 3]) - 0.125)
    expected = factors * [4.0, 5.0, 6.0]
    assert made(tc.WeightNoise(0.5, least=0), people([4.0, 5.0, 6.0]), seed=9) == pytest.approx(
        expected * 15 / expected.sum()
    )


def test_noise_puts_no_weight_below_the_least() -> None:
    table = people([1.0] * 50 + [1.2] * 50)
    weights = np.array(made(tc.WeightNoise(0.5), table))
    assert weights.min() == 1.0
    assert weights.sum() == pytest.approx(110)
    release = tc.Plan([tc.WeightNoise(0.5)]).apply(table, WHO, seed=1)
    assert release.changes[0].figures["at_least"] == (weights == 1).sum() > 10


def test_noise_on_weights_of_1_says_that_there_is_no_room() -> None:
    release = tc.Plan([tc.WeightNoise(0.3)]).apply(people([1.0] * 4), WHO)
    assert release.data.table["w"].to_list() == [1.0] * 4
    assert release.changes[0].remarks == ("4 weights are at the least",)


def test_noise_within_groups_and_households() -> None:
    table = people([5.0, 5.0, 7.0, 7.0, 9.0], hid=[1, 1, 2, 2, 3], region=["a", "a", "a", "a", "b"])
    found = made(tc.WeightNoise(0.3, within="region"), table, HOUSEHOLDS)
    assert found[0] == found[1] != 5.0 and found[2] == found[3]
    assert sum(found[:4]) == pytest.approx(24) and found[4] == pytest.approx(9)


def test_noise_hides_the_stratum_once_weights_are_rounded() -> None:
    n = 600
    table = people([10.0] * n + [12.0] * n + [14.0] * n, region=["a"] * n + ["b"] * n + ["c"] * n)
    plan = tc.Plan([tc.WeightNoise(0.3), tc.RoundWeights()])
    before = tc.risk.weight_disclosure(table, WHO, variables="region").leaks["region"]
    release = plan.apply(table, WHO, seed=1)
    after = tc.risk.weight_disclosure(release, WHO, variables="region").leaks["region"]
    assert before.guessed == 1.0
    assert after.guessed < 0.55
    assert release.data.numbers("w").sum() == pytest.approx(36 * n, abs=0.5)


# All of them

STEPS = [
    tc.RoundWeights(),
    tc.RoundWeights(digits=1, within="region"),
    tc.RoundWeights(random=True, within="region"),
    tc.RoundWeights(random=True, keep_total=False),
    tc.TrimWeights(least=1.5, share=0.3),
    tc.TrimWeights(most=60, within="region"),
    tc.WeightNoise(0.4, least=0.5),
    tc.WeightNoise(0.4, least=0.1, within="region"),
]


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("household", [None, "hid"])
@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.floats(2, 50), st.integers(1, 3), st.sampled_from("ab")), min_size=1, max_size=10),
    st.randoms(),
)
def test_every_record_gets_the_same_whatever_the_order(
    step: Step, household: str | None, rows: list[tuple[float, int, str]], random: object
) -> None:
    shared = {hid: (weight, region) for weight, hid, region in rows}
    table = pl.DataFrame(
        {
            "sex": ["f"] * len(rows),
            "w": [shared[hid][0] if household else weight for weight, hid, _ in rows],
            "hid": [hid for _, hid, _ in rows],
            "region": [shared[hid][1] if household else region for _, hid, region in rows],
        }
    )
    data, who = Data.of(table), tc.Scenario(keys=["sex"], weight="w", household=household)
    order = np.array(random.sample(range(len(rows)), len(rows)))  # type: ignore[attr-defined]
    plan = tc.Plan([step])
    assert plan == tc.Plan.from_toml(plan.to_toml())
    try:
        one = plan.apply(data, who, seed=4).data
    except TacitaError as error:
        with pytest.raises(TacitaError) as again:
            plan.apply(data.take(order), who, seed=4)
        assert str(again.value) == str(error)
        return
    assert one.take(order).table.equals(plan.apply(data.take(order), who, seed=4).data.table)
    if household:
        groups = units(table["hid"].to_numpy(), data.record)
        assert constant(one.numbers("w"), groups)


def test_another_weight_can_be_named() -> None:
    table = people([1.4, 2.6], other=[3.4, 4.6])
    data = tc.Plan([tc.RoundWeights(weight="other")]).apply(table, WHO).data.table
    assert (data["w"].to_list(), data["other"].to_list()) == ([1.4, 2.6], [3.0, 5.0])


MISTAKES = [
    (
        lambda: tc.RoundWeights(base=2, digits=2),
        "round_weights takes either base (round to its multiples) or digits; give one of them.",
    ),
    (lambda: tc.RoundWeights(base=0), "base must be above 0; got 0."),
    (lambda: tc.RoundWeights(base="1"), "base must be a number; got '1'."),
    (lambda: tc.RoundWeights(digits=0), "digits must be at least 1; got 0."),
    (lambda: tc.RoundWeights(keep_total=1), "keep_total must be true or false; got 1."),
    (lambda: tc.RoundWeights(random="yes"), "random must be true or false; got 'yes'."),
    (lambda: tc.RoundWeights(within=3), "within must be a list of column names; got 3."),
    (lambda: tc.RoundWeights(weight=3), "weight must be the name of a column; got 3."),
    (lambda: tc.TrimWeights(), "trim_weights needs a limit; give least, most or share."),
    (
        lambda: tc.TrimWeights(most=3, share=0.1),
        "trim_weights takes either most or share as its upper limit; give one of them.",
    ),
    (lambda: tc.TrimWeights(most=0), "most must be above 0; got 0."),
    (lambda: tc.TrimWeights(least=-1), "least must be above 0; got -1."),
    (lambda: tc.TrimWeights(least=3, most=2), "least must be below most; got 3.0 and 2.0."),
    (lambda: tc.TrimWeights(share=1), "share must be in (0, 1); got 1."),
    (lambda: tc.TrimWeights(share=0.5, within=[1]), "within must be a list of column names; got 1 in it."),
    (lambda: tc.WeightNoise(0), "sd must be above 0; got 0."),
    (lambda: tc.WeightNoise(9), "sd must be at most 5; got 9."),
    (lambda: tc.WeightNoise(None), "sd must be a number; got None."),
    (lambda: tc.WeightNoise(1, least=-1), "least must be at least 0; got -1."),
    (lambda: tc.WeightNoise.from_dict({}), "weight_noise must name 'sd'."),
]


@pytest.mark.parametrize(("step", "message"), MISTAKES)
def test_mistakes_are_said_in_one_sentence(step: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        step()  # type: ignore[operator]
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("step", "table", "who", "message"),
    [
        (
            tc.RoundWeights(),
            people([1.0, 2.0]),
            tc.Scenario(keys=["sex"]),
            "round_weights needs a weight; pass weight=... here or in the scenario.",
        ),
        (
            tc.RoundWeights(weight="x"),
            people([1.0, 2.0]),
            WHO,
            "variables of 'round_weights' not in the data: 'x'. The columns are 'sex', 'w'.",
        ),
        (
            tc.WeightNoise(1, within="y"),
            people([1.0, 2.0]),
            WHO,
            "variables of 'weight_noise' not in the data: 'y'. The columns are 'sex', 'w'.",
        ),
        (
            tc.WeightNoise(1),
            people([1.0, -2.0]),
            WHO,
            "weight 'w' must be positive; 1 value is negative (record 2), correct the file.",
        ),
        (
            tc.TrimWeights(most=2),
            people([1.0, 9.0]),
            WHO,
            "weights within most add up to a total below the one to keep; raise most.",
        ),
        (
            tc.TrimWeights(least=4),
            people([1.0, 2.0]),
            WHO,
            "weights within least add up to a total above the one to keep; lower least.",
        ),
        (
            tc.TrimWeights(share=0.9),
            people([1.0, 2.0, 9.0]),
            WHO,
            "weights within share add up to a total below the one to keep; lower share.",
        ),
        (
            tc.TrimWeights(share=0.5, least=7),
            people([1.0, 2.0, 9.0]),
            WHO,
            "share = 0.5 would cut weights to below least; lower one of them.",
        ),
        (
            tc.TrimWeights(most=2, within="sex"),
            people([1.0, 9.0, 9.0, 1.0]),
            WHO,
            "weights within most add up to a total below the one to keep in 2 of 2 groups; raise most.",
        ),
        (
            tc.WeightNoise(0.1),
            people([0.5, 0.6]),
            WHO,
            "weights within least add up to a total above the one to keep; lower least.",
        ),
        (
            tc.RoundWeights(within="sex"),
            people([2.0, 2.0], hid=[1, 1]),
            HOUSEHOLDS,
            "within must be the same for all members of a household, since they share one weight; "
            "drop 'sex' or what differs among them.",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(step: Step, table: object, who: tc.Scenario, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([step]).apply(table, who)
    assert str(error.value) == message


def test_the_total_is_kept_where_noise_makes_weights_very_small() -> None:
    """A factor of exp(-20) left few digits to the sums that the total is solved from."""
    for seed in range(20):
        weights = made(tc.WeightNoise(5, least=0), people([0.2]), seed=seed)
        assert weights == pytest.approx([0.2], rel=1e-12)


def test_steps_that_no_weight_reaches_are_refused() -> None:
    with pytest.raises(TacitaError, match=r"^base must be at most the total of the weights; got 1e\+30\.$"):
        made(tc.RoundWeights(base=1e30), people([2.0, 3.0]))
    with pytest.raises(TacitaError, match=r"^digits must be at most 15; got 400\.$"):
        tc.RoundWeights(digits=400)
    with pytest.raises(TacitaError, match=r"^weights within least add up to a total above the one to keep; lower"):
        made(tc.WeightNoise(0.1, least=1e308), people([2.0, 3.0]))
