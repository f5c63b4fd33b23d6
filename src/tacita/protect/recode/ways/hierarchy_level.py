"""A level of a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from tacita.check import TacitaError
from tacita.parameters import AtLeast, Doc, Shape
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.recode.regroup import gathered
from tacita.protect.recode.ways.new_values import Labels, own_labels
from tacita.protect.recode.ways.way import Grouping, Source, Way


def _hierarchy(_: str, given: Any) -> Hierarchy:
    return Hierarchy.of(given)


@dataclass(frozen=True)
class HierarchyLevel(Way):
    """The groups of a level of a hierarchy, which is made here or read from a CSV file.

    >>> HierarchyLevel(Hierarchy.intervals([5, 10]), level=2).level
    2
    """

    hierarchy: Annotated[
        Any,
        Shape("Hierarchy, or the path of a CSV file", _hierarchy),
        Doc("A Hierarchy, or the path of a CSV file with one."),
    ]
    level: Annotated[int, AtLeast(1), Doc("The level to go to.")] = 1
    labels: Labels = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level > self.hierarchy.height:
            raise TacitaError(
                f"level must be at most {self.hierarchy.height}, the height of the hierarchy; got {self.level!r}."
            )

    def grouping(self, source: Source) -> Grouping:
        """The group of every value."""
        targets = self.hierarchy.labels_at(source.column.plain, self.level, source.name)
        return Grouping(gathered(targets, own_labels(self.labels, targets), ascending=source.ascending))
