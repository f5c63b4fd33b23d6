"""What a step changed: counted from the data before and after it, by variable, never from what the step says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.data import Data


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
        if self.reordered:
            parts.append("records reordered")
        return f"{self.label}: " + "; ".join([*(parts or ["nothing changed"]), *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """The change as plain numbers and texts."""
        return {
            "label": self.label,
            "step": self.step,
            "cells": dict(self.cells),
            "suppressed": dict(self.suppressed),
            "records": self.records,
            "records_removed": self.records_removed,
            "variables_removed": list(self.variables_removed),
            "variables_added": list(self.variables_added),
            "reordered": self.reordered,
            "remarks": list(self.remarks),
            "figures": dict(self.figures),
        }


def changes(
    before: Data,
    after: Data,
    label: str,
    step: str,
    remarks: tuple[str, ...] = (),
    figures: Mapping[str, Any] | None = None,
) -> Changes:
    """What differs between the data before and after a step, record by record."""
    removed = len(before) - len(after)
    was, now = shared_rows(before.record, after.record)
    reordered = bool((np.diff(was[np.argsort(now, kind="stable")]) < 0).any())
    left, right = (before, after) if np.array_equal(was, now) and not removed else (before.take(was), after.take(now))
    cells: dict[str, int] = {}
    suppressed: dict[str, int] = {}
    touched = np.zeros(len(was), dtype=np.bool_)
    for name in left.columns:
        if name in right.columns:
            differs = frame.different(left.table[name], right.table[name])
            if differs.any():
                cells[name] = int(differs.sum())
                touched |= differs
                gone = int((right.missing(name) & ~left.missing(name)).sum())
                if gone:
                    suppressed[name] = gone
    return Changes(
        label=label,
        step=step,
        cells=cells,
        suppressed=suppressed,
        records=int(touched.sum()),
        records_removed=removed,
        variables_removed=tuple(name for name in before.columns if name not in after.columns),
        variables_added=tuple(name for name in after.columns if name not in before.columns),
        reordered=reordered,
        remarks=remarks,
        figures=dict(figures or {}),
    )


def shared_rows(before: Ints, after: Ints) -> tuple[Ints, Ints]:
    """Rows of both that hold the same records, in the order of the first."""
    if np.array_equal(before, after):
        rows = np.arange(len(before), dtype=np.int64)
        return rows, rows
    _, was, now = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    order = np.argsort(was, kind="stable")
    return was[order], now[order]
