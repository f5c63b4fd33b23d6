"""What shuffling goes by: numbers and ordered categories as ranks, other categories as indicators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.data import Data
from tacita.protect.numeric_table import numeric_table
from tacita.protect.step import Step, present

LEAST = 5
"""A category of fewer records has no indicator of its own: it would point at them."""


class Predictors(NamedTuple):
    """Columns that predict, by record and column; NaN where missing."""

    values: Floats
    by_rank: Bools
    """By column: whether it counts by rank; else it is an indicator."""


def predictors(step: Step, names: tuple[str, ...], data: Data, rows: Ints) -> Predictors:
    """The predictors of some variables, records in the order of `rows`.

    Codes for missing and not applicable are no numbers; of an unordered variable not applicable is a category.
    """
    columns: list[Floats] = []
    by_rank: list[bool] = []
    for name in present(step, names, data):
        scale = data.scale(name)
        if scale == "numeric":
            made = [numeric_table(step, (name,), data).values[:, 0]]
        elif scale == "ordinal":
            made = [_places(data, name)[rows]]
        else:
            made = indicators(np.asarray(data.coded(name).codes, dtype=np.int64)[rows])
        columns += made
        by_rank += [scale in ("numeric", "ordinal")] * len(made)
    values = np.column_stack(columns) if columns else np.empty((len(rows), 0))
    return Predictors(values, np.array(by_rank, dtype=np.bool_))


def _places(data: Data, name: str) -> Floats:
    """The places of ordered categories; NaN where missing or not applicable."""
    coded, known = data.coded(name), data.variable(name)
    outside = [0, *(1 + place for place, value in enumerate(coded.values) if value in known.not_applicable)]
    return np.where(np.isin(coded.codes, outside), np.nan, coded.codes.astype(np.float64))


def indicators(codes: Ints) -> list[Floats]:
    """A column of 0 and 1 for each category but the most frequent and rare ones; NaN where the code is 0, missing.

    >>> [column.tolist() for column in indicators(np.array([1, 2, 1, 2, 1, 2, 2, 1, 2, 1, 1, 0]))]
    [[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, nan]]
    """
    count = np.bincount(codes, minlength=1)
    count[0] = 0
    usual = int(count.argmax())
    chosen = [code for code in range(1, len(count)) if code != usual and count[code] >= LEAST]
    return [np.where(codes == 0, np.nan, (codes == code).astype(np.float64)) for code in chosen]
