"""The kernel of the individual risk against closed forms, published figures, 40 digits and brute force."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.risk.identity.negative_binomial import (
    approximate_reciprocal,
    expected_reciprocal,
    population_quantile,
    reciprocal_variance,
)

Kernel = Callable[[npt.ArrayLike, npt.ArrayLike], npt.NDArray[np.float64]]

# Whole numbers on both sides of the change of formula (30), neighbours of whole numbers, halves, fractions below 1.
COUNTS = [1, 2, 3, 5, 12, 29, 30, 31, 100, 1e3, 1e5]
COUNTS += [
    1 + 1e-12,
    2 - 1e-9,
    2 + 1e-9,
    3 + 1e-5,
    1.0099,
    1.0101,
    1.5,
    2.5,
    7.3,
    29.5,
    29.99,
    1234.5,
    0.05,
    0.3,
    0.5,
    0.99,
]
SHARES = [1.01e-7, 1e-5, 1e-3, 0.1, 0.4, 0.4999999, 0.5, 0.7, 0.99, 1 - 1e-6, 1 - 1e-12, 1.0]

counts = st.one_of(
    st.integers(1, 60).map(float),
    st.floats(1, 60),
    st.integers(1, 100_000).map(float),
    st.builds(lambda whole, log10: whole + 10.0**log10, st.integers(1, 40), st.floats(-14, -1)),
)
shares = st.one_of(
    st.floats(-7, 0).map(lambda log10: 10.0**log10).filter(lambda p: p > 1e-7),
    st.floats(-15, -1).map(lambda log10: 1 - 10.0**log10),
).filter(lambda p: p < 1)


def mp_expected(f: float, p: float) -> mpmath.mpf:
    f, p = mpmath.mpf(f), mpmath.mpf(p)
    return p / f * mpmath.hyp2f1(1, 1, f + 1, 1 - p)


def mp_variance(f: float, p: float) -> mpmath.mpf:
    """E[1/F^2] = integral_0^inf t E[exp(-tF)] dt by the trapezoid rule in ln t, less the squared mean."""
    mean = mp_expected(f, p)
    f, p = mpmath.mpf(f), mpmath.mpf(p)
    step, total = mpmath.mpf(1) / 8, mpmath.mpf(0)
    middle = mpmath.log(p / f)
    t, ratio = mpmath.exp(middle - 48), mpmath.exp(step)
    while True:
        value = t**2 * mpmath.exp(-f * (t + mpmath.log1p(-(1 - p) * mpmath.expm1(-t) / p)))
        total += value
        if mpmath.log(t) > middle and value < total * mpmath.mpf(10) ** -40:
            return step * total - mean**2
        t *= ratio


def relative_error(value: float, reference: mpmath.mpf) -> float:
    return float(abs(mpmath.mpf(float(value)) / reference - 1))


@pytest.fixture(autouse=True)
def forty_digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


class TestExpectedReciprocal:
    @pytest.mark.parametrize("p", [1e-7, 0.001, 0.3, 0.5, 0.8])
    def test_one_record_by_hand(self, p: float) -> None:
        assert expected_reciprocal([1.0], [p])[0] == pytest.approx(p * math.log(1 / p) / (1 - p), rel=1e-14)

    def test_two_records_by_hand(self) -> None:
        # J_2 = (1 - p J_1) / z with p = 1/2: r_2 = 1 - ln 2.  And r_3 = 1/2 - r_2 = ln 2 - 1/2.
        np.testing.assert_allclose(
            expected_reciprocal([2, 3], 0.5), [1 - math.log(2), math.log(2) - 0.5], rtol=1e-14, atol=0
        )

    def test_half_a_record_by_hand(self) -> None:
        # r_{1/2} = integral_0^1 u^(-1/2) / (1 + u z/p) du = 2 arctan(3) / 3 for p = 1/10, z/p = 9.
        assert expected_reciprocal([0.5], [0.1])[0] == pytest.approx(2 * math.atan(3) / 3, rel=1e-14)

    def test_whole_population_in_the_sample(self) -> None:
        f = np.array([0.3, 1, 2, 2.5, 7, 29, 30, 1e5])
        np.testing.assert_array_equal(expected_reciprocal(f, 1.0), 1 / f)

    def test_published_figures(self) -> None:
        f, population = np.array([3, 5]), np.array([1565.106, 2850.792])
        np.testing.assert_allclose(
            expected_reciprocal(f, f / population), [0.0009565982, 0.0004382187], rtol=0, atol=6e-11
        )

    def test_grid_against_40_digits(self) -> None:
        f, p = (axis.ravel() for axis in np.meshgrid(COUNTS, SHARES))
        errors = [
            relative_error(r, mp_expected(*pair))
            for r, *pair in zip(expected_reciprocal(f, p), f.tolist(), p.tolist(), strict=True)
        ]
        assert max(errors) <= 1e-12

    @given(counts, shares)
    @settings(max_examples=200, deadline=None)
    def test_any_pair_against_40_digits(self, f: float, p: float) -> None:
        with mpmath.workdps(40):
            assert relative_error(expected_reciprocal([f], [p])[0], mp_expected(f, p)) <= 1e-12

    @given(counts, shares)
    @settings(max_examples=100, deadline=None)
    def test_between_the_bounds(self, f: float, p: float) -> None:
        # Jensen: E[1/F] >= 1/E[F] = p/f; and F >= f.
        risk = expected_reciprocal([f], [p])[0]
        assert p / f * (1 - 1e-14) <= risk <= 1 / f


class TestApproximateReciprocal:
    def test_published_figures(self) -> None:
        # The first two records of the reference program's worked example; the population counts are its own, unrounded.
        f, population = np.array([3, 5]), np.array([1565.1063356104482, 2850.7919532541619])
        np.testing.assert_allclose(
            approximate_reciprocal(f, f / population), [0.0009574837, 0.0004382825], rtol=0, atol=6e-11
        )

    def test_exact_up_to_two(self) -> None:
        f = np.array([0.7, 1, 1.5, 2])
        np.testing.assert_array_equal(approximate_reciprocal(f, 0.02), expected_reciprocal(f, 0.02))
        assert approximate_reciprocal([2.5], [0.02])[0] == pytest.approx(0.02 / 1.52, rel=1e-14)

    def test_whole_population_in_the_sample(self) -> None:
        f = np.array([1, 1.5, 2, 3, 10])
        np.testing.assert_array_equal(approximate_reciprocal(f, np.ones(5)), 1 / f)

    @given(st.floats(2.001, 1e4), st.floats(1e-7, 0.99))
    @settings(max_examples=100, deadline=None)
    def test_a_little_above_the_exact_risk(self, f: float, p: float) -> None:
        exact = expected_reciprocal([f], [p])[0]
        assert exact * (1 - 1e-12) <= approximate_reciprocal([f], [p])[0] <= 1.12 * exact


class TestReciprocalVariance:
    def test_one_record_by_hand(self) -> None:
        # Li2(1/2) = pi^2/12 - ln(2)^2/2, p/z = 1, r = ln 2.
        expected = math.pi**2 / 12 - 1.5 * math.log(2) ** 2
        assert reciprocal_variance([1], [0.5])[0] == pytest.approx(expected, rel=1e-12)
        assert reciprocal_variance([1], [math.nextafter(0.5, 0)])[0] == pytest.approx(expected, rel=1e-12)

    def test_nearly_the_whole_population(self) -> None:
        # To first order in z: F = f + 1 with probability f z, so the variance is f z (1/f - 1/(f+1))^2.
        f, z = np.array([1, 2, 2.5, 40.0]), 2.0**-40
        np.testing.assert_allclose(reciprocal_variance(f, 1 - z), z / (f * (f + 1) ** 2), rtol=1e-9, atol=0)

    def test_whole_population_in_the_sample(self) -> None:
        np.testing.assert_array_equal(reciprocal_variance([0.5, 1, 2.5, 30, 1e5], 1.0), np.zeros(5))

    @pytest.mark.parametrize("f", [0.4, 1, 1.5, 2, 2 + 1e-9, 5, 9.7, 29, 29.6, 30, 64.5])
    @pytest.mark.parametrize("p", [0.03, 0.2, 0.4999, 0.5, 0.8, 0.999])
    def test_direct_sum(self, f: float, p: float) -> None:
        h = np.arange(1, 20_000)
        mass = np.concatenate([[1.0], np.cumprod((f + h - 1) / h * (1 - p))]) * p**f
        reciprocal = 1 / (f + np.arange(20_000))
        expected = math.fsum(mass * (reciprocal - math.fsum(mass * reciprocal)) ** 2)
        assert reciprocal_variance([f], [p])[0] == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("p", [1.01e-7, 1e-3, 0.45, 0.6, 1 - 1e-12])
    def test_grid_against_40_digits(self, p: float) -> None:
        f = [1, 2, 3, 29, 30, 1e3, 1e5, 0.3, 1 + 1e-9, 1.0099, 1.0101, 1.15, 1.5, 2.5, 29.5, 99_999.5]
        errors = [relative_error(v, mp_variance(n, p)) for v, n in zip(reciprocal_variance(f, p), f, strict=True)]
        assert max(errors) <= 1e-9

    @given(counts, shares)
    @settings(max_examples=60, deadline=None)
    def test_any_pair_against_40_digits(self, f: float, p: float) -> None:
        with mpmath.workdps(40):
            assert relative_error(reciprocal_variance([f], [p])[0], mp_variance(f, p)) <= 1e-9


class TestPopulationQuantile:
    @pytest.mark.parametrize("f", [1, 2, 7])
    @pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 4), Fraction(7, 8)])
    def test_exact_cumulative_sums(self, f: int, p: Fraction) -> None:
        # Fractions with powers of two are exact as floats, ties (q equal to a cumulative sum) included.
        q = [0.0, 2**-30, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999]
        expected = []
        for level in q:
            h, mass = 0, p**f
            reached = mass
            while reached < Fraction(level):
                h += 1
                mass *= Fraction(f + h - 1, h) * (1 - p)
                reached += mass
            expected.append(f + h)
        assert population_quantile(f, float(p), q).tolist() == expected

    @pytest.mark.parametrize("f", [0.5, 1.5, 20, 33.3])
    @pytest.mark.parametrize("p", [0.01, 0.1, 0.6])
    def test_cumulative_sums(self, f: float, p: float) -> None:
        h = np.arange(1, 30_000)
        cumulative = np.cumsum(np.concatenate([[1.0], np.cumprod((f + h - 1) / h * (1 - p))]) * p**f)
        q = np.linspace(0.0137, 0.9973, 40)
        np.testing.assert_array_equal(population_quantile(f, p, q), f + np.searchsorted(cumulative, q))

    @pytest.mark.parametrize(("f", "p"), [(1, 1e-7), (10, 1e-7), (50, 1e-6), (400, 1e-5)])
    @pytest.mark.parametrize("q", [0.025, 0.5, 0.95])
    def test_large_populations(self, f: int, p: float, q: float) -> None:
        # P(F <= n) = P(a binomial of n persons and share p has f or more in the sample); 1e-9 of leeway in q.
        def reached(n: int) -> mpmath.mpf:
            share = mpmath.mpf(p)
            mass, below = (1 - share) ** n, mpmath.mpf(0)
            for j in range(f):
                below += mass
                mass *= (n - j) * share / ((j + 1) * (1 - share))
            return 1 - below

        quantile = population_quantile([f], [p], q)[0]
        assert quantile == int(quantile)
        assert reached(int(quantile)) >= q - 1e-9
        assert reached(int(quantile) - 1) < q + 1e-9

    def test_ends(self) -> None:
        assert population_quantile([1, 2.5, 4], 1.0, 0.99).tolist() == [1, 2.5, 4]
        assert population_quantile([1, 2.5, 4], 1.0, 1.0).tolist() == [1, 2.5, 4]
        assert population_quantile([1, 2.5, 4], 0.2, 0.0).tolist() == [1, 2.5, 4]
        assert population_quantile([1, 2.5, 4], 0.2, 1.0).tolist() == [math.inf] * 3


KERNELS: list[Kernel] = [
    expected_reciprocal,
    approximate_reciprocal,
    reciprocal_variance,
    lambda f, p: population_quantile(f, p, 0.5),
]


@pytest.mark.parametrize("kernel", KERNELS)
class TestEveryKernel:
    def test_input_untouched_and_float_out(self, kernel: Kernel) -> None:
        f, p = np.array([1, 2, 5, 40]), np.array([0.1, 0.6, 0.3, 0.01])
        f.flags.writeable = p.flags.writeable = False
        result = kernel(f, p)
        assert result.dtype == np.float64
        assert f.tolist() == [1, 2, 5, 40]
        assert p.tolist() == [0.1, 0.6, 0.3, 0.01]
        result[0] = 7.0  # the answer is the caller's own

    def test_broadcasting_shapes_and_nothing_at_all(self, kernel: Kernel) -> None:
        assert kernel([1, 2, 3], 0.5).shape == (3,)
        assert kernel(4.0, [0.5, 0.1]).shape == (2,)
        assert kernel(np.float64(4), 0.5).shape == ()
        assert kernel(np.array([[1.0], [2.0]]), [0.5, 0.1, 1.0]).shape == (2, 3)
        assert kernel([], []).shape == (0,)

    def test_a_pair_does_not_depend_on_its_neighbours(self, kernel: Kernel) -> None:
        # More pairs than one block, in an order that mixes the ways of computing.
        generator = np.random.default_rng(5)
        f = np.where(
            generator.random(20_000) < 0.5, generator.integers(1, 60, 20_000), generator.uniform(0.5, 60, 20_000)
        )
        p = generator.uniform(1e-6, 1, 20_000)
        together = kernel(f, p)
        for i in (0, 8191, 8192, 12_345, 19_999):
            assert together[i] == pytest.approx(kernel(f[i : i + 1], p[i : i + 1])[0], rel=1e-14)

    @pytest.mark.parametrize(
        ("f", "p"),
        [([0.0, 1.0], 0.5), ([1.0, math.nan], 0.5), ([1, 2], [0.5, 0]), ([1, 2], [0.5, 1.01]), ([1, math.inf], 0.5)],
    )
    def test_outside_the_ranges(self, kernel: Kernel, f: list[float], p: float | list[float]) -> None:
        message = (
            r"^f must be a positive number and p must be in \(0, 1\]; 1 of 2 pairs are not: "
            r"leave out empty keys and take p as min\(1, f / population count\)\.$"
        )
        with pytest.raises(TacitaError, match=message):
            kernel(f, p)


@pytest.mark.parametrize("q", [-0.1, 1.5, math.nan])
def test_quantile_level_must_be_a_probability(q: float) -> None:
    with pytest.raises(TacitaError, match=r"^q must be a probability in \[0, 1\]; give 0\.95 for the 95% quantile\.$"):
        population_quantile([1], [0.5], q)
