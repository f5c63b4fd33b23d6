"""Columns of a file as synthesis sees them: numbers beside zeros, missing values and codes, or categories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Floats, Ints
from tacita.data import Data
from tacita.distance.comparison import check_sizes
from tacita.trees.tree import Features

SPIKE = 0.05
"""Zeros are drawn apart from other numbers where they are more than this share of them."""


class Column(NamedTuple):
    """A variable, by record in the order of record numbers."""

    name: str
    numeric: bool
    """Whether it holds numbers, or dates; otherwise categories."""
    labels: Ints
    """Of categories: which, missing values and codes being categories like others. Of numbers: 0 for a number, 1 for a
    zero that is drawn apart, and one more for each kind of missing value and code."""
    values: Floats
    """Numbers, or places in an order; NaN where there is none. Empty where categories have no order."""
    measured: bool = False
    """Whether it holds numbers that may be smoothed, which dates and decimals of fixed length may not."""
    whole: bool = False
    """Whether numbers are whole."""
    shared: Bools = np.empty(0, dtype=np.bool_)
    """By record: whether so many have the same number that it need not be smoothed; empty where none is."""

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.labels.max(initial=0)) + 1

    @property
    def several_kinds(self) -> bool:
        """Whether cells without a number are of several kinds, which the numbers do not tell apart."""
        return self.numeric and len(np.unique(self.labels[np.isnan(self.values)])) > 1

    def features(self, rows: Ints, numbers: Floats | None = None) -> list[tuple[Floats, int]]:
        """What a tree may split by, of some records: values and the number of categories, 0 where they have an order.

        `numbers` are used in place of the records' own.
        """
        labels = (self.labels[rows].astype(np.float64), self.classes)
        if not len(self.values):
            return [labels]
        given = self.values[rows] if numbers is None else numbers
        ordered = (np.where(np.isnan(given), -np.inf, given), 0)
        return [ordered, labels] if self.several_kinds else [ordered]

    @property
    def known(self) -> Bools:
        """By record: whether there is a value, and not a missing one or a code without a place among the values."""
        return ~np.isnan(self.values) if len(self.values) else self.labels > 0

    def ranks(self) -> dict[str, Ints]:
        """Places in an order, -1 for records that have none: which `kind` of cell it is, and which `value` it has.

        The kind is 0 for a value, and is left out where all cells are of one kind.
        """
        values = self.values if len(self.values) else self.labels.astype(np.float64)
        kinds = np.unique(np.where(self.known, -1, self.labels), return_inverse=True)[1].astype(np.int64)
        found = {"kind": kinds} if kinds.any() or not self.known.all() else {}
        if self.known.any():
            found["value"] = np.full(len(kinds), -1)
            found["value"][self.known] = np.unique(values[self.known], return_inverse=True)[1]
        return found


def stacked(parts: list[tuple[Floats, int]], count: int) -> Features:
    """Features of several columns as one table of so many records."""
    values = np.array([each[0] for each in parts]) if parts else np.empty((0, count))
    return Features(values, np.array([each[1] for each in parts], dtype=np.int64))


def column_of(data: Data, name: str, rows: Ints) -> Column:
    """A variable of the data, its records in the order of `rows`."""
    codes = frame.coded(data.table, name).codes[rows].astype(np.int64)
    if frame.is_date(data.table, name):
        # A later day is a greater number; the days themselves do not matter.
        days = np.where(codes > 0, codes, np.nan)
        return Column(name, True, np.where(codes > 0, 0, 2), days)
    if data.scale(name) == "numeric" or frame.is_decimal(data.table, name):
        return _numeric(data, name, rows, codes)
    if data.scale(name) == "ordinal":
        places = data.coded(name).codes[rows].astype(np.float64)
        return Column(name, False, codes, np.where(places > 0, places, np.nan))
    return Column(name, False, codes, np.empty(0))


def _numeric(data: Data, name: str, rows: Ints, codes: Ints) -> Column:
    values = data.numbers(name)[rows]
    check_sizes(name, values)
    there: Bools = ~np.isnan(values)
    labels = np.zeros(len(rows), np.int64)
    labels[~there] = 2 + np.unique(codes[~there], return_inverse=True)[1]
    zeros = values == 0
    if SPIKE * there.sum() < zeros.sum() < there.sum():
        labels[zeros] = 1
    measured = not frame.is_decimal(data.table, name)
    return Column(name, True, labels, values, measured, frame.is_whole(data.table, name))
