"""The two files of a comparison: in the order of their record numbers, weighted alike, and which variables count."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import check_sizes
from tacita.distance.truth import same_unit
from tacita.keys.table import row_weights
from tacita.loss.distributions.association import effective_size
from tacita.parameters import Doc
from tacita.scenario import Scenario

Variables = Annotated[Any, Doc("Variables to compare; all but identifiers and the weight unless given.")]
Weighted = Annotated[bool, Doc("Count by the scenario's weight, where both files have it.")]


class Both(NamedTuple):
    """An original and what was released of it, each in the order of its record numbers.

    Sums of numbers change in their last digits with the order of the terms: in this order they are always the same.
    """

    original: Data
    released: Data
    weights: tuple[Floats, Floats]
    """By file the weight of each record; ones where records are counted."""
    weighted: bool
    """Whether those are the scenario's weights."""
    unweighted: str
    """Why they are not though the scenario names some; empty otherwise."""
    own: Ints | None
    """By released record the row of its original, -1 without one; None where that is not known."""

    @property
    def files(self) -> tuple[Data, Data]:
        """The original and the release."""
        return self.original, self.released

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """By file Kish's effective number of records: as many with equal weights would be as precise."""
        return self._effective(self.original, self.weights[0]), self._effective(self.released, self.weights[1])

    def _effective(self, data: Data, weight: Floats) -> float:
        if data.condensed is None:
            return effective_size(weight)
        if not self.weighted:
            return float(data.size)
        assert data.condensed.squares is not None
        squares = data.condensed.squares + weight**2 / data.condensed.records
        return float(weight.sum() ** 2 / squares.sum())

    @property
    def cautions(self) -> tuple[str, ...]:
        """That records are counted without weights, where there should be some."""
        return (self.unweighted,) if self.unweighted else ()


def both_files(original: Data, released: Data, scenario: Scenario, *, weighted: bool = True) -> Both:
    """Both files, checked against the scenario: what it names is in the original."""
    scenario.check_against(original)
    if not len(released):
        raise TacitaError("the released file has no records.")
    files = in_order(original), in_order(released)
    name, reason = scenario.weight if weighted else None, ""
    if name is not None and name not in released.columns:
        name, reason = None, f"the release has no weight {name!r}: records of both files are counted without weights."
    weights = tuple(_weights(data, scenario, name) for data in files)
    return Both(*files, (weights[0], weights[1]), name is not None, reason, _own_rows(*files))


def _own_rows(original: Data, released: Data) -> Ints | None:
    """By released record the row of its original; files without record numbers belong together if equally long."""
    numbered = any(data.numbers_of_records is not None for data in (original, released))
    if not numbered and len(original) != len(released):
        return None
    return same_unit(original, released, None)


def in_order(data: Data) -> Data:
    """The records in the order of their numbers."""
    record = data.record
    return data if (record[1:] >= record[:-1]).all() else data.take(np.argsort(record, kind="stable"))


def _weights(data: Data, scenario: Scenario, name: str | None) -> Floats:
    return row_weights(data, scenario if name is not None else None)


def compared_variables(both: Both, scenario: Scenario, variables: Any) -> tuple[str, ...]:
    """The variables named, or all of the original that say something of the units: no identifiers, no weight."""
    if variables is not None:
        names = check.names("variables", variables)
        check.columns_exist("variables", names, both.original.columns)
        if not names:
            raise TacitaError("variables must name at least one variable.")
        return names
    single = {scenario.weight, scenario.household, scenario.person, *scenario.identifiers}
    names = tuple(name for name in both.original.columns if name not in single)
    if not names:
        raise TacitaError(
            "there is no variable to compare but identifiers and weights; name some with variables=[...]."
        )
    return names


def scenario_variables(scenario: Scenario) -> tuple[str, ...]:
    """What the scenario names of the units: keys, sensitive variables and numeric keys, each once."""
    return tuple(dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric_keys]))


def holds_numbers(data: Data, name: str) -> bool:
    """Whether a column holds numbers, or nothing at all."""
    if frame.is_text(data.table, name) or frame.is_date(data.table, name):
        return bool(frame.missing(data.table, name).all())
    return (
        frame.is_float(data.table, name)
        or frame.is_whole(data.table, name)
        or frame.is_decimal(data.table, name)
        or frame.is_boolean(data.table, name)
    )


def both_numeric(both: Both, name: str) -> bool:
    """Whether a variable is measured numbers in the original, and numbers in the release too."""
    return both.original.scale(name) == "numeric" and all(holds_numbers(data, name) for data in both.files)


def both_numbers(both: Both, name: str) -> tuple[Floats, Floats]:
    """A variable of both files as numbers, NaN where missing; infinite and huge ones are an error."""
    x, y = (data.numbers(name) for data in both.files)
    for values in (x, y):
        check_sizes(name, values)
    return x, y
