"""The records, weights and variables of an original and a release, as measures of information loss take them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.aligned import aligned
from tacita.distance.comparison import check_sizes
from tacita.distance.truth import new_records_caution
from tacita.keys.table import row_weights
from tacita.parameters import Doc
from tacita.scenario import Scenario, checked

Weighted = Annotated[bool, Doc("Count records by the scenario's weight, if it names one.")]
NumericVariables = Annotated[tuple[str, ...] | None, Doc("Variables with numbers; all numeric ones of both files.")]


@dataclass(frozen=True, eq=False)
class Files:
    """The records that both files have, in the order of their numbers, so that sums do not depend on the files'."""

    original: Data
    released: Data
    scenario: Scenario
    dropped: int
    """Records of the original that were not released."""
    new: int
    """Released records that are not in the original."""
    weighted: bool
    given: Ints
    """By record in the order of the original as it was given: its place in that of the numbers."""

    def as_given(self, values: Any) -> Any:
        """Figures by record, in the order of the original as it was given."""
        return values[self.given]

    @cached_property
    def weights(self) -> Floats | None:
        """The weights in the original; None: every record counts the same."""
        if not self.weighted or self.scenario.weight is None:
            return None
        return self._weights(self.original)

    @cached_property
    def released_weights(self) -> Floats | None:
        """The weights in the release, which a step can have changed; the original's where it has none."""
        if self.weights is None or self.scenario.weight not in self.released.columns:
            return self.weights
        return self._weights(self.released)

    def _weights(self, data: Data) -> Floats:
        check.columns_exist("weight", (str(self.scenario.weight),), data.columns)
        return row_weights(data, self.scenario)

    @property
    def cautions(self) -> tuple[str, ...]:
        """That some records are in one of the files only."""
        gone = self.dropped
        said = f"{check.counted(gone, 'record')} of the original {'is' if gone == 1 else 'are'} not in the release: "
        what = "what is lost with them is not in these figures."
        return (*((said + what,) if gone else ()), *new_records_caution(self.new))

    def common(self, scales: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """The variables of both files, of some scales, but those that say who a record is or what it stands for."""
        left_out, there = identifying(self.scenario), set(self.released.columns)
        names = [name for name in self.original.columns if name in there and name not in left_out]
        return tuple(name for name in names if scales is None or self.original.scale(name) in scales)

    def removed(self) -> tuple[str, ...]:
        """The variables of the original that the release lacks, but those that say who a record is."""
        left_out, there = identifying(self.scenario), set(self.released.columns)
        return tuple(name for name in self.original.columns if name not in there and name not in left_out)

    def named(self, variables: Any, scales: tuple[str, ...]) -> tuple[str, ...]:
        """The variables named, which both files must have; otherwise all that both have of some scales."""
        if variables is None:
            return self.common(scales)
        names = check.names("variables", variables)
        check.columns_exist("variables of the original file", names, self.original.columns)
        check.columns_exist("variables of the released file", names, self.released.columns)
        return names

    def numbers(self, variables: Any, measure: str) -> tuple[tuple[str, ...], Floats, Floats]:
        """Numeric variables of both files as columns, NaN where missing; classes are no numbers and are left out."""
        names = self.named(variables, ("numeric",))
        if variables is None:
            names = tuple(name for name in names if _holds_numbers(self.released, name))
        if not names:
            raise TacitaError(f"{measure} needs numeric variables that both files have; pass variables=[...].")
        x, y = (np.column_stack([data.numbers(name) for name in names]) for data in (self.original, self.released))
        for name, before, after in zip(names, x.T, y.T, strict=True):
            check_sizes(name, before)
            check_sizes(name, after)
        return names, x, y


def compared_files(original: Any, released: Any, scenario: Scenario, *, weighted: bool) -> Files:
    """Both files record by record; what the scenario names is in the original."""
    scenario = checked(scenario)
    scenario.check_against(Data.of(original))
    first, second, new, _ = aligned(original, released)
    dropped = Data.of(original).size - first.size
    order = np.argsort(first.record, kind="stable")
    given = np.empty_like(order)
    given[order] = np.arange(len(order))
    if (order[1:] < order[:-1]).any():
        first, second = first.take(order), second.take(order)
    return Files(first, second, scenario, dropped, new, weighted, given)


def identifying(scenario: Scenario) -> set[str]:
    """Columns that say who a record is or what it stands for: nothing is to be learnt from them."""
    named = (scenario.household, scenario.person, scenario.weight)
    return {*scenario.identifiers, *(name for name in named if name is not None)}


def _holds_numbers(data: Data, name: str) -> bool:
    try:
        data.numbers(name)
    except TacitaError:
        return False
    return True
