from collections import Counter
from math import log

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data, Variable


def slow_leak(rows: list[tuple[float, str | None]]) -> tuple[float, float, float]:
    """determined, guessed (from the other records of the weight, ties at random), explained."""
    n = len(rows)
    file = Counter(value for _, value in rows)
    most = max(file.values())
    determined = guessed = 0.0
    for i, (weight, value) in enumerate(rows):
        others = Counter(v for h, (w, v) in enumerate(rows) if w == weight and h != i)
        if not others:
            guessed += file[value] == most
            continue
        determined += set(others) == {value}
        best = max(others.values())
        guessed += (others[value] == best) / sum(count == best for count in others.values())
    entropy = -sum(c / n * log(c / n) for c in file.values())
    left = 0.0
    for weight in {w for w, _ in rows}:
        inside = Counter(v for w, v in rows if w == weight)
        total = sum(inside.values())
        left -= sum(c / n * log(c / total) for c in inside.values())
    return determined / n, guessed / n, 1 - left / entropy if entropy > 1e-12 else 0.0


row = st.tuples(st.sampled_from([1.0, 2.5, 7.0]), st.sampled_from(["a", "b", None]))


@given(st.lists(row, min_size=1, max_size=20))
def test_against_the_definition(rows: list[tuple[float, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"w": pl.Float64, "region": pl.String}, orient="row")
    found = tc.risk.weight_disclosure(frame, tc.Scenario(keys=["region"], weight="w")).leaks["region"]
    determined, guessed, explained = slow_leak(rows)
    assert found.determined == pytest.approx(determined)
    assert found.guessed == pytest.approx(guessed)
    assert found.explained == pytest.approx(explained, abs=1e-9)


def test_a_stratified_design_gives_the_stratum_away() -> None:
    survey = tc.household_survey(400, population=8000)
    found = tc.risk.weight_disclosure(survey.data, survey.scenario, variables=["region", "sex"])
    assert found.leaks["region"].guessed > 0.99 > found.leaks["region"].baseline
    assert found.leaks["sex"].explained < 0.05


def test_unique_weights_are_fingerprints_not_guesses() -> None:
    frame = pl.DataFrame({"region": ["a", "a", "b"], "w": [1.0, 2.0, 3.0]})
    found = tc.risk.weight_disclosure(frame, tc.Scenario(keys=["region"], weight="w"))
    assert (found.different, found.unique) == (3, 3)
    assert found.leaks["region"].guessed == pytest.approx(2 / 3)
    assert found.leaks["region"].determined == 0


def test_no_weights() -> None:
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.weight_disclosure(pl.DataFrame({"a": [1]}), tc.Scenario(keys=["a"]))
    assert str(error.value) == "weight disclosure needs the weights; pass weight=... in the scenario."


def test_a_code_for_not_applicable_is_told_as_a_value() -> None:
    """The file takes 9 for missing, as it takes the blank."""
    frame = pl.DataFrame({"stratum": [1, 1, 9, 9, None, None], "w": [5.0, 5.0, 7.0, 7.0, 9.0, 9.0]})
    data = Data.of(frame, {"stratum": Variable(missing=(9,))})
    blind, knowing = (
        tc.risk.weight_disclosure(data, tc.Scenario(keys=["stratum"], weight="w", not_applicable=codes)).leaks[
            "stratum"
        ]
        for codes in ({}, {"stratum": [9]})
    )
    assert (blind.baseline, knowing.baseline) == (4 / 6, 2 / 6)
    assert knowing.guessed == 1.0
