"""Losses: by hand, against the definitions, and growing on the way up."""

import numpy as np
import pytest
from generalisation_problems import problem_of
from hypothesis import given
from hypothesis import strategies as st
from slow_generalisation import Small, node_loss, small_files, suppressed
from test_generalisation_search import with_values

from tacita.protect.generalise.cells import rolled_up
from tacita.protect.generalise.loss import COSTS, LOSSES, Column, distance, entropy, granularity, precision

AGES = Column(
    groups=np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]),
    counts=np.array([4, 2, 1, 1]),
    values=(20, 25, 30, 70),
    scale="numeric",
)


def test_precision_by_hand() -> None:
    cost, most = precision(AGES)
    assert cost.tolist() == [[0.0] * 4, [0.5] * 4, [1.0] * 4]
    assert most.tolist() == [1.0] * 4


def test_granularity_by_hand() -> None:
    """One of three other values can no longer be told apart, then all three."""
    cost, most = granularity(AGES)
    np.testing.assert_allclose(cost, [[0] * 4, [1 / 3] * 4, [1] * 4])
    assert most.tolist() == [1.0] * 4


def test_entropy_by_hand() -> None:
    """20 is 4 of 6 in its pair, 25 is 2 of 6; 30 and 70 are 1 of 2 each; in the file 4, 2, 1, 1 of 8."""
    cost, most = entropy(AGES)
    np.testing.assert_allclose(cost[1], [np.log2(1.5), np.log2(3), 1.0, 1.0])
    np.testing.assert_allclose(most, [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(cost[2], most)


def test_lambda_by_hand() -> None:
    """Numeric: arctan of the way to the farthest of the group; ordinal: ranks apart; nominal: 1 beside another."""
    cost, most = distance(AGES)
    np.testing.assert_allclose(cost[1], 2 / np.pi * np.arctan([5, 5, 40, 40]))
    np.testing.assert_allclose(most, 2 / np.pi * np.arctan([50, 45, 40, 50]))
    ranked, far = distance(Column(AGES.groups, AGES.counts, AGES.values, "ordinal"))
    np.testing.assert_allclose(ranked[1], [1 / 3] * 4)
    np.testing.assert_allclose(far, [1, 2 / 3, 2 / 3, 1])
    named, whole = distance(Column(np.array([[0, 1, 2], [0, 0, 1]]), np.ones(3), ("a", "b", "c"), "nominal"))
    assert named.tolist() == [[0.0] * 3, [1.0, 1.0, 0.0]]
    assert whole.tolist() == [1.0] * 3


def test_a_value_without_others_loses_nothing_but_by_suppression() -> None:
    one = Column(np.zeros((2, 1), dtype=np.int64), np.array([3]), ("a",), "ordinal")
    for name, cost in COSTS.items():
        at_levels, most = cost(one)
        assert at_levels[0, 0] == 0.0, name
        assert np.isfinite(at_levels).all()
        assert np.isfinite(most).all()


@given(small_files(missing=True), st.sampled_from(LOSSES), st.data())
def test_losses_are_as_defined_and_bounds_below_them(small: Small, loss: str, data: st.DataObject) -> None:
    small = with_values(small)
    weights = [1.0] * len(small.groups)
    problem = problem_of(small, loss, weights)
    node = data.draw(st.sampled_from(small.nodes))
    cells = rolled_up(problem.raw, node, problem.ladders)
    judged = problem.judge.judge(cells, len(small.rows))
    gone = suppressed(small, small.at(node), list(range(len(small.rows))))
    found = problem.loss.of(cells, judged.bad)
    assert found == pytest.approx(node_loss(small, node, gone, loss, weights), abs=1e-12)
    assert problem.loss.bound(node) <= problem.loss.bound_of(cells) + 1e-12
    assert problem.loss.bound_of(cells) <= found + 1e-12
    above = tuple(data.draw(st.integers(level, high)) for level, high in zip(node, small.top, strict=True))
    coarser = rolled_up(problem.raw, above, problem.ladders)
    assert problem.loss.bound_of(cells) <= problem.loss.bound_of(coarser) + 1e-12
    assert problem.loss.bound(node) <= problem.loss.bound(above) + 1e-12


def test_everything_suppressed_is_1() -> None:
    small = Small([(0, 0), (1, 1), (2, 0)], [[[0, 1, 2]], [[0, 1]]], [0] * 3, 2, 1.0)
    for loss in LOSSES:
        problem = problem_of(small, loss, [1.0, 1.0])
        assert problem.loss.of(problem.raw, np.ones(3, dtype=np.bool_)) == pytest.approx(1.0), loss
