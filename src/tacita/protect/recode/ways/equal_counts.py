"""Equal counts: intervals with about as many records each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tacita.check import TacitaError
from tacita.parameters import AtLeast, AtMost, Doc
from tacita.protect.recode import intervals
from tacita.protect.recode.ways.breaks import Into, check_group_names, fewer_groups, parted
from tacita.protect.recode.ways.way import Closed, Grouping, Source, Way

MOST_GROUPS = 10_000


@dataclass(frozen=True)
class EqualCounts(Way):
    """Intervals with about as many records each.

    >>> EqualCounts(5).given()
    {'groups': 5}
    """

    groups: Annotated[
        int, AtLeast(2), AtMost(MOST_GROUPS), Doc("The number of intervals with about as many records each.")
    ]
    closed: Closed = "left"
    into: Into = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_group_names(self.into, self.groups)

    def grouping(self, source: Source) -> Grouping:
        """The interval of every number."""
        values = source.numbers()
        source.finite(values, "use breaks")
        right = self.closed == "right"
        breaks = intervals.equal_count_breaks(values, source.column.counts, self.groups, right=right)
        if not breaks:
            raise TacitaError(f"column {source.name!r} has one value only and cannot be parted; leave it as it is.")
        fewer = fewer_groups(source.name, len(breaks) + 1, self.groups, self.into, "since equal values stay together")
        return Grouping(parted(values, breaks, right, self.into), fewer)
