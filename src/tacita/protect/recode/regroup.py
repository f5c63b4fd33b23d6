"""Values that become other values: what the column, its labels, its missing codes and its order become.

Everything works on the different values of a column, not on its records. Codes declared missing or not applicable are
no values in this sense: they stay, and stay declared, also where numbers become texts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Codes, Ints
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.variable import compacted
from tacita.protect.recode.hierarchies.table import as_text

MOST_LABELS = 5
"""So many labels are joined; the rest are counted."""
LAST_CODE = 1_000_000
EXACT = 2**53
"""Up to this every whole number is a float."""


class Column(NamedTuple):
    """The different values of a column."""

    codes: Codes
    """By record, 0 where there is no value."""
    values: tuple[Any, ...]
    """What the codes stand for: in ascending order, or in the order that is declared."""
    declared: tuple[Any, ...]
    """Those of them that are declared missing or not applicable: they are never recoded."""
    repeats: Ints | None = None
    """How many records each row stands for, where data are condensed."""

    @property
    def plain(self) -> tuple[Any, ...]:
        """The values that may be recoded."""
        return tuple(value for value in self.values if value not in self.declared) if self.declared else self.values

    @property
    def counts(self) -> Ints:
        """How many records have each of the values that may be recoded."""
        found = np.bincount(self.codes, self.repeats, len(self.values) + 1)[1:].astype(np.int64)
        if not self.declared:
            return found
        return found[[value not in self.declared for value in self.values]]


class Groups(NamedTuple):
    """What the values that may be recoded become."""

    place: Ints
    """By value: the place of its group in `values`."""
    values: tuple[Any, ...]
    """The new values, all different."""
    ordered: bool
    """Whether they ascend in a way that means something."""
    labels: Mapping[Any, str] = MappingProxyType({})
    """Value labels of the new values."""
    declared: Mapping[Any, Any] = MappingProxyType({})
    """New codes for some that are declared missing."""
    given: bool = False
    """Whether the new values are named one by one, so that one may be a code declared missing."""


def is_declared(known: Variable, value: Any) -> bool:
    """Whether a value is a code for missing or not applicable."""
    return value in known.not_applicable or known.is_missing(value)


def column_of(data: Data, name: str) -> Column:
    """The different values of a column."""
    codes, values = frame.coded(data.table, name)
    known = data.variable(name)
    declared: tuple[Any, ...] = ()
    if known.missing or known.missing_ranges or known.not_applicable:
        declared = tuple(value for value in values if is_declared(known, value))
    if known.order and values:
        place = {value: at for at, value in enumerate(known.order)}
        order = sorted(range(len(values)), key=lambda at: place.get(values[at], len(place)))
        lookup = np.zeros(len(values) + 1, dtype=np.uint32)
        lookup[np.array(order) + 1] = np.arange(1, len(values) + 1, dtype=np.uint32)
        codes, values = lookup[codes], tuple(values[at] for at in order)
    return Column(codes, values, declared, None if data.condensed is None else data.condensed.records)


def with_blanks_as(column: Column, code: Any) -> Column:
    """The same with a code in place of blanks, declared like theirs: they are not applicable, not missing.

    The empty text is a blank like a cell without a value.

    >>> with_blanks_as(Column(np.array([1, 0, 2], dtype=np.uint32), ("a", ""), ()), "none")
    Column(codes=array([1, 2, 2], dtype=uint32), values=('a', 'none'), declared=('none',), repeats=None)
    """
    codes, values = column.codes, column.values
    if "" in values:
        codes, values = compacted(np.where(codes == values.index("") + 1, np.uint32(0), codes), values)
    values = values if code in values else (*values, code)
    codes = np.where(codes == 0, np.uint32(values.index(code) + 1), codes)
    declared = (each for each in column.declared if each != "")
    return Column(codes, values, tuple(dict.fromkeys([*declared, code])), column.repeats)


def text_of(value: Any) -> str:
    """A value as text: texts as they are, 7 for 7.0."""
    return value if isinstance(value, str) else as_text(value)


def is_number(value: Any) -> bool:
    """Whether a value is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def gathered(targets: Sequence[Any], labels: Mapping[Any, str], *, ascending: bool) -> Groups:
    """Groups of values that have the same target; `ascending`: the values, as they stand, mean an order.

    The groups mean an order too if each of them is one stretch of it.

    >>> gathered(["low", "low", "high"], {}, ascending=True)[:3]
    (array([0, 0, 1]), ('low', 'high'), True)
    >>> gathered(["odd", "even", "odd"], {}, ascending=True).ordered
    False
    """
    places: dict[Any, int] = {}
    place = np.array([places.setdefault(target, len(places)) for target in targets], dtype=np.int64)
    stretches = 1 + int((np.diff(place) != 0).sum())
    return Groups(place, tuple(places), ascending and stretches == len(places), labels)


def joined_labels(known: Variable, target_of: Mapping[Any, Any]) -> dict[Any, str]:
    """Labels of new codes: those of the old codes that become it, whether or not a record has them.

    A new code for which a code without a label is among the old ones gets none: it would tell half of what it means.

    >>> joined_labels(Variable(value_labels={3: "widowed", 4: "divorced", 5: "married"}), {3: 3, 4: 3, 5: 5})
    {3: 'widowed / divorced', 5: 'married'}
    """
    parts: dict[Any, list[str]] = {}
    nameless = {new for code, new in target_of.items() if code not in known.value_labels}
    for code, label in known.value_labels.items():
        if code in target_of and not is_declared(known, code):
            parts.setdefault(target_of[code], []).append(label)
    return {code: _joined(list(dict.fromkeys(labels))) for code, labels in parts.items() if code not in nameless}


def _joined(labels: list[str]) -> str:
    more = len(labels) - MOST_LABELS
    return " / ".join(labels[:MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")


def free_codes(known: Variable, taken: Collection[Any], many: int, first: int = 1) -> list[int]:
    """Whole numbers from `first` on that are not taken, and not declared missing or not applicable."""
    found: list[int] = []
    for code in count(first):
        if len(found) == many:
            break
        if code > max(first, 0) + LAST_CODE + many:
            raise TacitaError("no whole numbers are left that are not declared missing; declare fewer codes missing.")
        if code not in taken and not is_declared(known, code):
            found.append(code)
    return found


def regrouped(data: Data, name: str, column: Column, groups: Groups, *, as_codes: bool = False) -> tuple[Any, Variable]:
    """The new column and what is known of it.

    With `as_codes` the new values are whole numbers from 1, and what they were called becomes their labels.
    """
    known = data.variable(name)
    kept = {code: groups.declared.get(code, code) for code in column.declared}
    labels = dict(groups.labels)
    ranges = True
    values: list[Any] = list(groups.values)
    if as_codes and not all(map(is_number, values)):
        values, kept, labels = _as_codes(known, groups, kept)
    elif not _one_kind([*values, *kept.values()]):
        # Of texts no range can tell which are missing.
        ranges = False
        values = [text_of(value) for value in values]
        kept = {code: text_of(new) for code, new in kept.items()}
        labels = {text_of(code): label for code, label in labels.items()}
    renamed = {code: new for code, new in kept.items() if code != new or not ranges}
    others = [*known.missing, *known.not_applicable]
    renamed |= {code: text_of(code) for code in others if not ranges and code not in renamed}
    variable = _known(known, renamed, ranges, values, groups.ordered, labels)
    final = {value: place for place, value in enumerate(dict.fromkeys([*values, *kept.values()]), start=1)}
    lookup = np.zeros(len(column.values) + 1, dtype=np.uint32)
    new_places = np.array([final[value] for value in values], dtype=np.uint32)[groups.place]
    if column.declared:
        stays = np.array([value in kept for value in column.values])
        lookup[1:][stays] = [final[kept[value]] for value in column.values if value in kept]
        lookup[1:][~stays] = new_places
    else:
        lookup[1:] = new_places
    return _typed(data, name, lookup[column.codes], tuple(final), variable), variable


def _as_codes(
    known: Variable, groups: Groups, kept: dict[Any, Any]
) -> tuple[list[Any], dict[Any, Any], dict[Any, str]]:
    """Whole numbers for the groups and for declared codes that are texts, and what they are called."""
    words = [code for code, new in kept.items() if not is_number(new)]
    taken = [new for new in kept.values() if is_number(new)]
    codes = free_codes(known, taken, len(groups.values) + len(words))
    values, rest = codes[: len(groups.values)], codes[len(groups.values) :]
    fresh = dict(zip(words, rest, strict=True))
    labels = {code: groups.labels.get(value, text_of(value)) for code, value in zip(values, groups.values, strict=True)}
    labels |= {code: known.value_labels.get(word, text_of(word)) for word, code in fresh.items()}
    return values, kept | fresh, labels


def _one_kind(values: Iterable[Any]) -> bool:
    """Whether values can stand in one column as they are."""
    return len({float if is_number(value) else type(value) for value in values}) <= 1


def _known(
    known: Variable, renamed: Mapping[Any, Any], ranges: bool, values: list[Any], ordered: bool, labels: dict[Any, str]
) -> Variable:
    """What is known of the new column; without `ranges` the codes that lay in one are listed."""
    listed = [code for code in renamed if known.is_missing(code) and code not in known.not_applicable]
    missing = dict.fromkeys(renamed.get(code, code) for code in [*known.missing, *listed])
    not_applicable = tuple(dict.fromkeys(renamed.get(code, code) for code in known.not_applicable))
    still = {renamed.get(code, code): text for code, text in known.value_labels.items() if is_declared(known, code)}
    order: tuple[Any, ...] = ()
    if ordered and not (all(map(is_number, values)) and values == sorted(values)):
        order = tuple(dict.fromkeys([*values, *(code for code in not_applicable if code != "")]))
    return replace(
        known,
        value_labels={**labels, **still},
        missing=tuple(missing),
        missing_ranges=known.missing_ranges if ranges else (),
        not_applicable=not_applicable,
        scale="ordinal" if ordered else None if known.scale is None else "nominal",
        order=order,
    )


def _typed(data: Data, name: str, codes: Codes, values: tuple[Any, ...], variable: Variable) -> Any:
    """The column, in the type that it had if the new values fit it."""
    if any(isinstance(value, float) for value in values):
        if any(isinstance(value, int) and abs(value) > EXACT for value in values):
            raise TacitaError(
                f"column {name!r} holds whole numbers beyond 2^53, which cannot stand beside fractions; recode to "
                f"whole numbers or texts."
            )
        values = tuple(float(value) for value in values)
    series = frame.table({name: (codes, values)})[name]
    given = data.table[name].dtype
    if frame.is_ordered(data.table, name) and variable.order:
        # A list of ordered categories stays one: Enum of what there is now.
        rest = [value for value in values if value not in variable.order]
        return series.cast(type(given)([*variable.order, *rest]))  # type: ignore[call-arg]
    whole = frame.is_whole(data.table, name) and bool(series.dtype.is_integer())
    if whole or (frame.is_float(data.table, name) and series.dtype.is_numeric()):
        fitted = series.cast(given, strict=False)
        return fitted if fitted.null_count() == series.null_count() else series
    return series
