"""Files that were called SAFE when they were attacked with what else they show: one test for each way."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.release.reconstruction.disclosed_classes import (
    UNKNOWN,
    disclosed_ranges,
    log_chance_of_ranges,
    refined,
)

K = tc.Policy(k=3, risk=None, rate=None)
WHO = tc.Scenario(keys=["age", "sex"])
CLASSES = [tc.Recode("age", breaks=[30, 60]), tc.RandomOrder()]
SEED = 2**90


def people(number: int = 600) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "region": draw.choice([f"r{code}" for code in range(8)], number),
            "age": draw.integers(0, 90, number),
            "sex": draw.choice(["f", "m"], number),
            "answer": draw.integers(0, 5, number),
        }
    )


def below_k(keys: pl.DataFrame) -> int:
    """Records that fewer than three share all columns with: what an intruder finds."""
    return keys.select(pl.len().over(keys.columns).alias("f")).filter(pl.col("f") < 3).height


def test_a_weight_with_a_little_noise_still_stands_near_its_stratum() -> None:
    """Each record had a weight of its own, so that no two agreed in one, and the region was hidden, it was said."""
    draw = np.random.default_rng(3)
    region = draw.choice(5, 900, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    survey = people(900).with_columns(
        region=pl.Series([f"r{each}" for each in region]), w=pl.Series(100.0 * (1 + region))
    )
    who = tc.Scenario(keys=["region", "sex", "age"], weight="w")
    halves = tc.Recode("region", mapping={f"r{each}": "a" if each < 2 else "b" for each in range(5)})
    wide = tc.Recode("age", breaks=[45])
    for step in (halves, tc.Remove("region")):
        for sd in (0.001, 0.02):
            release = tc.Plan([step, wide, tc.WeightNoise(sd=sd), tc.RandomOrder()]).apply(survey, who, K, seed=SEED)
            told = release.assess().sets[1]
            assert told.name == "keys with other columns" and not release.safe
            assert told.unsafe_by_k == below_k(survey.select("region", "sex", pl.col("age") < 45)) > 0
            assert "the weight 'w' tells it more finely" in str(release.assess().cautions)
    assert tc.Plan([halves, wide, tc.Remove("w"), tc.RandomOrder()]).apply(survey, who, K, seed=SEED).safe


@pytest.mark.usual(seed=40)
@pytest.mark.parametrize("seed", range(200))
def test_ranges_are_those_of_plain_loops(seed: int) -> None:
    draw = np.random.default_rng(seed)
    values, size = int(draw.integers(1, 9)), int(draw.integers(1, 40))
    classes = np.unique(draw.integers(0, 3, values), return_inverse=True)[1]
    original = draw.integers(0, values, size)
    number = np.round(original * float(draw.integers(0, 3)) + draw.normal(0, 1, size), int(draw.integers(0, 3)))
    told = disclosed_ranges(classes, original, number)
    spans = {v: (number[original == v].min(), number[original == v].max()) for v in set(original.tolist())}
    for value in range(values):
        assert (told[value] == UNKNOWN) == (value not in spans)
        together, grown = {value} & set(spans), True
        while grown:
            more = {
                other
                for other in spans
                for one in together
                if classes[other] == classes[one]
                and spans[other][0] <= spans[one][1]
                and spans[one][0] <= spans[other][1]
            }
            grown, together = not more <= together, together | more
        same = {other for other in spans if told[other] == told[value] and classes[other] == classes[value]}
        assert value not in spans or same == together
    finer = refined(classes, told)
    if finer.max() == classes.max():
        assert log_chance_of_ranges(classes, told, original) == pytest.approx(0.0, abs=1e-9)


def test_ranges_at_random_tell_nothing(trials: Callable[[int], range]) -> None:
    """Of files whose numbers have nothing to do with the key, next to none raises an alarm."""
    alarms = 0
    for seed in trials(300):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(4, 60))
        numbers = {f"n{at}": np.round(draw.normal(0, 1, size), int(draw.integers(0, 4))) for at in range(6)}
        file = pl.DataFrame({"key": draw.integers(0, int(draw.integers(2, 9)), size), "sex": ["f"] * size, **numbers})
        alarms += bool(tc.risk.reconstruction(file, file.drop("key"), tc.Scenario(keys=["sex"])).finer)
    assert alarms <= 0.05 * len(trials(300))


def test_what_another_key_says_of_a_column() -> None:
    """A code of the age is 0 for all men: nothing of the age alone, and everything of the women's."""
    both = people().with_columns(product=(pl.col("age") * 37 % 101 + 1) * (pl.col("sex") == "f"))
    release = tc.Plan(CLASSES).apply(both, WHO, K, seed=SEED)
    told = release.assess().sets[1]
    assert told.table.keys == ("age", "sex", "age by other columns and sex")
    classes = (pl.col("age") >= 30).cast(pl.Int8) + (pl.col("age") >= 60)
    assert told.unsafe_by_k == below_k(both.select("sex", "product", classes)) > 0
    assert "recoded or removed, but beside 'sex' 'product' tells it more finely" in str(release.assess().cautions)
    assert tc.Plan([*CLASSES, tc.Remove("product")]).apply(both, WHO, K, seed=SEED).safe
    # Whoever does not know the sex is told nothing.
    assert tc.Plan(CLASSES).apply(both, tc.Scenario(keys=["age"]), K, seed=SEED).safe
    # Where the sex is blank the column says nothing.
    for seed in (SEED, SEED + 1):
        blank = both.with_columns(sex=pl.when(pl.int_range(pl.len()) % 10 > 0).then(pl.col("sex")))
        keys = tc.Plan(CLASSES).apply(blank, WHO, K, seed=seed).assess().sets[1]
        values = keys.table.values[2]
        there = keys.table.codes[:, 2] > 0
        assert len(values) > 20 and (there == (keys.table.codes[:, 1] > 0)).all()


def test_columns_at_random_say_nothing_beside_another_key(trials: Callable[[int], range]) -> None:
    alarms = 0
    for seed in trials(200):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(10, 200))
        columns = {f"c{at}": draw.integers(0, int(draw.integers(2, 9)), size) for at in range(4)}
        columns |= {"n": draw.normal(0, 1, size)}
        original = pl.DataFrame({"key": draw.integers(0, 40, size), "sex": draw.integers(0, 2, size), **columns})
        released = original.with_columns(pl.col("key") // int(draw.integers(5, 20)) * 1000)
        alarms += bool(tc.risk.reconstruction(original, released, tc.Scenario(keys=["key", "sex"])).beside)
    assert alarms <= 0.05 * len(trials(200))


def test_measurements_that_differ_between_groups_tell_no_group() -> None:
    """That no self-employed has an income of 0 says nothing of the others, whose incomes all differ."""
    draw = np.random.default_rng(8)
    status = draw.integers(0, 4, 600)
    income = np.round(draw.lognormal(9 + 0.4 * status, 0.6), 2)
    income[(status > 0) & (draw.random(600) < 0.4)] = 0.0
    file = people().with_columns(status=pl.Series([f"s{each}" for each in status]), income=pl.Series(income))
    steps = [tc.Recode("status", mapping={f"s{at}": "s" for at in range(4)}), tc.RandomOrder()]
    release = tc.Plan(steps).apply(file, tc.Scenario(keys=["status", "sex"]), K, seed=SEED)
    found = release.assess().further["reconstruction"]
    assert (found.finer, found.beside, release.safe) == ({}, {}, True)


def born(ages: pl.Series) -> list[date]:
    draw = np.random.default_rng(6)
    return [date(2020, 1, 1) - timedelta(days=int(age * 365.25 + draw.integers(0, 365))) for age in ages]


def test_a_year_of_birth_inside_a_personal_number() -> None:
    """Nobody declared the number, and only its first and last characters were looked at."""
    draw = np.random.default_rng(4)
    file = people()
    numbers = [f"{day:%d%m%y}-{draw.integers(1000, 9999)}" for day in born(file["age"])]
    release = tc.Plan(CLASSES).apply(file.with_columns(pn=pl.Series(numbers)), WHO, K, seed=SEED)
    assert "'pn' looks like an identifier and tells it" in release.verdict
    whole = [f"{day:%d%m%Y}{draw.integers(1000, 9999)}" for day in born(file["age"])]
    release = tc.Plan(CLASSES).apply(file.with_columns(pn=pl.Series(whole)), WHO, K, seed=SEED)
    assert not release.safe


def test_an_age_in_free_text() -> None:
    draw = np.random.default_rng(4)
    words = [
        f"Is {age} years old, form {draw.integers(1, 99)}, {draw.choice(['kind', 'in haste'])}"
        for age in people()["age"]
    ]
    release = tc.Plan(CLASSES).apply(people().with_columns(note=pl.Series(words)), WHO, K, seed=SEED)
    (age,) = [each for each in release.assess().further["reconstruction"].variables if each.name == "age"]
    assert age.given_back == 600 and not release.safe


@pytest.mark.parametrize(
    "values", [pl.concat_list("age", "answer"), pl.struct("age", "answer")], ids=["lists", "structs"]
)
def test_columns_that_nothing_reads_are_not_assessed(values: pl.Expr) -> None:
    release = tc.Plan(CLASSES).apply(people().with_columns(values.alias("more")), WHO, K, seed=SEED)
    assert release.verdict.startswith("NOT ASSESSED under this policy: 'more' holds lists or objects")


def test_objects_are_refused_in_one_sentence() -> None:
    """What Polars hands out of a column of objects is where they lie in memory; a release went out with that."""
    objects = pl.Series("more", [object() for _ in range(len(people()))], dtype=pl.Object)
    with pytest.raises(tc.TacitaError, match="column 'more' holds objects; make it all text or all numbers"):
        tc.Plan([]).apply(pl.DataFrame({"age": people()["age"], "more": objects}), tc.Scenario(keys=["age"]), K)


UNIQUE = pl.when(pl.int_range(pl.len()) < 5).then(pl.format("u{}", pl.int_range(pl.len()))).otherwise("region")
SHARES: list[dict[str, Any]] = [
    {"distance_linkage": {"limit": 0.05, "keys": ["region", "sex"], "distance": "gower"}},
    {"probabilistic_linkage": 0.05},
    {"external_risk": 0.05},
    {"informed_linkage": 0.05},
    {"releases_together": 0.05},
]


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@pytest.mark.parametrize("limits", SHARES, ids=lambda limits: next(iter(limits)))
def test_a_small_share_of_links_hides_nobody_who_is_found_for_certain(limits: dict[str, Any]) -> None:
    """Five people are unique, and a few swaps leave them so: one link in four hundred was SAFE in place of k = 3."""
    file, who = people(2000).with_columns(region=UNIQUE), tc.Scenario(keys=["region", "sex"])
    plan = tc.Plan([tc.RandomSwap(["region"], rate=0.02), tc.RandomOrder()])
    release = plan.apply(file, who, tc.Policy(k=3, risk=0.1, rate=None, limits=limits), seed=SEED)
    name = next(iter(limits))
    assert release.verdict.startswith("NOT ASSESSED")
    assert f"{name} finds " in release.verdict and " rightly for certain, which a limit on a share" in release.verdict
    # Who limits the share alone says so.
    assert plan.apply(file, who, tc.Policy(k=None, risk=None, rate=0.1, limits=limits), seed=SEED).safe
    hidden = file.filter(~pl.col("region").str.starts_with("u"))
    assert plan.apply(hidden, who, tc.Policy(k=3, risk=0.1, rate=None, limits=limits), seed=SEED).safe


def panel() -> pl.DataFrame:
    """Six months of 300 people."""
    return pl.concat([people(300).with_columns(pid=pl.int_range(300), month=pl.lit(month)) for month in range(6)])


def test_months_of_one_person_are_no_crowd_though_nobody_said_so() -> None:
    keys = ["region", "sex", "age"]
    said = "records with the same 'pid' agree in all keys, and each counts as somebody else; declare person = 'pid'"
    for plan, who in (
        ([], tc.Scenario(keys=keys)),
        ([tc.Remove("pid")], tc.Scenario(keys=keys)),
        ([tc.Remove("pid")], tc.Scenario(keys=keys, identifiers=["pid"])),
        ([], tc.Scenario(keys=keys, household="pid")),
    ):
        release = tc.Plan([*plan, tc.RandomOrder()]).apply(panel(), who, K, seed=SEED)
        assert release.verdict.startswith(f"NOT ASSESSED under this policy: {said}")
    assert not tc.assess(panel(), tc.Scenario(keys=keys), K).safe
    assert tc.assess(panel(), tc.Scenario(keys=keys, person="pid"), K).main.unsafe_by_k > 1000
    # In a file of few persons the repetitions themselves make 2 % of all pairs of records agree.
    few = pl.concat([people(50).with_columns(pid=pl.int_range(50))] * 12)
    release = tc.Plan([tc.Remove("pid"), tc.RandomOrder()]).apply(few, tc.Scenario(keys=keys), K, seed=SEED)
    assert release.verdict.startswith(f"NOT ASSESSED under this policy: {said}")
    # Keys in which a third of all agree by chance, but five people alone: each hides behind six records of his own.
    alone = pl.when(pl.col("pid") < 5).then(pl.lit("u") + pl.col("pid").cast(pl.String)).otherwise("region")
    coarse = panel().with_columns(region=alone)
    assert tc.assess(coarse, tc.Scenario(keys=["region"]), K).not_assessed[0].startswith(said)
    # Classes whose records agree in a coarse key, and people who share a doctor, are no units.
    classes = people(900).with_columns(doctor=pl.int_range(pl.len()) // 3)
    assert tc.assess(classes, tc.Scenario(keys=["sex"]), K).safe
    assert "person =" not in str(tc.assess(classes, tc.Scenario(keys=keys), K).not_assessed)


def test_a_beta_that_no_file_exceeds_is_no_limit() -> None:
    file = people(200)
    who = tc.Scenario(keys=["sex"], sensitive=["region"])
    for limit in (200, 1e9):
        found = tc.assess(file, who, tc.Policy(k=None, risk=None, rate=None, limits={"likeness": limit}))
        assert not found.safe and "is no limit, since every file keeps it" in str(found.cautions)


def regions_that_weights_tell() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    region = draw.choice(5, 700, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    named = people(700).with_columns(
        region=pl.Series([f"r{each}" for each in region]), w=pl.Series(100.0 * (1 + region))
    )
    return named.with_columns(pl.col("age") // 5 * 5)


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_a_file_in_another_order_is_not_held_against_its_original(tmp_path: Path) -> None:
    """Row by row of somebody else, every cell was changed, no cell was told, and the file was SAFE."""
    survey, who = regions_that_weights_tell(), tc.Scenario(keys=["region", "sex", "age"], weight="w")
    release = tc.Plan([tc.Suppress(closed=False)]).apply(survey, who, K)
    assert "cells that are given back" in release.verdict
    ordered = release.data.table
    several = [ordered, ordered.sample(fraction=1.0, shuffle=True, seed=1), ordered.reverse(), ordered.sort("region")]
    for at, table in enumerate(several):
        found = tc.assess(tc.write(table, tmp_path / f"{at}.csv"), who, K, original=survey)
        assert not found.safe
        assert ("not those of the original in the same order" in str(found.not_assessed)) == (at > 0)
    # Sorted alike by one column, and in another order within it.
    both = tc.assess(ordered.sort("sex", "age"), who, K, original=survey.sort("sex"))
    assert not both.safe


@pytest.mark.parametrize(
    "step", [tc.RandomSwap(["region", "answer"], rate=0.5), tc.Pram(["region"]), tc.Recode("age", width=10)], ids=str
)
def test_a_file_in_its_order_is_held_against_its_original_whatever_was_done(step: Any) -> None:
    released = tc.Plan([step]).apply(people(), tc.Scenario(keys=["sex"]), seed=SEED).data.table
    found = tc.assess(released, tc.Scenario(keys=["sex"]), K, original=people())
    assert "in the same order" not in str(found.not_assessed)


@pytest.mark.parametrize("role", ["household", "person", "identifiers"])
def test_a_class_is_one_whatever_it_is_declared_to_be(role: str) -> None:
    """Ages under new numbers, declared to number households, told everybody's age, and were left aside."""
    ages = people(900).with_columns(number=pl.col("age"))
    roles: dict[str, Any] = {role: ["number"] if role == "identifiers" else "number"}
    plan = tc.Plan([tc.Recode("age", breaks=[30, 60]), tc.NewIdentifiers("number"), tc.RandomOrder()])
    who = tc.Scenario(keys=["age", "sex", "region"], **roles)
    release = plan.apply(ages, who, tc.Policy(k=2, risk=None, rate=None), seed=SEED)
    assert "'number' tells it more finely" in str(release.assess().cautions) and not release.safe
    # Numbers of households of some size are what they are said to be.
    homes = ages.with_columns(number=pl.int_range(pl.len()) // 5)
    kept = plan.apply(homes, tc.Scenario(keys=["age", "sex"], **roles), K, seed=SEED)
    assert kept.safe
