"""The superpopulation models against their definitions, direct maximisation, 40 digits, and worlds of their own."""

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import betabinom, nbinom

from tacita.check import TacitaError
from tacita.risk.population.superpopulation.mixtures import (
    inverse_gaussian_uniques,
    log_expanded,
    log_inverse_gaussian,
    log_upwards,
    poisson_gamma,
    poisson_gamma_truncated,
    poisson_inverse_gaussian,
    poisson_inverse_gaussian_truncated,
)
from tacita.risk.population.superpopulation.models import (
    SampleSizes,
    drawn_once,
    shlosser,
    slide_expected,
    slide_negative_binomial,
    zayatz,
)
from tacita.risk.population.superpopulation.numerics import harmonic, highest, score_root
from tacita.risk.population.superpopulation.partitions import (
    dirichlet_multinomial,
    expected_uniques,
    new_keys,
    pitman,
    pitman_score,
)
from tacita.risk.population.superpopulation.superpopulation import MODELS

Whole = NDArray[np.int64]

# A file as surveys have them: many small keys, a few large ones.
FILE = [1] * 120 + [2] * 41 + [3] * 22 + [4] * 13 + [5] * 9 + [8] * 6 + [13] * 4 + [30, 45, 71]
SPREAD = [1] * 400 + [2] * 170 + [3] * 90 + [4] * 50 + [5] * 31 + [6] * 20 + [8] * 20 + [12] * 9 + [20] * 2
EVEN = [1] * 30 + [2] * 40 + [3] * 30 + [4] * 12 + [5] * 4

FREE = [name for name in MODELS if name not in ("poisson_gamma", "dirichlet_multinomial", "poisson_inverse_gaussian")]
"""Models that do not use the number of cells."""


def sizes_of(records: Any, population: float, cells: float = math.inf) -> SampleSizes:
    return SampleSizes.of(records, population, cells)


# What the models start from


def test_sizes_by_hand() -> None:
    sizes = sizes_of([3, 1, 1, 2, 3], population=40)
    assert sizes.size.tolist() == [1, 2, 3]
    assert sizes.keys.tolist() == [2, 1, 2]
    assert (sizes.records, sizes.occupied, sizes.fraction, sizes.pairs) == (10, 5, 0.25, 14.0)
    assert (sizes.with_size(1), sizes.with_size(3), sizes.with_size(7)) == (2, 2, 0)


def test_sizes_refuse_what_cannot_be() -> None:
    with pytest.raises(TacitaError, match=r"^population must be at least the 10 records; got 9\.0\.$"):
        sizes_of([4, 6], population=9)
    with pytest.raises(TacitaError, match=r"^cells must be at least the 2 keys that occur; got 1\.0\.$"):
        sizes_of([4, 6], population=90, cells=1)


@given(st.floats(1e-6, 1e3), st.integers(0, 400))
def test_harmonic_is_the_sum(start: float, terms: int) -> None:
    expected = math.fsum(1.0 / (start + j) for j in range(terms))
    assert float(harmonic(start, terms)) == pytest.approx(expected, rel=2e-13)


@pytest.mark.parametrize(("start", "terms"), [(1e6, 3), (1e12, 1000), (29.999, 2), (30.0, 2), (1e-20, 5), (5.0, 1e12)])
def test_harmonic_to_forty_digits(start: float, terms: float) -> None:
    with mpmath.workdps(40):
        expected = float(mpmath.digamma(mpmath.mpf(start) + terms) - mpmath.digamma(start))
    assert float(harmonic(start, terms)) == pytest.approx(expected, rel=2e-13)


def test_searches_find_the_maximum_and_say_when_it_is_at_an_end() -> None:
    assert score_root(lambda x: 3.0 - x, 1e-3, 1e3) == (pytest.approx(3.0, rel=1e-12), "inside")
    assert score_root(lambda x: -x, 1e-3, 1e3) == (1e-3, "low")
    assert score_root(lambda x: x, 1e-3, 1e3) == (1e3, "high")
    assert highest(lambda x: -((math.log(x) - 2.0) ** 2), 1e-3, 1e3) == (pytest.approx(math.e**2, rel=1e-7), "inside")
    assert highest(lambda x: -x, 1e-3, 1e3) == (1e-3, "low")
    assert highest(lambda x: x, 1e-3, 1e3) == (1e3, "high")


# Where there is nothing to fit


@pytest.mark.parametrize("name", list(MODELS))
def test_edges(name: str) -> None:
    model = MODELS[name]
    nobody = model(sizes_of([2, 3, 7], population=1000, cells=50))
    assert (nobody.model, nobody.population_uniques, nobody.sample_uniques, nobody.converged) == (name, 0.0, 0.0, True)
    assert nobody.reason == "no record is unique in the sample"
    one_key = model(sizes_of([12], population=1000, cells=1))
    assert one_key.population_uniques == 0.0
    census = model(sizes_of([1, 1, 1, 5], population=8, cells=50))
    assert (census.population_uniques, census.sample_uniques, census.share) == (3.0, 3.0, 0.375)
    assert census.reason == "the file is the whole population"


@pytest.mark.parametrize("name", FREE)
def test_all_records_unique_is_the_worst_case(name: str) -> None:
    found = MODELS[name](sizes_of([1] * 20, population=1000))
    assert (found.population_uniques, found.sample_uniques, found.share) == (1000.0, 20.0, 1.0)
    if name != "zayatz":
        assert not found.converged
        assert found.reason == "every record is unique: the sample does not say from where on keys would repeat"


def test_all_records_unique_in_given_cells() -> None:
    """20 records in 20 of 500 cells are spread more evenly than Poisson: the edges of the models on K cells."""
    sizes = sizes_of([1] * 20, population=1000, cells=500)
    assert poisson_gamma(sizes).population_uniques == pytest.approx(1000 * math.exp(-2))
    assert dirichlet_multinomial(sizes).population_uniques == pytest.approx(1000 * (1 - 1 / 500) ** 999)
    assert poisson_inverse_gaussian(sizes).population_uniques == pytest.approx(1000 * math.exp(-2), rel=1e-5)
    for model in (poisson_gamma, dirichlet_multinomial, poisson_inverse_gaussian):
        assert model(sizes).converged
        assert "the edge of the model" in model(sizes).reason


def test_single_record() -> None:
    for name in FREE:
        assert MODELS[name](sizes_of([1], population=50)).population_uniques == pytest.approx(50.0)
    assert dirichlet_multinomial(sizes_of([1], population=50, cells=1)).population_uniques == 0.0


@pytest.mark.parametrize("name", ["poisson_gamma", "dirichlet_multinomial", "poisson_inverse_gaussian"])
def test_models_on_cells_need_their_number(name: str) -> None:
    found = MODELS[name](sizes_of(FILE, population=5000))
    assert math.isnan(found.population_uniques)
    assert not found.converged
    assert found.reason == "the model needs the number of cells"


records_of_keys = st.lists(st.one_of(st.integers(1, 4), st.integers(1, 2000)), min_size=1, max_size=60)
populations = st.one_of(st.floats(0, 5), st.floats(0, 1e6), st.sampled_from([1e-9, 1.0, 1e9, 1e15]))


@pytest.mark.parametrize("name", list(MODELS))
@given(records=records_of_keys, beyond=populations, empty=st.sampled_from([0.0, 1.0, 1e3, 1e9, 1e90]))
def test_every_answer_is_possible_or_explained(name: str, records: list[int], beyond: float, empty: float) -> None:
    sizes = sizes_of(records, sum(records) + beyond, len(records) + empty)
    found = MODELS[name](sizes)
    if math.isnan(found.population_uniques):
        assert not found.converged
        assert found.reason
        return
    assert 0.0 <= found.population_uniques <= sizes.population * (1 + 1e-9)
    assert 0.0 <= found.sample_uniques <= sizes.with_size(1)
    assert found.share == found.population_uniques / sizes.population
    assert found.converged or found.reason


# Zayatz


def test_zayatz_by_hand() -> None:
    """Two keys of 1, one of 2, two of 3 records, n = 10 of N = 50.

    g(1) = 10/50, g(2) = 2 * 10 * 40 / (50 * 49), g(3) = 3 * 10 * 40 * 39 / (50 * 49 * 48).
    """
    g = [Fraction(10, 50), Fraction(2 * 10 * 40, 50 * 49), Fraction(3 * 10 * 40 * 39, 50 * 49 * 48)]
    probability = 2 * g[0] / (2 * g[0] + g[1] + 2 * g[2])
    found = zayatz(sizes_of([1, 1, 2, 3, 3], population=50))
    assert found.sample_uniques == pytest.approx(float(2 * probability), rel=1e-14)
    assert found.population_uniques == pytest.approx(float(2 * probability * 5), rel=1e-14)
    assert found.parameters["probability"] == pytest.approx(0.26273, abs=1e-5)


@given(st.integers(1, 30), st.integers(1, 60))
def test_drawn_once_is_hypergeometric(records: int, more: int) -> None:
    population = records + more
    size = np.arange(1, population + 1)
    ways = [Fraction(math.comb(i, 1) * math.comb(population - i, records - 1)) for i in size.tolist()]
    expected = [float(way / math.comb(population, records)) for way in ways]
    assert drawn_once(size, records, population) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_drawn_once_by_all_samples() -> None:
    """All 56 samples of 3 out of 8 units, of which 1, 2, 3 and 2 share a key."""
    units = [0, 1, 1, 2, 2, 2, 3, 3]
    samples = list(itertools.combinations(units, 3))
    once = [sum(sample.count(key) == 1 for sample in samples) / len(samples) for key in range(3)]
    assert drawn_once(np.array([1, 2, 3]), 3, 8) == pytest.approx(once, rel=1e-14)


def test_drawn_once_in_a_huge_population() -> None:
    """(N-n)(N-n-1)... over N(N-1)... to forty digits; beyond a certain size nobody is drawn only once."""
    with mpmath.workdps(40):
        size, n, N = 5000, 10**6, mpmath.mpf(10**9) + 0.5
        product = mpmath.fprod((N - n - j + 1) / (N - j) for j in range(1, size))
        expected = float(size * n / N * product)
    assert float(drawn_once(np.array([size]), n, 1e9 + 0.5)[0]) == pytest.approx(expected, rel=1e-12)
    assert drawn_once(np.array([1, 10**9]), 10**9 + 1, 2e9).tolist()[1] == 0.0


# Slide negative binomial


@pytest.mark.parametrize(("alpha", "beta", "fraction"), [(0.4, 0.02, 0.1), (2.5, 0.3, 0.5), (1.0, 0.05, 0.03)])
def test_slide_expectations_are_those_of_the_law(alpha: float, beta: float, fraction: float) -> None:
    """F - 1 negative binomial, each unit sampled with probability pi, summed over F; ARX's second equation is not."""
    F = np.arange(1, 6000)
    weight = nbinom.pmf(F - 1, alpha, beta)
    first = (weight * F * fraction * (1 - fraction) ** (F - 1)).sum()
    second = (weight * F * (F - 1) / 2 * fraction**2 * (1 - fraction) ** (F - 2.0)).sum()
    found = slide_expected(alpha, math.log(beta), 1000.0, fraction)
    assert found == (pytest.approx(1000 * first, rel=1e-10), pytest.approx(1000 * second, rel=1e-10))
    D = (1 - fraction) * (1 - beta)
    multiplied = 500 * alpha * beta**alpha * fraction**2 * (1 - beta) * (1 - D) ** (alpha + 2) * (2 - (1 - alpha) * D)
    assert multiplied < 0.8 * found[1]


def test_shlosser_by_hand() -> None:
    """u = 3, s_1 = 2, s_2 = 1, pi = 1/2: 3 + 2 (2/2 + 1/4) / (2 * 1/2 + 1 * 2 * 1/4) = 3 + 2 * 1.25 / 1.5."""
    assert shlosser(sizes_of([1, 1, 2], population=8)) == pytest.approx(3 + 2 * 1.25 / 1.5)


@pytest.mark.parametrize("population", [700, 2000, 50_000, 1e9])
def test_slide_solves_its_equations(population: float) -> None:
    sizes = sizes_of(FILE, population)
    found = slide_negative_binomial(sizes)
    p = found.parameters
    assert p["keys"] == pytest.approx(shlosser(sizes))
    expected = slide_expected(p["alpha"], p["log_beta"], p["keys"], sizes.fraction)
    assert expected == (pytest.approx(120, rel=1e-9), pytest.approx(41, rel=1e-9))
    assert found.population_uniques == pytest.approx(p["keys"] * math.exp(p["alpha"] * p["log_beta"]), rel=1e-9)


def test_slide_says_why_there_is_no_answer() -> None:
    no_pairs = slide_negative_binomial(sizes_of([1] * 10 + [3, 4], population=500))
    assert (no_pairs.converged, no_pairs.reason) == (False, "no key has two records, which the equations need")
    assert math.isnan(no_pairs.population_uniques)
    assert math.isnan(no_pairs.sample_uniques)
    unsolved = slide_negative_binomial(sizes_of([1] * 30 + [2] + [3] * 5, population=200))
    assert unsolved.reason.startswith("the equations have no solution")
    assert math.isnan(unsolved.population_uniques)
    absurd = slide_negative_binomial(sizes_of([1] * 50 + [2] + [40] * 60, population=4000))
    assert absurd.converged
    assert absurd.reason == "the fitted law has 1.1e+13 times the units of the population"


# Pitman's model and the Dirichlet-multinomial


def pitman_likelihood(records: list[int], a: float, theta: float) -> float:
    """The logarithm of the sampling formula, factor by factor."""
    keys, size = len(records), sum(records)
    total = sum(math.log(theta + i * a) for i in range(1, keys)) - sum(math.log(theta + i) for i in range(1, size))
    return total + sum(math.log(j - a) for f in records for j in range(1, f))


def pitman_maximum(records: list[int]) -> Any:
    """Maximum likelihood without any of the equations: a and theta + a by a simplex search."""

    def loss(x: NDArray[np.float64]) -> float:
        a = 1 / (1 + math.exp(-x[0]))
        return -pitman_likelihood(records, a, math.exp(x[1]) - a)

    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000}
    return minimize(loss, (0.0, 3.0), method="Nelder-Mead", options=options)


def test_pitman_is_the_maximum_likelihood() -> None:
    found = pitman(sizes_of(FILE, population=20_000))
    best = pitman_maximum(FILE)
    a = 1 / (1 + math.exp(-best.x[0]))
    assert found.parameters["a"] == pytest.approx(a, rel=1e-5)
    assert found.parameters["theta"] == pytest.approx(math.exp(best.x[1]) - a, rel=1e-5)
    assert pitman_likelihood(FILE, **found.parameters) == pytest.approx(-best.fun, abs=1e-9)


def test_pitman_solves_hoshinos_equations() -> None:
    sizes = sizes_of(FILE, population=20_000)
    a, theta = pitman(sizes).parameters["a"], pitman(sizes).parameters["theta"]
    u, n = sizes.occupied, sizes.records
    new = math.fsum(1 / (theta + i * a) for i in range(1, u))
    assert new == pytest.approx(math.fsum(1 / (theta + i) for i in range(1, n)), rel=1e-11)
    assert new_keys(a, theta, u) == pytest.approx(new, rel=1e-12)
    old = math.fsum(1 / (j - a) for f in FILE for j in range(1, f))
    assert math.fsum(i / (theta + i * a) for i in range(1, u)) == pytest.approx(old, rel=1e-9)
    assert pitman_score(sizes, a, theta) == pytest.approx(0.0, abs=1e-7)


def test_pitman_at_the_edge_is_ewens() -> None:
    """Even keys: a = 0, and theta solves u = sum_{i<n} theta/(theta+i); uniques N theta/(theta+N-1)."""
    sizes = sizes_of(EVEN, population=5000)
    found = pitman(sizes)
    theta = found.parameters["theta"]
    assert found.parameters["a"] == 0.0
    assert found.converged
    assert "Ewens" in found.reason
    assert math.fsum(theta / (theta + i) for i in range(sizes.records)) == pytest.approx(len(EVEN), rel=1e-11)
    assert found.population_uniques == pytest.approx(5000 * theta / (theta + 4999), rel=1e-10)
    assert pitman_likelihood(EVEN, 0.0, theta) > pitman_likelihood(EVEN, 0.01, theta)


def partitions_of(size: int) -> list[list[list[int]]]:
    """All ways to put so many units into keys."""
    found: list[list[list[int]]] = [[]]
    for unit in range(size):
        wider = []
        for blocks in found:
            wider += [[*blocks[:i], [*blocks[i], unit], *blocks[i + 1 :]] for i in range(len(blocks))]
            wider.append([*blocks, [unit]])
        found = wider
    return found


@pytest.mark.parametrize(("a", "theta"), [(0.3, 2.0), (0.0, 1.5), (0.7, -0.4), (-0.5, 2.0)])
def test_expected_uniques_over_all_partitions(a: float, theta: float) -> None:
    """203 partitions of six units, each with the probability of the formula; the last case is four Dirichlet cells."""
    total, uniques = 0.0, 0.0
    for blocks in partitions_of(6):
        factors = [theta + i * a for i in range(1, len(blocks))] + [j - a for b in blocks for j in range(1, len(b))]
        probability = math.prod(factors) / math.prod(theta + i for i in range(1, 6))
        total += probability
        uniques += probability * sum(len(block) == 1 for block in blocks)
    assert total == pytest.approx(1.0, rel=1e-12)
    assert expected_uniques(a, theta, 6) == pytest.approx(uniques, rel=1e-12)


@pytest.mark.parametrize("N", [1e3, 123_456.789, 1e9, 1e13])
@pytest.mark.parametrize(("a", "theta"), [(0.3, 250.0), (0.0, 1700.0), (0.97, -0.9), (1e-9, 3.0), (-0.02, 1300.0)])
def test_expected_uniques_to_forty_digits(a: float, theta: float, N: float) -> None:
    with mpmath.workdps(60):
        x, t = mpmath.mpf(a), mpmath.mpf(theta)
        logarithm = mpmath.loggamma(t + 1) + mpmath.loggamma(t + x + N - 1)
        exact = N * mpmath.exp(logarithm - mpmath.loggamma(t + x) - mpmath.loggamma(t + N))
    assert expected_uniques(a, theta, N) == pytest.approx(float(exact), rel=1e-9)


def test_dirichlet_is_the_maximum_likelihood_and_its_uniques_beta_binomial() -> None:
    sizes = sizes_of(FILE, population=20_000, cells=900)
    found = dirichlet_multinomial(sizes)
    alpha, K, n = found.parameters["alpha"], 900, sum(FILE)

    def likelihood(shape: float) -> float:
        given = sum(gammaln(shape + f) - gammaln(shape) for f in FILE)
        return float(given + gammaln(K * shape) - gammaln(K * shape + n))

    assert likelihood(alpha) > max(likelihood(alpha * 1.001), likelihood(alpha / 1.001))
    assert found.population_uniques == pytest.approx(K * betabinom.pmf(1, 20_000, alpha, (K - 1) * alpha), rel=1e-9)


# Poisson mixtures


def direct_maximum(loss: Any, *starts: tuple[float, ...]) -> Any:
    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000}
    found = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    return min(found, key=lambda result: float(result.fun))


def test_poisson_gamma_is_the_maximum_likelihood() -> None:
    """Shape and mean both free, all 900 cells counted: the mean comes out as n/K, and N (1 + N beta)^-(1+alpha)."""
    counts = np.array(FILE + [0] * (900 - len(FILE)))

    def loss(x: NDArray[np.float64]) -> float:
        shape, mean = np.exp(x)
        return float(-nbinom.logpmf(counts, shape, shape / (shape + mean)).sum())

    best = np.exp(direct_maximum(loss, (-1.0, -1.0)).x)
    found = poisson_gamma(sizes_of(FILE, population=20_000, cells=900))
    assert found.parameters["alpha"] == pytest.approx(best[0], rel=1e-5)
    assert best[1] == pytest.approx(sum(FILE) / 900, rel=1e-5)
    alpha, beta = found.parameters["alpha"], found.parameters["beta"]
    assert alpha * beta == pytest.approx(1 / 900)
    assert found.population_uniques == pytest.approx(20_000 * (1 + 20_000 * beta) ** -(1 + alpha), rel=1e-12)
    law = nbinom.pmf(1, alpha, alpha / (alpha + 20_000 / 900))
    assert found.population_uniques == pytest.approx(900 * law, rel=1e-9)


def test_poisson_gamma_truncated_is_the_maximum_likelihood() -> None:
    sizes = sizes_of(SPREAD, population=9000)
    counts = np.array(SPREAD)

    def loss(x: NDArray[np.float64]) -> float:
        shape, odds = np.exp(x)
        empty = (1 + odds) ** -shape
        return float(len(counts) * math.log1p(-empty) - nbinom.logpmf(counts, shape, 1 / (1 + odds)).sum())

    best = np.exp(direct_maximum(loss, (1.0, 0.0), (3.0, -2.0)).x)
    found = poisson_gamma_truncated(sizes)
    alpha, odds = found.parameters["alpha"], found.parameters["beta"] * sum(SPREAD)
    assert (alpha, odds) == (pytest.approx(best[0], rel=1e-3), pytest.approx(best[1], rel=1e-3))
    assert loss(np.log([alpha, odds])) <= loss(np.log(best)) + 1e-9
    cells = found.parameters["cells"]
    assert cells == pytest.approx(len(SPREAD) / (1 - (1 + odds) ** -alpha), rel=1e-9)
    pi = sizes.fraction
    assert found.population_uniques == pytest.approx(cells * nbinom.pmf(1, alpha, 1 / (1 + odds / pi)), rel=1e-9)


@pytest.mark.parametrize(("mean", "dispersion"), [(0.4, 3.0), (2.0, 0.1), (0.01, 50.0), (30.0, 400.0)])
def test_inverse_gaussian_probabilities_are_derivatives_of_the_generating_function(
    mean: float, dispersion: float
) -> None:
    with mpmath.workdps(40):
        b, m = mpmath.mpf(dispersion) / mean, mpmath.mpf(mean)
        series = mpmath.taylor(lambda s: mpmath.exp((1 - mpmath.sqrt(1 + 2 * b * m * (1 - s))) / b), 0, 12)
        expected = [float(mpmath.log(p)) for p in series[1:]]
    assert log_inverse_gaussian(np.arange(1, 13), mean, dispersion) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("mean", "dispersion"), [(0.4, 3.0), (250.0, 0.5), (0.01, 2000.0), (40.0, 1e-4), (3.0, 1e6)])
def test_inverse_gaussian_probabilities_of_large_counts(mean: float, dispersion: float) -> None:
    """Either side of the change of method, against the Bessel function to forty digits."""
    counts = np.array([299, 300, 301, 302, 1000, 25_000])
    with mpmath.workdps(40):
        m, d = mpmath.mpf(mean), mpmath.mpf(dispersion)
        c = mpmath.sqrt(1 + 2 * d)
        x, expected = c * m / d, []
        # K_{1/2} = K_{-1/2}, and K_{v+1} = K_{v-1} + (2v/x) K_v; p_r = (m/c)^(r-1/2) K_{r-1/2}(x) constant / r!
        before = bessel = mpmath.sqrt(mpmath.pi / (2 * x)) * mpmath.exp(-x)
        for r in range(1, 25_001):
            if r in counts:
                logarithm = mpmath.log(2 * m**2 / (mpmath.pi * d)) / 2 + m / d + (r - 0.5) * mpmath.log(m / c)
                expected.append(float(logarithm + mpmath.log(bessel) - mpmath.loggamma(r + 1)))
            before, bessel = bessel, before + (2 * r - 1) / x * bessel
    assert log_inverse_gaussian(counts, mean, dispersion) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("mean", "dispersion"), [(0.4, 3.0), (20.0, 1.0), (30.0, 0.5), (3.0, 1e6), (25.0, 2.0)])
def test_expansion_errs_by_its_fifth_term_only(mean: float, dispersion: float) -> None:
    """Against the exact recurrence where the terms are still large: the error falls as order^-5, so four are right."""
    counts = np.arange(20, 60)
    error = log_expanded(counts, mean, dispersion) - log_upwards(60, mean, dispersion)[counts]
    assert np.all(np.abs(error) * (counts - 0.5) ** 5 < 0.03)


def test_inverse_gaussian_is_a_distribution_with_its_mean_and_variance() -> None:
    mean, dispersion = 1.5, 20.0
    counts = np.arange(1, 6000)
    probability = np.exp(log_inverse_gaussian(counts, mean, dispersion))
    none = math.exp(-2 * mean / (1 + math.sqrt(1 + 2 * dispersion)))
    assert probability.sum() + none == pytest.approx(1.0, rel=1e-12)
    assert (counts * probability).sum() == pytest.approx(mean, rel=1e-12)
    assert (counts**2 * probability).sum() - mean**2 == pytest.approx(mean * (1 + dispersion), rel=1e-10)
    assert inverse_gaussian_uniques(mean, dispersion, 7.0) == pytest.approx(7 * probability[0], rel=1e-13)


def test_poisson_inverse_gaussian_is_the_maximum_likelihood() -> None:
    sizes = sizes_of(FILE, population=20_000, cells=900)

    def loss(x: NDArray[np.float64]) -> float:
        mean, dispersion = np.exp(x)
        none = -2 * mean / (1 + math.sqrt(1 + 2 * dispersion)) * (900 - len(FILE))
        return float(-none - (sizes.keys * log_inverse_gaussian(sizes.size, mean, dispersion)).sum())

    mean, dispersion = np.exp(direct_maximum(loss, (-1.0, 1.0)).x)
    found = poisson_inverse_gaussian(sizes)
    assert mean == pytest.approx(sum(FILE) / 900, rel=1e-5)
    assert found.parameters["b"] == pytest.approx(dispersion / mean, rel=1e-5)
    b, m = found.parameters["b"], found.parameters["m"]
    assert m == pytest.approx(20_000 / 900)
    written = 900 * m * (1 + 2 * b * m) ** -0.5 * math.exp((1 - math.sqrt(1 + 2 * b * m)) / b)
    assert found.population_uniques == pytest.approx(written, rel=1e-9)


def test_poisson_inverse_gaussian_truncated_is_the_maximum_likelihood() -> None:
    sizes = sizes_of(SPREAD, population=9000)

    def loss(x: NDArray[np.float64]) -> float:
        mean, dispersion = np.exp(x)
        occupied = -math.expm1(-2 * mean / (1 + math.sqrt(1 + 2 * dispersion)))
        logs = (sizes.keys * log_inverse_gaussian(sizes.size, mean, dispersion)).sum()
        return float(len(SPREAD) * math.log(occupied) - logs)

    best = np.exp(direct_maximum(loss, (0.0, 0.0), (-1.0, 1.0)).x)
    found = poisson_inverse_gaussian_truncated(sizes)
    mean = found.parameters["m"] * sizes.fraction
    dispersion = found.parameters["b"] * mean
    assert loss(np.log([mean, dispersion])) <= loss(np.log(best)) + 1e-8
    assert (mean, dispersion) == (pytest.approx(best[0], rel=1e-3), pytest.approx(best[1], rel=1e-3))
    assert found.reason == ""


@pytest.mark.parametrize("model", [poisson_gamma_truncated, poisson_inverse_gaussian_truncated])
def test_truncated_models_at_their_edges(model: Any) -> None:
    even = model(sizes_of([1] * 50 + [2] * 60 + [3] * 50, population=3200))
    assert even.reason.startswith("no spread between cells")
    # Truncated Poisson with rate t: mean t/(1-e^-t) = 2, so t = 1.5936, and 160/(1-e^-t) cells of rate t/pi.
    t = 1.593624260040040
    assert even.population_uniques == pytest.approx(160 / (1 - math.exp(-t)) * 10 * t * math.exp(-10 * t), rel=1e-3)
    endless = model(sizes_of([1] * 900 + [2] * 40 + [3] * 25 + [400] * 12, population=1e5))
    assert endless.reason == "the number of cells is infinite, the edge of the model"
    assert math.isfinite(endless.population_uniques)


# Worlds made by each model's own law


def drawn(population: Whole, fraction: float, generator: np.random.Generator) -> Whole:
    """The sizes of the keys in a simple random sample."""
    keys = np.repeat(np.arange(len(population)), population)
    sample = generator.choice(keys, int(fraction * len(keys)), replace=False)
    return np.bincount(sample, minlength=len(population))


def world(name: str, generator: np.random.Generator) -> Whole:
    """Population counts of the keys, drawn by a model's law."""
    if name.startswith("poisson_gamma"):
        return generator.poisson(generator.gamma(0.4, 20.0, 8000))
    if name == "dirichlet_multinomial":
        return generator.multinomial(60_000, generator.dirichlet(np.full(8000, 0.4)))
    if name.startswith("poisson_inverse_gaussian"):
        return generator.poisson(generator.wald(8.0, 3.0, 8000))
    if name == "slide_negative_binomial":
        return 1 + generator.negative_binomial(0.5, 0.08, 8000)
    return seated(25_000, 0.4, 300.0, generator)


def seated(units: int, a: float, theta: float, generator: np.random.Generator) -> Whole:
    """Pitman's model one unit at a time: a new key with probability (theta + k a)/(theta + i)."""
    key_of, sizes = np.zeros(units, dtype=np.int64), [1]
    for i in range(1, units):
        if generator.random() < (theta + len(sizes) * a) / (theta + i):
            key_of[i] = len(sizes)
            sizes.append(1)
            continue
        while True:  # an old key by its size less a: that of an earlier unit, accepted with (size - a)/size
            key = key_of[generator.integers(i)]
            if generator.random() < 1 - a / sizes[key]:
                break
        key_of[i] = key
        sizes[key] += 1
    return np.array(sizes)


@pytest.mark.parametrize(
    ("name", "fraction", "tolerance"),
    [
        ("pitman", 0.1, 0.12),
        ("slide_negative_binomial", 0.4, 0.06),
        ("poisson_gamma", 0.05, 0.05),
        ("dirichlet_multinomial", 0.05, 0.05),
        ("poisson_inverse_gaussian", 0.05, 0.05),
        ("poisson_gamma_truncated", 0.3, 0.09),
        ("poisson_inverse_gaussian_truncated", 0.5, 0.07),
    ],
)
def test_models_recover_their_own_worlds(name: str, fraction: float, tolerance: float) -> None:
    """Six populations of 25,000 to 100,000 units: uniques estimated over uniques there are, on average 1.

    The tolerances are about three standard errors. The records that are unique in the file and in the population must
    come out as well.
    """
    generator = np.random.default_rng(20_240_607)
    ratios, expected, both = [], 0.0, 0
    for _ in range(6):
        population = world(name, generator)
        sample = drawn(population, fraction, generator)
        found = MODELS[name](sizes_of(sample[sample > 0], population.sum(), len(population)))
        ratios.append(found.population_uniques / (population == 1).sum())
        expected += found.sample_uniques
        both += int(((population == 1) & (sample == 1)).sum())
    assert np.mean(ratios) == pytest.approx(1.0, abs=tolerance)
    assert expected / both == pytest.approx(1.0, abs=tolerance + 3 / math.sqrt(both))


@pytest.mark.parametrize("name", ["zayatz", "slide_negative_binomial", "poisson_gamma", "poisson_gamma_truncated"])
def test_nearly_everybody_sampled_gives_nearly_the_truth(name: str) -> None:
    """Not so for models whose law is wrong here: a likelihood over all sizes bends the uniques to fit the others."""
    generator = np.random.default_rng(5)
    population = world("poisson_gamma", generator)
    sample = drawn(population, 0.99, generator)
    found = MODELS[name](sizes_of(sample[sample > 0], population.sum(), len(population)))
    assert found.population_uniques == pytest.approx(int((population == 1).sum()), rel=0.06)
