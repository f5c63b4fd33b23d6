"""Which cells must be suppressed: against the definitions, by hand, and what holds on the way up the lattice."""

import numpy as np
import pytest
from generalisation_problems import cells_of, judge_of, ladders_of
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_generalisation import Small, group_is_good, small_files, suppressed

from tacita.protect.generalise.cells import places_at, rolled_up
from tacita.protect.generalise.requirements import Requirements


def gone(small: Small, node: tuple[int, ...]) -> set[int]:
    raw, row = cells_of(small)
    ladders = ladders_of(small)
    judged = judge_of(small).judge(rolled_up(raw, node, ladders), len(small.rows))
    assert judged.suppressed == judged.bad[places_at(raw, node, ladders)][row].sum()
    return set(np.flatnonzero(judged.bad[places_at(raw, node, ladders)][row]).tolist())


@given(small_files(missing=True, attributes=True), st.data())
@settings(max_examples=200)
def test_as_defined(small: Small, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(small.nodes))
    assert gone(small, node) == suppressed(small, small.at(node), list(range(len(small.rows))))


@given(small_files(missing=True, attributes=True, units=True), st.data())
@settings(max_examples=200)
def test_units_as_defined(small: Small, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(small.nodes))
    assert gone(small, node) == suppressed(small, small.at(node), list(range(len(small.rows))))


def test_cells_that_share_a_unit_may_be_less_diverse_together() -> None:
    """Each cell has one x and one y; together they have two x, and the y of one unit twice, which is one."""
    small = Small([(0,), (0,), (1,), (1,)], [[[0, 1], [0, 0]]], [0, 1, 0, 1], 2, 0.0, entropy_l=1.95, unit=[0, 1, 2, 1])
    assert gone(small, (0,)) == set()
    assert gone(small, (1,)) == {0, 1, 2, 3}


@given(
    st.booleans().flatmap(lambda units: small_files(missing=True, units=units)),
    st.sampled_from([None, 2, 3]),
    st.data(),
)
def test_what_only_grows_is_never_lost_on_the_way_up(small: Small, values: int | None, data: st.DataObject) -> None:
    """k and the number of different values: who is safe at a node is safe at every coarser one, under every rule."""
    small = Small(**{**small.__dict__, "distinct_l": values})
    high = data.draw(st.sampled_from(small.nodes))
    low = tuple(data.draw(st.integers(0, level)) for level in high)
    assert gone(small, high) <= gone(small, low)


@given(st.booleans().flatmap(lambda units: small_files(missing=True, attributes=True, units=units)), st.data())
def test_what_is_infeasible_is_infeasible_at_every_finer_node(small: Small, data: st.DataObject) -> None:
    high = data.draw(st.sampled_from(small.nodes))
    judged = judge_of(small).judge(rolled_up(cells_of(small)[0], high, ladders_of(small)), small.allowed)
    if judged.infeasible:
        low = tuple(data.draw(st.integers(0, level)) for level in high)
        assert len(suppressed(small, small.at(low), list(range(len(small.rows))))) > small.allowed


def test_a_good_cell_may_turn_bad_with_a_bad_one() -> None:
    """Why entropy may be lost on the way up: 2 and 2 are diverse, with 8 more of the first value they are not."""
    rows = [(0,)] * 4 + [(1,)] * 8
    small = Small(rows, [[[0, 1], [0, 0]]], [0, 0, 1, 1] + [0] * 8, 2, 0.7, entropy_l=1.9)
    assert gone(small, (0,)) == set(range(4, 12))
    assert gone(small, (1,)) == set(range(12))


def test_who_counted_on_a_suppressed_record_goes_with_it() -> None:
    """One-way, k = 2: (None, 1) counts (0, 1), which is alone and goes; then (None, 1) has only itself."""
    small = Small([(0, 1), (None, 1), (1, 0), (1, 0)], [[[0, 1]], [[0, 1]]], [0] * 4, 2, 0.5)
    assert gone(small, (0, 0)) == {0, 1}


def test_the_whole_file() -> None:
    small = Small([(0,), (1,)], [[[0, 1]]], [3, 3], 2, 0.0)
    assert judge_of(small).whole_file_fulfils(cells_of(small)[0])
    two = Small([(0,), (1,)], [[[0, 1]]], [3, 3], 2, 0.0, distinct_l=2)
    assert not judge_of(two).whole_file_fulfils(cells_of(two)[0])
    assert not group_is_good(two, [0, 1], whole=True)


@pytest.mark.parametrize(
    ("asked", "least", "kept"),
    [({}, 1, True), ({"distinct_l": 3}, 3, True), ({"entropy_l": 2.5}, 3, False), ({"t": 0.1}, 1, False)],
)
def test_what_a_diversity_needs_at_least(asked: dict[str, float], least: int, kept: bool) -> None:
    wanted = Requirements(2, **asked)  # type: ignore[arg-type]
    assert (wanted.least_values, wanted.kept_by_union) == (least, kept)
