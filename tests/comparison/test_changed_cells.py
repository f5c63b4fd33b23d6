"""What a release changed, counted cell by cell."""

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.comparison.changed_cells import changed_cells
from tacita.data import Data, Variable

CELLS = st.sampled_from(["a", "b", "", None])
NUMBERS = st.sampled_from([0.0, 1.0, -1.0, None])


def slow(original: pl.DataFrame, released: pl.DataFrame) -> list[tuple[str, int, int, int, bool]]:
    """By variable: cells, changed, suppressed, removed; row by row."""
    found = []
    for name in original.columns:
        cells = changed = suppressed = 0
        for row in range(original.height):
            was: Any = original[name][row]
            now = released[name][row] if name in released.columns else None
            if was is None:
                continue
            cells += 1
            changed += now is None or now != was
            suppressed += now is None
        found.append((name, cells, changed, suppressed, name not in released.columns))
    return found


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, CELLS, NUMBERS, NUMBERS), min_size=1, max_size=8), st.booleans())
def test_equals_counting_cell_by_cell(rows: list[tuple[Any, ...]], removed: bool) -> None:
    kinds = {"text": pl.String, "number": pl.Float64}
    before = pl.DataFrame([(row[0], row[2]) for row in rows], schema=kinds, orient="row")
    after = pl.DataFrame([(row[1], row[3]) for row in rows], schema=kinds, orient="row")
    after = after.drop("text") if removed else after
    found = changed_cells(Data.of(before), Data.of(after))
    assert [tuple(each) for each in found] == slow(before, after)


def test_records_belong_together_by_number_and_others_do_not_count() -> None:
    before = Data(pl.DataFrame({"age": [20, 30, 40]}))
    after = Data(pl.DataFrame({"age": [40, 99, 21]}), numbers_of_records=before.record[[2, 1, 0]] * [1, 50, 1])
    (age,) = changed_cells(before, after)
    assert (age.cells, age.changed, age.suppressed, age.share) == (2, 1, 0, 0.5)


def test_codes_declared_missing_are_no_values() -> None:
    """A code of the original that stands for no answer is no cell, and one that a cell became suppresses it."""
    before = Data(pl.DataFrame({"work": [1, 9, 2, 2]}), {"work": Variable(missing=(9,))})
    after = Data(pl.DataFrame({"work": [1, 1, 9, 3]}), {"work": Variable(missing=(9,))})
    (work,) = changed_cells(before, after)
    assert (work.cells, work.changed, work.suppressed) == (3, 2, 1)
