"""Figures of many keys between the points of a grid, held against figures of their own."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from test_latent import sample, scenario

from tacita import threads
from tacita.random import Draws
from tacita.risk.population.latent import class_loops, forecasts, points
from tacita.risk.population.latent.law import KNOTS, Law
from tacita.risk.population.latent.model import latent_model
from tacita.risk.population.latent.points import Points
from tacita.risk.population.latent.posterior import Population
from tacita.risk.population.latent.sample import Sample

pytestmark = pytest.mark.latent


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_KEYS", 100)


def some_keys(size: int = 40_000) -> tuple[Sample, np.ndarray]:
    """Keys of all kinds: great counts, fractions, shown by all or by most, with hardly any weight and much of it."""
    draws = np.random.default_rng(1)
    log_m = draws.normal(0.3, 2.0, size)
    f = 1.0 + draws.poisson(np.exp(np.minimum(log_m, 5)))
    f[:20] += 0.5
    weight = np.maximum(
        draws.choice([1.0, 1.01, 9.0, 20.0], size) + draws.gamma(2, 3, size) * draws.integers(0, 2, size), 1
    )
    return Sample(f, draws.choice([1.0, 0.97], size), weight, draws.random(size) > 0.01), log_m


LAWS = [
    Law(0.1 * np.sin(KNOTS), 1 + 0.3 * KNOTS, None, 0.0, 0.0),
    Law(0.2 * np.cos(KNOTS), 2 - 0.1 * KNOTS, 2 + 0.4 * KNOTS, 0.5, 0.0),
]


def moments(sample: Sample, log_m: np.ndarray, law: Law) -> tuple[np.ndarray, np.ndarray]:
    log_mean, log_shape, _ = law.at(log_m)
    return Population(sample, log_mean, log_shape, law.power).moments()


@pytest.mark.parametrize("law", LAWS)
def test_interpolated_figures_are_near_those_of_every_key(law: Law, few_are_many: None) -> None:
    sample, log_m = some_keys()
    found = Points.of(sample, log_m, [law])
    assert len(found.log_m) < len(log_m) / 2
    mean, variance = moments(sample, log_m, law)
    of_points = moments(found.sample, found.log_m, law)
    np.testing.assert_allclose(found.by_key(of_points[0]), mean, rtol=points.ACCURATE)
    assert found.by_key(of_points[0]).sum() == pytest.approx(mean.sum(), rel=1e-4)
    assert found.by_key(of_points[1]).sum() == pytest.approx(variance.sum(), rel=1e-3)


def test_polynomials_are_met_and_none_goes_across_a_knot(few_are_many: None) -> None:
    sample, log_m = some_keys()
    found = Points.of(sample, log_m, LAWS)

    def figure(of: Sample, log_m: np.ndarray) -> np.ndarray:
        bent = np.abs(log_m[:, None] - KNOTS).sum(axis=1) * (log_m - 1) ** 4
        others = np.log(np.maximum(of.mean_weight - of.shown, 1e-3))
        return bent + others**5 * log_m**2 + np.log(of.f) ** 3 + of.shown * log_m

    right = figure(sample, log_m)
    np.testing.assert_allclose(found.by_key(figure(found.sample, found.log_m)), right, rtol=1e-9, atol=1e-9)


def test_totals_by_point_add_up_to_those_by_key(few_are_many: None) -> None:
    sample, log_m = some_keys()
    found = Points.of(sample, log_m, LAWS)
    draws = np.random.default_rng(2)
    amount, figure = draws.random(len(log_m)), draws.random(len(found.log_m))
    assert found.totals(amount) @ figure == pytest.approx(amount @ found.by_key(figure), rel=1e-12)


def test_where_a_law_bends_too_much_every_key_has_its_own_figures(few_are_many: None) -> None:
    sample, log_m = some_keys(5_000)
    steep = Law(np.zeros(len(KNOTS)), 20.0 * np.sin(4 * KNOTS), None, 0.0, 0.0)
    found = Points.of(sample, log_m, [steep])
    assert found.grid is None
    np.testing.assert_array_equal(found.log_m, log_m)
    few = Points.of(sample.of(np.arange(100)), log_m[:100], LAWS)
    assert few.grid is None


def test_a_file_has_the_same_figures_with_interpolation(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(5)
    table = sample(20_000).with_columns(job=pl.Series(draws.integers(0, 12, 20_000)))
    who = scenario(keys=("region", "sex", "age", "status", "job"))
    right = latent_model(table, who)
    for name, value in {"MOST_KEYS": 100, "LEAST_OF_PATTERN": 10}.items():
        monkeypatch.setattr(points, name, value)
    usual = latent_model(table, who)
    assert all(each.points.grid is not None for _, each in usual.mixture.components)
    np.testing.assert_allclose(usual.risk, right.risk, rtol=points.ACCURATE)
    np.testing.assert_allclose(usual.mean_count, right.mean_count, rtol=points.ACCURATE)
    np.testing.assert_array_equal(usual.unique, right.unique)
    assert usual.expected() == pytest.approx(right.expected(), rel=1e-4)
    assert usual.interval() == pytest.approx(right.interval(), rel=1e-3)
    assert (usual.risk <= 1 / usual.mixture.sample.f).all()
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 1)
    alone = latent_model(table, who)
    np.testing.assert_array_equal(usual.risk, alone.risk)
    assert usual.interval() == alone.interval()


# The part that models are fitted to.


def test_a_part_has_about_as_many_cells_as_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "MOST_CELLS", 3_000)
    draws = np.random.default_rng(3)
    for count in (np.ones(9_000, dtype=np.int64), draws.integers(1, 2_000, 9_000), draws.geometric(0.2, 9_000)):
        part = forecasts.part_of(count, Draws(4))
        assert (part > 0).sum() == pytest.approx(3_000, rel=0.05)
        assert ((part >= 0) & (part <= count)).all()
    few = np.array([3, 1, 7])
    assert forecasts.part_of(few, Draws(4)).tolist() == few.tolist()


@pytest.mark.parametrize(("count", "share"), [(1, 0.3), (12, 0.6), (900, 0.9), (100_000, 0.02)])
def test_parts_of_counts_are_binomial(count: int, share: float) -> None:
    uniforms: Any = (np.arange(20_000) + 0.5) / 20_000
    taken = np.empty(20_000)
    class_loops.thinned(np.full(20_000, count), share, uniforms, taken)
    assert taken.mean() == pytest.approx(count * share, rel=0.01)
    assert taken.var() == pytest.approx(binom.var(count, share), rel=0.05)
    if count * -np.log1p(-share) < 500:
        np.testing.assert_array_equal(taken, binom.ppf(uniforms, count, share))
