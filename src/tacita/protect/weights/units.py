"""Records that belong together: the groups of an identifier, and households that share one weight.

Groups stand in the order of their smallest record number, whatever the order of the rows, so that a draw for a group
is a function of its records alone.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import survey_weights
from tacita.parameters import COLUMN, Doc
from tacita.protect.step import Context, Step, present
from tacita.scenario import Scenario

Kind = TypeVar("Kind", bound=np.generic)
WeightName = Annotated[str | None, COLUMN, Doc("The weight; none: the scenario's.")]
"""The parameter of all steps that change weights."""


class Units(NamedTuple):
    """Groups of records."""

    unit: Ints
    """For each row the place of its group, -1 for none."""
    first: Ints
    """For each group the smallest of its record numbers, ascending."""


def units(place: Ints, record: Ints) -> Units:
    """Groups in the order of their smallest record number, given a place for each row, -1 for none.

    >>> units(np.array([7, 3, 7, -1]), np.array([4, 2, 1, 3]))
    Units(unit=array([ 0,  1,  0, -1]), first=array([1, 2]))
    """
    inside = np.flatnonzero(place >= 0)
    if not len(inside):
        return Units(np.full(len(place), -1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    first = np.full(int(place.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, place[inside], record[inside])
    used = np.flatnonzero(first < np.iinfo(np.int64).max)
    order = used[np.argsort(first[used], kind="stable")]
    rank = np.full(len(first), -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Units(np.where(place >= 0, rank[place], -1), first[order])


def household_units(data: Data, household: str) -> Units:
    """Households; a record without an identifier is a household of its own."""
    return units(data.households(household)[0], data.record)


class UnitWeights(NamedTuple):
    """Weights by unit: a record, or a household where all members of every household have the same weight."""

    name: str
    """The column."""
    units: Units
    size: Floats
    """By unit: how many records it has."""
    weight: Floats
    """By unit: the weight of each of them."""
    cell: Ints
    """By unit: the group whose total is kept, from 0."""
    cells: int
    """How many there are."""
    households: bool
    """Whether the units are households."""


def unit_weights(step: Step, weight: str | None, within: tuple[str, ...], data: Data, context: Context) -> UnitWeights:
    """The weights of a step, checked; an error names what is missing."""
    name = weight or context.scenario.weight
    if name is None:
        raise TacitaError(f"{step.kind()} needs a weight; pass weight=... here or in the scenario.")
    present(step, (name, *within), data)
    # Named here or there, a weight must be what every measure takes for one.
    values = survey_weights(data, Scenario(numeric_keys=(name,), weight=name))
    assert values is not None
    cell, cells = cells_of(data, within)
    records = units(np.arange(len(data)), data.record)
    household = context.scenario.household
    shared = household_units(data, household) if household is not None else records
    together = len(shared.first) < len(data) and constant(values, shared)
    if together and not constant(cell, shared):
        raise TacitaError(
            f"within must be the same for all members of a household, since they share one weight; "
            f"drop {check.quoted(within)} or what differs among them."
        )
    chosen = shared if together else records
    return UnitWeights(
        name=name,
        units=chosen,
        size=np.bincount(chosen.unit, minlength=len(chosen.first)).astype(np.float64),
        weight=by_unit(values, chosen),
        cell=by_unit(cell, chosen),
        cells=cells,
        households=together,
    )


def constant(values: NDArray[np.generic], groups: Units) -> bool:
    """Whether a value is the same for all members of every group."""
    return bool((values == by_unit(values, groups)[groups.unit]).all())


def by_unit(values: NDArray[Kind], groups: Units) -> NDArray[Kind]:
    """The value of one member of each group."""
    found = np.empty(len(groups.first), dtype=values.dtype)
    found[groups.unit] = values
    return found


def cells_of(data: Data, names: tuple[str, ...]) -> tuple[Ints, int]:
    """For each row the cell of some variables, missing being a value, and how many cells there are."""
    cell: Ints = np.zeros(len(data), dtype=np.int64)
    count = 1
    for name in names:
        coded = data.coded(name)
        _, cell = np.unique(cell * (len(coded.values) + 1) + coded.codes, return_inverse=True)
        count = int(cell.max(initial=-1)) + 1
    return cell, count


def household_remarks(given: UnitWeights) -> tuple[str, ...]:
    """The remark for the log that weights were changed by household; none for weights by record."""
    return ("members of a household share one weight, and still do",) if given.households else ()


def with_weights(data: Data, given: UnitWeights, fresh: Floats, whole: bool = False) -> Data:
    """The data with new weights by unit."""
    values = fresh[given.units.unit]
    return data.with_columns({given.name: frame.whole_numbers(values) if whole else values})
