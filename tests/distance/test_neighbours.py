import numpy as np
import pytest
import slow_linkage as slow

from tacita.distance import distances as d
from tacita.distance.neighbours import nearest, neighbour_counts

METRICS = {
    "euclidean": None,
    "weighted": d.euclidean(np.array([1.0, 1e-3])),
    "manhattan": d.manhattan(np.ones(2)),
    "chebyshev": d.chebyshev(np.ones(2)),
}
GOWER = d.gower(np.array([30.0, 1.0]), np.array([False, True]))


def test_neighbours_by_hand() -> None:
    y, x = np.array([[10.0], [20.0], [100.0]]), np.array([[11.0], [19.0], [50.0]])
    found = neighbour_counts(y, x, 0.45)
    assert found.count.tolist() == [1, 1, 0]  # z of 20 and 11 is 0.45, which is not below it
    assert found.true.tolist() == [0.1, 0.05, 0.5]
    assert found.true_link_inside.tolist() == [True, True, False]
    assert found.empty.tolist() == [False, False, True]
    assert neighbour_counts(y, x, np.array([1.0, 0.5, 0.51])).count.tolist() == [2, 2, 1]
    assert neighbour_counts(y, x, 9.0, relative=False).count.tolist() == [1, 1, 0]
    assert neighbour_counts(y, x, np.nan).count.tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 400])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_neighbours_against_all_pairs(kind: str, n: int, dimensions: int) -> None:
    y, x = slow.files(kind, n, dimensions, seed=n + dimensions)
    z = slow.z(y, x)
    for delta in (0.0, 0.05, 0.5, *z[0, :3], np.inf):
        found = neighbour_counts(y, x, delta)
        assert found.count.tolist() == (z < delta).sum(axis=1).tolist()
        assert found.true.tolist() == np.diag(z).tolist()
        assert found.true_link_inside.tolist() == (np.diag(z) < delta).tolist()
        assert found.empty.tolist() == (~(z < delta).any(axis=1)).tolist()


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("relative", [False, True])
def test_neighbours_in_groups(name: str, relative: bool) -> None:
    y, x = slow.files("ties", 300, 2, seed=3)
    groups = np.random.default_rng(4).integers(0, 4, 300)
    z = slow.z(y, x, METRICS[name], relative)
    delta = np.linspace(0.01, 0.4, 300)
    found = neighbour_counts(y, x, delta, metric=METRICS[name], relative=relative, groups=groups)
    expected = (z < delta[:, None]) & (groups[:, None] == groups)
    assert found.count.tolist() == expected.sum(axis=1).tolist()


def test_neighbours_by_gower() -> None:
    y, x = slow.files("ties", 200, 2, seed=3)
    found = neighbour_counts(y, x, 0.2, metric=GOWER, relative=False)
    assert found.count.tolist() == (slow.z(y, x, GOWER, relative=False) < 0.2).sum(axis=1).tolist()


def test_links_by_hand() -> None:
    y, x = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [3.0], [1.0]])
    found = nearest(y, x)
    assert found.row.tolist() == [[0, 2], [0, 1], [1, 0]]
    assert found.distance.tolist() == [[1.0, 1.0], [1.0, 1.0], [6.0, 8.0]]
    assert found.ties.tolist() == [2, 3, 1]
    assert found.true_is_nearest.tolist() == [True, True, False]
    assert found.correct.tolist() == [0.5, 1 / 3, 0.0]


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 400])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_links_against_all_pairs(kind: str, n: int, k: int) -> None:
    for dimensions in (1, 2, 4):
        y, x = slow.files(kind, n, dimensions, seed=n + dimensions)
        total = slow.sums(y, x)
        rows, sums, ties = slow.nearest(total, k)
        found = nearest(y, x, k=k)
        assert found.row.tolist() == rows.tolist()
        assert found.distance.tolist() == np.sqrt(sums).tolist()
        assert found.ties.tolist() == ties.tolist()
        true = np.diag(total) == total.min(axis=1)
        assert found.true_is_nearest.tolist() == true.tolist()
        assert found.correct.tolist() == (true / ties).tolist()


@pytest.mark.parametrize("metric", [*METRICS.values(), GOWER])
def test_links_in_groups(metric: d.Metric | None) -> None:
    y, x = slow.files("ties", 300, 2, seed=3)
    groups = np.random.default_rng(4).choice([0, 1, 4], 300)
    groups[7] = 2  # alone in its group
    total = slow.sums(y, x, metric)
    total[groups[:, None] != groups] = np.inf
    rows, sums, ties = slow.nearest(total, 2)
    found = nearest(y, x, metric=metric, groups=groups)
    rows[np.isinf(sums)] = -1
    assert found.row.tolist() == rows.tolist()
    assert found.ties.tolist() == ties.tolist()
    rooted = metric is None or metric.rooted
    assert np.allclose(found.distance, np.sqrt(sums) if rooted else sums, rtol=1e-15)
    assert found.row[7].tolist() == [7, -1]


def test_input_is_not_changed() -> None:
    y, x = slow.files("plain", 200, 2, seed=3)
    before = y.copy(), x.copy()
    neighbour_counts(y, x, 0.1)
    nearest(y, x)
    assert np.array_equal(y, before[0])
    assert np.array_equal(x, before[1])


def test_any_layout_of_the_arrays() -> None:
    y, x = slow.files("plain", 200, 3, seed=3)
    fortran = nearest(np.asfortranarray(y)[:, :2], np.asfortranarray(x)[:, :2])
    assert fortran.row.tolist() == nearest(y[:, :2].copy(), x[:, :2].copy()).row.tolist()
    count = neighbour_counts(np.asfortranarray(y), np.asfortranarray(x), 0.2).count
    assert count.tolist() == neighbour_counts(y, x, 0.2).count.tolist()
