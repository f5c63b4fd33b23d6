"""Contingency tables before and after, cell by cell, with their margins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError, quoted
from tacita.data import Data
from tacita.keys.source import combined
from tacita.loss.both_files import Both, Weighted, both_files, both_numeric, scenario_variables
from tacita.loss.common_classes import Classes, common_classes
from tacita.loss.distributions.association import ROOM
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario
from tacita.work import Work

Count = Literal["persons", "households"]
SHOWN = 12
"""Tables that are printed, those that lost most."""
MOST_DIMENSIONS = 12
"""A table has two to this power of margins."""


class CellLoss(NamedTuple):
    """How far the cells of one table are from what they were; only cells that one of the files fills count."""

    hellinger: float
    """sqrt(1/2 sum (sqrt p - sqrt q)^2) of the shares: 0 the same table, 1 no cell in common."""
    cells: int
    """Cells that one of the files fills."""
    changed: int
    """Cells whose counts differ."""
    absolute: float
    """Mean of |a - b|."""
    absolute_median: float
    absolute_greatest: float
    relative: float
    """Mean of |a - b| / a over cells with a > 0: 0 as they were, 1 emptied or doubled; it can exceed 1."""
    root: float
    """Mean of |sqrt a - sqrt b|."""
    false_zeros: int
    """Cells that the original fills and the release does not."""
    false_nonzeros: int
    """Cells that the release fills and the original does not."""


def cell_loss(a: Floats, b: Floats) -> CellLoss:
    """How far counts by cell are from what they were; every cell is filled in one of the files.

    >>> cell_loss(np.array([4.0, 1.0]), np.array([4.0, 0.0])).relative
    0.5
    """
    gap = np.abs(a - b)
    was = a > 0
    roots = np.abs(np.sqrt(a) - np.sqrt(b))
    shares = np.sqrt(a / a.sum()) - np.sqrt(b / b.sum())
    return CellLoss(
        hellinger=min(1.0, math.sqrt(0.5 * float(np.square(shares).sum()))),
        cells=len(a),
        changed=int((gap > 0).sum()),
        absolute=float(gap.mean()),
        absolute_median=float(np.median(gap)),
        absolute_greatest=float(gap.max()),
        relative=float((gap[was] / a[was]).mean()),
        root=float(roots.mean()),
        false_zeros=int((was & (b == 0)).sum()),
        false_nonzeros=int((~was & (b > 0)).sum()),
    )


class ComparedTable(NamedTuple):
    """One table before and after."""

    variables: tuple[str, ...]
    loss: CellLoss


@dataclass(frozen=True, eq=False)
class TableLoss(Result):
    """How far contingency tables are from what they were."""

    compared: tuple[ComparedTable, ...]
    """By table; the margins of a table are tables too."""
    count: str
    """What is counted: `persons` or `households`."""
    weighted: bool
    """Whether they count by their weights."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def mean(self) -> float:
        """The mean Hellinger distance of the tables: 0 all are the same, 1 no cell in common in any."""
        return math.fsum(each.loss.hellinger for each in self.compared) / len(self.compared)

    @property
    def relative(self) -> float:
        """The mean relative difference of all cells of all tables."""
        filled = [each.loss.cells - each.loss.false_nonzeros for each in self.compared]
        return math.fsum(each.loss.relative * cells for each, cells in zip(self.compared, filled, strict=True)) / sum(
            filled
        )

    @property
    def headline(self) -> str:
        """Mean Hellinger distance and mean relative difference."""
        tables = f"{len(self.compared):,} table{'s' if len(self.compared) > 1 else ''}"
        return (
            f"{tables} of {self.count}: Hellinger distance {number(self.mean)} on average (0 the same tables, 1 no "
            f"cell in common); a cell is off by {number(100 * self.relative)} % of its count on average"
        )

    def sentences(self) -> tuple[str, ...]:
        """Cells that are empty in one of the files only."""
        zeros, others = (sum(getattr(each.loss, name) for each in self.compared) for name in _FALSE)
        cells = sum(each.loss.cells for each in self.compared)
        return (f"Of {cells:,} cells {zeros:,} are empty now and were not, {others:,} were empty and are not now.",)

    def tables(self) -> tuple[Table, ...]:
        """The tables that lost most."""
        most = sorted(self.compared, key=lambda each: -each.loss.hellinger)[:SHOWN]
        heads = (
            "lost most",
            "cells",
            "changed",
            "Hellinger",
            "mean |a-b|",
            "|a-b|/a",
            "false zeros",
            "false non-zeros",
        )
        rows = tuple(
            (
                " x ".join(each.variables),
                each.loss.cells,
                Percent(each.loss.changed / each.loss.cells),
                each.loss.hellinger,
                each.loss.absolute,
                Percent(each.loss.relative),
                each.loss.false_zeros,
                each.loss.false_nonzeros,
            )
            for each in most
        )
        return (Table(heads, rows),)

    def to_frame(self) -> frame.Frame:
        """One row per table."""
        first = {
            "table": [" x ".join(each.variables) for each in self.compared],
            "dimension": [len(each.variables) for each in self.compared],
        }
        return frame.table(
            first | {name: [getattr(each.loss, name) for each in self.compared] for name in CellLoss._fields}
        )

    def to_dict(self) -> dict[str, Any]:
        """The means, and the figures by table."""
        listed = [{"variables": list(each.variables), **each.loss._asdict()} for each in self.compared]
        return {
            "mean": self.mean,
            "relative": self.relative,
            "count": self.count,
            "weighted": self.weighted,
            "tables": listed,
        }


_FALSE = ("false_zeros", "false_nonzeros")


def _work(original: Data, released: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work:
    """Every table counts all records of both files; a table of d variables has 2^d margins."""
    named = None if options["tables"] is None else _named(options["tables"])
    keys = len(scenario.all_keys)
    tables = math.comb(keys + 1, 2) if named is None else sum(2.0 ** len(each) for each in named)
    return Work(1e-7 * (len(original) + len(released)) * tables, "name fewer or smaller tables with tables=[...]")


@measure(
    work=_work,
    files=2,
    called_for="comparison",
    kind="loss",
    by_key=True,
    limit=at_most("mean", "the mean Hellinger distance of tables", moved_by=GENTLER),
    missing=own_rule("A missing value is a category of its own."),
)
def table_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    tables: Annotated[
        Any, Doc("Lists of variables, as [['region', 'sex']]; variables and pairs of keys unless given.")
    ] = None,
    weighted: Weighted = False,
    count: Annotated[Count, Doc("Count persons (records) or households, each once in a cell.")] = "persons",
    progress: Progress = no_progress,
) -> TableLoss:
    """Contingency tables before and after, cell by cell: how far counts are off, and which cells are falsely empty.

    Each table comes with its margins. Cells that neither file fills do not count. Variables that were recoded are
    tabulated by the classes of the release, in both files. Unless tables are named: every key and sensitive variable
    with categories by itself, and all pairs of keys.

    >>> import polars as pl
    >>> before, after = pl.DataFrame({"sex": ["f", "f", "m", "m"]}), pl.DataFrame({"sex": ["f", "f", "f", "m"]})
    >>> found = table_loss(before, after, Scenario(keys=["sex"])).compared[0].loss
    >>> found.absolute, found.relative
    (1.0, 0.5)
    """
    both = both_files(original, released, scenario, weighted=weighted)
    named = _named(tables) if tables is not None else _usual(both, scenario)
    wanted = _with_margins(named)
    names = tuple(dict.fromkeys(name for table in wanted for name in table))
    check.columns_exist("tables: variables", names, both.original.columns)
    removed = [name for name in names if name not in both.released.columns]
    wanted = [table for table in wanted if not set(removed) & set(table)]
    if not wanted:
        raise TacitaError(f"no table can be compared: the release lacks {quoted(removed) or 'variables'}.")
    classes = {name: common_classes(both, name) for name in names if name not in removed}
    households = _households(both, scenario) if count == "households" else None
    found = []
    for at, table in enumerate(wanted):
        progress(at / len(wanted), "comparing tables")
        a, b = table_counts(both, [classes[name] for name in table], households)
        found.append(ComparedTable(table, cell_loss(a, b)))
    recoded = [name for name, each in classes.items() if each.recoded]
    cautions = [*both.cautions]
    if removed:
        cautions.append(f"not in the release, and without their tables here: {quoted(removed)}.")
    if recoded:
        cautions.append(f"recoded, and tabulated by the classes of the release: {quoted(recoded)}.")
    return TableLoss(tuple(found), count, both.weighted, tuple(cautions))


def _named(tables: Any) -> list[tuple[str, ...]]:
    """The tables that the user names."""
    if isinstance(tables, str | Mapping) or not isinstance(tables, Iterable):
        raise TacitaError(
            f"tables must be a list of lists of variables, as [['region', 'sex']]; got {check.given(tables)}."
        )
    listed = [check.names("tables", each) for each in tables]
    if not listed or not all(listed):
        raise TacitaError("tables must name at least one table of at least one variable.")
    large = max(map(len, listed))
    if large > MOST_DIMENSIONS:
        raise TacitaError(f"a table must have at most {MOST_DIMENSIONS} variables; got {large}, name smaller ones.")
    return listed


def _usual(both: Both, scenario: Scenario) -> list[tuple[str, ...]]:
    """Every categorical variable of the scenario, and all pairs of keys."""
    names = [
        name
        for name in scenario_variables(scenario)
        if name not in both.released.columns or not both_numeric(both, name)
    ]
    keys = [name for name in scenario.all_keys if name in names]
    if not names:
        raise TacitaError("the scenario names no variable with categories; name tables with tables=[['...']].")
    return [*((name,) for name in names), *itertools.combinations(keys, 2)]


def _with_margins(tables: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tables with all their margins, each set of variables once."""
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for table in tables:
        for size in range(1, len(table) + 1):
            for margin in itertools.combinations(table, size):
                found.setdefault(frozenset(margin), margin)
    return list(found.values())


def table_counts(both: Both, classes: list[Classes], households: list[Ints] | None) -> tuple[Floats, Floats]:
    """Counts of both files by cell, of the cells that one of them fills."""
    sizes = [each.size for each in classes]
    first = len(both.original)
    columns = [np.concatenate(each.both) for each in classes]
    cell = combined(columns, sizes, first + len(both.released))
    place, total = _places(cell)
    sides = [place[:first], place[first:]]
    if households is None:
        counts = [_sums(side, weight, total) for side, weight in zip(sides, both.weights, strict=True)]
    else:
        every = zip(sides, households, both.weights, strict=True)
        counts = [_household_counts(*side, total) for side in every]
    return counts[0], counts[1]


def _sums(cell: Ints, weight: Floats, total: int) -> Floats:
    """By cell the sum of the weights of its records."""
    sums: Floats = np.bincount(cell, weights=weight, minlength=total).astype(np.float64)
    return sums


def _places(cell: Ints) -> tuple[Ints, int]:
    """By record the place of its cell among those that are filled, and how many there are."""
    if cell.max() < max(ROOM, len(cell)):
        filled = np.bincount(cell) > 0
        return (np.cumsum(filled) - 1)[cell], int(filled.sum())
    different, place = np.unique(cell, return_inverse=True)
    return place, len(different)


def _household_counts(cell: Ints, unit: Ints, weight: Floats, total: int) -> Floats:
    """By cell the households with a member in it, each by the mean weight of those members."""
    _, pair, members = np.unique(cell * (unit.max() + 1) + unit, return_inverse=True, return_counts=True)
    mean = np.bincount(pair, weight) / members
    cells = np.empty(len(members), np.int64)
    cells[pair] = cell
    return _sums(cells, mean, total)


def _households(both: Both, scenario: Scenario) -> list[Ints]:
    """By file and record its household."""
    name = scenario.household
    if any(data.condensed is not None for data in both.files):
        raise TacitaError("households are counted in memory only; count the records, or pass samples of both files.")
    if name is None:
        raise TacitaError("to count households the scenario must name them; pass household=... in the scenario.")
    check.columns_exist("household of the released file", (name,), both.released.columns)
    return [data.households(name)[0] for data in both.files]
