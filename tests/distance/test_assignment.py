"""One-to-one assignment: against all permutations, against the dense algorithm, and its proof of the least total."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import slow_linkage as slow
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tacita.distance import assignment
from tacita.distance.assignment import Assignment, all_distances, assign
from tacita.distance.distances import Metric, chebyshev, euclidean, gower, manhattan

METRICS = {
    "euclidean": euclidean(np.array([1.0, 0.5])),
    "manhattan": manhattan(np.array([1.0, 2.0])),
    "chebyshev": chebyshev(np.array([1.0, 2.0])),
    "gower": gower(np.array([4.0, 3.0]), np.array([False, True])),
    "one column counts": euclidean(np.array([0.0, 1.0])),
    "one category counts": gower(np.array([4.0, 3.0]), np.array([False, True]), np.array([0.0, 1.0])),
}
every_metric = pytest.mark.parametrize("name", METRICS)

value = st.sampled_from([0.0, 0.0, 1.0, 2.0, 4.0, -0.0])
few_values = st.lists(st.tuples(value, value), min_size=1, max_size=6)


def array(rows: list[tuple[float, float]]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def drawn(n: int, kind: str, seed: int = 1) -> np.ndarray:
    """n rows of two columns: any numbers, many ties, mostly zeros, a constant column, or all equal."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, 2))
    if kind == "ties":
        values = np.round(2.0 * values)
    elif kind == "zeros":
        values[draw.random(n) < 0.6] = 0.0
    elif kind == "constant":
        values[:, 1] = 7.0
    elif kind == "equal":
        values[:] = 3.0
    return values


KINDS = ["any", "ties", "zeros", "constant", "equal"]


def check(found: Assignment, x: np.ndarray, y: np.ndarray, metric: Metric, least: float) -> None:
    """One to one, distances right, total the least possible, and the bound below it."""
    linked = np.flatnonzero(found.partner >= 0)
    assert len(linked) == min(len(x), len(y))
    assert len(set(found.partner[linked].tolist())) == len(linked)
    matrix = slow.distances(x, y, metric)
    assert found.distance[linked] == pytest.approx(matrix[linked, found.partner[linked]], rel=1e-12, abs=1e-300)
    assert np.isnan(found.distance[found.partner < 0]).all()
    assert found.total == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert found.bound <= found.total
    assert found.bound == pytest.approx(found.total, rel=1.1e-9, abs=1e-12)


@every_metric
@given(few_values, few_values, st.sampled_from([0, 1_000_000]))
def test_against_all_permutations(
    name: str, first: list[tuple[float, float]], second: list[tuple[float, float]], dense: int
) -> None:
    x, y, metric = array(first), array(second), METRICS[name]
    matrix = slow.distances(x, y, metric)
    short = matrix if len(x) <= len(y) else matrix.T
    ways = permutations(range(short.shape[1]), len(short))
    least = min(sum(short[i, j] for i, j in enumerate(way)) for way in ways)
    check(assign(x, y, metric, dense=dense), x, y, metric, least)


@every_metric
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (2, 1), (2, 2), (40, 40), (37, 60), (60, 37)])
def test_auction_against_the_dense_algorithm(name: str, kind: str, n: int, m: int) -> None:
    x, y, metric = drawn(n, kind), drawn(m, kind, seed=2), METRICS[name]
    matrix = slow.distances(x, y, metric)
    least = matrix[linear_sum_assignment(matrix)].sum()
    for dense in (0, 1_000_000):
        check(assign(x, y, metric, dense=dense), x, y, metric, least)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(500, 500), (300, 500)])
def test_larger_files(kind: str, n: int, m: int) -> None:
    x, metric = drawn(n, kind), euclidean(np.ones(2))
    y = np.concatenate([x + 0.1 * drawn(n, "any", seed=3), drawn(m - n, kind, seed=4)])
    matrix = slow.distances(x, y, metric)
    check(assign(x, y, metric, dense=0), x, y, metric, matrix[linear_sum_assignment(matrix)].sum())


@every_metric
@pytest.mark.parametrize("seed", range(8))
def test_places_far_from_everybody(name: str, seed: int) -> None:
    # Both files have outlying records of their own, up to hundreds of usual distances away: they start at lower prices.
    draw = np.random.default_rng(seed)
    x, y = draw.standard_t(1.0, size=(2, 200, 2))
    metric = METRICS[name]
    matrix = slow.distances(x, y, metric)
    check(assign(x, y, metric, dense=0), x, y, metric, matrix[linear_sum_assignment(matrix)].sum())


def test_differences_too_small_for_a_square() -> None:
    x = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    for y in (
        np.array([[1e-200, 0.0], [2e-200, 0.0], [3e-200, 0.0]]),
        np.array([[1e-200, 0.0], [0.0, 2.0], [0.0, 7.0]]),
    ):
        metric = euclidean(np.ones(2))
        matrix = slow.distances(x, y, metric)
        least = matrix[linear_sum_assignment(matrix)].sum()
        for one, other in ((x, y), (y, x)):
            assert assign(one, other, metric, dense=0).total == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("columns", [3, 5])
def test_more_variables(columns: int) -> None:
    draw = np.random.default_rng(1)
    x = draw.standard_t(2.0, size=(300, columns))
    y = x + 0.3 * draw.standard_t(1.0, size=x.shape)
    metric = euclidean(np.linspace(1.0, 2.0, columns))
    matrix = slow.distances(x, y, metric)
    check(assign(x, y, metric, dense=0), x, y, metric, matrix[linear_sum_assignment(matrix)].sum())


def test_the_order_of_costs_does_not_depend_on_the_unit() -> None:
    x, y = drawn(300, "any"), drawn(300, "any", seed=2)
    metric = euclidean(np.ones(2))
    least = assign(x, y, metric, dense=0).total
    for unit in (1e-12, 1e12):
        assert assign(x * unit, y * unit, metric, dense=0).total == pytest.approx(least * unit, rel=2e-9)


@given(st.floats(1e-6, 0.5))
@settings(max_examples=15)
def test_a_wider_gap_is_kept_and_proved(gap: float) -> None:
    x, y, metric = drawn(400, "any"), drawn(400, "any", seed=2), euclidean(np.ones(2))
    matrix = slow.distances(x, y, metric)
    least = matrix[linear_sum_assignment(matrix)].sum()
    found = assign(x, y, metric, gap=gap, dense=0)
    assert found.total - found.bound <= gap * found.total
    assert found.bound <= least * (1 + 1e-12)
    assert found.total >= least * (1 - 1e-12)


def test_equal_records_are_partners() -> None:
    x = np.array([[1.0], [1.0], [5.0]])
    y = np.array([[5.0], [1.0], [1.0]])
    found = assign(x, y, euclidean(np.ones(1)))
    assert found.partner.tolist() == [1, 2, 0]
    assert (found.total, found.bound) == (0.0, 0.0)


def test_without_any_column_that_counts() -> None:
    found = assign(np.ones((2, 1)), np.zeros((3, 1)), euclidean(np.zeros(1)))
    assert found.partner.tolist() == [0, 1]
    assert found.total == 0.0


@every_metric
def test_all_distances(name: str) -> None:
    x, y = drawn(30, "ties"), drawn(20, "ties", seed=2)
    assert np.array_equal(all_distances(x, y, METRICS[name]), slow.distances(x, y, METRICS[name]))


@settings(max_examples=60)
@given(
    x=st.lists(st.integers(-9, 9), min_size=1, max_size=7),
    more=st.lists(st.integers(-9, 9), min_size=0, max_size=7),
    draw=st.randoms(use_true_random=False),
)
def test_one_variable_in_files_of_different_length(x: list[int], more: list[int], draw: Any) -> None:
    """The auction took seven seconds for 20,000 records; partners in order are found in one pass."""
    y = [value + draw.randint(-2, 2) for value in x] + more
    draw.shuffle(y)
    first, second = np.array(x, dtype=np.float64)[:, None], np.array(y, dtype=np.float64)[:, None]
    matrix = all_distances(first, second, euclidean(np.ones(1)))
    least = float(matrix[linear_sum_assignment(matrix)].sum())
    check(assign(first, second, euclidean(np.ones(1)), dense=0), first, second, euclidean(np.ones(1)), least)
    check(assign(second, first, euclidean(np.ones(1)), dense=0), second, first, euclidean(np.ones(1)), least)


@pytest.mark.parametrize("metric", [euclidean(np.array([1.0, 0.3])), manhattan(np.ones(2)), chebyshev(np.ones(2))])
@pytest.mark.parametrize("more", [0, 7])
def test_points_on_one_line_are_one_variable(metric: Metric, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,300 collinear records took the auction nine times as long as all distances at once."""
    draws = np.random.default_rng(3)
    at = draws.normal(size=60)
    x, y = (np.column_stack([t, 2.0 * t + 1.0]) for t in (at, np.append(at + draws.normal(size=60), at[:more])))
    matrix = all_distances(x, y, metric)
    least = float(matrix[linear_sum_assignment(matrix)].sum())
    monkeypatch.setattr(assignment, "auction", None)
    check(assign(x, y, metric, dense=0), x, y, metric, least)


def test_points_beside_the_line_are_not_taken_for_it() -> None:
    on_it = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])
    assert assignment.on_a_line(on_it, on_it) is not None
    assert assignment.on_a_line(on_it, on_it + np.array([0.0, 1e-9])) is None
    assert assignment.on_a_line(on_it[:1], on_it[:1]) is None
