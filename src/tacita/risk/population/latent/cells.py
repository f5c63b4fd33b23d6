"""The distinct keys of a file as the model sees them, and how keys are found among others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.keys.source import are_numbers, patterns, shown_fully
from tacita.keys.table import KeyTable
from tacita.keys.units import entries

CLOSE = 32
"""Numbers below so many times their number are close together."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct keys, in ascending order."""

    codes: Ints
    """One row per key, 0 for missing."""
    values: Ints
    """By variable how many values it has."""
    numbers: Bools
    """By variable whether its values are numbers, in ascending order."""
    count: Ints
    """Records (units, where some have several) with just this key."""
    shown: Floats
    """By key: the share of records that show at least what it shows."""
    row: Ints
    """By key of the table its row here; differs where a rule has one key for each record with a missing value."""

    @classmethod
    def of(cls, table: KeyTable) -> Cells:
        """The cells of a key table; where missing is a category, it is one more value."""
        codes, values = table.codes.astype(np.int64), np.array([max(len(each), 1) for each in table.values])
        if table.rule.name == "own_category":
            missing = codes == 0
            codes = np.where(missing, values + 1, codes)
            values = values + missing.any(axis=0)
        count = table.records
        if table.unit is not None:
            count = np.bincount(entries(table.row, table.unit, None).key, minlength=len(codes))
        numbers = np.array([are_numbers(each) for each in table.values])
        row = np.arange(len(codes))
        if table.rule.name == "no_match":
            codes, row = np.unique(codes, axis=0, return_inverse=True)
            count = np.bincount(row, weights=count).astype(np.int64)
        return cls(codes, values, numbers, count, shown_shares(codes, count), row)

    @property
    def complete(self) -> Bools:
        """Which keys show all variables."""
        return shown_fully(self.codes.astype(np.uint32))

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.count.sum())


def shown_shares(codes: Ints, count: Ints) -> Floats:
    """By key: the share of records that show at least the variables that it shows."""
    pattern = patterns(codes.astype(np.uint32))
    different, place = np.unique(pattern, return_inverse=True)
    records = np.bincount(place, weights=count)
    wider = np.array([records[different & one == one].sum() for one in different])
    shares: Floats = (wider / records.sum())[place]
    return shares


def rows_of(codes: Ints, keys: Ints) -> tuple[Bools, Ints]:
    """For each key whether it is among some distinct ones, and its row there."""
    every, place = np.unique(np.concatenate([codes, keys]), axis=0, return_inverse=True)
    place, known = place.reshape(-1), len(codes)
    row = np.full(len(every), -1)
    row[place[:known]] = np.arange(known)
    found = row[place[known:]]
    return found >= 0, np.maximum(found, 0)


class Lookup:
    """Which complete keys are among some: found key by key, so that no number gets too large."""

    def __init__(self, codes: Ints, values: Ints) -> None:
        self.values, place = values, np.zeros(len(codes), dtype=np.int64)
        self.known: list[Ints] = []
        for j in range(codes.shape[1]):
            size = (len(self.known[-1]) if self.known else 1) * int(values[j] + 1)
            known, place = ranked(place * (values[j] + 1) + codes[:, j], size)
            self.known.append(known)

    def __call__(self, codes: Ints) -> Bools:
        """By row whether it is among them."""
        place = np.zeros(len(codes), dtype=np.int64)
        for j, known in enumerate(self.known):
            wanted = place * (self.values[j] + 1) + codes[:, j]
            at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            place = np.where((place >= 0) & (known[at] == wanted), at, -1)
        return place >= 0


def ranked(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """The different numbers in ascending order, all below a size, and by row the place of its number among them."""
    if size > CLOSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[numbers] = True
    known = np.flatnonzero(occurs)
    place = np.empty(size, dtype=np.int64)
    place[known] = np.arange(len(known))
    return known, place[numbers]
