"""Hierarchies: how the values of a variable become coarser, level by level."""

from tacita.protect.hierarchies.base import Hierarchy, Levels, recoded
from tacita.protect.hierarchies.codes import TruncationHierarchy
from tacita.protect.hierarchies.dates import DateHierarchy
from tacita.protect.hierarchies.intervals import IntervalHierarchy
from tacita.protect.hierarchies.redaction import RedactionHierarchy
from tacita.protect.hierarchies.table import TableHierarchy

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
