"""The released file and the file of the intruder, ready to be compared."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import DISTANCES, Compared, common_numbers, common_values
from tacita.distance.scenario_keys import all_keys, numeric_keys
from tacita.distance.truth import same_unit
from tacita.keys.matching import equal_pairs
from tacita.keys.table import repeated_units
from tacita.parameters import Doc, OneOf
from tacita.scenario import Scenario

Distance = Annotated[str, OneOf(DISTANCES), Doc("How far two records are apart.")]
Standardise = Annotated[bool, Doc("Divide variables by their standard deviation over both files.")]
External = Annotated[bool, Doc("The original is a file of the intruder with other records and columns.")]


class Files(NamedTuple):
    """Both files in order of record number, so that the order of rows does not matter."""

    original: Data
    released: Data
    names: tuple[str, ...]
    own: Ints | None
    """By released record: the row of the original that is the same unit; None if that is not known."""
    x_order: Ints
    """By position in that order: the row of the original."""
    y_order: Ints
    """By position in that order: the row of the released file."""
    unit: Ints | None = None
    """By row of the original: its unit (person, firm), where a unit has several records; None where none has."""
    external: bool = False
    """Whether the original is a file of the intruder, with other records."""

    def rows_of(self, positions: Ints) -> Ints:
        """Rows of the caller's original from positions in the ordered one; -1 stays."""
        return np.where(positions < 0, -1, self.x_order[positions])

    @property
    def own_positions(self) -> Ints:
        """By position in the ordered released file: that of the same unit in the ordered original; -1: none."""
        if self.own is None:
            return np.full(len(self.released), -1)
        position = np.empty(len(self.original), np.int64)
        position[self.x_order] = np.arange(len(position))
        own = self.own[self.y_order]
        return np.where(own < 0, -1, position[own])

    def own_pairs(self) -> tuple[Ints, Ints]:
        """Pairs of positions in the ordered released and original files that are the same unit.

        A released record has one partner, its own original; all records of that one's unit are partners too.
        """
        own = self.own_positions
        known = np.flatnonzero(own >= 0)
        if self.unit is None:
            return known, own[known]
        unit = self.unit[self.x_order]
        target, source = equal_pairs(unit[own[known]], unit, np.argsort(unit, kind="stable"))
        return known[target], source

    def in_rows(self, values: Any) -> Any:
        """Values by position in the ordered released file as values by row."""
        result = np.empty_like(values)
        result[self.y_order] = values
        return result

    def linked(self, link: Ints, candidates: Ints, clear: Bools, correct: Floats) -> dict[str, Any]:
        """What every linkage reports, from links by position in the ordered files."""
        return {
            "variables": self.names,
            "record": self.released.record,
            "original_record": self.original.record,
            "link": self.in_rows(self.rows_of(link)),
            "candidates": self.in_rows(candidates),
            "clear": self.in_rows(clear),
            "correct": None if self.own is None else self.in_rows(correct),
            "own": self.own,
            "numbers": tuple(name for name in self.names if self._measured(name)),
            "partners": None if self.own is None else self.in_rows(self._partners()),
            "new": 0 if self.own is None or self.external else int((self.own < 0).sum()),
        }

    def _measured(self, name: str) -> bool:
        """Whether the released file has a variable as measured numbers, of which there are averages."""
        known = self.released.variable(name)
        return self.released.scale(name) == "numeric" and not (known.missing or known.not_applicable)

    def _partners(self) -> Ints:
        """By position in the ordered released file: how many records of the original are the same unit."""
        return np.bincount(self.own_pairs()[0], minlength=len(self.released))


def two_files(
    original: Any, released: Any, keys: tuple[str, ...], scenario: Scenario, unit: str | None, external: bool
) -> Files:
    """Both files, the variables, and who is who: a link to any record of the right unit is right."""
    original, released = Data.of(original), Data.of(released)
    for what, data in (("original", original), ("released", released)):
        if not len(data):
            raise TacitaError(f"the {what} file has no records.")
    own = None if external and unit is None else same_unit(original, released, unit)
    x_order, y_order = (np.argsort(data.record, kind="stable") for data in (original, released))
    # An intruder's own file need not have the scenario's identifier, and its records are units of their own.
    several = repeated_units(original, scenario) if scenario.person in original.columns else None
    return Files(original, released, keys, own, x_order, y_order, several, external)


def keys_of_distance(measure: str, scenario: Any, keys: Any, distance: str) -> tuple[str, ...]:
    """The variables that a distance is taken on: numeric ones, for Gower's those of any scale."""
    check.one_of("distance", distance, DISTANCES)
    return (all_keys if distance == "gower" else numeric_keys)(measure, scenario, keys)


def compared_values(files: Files, distance: str) -> Compared:
    """The variables in order of record number."""
    values = (common_values if distance == "gower" else common_numbers)(files.original, files.released, files.names)
    return Compared(values.original[files.x_order], values.released[files.y_order], values.nominal)


def distance_text(distance: str, standardise: bool) -> str:
    """How records are compared, in words."""
    scaled = standardise and distance in ("euclidean", "manhattan")
    return f"{distance} distance{', standardised' if scaled else ''}"


def complete_values(values: Compared, rows: Ints, others: Ints, shown: Bools) -> tuple[Floats, Floats, Floats]:
    """The variables that some released records show: of the originals that show them, of those records, and of all
    records of both files that show them."""
    x, every = values.original[others][:, shown], values.released[:, shown]
    return x, values.released[rows][:, shown], np.concatenate([x, every[~np.isnan(every).any(axis=1)]])


def positions(some: Ints, count: int) -> Ints:
    """By number its place among some numbers, -1 where it is not one of them."""
    place = np.full(count, -1)
    place[some] = np.arange(len(some))
    return place
