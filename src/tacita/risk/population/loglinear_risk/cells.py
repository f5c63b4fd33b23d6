"""The full cross-classification of the keys: which combinations could occur, and how many records each one has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import (
    KeyTable,
    key_table,
    population_weights,
    repeated_units,
)
from tacita.keys.units import counting_records, units_not_counted
from tacita.scenario import MissingRule, Scenario

MOST_CELLS = 50_000_000
Zero = Mapping[str, Any]
"""A combination that cannot occur: values of some keys, one value or a list of values each."""


@dataclass(frozen=True, eq=False)
class Classification:
    """All combinations of the values of the keys; the occupied ones are listed, in ascending order."""

    keys: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    """The levels of each key."""
    size: int
    """Records in the file."""
    population_size: float
    """Their estimated number in the population."""
    index: Ints
    """Occupied cells, as places in the flattened array."""
    count: Floats
    """Records with all keys known in each (f)."""
    population: Floats
    """Their estimated number in the population (F)."""
    weight_squares: Floats
    """Sums of squared weights, the variance of F estimated for Poisson counts."""
    inverse_weights: Floats
    """Sums of 1/weight."""
    record: Ints
    """The number of a record in each, the only one where the cell is a sample unique."""
    possible: Floats | None
    """0 at declared zeros, 1 elsewhere, one axis per key; None without declarations."""
    cautions: tuple[str, ...] = ()
    not_valid: str = ""
    """Why figures of this file do not hold; empty if they do."""

    def __repr__(self) -> str:
        # Never the values: results are printed into logs and notebooks.
        return f"<Classification: {check.counted(self.cells, 'cell')} of {check.counted(len(self.keys), 'key')}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each key."""
        return tuple(len(levels) for levels in self.values)

    @property
    def cells(self) -> int:
        """How many combinations there are, declared zeros left out."""
        return math.prod(self.shape) if self.possible is None else int(np.count_nonzero(self.possible))

    @property
    def complete(self) -> int:
        """Records with all keys known."""
        return int(self.count.sum())

    @property
    def sampling_fraction(self) -> float:
        """pi = n/N of the complete records, at most 1."""
        return min(1.0, self.complete / math.fsum(self.population))

    def linear(self, name: str) -> Floats:
        """The levels of a key as numbers."""
        levels = self.values[self.keys.index(name)]
        if not all(isinstance(level, int | float) for level in levels):
            raise TacitaError(f"numeric key {name!r} must hold numbers; it does not, make it a factor.")
        return np.array(levels, dtype=np.float64)


def classify(
    data: Data, scenario: Scenario, structural_zeros: Sequence[Zero] = (), *, all_levels: bool = False
) -> Classification:
    """The cross-classification of a file's keys by its complete records.

    Levels are the values that occur in complete records; with `all_levels` also those that occur in others only.
    """
    table = key_table(*counting_records(data, replace(scenario, missing=MissingRule("own_category"))))
    complete = table.complete
    if not complete.any():
        raise TacitaError("no record has all keys known; leave out keys with many missing values.")
    codes = table.codes[complete].astype(np.int64) - 1
    values = table.values
    if not all_levels:
        occurring = [np.unique(column) for column in codes.T]
        codes = np.column_stack([np.searchsorted(o, column) for o, column in zip(occurring, codes.T, strict=True)])
        values = tuple(
            tuple(levels[place] for place in places) for levels, places in zip(values, occurring, strict=True)
        )
    shape = tuple(len(levels) for levels in values)
    _check_size(table.keys, shape)
    flat = np.ravel_multi_index(tuple(codes.T), shape)
    order = np.argsort(flat)
    listed = np.flatnonzero(complete)[order]
    squares, inverses = _weight_sums(table, population_weights(data, scenario))
    one = np.empty(len(table.codes), dtype=np.int64)
    one[table.row] = data.record
    return Classification(
        keys=table.keys,
        values=values,
        size=table.size,
        population_size=math.fsum(table.population_count),
        index=flat[order],
        count=table.records[listed].astype(np.float64),
        population=table.population_count[listed],
        weight_squares=squares[listed],
        inverse_weights=inverses[listed],
        record=one[listed],
        possible=_possible(structural_zeros, table.keys, values, flat, table.records[complete]),
        cautions=table.cautions,
        not_valid=table.not_valid or units_not_counted(repeated_units(data, scenario)),
    )


def _check_size(keys: Sequence[str], shape: Sequence[int]) -> None:
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        largest = sorted(zip(shape, keys, strict=True), reverse=True)[:3]
        named = ", ".join(f"{name!r} has {levels:,} values" for levels, name in largest)
        raise TacitaError(
            f"the keys must have at most {MOST_CELLS:,} combinations for a log-linear model; they have {cells:.3g}: "
            f"recode the keys with many values ({named}) or leave some out."
        )


def _weight_sums(table: KeyTable, weights: Floats | None) -> tuple[Floats, Floats]:
    """By key: sums of squared weights and of their inverses, whatever the order of the records."""
    if weights is None:
        ratio = table.population_count / table.sample_count
        return table.records * ratio**2, table.records / ratio
    order = np.lexsort((weights, table.row))
    row, ascending = table.row[order], weights[order]
    count = len(table.codes)
    times = 1.0 if table.repeats is None else table.repeats[order]
    squares, inverses = (
        np.bincount(row, weights=of * times, minlength=count) for of in (ascending**2, 1.0 / ascending)
    )
    return squares.astype(np.float64), inverses.astype(np.float64)


def _possible(
    zeros: Sequence[Zero], keys: Sequence[str], values: Sequence[tuple[Any, ...]], flat: Ints, records: Ints
) -> Floats | None:
    """1 where a combination can occur, 0 where it was declared impossible."""
    if not isinstance(zeros, Sequence) or not all(isinstance(zero, Mapping) for zero in zeros):
        raise TacitaError(
            "structural_zeros must be a list of combinations like [{'age': '0-15', 'status': 'married'}]."
        )
    if not zeros:
        return None
    possible = np.ones(tuple(len(levels) for levels in values))
    for zero in zeros:
        check.columns_exist("structural_zeros: keys", [str(name) for name in zero], keys)
        chosen = [_places(name, zero.get(name), levels) for name, levels in zip(keys, values, strict=True)]
        possible[np.ix_(*chosen)] = 0.0
    lost = int(records[possible.reshape(-1)[flat] == 0].sum())
    if lost:
        raise TacitaError(
            f"{check.counted(lost, 'record')} in the combinations declared as structural zeros; "
            "correct the file or the declaration."
        )
    return possible


def _places(name: str, given: Any, levels: tuple[Any, ...]) -> Ints:
    """The places of the values given among the levels of a key, all where none is given."""
    if given is None:
        return np.arange(len(levels))
    wanted = [given] if isinstance(given, str) or not isinstance(given, Sequence | set | frozenset | range) else given
    places = [place for place, level in enumerate(levels) if level in wanted]
    if not places:
        raise TacitaError(f"structural_zeros: {given!r} does not occur in {name!r}; check how the key is coded.")
    return np.array(places)
