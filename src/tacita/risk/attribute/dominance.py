"""Dominance and p% rules: can the contributions to a total be told from the total?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data.visible import visible_categories
from tacita.distance.comparison import check_sizes
from tacita.keys.source import distinct_keys
from tacita.keys.table import repeated_units
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, Percentage
from tacita.result import Repair, Result, step_call
from tacita.scenario import Scenario

ROUNDING = 1e-9
"""A limit that is met up to a rounding error is not taken for met."""


class Cells(NamedTuple):
    """The totals of cells and their largest contributions."""

    largest: Floats
    """One column per rank: the largest contribution, the second largest, ... 0 where there are fewer."""
    rest: Floats
    """What the others contribute."""
    contributors: Ints

    @property
    def total(self) -> Floats:
        """The total of each cell."""
        total: Floats = self.rest + self.largest.sum(axis=1)
        return total


def cells(values: Floats, cell: Ints, count: int, ranks: int) -> Cells:
    """Largest contributions and the rest by cell; contributions are taken by their size, whatever their sign.

    Summed in the order of their size, so that the order of the records does not matter.
    """
    size = np.abs(values)
    order = np.lexsort((-size, cell))
    ordered, size = cell[order], size[order]
    rank = np.arange(len(cell)) - np.searchsorted(ordered, ordered, side="left")
    largest = np.zeros((count, ranks))
    top = rank < ranks
    largest[ordered[top], rank[top]] = size[top]
    rest: Floats = np.bincount(ordered, weights=np.where(top, 0.0, size), minlength=count).astype(np.float64)
    return Cells(largest, rest, np.bincount(cell, minlength=count))


def by_unit(values: Floats, cell: Ints, unit: Ints) -> tuple[Floats, Ints]:
    """What each unit contributes to each of its cells, and the cell: twelve months of a firm are one contribution."""
    if not len(values):
        return values, cell
    order = np.lexsort((values, unit, cell))
    ordered, owner = cell[order], unit[order]
    first = (np.diff(ordered, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0)
    start = np.flatnonzero(first)
    return np.add.reduceat(values[order], start), ordered[start]


def dominated(found: Cells, n: int, k: float) -> Bools:
    """By cell: whether the n largest contributions exceed k percent of the total."""
    unsafe: Bools = found.largest[:, :n].sum(axis=1) > k / 100 * found.total
    return unsafe


def too_precise(found: Cells, p: float) -> Bools:
    """By cell: whether the second largest contributor can estimate the largest to within p percent."""
    first = found.largest[:, 0]
    others = found.rest + found.largest[:, 2:].sum(axis=1)
    unsafe: Bools = (others < p / 100 * first) & (first > 0)
    return unsafe


@dataclass(frozen=True, eq=False)
class Dominance(Result):
    """Cells of a table of totals in which single contributors could be estimated."""

    variable: str
    """The magnitude that is added up."""
    cells: frame.Frame
    """One row per cell: its contributors, total and largest contributions, and what it violates."""
    row: Ints
    """For each record its cell; -1 where the magnitude is missing."""
    dominated: Bools
    """By cell: violates the (n, k) rule."""
    too_precise: Bools
    """By cell: violates the p% rule."""
    n: int
    k: float
    p: float
    by: tuple[str, ...] = ()
    """The variables whose values make the cells."""
    of_units: bool = False
    """Whether contributions of several records of a unit were added up."""

    @property
    def enough(self) -> int:
        """How many equal contributions at least make a cell safe by both rules, unless more than all are asked for.

        Of m equal ones the n largest have n/m of the total, and all but two of them must be p percent of one.
        """
        if not self.k:
            return len(self.row) + 1
        return max(2 + math.ceil(self.p / 100), math.ceil(100 * self.n / self.k * (1.0 + ROUNDING)))

    @property
    def is_unsafe(self) -> Bools:
        """By cell: whether it violates either rule."""
        return self.dominated | self.too_precise

    def unsafe_records(self, policy: Any) -> Bools:
        """By record whether it lies in an unsafe cell."""
        return (self.row >= 0) & self.is_unsafe[self.row]

    def repair(self, policy: Any) -> Repair:
        """Averages of the magnitude within unsafe cells, or their records left out where they are too few for one."""
        records = int(self.unsafe_records(policy).sum())
        few = int((self.is_unsafe & (self.contributors < self.enough)).sum())
        cells = check.counted(self.unsafe, "unsafe cell")
        drop: dict[str, Any] = {"where": {"unsafe": "dominance"}}
        left_out = f"{step_call('drop_records', drop)} leaves out {check.counted(records, 'record')}"
        coarser = f"; Recode of {check.quoted(self.by)} makes larger cells" if self.by else ""
        every = records == len(self.row)
        if few or self.of_units:
            why = f", {few:,} of them of fewer than {self.enough} contributors" if few else ""
            text = f"{cells}{why}: {left_out}{coarser}"
            return Repair("dominance", text, None if every else "drop_records", {} if every else drop, records)
        asked = {"variables": [self.variable], "k": self.enough, "strata": list(self.by)}
        asked |= {"only": {"unsafe": "dominance"}}
        text = (
            f"{cells} of {check.counted(records, 'record')}: {step_call('microaggregate', asked)} makes groups of "
            f"{self.enough} contribute alike and keeps the totals; or {left_out}{coarser}"
        )
        return Repair("dominance", text, "microaggregate", asked, records)

    @property
    def contributors(self) -> Ints:
        """By cell: how many contribute."""
        return np.bincount(self.row[self.row >= 0], minlength=len(self.dominated))

    @property
    def unsafe(self) -> int:
        """Cells that violate either rule."""
        return int(self.is_unsafe.sum())

    @property
    def headline(self) -> str:
        """Cells that are unsafe, by either rule."""
        return (
            f"{self.unsafe:,} of {check.counted(len(self.dominated), 'cell')} of {self.variable!r} are unsafe: "
            f"{int(self.dominated.sum()):,} by ({self.n}, {self.k:g} %) dominance, "
            f"{int(self.too_precise.sum()):,} by the {self.p:g} % rule"
        )

    def to_frame(self) -> frame.Frame:
        """One row per cell."""
        return self.cells

    def to_dict(self) -> dict[str, Any]:
        """Unsafe cells by either rule."""
        return {
            "variable": self.variable,
            "cells": len(self.dominated),
            "dominated": int(self.dominated.sum()),
            "too_precise": int(self.too_precise.sum()),
            "rules": {"n": self.n, "k": self.k, "p": self.p},
        }


@measure(
    needs="numeric_keys",
    limit=at_most(
        "unsafe",
        "the number of unsafe cells",
        void="records",
    ),
    missing=own_rule("Missing magnitudes are left out; a missing value of a cell's variable is a category."),
)
def dominance(
    data: Any,
    scenario: Scenario,
    variable: Annotated[str | None, Doc("The magnitude; the scenario's first numeric key unless given.")] = None,
    *,
    by: Annotated[Any, Doc("Variables whose values make the cells; the keys unless given.")] = None,
    n: Annotated[int, AtLeast(1), Doc("How many of the largest contributors count.")] = 1,
    k: Annotated[float, Percentage(), Doc("Percent of the total that they may have.")] = 75.0,
    p: Annotated[float, Percentage(), Doc("Percent to within which the largest may not be estimated.")] = 15.0,
) -> Dominance:
    """Which cells of a table of totals let a contributor be estimated: (n, k)-dominance and the p% rule.

    A cell is unsafe if its n largest contributions exceed k percent of its total, or if T - x_1 - x_2 < (p/100) x_1:
    then the second largest knows the largest to within p percent. Cells are the keys, or the variables of `by`; with
    neither the file is one cell. What a unit of several records (`person` of the scenario) contributes to a cell is
    added up first.

    Reference: Hundepool et al. (2012), Statistical disclosure control, chapter 4.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"industry": ["a", "a", "a", "b", "b"], "turnover": [90.0, 6.0, 4.0, 5.0, 5.0]})
    >>> print(dominance(firms, Scenario(keys=["industry"]), "turnover"))
    2 of 2 cells of 'turnover' are unsafe: 1 by (1, 75 %) dominance, 2 by the 15 % rule
    """
    variable = variable or next(iter(scenario.numeric_keys), None)
    if variable is None:
        raise TacitaError("dominance needs a magnitude; give it as an option, variable=..., or name numeric keys.")
    names = scenario.keys if by is None else check.names("by", by)
    check.columns_exist("by", names, data.columns)
    check.columns_exist("variable", [variable], data.columns)
    columns = [visible_categories(data, name) for name in names]
    row, codes = np.zeros(len(data), dtype=np.int64), np.zeros((1, 0), dtype=np.uint32)
    if columns:
        row, codes = distinct_keys([each.codes for each in columns], [len(each.values) for each in columns])
    values = data.numbers(variable)
    check_sizes(variable, values)
    known = ~np.isnan(values)
    unit = repeated_units(data, scenario)
    amounts, cell = values[known], row[known]
    if unit is not None:
        amounts, cell = by_unit(amounts, cell, unit[known])
    found = cells(amounts, cell, len(codes), max(n, 2))
    table = {name: (codes[:, place], columns[place].values) for place, name in enumerate(names)}
    unsafe_by = {"dominated": dominated(found, n, k), "too_precise": too_precise(found, p)}
    figures = {"contributors": found.contributors, "total": found.total, "largest": found.largest[:, 0]}
    rows = frame.table(figures | unsafe_by)
    rows = frame.beside(rows, frame.table(table)) if table else rows
    return Dominance(
        variable, rows, np.where(known, row, -1), **unsafe_by, n=n, k=k, p=p, by=names, of_units=unit is not None
    )
