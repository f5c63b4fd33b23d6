"""Synthetic records that equal an original record which was unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacita.arrays import Floats
from tacita.distance.equal_rows import row_groups
from tacita.protect.synthesise.columns import Column
from tacita.protect.synthesise.sequence import Synthetic


def replicated_uniques(original: Floats, synthetic: Floats) -> int:
    """How many rows of the second table equal a row of the first that is there once.

    >>> replicated_uniques(np.array([[1.0], [2.0], [2.0]]), np.array([[1.0], [1.0], [2.0]]))
    2
    """
    before, after = row_groups(original, synthetic)
    counts = np.bincount(before, minlength=int(after.max(initial=0)) + 1)
    return int((counts[after] == 1).sum())


def replicated_columns(columns: Sequence[Column], made: Mapping[str, Synthetic]) -> int:
    """The same of columns before and after synthesis; those that were not drawn are as they were."""
    if not columns:
        return 0
    before = [part for column in columns for part in _parts(column, None)]
    after = [part for column in columns for part in _parts(column, made.get(column.name))]
    return replicated_uniques(np.column_stack(before), np.column_stack(after))


def _parts(column: Column, made: Synthetic | None) -> list[Floats]:
    """Label and number of each record, which together are its cell."""
    rows = np.arange(len(column.labels)) if made is None else made.donors
    labels = column.labels[rows].astype(np.float64)
    if not column.numeric:
        return [labels]
    numbers = column.values[rows] if made is None or made.numbers is None else made.numbers
    return [labels, np.nan_to_num(numbers, nan=0.0)]
