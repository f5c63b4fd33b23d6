"""Unsafe combinations: every table of a few keys, and which of its cells are too small (as mu-ARGUS shows them)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.source import combined
from tacita.keys.table import KeyTable, key_table
from tacita.keys.units import entries
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc
from tacita.progress import Progress, no_progress
from tacita.result import Repair, Result, Table
from tacita.scenario import Scenario
from tacita.work import Work

MOST_TABLES = 20_000


@dataclass(frozen=True, eq=False)
class UnsafeCombinations(Result):
    """Cells with at most `threshold` records, in every table that was asked for."""

    table: KeyTable
    """The keys."""
    combinations: tuple[tuple[str, ...], ...]
    """The combinations of variables, one per table."""
    thresholds: tuple[int, ...]
    """Of each table: a cell is unsafe if it has at most so many records."""
    unsafe: tuple[int, ...]
    """Of each table: its unsafe cells."""
    records: tuple[int, ...]
    """Of each table: the records in them."""
    by_variable: Mapping[tuple[str, int], int]
    """Unsafe cells by variable and number of dimensions."""
    by_category: Mapping[str, Ints]
    """By variable: unsafe cells (all tables) for each of its categories, missing first."""
    per_key: Ints
    """By key: in how many tables it lies in an unsafe cell."""

    @property
    def total(self) -> int:
        """Unsafe cells in all tables."""
        return sum(self.unsafe)

    @property
    def records_unsafe(self) -> int:
        """Records that lie in at least one unsafe cell."""
        return int(self.table.records[self.per_key > 0].sum())

    @property
    def not_valid(self) -> str:
        """Why counts of cells say nothing; empty if they do."""
        return self.table.keys_not_valid

    def unsafe_records(self, policy: Any) -> Bools:
        """By record whether it lies in an unsafe cell."""
        return self.table.per_record(self.per_key > 0)

    def repair(self, policy: Any) -> Repair | None:
        """Suppressing on combinations of the same sizes, to one record more than is unsafe."""
        by_size: dict[int, int] = {}
        for names, threshold in zip(self.combinations, self.thresholds, strict=True):
            by_size[len(names)] = max(by_size.get(len(names), 2), threshold + 1)
        records = self.records_unsafe
        text = (
            f"{check.counted(records, 'record')} in unsafe cells: Suppress(combs={by_size}), or Recode of the keys; a "
            f"missing value is a category of these tables"
        )
        if self.table.rule.name != "own_category":
            return Repair("unsafe_combinations", f"{text}, so suppress under missing = 'own_category'", records=records)
        return Repair("unsafe_combinations", text, "suppress", {"combs": by_size}, records)

    @property
    def headline(self) -> str:
        """Unsafe cells and the records in them."""
        return (
            f"{self.total:,} unsafe cells in {check.counted(len(self.combinations), 'table')}; "
            f"{self.records_unsafe:,} of {self.table.size:,} records lie in one"
        )

    def tables(self) -> tuple[Table, ...]:
        """Unsafe cells by variable and number of dimensions."""
        sizes = sorted({len(names) for names in self.combinations})
        rows = [(name, *(self.by_variable.get((name, size), 0) for size in sizes)) for name in self.table.keys]
        return (Table(("unsafe combinations", *(f"{size} dim" for size in sizes)), tuple(rows)),)

    def to_frame(self) -> frame.Frame:
        """One row per table."""
        return frame.table(
            {
                "combination": [" x ".join(names) for names in self.combinations],
                "dimensions": [len(names) for names in self.combinations],
                "threshold": list(self.thresholds),
                "unsafe_cells": list(self.unsafe),
                "unsafe_records": list(self.records),
            }
        )

    def categories(self, variable: str) -> frame.Frame:
        """One row per category of a variable, with its unsafe cells; an internal table, since it shows values."""
        check.columns_exist("variable", [variable], self.table.keys)
        values = self.table.values[self.table.keys.index(variable)]
        shown = ["(missing)", *(str(value) for value in values)]
        return frame.table({"category": shown, "unsafe_cells": self.by_category[variable]})

    def per_record(self) -> Ints:
        """By record: in how many tables it lies in an unsafe cell."""
        return self.table.per_record(self.per_key)

    def record_columns(self) -> dict[str, Any]:
        """In how many tables each record lies in an unsafe cell."""
        return {"unsafe_combinations": self.per_record()}

    def to_dict(self) -> dict[str, Any]:
        """Tables, unsafe cells and the records in them."""
        return {
            "tables": len(self.combinations),
            "unsafe_cells": self.total,
            "records": self.records_unsafe,
            "by_variable": {name: self._by_size(name) for name in self.table.keys},
        }

    def _by_size(self, name: str) -> dict[str, int]:
        return {str(size): cells for (variable, size), cells in self.by_variable.items() if variable == name}


def unsafe_cells(
    codes: Sequence[Any], sizes: Sequence[int], records: Ints, threshold: int, units: tuple[Ints, Ints] | None = None
) -> tuple[Bools, Ints]:
    """By key whether its cell is unsafe, and by key the number of its cell.

    `units`: pairs of a key and a unit that has it, where units have several records and a cell counts units.
    """
    numbers = combined(codes, sizes, len(records))
    cell = np.unique(numbers, return_inverse=True)[1]
    if units is None:
        count = np.bincount(cell, weights=records)
    else:
        key, unit = units
        width = int(unit.max()) + 1
        count = np.bincount(np.unique(cell[key] * width + unit) // width).astype(np.float64)
    unsafe: Bools = (count <= threshold)[cell]
    return unsafe, cell


def count_unsafe(
    table: KeyTable, tables: Sequence[tuple[str, ...]], thresholds: Sequence[int], progress: Progress = no_progress
) -> UnsafeCombinations:
    """Unsafe cells of the tables of a key table; missing is a category of its own, as in any table."""
    by_variable: dict[tuple[str, int], int] = {}
    by_category = {
        name: np.zeros(len(values) + 1, dtype=np.int64) for name, values in zip(table.keys, table.values, strict=True)
    }
    per_key = np.zeros(len(table.codes), dtype=np.int64)
    found, in_them = [], []
    pairs = None if table.unit is None else entries(table.row, table.unit, None)[:2]
    for at, (names, threshold) in enumerate(zip(tables, thresholds, strict=True)):
        progress(at / len(tables), "unsafe combinations")
        places = [table.keys.index(name) for name in names]
        sizes = [len(table.values[place]) + 1 for place in places]
        columns = [table.codes[:, place] for place in places]
        unsafe, cell = unsafe_cells(columns, sizes, table.records, threshold, pairs)
        per_key += unsafe
        rows = np.flatnonzero(unsafe)
        first = rows[np.unique(cell[rows], return_index=True)[1]]
        found.append(len(first))
        in_them.append(int(table.records[unsafe].sum()))
        for name, place in zip(names, places, strict=True):
            by_variable[name, len(names)] = by_variable.get((name, len(names)), 0) + len(first)
            by_category[name] += np.bincount(table.codes[first, place], minlength=len(by_category[name]))
    return UnsafeCombinations(
        table, tuple(tables), tuple(thresholds), tuple(found), tuple(in_them), by_variable, by_category, per_key
    )


def up_to(keys: Sequence[str], largest: int) -> Iterator[tuple[str, ...]]:
    """Every combination of 1 to `largest` keys."""
    for size in range(1, largest + 1):
        yield from combinations(keys, size)


def by_identification_level(levels: Mapping[str, int]) -> list[tuple[str, ...]]:
    """The combinations that identification levels call for: one variable of each level, 1 the most identifying.

    A variable of level i also counts as one of every higher-numbered (less identifying) level, as in the Dutch rule
    "extremely x very x identifying". Level 0 takes no part.
    """
    used = {name: check.whole(f"level of {name!r}", level, 0) for name, level in levels.items()}
    deepest = max(used.values(), default=0)
    choices = [[name for name, level in used.items() if 0 < level <= wanted] for wanted in range(1, deepest + 1)]
    found = {tuple(name for name in used if name in chosen) for chosen in map(set, product(*choices))}
    return sorted(
        (names for names in found if len(names) == deepest), key=lambda names: [list(used).index(n) for n in names]
    )


def _work(data: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work | None:
    """Every table counts all distinct keys, which may be as many as records."""
    if options["tables"] is not None or options["levels"] is not None:
        return None
    keys = len(scenario.keys)
    tables = sum(math.comb(keys, size) for size in range(1, min(keys, options["largest"] or 3) + 1))
    return Work(3e-8 * len(data) * tables, "pass a smaller largest, or name fewer keys")


@measure(
    by_key=True,
    work=_work,
    needs="keys",
    limit=at_most("records_unsafe", "the number of records in an unsafe cell", void="records"),
    missing=own_rule("A missing value is a category of its own in every table."),
)
def unsafe_combinations(
    data: Any,
    scenario: Scenario,
    *,
    threshold: Annotated[Any, Doc("A cell is unsafe with at most so many records; one for each size, if several.")] = 3,
    largest: Annotated[int | None, AtLeast(1), Doc("Tables of 1 to so many keys; 3 unless given.")] = None,
    levels: Annotated[Any, Doc("Or an identification level for each key, 1 the most identifying.")] = None,
    tables: Annotated[Any, Doc("Or tables by name with a threshold each, as {'region x age': 10}.")] = None,
    progress: Progress = no_progress,
) -> UnsafeCombinations:
    """Combinations of key values that at most `threshold` records have, in every table of a few keys.

    Three ways to say which tables: all of 1 to `largest` keys (3 unless given), with one threshold or one per number of
    dimensions; `levels`, an identification level for each key (1 the most identifying), one variable of each level
    making a table; or `tables`, combinations by name with a threshold each, `{("region", "age"): 10}` or
    `{"region x age": 10}`. A cell is unsafe if 0 < count <= threshold, as in mu-ARGUS; k-anonymity is violated at
    count < k. Missing is a category.

    Reference: mu-ARGUS 5.1 user's manual, section 3.1.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> unsafe_combinations(people, Scenario(keys=["sex", "region"]), threshold=1).total
    3
    """
    if sum(given is not None for given in (largest, levels, tables)) > 1:
        raise TacitaError("give one of largest, levels and tables.")
    for each in threshold if check.is_list(threshold) else (threshold,):
        check.whole("threshold", each, 0)
    if tables is not None:
        if not isinstance(tables, Mapping):
            raise TacitaError(
                f"tables must give a threshold for each table, as in {{'region x age': 10}}; got {check.given(tables)}."
            )
        named = {_table(names): check.whole("threshold", each, 0) for names, each in tables.items()}
        wanted, thresholds = list(named), list(named.values())
    elif levels is not None:
        check.columns_exist("levels", list(check.mapping("levels", levels)), scenario.keys)
        wanted = by_identification_level(levels)
        thresholds = [_one(threshold)] * len(wanted)
    else:
        size = min(largest or 3, len(scenario.keys))
        wanted = list(up_to(scenario.keys, size))
        limits = _per_size(threshold, size)
        thresholds = [limits[len(names) - 1] for names in wanted]
    if len(wanted) > MOST_TABLES:
        raise TacitaError(f"that is {len(wanted):,} tables, more than {MOST_TABLES:,}; choose a smaller largest.")
    every = tuple(dict.fromkeys(name for names in wanted for name in names)) or scenario.keys
    return count_unsafe(key_table(data, scenario, every), wanted, thresholds, progress)


def _table(names: Any) -> tuple[str, ...]:
    """The variables of a table: their names, or one text with " x " between them."""
    return check.names("a table", names.split(" x ") if isinstance(names, str) else names)


def _one(threshold: int | Iterable[int]) -> int:
    if not check.is_list(threshold):
        return check.whole("threshold", threshold, 0)
    raise TacitaError("levels take one threshold for all tables; got several.")


def _per_size(threshold: Any, size: int) -> list[int]:
    limits = list(threshold) if check.is_list(threshold) else [threshold] * size
    if len(limits) < size:
        raise TacitaError(f"give one threshold, or one for each of the {size} sizes; got {len(limits)}.")
    return [check.whole("threshold", each, 0) for each in limits]
