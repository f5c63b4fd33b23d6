"""The confidentiality plot of released intervals: what an intruder learns who takes the middle for the value.

Some releases give a range in place of a number, and a suppressed cell of a table has one: the values that it can have
given the other cells and the totals. The midpoint is the guess with the least greatest error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.result import percent
from tacita.risk.confidentiality_plot.confidentiality import confidentiality
from tacita.risk.confidentiality_plot.files import aligned
from tacita.risk.confidentiality_plot.result import Confidentiality


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
        said = f"intervals: {middle} of the value wide (median); {exact:,} of {n:,} without width"
        missed = (f"{check.counted(wrong, 'interval')} without the original value in it",) if wrong else ()
        return (said, *missed, *super().notes)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and figures, no values."""
        return frame.beside(super().to_frame(), frame.table({"width": self.width, "covered": self.covered}))

    def figures(self) -> dict[str, Any]:
        """The figures of the file."""
        finite = self.width[np.isfinite(self.width)]
        return super().figures() | {
            "median_width": float(np.median(finite)) if len(finite) else None,
            "without_width": int((self.width == 0).sum()),
            "covered": int(self.covered.sum()),
        }


def interval_confidentiality(
    original: Any, released: Any, intervals: Mapping[str, tuple[str, str]], **options: Any
) -> IntervalConfidentiality:
    """How well released intervals hide their values: the confidentiality of their midpoints, and their width.

    `intervals` names for each numeric key of the original the two columns of the released file that hold the lower and
    the upper end. An intruder who must name one number takes the midpoint; perturbation is how wrong he is, neighbours
    are the originals that look like the midpoint. A narrow interval gives the value away however the points lie, so the
    width is shown beside. Records with a missing end, as of an open class, are left out and counted. Options are those
    of `confidentiality`.

    Reference: Seri, A graphical framework to evaluate risk assessment and information loss at individual level, 4.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 12.0, 14.0, 300.0]})
    >>> ranges = pl.DataFrame({"from": [10.0, 10.0, 10.0, 200.0], "to": [15.0, 15.0, 15.0, 500.0]})
    >>> found = interval_confidentiality(firms, ranges, {"turnover": ("from", "to")}, delta=0.2, k=2)
    >>> found.neighbours.tolist(), found.perturbation.round(3).tolist(), found.width.round(2).tolist()
    ([2, 2, 2, 1], [0.25, 0.042, 0.107, 0.167], [0.5, 0.42, 0.36, 1.0])
    """
    first, second = aligned(original, released)
    named = _ends(intervals)
    columns = [column for pair in named.values() for column in pair]
    check.columns_exist("intervals", columns, second.columns)
    check.columns_exist("keys", list(named), first.columns)
    lower, upper = (np.column_stack([second.numbers(pair[at]) for pair in named.values()]) for at in (0, 1))
    _check_order(lower, upper, second)
    return _of_ends(first, second, tuple(named), lower, upper, options)


def cell_confidentiality(
    cells: Any, *, value: str = "value", lower: str = "lower", upper: str = "upper", **options: Any
) -> IntervalConfidentiality:
    """How well the cells of a table hide behind the intervals that can be worked out for them.

    One row per cell, with its true value and the feasibility interval: the least and the greatest value that it can
    have given all that is published. The midpoint is the intruder's guess, perturbation its error, and neighbours are
    the cells whose true value looks like it, within the `strata` if there are any. A published cell has lower = upper =
    value and perturbation 0; leave out those that are no secret. Cells without an interval are left out and counted.
    Options are those of `confidentiality`.

    Reference: Seri, A graphical framework to evaluate risk assessment and information loss at individual level, 4.

    >>> import polars as pl
    >>> table = pl.DataFrame({"value": [40.0, 42.0, 90.0], "lower": [30.0, 35.0, 88.0], "upper": [54.0, 47.0, 96.0]})
    >>> found = cell_confidentiality(table, delta=0.1, k=2)
    >>> found.neighbours.tolist(), found.perturbation.round(3).tolist(), found.unsafe.tolist()
    ([2, 2, 1], [0.05, 0.024, 0.022], [False, False, True])
    """
    data = Data.of(cells)
    if not len(data):
        raise TacitaError("the table has no cells; there is nothing to compare.")
    check.columns_exist("value, lower and upper", (value, lower, upper), data.columns)
    low, high = (data.numbers(name)[:, None] for name in (lower, upper))
    _check_order(low, high, data)
    return _of_ends(data, data, (value,), low, high, options)


def _ends(intervals: Any) -> dict[str, tuple[str, str]]:
    """By key the names of the two columns with the ends of its intervals."""
    named = check.mapping("intervals", intervals)
    if not named:
        raise TacitaError("name at least one interval; pass intervals={'turnover': ('lower', 'upper')}.")
    for name, given in named.items():
        pair = isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(end, str) for end in given)
        if not pair:
            raise TacitaError(f"the interval of {name!r} must be the names of two columns; got {given!r}.")
    return {name: (given[0], given[1]) for name, given in named.items()}


def _check_order(lower: Floats, upper: Floats, data: Data) -> None:
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


def _of_ends(
    first: Data, second: Data, keys: tuple[str, ...], lower: Floats, upper: Floats, options: Mapping[str, Any]
) -> IntervalConfidentiality:
    """The confidentiality of the midpoints, with the width of each interval."""
    # Half each, so that the sum cannot overflow.
    middle = lower / 2.0 + upper / 2.0
    masked = second.with_columns({name: middle[:, at] for at, name in enumerate(keys)})
    size = options.get("size")
    if isinstance(size, str) and size not in masked.columns and size in first.columns:
        # Sizes are those of the original file; ranks are then kept by definition.
        masked = masked.with_columns({size: first.numbers(size)})
    found = confidentiality(first, masked, keys, **options)
    rows = np.flatnonzero(np.isin(first.record, found.record))
    x = np.column_stack([first.numbers(name) for name in keys])[rows]
    length = np.sqrt((x**2).sum(axis=1))
    wide = np.sqrt(((upper[rows] - lower[rows]) ** 2).sum(axis=1))
    width = np.divide(wide, length, out=np.full(len(rows), np.inf), where=length > 0)
    covered = np.asarray(((lower[rows] <= x) & (x <= upper[rows])).all(axis=1))
    fields = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    return IntervalConfidentiality(**fields, width=np.where(wide == 0, 0.0, width), covered=covered)
