"""Propensity scores: against a dense regression, saturated models by hand, the null, trees and permutations."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.loss.propensity.propensity_classes import intervals, most_frequent
from tacita.random import Draws

value = st.sampled_from(["a", "b", "c", None])
amount = st.sampled_from([-1.5, 0.0, 2.0, 7.25, None])
rows = st.lists(st.tuples(value, value, amount), min_size=2, max_size=12)
WHO = tc.Scenario(keys=["c", "d"])


def file(records: list[tuple[object, ...]]) -> Data:
    table = pl.DataFrame(records, schema={"c": pl.String, "d": pl.String, "n": pl.Float64}, orient="row")
    return Data.of(table, {"n": tc.Variable(scale="numeric")})


def slow_scores(design: np.ndarray, released: np.ndarray) -> np.ndarray:
    """A logistic regression by Newton's steps on the whole design matrix."""
    beta = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        weight = np.maximum(p * (1 - p), 1e-10)
        step = np.linalg.lstsq((design.T * weight) @ design, design.T @ (released - p), rcond=1e-10)[0]
        beta = beta + np.clip(step, -5, 5)
    return 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))


def dummies(labels: list[object]) -> np.ndarray:
    kinds = list(dict.fromkeys(labels))
    return np.array([[float(label == kind) for kind in kinds[1:]] for label in labels]).reshape(len(labels), -1)


@settings(max_examples=25)
@given(rows, rows, st.booleans())
def test_a_logistic_model_against_a_dense_one(
    before: list[tuple[object, ...]], after: list[tuple[object, ...]], linear: bool
) -> None:
    after = [*after, *([after[0]] if len(before) == len(after) else [])]
    every = [*before, *after]
    released = np.repeat([0.0, 1.0], [len(before), len(after)])
    found = tc.loss.propensity_loss(file(before), file(after), WHO, numbers="linear" if linear else "classes")
    parts = [dummies([row[at] for row in every]) for at in (0, 1)]
    numbers = np.array([np.nan if row[2] is None else float(str(row[2])) for row in every])
    if linear:
        parts += [np.nan_to_num(numbers)[:, None], np.isnan(numbers)[:, None].astype(float)]
    else:
        parts.append(dummies(intervals(numbers, len(before), 8).tolist()))
    design = np.column_stack([np.ones(len(every)), *parts])
    share = len(after) / len(every)
    wanted = float(np.mean((slow_scores(design, released) - share) ** 2))
    rank = int(np.linalg.matrix_rank(design))
    assert found.terms == rank
    assert found.pmse == pytest.approx(wanted, abs=2e-4)
    assert found.null.mean == pytest.approx((rank - 1) * (1 - share) ** 2 * share / len(every))
    assert found.null.sd == pytest.approx(math.sqrt(2 * (rank - 1)) * (1 - share) ** 2 * share / len(every))


def test_one_variable_by_hand() -> None:
    """A saturated model: the scores are the shares of the release in each class."""
    before = pl.DataFrame({"c": ["a"] * 6 + ["b"] * 4})
    after = pl.DataFrame({"c": ["a"] * 2 + ["b"] * 8})
    found = tc.loss.propensity_loss(before, after, tc.Scenario(keys=["c"]))
    wanted = (8 * (2 / 8 - 0.5) ** 2 + 12 * (8 / 12 - 0.5) ** 2) / 20
    assert found.pmse == pytest.approx(wanted, rel=1e-6)
    assert found.alone[0].pmse == pytest.approx(wanted)
    assert found.ratio == pytest.approx(wanted / (0.25 * 0.5 / 20), rel=1e-6)
    assert found.relative == pytest.approx(wanted / 0.25, rel=1e-6)
    assert found.contributions.tolist() == [1.0]


def test_two_way_terms_fit_the_cells() -> None:
    draw = np.random.default_rng(3)
    tables = [pl.DataFrame({name: draw.choice(["a", "b", "c"], 80) for name in "cd"}) for _ in range(2)]
    found = tc.loss.propensity_loss(*tables, WHO, two_way=True, pairs=True)
    (pair,) = found.pairs
    cells = pl.concat([table.with_columns(r=pl.lit(float(at))) for at, table in enumerate(tables)])
    shares = cells.with_columns(p=pl.col("r").mean().over("c", "d"))["p"].to_numpy()
    assert pair.pmse == pytest.approx(float(np.mean((shares - 0.5) ** 2)))
    assert found.pmse == pytest.approx(pair.pmse, rel=1e-6)
    assert found.terms == 9
    assert found.contributions.sum() == pytest.approx(1.0)


def test_the_null_is_what_samples_of_one_population_give() -> None:
    """A release drawn from the model of the original: the ratio is about 1, and its error a standard deviation."""
    ratios = []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        before = pl.DataFrame({name: draw.choice(["a", "b", "c"], 400) for name in "cd"})
        # Each variable is drawn from its shares in the original, as the right model has it.
        after = pl.DataFrame({name: draw.choice(before[name].to_numpy(), 399) for name in "cd"})
        ratios.append(tc.loss.propensity_loss(before, after, WHO).ratio)
    assert 0.6 < np.mean(ratios) < 1.4


def test_a_tree_by_hand_and_its_permutations() -> None:
    before = pl.DataFrame({"c": ["a"] * 35 + ["b"] * 25, "d": ["x", "y"] * 30})
    after = pl.DataFrame({"c": ["a"] * 15 + ["b"] * 45, "d": ["x", "y"] * 30})
    found = tc.loss.propensity_loss(before, after, WHO, model="tree", least_leaf=45, permutations=4, seed=9)
    assert found.terms == 2
    assert found.pmse == pytest.approx((50 * (15 / 50 - 0.5) ** 2 + 70 * (45 / 70 - 0.5) ** 2) / 120)
    assert found.contributions.tolist() == [1.0, 0.0]
    labels, scores = np.array(["a"] * 35 + ["b"] * 25 + ["a"] * 15 + ["b"] * 45), []
    d = np.array(["x", "y"] * 60)
    for at in range(4):
        order = np.argsort(Draws(9).step("propensity").uniform(np.arange(120), draw=at), kind="stable")
        released = np.repeat([0.0, 1.0], 60)[order]
        # Only one split leaves 45 records on either side: that with the greater gain.
        best = max(
            (sum((side := released[column == each]).sum() ** 2 / len(side) for each in np.unique(column)),
             np.mean([(released[column == each].mean() - 0.5) ** 2 for each in column]))
            for column in (labels, d)
        )  # fmt: skip
        scores.append(best[1])
    assert found.null.mean == pytest.approx(0.5 * np.mean(scores))
    assert found.null.sd == pytest.approx(0.5 * np.std(scores, ddof=1))


def test_the_most_frequent_categories_are_told_apart() -> None:
    codes = np.array([1, 1, 2, 3, 3, 3, 0, 4])
    assert most_frequent(codes, 6, 2).tolist() == [2, 2, 3, 1, 1, 1, 3, 3]


def test_the_variable_that_was_changed_gives_the_release_away() -> None:
    survey = tc.household_survey(300, population=6000)
    noisy = survey.data.with_columns({"income": survey.data.numbers("income") * 1.5 + 1000})
    found = tc.loss.propensity_loss(survey.data, noisy, survey.scenario)
    assert found.variables[int(np.argmax(found.contributions))] == "income"
    assert found.ratio > 2


def test_a_model_that_is_too_large_is_refused() -> None:
    draw = np.random.default_rng(1)
    table = pl.DataFrame({f"v{at}": draw.integers(0, 15, 200).astype(str) for at in range(6)})
    with pytest.raises(TacitaError, match=r"the propensity model would have .* coefficients"):
        tc.loss.propensity_loss(table, table, tc.Scenario(keys=["v1"]), two_way=True, classes=12)


def test_the_same_file_cannot_be_told_apart() -> None:
    table = pl.DataFrame({"c": ["a", "b"] * 4, "d": ["x"] * 8})
    found = tc.loss.propensity_loss(table, table, WHO)
    assert (found.relative, found.pmse) == (0, 0)
    assert any("chance is smaller" in caution for caution in found.cautions)
