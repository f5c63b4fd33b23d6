"""Poisson log-linear models: by hand, against dense least squares, and IPF against Newton."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.risk.population.loglinear_risk import model
from tacita.risk.population.loglinear_risk.design import Cells, Design, Effect
from tacita.risk.population.loglinear_risk.model import (
    allowed_cells,
    deviance,
    newton_fit,
    pivoted,
    propagated_variances,
    proportional_fit,
)


def cells_of(table: Floats) -> Cells:
    index = np.flatnonzero(table)
    return Cells(table.shape, index, table.reshape(-1)[index].astype(float))


def dense_design(shape: tuple[int, ...], effects: Sequence[Effect], values: dict[int, Floats]) -> Floats:
    """One row per cell and every indicator, first levels and all that others span too."""
    rows = []
    for cell in itertools.product(*(range(length) for length in shape)):
        row = [1.0]
        for effect in effects:
            number = math.prod(values[axis][cell[axis]] for axis in effect.linear)
            for levels in itertools.product(*(range(shape[axis]) for axis in effect.factors)):
                row.append(number * all(cell[a] == level for a, level in zip(effect.factors, levels, strict=True)))
        rows.append(row)
    return np.array(rows)


def dense_fit(X: Floats, f: Floats, exposure: Floats, steps: int = 60) -> Floats:
    """Iteratively weighted least squares, by the book."""
    eta = np.log((f + 0.1) / exposure)
    for _ in range(steps):
        mu = exposure * np.exp(eta)
        root = np.sqrt(mu)
        working = eta + (f - mu) / mu
        eta = X @ np.linalg.lstsq(root[:, None] * X, root * working, rcond=None)[0]
    return exposure * np.exp(eta)


def closed(factors: tuple[int, ...], linear: tuple[int, ...] = ()) -> list[Effect]:
    subsets = itertools.chain.from_iterable(itertools.combinations(factors, n) for n in range(len(factors) + 1))
    return [Effect(subset, linear) for subset in subsets if subset or linear]


tables = arrays(np.int64, st.tuples(*[st.integers(1, 4)] * 3), elements=st.integers(0, 6)).filter(lambda t: t.sum() > 0)


class TestByHand:
    TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])
    INDEPENDENT = np.array([[1.2, 1.8], [2.8, 4.2]])

    def test_independence_of_two_by_two(self) -> None:
        fit = proportional_fit(cells_of(self.TABLE), [(0,), (1,)])
        np.testing.assert_allclose(fit.mean, self.INDEPENDENT, rtol=1e-14)
        lacking = 1 * math.log(1 / 1.2) + 2 * math.log(2 / 1.8) + 3 * math.log(3 / 2.8) + 4 * math.log(4 / 4.2)
        assert fit.deviance == pytest.approx(2 * lacking, rel=1e-12)
        assert (fit.parameters, fit.converged) == (3, True)

    def test_newton_on_the_same(self) -> None:
        fit = newton_fit(cells_of(self.TABLE), Design((2, 2), [Effect((0,)), Effect((1,))]))
        np.testing.assert_allclose(fit.mean, self.INDEPENDENT, rtol=1e-9)
        assert (fit.parameters, fit.converged) == (3, True)

    def test_saturated(self) -> None:
        fit = proportional_fit(cells_of(self.TABLE), [(0, 1)])
        np.testing.assert_allclose(fit.mean, self.TABLE, rtol=1e-14)
        assert fit.deviance == pytest.approx(0.0, abs=1e-12)
        assert fit.parameters == 4

    def test_exposure(self) -> None:
        # f = 6, 3 with exposure 2, 1 and nothing but a constant: mean 9/3 per unit of exposure.
        fit = newton_fit(cells_of(np.array([5.0, 4.0])), Design((2,), []), exposure=np.array([2.0, 1.0]))
        np.testing.assert_allclose(fit.mean, [6.0, 3.0], rtol=1e-10)

    def test_linear_variable_with_two_values_is_a_factor(self) -> None:
        design = Design((2, 2), [Effect((1,)), Effect((), (0,))], {0: np.array([1990.0, 2020.0])})
        np.testing.assert_allclose(newton_fit(cells_of(self.TABLE), design).mean, self.INDEPENDENT, rtol=1e-9)

    def test_declared_zeros(self) -> None:
        # A diagonal that cannot occur: quasi-independence keeps the margins, and the odds ratio off the diagonal is 1:
        # m12 m23 m31 = m13 m21 m32.
        table = np.array([[0.0, 4, 2], [3, 0, 5], [1, 6, 0]])
        possible = 1.0 - np.eye(3)
        fit = proportional_fit(cells_of(table), [(0,), (1,)], possible)
        m = fit.mean
        assert np.array_equal(np.diag(m), np.zeros(3))
        np.testing.assert_allclose(m.sum(axis=0), table.sum(axis=0), rtol=1e-9)
        np.testing.assert_allclose(m.sum(axis=1), table.sum(axis=1), rtol=1e-9)
        assert m[0, 1] * m[1, 2] * m[2, 0] == pytest.approx(m[0, 2] * m[1, 0] * m[2, 1], rel=1e-8)
        newton = newton_fit(cells_of(table), Design((3, 3), [Effect((0,)), Effect((1,))]), possible)
        np.testing.assert_allclose(newton.mean, m, atol=1e-8)


class TestDesign:
    EFFECTS = (*closed((0, 2)), *closed((2,), (1,)), *closed((0, 3)))
    SHAPE = (3, 4, 2, 3)

    @pytest.fixture
    def design(self) -> Design:
        covariate = np.random.default_rng(1).normal(size=self.SHAPE)
        return Design(self.SHAPE, list(dict.fromkeys(self.EFFECTS)), {1: np.array([0.5, 2.0, 4.0, 9.0])}, covariate)

    @pytest.fixture
    def matrix(self, design: Design) -> Floats:
        return np.column_stack([design.predictor(unit).reshape(-1) for unit in np.eye(design.size)])

    def test_spans_what_the_indicators_span(self, design: Design, matrix: Floats) -> None:
        indicators = dense_design(self.SHAPE, self.EFFECTS, {1: np.array([0.5, 2.0, 4.0, 9.0])})
        without_covariate = matrix[:, :-1]
        rank = np.linalg.matrix_rank(indicators)
        assert without_covariate.shape[1] == rank == np.linalg.matrix_rank(without_covariate)
        assert np.linalg.matrix_rank(np.column_stack([indicators, without_covariate])) == rank

    def test_products(self, design: Design, matrix: Floats) -> None:
        array = np.random.default_rng(2).random(self.SHAPE)
        np.testing.assert_allclose(design.sums(array), matrix.T @ array.reshape(-1), rtol=1e-10, atol=1e-12)
        full = (matrix.T * array.reshape(-1)) @ matrix
        np.testing.assert_allclose(design.cross_product(array), full, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(design.diagonal(array), np.diag(full), rtol=1e-10, atol=1e-10)

    def test_sums_of_listed_cells(self, design: Design) -> None:
        table = np.random.default_rng(3).poisson(0.4, self.SHAPE).astype(float)
        np.testing.assert_allclose(design.sums(cells_of(table)), design.sums(table), rtol=1e-12, atol=1e-12)

    def test_variable_with_one_level(self) -> None:
        design = Design((1, 3), [Effect((0,)), Effect((1,)), Effect((0, 1))])
        assert design.size == 3
        table = np.array([[2.0, 1.0, 5.0]])
        np.testing.assert_allclose(newton_fit(cells_of(table), design).mean, table, rtol=1e-9)


class TestAgainstDenseLeastSquares:
    @pytest.mark.parametrize("seed", range(6))
    def test_factors_linear_variables_and_exposure(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        shape = (3, 5, 2)
        f = generator.poisson(3.0, shape).astype(float)
        values = {1: np.array([18.0, 25, 40, 61, 90])}
        effects = list(dict.fromkeys([*closed((0, 2)), *closed((0,), (1,)), Effect((), (1,))]))
        exposure = generator.uniform(0.5, 2.0, shape)
        fit = newton_fit(cells_of(f), Design(shape, effects, values), exposure=exposure)
        expected = dense_fit(dense_design(shape, effects, values), f.reshape(-1), exposure.reshape(-1))
        np.testing.assert_allclose(fit.mean.reshape(-1), expected, rtol=1e-7)
        assert fit.converged

    @pytest.mark.parametrize("seed", range(4))
    def test_ipf_with_exposure(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        shape = (3, 2, 4)
        f = generator.poisson(4.0, shape) + 1.0
        exposure = generator.uniform(0.5, 2.0, shape)
        fit = proportional_fit(cells_of(f), [(0, 1), (1, 2), (0, 2)], exposure)
        effects = [*closed((0, 1)), *closed((1, 2)), *closed((0, 2))]
        expected = dense_fit(dense_design(shape, effects, {}), f.reshape(-1), exposure.reshape(-1))
        np.testing.assert_allclose(fit.mean.reshape(-1), expected, rtol=1e-7)

    @pytest.mark.parametrize("seed", range(3))
    def test_covariate(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        shape = (3, 4)
        f, covariate = generator.poisson(5.0, shape) + 1.0, generator.normal(size=shape)
        effects = [Effect((0,)), Effect((1,))]
        fit = newton_fit(cells_of(f), Design(shape, effects, {}, covariate))
        X = np.column_stack([dense_design(shape, effects, {}), covariate.reshape(-1)])
        np.testing.assert_allclose(fit.mean.reshape(-1), dense_fit(X, f.reshape(-1), np.ones(12)), rtol=1e-7)
        assert fit.parameters == 1 + 2 + 3 + 1

    def test_collinear_columns_are_left_out(self) -> None:
        f = np.random.default_rng(0).poisson(4.0, (4, 4)) + 1.0
        same = {0: np.array([1.0, 2, 3, 4])}
        once = newton_fit(cells_of(f), Design((4, 4), [Effect((1,)), Effect((), (0,))], same))
        # The covariate is the same variable again.
        again = np.broadcast_to(100 - 7 * same[0][:, None], (4, 4))
        twice = newton_fit(cells_of(f), Design((4, 4), [Effect((1,)), Effect((), (0,))], same, again))
        np.testing.assert_allclose(twice.mean, once.mean, rtol=1e-8)
        assert twice.parameters == once.parameters == 5

    @pytest.mark.parametrize("origin", [0.0, 1950.0, 1e5])
    def test_origin_of_a_linear_variable_does_not_matter(self, origin: float) -> None:
        f = np.random.default_rng(4).poisson(3.0, (6, 5, 2)) + 1.0
        effects = [Effect((2,)), *closed((2,), (0,)), Effect((), (1,)), Effect((), (0, 1))]
        plain = {0: np.arange(6.0), 1: np.arange(5.0)}
        moved = {axis: values + origin for axis, values in plain.items()}
        expected = newton_fit(cells_of(f), Design((6, 5, 2), effects, plain))
        fit = newton_fit(cells_of(f), Design((6, 5, 2), effects, moved))
        assert fit.parameters == expected.parameters
        np.testing.assert_allclose(fit.mean, expected.mean, rtol=1e-6)

    def test_interaction_of_linear_variables_alone_is_not_moved(self) -> None:
        # Without main effects x y and (x - a)(y - b) are different models.
        f = np.random.default_rng(5).poisson(3.0, (3, 4)) + 1.0
        values = {0: np.array([1.0, 2, 4]), 1: np.array([1.0, 3, 5, 6])}
        fit = newton_fit(cells_of(f), Design((3, 4), [Effect((), (0, 1))], values))
        X = dense_design((3, 4), [Effect((), (0, 1))], values)
        np.testing.assert_allclose(fit.mean.reshape(-1), dense_fit(X, f.reshape(-1), np.ones(12)), rtol=1e-7)


class TestProportionalFitting:
    @given(tables)
    def test_independence_is_the_product_of_the_margins(self, table: Floats) -> None:
        fit = proportional_fit(cells_of(table), [(0,), (1,), (2,)])
        n = table.sum()
        shares = [table.sum(axis=tuple({0, 1, 2} - {axis}), keepdims=True) / n for axis in range(3)]
        np.testing.assert_allclose(fit.mean, n * shares[0] * shares[1] * shares[2], rtol=1e-12, atol=1e-14)
        assert fit.parameters == 1 + sum(int(np.count_nonzero(share)) - 1 for share in shares)

    @given(tables)
    def test_conditional_independence_in_closed_form(self, table: Floats) -> None:
        fit = proportional_fit(cells_of(table), [(0, 1), (1, 2)])
        middle = table.sum(axis=(0, 2), keepdims=True)
        product = table.sum(axis=2, keepdims=True) * table.sum(axis=0, keepdims=True)
        expected = np.divide(product, middle, out=np.zeros(product.shape), where=middle > 0)
        np.testing.assert_allclose(fit.mean, expected, rtol=1e-9, atol=1e-12)

    @given(tables)
    def test_parts_fitted_apart_are_the_whole(self, table: Floats) -> None:
        apart = proportional_fit(cells_of(table), [(0, 2), (1,)])
        whole = proportional_fit(cells_of(table), [(0, 2), (1,)], np.ones(table.shape))
        np.testing.assert_allclose(apart.mean, whole.mean, rtol=1e-9, atol=1e-12)
        assert apart.parameters == whole.parameters

    @pytest.mark.parametrize("seed", range(8))
    def test_equals_newton_with_zero_margins(self, seed: int) -> None:
        table = np.random.default_rng(seed).poisson(0.9, (4, 5, 3)).astype(float)
        table[0, 1] = table[2, :, 1] = 0.0
        cells, generators = cells_of(table), [(0, 1), (1, 2), (0, 2)]
        effects = list(dict.fromkeys([*closed((0, 1)), *closed((1, 2)), *closed((0, 2))]))
        ipf = proportional_fit(cells, generators)
        newton = newton_fit(cells, Design(table.shape, effects), allowed_cells(cells, effects))
        assert np.array_equal(ipf.mean[0, 1], np.zeros(3))
        assert np.array_equal(newton.mean[0, 1], np.zeros(3))
        assert np.array_equal(newton.mean[2, :, 1], np.zeros(5))
        assert newton.deviance == pytest.approx(ipf.deviance, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(newton.mean, ipf.mean, atol=2e-4)

    @pytest.mark.parametrize("seed", range(8))
    def test_parameters_are_the_rank_of_the_design(self, seed: int) -> None:
        table = np.random.default_rng(seed).poisson(0.7, (3, 4, 2)).astype(float)
        cells, generators = cells_of(table), [(0, 1), (1, 2)]
        effects = [*closed((0, 1)), *closed((1, 2))]
        allowed = allowed_cells(cells, effects).reshape(-1) > 0
        rank = np.linalg.matrix_rank(dense_design(table.shape, effects, {})[allowed])
        assert proportional_fit(cells, generators).parameters == rank

    def test_fit_on_the_boundary(self) -> None:
        # No margin is zero, yet without the interaction of three the means of two cells are driven to zero.
        table = np.array([[[0.0, 4], [3, 5]], [[6, 2], [7, 0]]])
        effects = list(dict.fromkeys([*closed((0, 1)), *closed((1, 2)), *closed((0, 2))]))
        ipf = proportional_fit(cells_of(table), [(0, 1), (1, 2), (0, 2)])
        newton = newton_fit(cells_of(table), Design((2, 2, 2), effects))
        assert not ipf.converged
        assert newton.converged
        assert newton.deviance == pytest.approx(0.0, abs=1e-6)
        np.testing.assert_allclose(newton.mean, table, atol=1e-6)
        np.testing.assert_allclose(ipf.mean, table, atol=0.05)

    def test_deviance_of_the_counts_themselves_is_zero(self) -> None:
        table = np.array([[3.0, 0.0], [1.0, 2.0]])
        assert deviance(cells_of(table), table) == 0.0


class TestPropagatedVariance:
    SHAPE = (4, 3, 2)
    EFFECTS = (*closed((0, 1)), Effect((2,)))

    def setup_method(self) -> None:
        generator = np.random.default_rng(6)
        table = generator.poisson(2.0, self.SHAPE) + 0.0
        table[1, 2] = 0.0
        self.cells = cells_of(table)
        self.design = Design(self.SHAPE, self.EFFECTS)
        self.mean = newton_fit(self.cells, self.design, allowed_cells(self.cells, self.EFFECTS)).mean
        self.slopes = [
            Cells(self.SHAPE, self.cells.index[:5], generator.normal(size=5)),
            Cells(self.SHAPE, self.cells.index[3:6], generator.normal(size=3)),
        ]
        X = dense_design(self.SHAPE, self.EFFECTS, {})
        inverse = np.linalg.pinv((X.T * self.mean.reshape(-1)) @ X)
        self.directions = [inverse @ (X[slope.index].T @ slope.response) for slope in self.slopes]
        self.X = X

    def test_by_the_dense_formula(self) -> None:
        expected = [
            slope.response @ self.X[slope.index] @ direction
            for slope, direction in zip(self.slopes, self.directions, strict=True)
        ]
        np.testing.assert_allclose(propagated_variances(self.design, self.mean, self.slopes), expected, rtol=1e-8)

    def test_noise_of_another_kind(self) -> None:
        noise = Cells(self.SHAPE, self.cells.index, np.linspace(0.5, 3.0, len(self.cells.index)))
        expected = [float(noise.response @ (self.X[noise.index] @ direction) ** 2) for direction in self.directions]
        found = propagated_variances(self.design, self.mean, self.slopes, noise)
        np.testing.assert_allclose(found, expected, rtol=1e-8)

    def test_without_the_information_in_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dense = propagated_variances(self.design, self.mean, self.slopes)
        monkeypatch.setattr(model, "MOST_PARAMETERS", 5)
        np.testing.assert_allclose(propagated_variances(self.design, self.mean, self.slopes), dense, rtol=1e-3)


def test_pivoting_finds_the_rank() -> None:
    X = np.random.default_rng(7).normal(size=(30, 6))
    X[:, 2] = X[:, 0] - 2 * X[:, 5]
    X[:, 4] = 0.0
    columns = pivoted(X.T @ X).columns
    assert len(columns) == 4
    assert np.linalg.matrix_rank(X[:, columns]) == 4


def test_too_many_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_PARAMETERS", 3)
    message = (
        "^a model with numeric keys or a weight covariate can have 3 parameters; this one has 4, leave out "
        r"interactions of keys with many values or make all keys factors\.$"
    )
    with pytest.raises(TacitaError, match=message):
        newton_fit(cells_of(np.ones((2, 2))), Design((2, 2), closed((0, 1))))
