"""Released intervals: the confidentiality of their midpoints, with the width of each.

An intruder who must name one number takes the midpoint: the guess with the least greatest error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.aligned import Aligned
from tacita.distance.truth import new_records_caution
from tacita.progress import Progress
from tacita.result import percent
from tacita.risk.confidentiality_plot.confidentiality import confidentiality
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.scenario import Scenario


class Intervals(NamedTuple):
    """The ends of the intervals of some keys, one column for each."""

    keys: tuple[str, ...]
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalConfidentiality(Confidentiality):
    """Every released interval by how well its midpoint hides, how far it is from the value, and how wide it is."""

    width: Floats
    """By record: ||upper - lower|| / ||x|| on the keys as they are, not on a log scale."""
    covered: Bools
    """By record: whether the original value lies in its interval, for every key."""

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about, and how wide the intervals are."""
        finite = self.width[np.isfinite(self.width)]
        middle = percent(float(np.median(finite))) if len(finite) else "-"
        exact, n = int((self.width == 0).sum()), len(self.width)
        wrong = n - int(self.covered.sum())
        widths = f"intervals: {middle} of the value wide (median); {exact:,} of {n:,} without width"
        missed = (f"{check.counted(wrong, 'interval')} without the original value in it",) if wrong else ()
        return (widths, *missed, *super().notes)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and figures, no values."""
        return frame.beside(super().to_frame(), frame.table({"width": self.width, "covered": self.covered}))

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        finite = self.width[np.isfinite(self.width)]
        return super().to_dict() | {
            "median_width": float(np.median(finite)) if len(finite) else None,
            "without_width": int((self.width == 0).sum()),
            "covered": int(self.covered.sum()),
        }


def check_ends(lower: Floats, upper: Floats, data: Data) -> None:
    """The ends of intervals are finite or missing, and no lower one is above its upper one."""
    infinite = np.isinf(lower) | np.isinf(upper)
    for wrong, what in ((infinite, "finite or missing"), (lower > upper, "at most their upper one")):
        rows = np.flatnonzero(wrong.any(axis=1))
        if len(rows):
            listed = ", ".join(f"{number:,}" for number in data.record[rows[:3]].tolist())
            more = ", ..." if len(rows) > 3 else ""
            subject = "ends of intervals" if "finite" in what else "lower ends of intervals"
            raise TacitaError(
                f"{subject} must be {what}; {check.counted(len(rows), 'record')} ({listed}{more}), correct the file."
            )


def midpoint_confidentiality(
    files: Aligned, scenario: Scenario, intervals: Intervals, options: Mapping[str, Any], progress: Progress
) -> IntervalConfidentiality:
    """The confidentiality of the midpoints, with the width of each interval."""
    first, second, new, _ = files
    keys, lower, upper = intervals
    # Half each, so that the sum cannot overflow.
    middle = lower / 2.0 + upper / 2.0
    masked = second.with_columns({name: middle[:, at] for at, name in enumerate(keys)})
    size = options.get("size")
    if isinstance(size, str) and size not in masked.columns and size in first.columns:
        # Sizes are those of the original file; ranks are then kept by definition.
        masked = masked.with_columns({size: first.numbers(size)})
    found = confidentiality(first, masked, scenario, keys=keys, progress=progress, **options)
    rows = np.flatnonzero(np.isin(first.record, found.record))
    x = np.column_stack([first.numbers(name) for name in keys])[rows]
    length = np.sqrt((x**2).sum(axis=1))
    wide = np.sqrt(((upper[rows] - lower[rows]) ** 2).sum(axis=1))
    width = np.divide(wide, length, out=np.full(len(rows), np.inf), where=length > 0)
    covered = np.asarray(((lower[rows] <= x) & (x <= upper[rows])).all(axis=1))
    fields = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    fields["pairing_cautions"] += new_records_caution(new)
    return IntervalConfidentiality(**fields, width=np.where(wide == 0, 0.0, width), covered=covered)
