"""Columns of mixed data out of a file and back: categories to be replaced, and the variables of Gower's distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import check_sizes


class Categories(NamedTuple):
    """Columns of categories, one row per record in the order of record numbers."""

    names: tuple[str, ...]
    ordinal: tuple[bool, ...]
    """By variable: whether its categories have an order."""
    rows: Ints
    """By record: its row in the file."""
    codes: Ints
    """By record and variable: its category from 1 on; 0 where it is missing, or declared missing or not applicable."""


def categories_of(data: Data, names: tuple[str, ...], rows: Ints) -> Categories:
    """The categories of some variables, records in the order of `rows`."""
    codes = np.zeros((len(rows), len(names)), np.int64)
    for place, name in enumerate(names):
        codes[:, place] = _answers(data, name)[rows]
    return Categories(names, tuple(data.scale(name) == "ordinal" for name in names), rows, codes)


def _answers(data: Data, name: str) -> Ints:
    """Codes of the categories, 0 also where the question does not apply."""
    codes, values = data.coded(name)
    elsewhere = data.variable(name).not_applicable
    kept = np.array([0, *(value not in elsewhere for value in values)], dtype=np.int64)
    return np.asarray(codes.astype(np.int64) * kept[codes])


def with_categories(data: Data, given: Categories, donors: Ints) -> Data:
    """The data in which every record has the categories of its donors, given by record and variable."""
    fresh = {}
    for place, name in enumerate(given.names):
        source = np.empty(len(data), np.int64)
        source[given.rows] = given.rows[donors[:, place]]
        fresh[name] = data.table[name][source]
    return data.with_columns(fresh) if fresh else data


def distance_column(data: Data, name: str, rows: Ints, constant: float | None) -> tuple[Floats, bool]:
    """A variable as numbers for Gower's distance, NaN where missing; and whether they are codes without an order.

    Numbers as they are, ordered categories as their rank among those that occur. Not applicable is a category among
    others of a nominal variable, and has no place among numbers and ranks: it is missing there.
    """
    scale = data.scale(name)
    if scale == "numeric":
        values = data.numbers(name)[rows]
        check_sizes(name, values)
        return values, False
    if constant is not None:
        raise TacitaError(f"{name!r} has categories, of which each is one by itself; leave it out of semicontinuous.")
    if scale == "nominal":
        codes = data.coded(name).codes[rows].astype(np.float64)
        return np.where(codes > 0, codes, np.nan), True
    ranks = _answers(data, name)[rows]
    occurring = np.unique(ranks[ranks > 0])
    return np.where(ranks > 0, np.searchsorted(occurring, ranks).astype(np.float64), np.nan), False
