"""The model behind shuffling against a slow twin, and by hand."""

import numpy as np
import pytest
import slow_shuffle as slow

from tacita.protect.shuffle.predictors import indicators
from tacita.protect.shuffle.rank_model import (
    conditional,
    correlations,
    drawn_scores,
    explained,
    mid_ranks,
    normal_scores,
    places_by_rank,
    standardised,
)


def columns(seed: int, missing: bool) -> np.ndarray:
    """Two variables and three predictors: skewed, with ties, zeros and duplicate rows; some missing."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(12, 40))
    size = draw.normal(size=n)
    values = np.column_stack(
        [
            np.exp(size + draw.normal(size=n)),
            np.where(draw.random(n) < 0.3, 0.0, np.rint(np.exp(size))),
            size + draw.normal(size=n),
            draw.integers(1, 4, n).astype(float),
            (size + draw.normal(size=n) > 0).astype(float),
        ]
    )
    values[-2:] = values[:2]
    if missing:
        values[draw.random(values.shape) < 0.15] = np.nan
    return values


BY_RANK = np.array([True, True, True, True, False])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_scores_and_correlations_are_those_of_the_twin(seed: int, missing: bool) -> None:
    values = columns(seed, missing)
    for column in values.T:
        twin = [slow.mid_rank(value, column.tolist()) for value in column if not np.isnan(value)]
        assert mid_ranks(column)[~np.isnan(column)].tolist() == twin
    expected = np.column_stack([slow.scores(column.tolist()) for column in values.T])
    np.testing.assert_allclose(normal_scores(values), expected, atol=1e-12)
    np.testing.assert_allclose(
        standardised(values), np.column_stack([slow.standardised(column.tolist()) for column in values.T]), atol=1e-12
    )
    found = correlations(values, BY_RANK)
    listed = [column.tolist() for column in values.T]
    twin_matrix = np.array(
        [
            [
                1.0 if i == j else slow.correlation(listed[i], listed[j], bool(BY_RANK[i] and BY_RANK[j]))
                for j in range(5)
            ]
            for i in range(5)
        ]
    )
    if np.linalg.eigvalsh(twin_matrix)[0] >= 0:
        np.testing.assert_allclose(found, twin_matrix, atol=1e-12)
    else:
        assert np.linalg.eigvalsh(found)[0] > -1e-9
        assert np.diag(found).tolist() == [1.0] * 5


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_drawn_scores_are_those_of_the_twin(seed: int, missing: bool) -> None:
    """Without noise the expected scores; with it their covariance is what the predictors leave open."""
    values = columns(seed, missing)
    matrix = correlations(values, BY_RANK)
    known = standardised(normal_scores(values[:, 2:]))
    expected = slow.expected_scores(known.tolist(), matrix.tolist(), 2)
    np.testing.assert_allclose(drawn_scores(known, matrix, np.zeros((len(known), 2))), expected, atol=1e-8)
    beta, root = conditional(matrix, 2, np.array([2, 3, 4]))
    left = matrix[:2, :2] - matrix[:2, 2:] @ np.linalg.solve(matrix[2:, 2:], matrix[2:, :2])
    np.testing.assert_allclose(root @ root.T, left, atol=1e-8)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(left), 1 - explained(matrix, 2), atol=1e-8)
    normals = np.random.default_rng(seed).normal(size=(len(known), 2))
    complete = np.flatnonzero(~np.isnan(known).any(axis=1))
    drawn = drawn_scores(known, matrix, normals)
    np.testing.assert_allclose(drawn[complete], (known @ beta)[complete] + normals[complete] @ root, atol=1e-8)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_values_are_dealt_as_the_twin_deals(seed: int, missing: bool) -> None:
    values = columns(seed, missing)
    drawn = np.random.default_rng(seed).normal(size=values.shape)
    for column, score in zip(values.T, drawn.T, strict=True):
        source = places_by_rank(column, score)
        np.testing.assert_array_equal(column[source], slow.dealt(column.tolist(), score.tolist()))
        assert sorted(source.tolist()) == list(range(len(column)))


def test_spearman_by_hand() -> None:
    """Ranks 1 2 3 4 and 1 2 4 3: rho = 1 - 6 * 2 / (4 * 15) = 0.8, r = 2 sin(0.8 pi / 6)."""
    values = np.column_stack([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 9.0, 7.0]])
    found = correlations(values, np.array([True, True]))
    assert found[0, 1] == pytest.approx(2 * np.sin(0.8 * np.pi / 6), abs=1e-14)


def test_one_predictor_by_hand() -> None:
    """beta = r, and what is left has variance 1 - r^2."""
    beta, root = conditional(np.array([[1.0, 0.6], [0.6, 1.0]]), 1, np.array([1]))
    assert beta[0, 0] == pytest.approx(0.6)
    assert root[0, 0] == pytest.approx(0.8)


def test_predictors_that_say_the_same_count_once() -> None:
    matrix = np.array([[1.0, 0.6, 0.6], [0.6, 1.0, 1.0], [0.6, 1.0, 1.0]])
    beta, root = conditional(matrix, 1, np.array([1, 2]))
    assert beta[:, 0].tolist() == pytest.approx([0.3, 0.3])
    assert root[0, 0] == pytest.approx(0.8)


@pytest.mark.parametrize("column", [[], [3.0], [np.nan, np.nan], [2.0, 2.0, 2.0], [np.nan, 4.0]])
def test_columns_with_nothing_to_rank(column: list[float]) -> None:
    values = np.column_stack([column, np.arange(len(column), dtype=float)])
    assert standardised(normal_scores(values))[~np.isnan(values[:, 0]), 0].tolist() == [0.0] * sum(
        not np.isnan(value) for value in column
    )
    assert correlations(values, np.array([True, True])).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert np.array_equal(
        values[places_by_rank(values[:, 0], np.arange(len(column))[::-1]), 0], values[:, 0], equal_nan=True
    )


def test_a_matrix_that_is_none_is_mended() -> None:
    """Of available cases: x goes with y, y with z, but x against z, each in other records."""
    gap = [np.nan] * 4
    up, down = [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]
    values = np.column_stack([[*up, *gap, *up], [*up, *up, *gap], [*gap, *up, *down]])
    found = correlations(values, np.ones(3, dtype=bool))
    assert np.linalg.eigvalsh(found)[0] > -1e-12
    assert found[0, 1] == pytest.approx(0.5)
    assert found[0, 2] == pytest.approx(-0.5)


def test_indicators_leave_out_the_usual_and_the_rare() -> None:
    codes = np.array([1] * 9 + [2] * 5 + [3] * 4 + [0] * 2)
    (only,) = indicators(codes)
    assert only[:18].tolist() == [0.0] * 9 + [1.0] * 5 + [0.0] * 4
    assert np.isnan(only[18:]).all()
    assert indicators(np.zeros(3, dtype=np.int64)) == []
