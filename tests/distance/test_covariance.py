"""The minimum covariance determinant: against all subsets, outliers, order of rows, change of scale."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from tacita.check import TacitaError
from tacita.distance.covariance import mcd, small_sample_factor, squared_distance
from tacita.random import Draws

DRAWS = Draws(seed=7)


def values_of(n: int, p: int, seed: int = 1) -> np.ndarray:
    draw = np.random.default_rng(seed)
    mixed: np.ndarray = draw.normal(size=(n, p)) @ (np.eye(p) + 0.5)
    return mixed


@pytest.mark.parametrize(("n", "p"), [(9, 1), (12, 1), (9, 2), (11, 2), (11, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_no_subset_has_a_smaller_determinant(n: int, p: int, seed: int) -> None:
    values = values_of(n, p, seed)
    size = (n + p + 1) // 2
    least = min(np.linalg.det(np.atleast_2d(np.cov(values[list(rows)].T))) for rows in combinations(range(n), size))
    found = mcd(values, DRAWS)
    assert len(found.best) == size
    assert found.criterion == pytest.approx(np.log(least), rel=1e-9)
    assert found.raw_centre == pytest.approx(values[found.best].mean(axis=0))


@pytest.mark.parametrize("n", [200, 5000])
def test_outliers_change_little(n: int) -> None:
    values = values_of(n, 3)
    wild = values.copy()
    wild[: n // 5] = 1000.0 + 50.0 * wild[: n // 5]
    found = mcd(wild, DRAWS)
    assert not found.used[: n // 5].any()
    # The factor takes the records left out for the tails of the others, so only the shape is that of the core.
    shapes = [matrix / np.linalg.det(matrix) ** (1 / 3) for matrix in (found.covariance, np.cov(values[n // 5 :].T))]
    assert shapes[0] == pytest.approx(shapes[1], abs=0.1)
    assert np.linalg.norm(found.centre) < 0.5


def test_normal_data_get_their_own_covariance() -> None:
    values = values_of(20_000, 2)
    found = mcd(values, DRAWS)
    assert found.covariance == pytest.approx(np.cov(values.T), rel=0.05)
    assert found.raw_covariance == pytest.approx(np.cov(values.T), rel=0.1)
    far = squared_distance(values, found.raw_centre, found.raw_covariance) >= chi2.ppf(0.975, 2)
    assert np.array_equal(found.used, ~far)


def test_the_order_of_rows_makes_no_difference() -> None:
    values, order = values_of(800, 3), np.random.default_rng(2).permutation(800)
    plain = mcd(values, DRAWS, records=np.arange(800))
    mixed = mcd(values[order], DRAWS, records=order)
    assert sorted(order[mixed.best].tolist()) == plain.best.tolist()
    assert mixed.covariance == pytest.approx(plain.covariance, rel=1e-9)


def test_units_change_the_covariance_as_they_should() -> None:
    values, unit = values_of(300, 3), np.array([1e-6, 1.0, 1e6])
    plain, scaled = mcd(values, DRAWS), mcd(values * unit + 5.0, DRAWS)
    assert scaled.best.tolist() == plain.best.tolist()
    assert scaled.covariance == pytest.approx(plain.covariance * np.outer(unit, unit), rel=1e-6)


def test_all_records_in_the_subset_give_the_ordinary_covariance() -> None:
    values = values_of(50, 2)
    found = mcd(values, DRAWS, share=1.0)
    assert found.raw_covariance == pytest.approx(np.cov(values.T))


@pytest.mark.parametrize("p", [1, 2, 5, 13])
@pytest.mark.parametrize("reweighted", [False, True])
def test_small_samples_are_corrected_upwards(p: int, reweighted: bool) -> None:
    factors = [small_sample_factor(p, n, 0.5, reweighted=reweighted) for n in (5 * p + 20, 500, 100_000)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] == pytest.approx(1.0, abs=0.01)
    assert min(factors) >= 1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((4, 2)), "a robust covariance of 2 variables needs more than 4 complete records; got 4."),
        (
            np.column_stack([np.arange(9.0), np.ones(9)]),
            "a robust covariance needs variables that vary; leave out constant ones.",
        ),
        (
            np.column_stack([np.arange(9.0), 2 * np.arange(9.0)]),
            "the robust covariance of 2 variables is singular: in most records some of them are equal, constant or a "
            "sum of others; leave those out.",
        ),
        (
            np.array([[1.0]] * 8 + [[2.0]]),
            "the robust covariance of 1 variable is singular: in most records some of them are equal, constant or a "
            "sum of others; leave those out.",
        ),
    ],
)
def test_what_has_no_robust_covariance(values: np.ndarray, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        mcd(values, DRAWS)
    assert str(error.value) == message
