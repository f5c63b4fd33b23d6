"""Records of one or several releases that agree with those of an intruder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.progress import Progress
from tacita.risk.external.agreement_columns import Agreement, agreement
from tacita.risk.external.best_records import Paired, free_records
from tacita.risk.external.columns import Column, within
from tacita.risk.linkage.files import Files


class Releases(NamedTuple):
    """Releases of one file, ready to be compared with it."""

    files: list[Files]
    agreements: list[dict[str, Agreement]]
    """By release and variable."""
    rows: Ints
    """By release and record of all releases together its position in that release, -1 where it is in none."""
    anything: bool
    """Whether a cell that no release shows could be anything; if not, it is a level of its own."""

    @property
    def recoded(self) -> set[str]:
        """Variables that the intruder had to recode."""
        return {name for each in self.agreements for name, found in each.items() if found.recoded}


def releases_of(files: list[Files], tolerance: float, anything: bool, rows: Ints) -> Releases:
    """The releases with what agrees in each of their variables; `rows` are those of the releases."""
    positions = np.full(rows.shape, -1)
    for at, each in enumerate(files):
        by_row = np.argsort(each.y_order, kind="stable")
        there = rows[at] >= 0
        positions[at, there] = by_row[rows[at, there]]
    agreements = [{name: agreement(each, name, tolerance) for name in each.names} for each in files]
    return Releases(files, agreements, positions, anything)


def alone(releases: Releases, at: int, progress: Progress) -> Paired:
    """What agrees with each record in one release."""
    files = releases.files[at]
    columns = [each.alone(anything=releases.anything) for each in releases.agreements[at].values()]
    theirs, mine = files.own_pairs()
    return free_records(columns or [_anything(files)], (mine, theirs), progress)


def together(releases: Releases, progress: Progress) -> Paired:
    """What agrees with each record in all releases side by side."""
    columns = []
    for name in dict.fromkeys(name for each in releases.agreements for name in each):
        found = [(at, each[name]) for at, each in enumerate(releases.agreements) if name in each]
        shown = []
        for at, each in found:
            values = _side_by_side(each.column.released, releases.rows[at])
            columns.append(each.column._replace(released=values))
            shown.append(values > 0)
        columns.append(_shown_somewhere(np.any(shown, axis=0), [each for _, each in found], releases.anything))
    return free_records(columns, _own_pairs(releases), progress)


def _side_by_side(values: Floats, positions: Ints) -> Floats:
    """Codes of one release by record of all of them, 0 where it has no such record."""
    found: Floats = np.where(positions >= 0, values[np.maximum(positions, 0)], 0.0)
    return found


def _shown_somewhere(shown: np.ndarray, found: list[Agreement], anything: bool) -> Column:
    """A column in which a cell that no release shows costs what it would cost in each of them."""
    size = len(found[0].missing)
    never = np.array([each.missing if each.numeric else np.zeros(size, dtype=np.bool_) for each in found]).any(axis=0)
    blank = np.max([each.blank(anything=anything) for each in found], axis=0)
    return within(shown.astype(np.float64), np.where(never, np.inf, 1.0), np.ones(size), blank)


def _own_pairs(releases: Releases) -> tuple[Ints, Ints]:
    """Positions in the original and records of all releases that are of the same unit."""
    found = []
    for at, files in enumerate(releases.files):
        place = np.full(len(files.released), -1)
        there = np.flatnonzero(releases.rows[at] >= 0)
        place[releases.rows[at, there]] = there
        theirs, mine = files.own_pairs()
        found.append(np.column_stack([mine, place[theirs]]))
    pairs = np.unique(np.concatenate(found), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _anything(files: Files) -> Column:
    """A column that agrees with everything, where a release has none of the variables."""
    size = len(files.original)
    return within(np.ones(len(files.released)), np.ones(size), np.ones(size), np.zeros(size))
