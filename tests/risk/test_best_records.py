"""The released records of least cost, against loops over all pairs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.arrays import Floats, Ints
from tacita.progress import no_progress
from tacita.risk.external.best_records import EQUALLY_GOOD, best_records, free_records
from tacita.risk.external.columns import (
    ABSOLUTE,
    EQUAL,
    RANGE,
    SQUARE,
    TABLE,
    UNKNOWN,
    Column,
    absolute,
    equal,
    of_rows,
    square,
    table,
    within,
)

KINDS = (TABLE, RANGE, EQUAL, SQUARE, ABSOLUTE)


def cost_of(column: Column, i: int, h: int) -> float:
    """The definition, for one pair."""
    value, first = column.released[h], column.first[i]
    if first == UNKNOWN:
        return 0.0
    if column.kind == TABLE:
        return float(column.table[int(first), int(value)])
    if column.kind == SQUARE:
        return 0.5 * float(value - first) ** 2
    if value == 0:
        return float(column.blank[i])
    if column.kind == RANGE:
        return 0.0 if first <= value <= column.second[i] else math.inf
    if column.kind == EQUAL:
        return float(column.second[i] if value == first else column.blank[i])
    return abs(float(value - first))


def slow_totals(columns: list[Column]) -> Floats:
    n, m = len(columns[0].first), len(columns[0].released)
    return np.array([[sum(cost_of(each, i, h) for each in columns) for h in range(m)] for i in range(n)])


def random_column(kind: int, n: int, m: int, draw: np.random.Generator) -> Column:
    size = int(draw.integers(1, 7))
    codes = draw.integers(0, size + 1, m).astype(float)
    mine = draw.integers(1, size + 2, n).astype(float)
    unknown = draw.random(n) < 0.15
    if kind == TABLE:
        costs = np.where(
            draw.random((size + 2, size + 1)) < 0.2, np.inf, draw.integers(0, 5, (size + 2, size + 1)) / 2.0
        )
        return table(codes, np.where(unknown, UNKNOWN, mine), costs)
    if kind == RANGE:
        return within(
            codes, np.where(unknown, UNKNOWN, mine), mine + draw.integers(-1, 3, n), draw.integers(0, 3, n) * 1.0
        )
    if kind == EQUAL:
        return equal(codes, np.where(unknown, UNKNOWN, mine), 0.25, float(draw.integers(0, 3)))
    if kind == SQUARE:
        return square(draw.integers(-3, 4, m) * 1.0, np.where(unknown, UNKNOWN, draw.integers(-3, 4, n) * 1.0))
    return absolute(np.where(codes == 0, 0.0, 1.0 + codes / 7), np.where(unknown, UNKNOWN, 1.0 + mine / 7), 1.0)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.integers(1, 30),
    st.integers(1, 70),
    st.integers(0, 999),
)
def test_the_best_records_are_those_of_all_pairs(kinds: list[int], n: int, m: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    columns = [random_column(kind, n, m, draw) for kind in kinds]
    own = np.flatnonzero(draw.random(n) < 0.7), np.zeros(0, np.int64)
    own = (own[0], draw.integers(0, m, len(own[0])))
    totals = slow_totals(columns)
    found = best_records(columns, own, no_progress)
    free = free_records(columns, own, no_progress)
    for i in range(n):
        least = totals[i].min()
        best = np.flatnonzero(totals[i] <= least + EQUALLY_GOOD) if np.isfinite(least) else np.zeros(0, np.int64)
        assert found.ties[i] == len(best)
        if len(best):
            assert found.cost[i] == pytest.approx(least, abs=1e-12)
        mine = own[1][own[0] == i]
        assert found.right[i] == np.isin(mine, best).sum()
        assert free.pairs[i] == (totals[i] == 0).sum()
        assert free.right[i] == (totals[i][mine] == 0).sum()


def test_by_hand() -> None:
    # Two variables: a matrix that keeps 'a' with 0.9, and a code that must be equal.
    costs = -np.log(np.array([[1.0, 0.9, 0.1], [1.0, 0.1, 0.9]]))
    exchanged = table(np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0]), costs)
    stayed = within(np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([2.0, 2.0]))
    found = best_records([exchanged, stayed], (np.array([0, 1]), np.array([0, 1])), no_progress)
    np.testing.assert_allclose(found.cost, [-math.log(0.9), 2.0 - math.log(0.9)])
    assert found.ties.tolist() == [1, 1]
    assert found.right.tolist() == [1, 0]


def test_equal_records_are_all_counted() -> None:
    column = equal(np.repeat([1.0, 2.0], [40, 60]), np.array([1.0, 2.0, 3.0]), 0.0, 1.0)
    own: tuple[Ints, Ints] = (np.array([0, 1, 2]), np.array([0, 1, 2]))
    found = best_records([column], own, no_progress)
    assert found.ties.tolist() == [40, 60, 100]
    assert found.right.tolist() == [1, 0, 1]


def test_columns_of_some_rows() -> None:
    column = equal(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0]), 0.0, 1.0)
    part = of_rows(column, np.array([1]), np.array([0, 2]))
    assert part.released.tolist() == [1.0, 3.0]
    assert part.first.tolist() == [2.0]
