"""Closing a suppression: what else must be blanked so that the rest of the file does not give suppressed cells back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.data import Data
from tacita.risk.release.reconstruction.leak import Leak
from tacita.risk.release.reconstruction.reconstruction import reconstruction
from tacita.scenario import Scenario

MOST_ROUNDS = 20
BLANKED = ("columns", "copy")
"""Leaks by the record's own columns, one of which can be blanked beside the suppressed cell."""


class Closing(NamedTuple):
    """What gives suppressed cells back: cells to blank, and leaks that blanking does not repair."""

    cells: dict[str, Bools]
    """By column: cells to blank besides."""
    open_leaks: tuple[str, ...]
    """Leaks that stay open, each with its repair."""


def closing_cells(original: Data, released: Data, scenario: Scenario, names: tuple[str, ...], free: Bools) -> Closing:
    """What to blank in a file so that it does not give suppressed cells of some columns back, as far as that does it.

    Where housemates show a value it is blanked for the whole household; where another column of the record tells it,
    that column is blanked there, unless it is the weight, an identifier, a stratum or a measurement.
    """
    found = reconstruction(original, released, scenario, variables=names)
    record_of = {each.name: each.record for each in found.variables}
    order = np.argsort(released.record, kind="stable")
    cells: dict[str, Bools] = {}
    open_leaks: dict[str, None] = {}
    for leak in found.leaks:
        numbers = record_of[leak.variable][leak.right_cells]
        rows = order[np.searchsorted(released.record[order], numbers)]
        rows = rows[released.missing(leak.variable)[rows]]
        if not len(rows):
            # Cells that an earlier step changed are not told by a blank.
            continue
        column, blanked = _repair(leak, rows, released, scenario, names)
        blanked = blanked & free
        if not column or not blanked.any():
            told = f"{check.counted(len(rows), 'suppressed cell')} of {leak.variable!r} told by {leak.how}"
            open_leaks[f"{told}: {leak.repair}"] = None
        else:
            cells[column] = cells.get(column, np.zeros(len(released), dtype=np.bool_)) | blanked
    return Closing(cells, tuple(open_leaks))


def _repair(leak: Leak, rows: Ints, released: Data, scenario: Scenario, names: tuple[str, ...]) -> tuple[str, Bools]:
    """The column to blank, and where; no name where blanking is not the way."""
    where = np.zeros(len(released), dtype=np.bool_)
    if scenario.household in leak.columns and leak.kind in ("housemates", *BLANKED):
        household = released.households(str(scenario.household))[0]
        where = np.isin(household, household[rows]) & ~released.missing(leak.variable)
        return leak.variable, where
    where[rows] = True
    possible = sorted(_blankable(leak, released, scenario), key=lambda name: (name in names, name))
    return (possible[0], where & ~released.missing(possible[0])) if possible else ("", where)


def _blankable(leak: Leak, released: Data, scenario: Scenario) -> Iterator[str]:
    """Columns of a leak that can be blanked in single records: none where the weight or an identifier is one of them.

    Those tell more than one cell, and a blank beside them would be told by them as well: they are to be repaired.
    """
    fixed = {scenario.weight, scenario.person, *scenario.identifiers}
    if leak.kind in BLANKED and not fixed & set(leak.columns):
        for name in leak.columns:
            can_be_missing = "" not in released.variable(name).not_applicable
            if name not in scenario.strata and can_be_missing and released.scale(name) != "numeric":
                yield name


def joined(cells: Mapping[str, Bools], more: Mapping[str, Bools]) -> dict[str, Bools]:
    """Cells of both, by column."""
    both = dict(cells)
    for name, where in more.items():
        both[name] = both[name] | where if name in both else where
    return both


def said_of_closing(before: Mapping[str, Bools], cells: Mapping[str, Bools], closing: Closing) -> Iterator[str]:
    """What the log says: how many cells were blanked besides, and which leaks stay open."""
    counts = added(before, cells)
    if counts:
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        yield (
            f"{check.counted(sum(counts.values()), 'cell')} suppressed besides so that the file does not give "
            f"suppressed ones back ({listed})"
        )
    yield from (f"not closed: {text}" for text in closing.open_leaks)


def added(before: Mapping[str, Bools], cells: Mapping[str, Bools]) -> dict[str, int]:
    """By column: cells that were added."""
    counts = {
        name: int((where & ~before[name]).sum() if name in before else where.sum()) for name, where in cells.items()
    }
    return {name: count for name, count in counts.items() if count}
