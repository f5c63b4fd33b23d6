"""The regression behind masking against a slow twin, and by hand."""

import numpy as np
import pytest
import slow_model as slow

from tacita.protect.model.model_values import Fit, category_columns, moved_tails, number_columns, regression


def problem(seed: int, size: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Response, other numbers with gaps, which of those are zeros, categories, weights; ties and duplicate rows."""
    draw = np.random.default_rng(seed)
    n = size or int(draw.integers(20, 80))
    common = draw.normal(size=n)
    y = np.round(common + 0.5 * draw.normal(size=n), 1)
    others = np.column_stack([common + draw.normal(size=n), draw.normal(size=n), np.ones(n)])
    zero = draw.random(others.shape) < [0.3, 0.05, 0.0]
    gone = zero | (draw.random(others.shape) < [0.2, 0.05, 0.0])
    others[gone] = np.nan
    codes = np.column_stack([draw.integers(0, 4, n), np.where(draw.random(n) < 0.05, 2, 1)])
    weight = draw.uniform(1, 20, n) if seed % 2 else np.ones(n)
    if n > 4:
        y[-2:], others[-2:], zero[-2:], codes[-2:] = y[:2], others[:2], zero[:2], codes[:2]
    return y, others, zero, codes, weight


@pytest.mark.parametrize(("tail", "factor"), [(0.1, 1.0), (0.5, 3.0), (0.0, 2.0)])
@pytest.mark.parametrize("seed", range(12))
def test_masked_values_are_those_of_the_twin(seed: int, tail: float, factor: float) -> None:
    y, others, zero, codes, weight = problem(seed)
    numbers, categories = number_columns(others, zero), category_columns(codes)
    twin_numbers, twin_categories = slow.predictors(others.T.tolist(), zero.T.tolist(), codes.T.tolist())
    for ours, twins in ((numbers, twin_numbers), (categories, twin_categories)):
        assert len(ours) == len(twins)
        assert all(np.allclose(one, other, atol=1e-12) for one, other in zip(ours, twins, strict=True))
    fit = regression(y, numbers, categories, weight)
    expected = slow.masked(y.tolist(), twin_numbers, twin_categories, weight.tolist(), tail, factor)
    np.testing.assert_allclose(moved_tails(fit, y, tail, factor), expected, atol=1e-8)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 11])
def test_few_records_are_fitted_by_fewer_columns(size: int) -> None:
    """Never so many columns that the fit comes near the values."""
    for seed in range(5):
        y, others, zero, codes, weight = problem(seed, size)
        numbers, categories = number_columns(others, zero), category_columns(codes)
        fit = regression(y, numbers, categories, weight)
        assert size >= 2 * fit.columns + 2 or fit.columns == 0
        twin = slow.masked(
            y.tolist(),
            *([c.tolist() for c in columns] for columns in (numbers, categories)),
            weight.tolist(),
            0.2,
            2,
        )
        np.testing.assert_allclose(moved_tails(fit, y, 0.2, 2.0), twin, atol=1e-8)


def test_a_line_by_hand() -> None:
    """y = 1, 2, 2, 3 on x = 0, 1, 2, 3: slope 0.6, constant 1.1, residuals -.1 .3 -.3 .1, s^2 = .2/2."""
    fit = regression(np.array([1.0, 2.0, 2.0, 3.0]), [np.arange(4.0)], [], np.ones(4))
    assert fit.fitted.tolist() == pytest.approx([1.1, 1.7, 2.3, 2.9])
    assert fit.deviation == pytest.approx(np.sqrt(0.1))
    assert fit.columns == 1


def test_tails_by_hand() -> None:
    """n = 9, v = .1 .. .9, q = .2: the smallest moves by F s (.2 - .1)/.2 = half of F s; v = .2 is no tail."""
    fit = Fit(np.zeros(9), 0.5, 0)
    moved = moved_tails(fit, np.arange(9.0), tail=0.2, factor=3.0)
    assert moved.tolist() == pytest.approx([0.75, 0, 0, 0, 0, 0, 0, 0, -0.75])


def test_equal_numbers_have_one_rank() -> None:
    moved = moved_tails(Fit(np.zeros(4), 1.0, 0), np.full(4, 7.0), tail=0.1, factor=1.0)
    assert moved.tolist() == [0.0] * 4


def test_a_category_of_few_is_not_told_apart() -> None:
    """An indicator of one record would fit it exactly."""
    codes = np.array([[1]] * 20 + [[2]] * 5 + [[3]] * 4)
    (only,) = category_columns(codes)
    assert only.tolist() == [0.0] * 20 + [1.0] * 5 + [0.0] * 4


def test_zeros_and_missing_numbers_have_indicators() -> None:
    number = np.array([[1.0]] * 6 + [[3.0]] * 6 + [[np.nan]] * 10)
    zero = np.array([[False]] * 12 + [[True]] * 5 + [[False]] * 5)
    columns = number_columns(number, zero)
    assert columns[0].tolist() == [1.0] * 6 + [3.0] * 6 + [2.0] * 10
    assert columns[1].tolist() == [0.0] * 12 + [1.0] * 5 + [0.0] * 5
    assert columns[2].tolist() == [0.0] * 17 + [1.0] * 5
