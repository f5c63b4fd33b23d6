"""Two files of the same units: the records that both have, side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.truth import shared_records


class Aligned(NamedTuple):
    """The records that both files have, in the order of the original."""

    original: Data
    released: Data
    new: int
    """Released records that are not in the original."""
    rows: Ints
    """By record: its row in the released file."""


def aligned(original: Any, released: Any) -> Aligned:
    """The records that both files have, in the order of the original, matched by record number.

    Files without record numbers belong together row by row, and then must be equally long.
    """
    first, second = Data.of(original), Data.of(released)
    if len(first) == 0:
        raise TacitaError("the original file has no records; there is nothing to compare.")
    if np.array_equal(first.record, second.record):
        return Aligned(first, second, 0, np.arange(len(second), dtype=np.int64))
    if first.numbers_of_records is None and second.numbers_of_records is None:
        raise TacitaError(
            f"the released file must have the records of the original; it has {len(second):,} for {len(first):,}, "
            f"compare files of the same units."
        )
    was, now, new = shared_records(first, second, None)
    order = np.argsort(was, kind="stable")
    return Aligned(first.take(was[order]), second.take(now[order]), new, now[order])
