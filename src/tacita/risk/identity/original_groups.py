"""Which records of a released file are of one unit, and who lives together: the original says it.

An identifier that was given out again record by record makes strangers of the twelve months of one person, and k counts
them as twelve; it makes a household of every member, and none of them is found by another's risk. Units are therefore
those of the original where records can be told apart. Where they cannot, and where a household holds others than
before, nobody knows who belongs together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacita.arrays import Ints
from tacita.data import Data
from tacita.scenario import Scenario


def with_original_groups(data: Data, original: Data, scenario: Scenario, rows: Ints | None) -> Data:
    """A released file that counts the units of the original, and says which identifiers put other records together.

    `rows` says by released record which row of the original it is, -1 for none; None: nobody knows.
    """
    wrong: list[str] = []
    keys = [name for name in scenario.all_keys if name in data.columns and name in original.columns]
    person, household = scenario.person, scenario.household
    if person is not None and data.units is None:
        if rows is not None and (person in original.columns or original.units is not None):
            data = with_original_units(data, original, person, rows)
        elif rows is not None or not _alike(data, original, person, keys):
            wrong.append(person)
    if household is not None and household in data.columns:
        same = _alike(data, original, household, keys) if rows is None else same_groups(data, original, household, rows)
        wrong += [] if same else [household]
    return data.with_perturbed(wrong)


def rows_of(data: Data, original: Data) -> Ints:
    """By released record which row of the original it is, by its number: -1 for none; row by row without numbers."""
    order = np.argsort(original.record)
    place = np.minimum(np.searchsorted(original.record[order], data.record), len(order) - 1)
    known = original.record[order][place] == data.record
    return np.where(known, order[place], -1)


def with_original_units(data: Data, original: Data, person: str, rows: Ints) -> Data:
    """A released file that knows by record which unit of the original it is of."""
    unit, count = original.unit_places(person)
    if count == len(original):
        return data
    # Records that are not in the original are units of their own.
    return replace(data, units=np.where(rows >= 0, unit[rows], count + np.arange(len(data))))


def same_groups(data: Data, original: Data, name: str, rows: Ints) -> bool:
    """Whether an identifier puts the same records together in both files."""
    if name not in original.columns:
        return False
    there = rows >= 0
    before, after = original.households(name)[0][rows[there]], data.households(name)[0][there]
    pairs = len(np.unique(before * (len(data) + 1) + after))
    return pairs == len(np.unique(before)) == len(np.unique(after))


def _alike(data: Data, original: Data, name: str, keys: Sequence[str]) -> bool:
    """Whether groups of both files can be the same ones: they have as many records, and no more values of a key.

    Recoding and suppression leave fewer values of a key within a group.
    """
    if name not in data.columns or name not in original.columns:
        return False
    before, after = (each.households(name)[0] for each in (original, data))
    same_sizes = np.array_equal(np.sort(np.bincount(before)), np.sort(np.bincount(after)))
    return same_sizes and all(_pairs(data, after, key) <= _pairs(original, before, key) for key in keys)


def _pairs(data: Data, group: Ints, key: str) -> int:
    """How many different pairs of a group and a value of a key there are."""
    codes = data.coded(key).codes.astype(np.int64)
    shown = codes > 0
    return len(np.unique(group[shown] * (int(codes.max(initial=0)) + 1) + codes[shown]))
