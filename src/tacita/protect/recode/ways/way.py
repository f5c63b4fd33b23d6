"""A way to recode: from the different values of a variable to groups of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from tacita.check import TacitaError
from tacita.data import Variable
from tacita.declared import check_fields, plain
from tacita.parameters import Doc, OneOf, Parameter, parameters_of
from tacita.protect.recode.regroup import Column, Groups, is_declared, is_number

Closed = Annotated[
    str, OneOf(("left", "right")), Doc("Which of its limits belongs to an interval, the left or the right one.")
]


@dataclass(frozen=True)
class Source:
    """A variable that is to be recoded."""

    name: str
    column: Column
    known: Variable
    ascending: bool
    """Whether its values, as they stand, mean an order."""

    def numbers(self) -> list[float]:
        """Its values as numbers."""
        values = [float(value) if isinstance(value, Decimal) else value for value in self.column.plain]
        if not all(is_number(value) for value in values):
            raise TacitaError(
                f"column {self.name!r} must hold numbers to be put into intervals; use mapping, digits, hierarchy or "
                f"dates."
            )
        return values

    def finite(self, values: list[float], way_out: str) -> None:
        """No number is infinite."""
        wrong = sum(not math.isfinite(value) for value in values)
        if wrong:
            raise TacitaError(f"column {self.name!r} has infinite values; {way_out}.")

    @property
    def code_list(self) -> list[Any]:
        """The values that occur and those that are labelled, without the declared codes."""
        codes = dict.fromkeys([*self.column.plain, *self.known.value_labels])
        return [code for code in codes if not is_declared(self.known, code)]

    @property
    def declared(self) -> list[Any]:
        """All codes declared missing or not applicable, and those that occur in declared ranges."""
        codes = dict.fromkeys([*self.known.missing, *self.known.not_applicable, *self.column.declared])
        return [code for code in codes if code != ""]

    @property
    def numeric(self) -> bool:
        """Whether all its values are numbers."""
        return all(is_number(value) for value in self.column.plain)


class Grouping(NamedTuple):
    """The groups of a variable, and a remark for the log."""

    groups: Groups | None
    """None: nothing changes."""
    remark: str = ""

    def with_remark(self, other: str) -> Grouping:
        """The same with a further remark."""
        return self._replace(remark="; ".join(text for text in (self.remark, other) if text))


@dataclass(frozen=True)
class Way(ABC):
    """One way to recode. Its first parameter is its name in plan files and keyword arguments."""

    def __post_init__(self) -> None:
        """Parameters are checked as they are declared."""
        check_fields(self, "recode")

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Its parameters; the first is the one that it is called by."""
        return parameters_of(cls)

    @property
    def name(self) -> str:
        """The name of the way: its first parameter."""
        return self.parameters()[0].name

    @abstractmethod
    def grouping(self, source: Source) -> Grouping:
        """The groups that the values of a variable are put into."""

    @property
    def named_codes(self) -> frozenset[str]:
        """Old values that it names one by one, as texts."""
        return frozenset()

    @property
    def code_for_blanks(self) -> Any:
        """The code that blanks get where they stand for not applicable; None: they stay."""
        return None

    def given(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        values = {each.name: getattr(self, each.name) for each in self.parameters()}
        return {each.name: values[each.name] for each in self.parameters() if values[each.name] != each.default}

    def to_dict(self) -> dict[str, Any]:
        """The same as plain lists, tables, texts and numbers."""
        return {name: plain(value) for name, value in self.given().items()}

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


def absent(value: Any) -> bool:
    """Whether a parameter is not given: an empty list is none, and a plan file has none."""
    return value is None or (isinstance(value, tuple | list | Mapping) and not value)
