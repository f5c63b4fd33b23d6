import math

import numpy as np
import pytest
import slow_linkage as slow
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tacita.check import TacitaError
from tacita.distance import distances as d

number = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.0, -1.0, 1e8]), st.floats(-1e3, 1e3))
METRICS = [
    d.euclidean(np.array([1.0, 0.3])),
    d.manhattan(np.array([1.0, 0.3])),
    d.chebyshev(np.array([1.0, 0.3])),
    d.gower(np.array([3.0, 1.0]), np.array([False, True])),
]
every_metric = pytest.mark.parametrize("metric", METRICS, ids=["euclidean", "manhattan", "chebyshev", "gower"])


def test_by_hand() -> None:
    y, x = np.array([[3.0, 4.0]]), np.array([[0.0, 0.0]])
    one = np.ones(2)
    assert d.distances(y, x, d.euclidean(one)).tolist() == [5.0]
    assert d.distances(y, x, d.manhattan(one)).tolist() == [7.0]
    assert d.distances(y, x, d.chebyshev(one)).tolist() == [4.0]
    assert d.norms(y, d.euclidean(np.array([2.0, 1.0]))).tolist() == [math.sqrt(36 + 16)]
    # 3 of a width of 6 and another category: (0.5 * 1 + 1 * 3) / 4
    gower = d.gower(np.array([6.0, 9.0]), np.array([False, True]), np.array([1.0, 3.0]))
    assert d.distances(y, x, gower).tolist() == [0.875]
    same = d.gower(np.array([6.0, 9.0]), np.array([False, True]))
    assert d.distances(np.array([[3.0, 4.0]]), np.array([[0.0, 4.0]]), same).tolist() == [0.25]


def test_gower_without_width() -> None:
    metric = d.gower(np.array([0.0, 2.0]), np.array([False, False]))
    assert metric.weight.tolist() == [0.0, 0.25]


@every_metric
@given(st.lists(st.tuples(number, number), min_size=1, max_size=12), st.data())
def test_sums_are_the_same_everywhere_and_inside_the_bounds(
    metric: d.Metric, rows: list[tuple[float, float]], data: st.DataObject
) -> None:
    points = np.array(rows)
    cut = data.draw(st.integers(0, len(rows) - 1))
    first, second = points[: cut + 1], points[cut:]
    expected = slow.sums(first, second, metric)
    out, single = np.empty(expected.shape), np.empty(expected.shape)
    d.sums(np.ascontiguousarray(second.T), len(second), first, 0, len(first), metric, out)
    for i, k in np.ndindex(*expected.shape):
        single[i, k] = d.sum_at(np.ascontiguousarray(second.T), int(k), first, int(i), metric)
    assert np.array_equal(out, expected)
    assert np.array_equal(single, expected)
    boxes = [(np.array([box.min(axis=0)]), np.array([box.max(axis=0)])) for box in (first, second)]
    (low, high), (other_low, other_high) = boxes
    assert d.near_sum(low, high, 0, other_low, other_high, 0, metric) <= expected.min()
    assert d.far_sum(low, high, 0, other_low, other_high, 0, metric) >= expected.max()


@given(
    st.one_of(st.floats(0, 10), st.sampled_from([0.0, 1e-320, 5e-324, 1e-160, 1e300, np.inf, np.nan])),
    st.one_of(st.floats(0, 1e3), st.sampled_from([0.0, 1e-320, 1e-160, 1e160, 1e300])),
    st.booleans(),
)
def test_greatest_sum_is_the_last_below(delta: float, norm: float, rooted: bool) -> None:
    found = d.greatest_sums(np.array([delta]), np.array([norm]), rooted)[0]
    if found < 0:
        assert not d.relative(0.0, norm, rooted) < delta
        return
    assert d.relative(found, norm, rooted) < delta
    after = math.nextafter(found, math.inf)
    assert math.isinf(after) or not d.relative(after, norm, rooted) < delta


def test_relative_to_nothing() -> None:
    assert d.relative(0.0, 0.0, True) == 0.0
    assert d.relative(1.0, 0.0, True) == np.inf
    assert d.relative(4.0, 2.0, True) == 1.0
    assert d.relative(4.0, 2.0, False) == 2.0


def test_mahalanobis() -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=(60, 3)) @ draw.normal(size=(3, 3)) * [1.0, 1e6, 1e-6]
    y = x[:20] + 0.1 * x.std(axis=0)
    matrix = d.mahalanobis_map(x)
    expected = cdist(y, x, "mahalanobis", VI=np.linalg.inv(np.cov(x, rowvar=False)))
    assert np.allclose(cdist(d.mapped(y, matrix), d.mapped(x, matrix)), expected, rtol=1e-6)


def test_mahalanobis_leaves_out_what_does_not_vary() -> None:
    x = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [4.0, 5.0, 8.0]])
    matrix = d.mahalanobis_map(x)
    assert matrix.shape == (3, 1)
    expected = np.abs(x[:, :1] - x[:, 0]) / x[:, 0].std(ddof=1)
    assert np.allclose(np.abs(d.mapped(x, matrix) - d.mapped(x, matrix).T), expected)


def test_equal_rows_are_mapped_to_equal_rows() -> None:
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(1, 7))
    image = d.mapped(np.repeat(rows, 101, axis=0), draw.normal(size=(7, 7)))
    assert (image == image[0]).all()


def test_standard_weight() -> None:
    values = np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]])
    assert d.standard_weight(values).tolist() == [1 / np.std([1.0, 3.0, 8.0], ddof=1), 0.0]
    assert d.standard_weight(values[:1]).tolist() == [0.0, 0.0]
    assert d.standard_weight(np.full((3, 1), 0.1)).tolist() == [0.0]


def test_log_scale() -> None:
    values = np.array([[0.0, 1.0], [math.e, 1.0], [-0.5, 2.0]])
    shifted, kept = d.log_scale(values, "shift")
    assert kept.tolist() == [True, True, False]
    assert shifted[:2].tolist() == [[0.0, np.log1p(1.0)], [np.log1p(math.e), np.log1p(1.0)]]
    assert np.isnan(shifted[2]).all()
    logs, kept = d.log_scale(values, "exclude")
    assert kept.tolist() == [False, True, False]
    assert logs[1].tolist() == [1.0, 0.0]
    with pytest.raises(TacitaError, match="zeros must be 'shift' or 'exclude'; got 'drop'"):
        d.log_scale(values, "drop")  # type: ignore[arg-type]


def test_overflow() -> None:
    y, x = np.array([[1e200, 1.0]]), np.array([[3e200, 1.0]])
    metric, unit = d.without_overflow(d.euclidean(np.ones(2)), y, x)
    assert d.distances(y, x, metric)[0] / d.norms(y, metric)[0] == 2.0
    assert d.distances(y, x, metric)[0] / unit == 2e200


def test_categories_have_no_norm() -> None:
    with pytest.raises(TacitaError) as error:
        d.norms(np.ones((1, 2)), METRICS[3])
    assert str(error.value) == "categories have no size to compare a distance with; use relative=False."
