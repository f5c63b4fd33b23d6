"""Cells: rolled up step by step or at once, they are those of the records."""

from collections import Counter

import numpy as np
from generalisation_problems import cells_of, ladders_of
from hypothesis import given
from hypothesis import strategies as st
from slow_generalisation import Small, small_files

from tacita.protect.generalise.cells import DENSE, placed, places_at, rolled_up, some_cells


@given(small_files(missing=True, attributes=True), st.data())
def test_cells_are_those_of_the_records(small: Small, data: st.DataObject) -> None:
    raw, row = cells_of(small)
    ladders = ladders_of(small)
    high = data.draw(st.sampled_from(small.nodes))
    low = tuple(data.draw(st.integers(0, level)) for level in high)
    at_once = rolled_up(raw, high, ladders)
    by_steps = rolled_up(rolled_up(raw, low, ladders), high, ladders)
    for cells in (at_once, by_steps):
        found = dict(zip(map(tuple, cells.codes.tolist()), cells.records.tolist(), strict=True))
        expected = Counter(tuple(0 if value is None else value + 1 for value in key) for key in small.at(high))
        assert found == expected
    keys = [tuple(0 if value is None else value + 1 for value in key) for key in small.at(high)]
    place = places_at(raw, high, ladders)
    assert [tuple(at_once.codes[place[row[i]]].tolist()) for i in range(len(keys))] == keys
    for spread in by_steps.spreads:
        found = {
            (tuple(by_steps.codes[cell].tolist()), value): amount
            for cell, value, amount in zip(*(part.tolist() for part in spread), strict=True)
        }
        assert found == Counter(zip(keys, small.sensitive, strict=True))


def test_a_place_does_not_depend_on_how_it_is_found() -> None:
    """A table of all keys, a sort, and numbers beyond 63 bits give the same cells in the same order."""
    draws = np.random.RandomState(3)
    columns = [draws.randint(0, 5, 200).astype(np.int64) for _ in range(3)]
    dense = placed(columns, [5, 5, 5])
    for sizes in ([DENSE, 5, 5], [1 << 40, 1 << 30, 5]):
        place, codes = placed(columns, sizes)
        assert place.tolist() == dense[0].tolist()
        assert codes.tolist() == dense[1].tolist()


def test_some_cells_keep_their_values() -> None:
    small = Small([(0,), (0,), (1,), (2,)], [[[0, 1, 2]]], [5, 6, 5, 7], 2, 0.0, distinct_l=2)
    raw, _ = cells_of(small)
    part = some_cells(raw, np.array([True, False, True]))
    assert part.codes.tolist() == [[1], [3]]
    assert part.records.tolist() == [2, 1]
    (spread,) = part.spreads
    assert [each.tolist() for each in spread] == [[0, 0, 1], [5, 6, 7], [1, 1, 1]]
