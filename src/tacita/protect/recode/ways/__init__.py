"""The ways to recode, one class each."""

from collections.abc import Mapping
from types import MappingProxyType

from tacita.protect.recode.ways.argus_scheme import ArgusScheme
from tacita.protect.recode.ways.breaks import Breaks
from tacita.protect.recode.ways.date_unit import DateUnit
from tacita.protect.recode.ways.digits import Digits
from tacita.protect.recode.ways.equal_counts import EqualCounts
from tacita.protect.recode.ways.hierarchy_level import HierarchyLevel
from tacita.protect.recode.ways.log_groups import LogGroups
from tacita.protect.recode.ways.new_values import NewValues
from tacita.protect.recode.ways.quantiles import Quantiles
from tacita.protect.recode.ways.way import Way
from tacita.protect.recode.ways.width import Width

CLASSES: tuple[type[Way], ...] = (
    Breaks, Width, EqualCounts, Quantiles, LogGroups, NewValues, ArgusScheme, Digits, HierarchyLevel, DateUnit,
)  # fmt: skip

WAYS: Mapping[str, type[Way]] = MappingProxyType({each.parameters()[0].name: each for each in CLASSES})
"""The ways to recode by their first parameter, which is their name in plan files and keyword arguments."""

__all__ = [
    "WAYS",
    "ArgusScheme",
    "Breaks",
    "DateUnit",
    "Digits",
    "EqualCounts",
    "HierarchyLevel",
    "LogGroups",
    "NewValues",
    "Quantiles",
    "Way",
    "Width",
]
