"""What a rule is made of: conditions, which hold or not, and terms, which have a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float
    at: int


@dataclass(frozen=True)
class Text:
    """A text."""

    value: str
    at: int


@dataclass(frozen=True)
class Column:
    """A variable."""

    name: str
    at: int


@dataclass(frozen=True)
class Sum:
    """Two terms with +, -, * or / between them."""

    sign: str
    left: Term
    right: Term
    at: int


@dataclass(frozen=True)
class Change:
    """A term with its sign turned, or without it (abs)."""

    how: str
    term: Term
    at: int


@dataclass(frozen=True)
class Comparison:
    """Two terms with =, !=, <, <=, > or >= between them."""

    sign: str
    left: Term
    right: Term
    at: int


@dataclass(frozen=True)
class Among:
    """A variable that has one of some values."""

    column: Column
    values: tuple[Number | Text, ...]
    at: int


@dataclass(frozen=True)
class Missing:
    """A variable that is missing."""

    column: Column
    at: int


@dataclass(frozen=True)
class Not:
    """What does not hold."""

    condition: Condition
    at: int


@dataclass(frozen=True)
class Both:
    """Two conditions with `and` or `or` between them."""

    word: str
    left: Condition
    right: Condition
    at: int


Term = Number | Text | Column | Sum | Change
Condition = Comparison | Among | Missing | Not | Both
Part = Term | Condition

TERMS = (Number, Text, Column, Sum, Change)
