"""Parts of a file put together again: no record, no label and no missing value is lost.

A step that was applied to some records, or to each stratum apart, may have made texts of numbers there, other labels,
or other codes for missing. Where parts differ in kind, all become texts; where the same code would mean two things,
that is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.recode.regroup import is_declared, text_of


@dataclass(frozen=True, eq=False)
class Side:
    """One column of one part."""

    series: Any
    known: Variable

    @property
    def values(self) -> tuple[Any, ...]:
        """The different values that occur."""
        return frame.coded(frame.table({"value": self.series}), "value").values

    def as_texts(self) -> Side:
        """The same as texts: 7 becomes '7', with its label and what it stands for."""
        codes, values = frame.coded(frame.table({"value": self.series}), "value")
        known = self.known
        listed = (value for value in values if known.is_missing(value))
        renamed = replace(
            known,
            value_labels={text_of(code): label for code, label in known.value_labels.items()},
            missing=tuple(dict.fromkeys(text_of(code) for code in (*known.missing, *listed))),
            # Of texts no range can tell which are missing.
            missing_ranges=(),
            not_applicable=tuple(text_of(code) for code in known.not_applicable),
            order=tuple(text_of(value) for value in known.order),
        )
        texts = frame.table({"value": (codes, tuple(map(text_of, values)))})["value"]
        return Side(texts.cast(str), renamed)


def put_together(data: Data, parts: Sequence[Data]) -> Data:
    """The data with the values of the parts, in the order of the data; records in no part are gone.

    >>> import polars as pl
    >>> data = Data.of(pl.DataFrame({"age": [31, 34, None, 80]}))
    >>> old = data.take(np.array([3])).with_columns({"age": ["80+"]})
    >>> put_together(data, [old, data.take(np.array([0, 1, 2]))]).table["age"].to_list()
    ['31', '34', None, '80+']
    """
    records = np.concatenate([part.record for part in parts])
    rows, where = _places(data, records)
    base = data if len(rows) == len(data) else data.take(rows)
    names = list(dict.fromkeys([*data.columns, *(name for part in parts for name in part.columns)]))
    fresh: dict[str, Any] = {}
    known: dict[str, Variable] = {}
    for name in names:
        sides = [_side(part, name, data) for part in parts]
        series, variable = _one_column(name, sides)
        series = series[where]
        same = name in base.columns and series.dtype == base.table[name].dtype
        if not same or frame.different(base.table[name], series).any():
            fresh[name] = series
        if variable != base.variable(name):
            known[name] = variable
    made = base.with_columns(fresh, known) if fresh else replace(base, variables={**base.variables, **known})
    return made.with_perturbed(name for part in parts for name in part.perturbed)


def _places(data: Data, records: Ints) -> tuple[Ints, Ints]:
    """The rows of the data that are in some part, and where they stand among the records of all parts."""
    if len(np.unique(records)) < len(records) or not np.isin(records, data.record).all():
        raise TacitaError("a step that adds records cannot be limited by only or strata; leave them out.")
    order = np.argsort(records, kind="stable")
    rows = np.flatnonzero(np.isin(data.record, records))
    return rows, order[np.searchsorted(records[order], data.record[rows])]


def _side(part: Data, name: str, data: Data) -> Side:
    if name in part.columns:
        return Side(part.table[name], part.variable(name))
    if name in data.columns:
        raise TacitaError("a step that removes variables cannot be limited by only or strata; leave them out.")
    # A variable that is new in another part.
    return Side(frame.table({name: [None] * len(part)})[name], Variable())


def _one_column(name: str, sides: list[Side]) -> tuple[Any, Variable]:
    """The columns of all parts under each other, and what is known of them together."""
    sides = _one_kind(sides)
    variable = _known_together(name, sides)
    return frame.stacked([frame.table({name: side.series}) for side in sides])[name], variable


def _one_kind(sides: list[Side]) -> list[Side]:
    """The parts in one type: one of theirs that holds all values exactly, else texts."""
    kinds = list(dict.fromkeys(side.series.dtype for side in sides))
    filled = [side.series.dtype for side in sides if side.series.null_count() < len(side.series)]
    if len(kinds) == 1:
        return sides
    for kind in dict.fromkeys(filled):
        cast = [_fitted(side.series, kind) for side in sides]
        if all(series is not None for series in cast):
            return [replace(side, series=series) for side, series in zip(sides, cast, strict=True)]
    return [side.as_texts() for side in sides]


def _fitted(series: Any, kind: Any) -> Any:
    """The column in another type of the same sort; None where a value does not fit."""
    if series.dtype == kind:
        return series
    if series.null_count() == len(series):
        return series.cast(kind, strict=False)
    if not (series.dtype.is_numeric() and kind.is_numeric()):
        return None
    fitted = series.cast(kind, strict=False)
    kept = fitted.null_count() == series.null_count() and not frame.different(series, fitted).any()
    return fitted if kept else None


def _known_together(name: str, sides: list[Side]) -> Variable:
    """What is known of the variable in all parts; a code that means two things is an error."""
    first = sides[0].known
    if all(side.known == first for side in sides):
        return first
    known = [side.known for side in sides]
    alike = all(each.order == first.order and each.scale == first.scale for each in known)
    together = Variable(
        label=next((each.label for each in known if each.label), ""),
        value_labels=_labels_together(name, sides),
        missing=tuple(dict.fromkeys(code for each in known for code in each.missing)),
        missing_ranges=tuple(dict.fromkeys(ends for each in known for ends in each.missing_ranges)),
        not_applicable=tuple(dict.fromkeys(code for each in known for code in each.not_applicable)),
        # Values beside groups of them have no order.
        scale=first.scale if alike else "nominal",
        order=first.order if alike else (),
    )
    for side in sides:
        _check_meanings(name, [value for value in side.values if _role(side.known, value) != _role(together, value)])
    return together


def _role(known: Variable, value: Any) -> tuple[bool, bool]:
    """Whether a value is a code for missing or not applicable, and which."""
    return is_declared(known, value), value in known.not_applicable


def _labels_together(name: str, sides: list[Side]) -> dict[Any, str]:
    meanings: dict[Any, str | None] = {}
    twice = set()
    for side in sides:
        for value in side.values:
            label = side.known.value_labels.get(value)
            if meanings.setdefault(value, label) != label:
                twice.add(value)
    _check_meanings(name, twice)
    labels = {value: label for value, label in meanings.items() if label is not None}
    for side in sides:
        labels |= {code: label for code, label in side.known.value_labels.items() if code not in meanings | labels}
    return labels


def _check_meanings(name: str, codes: Any) -> None:
    if codes:
        raise TacitaError(
            f"{check.counted(len(codes), 'code')} of {name!r} would mean one thing in the records that the step is "
            f"for and another in the rest; recode to codes that no record has."
        )
