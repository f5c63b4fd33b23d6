"""What a release changed, by variable: counted from the two files, record by record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import frame
from tacita.data import Data
from tacita.distance.truth import shared_records


class ChangedVariable(NamedTuple):
    """How many cells of a variable differ, of the records that both files have."""

    name: str
    cells: int
    """Cells that held a value in the original."""
    changed: int
    """Of these, cells that hold another value now, or none."""
    suppressed: int
    """Of these, cells that hold none."""
    removed: bool
    """Whether the variable is no longer there: every cell is gone."""

    @property
    def share(self) -> float:
        """The share of the cells that changed."""
        return self.changed / self.cells if self.cells else 0.0


def changed_cells(original: Data, released: Data, unit: str | None = None) -> tuple[ChangedVariable, ...]:
    """Each variable of the original: how many of its cells the release shows no longer.

    >>> import polars as pl
    >>> before = Data.of(pl.DataFrame({"sex": ["f", "m", "m"], "age": [20, 30, None], "name": ["A", "B", "C"]}))
    >>> after = Data.of(pl.DataFrame({"sex": ["f", None, "m"], "age": [20, 35, None]}))
    >>> [(each.name, each.cells, each.changed, each.suppressed) for each in changed_cells(before, after)]
    [('sex', 3, 1, 1), ('age', 2, 1, 0), ('name', 3, 3, 3)]
    """
    was, now, _ = shared_records(original, released, unit)
    before, after = original.take(was), released.take(now)
    return tuple(_changed(before, after, name) for name in original.columns)


def _changed(before: Data, after: Data, name: str) -> ChangedVariable:
    shown = ~before.missing(name)
    cells = int(shown.sum())
    if name not in after.columns:
        return ChangedVariable(name, cells, cells, cells, True)
    differs = frame.different(before.table[name], after.table[name])
    gone = after.missing(name)
    return ChangedVariable(name, cells, int(np.sum(shown & (differs | gone))), int(np.sum(shown & gone)), False)
