import numpy as np
import pytest
import slow_linkage as slow

from tacita.distance import distances as d
from tacita.distance.remaining import farthest, nearest, remaining, remove
from tacita.distance.tree import build

METRICS = {
    "euclidean": d.euclidean(np.ones(2)),
    "manhattan": d.manhattan(np.array([1.0, 2.0])),
    "chebyshev": d.chebyshev(np.ones(2)),
    "gower": d.gower(np.array([3.0, 1.0]), np.array([False, True])),
}


def ranked(total: slow.Floats, left: set[int], last: bool, sign: int) -> list[int]:
    return sorted(left, key=lambda row: (sign * total[row], -row if last else row))


@pytest.mark.parametrize("kind", ["plain", "ties", "duplicates", "same"])
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("last", [False, True])
def test_until_nothing_is_left(kind: str, name: str, last: bool) -> None:
    y, x = slow.files(kind, 120, 2, seed=8)
    metric, k = METRICS[name], 3
    tree = build(x, 4)
    left, here = remaining(tree), set(range(len(x)))
    total = slow.sums(y, x, metric)
    draw = np.random.default_rng(1)
    rows, sums = np.empty(k, np.int64), np.empty(k)
    while here:
        i = int(draw.integers(len(y)))
        far = farthest(tree, left, y, i, metric, last)
        assert far == ranked(total[i], here, last, -1)[0]
        found, ties = nearest(tree, left, y, i, metric, last, rows, sums)
        expected = ranked(total[i], here, last, 1)[:k]
        assert rows[:found].tolist() == expected
        assert sums[:found].tolist() == total[i, expected].tolist()
        assert ties == sum(total[i, row] == sums[0] for row in here)
        # As microaggregation does: the farthest with those around it, and somebody at random.
        for row in {far, int(rows[0]), int(draw.choice(sorted(here)))}:
            remove(tree, left, row)
            here.discard(row)
        assert left.size[0] == len(here)
    assert farthest(tree, left, y, 0, metric, last) == -1
    assert nearest(tree, left, y, 0, metric, last, rows, sums) == (0, 0)


def test_boxes_stay_close() -> None:
    x = slow.files("plain", 60, 2, seed=3)[1]
    tree = build(x, 4)
    left = remaining(tree)
    for row in range(0, 60, 2):
        remove(tree, left, row)
    for node in range(len(tree.left)):
        here = [row for row in tree.order[tree.start[node] : tree.stop[node]] if row % 2]
        assert left.size[node] == len(here)
        if here:
            assert np.array_equal(left.low[node], x[here].min(axis=0))
            assert np.array_equal(left.high[node], x[here].max(axis=0))


def test_many_equal_points() -> None:
    x = np.repeat([[1.0, 1.0], [2.0, 2.0]], 200, axis=0)
    tree = build(x, 4)
    left, metric = remaining(tree), METRICS["euclidean"]
    rows, sums = np.empty(3, np.int64), np.empty(3)
    assert nearest(tree, left, x, 0, metric, False, rows, sums) == (3, 200)
    assert rows.tolist() == [0, 1, 2]
    assert nearest(tree, left, x, 0, metric, True, rows, sums) == (3, 200)
    assert rows.tolist() == [199, 198, 197]
    for row in range(150):
        remove(tree, left, row)
    assert nearest(tree, left, x, 0, metric, False, rows, sums) == (3, 50)
    assert rows.tolist() == [150, 151, 152]
    assert farthest(tree, left, x, 0, metric, False) == 200
