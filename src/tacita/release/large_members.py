"""Records on an engine that are kept as rows of their own, since a step treats whole households.

Suppression for whole households, and to a household risk, goes by who lives together: equal keys in unlike households
are treated unlike. Each record is a row of its own then, with its household, in the order of the file, as the records
of a small file are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine.memory import shown
from tacita.frame import files as frame_files
from tacita.keys.condensed import bytes_needed, condensed, fits
from tacita.policy import Policy
from tacita.progress import Progress
from tacita.protect.step import Step
from tacita.scenario import Scenario

APART = "tacita_apart"
"""The number of a record that is a row of its own."""


@dataclass(frozen=True)
class Rows:
    """What stands for the records of a file: one row per distinct key, or per record."""

    large: LargeData
    """The file; where records are rows of their own, with a column of their numbers."""
    data: Data
    """The rows, with the household of those that stand for one record."""
    originals: frame.Frame
    """The values that records are found by."""


def rows_of(large: LargeData, names: list[str], scenario: Scenario, apart: bool, progress: Progress) -> Rows:
    """The distinct keys of a file, or with `apart` a row for each record, in the order of their numbers."""
    if not apart:
        data = condensed(large, names, scenario.weight, progress=progress)
        return Rows(large, data, frame.table({name: data.table[name] for name in names}))
    check_whole(large)
    finer = replace(large, table=large.table.mutate(**{APART: large.table[large.numbered].cast("int64")}))
    found = condensed(finer, [*names, APART], scenario.weight, progress=progress)
    assert found.condensed is not None
    numbers = found.table[APART]
    if len(found) != large.size or numbers.null_count() or frame.distinct(found.table, APART) != large.size:
        raise not_one_each(large)
    order = np.argsort(numbers.to_numpy(), kind="stable")
    table = frame.take(found.table, order)
    originals = frame.table({name: table[name] for name in (*names, APART)})
    households = _households(finer, scenario)
    columns = {name: table[name] for name in table.columns if name != APART} | {households.name: households}
    known = {name: said for name, said in large.variables.items() if name in columns}
    return Rows(finer, Data(frame.table(columns), known, condensed=found.condensed.of_rows(order)), originals)


def check_whole(large: LargeData) -> None:
    """An error where the column of record numbers holds no whole numbers."""
    if not large.table[large.numbered].type().is_integer():
        raise TacitaError(f"column {large.numbered!r} must hold whole numbers, one for each record; number them first.")


def not_one_each(large: LargeData) -> TacitaError:
    """Records are told apart by their numbers, and draws go by them."""
    return TacitaError(
        f"the numbers of the records of {large.name} are missing for some, or the same for several; name a column with "
        f"a number of its own for each record."
    )


def _households(finer: LargeData, scenario: Scenario) -> Any:
    """The identifiers of the households of all records, in the order of their numbers."""
    assert scenario.household is not None
    wanted = finer.table.select(scenario.household, APART)
    found = frame_files.from_arrow(finer.database.collect(wanted, what="reading households"))
    found = frame_files.of_kinds(found, finer.like, [scenario.household])
    return frame.take(found, np.argsort(found[APART].to_numpy(), kind="stable"))[scenario.household]


def by_household(step: Any, scenario: Scenario, policy: Policy) -> bool:
    """Whether what a step does to a record depends on its household."""
    if scenario.household is None:
        return False
    if step.kind() == "suppress_key":
        return step.variable in scenario.household_variables
    if step.kind() != "suppress":
        return False
    shared = scenario.household_variables if step.household_variables is None else step.household_variables
    asked = step.combs or any(getattr(step, name) is not None for name in ("k", "risk", "household_risk", "rate"))
    return bool(shared or step.household_risk or (not asked and policy.household_risk is not None))


def check_room(step: Step, label: str, large: LargeData, names: list[str]) -> None:
    """An error where a row for each record does not fit the memory budget."""
    if not fits(large.size, len(names) + 2, large.room):
        raise TacitaError(
            f"step {label!r} goes by households, and needs the keys of all {large.size:,} records in memory, about "
            f"{shown(bytes_needed(large.size, len(names) + 2))}; give more (--memory), or leave households out, as "
            f"Suppress(k=3, household_variables=[])."
        )


def place_of_records(records: frame.Frame, numbers: Ints, originals: frame.Frame, names: list[str]) -> Ints:
    """By record its row among those that stand for them, -1 for none."""
    if APART not in originals.columns:
        return frame_files.places(records, originals, names)
    known = originals[APART].to_numpy()
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[place] == numbers, place, -1)
