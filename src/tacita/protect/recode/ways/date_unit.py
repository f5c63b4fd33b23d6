"""The unit of the calendar that a date lies in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita.parameters import Doc, OneOf
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.recode.hierarchies.dates import UNITS
from tacita.protect.recode.regroup import Groups
from tacita.protect.recode.ways.way import Grouping, Source, Way


@dataclass(frozen=True)
class DateUnit(Way):
    """The month, quarter, year or other unit that a date lies in; years are whole numbers.

    >>> DateUnit("quarter")
    DateUnit(dates='quarter')
    """

    dates: Annotated[str, OneOf(tuple(UNITS)), Doc("The unit that is kept of a date.")]

    def grouping(self, source: Source) -> Grouping:
        """The unit of every date."""
        targets: list[Any] = Hierarchy.dates([self.dates], redact=False).labels_at(source.column.plain, 1, source.name)
        if self.dates == "year":
            targets = [int(year) for year in targets]
        different = {target: place for place, target in enumerate(sorted(set(targets)))}
        place = np.array([different[target] for target in targets], dtype=np.int64)
        return Grouping(Groups(place, tuple(different), True))
