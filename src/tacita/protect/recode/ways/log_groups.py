"""Log-equidistant intervals: equally wide on the scale of logarithms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import AtLeast, AtMost, Doc
from tacita.protect.recode.ways.breaks import Into, check_group_names, fewer_groups, parted
from tacita.protect.recode.ways.way import Closed, Grouping, Source, Way

DIGITS = 2
"""A break has so many digits: two exact ones would give the smallest and the greatest number of the file away."""
MOST_GROUPS = 10_000


def log_breaks(low: float, high: float, groups: int) -> list[float]:
    """Breaks that part the numbers from `low` to `high` into intervals with the same ratio of ends, to two digits.

    >>> log_breaks(1, 10_000, 4), log_breaks(3, 700, 3)
    ([10, 100, 1000], [18, 110])
    """
    step = (math.log(high) - math.log(low)) / groups
    found = [float(f"{math.exp(math.log(low) + at * step):.{DIGITS - 1}e}") for at in range(1, groups)]
    whole = isinstance(low, int) and isinstance(high, int)
    rounded: list[float] = [int(each) if whole and each.is_integer() else each for each in found]
    return [each for each in dict.fromkeys(rounded) if low < each <= high]


@dataclass(frozen=True)
class LogGroups(Way):
    """Intervals of the same width on the log scale, as for incomes or turnovers; nothing is told of who is largest.

    >>> LogGroups(5).given()
    {'log_groups': 5}
    """

    log_groups: Annotated[
        int, AtLeast(2), AtMost(MOST_GROUPS), Doc("The number of intervals that are equally wide on the log scale.")
    ]
    closed: Closed = "left"
    into: Into = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_group_names(self.into, self.log_groups)

    def grouping(self, source: Source) -> Grouping:
        """The interval of every number; what has no logarithm is in the lowest."""
        values = source.numbers()
        source.finite(values, "use breaks")
        above = [value for value in values if value > 0]
        breaks = log_breaks(min(above), max(above), self.log_groups) if above else []
        if not breaks:
            raise TacitaError(
                f"column {source.name!r} must have different numbers above 0 for classes on the log scale; use breaks."
            )
        fewer = fewer_groups(source.name, len(breaks) + 1, self.log_groups, self.into, "with breaks of two digits")
        found = Grouping(parted(values, breaks, self.closed == "right", self.into), fewer)
        none = sum(int(count) for value, count in zip(values, source.column.counts, strict=True) if value <= 0)
        said = f"{check.counted(none, 'record')} of 0 or below in the lowest group" if none else ""
        return found.with_remark(said)
