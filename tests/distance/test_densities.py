import numpy as np
import pytest
import slow_linkage as slow
from scipy.stats import ks_2samp, norm

from tacita.distance import densities as d
from tacita.distance import histogram as h
from tacita.distance.critical import most_counted
from tacita.distance.sweep import pairs


def estimate(values: slow.Floats, grid: slow.Floats, bandwidth: float) -> slow.Floats:
    return norm.pdf((grid[:, None] - values) / bandwidth).mean(axis=1) / bandwidth


def test_smoothed_by_hand() -> None:
    # On points of the grid there is nothing to share out.
    grid = np.linspace(-2.0, 2.0, 401)
    found = d.smoothed(np.array([-0.5, 0.25]), np.array([2.0, 1.0]), grid, 0.2)
    expected = 2.0 * norm.pdf(grid, -0.5, 0.2) + norm.pdf(grid, 0.25, 0.2)
    assert np.abs(found - expected).max() < 1e-4 * expected.max()
    assert found[0] == 0.0


def test_values_beyond_the_grid_are_felt() -> None:
    grid = np.linspace(0.0, 1.0, 101)
    found = d.smoothed(np.array([1.1, 9.0]), np.ones(2), grid, 0.1)
    assert found[100] == pytest.approx(norm.pdf(1.0, 1.1, 0.1))
    assert found[0] == 0.0


def test_silverman() -> None:
    values = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    expected = 0.9 * min(np.std(values, ddof=1), (8.0 - 2.0) / 1.34) * 5**-0.2
    assert d.silverman(values) == pytest.approx(expected)
    mostly_the_same = np.array([1.0] * 9 + [5.0])
    assert d.silverman(mostly_the_same) == pytest.approx(0.9 * np.std(mostly_the_same, ddof=1) * 10**-0.2)
    assert d.silverman(np.ones(4)) == d.silverman(np.ones(1)) == d.NARROWEST


@pytest.mark.parametrize("binned", [False, True])
def test_densities_against_all_pairs(binned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if binned:
        monkeypatch.setattr(h, "FEW", 0)
    y, x = slow.files("plain", 250, 2, seed=3)
    z = slow.z(y, x)
    found = d.densities(pairs(y, x), 0.05)
    true, others = np.log(np.diag(z)), np.log(z[~np.eye(250, dtype=np.bool_)])
    assert found.bandwidth == pytest.approx(d.silverman(true))
    for density, values in ((found.m, true), (found.u, others)):
        expected = estimate(values, found.log_z, found.bandwidth)
        assert np.abs(density - expected).max() < (0.01 if binned else 0.002) * expected.max()
    assert np.sum(found.m) * (found.log_z[1] - found.log_z[0]) == pytest.approx(1.0, abs=1e-4)
    assert (found.m[0], found.m[-1]) == (0.0, 0.0)


@pytest.mark.parametrize(
    "log_z",
    [
        (-0.013073031167912526, -0.012039242283769918),
        (5.91817066680413, 6.273004485971071),
        (6.640508609922606, 6.681316994694509),
    ],
)
def test_m_is_0_at_both_ends_of_the_grid_however_it_is_rounded(log_z: tuple[float, ...]) -> None:
    """Else t could be above tau at an end, and the region of z would have an interval without one."""
    values = np.array(log_z)
    bandwidth = d.silverman(values)
    grid = d._grid(values, bandwidth)
    m = d.smoothed(values, np.ones(len(values)), grid, bandwidth)
    assert (m[0], m[-1]) == (0.0, 0.0)
    assert d._region(grid, d._log_ratio(m, np.ones(len(m))), 0.0, 0.0).shape[1] == 2


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3])
def test_critical_ratio_against_all_pairs(kind: str, alpha: float) -> None:
    y, x = slow.files(kind, 200, 2, seed=4)
    z, given = slow.z(y, x), pairs(y, x)
    found = d.densities(given, alpha)
    ratio = found.ratio(z)
    others = np.sort(ratio[~np.eye(200, dtype=np.bool_)])[::-1]
    wanted = most_counted(alpha, len(others))
    # As many as possible, those with the same t together.
    assert np.count_nonzero(others > found.tau) == np.count_nonzero(others > others[wanted])
    likely = d.in_region(z.ravel(), found.region).reshape(z.shape)
    differ = likely != (ratio > found.tau)
    assert np.allclose(ratio[differ], found.tau, rtol=1e-9)  # two z that differ by rounding may be on either side
    assert np.count_nonzero(differ) <= 2
    count, inside = d.likely_neighbours(given, found.region)
    assert count.tolist() == likely.sum(axis=1).tolist()
    assert inside.tolist() == np.diag(likely).tolist()


def test_a_ratio_that_is_not_monotone() -> None:
    # True links are never very near: every unit was moved by about a tenth.
    draw = np.random.default_rng(5)
    x = np.exp(draw.normal(size=(300, 1))) + 3.0
    y = x * np.where(draw.random((300, 1)) < 0.5, 0.9, 1.1) * np.exp(0.004 * draw.normal(size=(300, 1)))
    given = pairs(y, x)
    found = d.densities(given, 0.05)
    assert found.region[0, 0] > 0.05
    z = slow.z(y, x)
    expected = (found.ratio(z) > found.tau).sum(axis=1)
    assert d.likely_neighbours(given, found.region)[0].tolist() == expected.tolist()


def test_binned_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h, "FEW", 0)
    y, x = slow.files("plain", 400, 2, seed=6)
    given = pairs(y, x)
    found = d.densities(given, 0.05)
    assert 0 < found.width <= found.bandwidth / 4
    count, inside = d.likely_neighbours(given, found.region)
    share = (count.sum() - inside.sum()) / (400 * 399)
    assert 0.0485 < share < 0.0515
    monkeypatch.undo()
    assert d.densities(given, 0.05).tau == pytest.approx(found.tau, rel=0.03)


def test_sampled_ratio() -> None:
    y, x = slow.files("plain", 400, 2, seed=6)
    given = pairs(y, x)
    found = d.densities(given, 0.05, sample=50_000)
    assert found.tau == pytest.approx(d.densities(given, 0.05).tau, rel=0.1)


def test_zero_is_moved() -> None:
    x = np.array([[1.0], [2.0], [4.0], [8.0]])
    y = np.array([[1.0], [2.0], [4.0], [16.0]])
    found = d.densities(pairs(y, x), 0.05)
    # The smallest positive z is 0.5: that of 16 and 8, and of 4 and 2, of 2 and 1.
    assert found.zero == 0.25
    assert found.ratio(np.array([0.0])) == found.ratio(np.array([0.25]))
    assert found.region[0, 0] == 0.0
    count, inside = d.likely_neighbours(pairs(y, x), found.region)
    assert (count.tolist(), inside.tolist()) == ([1, 1, 1, 0], [True, True, True, False])


@pytest.mark.parametrize("n", [1, 2])
def test_few_records(n: int) -> None:
    y, x = slow.files("plain", n, 2, seed=7)
    given = pairs(y, x)
    found = d.densities(given, 0.05)
    assert np.isfinite(found.m).all()
    assert len(d.likely_neighbours(given, found.region)[0]) == n


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("binned", [False, True])
def test_kolmogorov_smirnov(kind: str, binned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = slow.files(kind, 150, 2, seed=8)
    z, given = slow.z(y, x), pairs(y, x)
    others = z[~np.eye(150, dtype=np.bool_)]
    expected = ks_2samp(np.diag(z), others, method="asymp").statistic
    if binned:
        monkeypatch.setattr(h, "FEW", 0)
    found = d.kolmogorov_smirnov(given, h.distribution(given, 0.05))
    if binned:
        assert found.distance - 1e-12 <= expected <= found.distance + found.error + 1e-12
        assert found.error < 0.1
    else:
        assert found.distance == pytest.approx(expected, abs=1e-12)
        assert found.error == 0.0
    n1, n2 = 150, 150 * 149
    assert found.log_p == pytest.approx(min(0.0, np.log(2) - 2 * found.distance**2 * n1 * n2 / (n1 + n2)))


def test_kolmogorov_smirnov_of_a_cut_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h, "FEW", 0)
    y, x = slow.files("plain", 300, 2, seed=8)
    z, given = slow.z(y, x), pairs(y, x)
    expected = ks_2samp(np.diag(z), z[~np.eye(300, dtype=np.bool_)], method="asymp").statistic
    found = d.kolmogorov_smirnov(given, h.distribution(given, 0.01, 2.0 * np.diag(z).max()))
    assert found.distance - 1e-12 <= expected <= found.distance + found.error + 1e-12


def test_one_record_is_compared_with_nobody() -> None:
    given = pairs(np.array([[1.0]]), np.array([[2.0]]))
    assert d.kolmogorov_smirnov(given, h.distribution(given, 0.1)) == (0.0, 0.0, 0.0)
