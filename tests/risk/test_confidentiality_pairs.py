"""Neighbours, links and likelihood ratios of whole files against all n x n pairs, and by hand."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import ks_2samp

import tacita as tc
from tacita.risk.confidentiality_plot.result import Confidentiality

Floats = NDArray[np.float64]


def table(values: Floats, stratum: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({f"k{place}": column for place, column in enumerate(values.T)} | {"g": stratum})


def all_z(y: Floats, x: Floats) -> Floats:
    """z of every pair, dimension by dimension."""
    total, size = np.zeros((len(y), len(x))), np.zeros(len(y))
    for a, b in zip(y.T, x.T, strict=True):
        total, size = total + (a[:, None] - b) ** 2, size + a**2
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.sqrt(total) / np.sqrt(size)[:, None]
    return np.where(total == 0, 0.0, z)


def files(kind: str, n: int, seed: int) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(seed)
    x = np.exp(draw.normal(3.0, 1.0, (n, 2)))
    y = x * np.exp(0.2 * draw.normal(size=x.shape))
    if kind == "ties":
        x = draw.integers(1, 12, x.shape).astype(np.float64)
        y = np.maximum(x + draw.integers(-1, 2, x.shape), 0.0)
    elif kind == "duplicates":
        x = x[draw.integers(0, max(n // 3, 1), n)]
        y = np.where(draw.random((n, 1)) < 0.6, x, x[::-1])
    elif kind == "zeros":  # records of zeros: their norm is 0
        x[draw.random(x.shape) < 0.5] = 0.0
        y = np.where(draw.random((n, 1)) < 0.5, x, 0.0)
    elif kind == "constant":
        x[:, 1] = y[:, 1] = 7.0
    elif kind == "all the same":
        x[:], y[:] = 3.0, 3.0
    return x, y


KINDS = ["plain", "ties", "duplicates", "zeros", "constant", "all the same"]


def check_stratum(found: Confidentiality, rows: NDArray[np.int64], x: Floats, y: Floats, alpha: float) -> None:
    place, z = int(found.stratum[rows[0]]), all_z(y, x)
    n = len(rows)
    own, others = np.diag(z), z[~np.eye(n, dtype=np.bool_)]
    delta = found.delta[place]
    wanted = int(Fraction(repr(alpha)) * len(others))
    assert np.count_nonzero(others < delta) <= wanted
    if len(others):
        later = np.sort(others[others >= delta])
        assert np.count_nonzero(others <= later[0]) > wanted
    assert found.neighbours[rows].tolist() == (z < delta).sum(axis=1).tolist()
    assert found.inside[rows].tolist() == (own < delta).tolist()
    assert found.distance[rows].tolist() == own.tolist()
    near = np.array([[math.dist(a, b) for b in x] for a in y])
    ties = (near <= near.min(axis=1, keepdims=True) * (1 + 1e-12)).sum(axis=1)
    right = np.diag(near) <= near.min(axis=1) * (1 + 1e-12)
    assert found.correct[rows] == pytest.approx(right / ties)
    check_ratio(found, rows, z, alpha)


def check_ratio(found: Confidentiality, rows: NDArray[np.int64], z: Floats, alpha: float) -> None:
    assert found.ratios is not None
    assert found.likely_neighbours is not None
    assert found.likely_inside is not None
    ratio = found.ratios[int(found.stratum[rows[0]])]
    own, others = np.diag(z), z[~np.eye(len(z), dtype=np.bool_)]
    if not len(others):
        assert math.isnan(ratio.distance)
        assert found.likely_neighbours[rows].tolist() == [0]
        return
    assert ratio.distance == pytest.approx(ks_2samp(own, others, method="asymp").statistic, abs=1e-12)
    n1, n2 = len(own), len(others)
    expected = math.log(2) - 2 * ratio.distance**2 * n1 * n2 / (n1 + n2)
    assert ratio.log_p == pytest.approx(min(0.0, expected))
    t, tau = ratio.densities.ratio(z), ratio.densities.tau
    # Two z that differ by rounding may be on either side of tau.
    close = np.isclose(t, tau, rtol=1e-9)
    sure, likely = (t > tau) & ~close, (t > tau) | close
    assert (sure.sum(axis=1) <= found.likely_neighbours[rows]).all()
    assert (found.likely_neighbours[rows] <= likely.sum(axis=1)).all()
    assert (np.diag(sure) <= found.likely_inside[rows]).all()
    assert (found.likely_inside[rows] <= np.diag(likely)).all()
    apart = ~np.eye(len(z), dtype=np.bool_)
    assert np.count_nonzero(sure[apart]) <= alpha * n2
    # The histograms hold every pair.
    for histogram in (ratio.z, ratio.t):
        assert int(histogram.true.sum()) + histogram.true_beyond == n1
        assert histogram.others.sum() + histogram.others_beyond == pytest.approx(n2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("sizes", "alpha"), [((1, 2, 37), 0.05), ((120, 60), 0.3), ((3, 5, 1), 0.5)])
def test_against_all_pairs(kind: str, sizes: tuple[int, ...], alpha: float) -> None:
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    parts = [files(kind, size, seed) for seed, size in enumerate(sizes)]
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    shuffled = np.random.default_rng(9).permutation(len(stratum))
    x, y, stratum = x[shuffled], y[shuffled], stratum[shuffled]
    found = tc.risk.confidentiality(
        table(x, stratum), table(y, stratum), tc.Scenario(numeric_keys=["k0", "k1"]), strata="g", alpha=alpha
    )
    for place in range(len(sizes)):
        rows = np.flatnonzero(stratum == place)
        check_stratum(found, rows, x[rows], y[rows], alpha)


def test_five_hundred_records_in_one_stratum() -> None:
    x, y = files("plain", 500, 4)
    found = tc.risk.confidentiality(
        table(x, np.zeros(500, np.int64)), table(y, np.zeros(500, np.int64)), tc.Scenario(numeric_keys=["k0", "k1"])
    )
    check_stratum(found, np.arange(500), x, y, 0.05)


def test_densities_and_tau_from_the_definition() -> None:
    """Gaussian kernels on log z, Silverman's bandwidth of the true links for both; tau: a quantile over other pairs."""
    x, y = files("plain", 200, 6)
    found = tc.risk.confidentiality(
        table(x, np.zeros(200, np.int64)), table(y, np.zeros(200, np.int64)), tc.Scenario(numeric_keys=["k0", "k1"])
    )
    assert found.ratios is not None
    ratio = found.ratios[0]
    z = all_z(y, x)
    own, others = np.log(np.diag(z)), np.log(z[~np.eye(200, dtype=np.bool_)])
    first, third = np.quantile(own, [0.25, 0.75])
    bandwidth = 0.9 * min(np.std(own, ddof=1), (third - first) / 1.34) * 200**-0.2

    grid = np.linspace(others.min(), others.max(), 600)

    def density(at: Floats, values: Floats) -> Floats:
        """The mean of Gaussian kernels; SciPy's own would take several times as long."""
        apart = (at[:, None] - values) / bandwidth
        return np.asarray(np.exp(-apart * apart / 2).mean(axis=1) / (bandwidth * np.sqrt(2 * np.pi)))

    m, u = density(grid, own), density(grid, others)

    def t(at: Floats) -> Floats:
        return np.asarray(np.interp(at, grid, m / u))

    assert float(np.quantile(t(others), 0.95)) == pytest.approx(ratio.densities.tau, rel=0.01)
    inside = np.count_nonzero(t(own) > ratio.densities.tau)
    assert found.rows()[0].likely_links == pytest.approx(inside, abs=1)
    # The curves of the figure are the same densities, over the whole range.
    curves = ratio.curves
    for found_density, values in ((curves.m, own), (curves.u, others)):
        expected = density(curves.log_z, values)
        assert np.abs(found_density - expected).max() < 0.01 * expected.max()


def test_by_hand() -> None:
    """z: 1/11, 9/11, 29/11 | 10/20, 0, 20/20 | 20/30, 10/30, 10/30; of the six wrong ones the second is 1/2."""
    original, released = pl.DataFrame({"x": [10.0, 20.0, 40.0]}), pl.DataFrame({"x": [11.0, 20.0, 30.0]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys="x"), alpha=0.4)
    assert found.delta.tolist() == pytest.approx([(1 / 2 + 2 / 3) / 2])
    assert found.neighbours.tolist() == [1, 2, 2]
    assert found.inside.tolist() == [True, True, True]
    assert found.correct.tolist() == [1.0, 1.0, 0.5]  # 30 is as far from 20 as from 40
    assert found.perturbation.tolist() == pytest.approx([0.1, 0.0, 0.25])
    assert found.distance.tolist() == pytest.approx([1 / 11, 0.0, 1 / 3])
    assert found.ratios is not None
    # All true links, and one of six other pairs, are at most 1/3 apart.
    assert found.ratios[0].distance == pytest.approx(5 / 6)
    assert found.ratios[0].log_p == pytest.approx(math.log(2) - 2 * (5 / 6) ** 2 * 3 * 6 / 9)
    row = found.rows()[0]
    assert (row.nearest_links, row.true_link_inside, row.empty) == (2.5, 3, 0)
    assert (row.mean_neighbours, row.expected_neighbours) == pytest.approx((5 / 3, 0.8))


def test_one_record_and_two() -> None:
    one = tc.risk.confidentiality(pl.DataFrame({"x": [5.0]}), pl.DataFrame({"x": [6.0]}), tc.Scenario(numeric_keys="x"))
    assert (one.neighbours.tolist(), one.correct.tolist(), one.delta.tolist()) == ([0], [1.0], [0.0])
    assert "nan" not in str(one)
    assert "inf" not in str(one)
    two = tc.risk.confidentiality(
        pl.DataFrame({"x": [5.0, 9.0]}), pl.DataFrame({"x": [6.0, 9.0]}), tc.Scenario(numeric_keys="x"), alpha=0.5
    )
    # z of the wrong pairs: 3/6 and 4/9; one of them is counted.
    assert two.delta.tolist() == pytest.approx([(1 / 2 + 4 / 9) / 2])
    assert two.neighbours.tolist() == [1, 2]


def test_nothing_but_one_record_strata() -> None:
    frame = pl.DataFrame({"x": [5.0, 7.0], "g": [1, 2]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), strata="g")
    assert math.isnan(found.rows()[-1].delta)  # no stratum has a critical distance to average
    assert found.ks_table()["distance"].to_list() == [None, None]
    assert found.table()["delta"].to_list() == [0.0, 0.0, None]
    assert "nan" not in str(found)


def test_missing_values_are_left_out_of_both_files() -> None:
    original = pl.DataFrame({"x": [10.0, None, 20.0, 40.0, 7.0], "g": ["a", "a", "a", "a", "a"]})
    released = pl.DataFrame({"x": [11.0, 3.0, 20.0, 30.0, None], "g": ["a", "a", "a", "a", "a"]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys="x"), strata="g", alpha=0.4)
    assert (found.record.tolist(), found.left_out) == ([1, 3, 4], 2)
    assert found.neighbours.tolist() == [1, 2, 2]
    assert "2 records left out: a key is missing or has no logarithm" in str(found)


def test_given_delta_and_ratio() -> None:
    x, y = files("plain", 80, 2)
    zero = np.zeros(80, np.int64)
    found = tc.risk.confidentiality(
        table(x, zero), table(y, zero), tc.Scenario(numeric_keys=["k0", "k1"]), delta=0.2, alpha=0.1
    )
    z = all_z(y, x)
    assert found.neighbours.tolist() == (z < 0.2).sum(axis=1).tolist()
    assert (found.alpha, found.level) == (None, 0.1)
    check_ratio(found, np.arange(80), z, 0.1)


def test_without_ratio() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), ratio=False)
    assert found.ratios is None
    assert np.isnan(found.tau).all()
    assert "tau" not in found.table().columns
    assert "tau" not in str(found)
    assert "likely_neighbours" not in found.to_frame().columns
    for ask in (found.ks_table, found.by_ratio):
        with pytest.raises(tc.TacitaError, match="ask for it with ratio=True"):
            ask()
    with pytest.raises(tc.TacitaError) as error:
        found.plot("densities")
    assert str(error.value) == "the distributions of z were not worked out; ask for them with ratio=True."


def test_a_large_file_says_that_the_ratio_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacita.risk.confidentiality_plot import confidentiality as measure

    monkeypatch.setattr(measure, "RATIO_PAIRS", 8)
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"))
    assert found.ratios is None
    assert "likelihood ratio: not worked out for so many pairs; ask for it with ratio=True" in str(found)
    assert tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), ratio=True).ratios is not None
    assert tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), ratio=False).notes == ()


def test_neighbours_by_ratio_in_the_plot() -> None:
    survey = tc.business_survey(300)
    found = tc.risk.confidentiality(
        survey.data, tc.log_noise(survey.data, ["turnover"]), tc.Scenario(numeric_keys="turnover"), log=True
    )
    other = found.by_ratio()
    assert found.likely_neighbours is not None
    assert found.likely_inside is not None
    assert other.neighbours.tolist() == found.likely_neighbours.tolist()
    assert other.inside.tolist() == found.likely_inside.tolist()
    few = found.likely_neighbours.astype(np.float64)
    assert other.unsafe.tolist() == found.limits.unsafe(few, found.perturbation).tolist()
    assert found.neighbours.tolist() != other.neighbours.tolist()


@pytest.mark.parametrize("metric", ["relative", "standardised", "mahalanobis", "gower"])
@pytest.mark.parametrize("log", [False, "unit_free"])
def test_the_order_of_the_records_does_not_matter(metric: str, log: bool | str) -> None:
    """Bit for bit, so that no record flips at a limit when a file is sorted."""
    x, y = files("ties", 150, 8)
    stratum = np.random.default_rng(1).integers(0, 2, 150)
    numbers, rows = np.arange(501, 651), np.random.default_rng(2).permutation(150)
    first, second = (
        tc.Data(table(x, stratum), numbers_of_records=numbers),
        tc.Data(table(y, stratum), numbers_of_records=numbers),
    )
    plain = tc.risk.confidentiality(
        first, second, tc.Scenario(numeric_keys=["k0", "k1"]), strata="g", metric=metric, log=log
    )
    permuted = tc.risk.confidentiality(
        first.take(rows), second, tc.Scenario(numeric_keys=["k0", "k1"]), strata="g", metric=metric, log=log
    )
    assert str(permuted) == str(plain)
    assert permuted.to_frame().equals(plain.to_frame()[rows])
    assert permuted.tau.tolist() == plain.tau.tolist()
    assert permuted.ks_table().equals(plain.ks_table())


def test_input_is_not_changed() -> None:
    x, y = files("plain", 30, 1)
    zero = np.zeros(30, np.int64)
    original, released = table(x, zero).to_pandas(), table(y, zero).to_pandas()
    before = original.copy(), released.copy()
    tc.risk.confidentiality(
        original, released, tc.Scenario(numeric_keys=["k0", "k1"]), metric="mahalanobis", log="unit_free"
    )
    assert original.equals(before[0])
    assert released.equals(before[1])


def test_infinite_z_in_the_kolmogorov_smirnov_distance() -> None:
    """A released record of zeros is infinitely far from every original but one of zeros."""
    original, released = pl.DataFrame({"x": [1.0, 2.0, 4.0]}), pl.DataFrame({"x": [0.0, 2.0, 4.0]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys="x"))
    # True links: inf, 0, 0. Others: inf, inf, 1/2, 1, 3/4, 1/2. D is 2/3, at 0.
    assert found.ks_table()["distance"].to_list() == pytest.approx([2 / 3])


def test_pairs_counted_in_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large stratum: the pairs of different records are not listed, and the result says so."""
    from tacita.distance import histogram

    x, y = files("plain", 300, 5)
    original, released = (table(each, np.zeros(300, np.int64)) for each in (x, y))
    exact = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys=["k0", "k1"]))
    monkeypatch.setattr(histogram, "FEW", 0)
    binned = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys=["k0", "k1"]))
    assert binned.neighbours.tolist() == exact.neighbours.tolist()
    assert binned.tau == pytest.approx(exact.tau, rel=0.05)
    assert "likelihood ratio: pairs counted in bins of" in str(binned)
    assert exact.notes == ()
    assert binned.ratios is not None
    assert exact.ratios is not None
    found, true = binned.ratios[0], exact.ratios[0]
    assert found.distance - 1e-12 <= true.distance <= found.distance + found.error + 1e-12
    for histogram_of, of_all in ((found.z, true.z), (found.t, true.t)):
        assert histogram_of.others.sum() + histogram_of.others_beyond == pytest.approx(300 * 299)
        assert histogram_of.true.sum() + histogram_of.true_beyond == 300
        assert histogram_of.others[0] == pytest.approx(of_all.others[0], rel=0.1)
