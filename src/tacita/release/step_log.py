"""What a step changed: counted from the data before and after it, by variable, never from what the step says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Ints
from tacita.data import Data
from tacita.protect.step import Applied, Step


@dataclass(frozen=True)
class Changes:
    """What one step changed: names and counts, no values."""

    label: str
    """The label of the step."""
    step: str
    """The step and its parameters."""
    cells: Mapping[str, int]
    """By variable: cells whose value differs, of the records that are still there; variables without are left out."""
    suppressed: Mapping[str, int]
    """By variable: cells that had a value and have none now."""
    records: int
    """Records with at least one of those cells."""
    records_removed: int
    """Records that are no longer there."""
    records_added: int
    """Records whose number was not there before."""
    variables_removed: tuple[str, ...]
    """Variables that are no longer there."""
    variables_added: tuple[str, ...]
    """Variables that were not there before."""
    reordered: bool
    """Whether the records stand in another order."""
    remarks: tuple[str, ...] = ()
    """What the step says of itself."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """The same as numbers and texts."""
    version: int = 1
    """The version of the step: another one may give other data for the same seed."""
    mechanisms: tuple[Mapping[str, Any], ...] = ()
    """What happened to values, as tables: kind, variables, parameters, whether values are wrong now."""
    public: tuple[Mapping[str, Any], ...] = ()
    """What of it may be told to the public."""
    renewed: tuple[str, ...] = ()
    """Identifiers that the step renewed."""
    fitted: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Models that values were drawn from: for a file of the office of its own, in no log."""

    def __str__(self) -> str:
        total, gone = sum(self.cells.values()), sum(self.suppressed.values())
        parts = []
        if total:
            cells = ", ".join(f"{name} {count:,}" for name, count in self.cells.items())
            blank = f", {gone:,} of them suppressed" if gone else ""
            parts.append(
                f"{check.counted(total, 'cell')} of {check.counted(self.records, 'record')} changed{blank} ({cells})"
            )
        if self.variables_removed:
            parts.append(f"removed {check.quoted(self.variables_removed)}")
        if self.variables_added:
            parts.append(f"added {check.quoted(self.variables_added)}")
        if self.records_removed:
            parts.append(f"{check.counted(self.records_removed, 'record')} removed")
        if self.records_added:
            parts.append(f"{check.counted(self.records_added, 'record')} added")
        if self.reordered:
            parts.append("records reordered")
        return f"{self.label}: " + "; ".join([*(parts or ["nothing changed"]), *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """The change as plain numbers and texts."""
        return {
            "label": self.label,
            "step": self.step,
            "version": self.version,
            "cells": dict(self.cells),
            "suppressed": dict(self.suppressed),
            "records": self.records,
            "records_removed": self.records_removed,
            "records_added": self.records_added,
            "variables_removed": list(self.variables_removed),
            "variables_added": list(self.variables_added),
            "reordered": self.reordered,
            "remarks": list(self.remarks),
            "figures": dict(self.figures),
            "mechanisms": [dict(each) for each in self.mechanisms],
            "public": [dict(each) for each in self.public],
            "renewed": list(self.renewed),
        }


def added_up(parts: Sequence[Changes]) -> Changes:
    """What a step changed in several parts of a file, as one account: what only holds for a part is left out."""
    first = parts[0]
    mechanisms = [[each.mechanisms[at] for each in parts] for at in range(min(len(each.mechanisms) for each in parts))]
    public = [[each.public[at] for each in parts] for at in range(min(len(each.public) for each in parts))]
    return replace(
        first,
        cells=_sums([each.cells for each in parts]),
        suppressed=_sums([each.suppressed for each in parts]),
        records=sum(each.records for each in parts),
        mechanisms=tuple(map(_common, mechanisms)),
        public=tuple(map(_common, public)),
    )


def all_changes(parts: Sequence[Sequence[Changes]]) -> tuple[Changes, ...]:
    """What each step changed in all parts."""
    return tuple(added_up(of_step) for of_step in zip(*parts, strict=True))


def _sums(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for each in parts for name in each)
    return {name: sum(each.get(name, 0) for each in parts) for name in names}


def _common(mechanisms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A mechanism with the parameters that are the same in all parts."""
    first = dict(mechanisms[0])
    told = [each["parameters"] for each in mechanisms]
    same = {name: value for name, value in told[0].items() if all(each.get(name) == value for each in told[1:])}
    return first | {"parameters": same}


def changes(before: Data, after: Data, step: Step, made: Applied) -> Changes:
    """What differs between the data before and after a step, record by record, and what the step says of itself."""
    was, now = shared_rows(before.record, after.record)
    removed, added = len(before) - len(was), len(after) - len(now)
    same = np.array_equal(was, now) and not removed and not added
    left, right = (before, after) if same else (before.take(was), after.take(now))
    cells, suppressed, touched = _cells(left, right, made.renewed)
    return Changes(
        label=step.label,
        step=str(step),
        cells=cells,
        suppressed=suppressed,
        records=_sizes(left)(touched),
        records_removed=removed,
        records_added=added,
        variables_removed=tuple(name for name in before.columns if name not in after.columns),
        variables_added=tuple(name for name in after.columns if name not in before.columns),
        reordered=bool((np.diff(was[np.argsort(now, kind="stable")]) < 0).any()),
        remarks=made.remarks,
        figures=dict(made.figures),
        version=step.version,
        mechanisms=tuple(each.to_dict() for each in made.mechanisms),
        public=tuple(each.to_dict() for each in made.public),
        renewed=made.renewed,
        fitted=made.fitted,
    )


def _cells(left: Data, right: Data, renewed: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int], Bools]:
    """By variable: cells that differ and cells that were blanked; by record: whether one differs.

    A number that was drawn anew is another one, even where it is by chance the one that was there.
    """
    cells: dict[str, int] = {}
    suppressed: dict[str, int] = {}
    size = _sizes(left)
    touched = np.zeros(len(left), dtype=np.bool_)
    for name in left.columns:
        if name in right.columns:
            differs = frame.different(left.table[name], right.table[name])
            if name in renewed:
                differs = differs | ~frame.missing(right.table, name)
            if differs.any():
                cells[name] = size(differs)
                touched |= differs
                gone = size(frame.missing(right.table, name) & ~frame.missing(left.table, name))
                if gone:
                    suppressed[name] = gone
    return cells, suppressed, touched


def _sizes(data: Data) -> Callable[[Bools], int]:
    """How many records some rows are."""
    if data.condensed is None:
        return lambda where: int(where.sum())
    records = data.condensed.records
    return lambda where: int(records[where].sum())


def shared_rows(before: Ints, after: Ints) -> tuple[Ints, Ints]:
    """Rows of both that hold the same records, in the order of the first."""
    if np.array_equal(before, after):
        rows = np.arange(len(before), dtype=np.int64)
        return rows, rows
    _, was, now = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    order = np.argsort(was, kind="stable")
    return was[order], now[order]
