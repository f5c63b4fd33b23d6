"""Targeted record swapping: from the data to arrays by household."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.weights.units import Units, by_unit, cells_of, constant, household_units, units

FEWEST = 2
"""A column whose values are shared by fewer households on average is an identifier."""


def swapping_units(data: Data, household: str | None) -> Units:
    """Households by their smallest record number; without an identifier every record is one."""
    if household is None:
        return units(np.arange(len(data)), data.record)
    return household_units(data, household)


def shared_codes(data: Data, what: str, names: Iterable[str], groups: Units) -> Ints:
    """By household the combination of its values, blanks and codes included; members must agree."""
    number = np.zeros(len(groups.first), dtype=np.int64)
    for name in names:
        coded = frame.coded(data.table, name)
        codes = coded.codes.astype(np.int64)
        if not constant(codes, groups):
            raise TacitaError(
                f"{what} must be the same for all members of a household, since households are swapped whole; "
                f"{check.quoted([name])} is not."
            )
        _, number = np.unique(number * (len(coded.values) + 1) + by_unit(codes, groups), return_inverse=True)
    return number


def joined(*codes: Ints) -> Ints:
    """One number per household that is equal where all of the codes are."""
    number = codes[0]
    for more in codes[1:]:
        _, number = np.unique(number * (int(more.max(initial=0)) + 1) + more, return_inverse=True)
    return number


def areas(data: Data, hierarchy: Sequence[str], stratum: Ints, groups: Units) -> Ints:
    """By level and household: the area, within the areas of higher levels and the stratum."""
    levels = [stratum]
    for name in hierarchy:
        levels.append(joined(levels[-1], shared_codes(data, "hierarchy", (name,), groups)))
    return np.stack(levels[1:])


def key_codes(data: Data, names: tuple[str, ...]) -> Ints:
    """By record the combination of the risk variables; a missing value is a value like others."""
    return cells_of(data, names)[0]


def declared_risk(data: Data, names: tuple[str, ...], levels: int, groups: Units) -> Floats:
    """By level and household the greatest risk of its members, from columns of the data: one, or one per level."""
    if len(names) not in (1, levels):
        raise TacitaError(
            f"risk must name one column, or one for each of {check.counted(levels, 'level')}; got {len(names)}."
        )
    found = np.zeros((len(names), len(groups.first)))
    for column, name in enumerate(names):
        values = data.numbers(name)
        wrong = int((~(values >= 0) | np.isinf(values)).sum())
        if wrong:
            raise TacitaError(
                f"risk must be numbers of at least 0; {check.counted(wrong, 'record')} of {name!r} have none, fill "
                f"them first."
            )
        np.maximum.at(found[column], groups.unit, values)
    return np.repeat(found, levels, axis=0) if len(names) == 1 and levels > 1 else found


def tells_area(data: Data, name: str, area: Ints, groups: Units) -> bool:
    """Whether a column goes with the area: each of its values is of one area, or each area has one value of it.

    It then contradicts swapped areas, and tells the true ones.
    """
    code, count = data.groups(name)
    there = np.flatnonzero(code >= 0)
    if count < 2 or count * FEWEST > len(groups.first):
        return False
    here = area[groups.unit[there]]
    pairs = len(np.unique(code[there] * (int(area.max(initial=0)) + 1) + here))
    return bool(pairs == count or pairs == len(np.unique(here)))


def whole_households(chosen: Bools, groups: Units) -> Bools:
    """By household whether all of its members are chosen."""
    outside = np.bincount(groups.unit[~chosen], minlength=len(groups.first))
    return np.asarray(outside == 0)
