import numpy as np
import pytest
import slow_linkage as slow
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.distance import critical as c
from tacita.distance.distances import chebyshev, gower, manhattan

ALPHAS = (0.0, 1e-3, 0.05, 0.3, 0.5, 1.0)


def same(found: c.Critical, expected: slow.Critical, group: int = 0) -> bool:
    values = [found.delta[group], found.largest[group], found.smallest[group], found.counted[group]]
    return np.array_equal(values, list(expected), equal_nan=True)


def test_by_hand() -> None:
    # z: 1/10, 4/10; 1/11, 3/11; 4/14, 3/14. In order 0.0909 0.1 0.214 0.273 0.286 0.4.
    x = np.array([[10.0], [11.0], [14.0]])
    found = c.critical_distance(x, x, 0.5)
    assert found.pairs.tolist() == [6]
    assert found.counted.tolist() == [3]
    assert found.delta[0] == pytest.approx((3 / 14 + 3 / 11) / 2)
    assert found.neighbours.tolist() == [2, 2, 2]
    assert c.critical_distance(x, x, 0.16).counted.tolist() == [0]
    assert c.critical_distance(x, x, 0.16).delta.tolist() == [1 / 11 / 2]


def test_ties_are_counted_together_or_not_at_all() -> None:
    x = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = np.full((4, 1), 2.5)  # z of every pair is 0.2 or 0.6, six of each
    found = c.critical_distance(y, x, 0.49)
    assert (found.counted[0], found.delta[0]) == (0, 0.1)
    found = c.critical_distance(y, x, 0.5)
    assert (found.counted[0], found.delta[0]) == (6, pytest.approx(0.4))
    found = c.critical_distance(y, x, 0.99)
    assert (found.counted[0], found.delta[0]) == (6, pytest.approx(0.4))


def test_a_share_is_what_is_written() -> None:
    assert 0.29 * 100 < 29
    assert c.most_counted(0.29, 100) == 29
    assert c.most_counted(0.05, 20) == 1


def test_zeros() -> None:
    x = np.zeros((3, 1))
    found = c.critical_distance(x, x, 0.05)
    assert (found.delta[0], found.smallest[0], found.counted[0]) == (0.0, 0.0, 0)
    assert found.neighbours.tolist() == [0, 0, 0]
    y = np.array([[0.0], [0.0], [1.0]])  # the first two have z 0 or infinite
    x = np.array([[0.0], [2.0], [0.0]])  # so that z is 0, 0, 0, 1, 1, infinite
    found = c.critical_distance(y, x, 0.7)
    assert (found.counted[0], found.largest[0], found.smallest[0], found.delta[0]) == (3, 0.0, 1.0, 0.5)
    assert found.neighbours.tolist() == [2, 2, 0]
    found = c.critical_distance(y, x, 0.9)
    assert (found.counted[0], found.largest[0], found.smallest[0], found.delta[0]) == (5, 1.0, np.inf, np.inf)
    assert found.neighbours.tolist() == [2, 2, 3]


def test_one_and_two_records() -> None:
    found = c.critical_distance(np.array([[2.0]]), np.array([[1.0]]), 0.05)
    assert np.isnan(found.delta[0])
    assert (found.pairs.tolist(), found.neighbours.tolist()) == ([0], [0])
    found = c.critical_distance(np.array([[2.0], [4.0]]), np.array([[1.0], [5.0]]), 0.5)
    assert found.pairs.tolist() == [2]
    assert (found.largest[0], found.smallest[0], found.delta[0]) == (0.75, 1.5, 1.125)


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("n", [2, 3, 40, 500])
@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_against_all_pairs(kind: str, n: int, dimensions: int) -> None:
    y, x = slow.files(kind, n, dimensions, seed=n + dimensions)
    z = slow.z(y, x)
    for alpha in ALPHAS:
        found, expected = c.critical_distance(y, x, alpha), slow.critical(z, alpha)
        assert same(found, expected)
        assert found.neighbours.tolist() == (z < expected.delta).sum(axis=1).tolist()
        # What is counted over the records is what delta was chosen for, and the true links.
        if alpha < 1:
            assert found.neighbours.sum() - np.count_nonzero(np.diag(z) < expected.delta) == found.counted[0]


@pytest.mark.parametrize("metric", [manhattan(np.array([1.0, 3.0])), chebyshev(np.ones(2)), None])
@pytest.mark.parametrize("relative", [False, True])
def test_other_distances(metric: c.Metric | None, relative: bool) -> None:
    y, x = slow.files("ties", 300, 2, seed=1)
    expected = slow.critical(slow.z(y, x, metric, relative), 0.05)
    assert same(c.critical_distance(y, x, 0.05, metric=metric, relative=relative), expected)


def test_mixed_scales() -> None:
    y, x = slow.files("ties", 300, 3, seed=2)
    metric = gower(np.ptp(x, axis=0), np.array([False, True, False]))
    expected = slow.critical(slow.z(y, x, metric, relative=False), 0.05)
    assert same(c.critical_distance(y, x, 0.05, metric=metric, relative=False), expected)


def test_groups() -> None:
    y, x = slow.files("plain", 400, 2, seed=3)
    groups = np.random.default_rng(4).choice([0, 1, 3], 400, p=[0.3, 0.695, 0.005])
    found = c.critical_distance(y, x, 0.05, groups=groups)
    assert len(found.delta) == 4
    assert np.isnan(found.delta[2])
    for group in (0, 1, 3):
        z = slow.z(y[groups == group], x[groups == group])
        expected = slow.critical(z, 0.05)
        assert same(found, expected, group)
        assert found.neighbours[groups == group].tolist() == (z < expected.delta).sum(axis=1).tolist()


# The ways that are only taken with many records, on few of them.


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("room", [0, 3, 100])
def test_too_many_to_list(kind: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c, "FEW", 0)
    monkeypatch.setattr(c, "ROOM", room)
    y, x = slow.files(kind, 120, 2, seed=9)
    z = slow.z(y, x)
    for alpha in ALPHAS:
        found, expected = c.critical_distance(y, x, alpha), slow.critical(z, alpha)
        assert same(found, expected)
        assert found.neighbours.tolist() == (z < expected.delta).sum(axis=1).tolist()


@pytest.mark.parametrize("kind", ["plain", "ties", "duplicates"])
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, np.inf])
@pytest.mark.parametrize("room", [3, 1 << 20])
def test_a_misleading_sample(kind: str, factor: float, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c, "FEW", 0)
    monkeypatch.setattr(c, "ROOM", room)
    true_sample = c.sample_z

    def misleading(given: c.Pairs, size: int) -> slow.Floats:
        sample = true_sample(given, size)
        return sample * factor if np.isfinite(factor) else np.full_like(sample, np.inf)

    monkeypatch.setattr(c, "sample_z", misleading)
    y, x = slow.files(kind, 100, 2, seed=10)
    if kind == "duplicates":
        y = y + 1.0  # no norm is 0, so that no z is 0 times infinite
    for alpha in (0.001, 0.05, 0.9):
        assert same(c.critical_distance(y, x, alpha), slow.critical(slow.z(y, x), alpha))


# Squares below 1e-290 have fewer digits, which ones depends on the unit: no two ways of counting agree to the last.
with_digits = st.floats(-5, 5).map(lambda value: value if abs(value) > 1e-140 else 0.0)
number = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, -1.0]), with_digits)


@settings(max_examples=80)
@given(
    st.lists(st.tuples(number, number, number, number), min_size=2, max_size=30),
    st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.5, 0.99]),
)
def test_property(rows: list[tuple[float, float, float, float]], alpha: float) -> None:
    both = np.array(rows)
    y, x = both[:, :2], both[:, 2:]
    z = slow.z(y, x)
    found, expected = c.critical_distance(y, x, alpha), slow.critical(z, alpha)
    assert same(found, expected)
    assert found.neighbours.tolist() == (z < expected.delta).sum(axis=1).tolist()
