"""Parameters of steps: whatever is given, a plain value or one sentence."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.parameters import parameters_of
from tacita.protect.step import Step
from tacita.protect.steps import own_steps

STAR = tc.Hierarchy.redaction()
NEEDED: dict[str, dict[str, Any]] = {
    "remove": {"variables": ["x"]},
    "recode": {"variables": ["x"], "breaks": [3]},
    "top_code": {"variables": ["x"], "at": 3},
    "bottom_code": {"variables": ["x"], "at": 3},
    "code_outliers": {"variables": ["x"]},
    "group_rare": {"variables": ["x"]},
    "round": {"variables": ["x"], "base": 2},
    "generalise": {"hierarchies": {"x": STAR}},
    "weight_noise": {"sd": 0.1},
    "trim_weights": {"most": 3},
    "recalibrate": {"variables": ["x"]},
    "noise": {"variables": ["x"], "amount": 0.2},
    "pram": {"variables": ["x"]},
    "rank_swap": {"variables": ["x"], "window": 0.5},
    "swap_records": {"hierarchy": ["x"]},
    "random_swap": {"variables": ["x"], "rate": 0.5},
    "microaggregate": {"variables": ["x"]},
    "shuffle": {"variables": ["x"]},
    "mask_by_model": {"variables": ["x"]},
    "microaggregate_mixed": {"variables": ["x"]},
    "drop_records": {"where": "x > 4"},
    "sample": {"fraction": 0.5},
    "suppress_key": {"variable": "x"},
}
ODD: list[Any] = [
    *(None, 0, -1, 5, 2.5, math.inf, math.nan, True, "", "x", "a\nb", b"b", [], (), {}, [1], ["a"], [None], [[1]]),
    *({"a": 1}, {1: 2}, {"a": None}, {None: 1}, object(), np.float64(3), np.int64(2), np.array([1, 2]), 10**30, 1e308),
    *({1, 2}, range(3), 1j, pl.Series([1, 2]), pd.Series([1, 2]), ["a", "a"], "no.csv", "no.grc"),
]
TABLE = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6] * 3, "k": ["a", "b"] * 9, "w": [1.0, 2.0, 3.0] * 6})
WHO = tc.Scenario(keys=["x", "k"], weight="w")


WAYS: dict[str, Any] = {
    "breaks": [3],
    "width": 2,
    "groups": 2,
    "quantiles": 2,
    "log_groups": 2,
    "mapping": {1: 2},
    "scheme": "1:1-3",
    "digits": 1,
    "hierarchy": STAR,
    "dates": "year",
}


def cases() -> Iterator[tuple[type[Step], dict[str, Any], list[str]]]:
    """Every step with the parameters it needs, and all that it has; of a step with several ways, each of them."""
    for step in own_steps():
        names = [each.name for each in parameters_of(step)]
        yield step, NEEDED.get(step.kind(), {}), names
        for way, its in step.ways.items():
            more = [each.name for each in parameters_of(its)]
            yield step, {"variables": ["x"], way: WAYS[way]}, [*more, "as_codes", "way"]


@pytest.mark.parametrize(("step", "needed", "names"), list(cases()), ids=lambda each: getattr(each, "section", ""))
def test_odd_parameters_are_taken_or_refused_in_one_sentence(
    step: type[Step], needed: dict[str, Any], names: list[str]
) -> None:
    """What is taken goes to a file and back, and can be applied; what is refused quotes no column."""
    for name in names:
        for value in ODD:
            given = {**needed, name: value}
            try:
                plan = tc.Plan([step(**given)])
                assert tc.Plan.from_toml(plan.to_toml()) == plan, given
                plan.apply(TABLE, WHO, seed=1)
            except TacitaError as error:
                text = str(error).replace("a\nb", "")
                assert text.endswith((".", "?")), given
                assert "\n" not in text, given


@pytest.mark.parametrize("step", own_steps(), ids=lambda step: step.section)
def test_every_parameter_is_declared(step: type[Step]) -> None:
    """With one line of documentation, and what it must be; so are those of every way."""
    for owner in (step, *step.ways.values()):
        for parameter in parameters_of(owner):
            assert parameter.doc.endswith("."), f"{parameter.name} of {owner.__name__} has no line of documentation"
            assert parameter.wanted, f"{parameter.name} of {owner.__name__} does not say what it must be"


def test_a_column_of_data_is_no_parameter() -> None:
    """It would be quoted by the next message, cell by cell."""
    for column in (pl.Series("income", [73519.5]), pd.Series([73519.5]), pl.DataFrame({"income": [73519.5]})):
        with pytest.raises(TacitaError) as refused:
            tc.Round(column, base=10)  # type: ignore[arg-type]
        kind = type(column).__name__
        assert str(refused.value) == f"variables of round must be plain values; got a {kind}, name its columns instead."


def test_parameters_of_numpy_and_pandas_become_plain() -> None:
    assert tc.Recode("x", breaks=np.array([18, 65])) == tc.Recode("x", breaks=[18, 65])
    assert tc.Remove(pd.DataFrame({"a": [1], "b": [2]}).columns).variables == ("a", "b")
    assert tc.Plan([tc.Generalise({"x": STAR}, seconds=np.int64(2))]).to_toml().count("seconds = 2") == 1


def test_empty_lists_are_no_parameters() -> None:
    assert tc.Recode("x", breaks=[1], mapping=None, labels=[], into=[]) == tc.Recode("x", breaks=[1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tc.Remove("x", label=5), "label must be a text; got 5."),  # type: ignore[arg-type]
        (lambda: tc.Recode("x", breaks=[1], into=5), "into must name 2 different groups, from the lowest on; got [5]."),
        (lambda: tc.Recode("x", groups=10**9), "groups must be at most 10,000; got 1000000000."),
        (lambda: tc.Recode("x", digits=1, length=10**9), "length must be at most 100; got 1000000000."),
        (
            lambda: tc.Generalise({"x": STAR}, weights=5),  # type: ignore[arg-type]
            "weights must be a table of names, as in {'age': ...}; got 5.",
        ),
        (lambda: tc.Generalise({"x": STAR}, c=None), "c must be a number; got None."),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        make()
    assert str(refused.value) == message


def test_numbers_beyond_64_bits_make_a_column_of_floats() -> None:
    table = pl.DataFrame({"x": [1, 2, 3]})
    made = tc.Plan([tc.BottomCode("x", at=10**30)]).apply(table, tc.Scenario(keys=["x"])).data
    assert made.table["x"].to_list() == [1e30] * 3
    made = tc.Plan([tc.Recode("x", width=10**30)]).apply(table, tc.Scenario(keys=["x"])).data
    assert made.table["x"].n_unique() == 1
