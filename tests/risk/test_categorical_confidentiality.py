"""The confidentiality plot of categorical data: by hand, against pairs of records, and its messages."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data, Variable

KEYS = ["sex", "region"]
row = st.tuples(*[st.sampled_from(["a", "b", None])] * 4)


def frame(rows: list[Any], first: int) -> pl.DataFrame:
    return pl.DataFrame([each[first : first + 2] for each in rows], schema=KEYS, orient="row", strict=False).cast(
        pl.String
    )


@given(st.lists(row, min_size=1, max_size=20), st.integers(1, 4))
def test_against_pairs_of_records(rows: list[Any], k: int) -> None:
    original, released = frame(rows, 0), frame(rows, 2)
    found = tc.risk.categorical_confidentiality(original, released, tc.Scenario(keys=KEYS), k=k)
    for at, each in enumerate(rows):
        mine = each[2:]
        # One-way: whoever shows the same value on every key that the record shows.
        counted = sum(all(a is None or a == b for a, b in zip(mine, other[2:], strict=True)) for other in rows)
        assert found.count[at] == counted
        assert found.loss[at] == sum(a != b for a, b in zip(each[:2], mine, strict=True)) / 2
        assert found.unsafe[at] == (counted < k)
    assert found.to_dict()["information_loss"] == pytest.approx(float(np.mean(found.loss)))


def survey() -> tuple[Data, Data]:
    """Six people: sex nominal, health ordinal, age numeric; two values suppressed and one moved."""
    about = {"health": Variable(scale="ordinal"), "age": Variable(scale="numeric")}
    original = pl.DataFrame(
        {"sex": [1, 1, 1, 2, 2, 2], "health": [1, 2, 3, 4, 5, 5], "age": [20, 30, 40, 50, 60, 70], "w": [10.0] * 6}
    )
    released = original.with_columns(
        sex=pl.Series([1, 1, 2, 2, 2, None]),
        health=pl.Series([1, None, 3, 4, 3, 5]),
        age=pl.Series([20, 31, 40, 50, 60, None]),
    )
    return Data.of(original, about), Data.of(released, about)


def test_by_hand() -> None:
    original, released = survey()
    scenario = tc.Scenario(keys=["sex"], weight="w")
    found = tc.risk.categorical_confidentiality(original, released, scenario, variables=["sex", "health", "age"], k=3)
    one = 2 / math.pi * math.atan(1.0)
    # Health has 5 categories: suppressed 2 is 3 steps from the farther end, 5 to 3 are two. Age 70 is above the
    # median, so its suppression is 50 years from the minimum.
    far = 2 / math.pi * math.atan(50.0)
    assert found.loss.tolist() == pytest.approx([0, (0.75 + one) / 3, 1 / 3, 0, 0.5 / 3, (1.0 + far) / 3])
    assert found.count.tolist() == [2, 2, 3, 3, 3, 6]
    assert found.unsafe.tolist() == [True, True, False, False, False, False]
    assert [tuple(each)[:4] for each in found.changes] == [
        ("sex", "nominal", 2, 1),
        ("health", "ordinal", 2, 1),
        ("age", "numeric", 2, 1),
    ]
    assert found.table()["loss"].to_list() == pytest.approx([each.loss for each in found.changes])
    population = tc.risk.categorical_confidentiality(original, released, scenario, population=True, k=25)
    assert population.count.tolist() == [20, 20, 30, 30, 30, 60]
    assert population.unsafe.tolist() == [True, True, False, False, False, False]
    assert "units of the population (F, weights)" in str(population)


def test_units_of_numeric_differences() -> None:
    original, released = survey()
    scenario = tc.Scenario(keys=["sex"])
    options: dict[str, Any] = {"variables": ["age"], "k": 2}
    spread = float(np.std([20, 30, 40, 50, 60, 70], ddof=1))
    found = tc.risk.categorical_confidentiality(original, released, scenario, unit="sd", **options)
    assert found.loss[1] == pytest.approx(2 / math.pi * math.atan(1 / spread))
    assert "numeric differences of age in standard deviations" in str(found)
    # Deviations from the median 45 are 25, 15, 5, 5, 15, 25.
    found = tc.risk.categorical_confidentiality(original, released, scenario, unit="mad", **options)
    assert found.loss[1] == pytest.approx(2 / math.pi * math.atan(1 / (1.4826 * 15)))


def test_a_register_counts_the_population() -> None:
    original, released = survey()
    register = pl.DataFrame({"sex": [1] * 40 + [2] * 9})
    found = tc.risk.categorical_confidentiality(
        original, released, tc.Scenario(keys=["sex"]), population=True, register=register, k=10
    )
    assert found.count.tolist() == [40, 40, 9, 9, 9, 49]
    assert found.source == "register"


def test_missing_rule_decides() -> None:
    original, released = survey()
    found = tc.risk.categorical_confidentiality(original, released, tc.Scenario(keys=["sex"], missing="wildcard"), k=3)
    assert found.count.tolist() == [3, 3, 4, 4, 4, 6]
    assert found.rule == "wildcard"


def test_recoded_values_lose_what_their_class_covers() -> None:
    """20 of the 50 years in one class, 10 in the other; a suppressed value covers all of them."""
    original, _ = survey()
    classes = original.with_columns({"age": ["young", "young", "young", "old", "old", None]})
    found = tc.risk.categorical_confidentiality(original, classes, tc.Scenario(keys=["age"]), k=2)
    assert found.loss.tolist() == [0.4, 0.4, 0.4, 0.2, 0.2, 1.0]
    assert found.changes[0].scale == "recoded"
    assert found.cautions[0].startswith("'age' was recoded: a value loses the share of the variable")
    assert f"caution: {found.cautions[0]}" in str(found)
    order = pl.Enum(["low", "middle", "high"])
    ordered = pl.DataFrame({"level": pl.Series(["low", "middle", "high"], dtype=order)})
    fewer = pl.DataFrame({"level": ["low", "above", "above"]})
    found = tc.risk.categorical_confidentiality(ordered, fewer, tc.Scenario(keys=["level"]), k=2)
    assert (found.changes[0].scale, found.loss.tolist()) == ("recoded", [0.0, 0.5, 0.5])


def test_microaggregated_numbers_lie_on_a_line_at_the_group_size() -> None:
    original = pl.DataFrame({"turnover": [1.0, 2.0, 3.0, 10.0, 11.0, 12.0]})
    groups = pl.DataFrame({"turnover": [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]})
    found = tc.risk.categorical_confidentiality(original, groups, tc.Scenario(keys=["turnover"]), unit="sd", k=3)
    assert found.count.tolist() == [3.0] * 6
    assert not found.unsafe.any()
    near = tc.risk.confidentiality(
        original, groups, tc.Scenario(numeric_keys=["turnover"]), vertical=True, k=3, delta=0.6
    )
    assert near.neighbours.tolist() == [3] * 6
    assert not near.unsafe.any()


def test_released_records_are_matched_by_number() -> None:
    original, released = survey()
    scenario = tc.Scenario(keys=["sex"])
    found = tc.risk.categorical_confidentiality(original, released, scenario, k=3)
    turned = tc.risk.categorical_confidentiality(original, released.take(np.array([5, 3, 1, 0, 2, 4])), scenario, k=3)
    assert turned.to_frame().equals(found.to_frame())


def test_messages() -> None:
    original, released = survey()
    released = released.with_columns({"w": [9.0] * 6})
    scenario = tc.Scenario(keys=["sex"])
    for words, message in [
        ({"k": 0}, "k must be at least 1; got 0."),
        ({"unit": "metre"}, "unit must be one of 'value', 'sd', 'mad', 'range'; got 'metre'."),
        ({"variables": ["agee"]}, "variables of the original file not in the data: 'agee'. Did you mean 'age'?"),
        ({"policy": tc.Policy(k=None)}, "the policy has no k, so nothing is unsafe; pass k=."),
        (
            {"variables": ["w"], "unit": "sd"},
            "column 'w' has no spread to measure its changes in; choose unit='value'.",
        ),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.categorical_confidentiality(original, released, scenario, **words)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_categories_that_nobody_has_count_if_they_are_declared() -> None:
    """Five declared categories, of which the least and the greatest do not occur: one step is a quarter."""
    about = {"health": Variable(scale="ordinal", order=("none", "bad", "fair", "good", "best"))}
    x = Data.of(pl.DataFrame({"health": ["bad", "fair", "good"]}), variables=about)
    y = Data.of(pl.DataFrame({"health": ["fair", "fair", None]}), variables=about)
    found = tc.risk.categorical_confidentiality(x, y, tc.Scenario(keys=["health"]), k=2)
    assert found.loss.tolist() == [0.25, 0.0, 0.75]


@pytest.mark.parametrize("unit", ["value", "sd", "mad"])
def test_numbers_too_large_to_be_compared_are_a_mistake(unit: str) -> None:
    x = pl.DataFrame({"a": ["p", "q", "q"], "v": [1.0e300, -2.0e300, 1.0]})
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.categorical_confidentiality(x, x, tc.Scenario(keys=["a"]), variables=["v"], unit=unit)
    assert str(error.value) == (
        "numbers must be below 1e+150 in size to be compared; those of 'v' are not, declare such codes missing."
    )


@pytest.mark.parametrize("both", [False, True])
def test_infinite_numbers_are_a_mistake(both: bool) -> None:
    x = pl.DataFrame({"a": ["p", "q"], "v": [1.0, math.inf if both else 2.0]})
    y = x.with_columns(v=pl.Series([1.0, math.inf]))
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.categorical_confidentiality(x, y, tc.Scenario(keys=["a"]), variables=["v"])
    assert str(error.value) == "variables must be finite; 'v' has infinite values, correct the file."


@pytest.mark.parametrize("values", [["low", "mid", "high", None], ["low", "mid", "high", "dk"]])
def test_not_applicable_has_no_place_in_the_order(values: list[str | None]) -> None:
    """A release may tell that a code means not applicable where its original declares it missing."""
    order = ("low", "mid", "high")
    kinds = [pl.String, pl.Enum(order)] if None in values else [pl.String]
    who = tc.Scenario(keys=["x"])
    for kind in kinds:
        first, second = (pl.DataFrame({"x": pl.Series(x, dtype=kind)}) for x in (values, ["mid", *values[1:]]))
        known = Variable(order=order, missing=("dk",)) if kind == pl.String else Variable()
        for codes in ((), ("dk", "")):
            said = {"x": replace(known, not_applicable=codes)}
            found = tc.risk.categorical_confidentiality(Data.of(first, {"x": known}), Data.of(second, said), who, k=2)
            assert [each.scale for each in found.changes] == ["ordinal"]
            assert found.loss.tolist() == [0.5, 0.0, 0.0, 0.0]
