"""The kernels of noise equal their slow twins, and keep what they say they keep."""

import numpy as np
import pytest
import slow_noise as slow
from scipy.stats import chi2

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.code_outliers import middle
from tacita.protect.noise import masking
from tacita.protect.noise.limits import Limits, whole_with_total, with_total
from tacita.protect.noise.masking import File, noisy, outlying, redrawn
from tacita.protect.noise.methods import BY_CELL, EXACT, TOGETHER
from tacita.protect.noise.moments import groups, moments, root_of

ALL = (*BY_CELL, *TOGETHER, *EXACT)


def no_limits(values: Floats) -> Limits:
    n, size = values.shape
    ends = np.full((n, size), np.inf)
    return Limits(-ends, ends, np.zeros(size, dtype=bool), (((), ()),) * size)


def file_of(values: Floats, changeable: Bools, weight: Floats, seed: int = 1, limits: Limits | None = None) -> File:
    def draw(rows: Ints, attempt: int) -> Floats:
        return np.random.default_rng([seed, attempt]).normal(size=values.shape)[rows]

    limits = no_limits(values) if limits is None else limits
    return File(values, np.arange(len(values)), changeable, weight, limits, draw)


def problem(seed: int) -> tuple[Floats, Bools, Floats]:
    """A file with missing values, zeros, ties and duplicate rows; weights, or weights of 1."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(3, 120)), int(rng.integers(1, 4))
    values = np.round(rng.lognormal(1, 1, (n, 1)) + rng.normal(0, 2, (n, size)), int(rng.integers(0, 4)))
    values[n // 2 :: 7] = values[n // 2]
    values[rng.random((n, size)) < rng.choice([0, 0.05, 0.4])] = 0.0
    values[rng.random((n, size)) < rng.choice([0, 0.05, 0.4])] = np.nan
    changeable = ~np.isnan(values) & (values != 0)
    for j in range(size):
        if len(set(values[changeable[:, j], j])) < 2:
            changeable[:, j] = False
    weight = np.ones(n) if seed % 2 else rng.uniform(1, 9, n)
    return values, changeable, weight


@pytest.mark.parametrize("method", ALL)
@pytest.mark.usual(seed=8)
@pytest.mark.parametrize("seed", range(25))
def test_every_method_equals_its_slow_twin(method: str, seed: int) -> None:
    values, changeable, weight = problem(seed)
    file = file_of(values, changeable, weight)
    normal = file.draw(np.arange(len(values)), 0)
    made = noisy(method, 0.4, file).values
    wanted = slow.noisy(method, 0.4, values.tolist(), changeable.tolist(), weight.tolist(), normal.tolist())
    np.testing.assert_allclose(made, wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(made[~changeable], values[~changeable])


def test_the_problems_have_patterns_of_every_kind() -> None:
    """Patterns with their own covariance, with that of available cases, and with none at all."""
    kinds = set()
    for seed in range(25):
        values, changeable, _ = problem(seed)
        for record in range(len(values)):
            if changeable[record].any():
                found = slow.source(values.tolist(), changeable.tolist(), record)
                kinds.add(found if found is None else found[1])
    assert kinds == {True, False, None}


@pytest.mark.parametrize("seed", range(10))
def test_moments_equal_their_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weight = rng.normal(50, 3, (20, 3)), rng.uniform(0.5, 4, 20)
    found = moments(values, weight)
    np.testing.assert_allclose(found.centre, slow.mean(values.tolist(), weight.tolist()))
    np.testing.assert_allclose(found.covariance, slow.covariance(values.tolist(), weight.tolist()))
    plain = moments(values, np.full(20, 7.0))
    np.testing.assert_allclose(plain.covariance, np.cov(values, rowvar=False))


def test_moments_of_one_record_and_of_constants() -> None:
    assert moments(np.array([[3.0, 4.0]]), np.ones(1)).covariance.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    constant = moments(np.column_stack([np.full(7, 0.1), np.arange(7.0)]), np.ones(7))
    assert constant.covariance[0].tolist() == [0.0, 0.0]


def test_the_root_of_a_singular_covariance_has_its_rank() -> None:
    rng = np.random.default_rng(1)
    parts = rng.lognormal(9, 1, (200, 2))
    covariance = np.cov(np.column_stack([parts.sum(axis=1), parts]), rowvar=False)
    root = root_of(covariance)
    assert root.shape == (3, 2)
    np.testing.assert_allclose(root @ root.T, covariance, rtol=1e-12)


def test_by_hand() -> None:
    """Three records, 1, 2 and 6: mean 3, variance 7."""
    values = np.array([[1.0], [2.0], [6.0]])
    normal = np.array([[1.0], [0.0], [-1.0]])
    found = moments(values, np.ones(3))
    sd = np.sqrt(7.0)
    assert BY_CELL["additive"](values, np.array([sd]), 0.5, normal) == pytest.approx(
        np.array([[1 + sd / 2], [2], [6 - sd / 2]])
    )
    assert TOGETHER["correlated"](values, found, 0.5, normal) == pytest.approx(
        np.array([[1 + sd / 2], [2], [6 - sd / 2]])
    )
    shrink = 1 / np.sqrt(1.25)
    assert TOGETHER["restricted"](values, found, 0.5, normal) == pytest.approx(
        3 + shrink * np.array([[-2 + sd / 2], [-1], [3 - sd / 2]])
    )
    assert TOGETHER["delta"](values, found, 0.6, normal) == pytest.approx(
        3 + np.array([[-1.6 + 0.6 * sd], [-0.8], [2.4 - 0.6 * sd]])
    )
    assert BY_CELL["multiplicative"](values, found.centre, 0.2, normal) == pytest.approx(
        np.array([[np.exp(0.18)], [2 * np.exp(-0.02)], [6 * np.exp(-0.22)]])
    )


def skewed(n: int, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return np.exp(9 + common + 0.7 * rng.normal(size=(n, 4))) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 0.0, 0.0, 1e6]


def apart(first: Floats, second: Floats, weight: Floats) -> float:
    """The greatest difference of means, in standard deviations, and of covariances, as correlations."""
    one, two = moments(first, weight), moments(second, weight)
    sd = np.sqrt(np.diag(one.covariance))
    return float(
        max(
            np.abs((one.centre - two.centre) / sd).max(),
            np.abs((one.covariance - two.covariance) / np.outer(sd, sd)).max(),
        )
    )


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("amount", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("n", [10, 834, 5_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_methods_keep_mean_and_covariance_exactly(method: str, amount: float, n: int, weighted: bool) -> None:
    values = skewed(n)
    weight = np.random.default_rng(2).uniform(1, 50, n) if weighted else np.ones(n)
    made = noisy(method, amount, file_of(values, np.ones_like(values, dtype=bool), weight)).values
    assert apart(values, made, weight) < 1e-10
    # And the noise is there: the record is no longer where it was.
    moved = np.abs(made - values).mean(axis=0) / values.std(axis=0)
    assert (moved > 0.2 * amount / np.sqrt(1 + amount**2)).all()


@pytest.mark.parametrize("method", EXACT)
def test_exact_methods_keep_them_with_missing_values_and_zeros(method: str) -> None:
    """Each pattern keeps its own, and so the file keeps mean and covariance of whatever is there in pairs."""
    values = skewed(1000)
    values[:300, 1] = 0.0
    values[200:400, 2] = np.nan
    changeable = ~np.isnan(values) & (values != 0)
    made = noisy(method, 0.5, file_of(values, changeable, np.ones(1000))).values
    for i, j in [(0, 0), (0, 1), (0, 2), (1, 2), (2, 3), (1, 3)]:
        both = ~np.isnan(values[:, [i, j]]).any(axis=1)
        assert apart(values[both][:, [i, j]], made[both][:, [i, j]], np.ones(both.sum())) < 1e-10
    assert (made[:300, 1] == 0).all()


@pytest.mark.parametrize("method", [*EXACT, *TOGETHER])
def test_noise_drawn_together_keeps_linear_relations(method: str) -> None:
    parts = skewed(500)[:, :2]
    values = np.column_stack([parts.sum(axis=1), parts])
    made = noisy(method, 0.5, file_of(values, np.ones_like(values, dtype=bool), np.ones(500))).values
    np.testing.assert_allclose(made[:, 0], made[:, 1] + made[:, 2], atol=1e-6 * values.std())
    assert np.abs(made - values).min(axis=0).max() > 0
    if method in EXACT:
        assert np.abs(np.cov(made, rowvar=False) / np.cov(values, rowvar=False) - 1).max() < 1e-9


def mean_of_runs(method: str, amount: float, values: Floats, runs: int) -> tuple[Floats, Floats]:
    """Means and covariances averaged over files with other draws."""
    everything = np.ones_like(values, dtype=bool)
    made = [noisy(method, amount, file_of(values, everything, np.ones(len(values)), seed)) for seed in range(runs)]
    return (
        np.mean([each.values.mean(axis=0) for each in made], axis=0),
        np.mean([np.cov(each.values, rowvar=False) for each in made], axis=0),
    )


@pytest.mark.parametrize(
    ("method", "amount", "inflation"),
    [("correlated", 0.5, 1.25), ("restricted", 0.5, 1.0), ("restricted", 2.0, 1.0), ("delta", 0.75, 1.0)],
)
def test_moments_are_what_the_method_says_in_expectation(method: str, amount: float, inflation: float) -> None:
    """Over 200 files of 300 records: the error of an average is below 1 % of the standard deviation."""
    values = np.random.default_rng(4).multivariate_normal([10, 20], [[4, 3], [3, 9]], 300)
    centre, covariance = mean_of_runs(method, amount, values, 200)
    sd = values.std(axis=0, ddof=1)
    assert np.abs((centre - values.mean(axis=0)) / sd).max() < 0.015
    wanted = inflation * np.cov(values, rowvar=False)
    assert np.abs((covariance - wanted) / np.outer(sd, sd)).max() < 0.03


def test_additive_noise_has_the_share_of_the_standard_deviation() -> None:
    values = skewed(5000)
    made = noisy("additive", 0.2, file_of(values, np.ones_like(values, dtype=bool), np.ones(5000)))
    assert (made.values - values).std(axis=0) / values.std(axis=0) == pytest.approx(0.2, rel=0.04)
    assert np.sqrt(np.diag(made.covariance)) / values.std(axis=0, ddof=1) == pytest.approx(0.2)
    assert made.covariance[0, 1] == 0


@pytest.mark.parametrize("method", ["multiplicative", "two_sided"])
def test_factors_have_mean_one_and_the_variance_that_is_told(method: str) -> None:
    values = np.full((200_000, 1), 100.0)
    made = noisy(method, 0.2, file_of(values, np.ones_like(values, dtype=bool), np.ones(len(values))))
    factor = made.values / 100
    assert factor.mean() == pytest.approx(1.0, abs=0.002)
    assert made.values.var() == pytest.approx(made.covariance[0, 0], rel=0.02)
    if method == "two_sided":
        assert np.abs(factor - 1).min() >= 0.2 - 1e-12
        assert np.abs(factor - 1).max() <= 0.4 + 1e-12


@pytest.mark.parametrize("method", ["additive", *TOGETHER, *EXACT])
def test_the_covariance_told_to_attackers_is_that_of_the_noise(method: str) -> None:
    """y - m - kept (x - m) is the noise that was added."""
    values = np.random.default_rng(5).multivariate_normal([10, 20], [[4, 3], [3, 9]], 20_000)
    made = noisy(method, 0.5, file_of(values, np.ones_like(values, dtype=bool), np.ones(len(values))))
    centre = values.mean(axis=0)
    noise = made.values - centre - made.kept * (values - centre)
    scale = np.sqrt(np.outer(np.diag(made.covariance), np.diag(made.covariance)))
    assert np.abs((np.cov(noise, rowvar=False) - made.covariance) / scale).max() < 0.03


def test_outliers_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(6)
    values = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 400)
    values[0] = [1.5, -1.5]  # neither number is extreme, both together are
    values[1, 0] = np.nan
    file = file_of(values, ~np.isnan(values), np.ones(400))
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    centre, covariance = middle(values[complete], complete, robust=True)
    wanted = np.zeros(400, dtype=bool)
    for i in range(400):
        for j in range(2):
            there = values[~np.isnan(values[:, j]), j]
            wanted[i] |= values[i, j] < np.quantile(there, 0.01) or values[i, j] > np.quantile(there, 0.99)
        if i in complete:
            moved = values[i] - centre
            wanted[i] |= np.sqrt(moved @ np.linalg.inv(covariance) @ moved) > np.sqrt(chi2.ppf(0.975, 2))
    assert wanted[0]
    found, robust = outlying(file)
    assert robust
    assert found.tolist() == wanted.tolist()
    made = noisy("outliers", 0.5, file)
    assert ((made.values != values).any(axis=1) & ~np.isnan(values).all(axis=1))[wanted].all()
    np.testing.assert_array_equal(made.values[~wanted], values[~wanted])
    assert made.records == wanted.sum()


def test_without_a_robust_covariance_the_percentiles_decide() -> None:
    values = np.arange(1.0, 6.0)[:, None] * [1.0, 2.0, 3.0]
    found, robust = outlying(file_of(values, np.ones_like(values, dtype=bool), np.ones(5)))
    assert found.tolist() == [1, 0, 0, 0, 1]
    assert not robust


@pytest.mark.parametrize("whole_records", [False, True])
def test_redrawing_equals_its_slow_twin(whole_records: bool) -> None:
    """Number by number, or record by record, the first draw that is inside."""
    values = np.random.default_rng(7).uniform(0.0, 1.0, (60, 2))
    limits = no_limits(values)._replace(lower=np.zeros((60, 2)))
    file = file_of(values, values > 0.1, np.ones(60), limits=limits)
    fresh, outside = redrawn(file, np.arange(60), lambda part, normal: part + normal, whole_records=whole_records)
    everyone = np.arange(60)
    for i in range(60):
        cells = [j for j in range(2) if file.changeable[i, j]]
        row = {j: float(values[i, j] + file.draw(everyone, 0)[i, j]) for j in cells}
        for attempt in range(1, masking.TRIES):
            wrong = [j for j in cells if row[j] < 0]
            for j in cells if whole_records and wrong else wrong:
                row[j] = float(values[i, j] + file.draw(everyone, attempt)[i, j])
        assert [fresh[i, j] for j in cells] == [row[j] for j in cells]
    assert outside == 0
    assert (fresh >= 0).all()


def test_what_no_draw_brings_inside_is_mirrored_and_counted() -> None:
    values = np.full((50, 1), 5.0)
    limits = no_limits(values)._replace(lower=np.full((50, 1), 4.999), upper=np.full((50, 1), 5.001))
    file = file_of(values, np.ones_like(values, dtype=bool), np.ones(50), limits=limits)
    fresh, outside = redrawn(file, np.arange(50), lambda part, normal: part + 100 * normal, whole_records=False)
    assert ((fresh >= 4.999) & (fresh <= 5.001)).all()
    assert outside > 40
    near, none = redrawn(file, np.arange(50), lambda part, normal: part + 4e-4 * normal, whole_records=False)
    assert none == 0
    assert len(np.unique(near)) == 50


@pytest.mark.parametrize("seed", range(30))
def test_totals_are_kept_within_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    before = rng.lognormal(2, 1, n) if seed % 3 else rng.normal(0, 3, n)
    before[rng.random(n) < 0.2] = np.nan
    changeable = ~np.isnan(before) & (rng.random(n) < 0.8)
    low = np.where(before > 0, before * 0.3, before * 2) if seed % 2 else np.full(n, -np.inf)
    high = np.where(before > 0, before * 2, before * 0.3) if seed % 2 else np.full(n, np.inf)
    fresh = np.where(changeable, np.clip(before * rng.lognormal(0.2, 0.3, n), low, high), before)
    weight = rng.uniform(1, 5, n)
    made = with_total(before, fresh, changeable, weight, (low, high))
    there = ~np.isnan(before)
    assert weight[there] @ made[there] == pytest.approx(weight[there] @ before[there], rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(made[~changeable], fresh[~changeable])
    assert ((made >= low - 1e-12) & (made <= high + 1e-12))[there].all()
    if not seed % 2 and seed % 3 and changeable.any():
        ratio = made[changeable] / fresh[changeable]
        assert ratio == pytest.approx(ratio[0])


@pytest.mark.parametrize("seed", range(10))
def test_whole_numbers_keep_their_total(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 20, 30)
    values += (np.rint(values.sum()) - values.sum()) / 30
    made = whole_with_total(values, np.ones(30), float(np.rint(values.sum())))
    assert made.sum() == np.rint(values.sum())
    assert np.abs(made - values).max() < 1 + 1e-9
    order = sorted(range(30), key=lambda i: (np.floor(values[i]) - values[i], i))
    up = set(order[: int(made.sum() - np.floor(values).sum())])
    assert [bool(made[i] > np.floor(values[i])) for i in range(30)] == [i in up for i in range(30)]


@pytest.mark.parametrize("seed", range(10))
def test_whole_numbers_under_weights_come_as_near_as_that_order_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weight = rng.normal(0, 20, 30), rng.uniform(1, 9, 30)
    total = float(weight @ values)
    order = sorted(range(30), key=lambda i: (np.floor(values[i]) - values[i], i))
    tries = []
    for count in range(31):
        rounded = [float(np.floor(value)) + (i in order[:count]) for i, value in enumerate(values)]
        tries.append((abs(float(weight @ rounded) - total), rounded))
    assert whole_with_total(values, weight, total).tolist() == min(tries, key=lambda each: each[0])[1]


def test_more_variables_than_a_byte_has_bits_make_patterns_too() -> None:
    values = np.random.default_rng(8).normal(size=(300, 11))
    values[:100, 9] = np.nan
    found = groups(values, ~np.isnan(values), np.ones(300))
    assert sorted((len(each.rows), len(each.columns), each.own) for each in found) == [(100, 10, True), (200, 11, True)]
