"""gamma, Pearson's and Kendall's correlations, and what makes them singular: by hand, by loops and by combinations."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data, Variable
from tacita.loss.numbers.correlations import (
    correlation,
    covariance,
    dependent_variables,
    kendall_correlation,
    rank_correlation,
)

WHO = tc.Scenario(numeric_keys=["a"])


def slow_pearson(x: list[float], y: list[float], w: list[float]) -> float:
    whole = math.fsum(w)
    mx, my = (math.fsum(a * b for a, b in zip(z, w, strict=True)) / whole for z in (x, y))
    xy, xx, yy = (
        math.fsum(c * (a - p) * (b - q) for a, b, c in zip(one, two, w, strict=True))
        for one, two, p, q in ((x, y, mx, my), (x, x, mx, mx), (y, y, my, my))
    )
    return xy / math.sqrt(xx * yy) if len(set(x)) > 1 and len(set(y)) > 1 else math.nan


def sign(number: float) -> int:
    return int(number > 0) - int(number < 0)


def slow_kendall(x: list[float], y: list[float], w: list[float]) -> float:
    pairs = [(w[i] * w[j], sign(x[i] - x[j]), sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    both = math.fsum(weight * a * b for weight, a, b in pairs)
    mine, other = (math.fsum(weight * each[k] ** 2 for each in pairs for weight in [each[0]]) for k in (1, 2))
    return both / math.sqrt(mine * other) if mine and other else math.nan


def slow_ranks(x: list[float]) -> list[float]:
    return [sum(other < each for other in x) + (sum(other == each for other in x) + 1) / 2 for each in x]


number = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 10.0])
rows = st.lists(st.tuples(number, number, number, st.sampled_from([1.0, 2.5, 7.0])), min_size=2, max_size=15)


@settings(max_examples=40)
@given(rows, st.booleans())
def test_correlations_against_loops(given: list[Any], weighted: bool) -> None:
    values = np.array([each[:3] for each in given])
    w = [each[3] if weighted else 1.0 for each in given]
    weights = np.array(w) if weighted else None
    found = [each(values, weights) for each in (correlation, kendall_correlation, rank_correlation)]
    for i, j in combinations(range(3), 2):
        x, y = values[:, i].tolist(), values[:, j].tolist()
        slow = [slow_pearson(x, y, w), slow_kendall(x, y, w), slow_pearson(slow_ranks(x), slow_ranks(y), w)]
        assert [each[i, j] for each in found] == pytest.approx(slow, abs=1e-12, nan_ok=True)
    if not weighted:
        assert covariance(values) == pytest.approx(np.cov(values.T))


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_many_values_are_sorted_instead_of_counted(seed: int) -> None:
    """Beyond a million cells the table of both columns is not made; the figure is the same."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(1100, 2))
    pairs = [(i, j) for i, j in combinations(range(60), 2)]
    small = values[:60]
    slow = sum(sign(small[i, 0] - small[j, 0]) * sign(small[i, 1] - small[j, 1]) for i, j in pairs) / len(pairs)
    assert kendall_correlation(small)[0, 1] == pytest.approx(slow)
    both = np.sign(values[:, None] - values[None])
    assert kendall_correlation(values)[0, 1] == pytest.approx(
        float((both[..., 0] * both[..., 1]).sum()) / (1100 * 1099)
    )


def test_gamma_by_hand() -> None:
    """Two variables: both diagonals are equal, whatever the correlation; three: worked out from the definition."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=(30, 3)), draw.normal(size=(30, 3))
    x[:, 2] += x[:, 0]
    names = ["a", "b", "c"]
    first, second = (pl.DataFrame(dict(zip(names, each.T, strict=True))) for each in (x, y))
    assert tc.loss.correlation_loss(first, second, WHO, variables=["a", "b"]).gamma == pytest.approx(0, abs=1e-15)
    found = tc.loss.correlation_loss(first, second, WHO)
    diagonals = []
    for values in (x, y):
        matrix = np.corrcoef(values.T)
        minors = [np.linalg.det(np.delete(np.delete(matrix, at, 0), at, 1)) / np.linalg.det(matrix) for at in range(3)]
        diagonals.append([each / math.sqrt(sum(other**2 for other in minors)) for each in minors])
    gamma = math.sqrt(sum((a - b) ** 2 for a, b in zip(*diagonals, strict=True)) / 2)
    assert found.gamma == pytest.approx(gamma, abs=1e-12)
    assert found.to_frame().height == 3
    assert found.largest_difference == pytest.approx(np.abs(np.corrcoef(x.T) - np.corrcoef(y.T)).max())
    assert tc.loss.correlation_loss(first, first.select(-pl.all()), WHO).gamma == pytest.approx(0, abs=1e-12)


def test_ordinal_variables_count_for_kendall() -> None:
    about = {"a": Variable(scale="ordinal", order=("low", "mid", "high"))}
    first = Data.of(pl.DataFrame({"a": ["low", "mid", "high", "mid"], "b": [1.5, 2.0, 9.0, 3.0]}), about)
    second = Data.of(pl.DataFrame({"a": ["mid", "mid", "high", "low"], "b": [1.5, 2.0, 9.0, 3.0]}), about)
    found = tc.loss.correlation_loss(first, second, tc.Scenario(keys=["a"]), method="kendall")
    assert found.variables == ("a", "b")
    # 5 of 6 pairs of a are not tied, all of b: 5 agree before; after, 3 agree and 2 do not.
    assert (found.before[0, 1], found.after[0, 1]) == pytest.approx((5 / math.sqrt(30), 1 / math.sqrt(30)))
    assert "Kendall's tau-b" in str(found)


def test_missing_values_are_left_out_and_weights_count() -> None:
    first = pl.DataFrame({"a": [1.0, 2, 3, None, 7], "b": [2.0, 1, 5, 5, 1], "w": [1.0, 1, 2, 1, 1]})
    second = first.with_columns(b=pl.Series([2.0, 1, 4, 5, None]))
    who = tc.Scenario(numeric_keys=["a"], weight="w")
    found = tc.loss.correlation_loss(first, second, who)
    assert (found.records, found.left_out) == (3, 2)
    assert found.before[0, 1] == pytest.approx(slow_pearson([1, 2, 3], [2, 1, 5], [1, 1, 2]))
    assert tc.loss.correlation_loss(first, second, who, weighted=False).weight is None
    assert "2 records with missing values left out" in str(found)


# What is singular.


def slow_dependent(values: np.ndarray) -> int:
    """The size of the smallest set of columns, less their means, of which one is a combination of the others."""
    moved = values - values.mean(axis=0)
    for size in range(1, values.shape[1] + 1):
        for columns in combinations(range(values.shape[1]), size):
            if np.linalg.matrix_rank(moved[:, columns], tol=1e-8) < size:
                return size
    return 0


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 4), min_size=3, max_size=8))
def test_the_smallest_set_is_found(given: list[Any]) -> None:
    values = np.array(given, dtype=np.float64)
    assert len(dependent_variables(correlation(values))) == slow_dependent(values)


def test_the_error_names_the_variables() -> None:
    draw = np.random.default_rng(1)
    good = pl.DataFrame({name: draw.normal(size=20) for name in "abcd"})
    each = "each is a sum of multiples of the others"
    for bad, message in [
        (good.with_columns(d=pl.col("a") + pl.col("b")), f"of 'a', 'b', 'd' {each}; leave one"),
        (good.with_columns(d=2 - 3 * pl.col("c")), f"of 'c', 'd' {each}; leave one"),
        (good.with_columns(c=pl.lit(0.1)), "'c' does not vary; leave it"),
    ]:  # fmt: skip
        for what, files in (("original", (bad, good)), ("released", (good, bad))):
            with pytest.raises(tc.TacitaError) as error:
                tc.loss.correlation_loss(*files, WHO)
            assert str(error.value) == (
                f"the correlation matrix of the {what} file is singular: {message} out with variables=[...]."
            )


def test_many_variables_of_which_twenty_depend_on_each_other() -> None:
    """Too many sets to try: variables are left out as long as the rest is singular."""
    draw = np.random.default_rng(2)
    values = draw.normal(size=(100, 40))
    values[:, 39] = values[:, 5:24].sum(axis=1)
    assert dependent_variables(correlation(values)) == (*range(5, 24), 39)
    assert dependent_variables(correlation(values[:, :39])) == ()


def test_other_mistakes() -> None:
    data = pl.DataFrame({"a": [1.0, 2.0, None], "b": [None, None, 3.0], "c": ["x", "y", "z"]})
    for words, message in [
        (
            {"variables": ["a"]},
            "correlations need at least two numeric variables that both files have; pass variables=[...].",
        ),
        ({}, "no record shows all variables in both files; name fewer in variables=[...]."),
        (
            {"variables": ["a", "c"], "method": "kendall"},
            "variables must be numeric or ordinal in both files; 'c' is not.",
        ),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.loss.correlation_loss(data, data, WHO, **words)  # type: ignore[arg-type]
        assert str(error.value) == message
