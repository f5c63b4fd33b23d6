"""Units: records that are alike in everything that suppression looks at, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys import distinct_keys
from tacita.matching import patterns

NO_WEIGHTS = np.empty(0)


class Units(NamedTuple):
    """Records with the same values on all keys, and alike in whether they may be touched."""

    codes: Codes
    """The keys, 0 for missing."""
    records: Ints
    """How many records each unit has."""
    weights: Floats
    """The sum of their weights; empty where no weights are used."""
    free: Bools
    """Which may be touched."""
    row: Ints
    """For each record its unit."""

    @property
    def known(self) -> Ints:
        """The bits of the keys that each unit has a value on."""
        return patterns(self.codes)


def units_of(codes: Codes, free: Bools, weights: Floats | None = None, apart: Ints | None = None) -> Units:
    """The units of a file; records with different numbers in `apart` are never in one unit."""
    columns: list[Codes] = [codes[:, place] for place in range(codes.shape[1])]
    columns.append(free.astype(np.uint32))
    if apart is not None:
        columns.append(np.asarray(apart, dtype=np.uint32))
    row, distinct = distinct_keys(columns, [int(column.max(initial=0)) for column in columns])
    count = len(distinct)
    summed = NO_WEIGHTS
    if weights is not None:
        summed = np.bincount(row, weights=weights, minlength=count).astype(np.float64)
    keys = np.ascontiguousarray(distinct[:, : codes.shape[1]])
    return Units(keys, np.bincount(row, minlength=count), summed, distinct[:, codes.shape[1]] > 0, row)


def blanked(codes: Codes, shown: Ints) -> Codes:
    """The codes with 0 wherever a key is not shown."""
    keep = shown[:, None] >> np.arange(codes.shape[1], dtype=np.int64) & 1
    return codes * keep.astype(np.uint32)


def total_cost(units: Units, shown: Ints, costs: Sequence[float]) -> float:
    """What the suppressed cells cost."""
    gone = units.known & ~shown
    return float(sum(cost * units.records[gone >> place & 1 == 1].sum() for place, cost in enumerate(costs)))
