"""The copula: correlations against quadrature, distributions kept, worked by hand."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

import tacita as tc
from tacita.data import Data
from tacita.protect.synthesise.columns import column_of
from tacita.protect.synthesise.copula import (
    binned,
    group_scores,
    latent_correlations,
    middle_scores,
    nearest_correlation,
)


def test_the_tetrachoric_correlation_of_halves_is_a_sine() -> None:
    """Two variables cut at their medians, equal in a share s of records: r = sin(pi (s - 1/2)), Sheppard 1899."""
    for equal in (10, 30, 40):
        both = np.repeat([0, 1], 50), np.array([0] * equal + [1] * (50 - equal) + [1] * equal + [0] * (50 - equal))
        found = latent_correlations([each.astype(np.int64) for each in both], np.ones(100))
        assert found[0, 1] == pytest.approx(np.sin(np.pi * (equal / 50 - 0.5)), abs=2e-3)


@pytest.mark.parametrize("r", [-0.8, 0.3, 0.7])
def test_correlations_of_cut_variables_are_found_again(r: float) -> None:
    """Shares of the cells of two cut normal variables, from their distribution function, give r back."""
    ends = np.array([-np.inf, -0.5, 0.4, 1.2, np.inf]), np.array([-np.inf, 0.3, np.inf])
    both = multivariate_normal([0, 0], [[1, r], [r, 1]])
    clip = [np.clip(each, -9, 9) for each in ends]
    upto = np.array([[both.cdf([x, y]) for y in clip[1]] for x in clip[0]])
    cells = np.diff(np.diff(upto, axis=0), axis=1)
    one, other = (each.ravel().astype(np.int64) for each in np.indices(cells.shape))
    found = latent_correlations([one, other], cells.ravel())
    assert found[0, 1] == pytest.approx(r, abs=2e-3)


def test_scores_are_means_of_stretches_of_a_normal_variable() -> None:
    """Halves of a standard normal variable have the means -sqrt(2/pi) and sqrt(2/pi); weights count."""
    scores, coefficients = group_scores(np.array([0, 1, 1]), np.array([2.0, 1.0, 1.0]))
    assert scores == pytest.approx([-np.sqrt(2 / np.pi), np.sqrt(2 / np.pi)])
    assert coefficients[0] == pytest.approx(2 / np.pi)
    assert coefficients[1] == pytest.approx(0)


def test_scores_and_groups_by_hand() -> None:
    ranks = np.array([0, 0, 1, 2])
    assert middle_scores(ranks, np.ones(4)) == pytest.approx(norm.ppf([0.25, 0.25, 0.625, 0.875]))
    assert binned(ranks, np.ones(4)).tolist() == [0, 0, 1, 2]
    assert len(set(binned(np.arange(1000), np.ones(1000)).tolist())) == 50


def test_a_matrix_of_correlations_is_made_positive_definite() -> None:
    wrong = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    found = nearest_correlation(wrong)
    assert np.linalg.eigvalsh(found).min() > 0
    assert np.diag(found) == pytest.approx([1, 1, 1])


def test_distributions_and_correlations_are_kept() -> None:
    """Skewed numbers with zeros and missing values, beside categories: shares within four standard errors."""
    draw = np.random.default_rng(5)
    n = 4000
    size = draw.normal(size=n)
    sales = np.exp(size + draw.normal(size=n)).round(2)
    sales[size < -1] = 0.0
    table = pl.DataFrame(
        {
            "class": np.digitize(size + 0.5 * draw.normal(size=n), [-1, 0.5]),
            "sales": [None if gone else value for gone, value in zip(draw.random(n) < 0.1, sales, strict=True)],
            "costs": sales * np.exp(0.3 * draw.normal(size=n)),
        }
    )
    release = tc.Plan([tc.Synthesise(method="copula")]).apply(table, tc.Scenario(keys=["class"]), seed=3).data.table
    for name, value in (("class", 1), ("sales", 0.0), ("sales", None)):
        before, after = (float(each[name].eq_missing(value).mean()) for each in (table, release))
        assert after == pytest.approx(before, abs=4 * np.sqrt(before * (1 - before) / n)), name
    ranks = [each.drop_nulls().select(pl.corr("sales", "costs", method="spearman")).item() for each in (table, release)]
    assert ranks[1] == pytest.approx(ranks[0], abs=0.03)
    assert set(release["sales"]) <= set(table["sales"])


def test_missing_values_and_codes_are_drawn_apart() -> None:
    data = Data.of(
        pl.DataFrame({"x": [3.0, None, 0.0, -9.0, 3.0], "y": ["a", None, "b", "a", "b"], "z": [1, 2, 1, 2, 1]}),
        {"x": tc.Variable(scale="numeric", missing=(-9.0,))},
    )
    x, y, z = (column_of(data, name, np.arange(5)).ranks() for name in "xyz")
    assert {name: ranks.tolist() for name, ranks in x.items()} == {"kind": [0, 1, 0, 2, 0], "value": [1, -1, 0, -1, 1]}
    assert {name: ranks.tolist() for name, ranks in y.items()} == {"kind": [0, 1, 0, 0, 0], "value": [0, -1, 1, 0, 1]}
    assert {name: ranks.tolist() for name, ranks in z.items()} == {"value": [0, 1, 0, 1, 0]}
