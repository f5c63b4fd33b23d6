"""Width: intervals of equal width."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import EXACT_NUMBER, Above, Doc
from tacita.protect.recode import intervals
from tacita.protect.recode.regroup import Groups
from tacita.protect.recode.ways.way import Closed, Grouping, Source, Way


@dataclass(frozen=True)
class Width(Way):
    """Intervals of equal width, with one group for what is below `bottom` and one for what is above `top`.

    >>> Width(5, top=80).given()
    {'width': 5, 'top': 80}
    """

    width: Annotated[float, EXACT_NUMBER, Above(0), Doc("The width of intervals.")]
    start: Annotated[float, EXACT_NUMBER, Doc("Where an interval begins.")] = 0
    bottom: Annotated[float | None, EXACT_NUMBER, Doc("Smaller values are one group.")] = None
    top: Annotated[float | None, EXACT_NUMBER, Doc("Values from here on are one group.")] = None
    closed: Closed = "left"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise TacitaError(f"bottom must be below top; got {check.given(self.bottom)} and {self.top!r}.")

    def _side(self, value: float, right: bool) -> int:
        """-1 below the bottom, 1 above the top, 0 between them."""
        if self.bottom is not None and (value <= self.bottom if right else value < self.bottom):
            return -1
        return int(self.top is not None and (value > self.top if right else value >= self.top))

    def _label(self, k: int, width: Fraction, start: Fraction, whole: bool) -> str:
        """What the interval from start + k width on is called; bottom and top cut it short."""
        low = start + k * width
        high = low + width
        low = low if self.bottom is None else max(low, intervals.exact(self.bottom))
        high = high if self.top is None else min(high, intervals.exact(self.top))
        return intervals.interval_label(low, high, right=self.closed == "right", whole=whole)

    def grouping(self, source: Source) -> Grouping:
        """The interval of every number."""
        values, right = source.numbers(), self.closed == "right"
        side = np.array([self._side(value, right) for value in values], dtype=np.int64)
        inside = np.flatnonzero(side == 0)
        within = [values[at] for at in inside]
        source.finite(within, "set bottom and top, so that they are part of the groups at the ends")
        whole = intervals.all_whole(within)
        width, start = intervals.exact(self.width), intervals.exact(self.start)
        k = intervals.multiples(within, width, start, right=right, whole=whole)
        different, where = np.unique(k, return_inverse=True)
        labels = [self._label(int(each), width, start, whole) for each in different]
        place = np.where(side > 0, 1 + len(labels), 0)
        place[inside] = 1 + where
        bottom = "" if self.bottom is None else intervals.bottom_label(intervals.exact(self.bottom), right=right)
        top = "" if self.top is None else intervals.top_label(intervals.exact(self.top), right=right)
        used, place = np.unique(place, return_inverse=True)
        return Grouping(Groups(place, tuple([bottom, *labels, top][at] for at in used), True))
