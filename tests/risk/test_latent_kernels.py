"""The kernels of the latent model, each against a slow and obvious twin."""

from collections import Counter
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy.stats import nbinom

from tacita.random import Draws
from tacita.risk.identity.negative_binomial import expected_reciprocal, reciprocal_variance
from tacita.risk.population.latent import classes, law
from tacita.risk.population.latent.cells import Cells, Lookup, shown_shares
from tacita.risk.population.latent.chain import Order, Rows, first_shares, fitted_chain, fitted_order, information
from tacita.risk.population.latent.classes import Layout
from tacita.risk.population.latent.forecasts import ChainForecast, Repeat
from tacita.risk.population.latent.posterior import Population, quantile
from tacita.risk.population.latent.sample import Sample, additive, mean_weights

VALUES = np.array([3, 2, 25])
NUMBERS = np.array([False, False, True])


def some_keys(size: int = 400, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Distinct complete keys with dependent values, from 0, and how many records have each."""
    draws = np.random.default_rng(seed)
    first = draws.integers(0, 3, size)
    second = (draws.random(size) < 0.2 + 0.3 * first).astype(np.int64)
    third = np.clip(draws.normal(6 + 5 * first, 3, size), 0, 24).astype(np.int64)
    return np.unique(np.column_stack([first, second, third]), axis=0, return_counts=True)


# Risk given the forecast.


@pytest.mark.parametrize("f", [1.0, 1.5, 3.0, 40.0])
@pytest.mark.parametrize("a", [1e-8, 0.7, 300.0])
@pytest.mark.parametrize("odds", [1e-9, 1.0, 1e6])
def test_moments_are_the_integral(f: float, a: float, odds: float) -> None:
    # Odds (w - 1)/(a/m + 1) with m = a.
    one = Sample(np.array([f]), np.ones(1), np.array([1 + 2 * odds]), np.ones(1, dtype=bool))
    mean, variance = Population(one, np.log([a]), np.log([a])).moments()
    with mpmath.workdps(20):
        b, s = mpmath.mpf(odds), mpmath.mpf(a) + f
        # By z = 1 - x, so that the pole of the logarithm is at 0, cut where the integrand changes its scale.
        ends = sorted(
            {1 - min(mpmath.mpf(1), 10**k / (b * s)) for k in (-2, -1, 0, 1, 2, 4)} | {mpmath.mpf(0), mpmath.mpf(1)}
        )
        first = mpmath.quad(lambda z: z ** (f - 1) * (1 + b * (1 - z)) ** -s, ends)
        second = mpmath.quad(lambda z: -mpmath.log(z) * z ** (f - 1) * (1 + b * (1 - z)) ** -s, ends)
    assert mean[0] == pytest.approx(float(first), rel=1e-11)
    # A difference of near numbers where F hardly varies; there only its size counts.
    assert variance[0] == pytest.approx(float(second - first**2), rel=1e-4, abs=1e-6 * float(first) ** 2)


def test_nothing_forecast_is_benedetti_and_franconi() -> None:
    f, w = (each.ravel() for each in np.meshgrid(np.arange(1.0, 61.0), [1.0, 1.01, 3.0, 40.0, 5000.0]))
    sample = Sample(f, np.ones(len(f)), w, np.ones(len(f), dtype=bool))
    mean, variance = Population(sample, np.zeros(len(f)), np.full(len(f), -40.0)).moments()
    np.testing.assert_allclose(mean, expected_reciprocal(f, 1 / w), rtol=1e-12)
    np.testing.assert_allclose(variance, reciprocal_variance(f, 1 / w), rtol=1e-3, atol=1e-7)


def test_who_stands_for_himself_only_has_risk_one_in_f() -> None:
    f = np.arange(1.0, 80.0)
    of = Population(
        Sample(f, np.full(79, 0.9), np.ones(79), np.ones(79, dtype=bool)),
        np.linspace(-9, 5, 79),
        np.linspace(-3, 9, 79),
    )
    np.testing.assert_array_equal(of.moments()[0], 1 / f)
    np.testing.assert_array_equal(of.unique(), (f == 1).astype(float))


def test_the_population_count_is_what_a_simulation_gives() -> None:
    f, m, a, w, shown = 2.0, 1.7, 0.8, 12.0, 0.9
    draws = np.random.default_rng(3)
    rate = draws.gamma(a, m / a, 1_000_000)
    here = rate[draws.poisson(shown * rate) == f]
    F = f + draws.poisson((w - shown) * here)
    of = Population(Sample(np.array([f]), np.array([shown]), np.array([w]), np.array([True])), np.log([m]), np.log([a]))
    mean, variance = of.moments()
    assert mean[0] == pytest.approx((1 / F).mean(), rel=0.02)
    assert variance[0] == pytest.approx((1 / F).var(), rel=0.1)
    for count in (2, 5, 20, 60):
        assert of.others.at_most(np.array([count]))[0] == pytest.approx((count >= F).mean(), abs=0.01)


def test_quantiles_of_a_mixture_by_adding_up() -> None:
    f = np.array([1.0, 1.0, 3.0, 40.0])
    sample = Sample(f, np.ones(4), np.array([1.0, 6.0, 30.0, 3.0]), np.ones(4, dtype=bool))
    parts = [
        (0.3, Population(sample, np.log([0.1, 2.0, 3.0, 1.0]), np.log([0.2, 3.0, 1.0, 5.0])).others),
        (0.7, Population(sample, np.log([0.2, 0.1, 1.0, 60.0]), np.log([0.2, 0.5, 0.1, 9.0]), 0.5).others),
    ]
    for share in (0.01, 0.3, 0.5, 0.95):
        found = quantile(parts, share)
        for k in range(4):
            others = np.arange(10_000)
            cumulated = sum(
                weight * nbinom.cdf(others, shape[k], 1 / (1 + odds[k])) if odds[k] else weight
                for weight, (_, shape, odds) in parts
            )
            assert found[k] == f[k] + np.argmax(cumulated >= share)


def test_uniques_are_those_nobody_joins() -> None:
    sample = Sample(np.array([1.0, 2.0]), np.ones(2), np.array([7.0, 7.0]), np.ones(2, dtype=bool))
    of = Population(sample, np.log([0.7, 0.7]), np.log([0.7, 0.7]))
    assert of.unique().tolist() == [pytest.approx(nbinom.pmf(0, 1.7, 0.25)), 0.0]


# The law.


def some_counts(shown: float = 0.8) -> law.Counts:
    draws = np.random.default_rng(5)
    log_m = draws.uniform(-11, 4.5, 120)
    return law.pooled(log_m, draws.poisson(np.exp(log_m)), draws.uniform(-20, 1, 50), draws.uniform(0, 9, 50), shown)


def power_law_chances(mean: float, a: float, index: float) -> np.ndarray:
    """Chances of a Poisson count whose rate follows a power variance law: coefficients of its generating function."""
    z = np.exp(2j * np.pi * np.arange(1 << 15) / (1 << 15))
    base = 1 + (1 - z) * mean / a
    generating = base**-a if index == 0 else np.exp(-a / index * (base**index - 1))
    return np.fft.fft(generating).real / (1 << 15)


@pytest.mark.parametrize("index", [0.0, 0.25, 0.75])
@pytest.mark.parametrize("zeros", [False, True])
def test_the_likelihood_is_the_sum_over_cells_and_its_gradient_its_slope(zeros: bool, index: float) -> None:
    counts = some_counts()
    parameters = np.random.default_rng(7).normal(0.3, 0.8, 21 if zeros else 14)
    value, gradient = law.posterior(parameters, index, counts)
    log_mean, log_a, possible = law.Law.of(parameters, index, 0.0).at(counts.log_m)
    total = 0.0
    for b in range(len(log_mean)):
        for i in range(counts.start[b], counts.start[b + 1]):
            pi, arguments = possible[b], (0.8 * np.exp(log_mean[b]), np.exp(log_a[b]), index)
            chances = power_law_chances(*arguments)
            if counts.records[i] > law.MOST:
                chance = pi * (1 - chances[: law.MOST + 1].sum())
            else:
                chance = pi * chances[counts.records[i]] + (1 - pi) * (counts.records[i] == 0)
            total += counts.weight[i] * np.log(chance)
    parts = np.split(parameters, 2 + zeros)
    priors = sum(prior.log(part)[0] for prior, part in zip(law.priors(index), parts, strict=False))
    assert value == pytest.approx(total + priors, rel=1e-6)
    for place, one in enumerate(np.eye(len(parameters)) * 1e-6):
        ends = [law.posterior(parameters + side * one, index, counts)[0] for side in (-1, 1)]
        assert gradient[place] == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-4, abs=1e-3)


def test_index_0_is_the_negative_binomial() -> None:
    p = np.empty((3, 42))
    law.law_loops.chances(40, 3.0, 0.7, 0.0, law.law_loops.powers(0.0, 41), p)
    chance = p[0, :41] * np.exp(law.law_loops.log_none(3.0, 0.7, 0.0))
    np.testing.assert_allclose(chance, nbinom.pmf(np.arange(41), 0.7, 0.7 / 3.7), rtol=1e-12)


@pytest.mark.parametrize("f", [1, 2, 7])
@pytest.mark.parametrize("mean", [0.02, 3.0])
def test_the_inverse_gaussian_law_by_its_density(f: int, mean: float) -> None:
    # With index 1/2 the rate is inverse Gaussian with mean M and shape 2 a M; weigh its density by what was seen.
    a, shown, w = 0.6, 0.9, 25.0
    rate = np.exp(np.linspace(np.log(mean) - 30, np.log(mean) + 12, 40_001))
    weight = np.exp(-2 * a * mean * (rate - mean) ** 2 / (2 * mean**2 * rate)) * rate**-0.5  # density times rate
    weight *= np.exp(f * np.log(rate) - shown * rate)
    z = (np.arange(10_000) + 0.5) / 10_000
    inner = np.array([(z ** (f - 1) * np.exp(-(w - shown) * each * (1 - z))).mean() for each in rate[::20]])
    sample = Sample(np.array([float(f)]), np.array([shown]), np.array([w]), np.array([True]))
    of = Population(sample, np.log([mean]), np.log([a]), 0.5)
    assert of.moments()[0][0] == pytest.approx((inner * weight[::20]).sum() / weight[::20].sum(), rel=1e-4)
    others = (w - shown) * rate
    _, shape, odds = (each[0] for each in of.others)
    assert shape * odds == pytest.approx((others * weight).sum() / weight.sum(), rel=1e-4)
    none = -shape * np.log1p(odds)
    assert none == pytest.approx(np.log((np.exp(-others) * weight).sum() / weight.sum()), rel=1e-4)


def test_an_index_next_to_0_is_the_gamma_law() -> None:
    f = np.repeat([1.0, 2.0, 12.0, 40.0, 41.0], 3)
    sample = Sample(f, np.full(15, 0.9), np.full(15, 30.0), np.ones(15, dtype=bool))
    log_mean, log_a = np.tile([-6.0, 0.0, 4.0], 5), np.tile([-1.0, 0.3, 2.0], 5)
    gamma, next_to_it = (Population(sample, log_mean, log_a, index) for index in (0.0, 1e-7))
    for here, there in zip(gamma.moments(), next_to_it.moments(), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(next_to_it.unique(), gamma.unique(), rtol=1e-5)


def test_pooling_keeps_cells_and_leaves_great_forecasts_out() -> None:
    pooled = law.pooled(np.array([0.01, 0.02, 9.0, 1.0]), np.array([1, 1, 3, 90]), np.array([-3.0]), np.array([7.5]), 1)
    assert list(zip(pooled.records.tolist(), pooled.weight.tolist(), strict=True)) == [(0, 7.5), (1, 2.0), (41, 1.0)]
    assert pooled.log_m.tolist() == pytest.approx([-3.0, 0.015, 1.0])
    assert pooled.start.tolist() == [0, 1, 2, 3]


def test_between_knots_is_linear_and_constant_outside() -> None:
    values = law.KNOTS**2
    place, share = law.between_knots(np.array([-30.0, -8.0, -4.0, 0.75, 3.0, 9.0]))
    found = (1 - share) * values[place] + share * values[place + 1]
    assert found.tolist() == pytest.approx([64, 64, 17, 1.125, 9, 9])


def test_a_law_comes_back_from_counts_drawn_from_it() -> None:
    draws = np.random.default_rng(11)
    log_m = draws.uniform(-4, 3, 120_000)
    rate = draws.gamma(2.0, 1.3 * np.exp(log_m) / 2.0) * (draws.random(len(log_m)) < 0.6) / 0.6
    count = draws.poisson(rate)
    some = count > 0
    counts = law.pooled(log_m[some], count[some], log_m[count == 0], np.ones((count == 0).sum()), 1.0)
    fits = [law.fitted(counts, law.start(steep=steep)) for steep in (False, True)]
    assert fits[0].value == pytest.approx(fits[1].value, abs=0.5)
    log_mean, log_a, possible = fits[0].at(np.array([-1.0, 0.0, 1.0, 2.0]))
    np.testing.assert_allclose(np.exp(log_mean) * possible / np.exp([-1.0, 0.0, 1.0, 2.0]), 1.3, rtol=0.05)
    np.testing.assert_allclose(np.exp(log_a)[1:], 2.0, rtol=0.2)
    np.testing.assert_allclose(possible[1:], 0.6, rtol=0.1)


def test_curvature_is_that_of_the_value() -> None:
    counts = some_counts()
    fit = law.fitted(counts, law.start())
    matrix, at, step = law.curvature(fit, counts), fit.parameters, 1e-3
    for i, j in ((0, 0), (4, 5), (4, 11), (12, 12)):
        e, g = np.eye(14)[i] * step, np.eye(14)[j] * step
        values = [law.posterior(at + x, 0.0, counts)[0] for x in (e + g, e - g, g - e, -e - g)]
        second = -(values[0] - values[1] - values[2] + values[3]) / (4 * step**2)
        assert matrix[i, j] == pytest.approx(second, rel=1e-3, abs=1e-2)


def test_the_evidence_of_a_normal_likelihood_is_exact() -> None:
    # A parameter with prior N(0, 0.5^2) of which the data say nothing costs nothing; one known
    # 10 times as well costs log 10.
    matrix = law._prior_curvature(14)
    fit = law.start()._replace(value=-5.0)
    assert law.evidence(fit, matrix) == pytest.approx(-5.0)
    assert law.evidence(fit, 100 * matrix) == pytest.approx(-5.0 - 14 * np.log(10))


def test_the_index_is_told_by_the_counts() -> None:
    # Rates that stray lognormally have less weight next to 0 than gamma ones.
    draws = np.random.default_rng(12)
    log_m = draws.uniform(-5, 1, 40_000)
    count = draws.poisson(np.exp(log_m + draws.normal(0, 1, len(log_m)) - 0.5))
    some = count > 0
    counts = law.pooled(log_m[some], count[some], log_m[~some], np.ones((~some).sum()), 1.0)
    values = {index: law.fitted(counts, law.start(index)).value for index in (0.0, 0.5)}
    assert values[0.5] > values[0.0] + 5


# Latent classes.


def plain_em(codes: np.ndarray, weight: np.ndarray, sizes: np.ndarray, shares: list[np.ndarray]) -> tuple[float, list]:
    """Expected counts by key and class, record by record."""
    counts, likelihood = [np.zeros_like(each) for each in shares], 0.0
    for row, records in zip(codes, weight, strict=True):
        joint = sizes.copy()
        for j, code in enumerate(row):
            if code >= 0:
                joint = joint * shares[j][code]
        likelihood += records * np.log(joint.sum())
        for j, code in enumerate(row):
            if code >= 0:
                counts[j][code] += records * joint / joint.sum()
    return likelihood, counts


def some_model(seed: int = 2) -> tuple[classes.Classes, np.ndarray, np.ndarray]:
    """A fitted model, the places of the cells with some keys missing, and the records of each."""
    codes, records = some_keys()
    layout = Layout.of(VALUES, NUMBERS)
    places = (codes + layout.starts[:-1]).astype(np.int32)
    places[::5, 1], places[::7, 2] = -1, -1
    weight = records.astype(np.float64)
    model = classes.fitted(classes.one_class(layout), places, weight)
    return classes.fitted(classes.split(model, 3, Draws(seed)), places, weight), places, weight


def test_expected_counts_by_a_plain_implementation() -> None:
    model, places, weight = some_model()
    counts, totals = np.zeros_like(model.shares), np.zeros_like(model.sizes)
    value = classes.class_loops.expected_counts(places, weight, model.sizes, model.shares, counts, totals)
    starts = model.layout.starts
    parts = [model.shares[low:high] for low, high in pairwise(starts)]
    codes = np.where(places >= 0, places - starts[:-1], -1)
    likelihood, plain = plain_em(codes, weight, model.sizes, parts)
    assert value == pytest.approx(likelihood, rel=1e-12)
    np.testing.assert_allclose(counts, np.concatenate(plain), rtol=1e-9, atol=1e-12)
    assert totals.sum() == pytest.approx(weight.sum())


def test_em_never_loses_once_the_priors_stand() -> None:
    model, places, weight = some_model()
    last = -np.inf
    for _ in range(6):
        counts, totals = np.zeros_like(model.shares), np.zeros_like(model.sizes)
        value = classes.class_loops.expected_counts(places, weight, model.sizes, model.shares, counts, totals)
        # Plain maximum likelihood: no priors.
        shares = counts / model.layout.spread(model.layout.sums(counts))
        model = model._replace(shares=np.maximum(shares, 1e-300), sizes=totals / totals.sum())
        assert value >= last - 1e-9
        last = value


def test_shares_of_each_class_add_up_to_one_and_so_does_the_table() -> None:
    model, _, _ = some_model()
    np.testing.assert_allclose(model.layout.sums(model.shares), 1.0, rtol=1e-12)
    every = np.array(list(product(*(range(size) for size in VALUES)))) + model.layout.starts[:-1]
    density = np.empty(len(every))
    model.log_density(every.astype(np.int32), np.arange(len(every)), density)
    assert np.exp(density).sum() == pytest.approx(1.0, rel=1e-12)


def test_a_key_not_shown_is_summed_over() -> None:
    model, _, _ = some_model()
    starts = model.layout.starts
    every = np.array([[starts[0] + 1, starts[1] + value, starts[2] + 4] for value in range(2)], dtype=np.int32)
    blank = np.array([[starts[0] + 1, -1, starts[2] + 4]], dtype=np.int32)
    parts, whole = np.empty(2), np.empty(1)
    model.log_density(every, np.arange(2), parts)
    model.log_density(blank, np.arange(1), whole)
    assert np.exp(parts).sum() == pytest.approx(np.exp(whole[0]))


def test_own_records_are_taken_out_as_if_they_had_not_been_counted() -> None:
    model, places, weight = some_model()
    counts, totals = np.zeros_like(model.shares), np.zeros_like(model.sizes)
    classes.class_loops.expected_counts(places, weight, model.sizes, model.shares, counts, totals)
    model = model._replace(counts=counts, totals=totals)
    density = np.zeros(len(places))
    model.density_without(places, np.arange(len(places)), weight, density)
    for k in range(0, len(places), 13):
        own, totals = np.zeros_like(model.shares), np.zeros_like(model.sizes)
        classes.class_loops.expected_counts(places[[k]], weight[[k]], model.sizes, model.shares, own, totals)
        rest = classes.maximised(
            model.layout, np.maximum(model.counts - own, 0), np.maximum(model.totals - totals, 0), model.prior,
            estimate_prior=False,
        )  # fmt: skip
        left = np.empty(1)
        rest.log_density(places[[k]], np.arange(1), left)
        assert density[k] == pytest.approx(np.exp(left[0]), rel=1e-9)


def test_many_keys_do_not_underflow() -> None:
    layout = Layout.of(np.full(60, 10_000), np.zeros(60, dtype=bool))
    model = classes.one_class(layout)
    density = np.empty(1)
    model.log_density(layout.starts[:-1][None, :].astype(np.int32), np.arange(1), density)
    assert density[0] == pytest.approx(-60 * np.log(10_000))


def test_smoothing_keeps_the_total_and_gives_nothing_to_oneself() -> None:
    counts, result = np.zeros((30, 1)), np.zeros((30, 1))
    counts[[0, 14]] = [[3.0], [5.0]]
    classes.class_loops.smoothed(counts, 0, 30, classes.KERNEL, result)
    assert result.sum() == pytest.approx(8.0)
    assert result[14, 0] < 1e-9
    assert result[13, 0] == pytest.approx(result[15, 0])
    alone = np.array([[4.0]])
    classes.class_loops.smoothed(alone, 0, 1, classes.KERNEL, result)
    assert result[0, 0] == 0


def test_priors_are_the_likeliest_for_their_counts() -> None:
    # Counts of 200 groups of 12 records whose shares are Dirichlet with weight 5 around known ones.
    draws, around = np.random.default_rng(4), np.array([0.5, 0.3, 0.2])
    counts = np.array([draws.multinomial(12, draws.dirichlet(5 * around)) for _ in range(200)], dtype=float).T
    layout, prior = Layout.of(np.array([3]), np.array([False])), np.ones(1)
    for _ in range(200):
        prior = classes.maximised(layout, counts, counts.sum(axis=0), prior, estimate_prior=True).prior
    assert prior[0] == pytest.approx(5, rel=0.25)


def test_draws_follow_the_model() -> None:
    model, _, _ = some_model()
    drawn = model.draw(200_000, Draws(3))
    density = np.empty(len(drawn))
    different, count = np.unique(drawn, axis=0, return_counts=True)
    model.log_density(different.astype(np.int32), np.arange(len(different)), density)
    expected = 200_000 * np.exp(density[: len(different)])
    often = expected > 50
    assert (np.abs(count - expected)[often] < 5 * np.sqrt(expected[often])).all()


# The chain.


def plain_chain(order: Order, codes: np.ndarray, own: np.ndarray, wanted: np.ndarray) -> float:
    """log q of one row, from nothing but the cells that are given."""
    total = 0.0
    for factor in order.factors:
        seen = Counter()
        for row, records in zip(codes, own, strict=True):
            seen[row[factor.key]] += records
        value, size = wanted[factor.key], len(factor.first)
        p = (seen[value] + 0.5) / (own.sum() + size / 2)
        before: list[int] = []
        for level in factor.levels:
            before.append(level.added)
            inside = (codes[:, before] == wanted[before]).all(axis=1)
            if inside.any():
                kappa = level.factor * len(set(codes[inside, factor.key].tolist()))
                alike = own[inside & (codes[:, factor.key] == value)].sum()
                p = (alike + kappa * p) / (own[inside].sum() + kappa)
        total += np.log(p)
    return total


def order_of(codes: np.ndarray, own: np.ndarray, keys: np.ndarray) -> tuple[Order, np.ndarray]:
    rows = Rows(codes, own)
    return fitted_order(rows, VALUES, keys, information(rows, VALUES), np.arange(len(codes)))


def test_left_out_cells_are_forecast_as_if_they_had_never_been_there() -> None:
    codes, records = some_keys(150)
    own = records.astype(np.float64)
    for keys in (np.array([2, 0, 1]), np.array([1, 0, 2])):
        order, of_cells = order_of(codes, own, keys)
        assert sum(len(factor.levels) for factor in order.factors) >= 2
        density = order.log_density(Rows(codes, own))
        np.testing.assert_allclose(of_cells, density, rtol=1e-12)
        for k in range(len(codes)):
            rest = np.arange(len(codes)) != k
            assert density[k] == pytest.approx(plain_chain(order, codes[rest], own[rest], codes[k]), abs=1e-10)


def test_keys_the_sample_does_not_have_are_forecast_from_all_of_it() -> None:
    codes, records = some_keys(150)
    own = records.astype(np.float64)
    order, _ = order_of(codes, own, np.array([2, 0, 1]))
    every = np.array(list(product(*(range(size) for size in VALUES))))
    density = order.log_density(Rows(every, np.zeros(len(every))))
    assert np.exp(density).sum() == pytest.approx(1.0, rel=1e-10)
    for k in range(0, len(every), 7):
        assert density[k] == pytest.approx(plain_chain(order, codes, own, every[k]), abs=1e-10)


def test_factors_are_the_likeliest_for_left_out_cells() -> None:
    codes, records = some_keys(200)
    own = records.astype(np.float64)
    order, _ = order_of(codes, own, np.array([0, 2, 1]))
    level = order.factors[1].levels[0]
    sums = []
    for factor in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0):
        p = first_shares(order.factors[1].first, codes[:, 2], own)
        for k in range(len(codes)):
            rest = np.arange(len(codes)) != k
            inside = rest & (codes[:, 0] == codes[k, 0])
            kappa = factor * max(len(set(codes[inside, 2].tolist())), 1)
            alike = own[inside & (codes[:, 2] == codes[k, 2])].sum()
            p[k] = (alike + kappa * p[k]) / (own[inside].sum() + kappa)
        sums.append((own * np.log(p)).sum())
    assert level.factor == (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)[int(np.argmax(sums))]


def test_draws_follow_the_chain() -> None:
    codes, records = some_keys(150)
    chain, _ = fitted_chain(Rows(codes, records.astype(np.float64)), VALUES, Draws(1))
    assert chain.mixing.sum() == pytest.approx(1.0)
    drawn, count = np.unique(chain.draw(200_000, Draws(5)), axis=0, return_counts=True)
    expected = 200_000 * np.exp(chain.log_density(Rows(drawn, np.zeros(len(drawn)))))
    often = expected > 50
    assert often.sum() > 20
    assert (np.abs(count - expected)[often] < 5 * np.sqrt(expected[often])).all()


def test_lookup_finds_rows_and_no_others() -> None:
    values = np.full(40, 1000)
    draws = np.random.default_rng(6)
    known = draws.integers(0, 1000, (50, 40))
    other = known.copy()
    other[:, 39] = (other[:, 39] + 1) % 1000
    assert Lookup(known, values)(np.concatenate([known[::-1], other])).tolist() == [True] * 50 + [False] * 50


# Empty cells, what is shown, weights.


def test_draws_stand_for_all_cells_that_the_sample_does_not_have() -> None:
    codes, records = some_keys(300)
    count = records.astype(np.int64)
    cells = Cells(codes + 1, VALUES, NUMBERS, count, np.ones(len(codes)), np.arange(len(codes)))
    repeat = Repeat(cells, ChainForecast.of(cells, Draws(1)), Draws(1))
    forecast = next(repeat.forecasts(lambda number: None))
    weight = np.exp(forecast.empty.log_weight)
    assert weight.sum() == pytest.approx(VALUES.prod() - len(codes), rel=0.1)
    mass = 1 - np.exp(repeat.chain.of_empty(codes)).sum()
    assert (weight * np.exp(forecast.empty.log_chain)).sum() / cells.records == pytest.approx(mass, rel=0.02)


def test_shown_shares_by_counting() -> None:
    codes = np.array([[1, 1], [1, 0], [0, 2], [0, 0]])
    assert shown_shares(codes, np.array([5, 2, 1, 2])).tolist() == [0.5, 0.7, 0.6, 1.0]


def test_an_additive_fit_is_ridge_regression() -> None:
    draws = np.random.default_rng(8)
    codes = draws.integers(0, 4, (60, 3)).astype(np.uint32)
    count, mean = draws.integers(1, 5, 60).astype(float), draws.gamma(3, 2, 60)
    design = np.concatenate([codes == value for value in range(4)], axis=1).astype(float)
    level = (count * mean).sum() / count.sum()
    gram = design.T @ (count[:, None] * design) + np.eye(12)
    effects = np.linalg.solve(gram, design.T @ (count * (mean - level)))
    np.testing.assert_allclose(additive(codes, count, mean), level + design @ effects, rtol=1e-4)


def test_weights_that_are_the_same_within_keys_stay_as_they_are() -> None:
    found, kappa = mean_weights(np.array([[1], [2]]), np.array([0, 0, 1]), np.array([3.0, 3.0, 0.5]))
    assert (found.tolist(), kappa) == ([3.0, 0.5], 0.0)


def test_weights_that_vary_by_chance_are_drawn_together() -> None:
    draws = np.random.default_rng(9)
    row = np.repeat(np.arange(500), 2)
    codes = np.column_stack([np.arange(500) % 25, np.arange(500) // 25]) + 1
    weights = draws.gamma(4, 5, 1000)
    fitted, kappa = mean_weights(codes, row, weights)
    assert fitted.mean() == pytest.approx(20, rel=0.05)
    assert kappa > 10
    shuffled = draws.permutation(1000)
    same, alike = mean_weights(codes, row[shuffled], weights[shuffled])
    np.testing.assert_array_equal(fitted, same)
    assert kappa == alike


def test_weights_that_differ_by_key_and_by_chance_meet_between() -> None:
    # Keys differ with variance 9 that no additive model explains, records within them with variance 36.
    draws = np.random.default_rng(10)
    row = np.repeat(np.arange(4000), 3)
    codes = np.column_stack([np.arange(4000) % 50, np.arange(4000) // 50]) + 1
    weights = 60 + np.repeat(draws.normal(0, 3, 4000), 3) + draws.normal(0, 6, 12_000)
    assert mean_weights(codes, row, weights)[1] == pytest.approx(36 / 9, rel=0.25)
