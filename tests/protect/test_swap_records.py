"""Targeted record swapping: against a slow twin, by hand, and against what the reference program does and does not."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.protect.swap.household_swaps import Problem, Swaps, drawing_order, household_swaps, smallest_counts

SCENARIO = tc.Scenario(keys=["age", "nation"], household="hid")


def slow_swaps(given: Problem) -> Swaps:
    """Who swaps with whom, looking through all donors for every household."""
    levels, count = given.area.shape
    partner, level, matched = list(range(count)), [-1] * count, [-1] * count
    free, quota = given.free.tolist(), given.quota.tolist()
    first = [next((h for h in range(levels) if given.must[h, i]), levels) for i in range(count)]
    without = []

    def drawn(here: int, uniform: np.ndarray) -> list[int]:
        waiting = [-np.log(uniform[here, i]) / r if (r := given.risk[here, i]) else np.inf for i in range(count)]
        return sorted(range(count), key=lambda i: (waiting[i], i))

    def swap(one: int, here: int, label: int) -> None:
        for number, profile in enumerate(given.profile):
            for donor in drawn(here, given.giving):
                elsewhere = given.area[here, donor] != given.area[here, one]
                if free[donor] and elsewhere and profile[donor] == profile[one]:
                    partner[one], partner[donor] = donor, one
                    quota[given.area[-1, one]] -= 1
                    for each in (one, donor):
                        free[each], level[each], matched[each] = False, label, number
                    return

    for here in range(levels):
        asking = [i for i in drawn(here, given.asking) if free[i] and first[i] <= here]
        for one in asking:
            if free[one]:
                swap(one, here, here)
        without.append(sum(free[i] for i in asking))
    for one in drawn(levels - 1, given.asking):
        if free[one] and quota[given.area[-1, one]] > 0:
            swap(one, levels - 1, levels)
    return Swaps(*(np.array(each) for each in (partner, level, matched, first, without)))


def problem(seed: int, count: int) -> Problem:
    """Nested areas, profiles that become coarser, risks with ties and zeros."""
    draw = np.random.default_rng(seed)
    levels, lowest = int(draw.integers(1, 4)), draw.integers(0, int(draw.integers(1, 13)), count)
    area = np.stack([lowest // 2 ** (levels - 1 - h) for h in range(levels)])
    fine = draw.integers(0, 6, count)
    risk = np.sort(1 / draw.integers(1, 9, (levels, count)), axis=0) * (draw.random((levels, count)) > 0.1)
    return Problem(
        area=area,
        profile=np.stack([fine, fine // 2, fine * 0][: int(draw.integers(1, 4))]),
        risk=risk,
        must=risk > draw.choice([0.2, 0.34, 0.5, 1.0]),
        free=draw.random(count) > 0.1,
        quota=draw.integers(0, 4, int(lowest.max(initial=0)) + 1),
        asking=draw.random((levels, count)),
        giving=draw.random((levels, count)),
    )


@pytest.mark.parametrize("count", [0, 1, 2, 5, 17, 60])
def test_swaps_equal_the_slow_twin(count: int) -> None:
    for seed in range(25):
        given = problem(seed, count)
        before = [each.copy() for each in given]
        for ours, slow in zip(household_swaps(given), slow_swaps(given), strict=True):
            np.testing.assert_array_equal(ours, slow)
        assert all((one == other).all() for one, other in zip(before, given, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_partners_are_similar_elsewhere_free_and_used_once(seed: int) -> None:
    given = problem(seed, 80)
    found = household_swaps(given)
    moved = np.flatnonzero(found.partner != np.arange(80))
    assert (found.partner[found.partner] == np.arange(80)).all()
    assert given.free[moved].all()
    for one in moved:
        other, here = found.partner[one], min(found.level[one], len(given.area) - 1)
        assert given.area[here, one] != given.area[here, other]
        assert given.profile[found.profile[one], one] == given.profile[found.profile[one], other]


@pytest.mark.parametrize("count", [1, 2, 30, 200])
def test_counts_equal_the_slow_twin(count: int) -> None:
    for seed in range(10):
        draw = np.random.default_rng(seed)
        key, area = draw.integers(0, 5, count), draw.integers(0, 3, count)
        _, unit = np.unique(draw.integers(0, count // 2 + 1, count), return_inverse=True)
        together = Counter(zip(key.tolist(), area.tolist(), strict=True))
        slow = [
            min(together[key[i], area[i]] for i in range(count) if unit[i] == household)
            for household in range(unit.max() + 1)
        ]
        assert smallest_counts(key, area, unit, int(unit.max()) + 1).tolist() == slow


def test_households_are_drawn_in_proportion_to_risk() -> None:
    """The first of three, and the second once the first is gone."""
    risk, draws = np.array([1.0, 0.5, 0.25]), np.random.default_rng(1).random((20_000, 3))
    orders = np.array([drawing_order(risk, each) for each in draws])
    assert np.bincount(orders[:, 0]) / 20_000 == pytest.approx(risk / 1.75, abs=0.01)
    second = orders[orders[:, 0] == 0, 1]
    assert (second == 1).mean() == pytest.approx(0.5 / 0.75, abs=0.015)


def test_donors_are_drawn_in_proportion_to_risk() -> None:
    draws, base = np.random.default_rng(2), problem(1, 4)
    drawn = []
    for _ in range(3000):
        given = base._replace(
            area=np.array([[0, 1, 1, 2]]),
            profile=np.zeros((1, 4), dtype=np.int64),
            risk=np.array([[1.0, 0.5, 0.25, 0.25]]),
            must=np.array([[True, False, False, False]]),
            free=np.ones(4, dtype=np.bool_),
            quota=np.zeros(3, dtype=np.int64),
            asking=draws.random((1, 4)),
            giving=draws.random((1, 4)),
        )
        drawn.append(household_swaps(given).partner[0])
    assert np.bincount(drawn)[1:] / 3000 == pytest.approx([0.5, 0.25, 0.25], abs=0.03)


def census(households: int = 400, seed: int = 1) -> pl.DataFrame:
    """Households of 1 to 4 in nested areas; codes of areas tell the area above."""
    draw = np.random.default_rng(seed)
    size, town = draw.integers(1, 5, households), draw.integers(0, 12, households)
    hid = np.repeat(np.arange(households), size)
    count = len(hid)
    return pl.DataFrame(
        {
            "hid": hid + 1000,
            "land": (town // 6)[hid],
            "region": (town // 3)[hid],
            "town": town[hid],
            "rooms": draw.integers(1, 4, households)[hid],
            "age": draw.integers(0, 6, count),
            "nation": np.array(["a", "b", "c"])[draw.choice(3, count, p=[0.9, 0.08, 0.02])],
            "income": draw.lognormal(9, 1, count).round(2),
        }
    )


def swapped(table: pl.DataFrame, seed: int = 1, scenario: tc.Scenario = SCENARIO, **given: Any) -> tc.Release:
    return tc.Plan([tc.SwapRecords(**given)]).apply(table, scenario, seed=seed)


HIERARCHY = ["land", "region", "town"]


@pytest.mark.parametrize("seed", range(4))
def test_whole_households_move_between_areas_and_all_else_stays(seed: int) -> None:
    table = census(seed=seed)
    release = swapped(table, seed, hierarchy=HIERARCHY, similar=[["rooms"], []], rate=0.2)
    made, figures = release.data.table, release.changes[0].figures
    assert made.drop(HIERARCHY).equals(table.drop(HIERARCHY))
    # Areas still nest, and are one per household.
    assert (made["town"] // 3).equals(made["region"])
    assert (made["region"] // 2).equals(made["land"])
    assert made.group_by("hid").agg(pl.col("town").n_unique())["town"].max() == 1
    # Every area keeps its households and its persons.
    for name in HIERARCHY:
        assert Counter(made[name]) == Counter(table[name])
        households = [each.group_by("hid").agg(pl.col(name).first())[name] for each in (table, made)]
        assert Counter(households[0]) == Counter(households[1])
    moved = pl.DataFrame({"hid": table["hid"], "moved": table["town"] != made["town"]}).unique()
    assert moved["moved"].sum() == figures["swapped"]
    assert figures["swapped"] % 2 == 0


def test_households_below_k_swap_across_the_level_at_which_they_are() -> None:
    table = census()
    release = swapped(table, hierarchy=HIERARCHY, k=3, rate=0.0)
    made, figures = release.data.table, release.changes[0].figures
    earlier: set[int] = set()
    for level, name in enumerate(HIERARCHY):
        counts = table.with_columns(c=pl.len().over(["age", "nation", *HIERARCHY[: level + 1]]))
        rare = set(counts.filter(pl.col("c") < 3)["hid"])
        across = set(table["hid"].filter(table[name] != made[name]))
        said = figures["levels"][name]
        assert said["had_to_swap"] == len(rare - earlier)
        # Rare at this level: swapped across it, unless they found nobody, or were needed further up.
        assert len(rare - earlier - across) <= said["without_donor"]
        earlier |= rare
    moved = set(table["hid"].filter(table["town"] != made["town"]))
    assert len(earlier) == figures["had_to_swap"] > 50
    assert len(earlier - moved) == figures["without_donor"]


def test_by_hand() -> None:
    """One smith among clerks: his household changes town with one of three, the others stay."""
    table = pl.DataFrame(
        {
            "hid": [1, 1, 2, 2, 3, 3, 4, 4, 5],
            "town": ["A"] * 4 + ["B"] * 5,
            "job": ["smith", "none", "clerk", "none", "smith", "none", "clerk", "clerk", "clerk"],
        }
    )
    who = tc.Scenario(keys=["job"], household="hid")
    release = swapped(table, scenario=who, hierarchy="town", risk_variables="job", k=2, rate=0.0)
    towns = dict(zip(table["hid"], release.data.table["town"], strict=True))
    # Households 1, 2 and 3 must swap: one smith or clerk or idle in the town. Household 5 has another size.
    assert towns[1] == towns[2] == "B"
    assert towns[3] == towns[4] == "A"
    assert towns[5] == "B"
    figures = release.changes[0].figures
    assert figures["levels"] == {"town": {"had_to_swap": 3, "swapped": 4, "without_donor": 0}}
    assert release.changes[0].remarks[:3] == (
        "3 of 5 households had to swap",
        "4 swapped (80.0%)",
        "across 'town': 3 had to swap, 4 swapped, 0 without donor",
    )


def test_without_donor_at_a_level_the_next_is_tried() -> None:
    """The reference program gives up: a household that finds nobody in another land stays where it is."""
    table = pl.DataFrame(
        {
            "hid": [1, 2, 3, 4],
            "land": ["x", "x", "y", "y"],
            "town": ["x1", "x2", "y1", "y2"],
            "rooms": [9, 9, 1, 1],
            "job": ["smith", "clerk", "clerk", "clerk"],
        }
    )
    who = tc.Scenario(keys=["job"], household="hid")
    given = {"hierarchy": ["land", "town"], "similar": "rooms", "k": 2, "rate": 0.0}
    release = swapped(table, scenario=who, **given)
    assert release.data.table["town"].to_list()[:2] == ["x2", "x1"]
    levels = release.changes[0].figures["levels"]
    assert levels["land"] == {"had_to_swap": 2, "swapped": 0, "without_donor": 2}
    assert levels["town"]["without_donor"] == 0
    assert release.changes[0].figures["without_donor"] == 0
    # Who finds nobody at any level is counted.
    alone = swapped(table[:3], scenario=who, **{**given, "hierarchy": ["land"]})
    assert alone.changes[0].figures["without_donor"] == 3
    assert "3 households at risk found no donor and stayed" in alone.changes[0].remarks
    assert alone.data.table["land"].to_list() == ["x", "x", "y"]


def test_the_second_profile_serves_where_the_first_has_nobody() -> None:
    table = pl.DataFrame(
        {"hid": [1, 2, 3], "town": ["A", "B", "B"], "rooms": [1, 2, 3], "kind": ["u", "v", "u"], "job": ["s", "c", "c"]}
    )
    who = tc.Scenario(keys=["job"], household="hid")
    release = swapped(table, scenario=who, hierarchy="town", similar=[["rooms", "kind"], ["kind"]], k=2, rate=0.0)
    assert release.data.table["town"].to_list() == ["B", "B", "A"]
    assert release.changes[0].figures["profiles"] == [0, 2]


def test_swaps_stay_within_a_region_if_asked() -> None:
    table = census()
    made = swapped(table, hierarchy=HIERARCHY, within="region", rate=0.3, k=1).data.table
    assert made.select("land", "region").equals(table.select("land", "region"))
    between = swapped(table, hierarchy=HIERARCHY, rate=0.3, k=1).data.table
    assert (between["land"] != table["land"]).sum() > 50


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.333, 0.5])
def test_the_rate_is_reached_and_areas_share_it(rate: float) -> None:
    table = census(1200)
    release = swapped(table, hierarchy=HIERARCHY, rate=rate, k=1)
    figures = release.changes[0].figures
    assert abs(figures["swapped"] - rate * 1200) <= 2
    assert figures["had_to_swap"] == 0
    assert figures["swapped_to_reach_the_rate"] == figures["swapped"]
    moved = table.with_columns(moved=release.data.table["town"] != table["town"]).unique("hid")
    share = moved.group_by("town").agg(pl.col("moved").mean())["moved"]
    assert (abs(share - rate) < 0.15).all()


def test_more_than_the_rate_is_said() -> None:
    """In the reference 98.9 % of the households are swapped at a rate of 5 %, and nothing says so."""
    remarks = swapped(census(), hierarchy=HIERARCHY, k=20, rate=0.05).changes[0].remarks
    assert any(each.startswith("more than the rate, since households at risk swap whatever it is") for each in remarks)


def test_columns_that_tell_the_area_are_named_unless_carried_along() -> None:
    """Smaller areas contradict the swapped ones in the reference, unless they are carried along."""
    table = census().with_columns(climate=pl.col("region") % 2, street=pl.col("town") * 10 + pl.col("hid") % 4)
    who = tc.Scenario(keys=["age", "nation"], household="hid")
    remarks = swapped(table, scenario=who, hierarchy=["land", "region"]).changes[0].remarks
    told = "columns that stay, go with the areas and tell the true ones: 'town', 'climate', 'street'; carry them along"
    assert told in remarks
    carried = swapped(table, hierarchy=["land", "region"], carry_along=["town", "climate", "street"])
    assert not any("columns that stay" in each for each in carried.changes[0].remarks)
    made = carried.data.table
    assert (made["street"] // 10).equals(made["town"])
    assert (made["town"] // 3).equals(made["region"])
    assert (made["town"] != table["town"]).any()


def test_categories_that_nobody_has_are_no_trouble() -> None:
    """The reference program stops at the end with an unused level of a factor."""
    table = census().with_columns(town=pl.col("town").cast(pl.String).cast(pl.Enum([str(i) for i in range(-3, 15)])))
    made = swapped(table, hierarchy=["land", "town"], rate=0.2).data.table
    assert Counter(made["town"]) == Counter(table["town"])
    assert (made["town"].cast(pl.String) != table["town"].cast(pl.String)).any()


def test_blanks_and_codes_of_areas_stay() -> None:
    table = census().with_columns(
        town=pl.when(pl.col("hid") % 7 == 0).then(None).when(pl.col("hid") % 7 == 1).then(99).otherwise(pl.col("town"))
    )
    data = tc.Data.of(table, {"town": tc.Variable(not_applicable=(99,))})
    made = tc.Plan([tc.SwapRecords(["land", "town"], rate=0.5)]).apply(data, SCENARIO, seed=1).data.table
    assert (made["town"].is_null() == table["town"].is_null()).all()
    assert ((made["town"] == 99) == (table["town"] == 99)).drop_nulls().all()
    changed = made["land"] != table["land"]
    assert changed.filter(table["town"].is_null()).any()
    assert changed.filter((table["town"] == 99).fill_null(False)).any()


def test_only_whole_households_of_those_chosen_are_swapped() -> None:
    table = census()
    release = swapped(table, hierarchy=HIERARCHY, rate=0.5, only="age > 1")
    moved = set(table["hid"].filter(release.data.table["town"] != table["town"]))
    assert moved
    assert not moved & set(table.filter(pl.col("age") <= 1)["hid"])
    assert any("at risk not chosen by `only`, or in part" in each for each in release.changes[0].remarks)


def test_strata_are_swapped_apart() -> None:
    table = census()
    release = swapped(table, hierarchy="town", strata=["rooms"], rate=0.4)
    for rooms in (1, 2, 3):
        before, after = (each.filter(table["rooms"] == rooms)["town"] for each in (table, release.data.table))
        assert Counter(before) == Counter(after)


def test_a_risk_of_ones_own() -> None:
    table = census().with_columns(risk=pl.when(pl.col("hid") % 50 == 0).then(0.9).otherwise(0.1))
    release = swapped(table, hierarchy=["land", "region"], risk="risk", threshold=0.5, rate=0.0)
    moved = set(table["hid"].filter(release.data.table["land"] != table["land"]))
    assert {1000, 1050, 1100, 1150, 1200, 1250, 1300, 1350} <= moved
    assert release.changes[0].figures["levels"]["land"]["had_to_swap"] == 8
    two = table.with_columns(low=pl.lit(0.0), high=pl.col("risk"))
    levels = swapped(two, hierarchy=["land", "region"], risk=["low", "high"], threshold=0.5).changes[0].figures
    assert [levels["levels"][name]["had_to_swap"] for name in ("land", "region")] == [0, 8]


def test_households_of_another_size_are_counted() -> None:
    remarks = swapped(census(), hierarchy="town", same_size=False, rate=0.3).changes[0].remarks
    assert any("swapped with one of another size" in each for each in remarks)


def test_records_without_households() -> None:
    who = tc.Scenario(keys=["age", "nation"])
    made = swapped(census(), scenario=who, hierarchy="town", rate=0.2).data.table
    assert Counter(made["town"]) == Counter(census()["town"])
    one = swapped(census()[:1], scenario=who, hierarchy="town", rate=1.0)
    assert one.data.table.equals(census()[:1])
    assert "nothing swapped" in one.changes[0].remarks


def test_what_the_mechanism_says() -> None:
    change = swapped(census(), hierarchy=HIERARCHY, carry_along="rooms", similar=[]).changes[0]
    (mechanism,), (public,) = change.mechanisms, change.public
    assert mechanism["variables"] == [*HIERARCHY, "rooms"]
    assert mechanism["parameters"]["k"] == 3
    assert public["parameters"] == {"method": "targeted record swapping", "rate": 0.05, "hierarchy": HIERARCHY}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"risk": "r"}, "risk and threshold belong together; give both or none of them."),
        ({"risk": "r", "threshold": 1, "k": 3}, "risk takes the place of risk_variables and k; leave those out."),
        ({"carry_along": "town"}, "the hierarchy is always swapped; leave 'town' out of carry_along."),
        ({"similar": 5}, "similar must be a list of column names, or several such lists; got 5."),
        ({"similar": [["a"], 5]}, "similar must be a list of column names; got 5."),
    ],
)
def test_mistakes_are_one_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        tc.SwapRecords("town", **given)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"hierarchy": "age"},
            "hierarchy must be the same for all members of a household, since households are swapped whole; 'age' is "
            "not.",
        ),
        ({"hierarchy": "town", "risk": ["income", "age"], "threshold": 1}, "risk must name one column"),
        ({"hierarchy": "town", "risk": "gap", "threshold": 1}, "400 records of 'gap' have none, fill them first."),
    ],
)
def test_what_the_data_do_not_allow_is_said(given: dict[str, Any], message: str) -> None:
    table = census().with_columns(gap=pl.when(pl.int_range(pl.len()) < 400).then(None).otherwise(0.5))
    with pytest.raises(TacitaError) as refused:
        swapped(table, **given)
    assert message in str(refused.value)
    with pytest.raises(TacitaError, match="pass risk_variables="):
        swapped(table, scenario=tc.Scenario(keys=["town"]), hierarchy="town")


REFERENCE = [
    "recordSwap_k0_sr10",
    "recordSwap_k1_sr05",
    "recordSwap_k3_sr05_2profiles",
    "recordSwap_k3_sr05_3levels",
    "recordSwap_k3_sr05_3risk",
    "recordSwap_k3_sr05_4risk",
    "recordSwap_k3_sr05_age_nat",
    "recordSwap_k5_sr20",
]


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_figures(name: str, reference) -> None:  # type: ignore[no-untyped-def]
    """Households that must swap are the same to the household; who is swapped agrees in number, over seeds."""
    case = reference.case(name)
    asked, expected = case["parameters"], case["scalars"]
    table = reference.data("swap")
    similar = [each if isinstance(each, list) else [each] for each in asked["similar"]]
    step = tc.SwapRecords(
        hierarchy=asked["hierarchy"],
        similar=similar,
        risk_variables=asked["risk_variables"],
        k=max(asked["k_anonymity"], 1),
        rate=asked["swaprate"],
        carry_along=asked["carry_along"],
    )
    who = tc.Scenario(keys=["national"], household="hid")
    found = [tc.Plan([step]).apply(table, who, seed=seed) for seed in range(8)]
    for level in asked["hierarchy"]:
        had_to = found[0].changes[0].figures["levels"][level]["had_to_swap"]
        assert had_to == expected[f"n_must_swap_first_at_{level}"]
        changed = [(each.data.table[level] != table[level]).filter(table["hid"].is_first_distinct()) for each in found]
        spread = expected[f"changed_{level}_sd"]
        average = np.mean([each.sum() for each in changed])
        assert average == pytest.approx(expected[f"changed_{level}_avg"], abs=2 * spread + 0.005 * 2000)
    swapped_households = [each.changes[0].figures["swapped"] for each in found]
    assert np.mean(swapped_households) == pytest.approx(
        expected["swapped_avg_over_seeds"], abs=2 * expected["swapped_sd_over_seeds"]
    )
