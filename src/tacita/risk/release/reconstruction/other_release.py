"""By another release of the same file: cells that are suppressed in one and shown in the other, and finer classes.

What the intruder has: both releases, and something that puts their records together (identifiers, order, values that
both show; it is assumed here). What he does: he reads a blank of one off the other, and puts classes of different
bounds together: ages in tens and in fifteens are ages in fives. What he gains: every cell that differs in protection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.data import Data
from tacita.distance.truth import same_unit
from tacita.risk.release.reconstruction.cells import Files, Protected, joint_codes, released_as
from tacita.risk.release.reconstruction.leak import Leak, leak

OF_OTHER = " of the other release"
"""What is added to the names of its columns."""


def beside_other_release(files: Files, other: Data, unit: str | None) -> Files:
    """The same records, with the columns of another release beside those of this one."""
    shown = frame.take_or_missing(other.table, _places(files, other, unit))
    released = replace(files.released, table=frame.beside(files.released.table, shown, OF_OTHER))
    return replace(files, released=released, memory={})


def finer_by_other_text(names: Sequence[str]) -> str:
    """What it means that two releases together tell keys more finely, and what to do."""
    listed = check.quoted(names)
    return (
        f"the two releases together tell {listed} more finely than this one: who shares a key with others here need "
        f"not share it there; recode {listed} alike in both"
    )


def _places(files: Files, other: Data, unit: str | None) -> Ints:
    """By released record the row of the other release, -1 where it has none."""
    rows = same_unit(files.released, other, unit)
    place = np.full(len(files), -1)
    place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return place


def other_release_leaks(files: Files, variables: Sequence[Protected], other: Data, unit: str | None) -> Iterator[Leak]:
    """Cells that another release shows, matched by record number, or by a column that identifies records."""
    place = _places(files, other, unit)
    for protected in variables:
        if protected.name not in other.columns:
            continue
        held = [files.original, other, *([] if protected.removed else [files.released])]
        (was, shown, *now), values = joint_codes(protected.name, *held)
        here = now[0] if now else np.zeros(len(files), dtype=np.int64)
        at = place[protected.rows]
        told = np.where(at >= 0, shown[np.maximum(at, 0)], 0)
        truth, ours = was[protected.rows], here[protected.rows]
        target = np.where(ours == 0, released_as(was, here, len(values))[truth], truth)
        covered = (told > 0) & (told != ours)
        right = covered & ((told == truth) | (told == target))
        if right.any():
            repair = "protect the same cells in both releases"
            yield leak(protected, "other release", (protected.name,), "another release", repair, covered, right)
