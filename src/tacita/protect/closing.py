"""Closing a suppression: what else must be blanked so that the rest of the file does not give suppressed cells back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.progress import Progress, halving
from tacita.risk.release.reconstruction.leak import Leak
from tacita.risk.release.reconstruction.suppressed import every_leak_of_suppressed, leaks_of_suppressed
from tacita.scenario import Scenario

BLANKED = ("columns", "copy", "housemates")
"""Leaks by values of records, which can be blanked; not sums, functions, relations and order."""
FEW_CATEGORIES = 20
"""So many values, or a tenth of the records, can be categories; more are not."""
MOST_ROUNDS = 80
"""Attacks after which closing gives up, and says what is still open."""
MOST_CELLS, MOST_TIMES = 1_000, 5
"""Cells that closing may take besides: so many, or so many times those that are closed. Where it would take more, other
columns tell so much of the keys that blanking single cells of them destroys the file, and protects little."""
MOST_LISTED = 10
"""Leaks that are listed, those that give most cells back first."""
PAIRS, WHOLE, THREES = range(3)
"""What a file is attacked with: its columns alone and in pairs; everything, as the release is assessed; and, if leaks
stay open, its columns in threes as well. Weights, order and other open leaks are left out of the first and the last:
they must not hide what other columns tell, since later steps may take them away."""

Cells = Mapping[str, Bools]
"""By column: cells that are blanked."""


@dataclass(frozen=True, eq=False)
class Scope:
    """What a closing starts from: the original file, the scenario, and what may be blanked."""

    original: Data
    scenario: Scenario
    keys: tuple[str, ...]
    """Keys, which can be blanked whatever their scale."""
    strata: tuple[str, ...]
    """Columns that are never blanked."""
    free: Bools
    """Records that may be changed."""
    release_order: Ints | None = None
    """The rows in the order in which they are released; None: as they stand."""

    @property
    def fixed(self) -> frozenset[str]:
        """Columns whose single cells are never suppressed: the weight and identifiers, repaired as a whole."""
        return frozenset(filter(None, (self.scenario.weight, self.scenario.person, *self.scenario.identifiers)))

    def can_blank(self, name: str, data: Data) -> bool:
        """Whether single cells of a column can be blanked: not of measurements, nor where a blank has a meaning."""
        never = name in self.fixed or name in self.strata or name == self.scenario.household
        if never or "" in data.variable(name).not_applicable:
            return False
        # Texts of which nearly every record has its own are identifiers that nobody declared.
        few = frame.distinct(data.table, name) <= max(FEW_CATEGORIES, len(data) // 10)
        return name in self.keys or (few and data.scale(name) != "numeric")


class Closing(NamedTuple):
    """What gives suppressed cells back: cells to blank, and leaks that blanking does not repair."""

    cells: dict[str, Bools]
    """By column: cells to blank besides."""
    open_leaks: tuple[str, ...]
    """Leaks that stay open, each with its repair."""
    revealing: frozenset[str]
    """Columns of these leaks."""


def closed(
    first: Cells, data: Data, scope: Scope, make_safe: Callable[[Cells], Cells], progress: Progress
) -> tuple[Cells, tuple[str, ...]]:
    """The cells with others, until nothing that blanking repairs gives them back; and the leaks that stay open.

    `make_safe` makes a file safe in which more cells are blanked. Where that takes far more cells than are closed, none
    of them is blanked, and what gives them back is said.
    """
    cells, left_out, attack = first, scope.fixed - {scope.scenario.household}, PAIRS
    open_leaks: tuple[str, ...] = ()
    unchangeable = replace(scope, free=np.zeros_like(scope.free))
    size = _size(first)
    most = size + max(MOST_CELLS, MOST_TIMES * size)
    touched: Bools | None = None
    for number in range(MOST_ROUNDS):
        step = halving(progress, number)
        found = closing_cells(data.blanked(cells), scope, tuple(cells), attack, left_out, step, touched)
        if found.cells:
            before = cells
            try:
                cells = make_safe(joined(cells, found.cells))
            except TacitaError:
                # Under rules by which nobody hides behind another's blank, not every further blank can be made safe.
                break
            if _size(cells) > most:
                names = tuple(first)
                leaks = closing_cells(data.blanked(first), unchangeable, names, WHOLE, left_out, progress).open_leaks
                return first, (_too_many(size, most), *_listed(leaks))
            attack, touched = min(attack, WHOLE), newly_blanked(before, cells)
        elif touched is not None:
            # Nothing is told where cells were blanked of late: now everywhere.
            touched = None
        elif attack != WHOLE and not found.revealing <= left_out:
            left_out |= found.revealing
        elif attack == WHOLE:
            open_leaks, left_out, attack = found.open_leaks, left_out | found.revealing, THREES
            if not open_leaks:
                return cells, ()
        elif attack == THREES:
            return cells, _listed(open_leaks)
        else:
            attack = WHOLE
    leaks = closing_cells(data.blanked(cells), unchangeable, tuple(cells), WHOLE, left_out, progress).open_leaks
    return cells, _listed(leaks)


def _size(cells: Cells) -> int:
    return sum(int(where.sum()) for where in cells.values())


def _too_many(size: int, most: int) -> str:
    return (
        f"no more cells suppressed to protect these {size:,}: it would have taken more than {most - size:,}; recode or "
        f"remove the columns that tell them first"
    )


def _listed(leaks: tuple[str, ...]) -> tuple[str, ...]:
    """The leaks that give most cells back, and how many others there are."""
    more = len(leaks) - MOST_LISTED
    return leaks if more <= 1 else (*leaks[:MOST_LISTED], f"{more:,} more leaks of suppressed cells")


def closing_cells(
    released: Data,
    scope: Scope,
    names: tuple[str, ...],
    attack: int,
    left_out: frozenset[str],
    progress: Progress,
    touched: Bools | None = None,
) -> Closing:
    """What to blank in a file so that an attack does not give suppressed cells of some columns back.

    Where housemates show a value it is blanked for the whole household; where another column of the record tells it,
    that column is blanked there, unless it is the weight, an identifier, a stratum or a measurement. Where only some
    rows were `touched` since the last time, what tells a cell there is looked for, with columns alone.
    """
    cells: dict[str, Bools] = {}
    open_leaks: dict[str, None] = {}
    revealing: set[str] = set()
    if attack == WHOLE and touched is None:
        found = _by_everything(released, scope, names, progress)
    else:
        aside = frozenset() if attack == WHOLE else left_out
        threes = attack != PAIRS
        found = leaks_of_suppressed(scope.original, released, scope.scenario, names, aside, threes, touched, progress)
    for leak, rows in found:
        column, blanked = _repair(leak, rows, released, scope, names)
        if blanked.any():
            cells[column] = cells.get(column, np.zeros(len(released), dtype=np.bool_)) | blanked
        elif len(rows):
            what = f"{check.counted(len(rows), 'suppressed cell')} of {leak.variable!r}"
            open_leaks[f"{what} still revealed by {leak.how}: {leak.repair}"] = None
            revealing |= set() if column else {*leak.columns} - {scope.scenario.household}
    return Closing(cells, tuple(open_leaks), frozenset(revealing & set(released.columns)))


def _by_everything(
    released: Data, scope: Scope, names: tuple[str, ...], progress: Progress
) -> Iterator[tuple[Leak, Ints]]:
    """Every leak that an assessment finds, and the rows of the suppressed cells that it gives back."""
    order = np.arange(len(released)) if scope.release_order is None else scope.release_order
    file = released if scope.release_order is None else released.take(order)
    for leak, rows in every_leak_of_suppressed(scope.original, file, scope.scenario, names, progress):
        yield leak, order[rows]


def _repair(leak: Leak, rows: Ints, released: Data, scope: Scope, names: tuple[str, ...]) -> tuple[str, Bools]:
    """The column to blank, and where; no name where blanking is not the way."""
    others = [name for name in leak.columns if name != scope.scenario.household]
    # An identifier that contains a code tells it whether housemates show it or not.
    if leak.kind == "housemates" or (leak.kind == "columns" and 0 < len(others) < len(leak.columns)):
        where = _in_households(leak.variable, rows, released, scope)
        if where.any() or not others:
            return leak.variable, where
    where = np.zeros(len(released), dtype=np.bool_)
    if leak.kind not in BLANKED or scope.fixed & {*leak.columns}:
        return "", where
    where[rows] = True
    possible = [name for name in others if scope.can_blank(name, released)]
    for column in sorted(possible, key=lambda name: (name in names, name)):
        blanked = where & ~released.missing(column) & scope.free
        if blanked.any():
            return column, blanked
    if not possible:
        return "", np.zeros_like(where)
    # Blanks tell it: of the records that have them nearly all show one value, which goes there as well.
    alike = np.logical_and.reduce([released.missing(name) for name in others])
    return leak.variable, alike & ~released.missing(leak.variable) & scope.free


def _in_households(name: str, rows: Ints, released: Data, scope: Scope) -> Bools:
    """Cells of a variable that tell those of housemates: all that the households of some rows show."""
    home = released.households(str(scope.scenario.household))[0]
    where: Bools = np.isin(home, home[rows]) & ~released.missing(name) & scope.free
    return where


def joined(cells: Cells, more: Cells) -> dict[str, Bools]:
    """Cells of both, by column."""
    both = dict(cells)
    for name, where in more.items():
        both[name] = both[name] | where if name in both else where
    return both


def newly_blanked(before: Cells, cells: Cells) -> Bools:
    """By row whether a cell is blanked that was not before."""
    fresh = [where & ~before[name] if name in before else where for name, where in cells.items()]
    found: Bools = np.logical_or.reduce(fresh)
    return found


def more_cells(counts: Mapping[str, int], why: str) -> Iterator[str]:
    """What the log says of cells that were suppressed besides, by column."""
    if counts:
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        yield f"{check.counted(sum(counts.values()), 'more cell')} suppressed because {why} ({listed})"


def added(before: Cells, cells: Cells) -> dict[str, int]:
    """By column: cells that were added."""
    counts = {
        name: int((where & ~before[name]).sum() if name in before else where.sum()) for name, where in cells.items()
    }
    return {name: count for name, count in counts.items() if count}
