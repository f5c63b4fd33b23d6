"""The search finds the least loss of all nodes, as a look at every one of them does."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from generalisation_problems import cells_of, occurring, problem_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from slow_generalisation import Small, best_loss, nested_groups, node_loss, small_files, suppressed

from tacita.protect.generalise.cells import places_at
from tacita.protect.generalise.loss import COSTS, LOSSES
from tacita.protect.generalise.search import Limits, Solution, search

WEIGHTS = st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=3, max_size=3)


def silent(done: float, what: str) -> None:
    assert 0.0 <= done <= 1.0
    assert what


def solved(small: Small, loss: str, weights: list[float], limits: Limits | None = None) -> Solution | None:
    return search(problem_of(small, loss, weights), limits or Limits(), silent)


def with_values(small: Small) -> Small:
    """Every key must have a value somewhere, or it has no levels."""
    assume(all(any(row[key] is not None for row in small.rows) for key in range(len(small.groups))))
    return occurring(small)


def agrees(small: Small, loss: str, weights: list[float]) -> bool:
    """True, unless an assertion says where the search and the plain one differ."""
    weights = weights[: len(small.groups)]
    expected = best_loss(small, loss, weights)
    found = solved(small, loss, weights)
    if expected is None:
        assert found is None
        return True
    assert found is not None
    assert found.proven
    assert found.loss == pytest.approx(expected, abs=1e-12)
    gone = suppressed(small, small.at(found.node), list(range(len(small.rows))))
    assert found.suppressed == len(gone) <= small.allowed
    assert found.loss == pytest.approx(node_loss(small, found.node, gone, loss, weights), abs=1e-12)
    raw, row = cells_of(small)
    ladders = problem_of(small, loss, weights).ladders
    assert set(np.flatnonzero(found.bad[places_at(raw, found.node, ladders)][row])) == gone
    return True


@given(small_files(missing=True, attributes=True, units=True), st.sampled_from(LOSSES), WEIGHTS)
@settings(max_examples=100)
def test_the_best_node_in_units(small: Small, loss: str, weights: list[float]) -> None:
    assert agrees(with_values(small), loss, weights if loss in COSTS else [1.0] * 3)


@given(small_files(), st.sampled_from(LOSSES), WEIGHTS)
@settings(max_examples=100)
def test_the_best_node_for_k(small: Small, loss: str, weights: list[float]) -> None:
    assert agrees(with_values(small), loss, weights if loss in COSTS else [1.0] * 3)


@given(small_files(attributes=True), st.sampled_from(LOSSES))
@settings(max_examples=100)
def test_the_best_node_for_l_and_t(small: Small, loss: str) -> None:
    assert agrees(with_values(small), loss, [1.0] * 3)


@given(small_files(missing=True), st.sampled_from(LOSSES))
@settings(max_examples=100)
def test_the_best_node_with_missing_values(small: Small, loss: str) -> None:
    assert agrees(with_values(small), loss, [1.0] * 3)


@given(small_files(missing=True, attributes=True), st.sampled_from(["entropy", "discernibility"]))
@settings(max_examples=100)
def test_the_best_node_for_l_and_t_with_missing_values(small: Small, loss: str) -> None:
    assert agrees(with_values(small), loss, [1.0] * 3)


@given(small_files(), st.integers(1, 6))
def test_a_search_that_is_stopped_gives_what_is_safe(small: Small, checks: int) -> None:
    small = with_values(small)
    weights = [1.0] * len(small.groups)
    found = solved(small, "granularity", weights, Limits(checks=checks))
    expected = best_loss(small, "granularity", weights)
    if found is None:
        assert expected is None
        return
    assert expected is not None
    assert found.loss >= expected - 1e-12
    if found.proven:
        assert found.loss == pytest.approx(expected, abs=1e-12)
    assert len(suppressed(small, small.at(found.node), list(range(len(small.rows))))) == found.suppressed


# Ten persons by hand: ages 1 to 5 twice each in pairs, and one key of two values.

HAND = Small(
    rows=[(0, 0), (0, 0), (1, 0), (1, 1), (2, 1), (2, 1), (3, 1), (3, 0), (3, 0), (3, 0)],
    groups=[[[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], [[0, 1], [0, 0]]],
    sensitive=[0] * 10,
    k=2,
    limit=0.0,
)


def test_by_hand() -> None:
    """Raw: (1,0), (1,1) and (3,1) are unique. Ages in pairs: (0-1,1) still is. Either all ages together or no second
    key: then nobody is alone, and the second key is the cheaper one: 0.9 of 1.9."""
    found = solved(HAND, "precision", [1.0, 0.9])
    assert found is not None
    assert (found.node, found.suppressed, found.proven, found.nodes) == ((0, 1), 0, True, 6)
    assert found.loss == pytest.approx(0.9 / 1.9)


def test_by_hand_with_suppression() -> None:
    """Three records of ten suppressed leave the file as it is: loss 0.3; two suppressed are too few for that, and
    one suppressed with ages in pairs costs (9 * 1/2 + 1 + 1)/20 = 0.325."""
    found = solved(replace(HAND, limit=0.3), "precision", [1.0, 1.0])
    assert found is not None
    assert (found.node, found.suppressed) == ((0, 0), 3)
    assert found.loss == pytest.approx(0.3)
    found = solved(replace(HAND, limit=0.2), "precision", [1.0, 1.0])
    assert found is not None
    assert (found.node, found.suppressed) == ((1, 0), 1)
    assert found.loss == pytest.approx(0.325)


def test_weights_decide() -> None:
    """Where the second key matters little it is given up, where it matters much the ages are."""
    nearly, dear = solved(HAND, "precision", [1.0, 0.1]), solved(HAND, "precision", [0.1, 5.0])
    assert nearly is not None
    assert dear is not None
    assert (nearly.node, dear.node) == ((0, 1), (2, 0))


def test_the_clock_stops_the_search() -> None:
    """A clock that runs a second at every look: nothing but the top is tried, and the result says so."""
    ticks = iter(range(100))
    found = solved(HAND, "precision", [1.0, 1.0], Limits(seconds=0.5, clock=lambda: float(next(ticks))))
    assert found is not None
    assert (found.node, found.proven, found.checked) == ((2, 1), False, 1)


def test_of_equal_losses_the_lower_node_is_taken() -> None:
    """Both levels put all values together; the first is enough."""
    small = Small([(0,), (1,)], [[[0, 1], [0, 0], [0, 0]]], [0, 0], 2, 0.0)
    found = solved(small, "granularity", [1.0])
    assert found is not None
    assert found.node == (1,)


def test_nothing_is_safe() -> None:
    assert solved(replace(HAND, k=11), "precision", [1.0, 1.0]) is None


def test_few_nodes_are_formed() -> None:
    """Of a lattice of 4 x 4 x 4 x 4 x 4 = 1,024 nodes; the answer is that of all of them."""
    draws = np.random.RandomState(1)
    rows = [tuple(row) for row in draws.binomial(7, 0.3, (300, 5)).tolist()]
    levels = [list(range(8)), [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8]
    small = occurring(Small(rows, [levels] * 5, [0] * 300, 3, 0.05))
    found = solved(small, "granularity", [1.0] * 5)
    assert found is not None
    assert found.proven
    assert found.nodes == 1024
    assert found.checked < 250


@given(nested_groups(4))
def test_the_groups_of_the_tests_are_nested(levels: list[list[int]]) -> None:
    for below, above in itertools.pairwise(levels):
        assert len(set(zip(below, above, strict=True))) == len(set(below))
