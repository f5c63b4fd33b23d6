"""Rules as they are declared: edit rules and published totals, in Python and in TOML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import tomli_w

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.declared import FORMAT, Declared, toml_document
from tacita.rules.parse import parsed
from tacita.rules.parts import Condition
from tacita.rules.verdict import ROUNDING, Judge, Verdict
from tacita.rules.words import name_word, text_word


class Rule(Declared, ABC):
    """A relation that holds in the original and should hold in the release."""

    by_record: ClassVar[bool] = True
    """Whether there is a verdict for each record; otherwise there is one for the file."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule as it is printed."""

    @abstractmethod
    def verdict(self, data: Data) -> Verdict:
        """By record, or for the file: whether the rule holds, and whether it fails; neither where it is undecided."""

    def broken(self, data: Data) -> Bools:
        """By record, or for the file: whether the rule does not hold."""
        return self.verdict(data).fails


@dataclass(frozen=True)
class EditRule(Rule):
    """A condition that every record should meet, as a text.

    Compare by `=`, `!=`, `<`, `<=`, `>`, `>=`; calculate with `+`, `-`, `*`, `/`, `abs(...)`; join by `and`, `or`,
    `not`, `implies`; ask `is missing`, `is not missing`, `in (1, 2)`. Texts stand in quotes, names with blanks in
    backquotes. Where a missing value leaves it open whether the rule holds, and where something is divided by zero, the
    record is undecided: not broken, but counted apart.

    >>> import polars as pl
    >>> rule = EditRule("age < 15 implies marital = 1")
    >>> rule.broken(Data.of(pl.DataFrame({"age": [9, 9, 40, None], "marital": [1, 2, 2, 2]}))).tolist()
    [False, True, False, False]
    """

    section: ClassVar[str] = "rule"

    rule: str
    """The condition."""
    tolerance: float = 0.0
    """How far two numbers may be apart and still count as equal, as after rounding."""
    relative: float = 0.0
    """The same as a share of the larger."""

    def __post_init__(self) -> None:
        if not isinstance(self.rule, str) or not self.rule.strip():
            raise TacitaError(f"a rule must be a text such as 'income >= 0'; got {check.given(self.rule)}.")
        _check_tolerances(self)
        _ = self.condition

    @cached_property
    def condition(self) -> Condition:
        """The rule, taken apart."""
        return parsed(self.rule)

    @property
    def text(self) -> str:
        """The rule as it was declared."""
        return self.rule

    def to_dict(self) -> dict[str, Any]:
        """The text, and tolerances other than 0."""
        return {"rule": self.rule} | _tolerances(self)

    def verdict(self, data: Data) -> Verdict:
        """By record: whether the condition holds."""
        return Judge(self.rule, data, self.tolerance, self.relative).verdict(self.condition)


@dataclass(frozen=True)
class Total(Rule):
    """A published figure that the release should give again: a sum, or a number of units.

    Users compare; a figure that differs from the published one costs trust, or tells how much was changed. Records that
    the condition leaves undecided, or whose value is missing, do not count.

    >>> import polars as pl
    >>> firms = Data.of(pl.DataFrame({"staff": [3, 40], "nace": ["C", "G"], "w": [10.0, 2.0]}))
    >>> Total("staff", 110, weight="w").broken(firms).tolist()
    [False]
    >>> Total(None, 2, where={"nace": "C"}, weight="w").text
    "total of w where nace = 'C' is 2"
    """

    section: ClassVar[str] = "total"
    by_record: ClassVar[bool] = False

    variable: str | None
    """What is added up; none: units are counted."""
    value: float
    """The published figure."""
    where: str = ""
    """Only records that meet this condition, as `sex = 'f' and age >= 15`; a table {"sex": "f", "region": [1, 2]} will
    do."""
    weight: str | None = None
    """The weight; none: each record counts once."""
    tolerance: float = 0.0
    """How far the figure may be off, as half of the last published digit."""
    relative: float = 0.0
    """The same as a share of the figure."""

    def __post_init__(self) -> None:
        for name in ("variable", "weight"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                raise TacitaError(f"{name} of a total must be the name of a column; got {check.given(given)}.")
        object.__setattr__(self, "value", check.number("value of a total", self.value))
        where = _where(self.where) if isinstance(self.where, Mapping) else self.where
        if not isinstance(where, str):
            raise TacitaError(f"where must be a condition, as \"sex = 'f'\", or a table; got {check.given(where)}.")
        object.__setattr__(self, "where", where.strip())
        _check_tolerances(self)
        _ = self.condition

    @cached_property
    def condition(self) -> Condition | None:
        """The condition on records, taken apart; none: all records."""
        return parsed(self.where) if self.where else None

    @property
    def text(self) -> str:
        """What should be what."""
        names = [name_word(name) for name in (self.variable, self.weight) if name is not None]
        what = f"total of {' * '.join(names)}" if names else "number of records"
        return f"{what}{f' where {self.where}' if self.where else ''} is {self.value:.15g}"

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, and always the value."""
        given = {"total": self.variable or "", "value": self.value}
        given |= {name: getattr(self, name) for name in ("where", "weight") if getattr(self, name)}
        return given | _tolerances(self)

    def verdict(self, data: Data) -> Verdict:
        """For the file: whether the figure comes out; undecided where nothing is left to add up."""
        found, known = self.found(data)
        slack = self.tolerance + (self.relative + ROUNDING) * abs(self.value)
        off = abs(found - self.value) > slack
        return Verdict(np.array([known and not off]), np.array([known and off]))

    def found(self, data: Data) -> tuple[float, bool]:
        """The figure that the data give, and whether they give one."""
        judge = Judge(self.text, data)
        chosen = np.ones(len(data), dtype=np.bool_) if self.condition is None else judge.verdict(self.condition).holds
        values: Floats = np.ones(len(data))
        for name in (self.variable, self.weight):
            if name is not None:
                values = values * judge.numbers_of(name)
        counted = chosen & ~np.isnan(values)
        # In the order of the record numbers: the sum must not depend on how the file is sorted.
        order = np.argsort(data.record, kind="stable")
        total = float(np.sum(np.where(counted, values, 0.0)[order]))
        return total, bool(counted.any() or not (chosen & np.isnan(values)).any())

    def deviation(self, data: Data) -> float:
        """How far the figure is off, as a share of the published one; the difference where that is 0."""
        return (self.found(data)[0] - self.value) / (abs(self.value) or 1.0)


def _where(given: Mapping[Any, Any]) -> str:
    """A table of variables and values as a condition."""
    parts = []
    for name, value in check.mapping("where", given).items():
        one = isinstance(value, str | int | float)
        values = [value] if one else list(value) if isinstance(value, list | tuple) else []
        if not values or not all(isinstance(each, str | int | float) for each in values):
            raise TacitaError(f"where of {name!r} must be a value or a list of values; got {check.given(value)}.")
        words = ", ".join(_constant(each) for each in values)
        parts.append(f"{name_word(name)} = {words}" if one else f"{name_word(name)} in ({words})")
    return " and ".join(parts)


def _constant(value: str | float) -> str:
    return text_word(value) if isinstance(value, str) else f"{check.number('where', +value):.17g}"


def _check_tolerances(rule: Any) -> None:
    for name in ("tolerance", "relative"):
        value = check.number(name, getattr(rule, name))
        if value < 0:
            raise TacitaError(f"{name} must be at least 0; got {check.given(value)}.")
        object.__setattr__(rule, name, value)


def _tolerances(rule: Any) -> dict[str, float]:
    return {name: getattr(rule, name) for name in ("tolerance", "relative") if getattr(rule, name)}


def rule_of(given: Any) -> Rule:
    """A rule of a text, of a table of a file, or itself."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        return EditRule(given)
    if isinstance(given, Mapping) and ("rule" in given) != ("total" in given):
        if "rule" in given:
            return EditRule.from_dict(given)
        if "value" not in given:
            raise TacitaError("a published total must say its value, as value = 1200.")
        return Total.from_dict({"variable": given["total"] or None} | {k: v for k, v in given.items() if k != "total"})
    raise TacitaError(
        "a rule must be a text such as 'income >= 0', or a table with rule = '...' or total = '...'; "
        f"got {type(given).__name__}."
    )


@dataclass(frozen=True)
class Rules(Declared):
    """The rules that a file should keep, as one list that goes to TOML and back.

    >>> rules = Rules(["income >= 0", EditRule("total = wages + profit", tolerance=0.5), Total("income", 1000)])
    >>> Rules.from_toml(rules.to_toml()) == rules
    True
    """

    section: ClassVar[str] = "rules"

    rules: tuple[Rule, ...] = ()
    """The rules; texts and tables will do."""

    def __post_init__(self) -> None:
        one = isinstance(self.rules, str | Rule | Mapping)
        if not one and not check.is_list(self.rules):
            raise TacitaError(f"rules must be a list of rules, as ['income >= 0']; got {check.given(self.rules)}.")
        listed = [self.rules] if one else list(self.rules)
        object.__setattr__(self, "rules", tuple(rule_of(each) for each in listed))

    @classmethod
    def of(cls, given: Any) -> Rules:
        """Rules of a list, of one rule, or themselves."""
        return given if isinstance(given, cls) else cls(given)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return "\n".join(rule.text for rule in self.rules) or "no rules"

    def check_against(self, data: Data) -> None:
        """Every rule fits the data: an error tells which does not, before anything is done."""
        for rule in self.rules:
            rule.verdict(data)

    def to_dict(self) -> dict[str, Any]:
        """The rules as tables."""
        return {"rules": [rule.to_dict() for rule in self.rules]}

    def to_toml(self) -> str:
        """The rules as a TOML text, each a table headed [[rules]]."""
        return tomli_w.dumps({"format": FORMAT} | self.to_dict())

    @classmethod
    def from_toml(cls, text: str, source: str = "the text") -> Self:
        """The rules of a TOML text, which may hold other tables besides."""
        given = toml_document(text, source).get("rules")
        if not isinstance(given, list):
            raise TacitaError(f"{source} has no rules; add tables headed [[rules]], or rules = ['income >= 0'].")
        return cls(tuple(given))
