"""Dates, cut to coarser units of the calendar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.recode.hierarchies.base import Hierarchy

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "half-year": lambda day: f"{day.year:04}-H{1 if day.month <= 6 else 2}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}
"""Units from short to long, and how a date is written in them."""


@dataclass(frozen=True)
class DateHierarchy(Hierarchy):
    """Dates by month, quarter, year or another unit."""

    kind: str = field(init=False, default="dates")
    units: tuple[str, ...] = ("month", "quarter", "year")
    """The unit of level 1, 2, ..., from short to long."""

    def __post_init__(self) -> None:
        super().__post_init__()
        units = check.names("units", self.units)
        order = list(UNITS)
        places = [order.index(check.one_of("a unit of dates", unit, order)) for unit in units]
        if not units or places != sorted(places):
            raise TacitaError(f"units must go from short to long, in the order {', '.join(order)}; got {list(units)}.")
        object.__setattr__(self, "units", units)

    @property
    def own_height(self) -> int:
        """One level per unit."""
        return len(self.units)

    def unknown(self, name: str, count: int) -> str:
        """What to say of values that are no dates."""
        said = check.counted(count, "value is no date", "values are no dates")
        return f"of {name!r} {said}; write dates as 2024-03-31."

    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """Each date in the unit of the level."""
        write = UNITS[self.units[level - 1]]
        days = [_date(value) for value in values]
        return [None if day is None else write(day) for day in days]


def _date(value: Any) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
