"""Own statistics and regressions: against normal equations by hand, functions of any kind of table, mistakes."""

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.formula import parse_regression
from tacita.loss.estimates.regression import solved
from tacita.loss.estimates.resampling import times_drawn
from tacita.random import Draws

WHO = tc.Scenario(keys=["c"], weight="w")
rows = st.lists(
    st.tuples(
        st.sampled_from([-1.5, 0.0, 2.0, 7.25, None]),
        st.sampled_from([20.0, 31.0, 45.0, 60.0]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([1, 2, 3]),
        st.sampled_from([1.0, 2.5]),
    ),
    min_size=6,
    max_size=14,
)
SCHEMA = {"n": pl.Float64, "age": pl.Float64, "c": pl.String, "u": pl.Int64, "w": pl.Float64}


def file(records: list[tuple[Any, ...]]) -> Data:
    return Data.of(pl.DataFrame(records, schema=SCHEMA, orient="row"))


def slow_fit(records: list[tuple[Any, ...]], *, clusters: bool) -> tuple[list[float], list[float]]:
    """n on a constant, age and class b: normal equations, and a sandwich of the scores of units."""
    shown = [row for row in records if row[0] is not None]
    x = np.array([[1.0, row[1], float(row[2] == "b")] for row in shown])
    y, w = (np.array([row[at] for row in shown]) for at in (0, 4))
    bread = np.linalg.inv(x.T @ (w[:, None] * x))
    beta = bread @ x.T @ (w * y)
    scores = [bread @ (x[at] * w[at] * (y[at] - x[at] @ beta)) for at in range(len(shown))]
    names = [row[3] if clusters else at for at, row in enumerate(shown)]
    every = {row[3] for row in records} if clusters else set(range(len(records)))
    totals = [sum((s for s, name in zip(scores, names, strict=True) if name == each), np.zeros(3)) for each in every]
    mean = sum(totals, np.zeros(3)) / len(totals)
    variance = len(totals) / (len(totals) - 1) * sum((total - mean) ** 2 for total in totals)
    return beta.tolist(), np.sqrt(variance).tolist()


def regular(records: list[tuple[Any, ...]]) -> bool:
    shown = [row for row in records if row[0] is not None]
    x = np.array([[1.0, row[1], float(row[2] == "b")] for row in shown]).reshape(-1, 3)
    units = {row[3] for row in records}
    return len(shown) > 3 and np.linalg.matrix_rank(x) == 3 and len(units) > 1


@settings(max_examples=40)
@given(rows, rows, st.booleans())
def test_a_regression_against_normal_equations(
    before: list[tuple[Any, ...]], after: list[tuple[Any, ...]], clusters: bool
) -> None:
    # Both classes in both files, and another length, so that nothing is taken for a recoding.
    before = [(2.0, 20.0, "a", 1, 1.0), (0.5, 45.0, "b", 2, 1.0), *before]
    after = [*before[:2], *after, *([after[0]] if len(before) == len(after) + 2 else [])]
    if not (regular(before) and regular(after)):
        return
    how: dict[str, Any] = {"clusters": ["u"]} if clusters else {}
    found = tc.loss.statistic_loss(file(before), file(after), WHO, formula="n ~ age + C(c)", **how)
    assert [each.name for each in found.figures_compared] == ["constant", "age", "c [2]"]
    for side, records in (("before", before), ("after", after)):
        beta, errors = slow_fit(records, clusters=clusters)
        for each, value, error in zip(found.figures_compared, beta, errors, strict=True):
            assert getattr(each, side) == pytest.approx(value, abs=1e-8)
            assert getattr(each, f"error_{side}") == pytest.approx(error, abs=1e-8)


def test_classical_errors_by_hand() -> None:
    """y = 1, 2, 4 on x = 0, 1, 2: slope 3/2, residual variance 1/6, error sqrt(1/6 / 2)."""
    table = pl.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, 2.0, 4.0]})
    found = tc.loss.statistic_loss(table, table, tc.Scenario(keys=["x"]), formula="y ~ x", errors="classical")
    slope = found.figures_compared[1]
    assert (slope.before, slope.error_before) == (pytest.approx(1.5), pytest.approx(math.sqrt(1 / 12)))
    assert found.overlap == pytest.approx(1.0)
    assert found.loss == pytest.approx(0.0, abs=1e-12)


def test_a_logistic_regression_by_hand() -> None:
    """One variable of two classes: the coefficients are log-odds, errors those of White on shares."""
    table = pl.DataFrame({"c": ["a"] * 8 + ["b"] * 12, "y": [1, 1, 0, 0, 0, 0, 0, 0, *([1] * 9), 0, 0, 0]})
    found = tc.loss.statistic_loss(
        table, table, tc.Scenario(keys=["c"]), formula="y ~ c", model="logistic", errors="classical"
    )
    constant, slope = found.figures_compared
    assert constant.before == pytest.approx(math.log(2 / 6))
    assert slope.before == pytest.approx(math.log(9 / 3) - math.log(2 / 6))
    assert slope.error_before == pytest.approx(math.sqrt(1 / 2 + 1 / 6 + 1 / 9 + 1 / 3))
    words = table.with_columns(y=pl.Series(["no", "yes"]).gather(table["y"]))
    found = tc.loss.statistic_loss(words, words, tc.Scenario(keys=["c"]), formula="y ~ c", model="logistic")
    assert found.figures_compared[1].before == pytest.approx(slope.before)


def test_interactions_and_models_without_constant() -> None:
    draw = np.random.default_rng(2)
    classes = {"a": draw.choice(["p", "q"], 40), "b": draw.choice(["r", "s"], 40)}
    table = pl.DataFrame({"y": draw.normal(size=40), **classes})
    who = tc.Scenario(keys=["a"])

    def names(formula: str) -> list[str]:
        found = tc.loss.statistic_loss(table, table, who, formula=formula)
        assert not any(math.isnan(each.before) for each in found.figures_compared)
        return [each.name for each in found.figures_compared]

    assert names("y ~ a*b") == ["constant", "a [2]", "b [2]", "a [2]:b [2]"]
    assert names("y ~ 0 + a + b") == ["a [1]", "a [2]", "b [2]"]
    assert names("y ~ a - 1") == ["a [1]", "a [2]"]
    assert names("y ~ 1") == ["constant"]


def test_signs_and_significance_that_changed() -> None:
    x = np.arange(20.0)
    before = pl.DataFrame({"x": x, "y": 2 * x + np.sin(7 * x)})
    after = pl.DataFrame({"x": x, "y": -0.01 * x + 5 * np.sin(7 * x)})
    found = tc.loss.statistic_loss(before, after, tc.Scenario(keys=["x"]), formula="y ~ x")
    assert (found.figures_compared[1].sign_changed, found.significance_changed >= 1) == (True, True)
    assert "changed their sign" in str(found)


def test_a_category_that_is_gone_has_no_coefficient() -> None:
    before = pl.DataFrame({"c": ["a", "b", "c"] * 5, "y": np.arange(15.0)})
    after = before.with_columns(c=pl.Series(["a", "b", None] * 5))
    found = tc.loss.statistic_loss(before, after, tc.Scenario(keys=["c"]), formula="y ~ c")
    assert found.lost == 1
    assert "1 cannot be had from the release" in str(found)
    assert "c [c]" in found.to_frame(values=True)["name"].to_list()
    assert "c [c]" not in str(found)


def test_columns_that_others_tell_have_no_coefficient() -> None:
    x = np.column_stack([np.ones(5), np.arange(5.0), 2 * np.arange(5.0) + 1, np.arange(5.0) ** 2])
    found = solved(x, np.array([1.0, 2.0, 4.0, 7.0, 12.0]), np.ones(5))
    assert found.kept.tolist() == [True, True, False, True]
    assert np.isnan(found.coefficients[2])


def test_a_function_of_any_kind_of_table_by_hand() -> None:
    table = pl.DataFrame({"c": ["a", "b"], "n": [1.0, 3.0]})
    after = table.with_columns(n=pl.Series([2.0, 4.0]))
    who = tc.Scenario(keys=["c"])
    for kind in (pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow):
        seen: list[Any] = []

        def statistic(given: Any, seen: list[Any] = seen) -> float:
            seen.append(type(given))
            return float(np.mean(np.asarray(given["n"])))

        found = tc.loss.statistic_loss(kind(table), kind(after), who, statistic=statistic)
        assert seen == [type(kind(table))] * 2
        assert (found.figures_compared[0].before, found.figures_compared[0].after, found.loss) == (2.0, 3.0, 0.5)


def by_class(table: pd.DataFrame) -> Any:
    return table.groupby("c")["n"].mean()


def test_a_series_of_figures_by_category_shows_no_category() -> None:
    table = pd.DataFrame({"c": ["secret", "other", "secret"], "n": [1.0, 3.0, 5.0]})
    found = tc.loss.statistic_loss(table, table, tc.Scenario(keys=["c"]), statistic=by_class)
    assert [each.name for each in found.figures_compared] == ["figure 1", "figure 2"]
    assert "secret" not in str(found) + found.to_json()
    assert found.to_frame(values=True)["name"].to_list() == ["other", "secret"]


def test_the_users_table_is_not_changed() -> None:
    table = pd.DataFrame({"c": ["a", "b"], "n": [1.0, 3.0]})

    def greedy(given: pd.DataFrame) -> list[float]:
        given["n"] = 0.0
        return [1.0, 2.0]

    found = tc.loss.statistic_loss(table, table, tc.Scenario(keys=["c"]), statistic=greedy)
    assert [each.name for each in found.figures_compared] == ["1", "2"]
    assert table["n"].tolist() == [1.0, 3.0]


def test_the_bootstrap_against_loops() -> None:
    values = np.random.default_rng(4).normal(size=30)
    before, after = (pl.DataFrame({"c": ["a"] * 30, "n": values + shift}) for shift in (0.0, 0.1))

    def mean(given: pl.DataFrame) -> float:
        return float(given["n"].to_numpy().mean())

    found = tc.loss.statistic_loss(before, after, tc.Scenario(keys=["c"]), statistic=mean, replicates=8, seed=2)
    draws = Draws(2).step("statistic")
    again = [np.repeat(values, times_drawn(draws, np.arange(1, 31), draw)).mean() for draw in range(8)]
    (figure,) = found.figures_compared
    assert figure.error_before == pytest.approx(np.std(again, ddof=1))
    assert figure.standardised == pytest.approx(0.1 / np.std(again, ddof=1))


def fails(table: Any) -> float:
    raise KeyError("a cell")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"statistic": fails}, "the statistic failed on the original file (KeyError); try it on that table by itself."),
        (
            {"statistic": str},
            "the statistic must return a number, a mapping of names to numbers, or an array of numbers.",
        ),
        ({"formula": "n ~ C(c", "statistic": None}, "formula 'n ~ C(c' must have one variable in C(...); "),
        ({"formula": "n age"}, "formula 'n age' must have one variable before its '~'; "),
        ({"formula": "n ~ n"}, "formula 'n ~ n' explains 'n' by itself; take it out on the right."),
        ({"formula": "n ~ c c"}, "formula 'n ~ c c' ends too early at 'c'; "),
        ({"formula": "n ~ 0"}, "formula 'n ~ 0' names no variable and no constant; "),
        (
            {"formula": "n ~ c", "model": "logistic"},
            "'n' must be 0 and 1, or two categories, to be explained by a logistic regression.",
        ),
        (
            {"statistic": len, "formula": "n ~ c"},
            "a statistic takes no formula, strata or replicate weights; it has errors by bootstrap",
        ),
    ],
)
def test_mistakes(how: dict[str, Any], message: str) -> None:
    table = pl.DataFrame({"c": ["a", "b", "a"], "n": [1.0, 3.5, 2.0]})
    with pytest.raises(TacitaError) as error:
        tc.loss.statistic_loss(table, table, tc.Scenario(keys=["c"]), **how)
    assert str(error.value).startswith(message)


def test_formulas_of_regressions() -> None:
    found = parse_regression("`my income` ~ age*C(sex) + `year ~ birth`")
    assert found.response == "my income"
    assert [sorted(term) for term in found.terms] == [["age"], ["sex"], ["age", "sex"], ["year ~ birth"]]
    assert (found.categorical, found.constant) == ({"sex"}, True)
    assert found.names == ("my income", "age", "sex", "year ~ birth")
    assert not parse_regression("y ~ x - 1").constant
    assert not parse_regression("y ~ x + 0").constant
