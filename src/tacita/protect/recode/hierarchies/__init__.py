"""Hierarchies: how the values of a variable become coarser, level by level."""

from tacita.protect.recode.hierarchies.base import Hierarchy, Levels, recoded
from tacita.protect.recode.hierarchies.codes import TruncationHierarchy
from tacita.protect.recode.hierarchies.dates import DateHierarchy
from tacita.protect.recode.hierarchies.intervals import IntervalHierarchy
from tacita.protect.recode.hierarchies.redaction import RedactionHierarchy
from tacita.protect.recode.hierarchies.table import TableHierarchy

__all__ = [
    "DateHierarchy",
    "Hierarchy",
    "IntervalHierarchy",
    "Levels",
    "RedactionHierarchy",
    "TableHierarchy",
    "TruncationHierarchy",
    "recoded",
]
