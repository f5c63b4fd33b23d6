import numpy as np
import pytest
import slow_linkage as slow
from numpy.typing import NDArray

from tacita.check import TacitaError
from tacita.distance.tree import LEAF, Tree, build, count_within


def check_tree(tree: Tree, points: NDArray[np.float64]) -> None:
    assert sorted(tree.order) == list(range(len(points)))
    assert np.array_equal(tree.points.T, points[tree.order])
    assert (tree.start[0], tree.stop[0]) == (0, len(points))
    for node, left in enumerate(tree.left):
        here = points[tree.order[tree.start[node] : tree.stop[node]]]
        assert np.array_equal(tree.low[node], here.min(axis=0))
        assert np.array_equal(tree.high[node], here.max(axis=0))
        if left < 0:
            rows = tree.order[tree.start[node] : tree.stop[node]]
            assert (np.diff(rows) > 0).all()
            assert len(here) <= tree.leaf or (here == here[0]).all()
        else:
            assert tree.start[node] == tree.start[left]
            assert tree.stop[left] == tree.start[left + 1]
            assert tree.stop[left + 1] == tree.stop[node]


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("n", [1, 2, LEAF, LEAF + 1, 700])
def test_build(kind: str, n: int) -> None:
    points = slow.files(kind, n, 3, seed=n)[1]
    before = points.copy()
    for scale in (None, np.array([0.0, 1e-9, 1e9]), np.zeros(3)):
        for leaf in (1, 5, LEAF):
            check_tree(build(points, leaf, scale), points)
    assert np.array_equal(points, before)


def test_scale_decides_where_to_split() -> None:
    points = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 3.0], [10.0, 3.0]])
    tree = build(points, 2, np.array([0.1, 1.0]))
    assert sorted(tree.order[: tree.stop[tree.left[0]]]) == [0, 1]
    tree = build(points, 2)
    assert sorted(tree.order[: tree.stop[tree.left[0]]]) == [0, 2]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_must_be_finite(wrong: float) -> None:
    with pytest.raises(TacitaError) as error:
        build(np.array([[1.0], [wrong]]))
    expected = "distances need finite numbers; leave out the records with missing or infinite values."
    assert str(error.value) == expected


@pytest.mark.parametrize("kind", slow.KINDS)
def test_count_within_boxes(kind: str) -> None:
    y, x = slow.files(kind, 400, 2, seed=4)
    reach = np.abs(y) * 0.25
    near = (np.abs(x[None, :, :] - y[:, None, :]) <= reach[:, None, :]).all(axis=2)
    assert count_within(build(x, 8), y, reach).tolist() == near.sum(axis=1).tolist()


def test_equal_points_are_in_one_leaf() -> None:
    draw = np.random.default_rng(2)
    points = draw.integers(0, 3, (5000, 3)).astype(np.float64)
    tree = build(points, 1)
    assert np.count_nonzero(tree.left < 0) == 27
    # Most records have the same value in most dimensions: the tree does not get deep.
    points = np.where(draw.random((5000, 12)) < 0.98, 0.0, draw.integers(0, 50, (5000, 12)))
    tree = build(points, 1)
    check_tree(tree, points)
    depth = np.zeros(len(tree.left), np.int64)
    for node, left in enumerate(tree.left):
        if left >= 0:
            depth[left : left + 2] = depth[node] + 1
    assert depth.max() < np.log2(5000) + 2 * 12 + 1
