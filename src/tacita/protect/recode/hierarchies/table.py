"""Groups that are listed value by value: code lists, regions, CSV files of ARX."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tacita import check
from tacita.check import TacitaError
from tacita.protect.recode.hierarchies.base import STAR, Hierarchy, true_or_false

DELIMITERS = (";", ",", "\t", "|")
LOOKED_AT = 1000
"""Lines by which the delimiter is found."""


@dataclass(frozen=True)
class TableHierarchy(Hierarchy):
    """One row per value: the value, then the label of its group at level 1, 2, ..."""

    kind: str = field(init=False, default="table")
    values: tuple[tuple[Any, ...], ...]
    """The rows. A value is found by its text, so that 7 in the data is 7 in a file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            given = tuple(tuple(check.python_number(cell) for cell in row) for row in self.values)
        except TypeError:
            raise TacitaError("the rows of a hierarchy must be lists: the value, then its groups.") from None
        # A value may be listed twice if both rows say the same.
        rows: dict[str, tuple[Any, ...]] = {}
        for number, row in enumerate(given, start=1):
            _check_row(number, row, len(given[0]))
            value = as_text(row[0])
            if rows.setdefault(value, row)[1:] != row[1:]:
                raise TacitaError(
                    f"row {number:,} of the hierarchy puts a value into other groups than a row above it."
                )
        if not rows:
            raise TacitaError("a hierarchy must have at least one row: the value, then its groups.")
        object.__setattr__(self, "values", tuple(rows.values()))
        self._check_nested()

    def _check_nested(self) -> None:
        for level in range(2, self.own_height + 1):
            above: dict[Any, Any] = {}
            breaking = sum(above.setdefault(row[level - 1], row[level]) != row[level] for row in self.values)
            if breaking:
                raise TacitaError(
                    f"level {level} of the hierarchy parts values that level {level - 1} has put together: "
                    f"{check.counted(breaking, 'value breaks', 'values break')} the nesting; correct the groups."
                )

    @property
    def own_height(self) -> int:
        """One level per column after the first."""
        return len(self.values[0]) - 1

    @property
    def starred(self) -> bool:
        """A last level that has one group only tells nothing already."""
        return self.redact and len({row[-1] for row in self.values}) > 1

    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """What the rows say."""
        labels = {as_text(row[0]): row[level] for row in self.values}
        return [labels.get(as_text(value)) for value in values]

    @classmethod
    def chained(cls, levels: Sequence[Mapping[Any, Any]], *, redact: bool) -> Self:
        """Rows of mappings that follow each other."""
        if not levels or not all(isinstance(level, Mapping) for level in levels):
            raise TacitaError("a hierarchy of mappings needs at least one, as in {'Graz': 'south', 'Vienna': 'east'}.")
        rows = [[value, group] for value, group in levels[0].items()]
        if any(
            isinstance(group, Iterable) and not isinstance(group, str) for each in levels for group in each.values()
        ):
            raise TacitaError("the groups of a hierarchy of mappings must be texts or numbers, no lists.")
        for number, mapping in enumerate(levels[1:], start=2):
            absent = len({row[-1] for row in rows if row[-1] not in mapping})
            if absent:
                raise TacitaError(
                    f"mapping {number} of the hierarchy lacks {check.counted(absent, 'group')} of the one before; add "
                    f"them to it."
                )
            rows = [[*row, mapping[row[-1]]] for row in rows]
        return cls(tuple(map(tuple, rows)), redact=redact)

    @classmethod
    def read(cls, path: str | Path, *, delimiter: str | None, header: bool, redact: bool) -> Self:
        """The rows of a CSV file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise TacitaError(f"{path.name} is not UTF-8 text; save the hierarchy as UTF-8.") from None
        except OSError as error:
            reason = (error.strerror or "it cannot be opened").lower()
            raise TacitaError(f"{path.name} cannot be read: {reason}; check the path of the hierarchy.") from None
        true_or_false("header", header)
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
            raise TacitaError(f"delimiter must be one sign, as ';'; got {check.given(delimiter)}.")
        try:
            rows = _split(text.splitlines(), delimiter or _delimiter(text.splitlines()))[header:]
        except csv.Error:
            raise TacitaError(f"{path.name} has a field without an end; check its quotes.") from None
        if not rows:
            raise TacitaError(f"{path.name} has no rows; a hierarchy has one row per value.")
        try:
            return cls(tuple(rows), redact=redact)
        except TacitaError as error:
            raise TacitaError(f"{path.name}: {error}") from None


def as_text(value: Any) -> str:
    """A value as a file would hold it: 7 for 7.0, true for True."""
    if type(value) is str:
        return value.strip()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _check_row(number: int, row: tuple[Any, ...], width: int) -> None:
    if len(row) != width or width < 2:
        raise TacitaError(
            f"row {number:,} of the hierarchy has {check.counted(len(row), 'field')}; every row must have as many as "
            f"the first, at least two: the value, then its groups."
        )
    # Nearly all are texts, and there may be very many.
    if any(type(cell) is not str and isinstance(cell, Iterable) and not isinstance(cell, str) for cell in row):
        raise TacitaError(f"row {number:,} of the hierarchy must hold texts and numbers, no lists.")
    if any(cell is None or cell == "" for cell in row):
        raise TacitaError(f"row {number:,} of the hierarchy has an empty field; write {STAR!r} for a group of all.")


def _split(lines: Iterable[str], delimiter: str) -> list[tuple[str, ...]]:
    rows = csv.reader((line for line in lines if line.strip()), delimiter=delimiter)
    return [tuple(cell.strip() for cell in row) for row in rows]


def _delimiter(lines: list[str]) -> str:
    """The sign that cuts all rows into the same number of fields, the more the better."""
    lines = lines[:LOOKED_AT]
    counts = {sign: {len(row) for row in _split(lines, sign)} for sign in DELIMITERS}
    even = {sign: min(found) for sign, found in counts.items() if len(found) == 1 and min(found) > 1}
    return (
        max(even, key=lambda sign: even[sign]) if even else max(counts, key=lambda sign: max(counts[sign], default=0))
    )
