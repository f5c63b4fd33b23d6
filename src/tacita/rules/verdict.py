"""Whether a condition holds, record by record: yes, no, or undecided where a value that it needs is missing."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.rules.parts import Among, Both, Change, Column, Comparison, Condition, Missing, Not, Number, Sum, Term, Text

ROUNDING = 1e-12
"""Numbers that differ by less than this share of the larger are equal: 0.1 + 0.2 is 0.3."""


class UnfitError(TacitaError):
    """A rule that does not fit the data: a variable is not there, or is text where a number must be."""


class Verdict(NamedTuple):
    """By record: whether a condition holds, and whether it fails; neither where it is undecided.

    Kleene's logic: `a or b` holds as soon as one of them does, even if the other is undecided.
    """

    holds: Bools
    fails: Bools


@dataclass(frozen=True)
class Judge:
    """Works out conditions on one file."""

    rule: str
    """The rule, for messages."""
    data: Data
    tolerance: float = 0.0
    """How far two numbers may be apart and still be equal."""
    relative: float = 0.0
    """The same as a share of the larger."""

    def verdict(self, part: Condition) -> Verdict:
        """Whether a condition holds."""
        if isinstance(part, Not):
            inner = self.verdict(part.condition)
            return Verdict(inner.fails, inner.holds)
        if isinstance(part, Both):
            one, two = self.verdict(part.left), self.verdict(part.right)
            if part.word == "and":
                return Verdict(one.holds & two.holds, one.fails | two.fails)
            return Verdict(one.holds | two.holds, one.fails & two.fails)
        if isinstance(part, Missing):
            self._kind(part.column)
            gone = self.data.missing(part.column.name)
            return Verdict(gone, ~gone)
        if isinstance(part, Among):
            return self._among(part.column, part.values)
        return self._compared(part)

    def numbers_of(self, name: str) -> Floats:
        """A variable as numbers, NaN where missing."""
        return self._numbers(Column(name, 1))

    def value_of(self, term: Term) -> Floats:
        """The value of a term by record, NaN where it is missing or divided by zero."""
        return self._numbers(term)

    def _compared(self, part: Comparison) -> Verdict:
        """Numbers by size; texts, and codes of categories, by being the same."""
        for column, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(column, Column) and isinstance(other, Text | Number) and part.sign in ("=", "!="):
                plain = self.tolerance == self.relative == 0
                if isinstance(other, Text) or self._is_text(column) or plain:
                    found = self._among(column, (other,))
                    return found if part.sign == "=" else Verdict(found.fails, found.holds)
        if self._is_text(part.left) and self._is_text(part.right) and part.sign in ("=", "!="):
            return self._same_texts(part)
        left, right = self._numbers(part.left), self._numbers(part.right)
        return _by_size(left, right, part.sign, self.tolerance, self.relative)

    def _same_texts(self, part: Comparison) -> Verdict:
        (one, left), (two, right) = self._texts(part.left), self._texts(part.right)
        known, same = one & two, left == right
        found = Verdict(known & same, known & ~same)
        return found if part.sign == "=" else Verdict(found.fails, found.holds)

    def _texts(self, term: Term) -> tuple[Bools, NDArray[Any]]:
        """Whether there is a text, and which."""
        if isinstance(term, Text):
            return np.ones(len(self.data), dtype=np.bool_), np.full(len(self.data), term.value, dtype=object)
        assert isinstance(term, Column)
        coded = self.data.coded(term.name)
        return coded.codes > 0, np.array(["", *coded.values], dtype=object)[coded.codes]

    def _among(self, column: Column, values: tuple[Number | Text, ...]) -> Verdict:
        """Whether a variable has one of some values; a code that is declared not applicable is one of them."""
        if self._kind(column) == "nothing":
            nowhere = np.zeros(len(self.data), dtype=np.bool_)
            return Verdict(nowhere, nowhere)
        text = self._is_text(column)
        for value in values:
            if isinstance(value, Text) != text:
                holds, way = ("text", "in quotes") if text else ("numbers", "without quotes")
                raise self._unfit(column, f"column {column.name!r} holds {holds}; write the constant {way}")
        constants = [value.value for value in values]
        if text:
            coded = self.data.coded(column.name)
            chosen = np.array([False, *(value in constants for value in coded.values)])
            known = coded.codes > 0
            return Verdict(chosen[coded.codes], known & ~chosen[coded.codes])
        numbers = self._raw_numbers(column)
        known = ~self.data.missing(column.name) & ~np.isnan(numbers)
        found = np.isin(numbers, constants)
        return Verdict(known & found, known & ~found)

    def _numbers(self, term: Term) -> Floats:
        """The value of a term, NaN where it is missing or divided by zero."""
        if isinstance(term, Number):
            return np.full(len(self.data), term.value)
        if isinstance(term, Column):
            self._raw_numbers(term)
            return self.data.numbers(term.name)
        if isinstance(term, Change):
            inner = self._numbers(term.term)
            return -inner if term.how == "-" else np.abs(inner)
        assert isinstance(term, Sum), "the parser lets no text be calculated with"
        return _calculated(term, self._numbers(term.left), self._numbers(term.right))

    def _raw_numbers(self, column: Column) -> Floats:
        """A variable as numbers, codes for not applicable among them."""
        kind = self._kind(column)
        if kind == "text":
            raise self._unfit(column, f"column {column.name!r} holds text; compare it with texts by = and !=")
        if kind == "something else":
            raise self._unfit(column, f"column {column.name!r} holds neither numbers nor text; convert it")
        return frame.numbers(self.data.table, column.name)

    def _is_text(self, term: Term) -> bool:
        return self._kind(term) == "text" if isinstance(term, Column) else isinstance(term, Text)

    def _kind(self, column: Column) -> str:
        """What a column holds: numbers, text, something else, or nothing."""
        try:
            check.columns_exist(f"variables of the rule {self.rule!r}", (column.name,), self.data.columns)
        except TacitaError as error:
            raise UnfitError(str(error)) from None
        some = self.data.table[column.name].drop_nulls().head(1).to_list()
        if not some:
            return "nothing"
        numeric = isinstance(some[0], Real | Decimal)
        return "text" if isinstance(some[0], str) else "numbers" if numeric else "something else"

    def _unfit(self, column: Column, what: str) -> UnfitError:
        return UnfitError(f"the rule {self.rule!r} does not fit the data, at character {column.at}: {what}.")


def _calculated(term: Sum, left: Floats, right: Floats) -> Floats:
    with np.errstate(all="ignore"):
        if term.sign == "+":
            found = left + right
        elif term.sign == "-":
            found = left - right
        elif term.sign == "*":
            found = left * right
        else:
            found = np.where(right == 0, np.nan, left / right)
    return np.where(np.isfinite(found), found, np.nan)


def _by_size(left: Floats, right: Floats, sign: str, tolerance: float, relative: float) -> Verdict:
    """Comparison of numbers; undecided where one is missing."""
    known = ~(np.isnan(left) | np.isnan(right))
    with np.errstate(invalid="ignore"):
        size = np.fmax(np.abs(left), np.abs(right))
        slack = tolerance + relative * size
        near = ROUNDING * size
        # An inequality that is strict is not met by equality, unless a tolerance is given.
        decided = {
            "=": np.abs(left - right) <= slack + near,
            "!=": np.abs(left - right) > slack + near,
            "<=": left <= right + slack + near,
            ">=": left >= right - slack - near,
            "<": left < right + slack,
            ">": left > right - slack,
        }[sign]
    return Verdict(known & decided, known & ~decided)
