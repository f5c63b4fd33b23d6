"""Digits: the beginning of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tacita.check import TacitaError
from tacita.parameters import AtLeast, AtMost, Doc
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import gathered, is_number, joined_labels
from tacita.protect.recode.ways.new_values import Labels, own_labels
from tacita.protect.recode.ways.way import Grouping, Source, Way

LONGEST_CODE = 100


@dataclass(frozen=True)
class Digits(Way):
    """The first digits or letters of codes, as of NACE, ISCO or postcodes; numbers stay numbers.

    >>> Digits(2, length=4).given()
    {'digits': 2, 'length': 4}
    """

    digits: Annotated[int, AtLeast(1), Doc("How many digits or letters of a code are kept, from the left.")]
    length: Annotated[
        int | None,
        AtLeast(1),
        AtMost(LONGEST_CODE),
        Doc("The full length of codes that are numbers, so that 110 of four digits means 0110."),
    ] = None
    labels: Labels = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None and self.length <= self.digits:
            raise TacitaError(f"length must be above digits; got length {self.length} and digits {self.digits}.")

    def grouping(self, source: Source) -> Grouping:
        """The beginning of every code."""
        plain, numeric = source.column.plain, source.numeric
        if numeric and self.length is None and len({len(as_text(value)) for value in plain}) > 1:
            raise TacitaError(
                f"column {source.name!r} has numbers of different lengths, whose leading zeros may be lost; pass "
                f"length=4 if its codes have four digits."
            )
        cut = Hierarchy.truncation([self.digits], digits=self.length, redact=False)
        cut.labels_at(plain, 1, source.name)
        codes = [code for code in source.code_list if is_number(code) == numeric]
        cuts = zip(codes, cut.own_labels(codes, 1), strict=True)
        becomes = {code: int(text) if numeric else text for code, text in cuts if text is not None}
        # A shorter code that the code list names is the heading of those that begin with it.
        known = {} if self.length else source.known.value_labels
        headings = {code: known[code] for code in becomes.values() if code in known}
        named = joined_labels(source.known, becomes) | headings | own_labels(self.labels, becomes.values())
        return Grouping(
            gathered([becomes[value] for value in plain], named, ascending=source.ascending and not numeric)
        )
