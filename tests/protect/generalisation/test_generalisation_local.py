"""Local recoding: every released record is safe, counted on what is released."""

from dataclasses import replace

import numpy as np
import pytest
from generalisation_problems import cells_of, problem_of
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_generalisation import Small, record_loss, small_files, suppressed
from test_generalisation_search import HAND, solved, with_values

from tacita.protect.generalise.local import MOST_NODES, Local, local_recoding, nodes_in_order
from tacita.protect.generalise.loss import COSTS
from tacita.protect.generalise.search import Limits


def silent(done: float, what: str) -> None:
    assert 0.0 <= done <= 1.0


def recoded(small: Small, loss: str = "granularity", limits: Limits | None = None) -> tuple[Local | None, np.ndarray]:
    """The levels of each distinct key, and for each record the row of its key."""
    problem = problem_of(small, loss, [1.0] * len(small.groups))
    return local_recoding(problem, limits or Limits(), silent), cells_of(small)[1]


def released(small: Small, local: Local, row: np.ndarray) -> list[tuple[object, ...]]:
    """What each record shows: values of different levels are different values."""
    out = []
    for i, keys in enumerate(small.rows):
        levels = local.levels[row[i]]
        shown = [
            None if value is None else (int(levels[key]), small.groups[key][levels[key]][value])
            for key, value in enumerate(keys)
        ]
        out.append(tuple(shown))
    return out


def is_safe(small: Small, local: Local, row: np.ndarray) -> bool:
    """Whether no more are suppressed than may be, and the others are safe among themselves, by the definition."""
    gone = set(np.flatnonzero(local.suppressed[row]).tolist())
    kept = [i for i in range(len(small.rows)) if i not in gone]
    return len(gone) <= small.allowed and not suppressed(small, released(small, local, row), kept)


@given(small_files(), st.sampled_from(list(COSTS)))
def test_released_records_are_k_anonymous(small: Small, loss: str) -> None:
    small = with_values(small)
    local, row = recoded(small, loss)
    assert local is None or is_safe(small, local, row)


@given(small_files(attributes=True))
def test_released_records_are_diverse_and_close(small: Small) -> None:
    small = with_values(small)
    local, row = recoded(small)
    assert local is None or is_safe(small, local, row)


@given(small_files(attributes=True, units=True))
def test_released_units_are_k_anonymous_diverse_and_close(small: Small) -> None:
    small = with_values(small)
    local, row = recoded(small)
    assert local is None or is_safe(small, local, row)


@given(small_files(missing=True, units=True))
def test_released_units_with_blanks_are_k_anonymous(small: Small) -> None:
    small = with_values(small)
    local, row = recoded(small)
    assert local is None or is_safe(small, local, row)


@given(small_files(missing=True))
def test_released_records_with_blanks_are_k_anonymous(small: Small) -> None:
    small = with_values(small)
    local, row = recoded(small)
    assert local is None or is_safe(small, local, row)


@given(small_files(), st.sampled_from(list(COSTS)))
@settings(max_examples=80)
def test_where_all_records_share_a_top_there_is_always_a_release(small: Small, loss: str) -> None:
    """A last level at which all values are one group, and at least k records: something is always safe."""
    small = with_values(small)
    small = replace(small, groups=[[*levels, [0] * len(levels[0])] for levels in small.groups])
    local, row = recoded(small, loss)
    if len(small.rows) >= small.k:
        assert local is not None
        assert is_safe(small, local, row)


def test_by_hand() -> None:
    """Ages 0 to 3 and a second key; k = 2. As they are (0,0) twice, (2,1) twice, (3,0) three times are safe.

    Open: (1,0), (1,1), (3,1). Without the second key, the next in order, ages 1 are two: released. (3,1) is left alone:
    it goes up with the group that was released last, ages 1, to the first levels at which all three are safe: any age,
    no second key.
    """
    problem = problem_of(HAND, "granularity", [1.0, 0.3])
    assert nodes_in_order(problem) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    local = local_recoding(problem, Limits(), silent)
    assert local is not None
    by_key = {
        tuple(codes): tuple(levels)
        for codes, levels in zip(problem.raw.codes.tolist(), local.levels.tolist(), strict=True)
    }
    assert by_key[1, 1] == by_key[3, 2] == by_key[4, 1] == (0, 0)
    assert by_key[2, 1] == by_key[2, 2] == by_key[4, 2] == (2, 1)
    assert not local.suppressed.any()
    assert local.nodes == 2


def test_what_may_be_suppressed_is_not_taken_up() -> None:
    """With one suppression allowed, (3,1) is suppressed and ages 1 keep their level."""
    problem = problem_of(replace(HAND, limit=0.1), "granularity", [1.0, 0.3])
    local = local_recoding(problem, Limits(), silent)
    assert local is not None
    assert problem.raw.codes[local.suppressed].tolist() == [[4, 2]]
    assert {tuple(levels) for levels in local.levels[~local.suppressed].tolist()} == {(0, 0), (0, 1)}


def test_it_loses_less_than_one_level_for_all() -> None:
    draws = np.random.RandomState(2)
    rows = [tuple(row) for row in draws.binomial(7, 0.4, (400, 3)).tolist()]
    rows += [(value, value, value) for value in range(8)]
    levels = [list(range(8)), [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8]
    small = Small(rows, [levels] * 3, [0] * len(rows), 5, 0.02)
    local, row = recoded(small)
    best = solved(small, "granularity", [1.0] * 3)
    assert local is not None
    assert best is not None
    gone = set(np.flatnonzero(local.suppressed[row]).tolist())
    loss = record_loss(small, local.levels[row].tolist(), gone, "granularity", [1.0] * 3)
    assert loss < 0.6 * best.loss
    problem = problem_of(small, "granularity", [1.0] * 3)
    assert problem.loss.of_records(local.levels, local.suppressed) == pytest.approx(loss)  # type: ignore[attr-defined]


def test_a_limit_stops_it_and_the_release_is_still_safe() -> None:
    local, row = recoded(replace(HAND, limit=0.1), limits=Limits(checks=1))
    assert local is not None
    assert not local.finished
    assert is_safe(replace(HAND, limit=0.1), local, row)


def test_large_lattices_are_thinned() -> None:
    """Of 6^8 nodes some are gone through, from the lowest to the highest; of 2^20 those of one path."""
    tall = Small([(0,) * 8, (1,) * 8], [[[0, 1]] * 5 + [[0, 0]]] * 8, [0, 0], 2, 0.0)
    order = nodes_in_order(problem_of(tall, "precision", [1.0] * 8))
    assert 1000 < len(order) <= MOST_NODES
    assert (order[0], order[-1]) == ((0,) * 8, (5,) * 8)
    wide = Small([(0,) * 20, (1,) * 20], [[[0, 1], [0, 0]]] * 20, [0, 0], 2, 0.0)
    order = nodes_in_order(problem_of(wide, "precision", [1.0] * 20))
    assert len(order) == 21
    assert (order[0], order[-1]) == ((0,) * 20, (1,) * 20)
