"""The ways to recode: from the different values of a variable to groups of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.data import Variable
from tacita.protect.recode import intervals
from tacita.protect.recode.argus_scheme import Range, Scheme, scheme_places, whole_codes
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import Column, Groups, gathered, is_declared, is_number, joined_labels

Pairs = tuple[tuple[Any, Any], ...]
"""Old and new values, or values and labels."""


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


class Found(NamedTuple):
    """The groups of a variable, and what there is to say."""

    groups: Groups | None
    """None: nothing changes."""
    remark: str = ""


def by_breaks(source: Source, breaks: Sequence[float], right: bool, into: tuple[Any, ...]) -> Found:
    """Intervals between breaks, those at the ends open."""
    return Found(_parted(source.numbers(), breaks, right, into))


def _parted(values: list[float], breaks: Sequence[float], right: bool, into: tuple[Any, ...]) -> Groups:
    whole = intervals.all_whole(values)
    place = intervals.cut(values, breaks, right=right, whole=whole)
    if into:
        return Groups(place, into, True)
    labels = intervals.break_labels(breaks, right=right, whole=whole)
    if whole and len({math.floor(limit) if right else math.ceil(limit) for limit in breaks}) < len(breaks):
        # Two breaks with no whole number between them: there is no interval to be named.
        used, place = np.unique(place, return_inverse=True)
        labels = [labels[at] for at in used]
    return Groups(place, tuple(labels), True)


@dataclass(frozen=True)
class Widths:
    """Intervals of equal width, with one group for what is below `bottom` and one for what is above `top`."""

    width: Fraction
    start: Fraction
    bottom: float | None
    top: float | None
    right: bool

    def place(self, value: float) -> int:
        """-1 below the bottom, 1 above the top, 0 between them."""
        if self.bottom is not None and (value <= self.bottom if self.right else value < self.bottom):
            return -1
        return int(self.top is not None and (value > self.top if self.right else value >= self.top))

    def label(self, k: int, whole: bool) -> str:
        """What the interval from start + k width on is called; bottom and top cut it short."""
        low = self.start + k * self.width
        high = low + self.width
        low = low if self.bottom is None else max(low, intervals.exact(self.bottom))
        high = high if self.top is None else min(high, intervals.exact(self.top))
        return intervals.interval_label(low, high, right=self.right, whole=whole)


def by_width(source: Source, widths: Widths) -> Found:
    """Intervals of equal width."""
    values = source.numbers()
    side = np.array([widths.place(value) for value in values], dtype=np.int64)
    inside = np.flatnonzero(side == 0)
    within = [values[at] for at in inside]
    source.finite(within, "set bottom and top, so that they are part of the groups at the ends")
    whole = intervals.all_whole(within)
    k = intervals.multiples(within, widths.width, widths.start, right=widths.right, whole=whole)
    different, where = np.unique(k, return_inverse=True)
    labels = [widths.label(int(each), whole) for each in different]
    place = np.where(side > 0, 1 + len(labels), 0)
    place[inside] = 1 + where
    bottom = "" if widths.bottom is None else intervals.bottom_label(intervals.exact(widths.bottom), right=widths.right)
    top = "" if widths.top is None else intervals.top_label(intervals.exact(widths.top), right=widths.right)
    used, place = np.unique(place, return_inverse=True)
    return Found(Groups(place, tuple([bottom, *labels, top][at] for at in used), True))


def by_equal_counts(source: Source, wanted: int, right: bool, into: tuple[Any, ...]) -> Found:
    """Intervals with about as many records each."""
    values = source.numbers()
    source.finite(values, "use breaks")
    breaks = intervals.equal_count_breaks(values, source.column.counts, wanted, right=right)
    if not breaks:
        raise TacitaError(f"column {source.name!r} has one value only and cannot be parted; leave it as it is.")
    few = len(breaks) + 1
    if few < wanted and into:
        raise TacitaError(
            f"column {source.name!r} can be parted into {few} groups only, but into names {wanted}; name fewer."
        )
    remark = f"{few} groups in place of {wanted}, since equal values stay together" if few < wanted else ""
    return Found(_parted(values, breaks, right, into), remark)


def by_mapping(source: Source, mapping: Pairs, labels: Pairs, unmatched: str) -> Found:
    """Every value to its target; values are found by their text, so that 7 in a plan file is 7 in the data."""
    by_text = {as_text(old): new for old, new in mapping}
    wrong = [code for code in source.declared if as_text(code) in by_text]
    if wrong:
        raise TacitaError(
            f"mapping must leave codes of {source.name!r} alone that are declared missing; got {check.quoted(wrong)}."
        )
    targets = {code: by_text.get(as_text(code)) for code in source.code_list}
    return _targeted(source, targets, labels, unmatched, "mapping")


def by_scheme(source: Source, scheme: Scheme, labels: Pairs, unmatched: str) -> Found:
    """Every value to the code that the scheme gives it."""
    numeric = source.numeric
    _check_not_declared(source, scheme.ranges)
    codes = [code for code in source.code_list if not numeric or is_number(code)]
    places = scheme_places(
        scheme, codes if numeric else [as_text(code) for code in codes], source.name, numeric=numeric
    )
    new = list(dict.fromkeys([*(each.target for each in scheme.ranges), *scheme.missing]))
    whole = whole_codes(new) if numeric else None
    fresh: dict[str, Any] = dict(zip(new, whole or new, strict=True))
    targets = {code: None if at is None else fresh[at.target] for code, at in zip(codes, places, strict=True)}
    found = _targeted(source, targets, labels, unmatched, "scheme")
    if found.groups is None or not scheme.missing:
        return found
    return Found(
        found.groups._replace(declared=_new_missing(source, [fresh[code] for code in scheme.missing])), found.remark
    )


def _check_not_declared(source: Source, ranges: Iterable[Range]) -> None:
    """No line makes a value of a missing one."""
    declared = {as_text(code) for code in source.declared}
    for each in ranges:
        if each.low is not None and each.low == each.high and each.low in declared:
            raise TacitaError(
                f"line {each.line} of the scheme recodes a code of {source.name!r} that is declared missing; take it "
                f"out."
            )


def _new_missing(source: Source, codes: list[Any]) -> dict[Any, Any]:
    """The first code declared missing becomes the first new one, the second the second, all others the last."""
    old = [code for code in source.declared if code not in source.known.not_applicable]
    return {code: codes[min(at, len(codes) - 1)] for at, code in enumerate(old)}


def _targeted(source: Source, targets: Mapping[Any, Any], labels: Pairs, unmatched: str, way: str) -> Found:
    """Groups of values with the same target; a value without one stays, or is an error."""
    plain = source.column.plain
    alone = [at for at, value in enumerate(plain) if targets[value] is None]
    remark = ""
    if alone:
        values = check.counted(len(alone), "value")
        records = check.counted(int(source.column.counts[alone].sum()), "record")
        if unmatched == "error":
            raise TacitaError(f"column {source.name!r} has {values} in {records} without a target; complete the {way}.")
        remark = f"{values} in {records} without a target {'stays' if len(alone) == 1 else 'stay'}"
    if len(alone) == len(plain):
        return Found(None, remark)
    becomes = {code: code if target is None else target for code, target in targets.items()}
    # A text that replaces a number speaks for itself.
    alike = {code: new for code, new in becomes.items() if is_number(code) == is_number(new)}
    named = joined_labels(source.known, alike) | own_labels(labels, becomes.values())
    groups = gathered([becomes[value] for value in plain], named, ascending=source.ascending)
    return Found(groups._replace(given=True), remark)


def own_labels(labels: Pairs, values: Iterable[Any]) -> dict[Any, str]:
    """The labels that a step gives, of the values that there are."""
    by_text = {as_text(value): value for value in values}
    return {by_text[as_text(code)]: text for code, text in labels if as_text(code) in by_text}


def by_digits(source: Source, digits: int, length: int | None, labels: Pairs) -> Found:
    """The first digits or letters of codes; numbers stay numbers."""
    plain, numeric = source.column.plain, source.numeric
    if numeric and length is None and len({len(as_text(value)) for value in plain}) > 1:
        raise TacitaError(
            f"column {source.name!r} has numbers of different lengths, whose leading zeros may be lost; pass length=4 "
            f"if its codes have four digits."
        )
    cut = Hierarchy.truncation([digits], digits=length, redact=False)
    cut.labels_at(plain, 1, source.name)
    codes = [code for code in source.code_list if is_number(code) == numeric]
    cuts = zip(codes, cut.own_labels(codes, 1), strict=True)
    becomes = {code: int(text) if numeric else text for code, text in cuts if text is not None}
    # A shorter code that the code list names is the heading of those that begin with it.
    known = {} if length else source.known.value_labels
    headings = {code: known[code] for code in becomes.values() if code in known}
    named = joined_labels(source.known, becomes) | headings | own_labels(labels, becomes.values())
    return Found(gathered([becomes[value] for value in plain], named, ascending=source.ascending and not numeric))


def by_hierarchy(source: Source, hierarchy: Hierarchy, level: int, labels: Pairs) -> Found:
    """The groups of a level of a hierarchy."""
    targets = hierarchy.labels_at(source.column.plain, level, source.name)
    return Found(gathered(targets, own_labels(labels, targets), ascending=source.ascending))


def by_dates(source: Source, unit: str) -> Found:
    """The unit that a date lies in; years are whole numbers."""
    targets: list[Any] = Hierarchy.dates([unit], redact=False).labels_at(source.column.plain, 1, source.name)
    if unit == "year":
        targets = [int(year) for year in targets]
    different = {target: place for place, target in enumerate(sorted(set(targets)))}
    place = np.array([different[target] for target in targets], dtype=np.int64)
    return Found(Groups(place, tuple(different), True))
