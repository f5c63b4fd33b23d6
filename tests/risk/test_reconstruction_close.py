"""Columns that nearly go with a recoded number: a year of birth beside ages in tens made a file SAFE that is not."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.release.reconstruction import close_columns
from tacita.risk.release.reconstruction.close_columns import Ranked

DRAW = np.random.default_rng(0)
SIZE = 800
AGE = DRAW.integers(18, 58, SIZE)
PEOPLE = pl.DataFrame({"sex": DRAW.choice(["f", "m"], SIZE), "age": AGE})
WHO = tc.Scenario(keys=["sex", "age"], population_size=1e7)
K = tc.Policy(k=9, risk=None, rate=None)
CLOSE = {
    "birthday before or after the interview": 2020 - AGE - DRAW.integers(0, 2, SIZE),
    "a year more or less": AGE + DRAW.integers(-1, 2, SIZE),
    "with fractions of its own": AGE + DRAW.uniform(-1.5, 1.5, SIZE),
    "up to a quarter of a class more or less": AGE + DRAW.uniform(-2.5, 2.5, SIZE),
}
FAR = {
    "years at work": AGE - 16 - DRAW.integers(0, 8, SIZE),
    "income": DRAW.lognormal(8, 1, SIZE) * AGE,
    "noise of a quarter of a class": AGE + DRAW.normal(0, 2.5, SIZE),
    "of nineteen records": np.where(np.arange(SIZE) < 19, AGE, np.nan) + 0.5,
    "mostly zero": np.where(DRAW.random(SIZE) < 0.03, AGE, 0),
    "the class itself": AGE // 10,
    "classes that are counted as told": AGE // 3,
}


def assessed(column: Any, steps: list[Any], who: tc.Scenario = WHO) -> tc.RiskProfile:
    """The release of the people with one more column, after some steps."""
    people = PEOPLE.with_columns(x=pl.Series(column))
    return tc.Plan([*steps, tc.RandomOrder()]).apply(people, who, K).assess()


@pytest.mark.parametrize("case", CLOSE)
@pytest.mark.parametrize("step", [tc.Recode("age", width=10), tc.Remove("age")])
def test_a_column_that_nearly_tells_a_key_leaves_the_verdict_open(case: str, step: Any) -> None:
    found = assessed(CLOSE[case], [step])
    assert found.not_assessed == (
        "the key 'age' is recoded or removed, but 'x' tells it to within half of its classes; recode or remove it "
        "alike, or name it among the keys",
    )
    assert assessed(CLOSE[case], [step, tc.Remove("x")]).safe
    named = tc.Scenario(keys=["sex", "age", "x"], population_size=1e7)
    assert assessed(CLOSE[case], [step], named).failures


@pytest.mark.parametrize("case", FAR)
def test_columns_that_have_little_to_do_with_a_key_are_not_named(case: str) -> None:
    people = PEOPLE.with_columns(x=pl.Series(FAR[case]))
    released = tc.Plan([tc.Recode("age", width=10)]).apply(people, WHO, K)
    assert released.assess().further["reconstruction"].close == {}


def test_narrow_windows_against_loops() -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(0, 120))
        released, rank = np.sort(draw.integers(0, 3, size)), np.round(draw.random(size) * draw.choice([0.3, 1.0]), 1)
        spans = []
        for start in range(size - close_columns.WINDOW + 1):
            inside = range(start, start + close_columns.WINDOW)
            if len({int(released[at]) for at in inside}) == 1:
                spans.append(max(rank[at] for at in inside) - min(rank[at] for at in inside) <= close_columns.NARROW)
        ranked = Ranked(np.arange(size), released, rank)
        assert close_columns._narrow(ranked, np.arange(size)) == pytest.approx(
            np.mean(spans) if len(spans) >= close_columns.LEAST_WINDOWS else 0.0
        )


def test_a_year_of_birth_that_one_record_in_fifty_has_leaves_the_verdict_open() -> None:
    """Too few for windows: it was SAFE without a word."""
    draw = np.random.default_rng(5)
    size = 3000
    age = draw.integers(0, 90, size)
    born = np.where(draw.random(size) < 0.02, 2020.0 - age - draw.integers(0, 2, size), np.nan)
    people = pl.DataFrame({"age": age, "born": pl.Series(born, nan_to_null=True)})
    plan = tc.Plan([tc.Recode("age", width=10), tc.RandomOrder()])
    who = tc.Scenario(keys=["age"], population_size=1e7)
    found = plan.apply(people, who, tc.Policy(k=3, risk=None, rate=None)).assess()
    assert not found.safe and found.further["reconstruction"].close == {"age": ("born",)}


def test_a_column_that_few_have_goes_with_the_number_by_hand() -> None:
    released, rank = np.repeat([1, 2], 15), np.tile(np.arange(15) / 14, 2)
    ranked, known = Ranked(np.arange(30), released, rank), np.arange(30)
    falling = -rank - 10 * released
    assert close_columns._goes_with(ranked, falling, known)
    # Every second record of a class changes places with the one five further on.
    moved = np.tile([0, 6, 2, 8, 4, 10, 1, 12, 3, 14, 5, 11, 7, 13, 9], 2).astype(float)
    assert not close_columns._goes_with(ranked, moved, known)
    assert not close_columns._goes_with(ranked, np.zeros(30), known)


def test_ranks_against_loops() -> None:
    draw = np.random.default_rng(4)
    released, numbers = draw.integers(0, 4, 200), draw.integers(0, 9, 200).astype(float)
    for own, number, rank in zip(released, numbers, close_columns._ranks(released, numbers), strict=True):
        others = numbers[released == own]
        mean_rank = (others < number).sum() + ((others == number).sum() - 1) / 2
        assert rank == pytest.approx(mean_rank / (len(others) - 1))
