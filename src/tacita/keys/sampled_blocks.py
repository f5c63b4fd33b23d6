"""Runs of records of two files on an engine, with all their columns: for what needs neighbours and housemates.

Runs are drawn among those in which protected cells are, for each variable its own, so that rare ones are there as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.engine.expressions import RECORD, Side
from tacita.frame import files as frame_files
from tacita.scenario import Scenario, with_codes

BLOCK = 200
"""Records of a run."""
MOST_BLOCKS = 200
"""Runs that are drawn, about ..."""
CELLS = 100
"""... but of each variable as many as have so many protected cells."""


class Blocks(NamedTuple):
    """The records of some runs in both files."""

    original: Data
    released: Data


def sampled_blocks(
    original: LargeData, released: LargeData, sides: tuple[Side, Side], scenario: Scenario, protected: Sequence[str]
) -> Blocks | None:
    """Runs of records in which cells of protected variables are; None where no whole numbers say what is a run."""
    if not all(side.table[side.record].type().is_integer() for side in sides):
        return None
    chosen = _chosen(original, sides, protected)
    data = []
    for large, side in zip((original, released), sides, strict=True):
        table = side.table.filter((side.table[side.record] // BLOCK).cast("int64").isin(chosen.tolist()))
        rows = frame_files.from_arrow(
            original.database.collect(table.order_by(side.record), what="reading a sample of the records")
        )
        numbers = rows[side.record].to_numpy().astype(np.int64)
        names = [name for name in large.columns if name != RECORD]
        known = {name: said for name, said in large.variables.items() if name in names}
        typed = frame_files.of_kinds(rows.select(names), large.like, names)
        data.append(with_codes(Data(typed, known, numbers_of_records=numbers), scenario))
    return Blocks(*data)


def _chosen(original: LargeData, sides: tuple[Side, Side], protected: Sequence[str]) -> Ints:
    """The runs that are drawn: of those with protected cells of each variable as many, by a number of their own."""
    first, second = (side._replace(weight=None) for side in sides)
    both = [name for name in protected if name in second.table.columns]
    laid = expressions.laid_by_record(first._replace(names=list(protected)), second._replace(names=both))
    counted = expressions.changed_by_block(laid, [(f"a{at}", f"b{both.index(name)}" if name in both else None)
                                                  for at, name in enumerate(protected)], BLOCK)  # fmt: skip
    found = frame_files.from_arrow(original.database.collect(counted, what="looking for protected cells"))
    block = found["block"].to_numpy().astype(np.int64)
    order = np.lexsort((block, block * expressions.STEP % (1 << 32)))
    most, rows = MOST_BLOCKS // max(len(protected), 1), []
    for at in range(len(protected)):
        cells = found[f"changed_{at}"].to_numpy()[order]
        enough = int(np.searchsorted(np.cumsum(cells[cells > 0]), CELLS)) + 1
        rows.append(order[cells > 0][: max(most, enough)])
    return np.unique(block[np.concatenate([*rows, np.zeros(0, dtype=np.int64)])])
