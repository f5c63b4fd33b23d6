"""The file of the intruder, the released one, and who is who in both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes
from tacita.distance.truth import same_unit
from tacita.keys.matching import equal_pairs
from tacita.keys.table import repeated_units
from tacita.scenario import Scenario, with_codes


class Files(NamedTuple):
    """What is compared, and what is known of both files."""

    intruder: Data
    released: Data
    original: Data
    own: Ints | None
    """By released record the row of the original that is the same record, -1 if there is none; None: nobody knows."""
    units: tuple[Ints, Ints] | None
    """By record of the intruder's file and by released record the number of its unit, -1 for none; None: nobody
    knows."""
    by_number: bool
    """Whether record numbers say who is who."""

    def true_pairs(self) -> tuple[Ints, Ints]:
        """Pairs of rows of the intruder's and the released file that are the same unit."""
        assert self.units is not None
        x, y = self.units
        known, shown = np.flatnonzero(x >= 0), np.flatnonzero(y >= 0)
        target, source = equal_pairs(x[known], y[shown], np.argsort(y[shown], kind="stable"))
        return known[target], shown[source]

    @property
    def shared(self) -> tuple[Ints, Ints]:
        """Rows of the original and of the released file that are the same record."""
        if self.own is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        rows = np.flatnonzero(self.own >= 0)
        return self.own[rows], rows


def compared_files(original: Data, released: Data, scenario: Scenario, intruder: Any, unit: str | None) -> Files:
    """The files and who is who: by a column of both, or by record number.

    A column may identify units with several records. Without one, files without record numbers belong together row by
    row if they are equally long; an intruder's file of another length, or with other numbers, has records of nobody
    knows whom.
    """
    known = original if intruder is None else with_codes(Data.of(intruder), scenario)
    for what, data in (("original", original), ("released", released), ("intruder's", known)):
        if not len(data):
            raise TacitaError(f"the {what} file has no records.")
    if unit is not None:
        by_column = _by_column(known, released, unit)
        return Files(known, released, original, _same_records(original, released, unit), by_column, False)
    own = same_unit(original, released, None)
    if intruder is None and not (own >= 0).any():
        raise TacitaError(
            "no released record is in the original, so nobody is recognised; check the record numbers or name another "
            "column with unit=...."
        )
    rows = np.arange(len(original)) if intruder is None else _rows_of_original(original, known)
    if rows is None or not np.isin(rows[rows >= 0], own).any():
        return Files(known, released, original, own, None, False)
    unit_of = repeated_units(original, scenario) if scenario.person in (None, *original.columns) else None
    if unit_of is None:
        return Files(known, released, original, own, (rows, own), True)
    x, y = (np.where(each < 0, -1, unit_of[each]) for each in (rows, own))
    return Files(known, released, original, own, (x, y), True)


def _rows_of_original(original: Data, known: Data) -> Ints | None:
    """By record of the intruder's file its row of the original, -1 for none; None: nobody knows."""
    numbered = any(data.numbers_of_records is not None for data in (original, known))
    if not numbered and len(original) != len(known):
        return None
    return same_unit(original, known, None)


def _by_column(known: Data, released: Data, unit: str) -> tuple[Ints, Ints]:
    for what, data in (("intruder's", known), ("released", released)):
        check.columns_exist(f"unit of the {what} file", (unit,), data.columns)
    x, y = (
        np.where(np.isnan(codes), -1.0, codes).astype(np.int64)
        for codes in common_codes(known, released, unit, identifier=True)
    )
    return x, y


def _same_records(original: Data, released: Data, unit: str) -> Ints | None:
    """Which records are the same, where a column or record numbers say so."""
    if unit in original.columns and _identifies(original, unit) and _identifies(released, unit):
        return same_unit(original, released, unit)
    numbered = all(data.numbers_of_records is not None for data in (original, released))
    return same_unit(original, released, None) if numbered else None


def _identifies(data: Data, unit: str) -> bool:
    place, count = data.groups(unit)
    return bool((place >= 0).sum() == count)


def shown_in_both(files: Files, original: Bools, released: Bools) -> tuple[Ints, Ints]:
    """Rows of the same record that shows a variable in both files."""
    x, y = files.shared
    both = original[x] & released[y]
    return x[both], y[both]
