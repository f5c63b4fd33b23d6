"""By another release of the same file: cells that are suppressed in one and shown in the other.

What the intruder has: both releases, and something that puts their records together (identifiers, order, values that
both show; it is assumed here). What he does: he reads a blank of one off the other. What he gains: every cell that is
protected differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.data import Data
from tacita.distance.truth import same_unit
from tacita.risk.release.reconstruction.cells import Files, Protected, joint_codes, released_as
from tacita.risk.release.reconstruction.leak import Leak, leak


def other_release_leaks(files: Files, variables: Sequence[Protected], other: Data, unit: str | None) -> Iterator[Leak]:
    """Cells that another release shows, matched by record number, or by a column that identifies records."""
    rows = same_unit(files.released, other, unit)
    # By released record the row of the other release, where it has one.
    place = np.full(len(files), -1)
    place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
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
