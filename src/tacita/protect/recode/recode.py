"""Recode: put values into larger groups, the same for all records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.mechanism import Mechanism
from tacita.protect.recode import ways
from tacita.protect.recode.argus_scheme import load_scheme, parse_scheme
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.intervals import exact
from tacita.protect.recode.regroup import Column, Groups, column_of, is_number, regrouped, text_of
from tacita.protect.step import Applied, CellStep, Context, present, some_names

WAYS = ("breaks", "width", "groups", "mapping", "scheme", "digits", "hierarchy", "dates")
"""The ways to recode, of which a step has one."""
BELONGS = {
    "start": ("width",),
    "bottom": ("width",),
    "top": ("width",),
    "closed": ("breaks", "width", "groups"),
    "into": ("breaks", "groups"),
    "length": ("digits",),
    "level": ("hierarchy",),
    "unmatched": ("mapping", "scheme"),
    "labels": ("mapping", "scheme", "digits", "hierarchy"),
}
"""Options that belong to some of the ways only."""
MOST_GROUPS = 10_000
LONGEST_CODE = 100


@dataclass(frozen=True)
class Recode(CellStep):
    """Put values into larger groups, in exactly one of eight ways.

    Whoever is rare by his exact age or place of birth is one of many by age group or country. A recoded value is true,
    only less is told. The same value becomes the same group in every record, no value is lost at either end, and
    missing values and codes declared missing or not applicable stay as they are.

    Intervals are closed on the left, 20-24 of whole numbers and [0, 10) of fractions, and make the variable ordinal.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"age": [0, 4, 5, 37, None], "job": ["2411", "2412", "9111", "9112", "2411"]})
    >>> plan = tc.Plan([Recode("age", width=5, top=30), Recode("job", digits=2)])
    >>> release = plan.apply(people, tc.Scenario(keys=["age", "job"]))
    >>> release.data.table["age"].to_list()
    ['0-4', '0-4', '5-9', '30+', None]
    >>> release.data.table["job"].to_list()
    ['24', '24', '91', '91', '24']
    """

    variables: tuple[str, ...]
    """The variables, each recoded by the same rule."""
    breaks: tuple[float, ...] = ()
    """Where one interval ends and the next begins: [18, 65] gives <18, 18-64 and 65+."""
    width: float | None = None
    """The width of intervals."""
    groups: int | None = None
    """The number of intervals with about as many records each."""
    mapping: Any = ()
    """New values by old ones, as {1: 1, 2: 1, 3: 2}."""
    scheme: Any = None
    """A scheme of mu-ARGUS, or the path of one (.grc)."""
    digits: int | None = None
    """How many digits or letters of a code are kept, from the left."""
    hierarchy: Any = None
    """A Hierarchy, or the path of a CSV file with one."""
    dates: str | None = None
    """The unit that is kept of a date: day, month, quarter, half-year, year or decade."""
    start: float | None = None
    """With width: where an interval begins; 0 unless given."""
    bottom: float | None = None
    """With width: smaller values are one group."""
    top: float | None = None
    """With width: values from here on are one group."""
    closed: str = "left"
    """Which of its limits belongs to an interval, the left or the right one."""
    into: Any = ()
    """With breaks or groups: what the groups are called, from the lowest on."""
    length: int | None = None
    """With digits: the full length of codes that are numbers, so that 110 of four digits means 0110."""
    level: int | None = None
    """With hierarchy: the level to go to; 1 unless given."""
    unmatched: str = "keep"
    """With mapping or scheme: what becomes of values without a target, 'keep' or 'error'."""
    labels: Any = ()
    """What the new codes mean, as {1: 'north'}; unless given, joined from the labels of the old ones."""
    as_codes: bool = False
    """Whether groups become whole numbers from 1 on with labels, in place of texts."""

    def __post_init__(self) -> None:
        self._set(variables=some_names("variables", self.variables))
        # An empty list is no parameter, and a plan file has none.
        self._set(**{each.name: each.default for each in fields(self)[1:] if _absent(getattr(self, each.name))})
        self._read_scheme()
        way = self._way
        self._check_options(way)
        checks: dict[str, Callable[[], None]] = {
            "breaks": self._check_breaks,
            "width": self._check_width,
            "groups": self._check_groups,
            "mapping": lambda: self._set(mapping=_pairs("mapping", self.mapping)),
            "scheme": self._check_scheme,
            "digits": self._check_digits,
            "hierarchy": self._check_hierarchy,
            "dates": lambda: self._set(dates=Hierarchy.dates([str(self.dates)]).units[0]),  # type: ignore[attr-defined]
        }
        checks[way]()
        if not _absent(self.labels):
            self._set(labels=_pairs("labels", self.labels, texts=True))
        if not isinstance(self.as_codes, bool):
            raise TacitaError(f"as_codes must be true or false; got {self.as_codes!r}.")

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def _way(self) -> str:
        given = [way for way in WAYS if not _absent(getattr(self, way))]
        if len(given) != 1:
            said = " and ".join(given) if given else "none of them"
            raise TacitaError(f"recode needs exactly one of {', '.join(WAYS[:-1])} or {WAYS[-1]}; got {said}.")
        return given[0]

    def _check_options(self, way: str) -> None:
        usual = {"closed": "left", "unmatched": "keep"}
        for name, its_ways in BELONGS.items():
            value = getattr(self, name)
            if not _absent(value) and value != usual.get(name) and way not in its_ways:
                raise TacitaError(f"{name} goes with {' or '.join(its_ways)}, not with {way}; leave it out.")
        check.one_of("closed", self.closed, ("left", "right"))
        check.one_of("unmatched", self.unmatched, ("keep", "error"))

    def _check_breaks(self) -> None:
        given = (self.breaks,) if is_number(self.breaks) else self.breaks
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise TacitaError(f"breaks must be ascending numbers, as in [18, 65]; got {given!r}.")
        breaks = tuple(_number("breaks", each) for each in given)
        if any(low >= high for low, high in pairwise(breaks)):
            raise TacitaError(f"breaks must be ascending numbers, as in [18, 65]; got {list(breaks)!r}.")
        self._set(breaks=breaks)
        self._check_into(len(breaks) + 1)

    def _check_into(self, groups: int) -> None:
        if _absent(self.into):
            return
        listed = isinstance(self.into, Iterable) and not isinstance(self.into, str | Mapping)
        names = tuple(check.python_number(each) for each in self.into) if listed else (self.into,)
        if not all(isinstance(each, str | int) and not isinstance(each, bool) for each in names):
            raise TacitaError(f"into must be texts or whole numbers; got {list(names)!r}.")
        if len(names) != groups or len(set(map(text_of, names))) != groups:
            raise TacitaError(f"into must name {groups} different groups, from the lowest on; got {list(names)!r}.")
        self._set(into=names)

    def _check_width(self) -> None:
        self._set(width=_number("width", self.width))
        if self.width is not None and self.width <= 0:
            raise TacitaError(f"width must be above 0; got {self.width!r}.")
        for name in ("start", "bottom", "top"):
            if getattr(self, name) is not None:
                self._set(**{name: _number(name, getattr(self, name))})
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise TacitaError(f"bottom must be below top; got {self.bottom!r} and {self.top!r}.")

    def _check_groups(self) -> None:
        self._set(groups=check.whole("groups", self.groups, 2))
        if (self.groups or 2) > MOST_GROUPS:
            raise TacitaError(f"groups must be at most {MOST_GROUPS:,}; got {self.groups!r}.")
        self._check_into(self.groups or 2)

    def _read_scheme(self) -> None:
        given = self.scheme
        named = isinstance(given, str) and given.lower().endswith(".grc") and "\n" not in given
        if named or isinstance(given, os.PathLike):
            text, labels = load_scheme(Path(str(given)))
            # A plan holds what it does, not where that once lay.
            self._set(scheme=text, labels=labels if _absent(self.labels) else self.labels)

    def _check_scheme(self) -> None:
        if not isinstance(self.scheme, str):
            raise TacitaError(f"scheme must be the text of a scheme or the path of one; got {self.scheme!r}.")
        codelist = parse_scheme(self.scheme).codelist
        if codelist is not None:
            raise TacitaError(
                f"line {codelist[0]} of the scheme names a code list, which is looked for beside a file; pass the path "
                f"of the scheme, or labels in place of the line."
            )

    def _check_digits(self) -> None:
        self._set(digits=check.whole("digits", self.digits, 1))
        if self.length is not None:
            self._set(length=check.whole("length", self.length, 1))
            if self.length > LONGEST_CODE:
                raise TacitaError(f"length must be at most {LONGEST_CODE}; got {self.length!r}.")
            if self.length <= (self.digits or 0):
                raise TacitaError(f"length must be above digits; got length {self.length} and digits {self.digits}.")

    def _check_hierarchy(self) -> None:
        name = self.variables[0]
        self._set(hierarchy=Hierarchy.of(self.hierarchy, name))
        level = 1 if self.level is None else check.whole("level", self.level, 1)
        self._set(level=self.hierarchy.check_level(level, name))

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with recoded variables."""
        fresh, known, remarks = {}, {}, []
        for at, name in enumerate(present(self, self.variables, data)):
            context.progress(at / len(self.variables), self.label)
            given = self._opened(data, name)
            column = column_of(given, name)
            if not column.plain:
                continue
            ascending = data.scale(name) in ("ordinal", "numeric")
            found = self._found(ways.Source(name, column, given.variable(name), ascending))
            if found.remark:
                remarks.append(f"{name!r}: {found.remark}")
            if found.groups is not None:
                _check_names(name, found.groups, column.declared, self.as_codes)
                fresh[name], recoded = regrouped(given, name, column, found.groups, as_codes=self.as_codes)
                known[name] = _apart(recoded, column, data.variable(name).not_applicable, fresh[name])
        recoding = (Mechanism("recoding", self.variables, {"way": self._way}),)
        return Applied(data.with_columns(fresh, known) if fresh else data, tuple(remarks), {}, recoding, recoding)

    def _opened(self, data: Data, name: str) -> Data:
        """The data, with codes for not applicable that a mapping or scheme names as values like any other."""
        known = data.variable(name)
        named = {as_text(old) for old, _ in self.mapping}
        if self._way == "scheme":
            named = {each.low for each in parse_scheme(self.scheme).ranges if each.low == each.high and each.low}
        left = tuple(code for code in known.not_applicable if code == "" or as_text(code) not in named)
        return replace(data, variables={**data.variables, name: replace(known, not_applicable=left)})

    def _found(self, source: ways.Source) -> ways.Found:
        right = self.closed == "right"
        found: dict[str, Callable[[], ways.Found]] = {
            "breaks": lambda: ways.by_breaks(source, self.breaks, right, self.into),
            "width": lambda: ways.by_width(source, self._widths(right)),
            "groups": lambda: ways.by_equal_counts(source, self.groups or 2, right, self.into),
            "mapping": lambda: ways.by_mapping(source, self.mapping, self.labels, self.unmatched),
            "scheme": lambda: ways.by_scheme(source, parse_scheme(self.scheme), self.labels, self.unmatched),
            "digits": lambda: ways.by_digits(source, self.digits or 1, self.length, self.labels),
            "hierarchy": lambda: ways.by_hierarchy(source, self.hierarchy, self.level or 1, self.labels),
            "dates": lambda: ways.by_dates(source, self.dates or ""),
        }
        return found[self._way]()

    def _widths(self, right: bool) -> ways.Widths:
        return ways.Widths(exact(self.width or 1), exact(self.start or 0), self.bottom, self.top, right)


def _apart(known: Variable, column: Column, codes: tuple[Any, ...], fresh: Any) -> Variable:
    """What is known of a recoded variable: values that only codes for not applicable became are such codes."""
    had = np.array([False, *(value in codes for value in column.values)])[column.codes]
    new = frame.coded(frame.table({"new": fresh}), "new")
    theirs = np.setdiff1d(new.codes[had], [0, *new.codes[~had]])
    found = dict.fromkeys([*known.not_applicable, *(new.values[at - 1] for at in theirs.tolist())])
    return replace(known, not_applicable=tuple(found))


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, tuple | list | Mapping) and not value)


def _number(what: str, value: Any) -> float:
    """A number, whole if it is: 65 and 65.0 make one label, and whole numbers stay exact."""
    number = check.python_number(value)
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    found = check.number(what, number)
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def _pairs(what: str, given: Any, *, texts: bool = False) -> ways.Pairs:
    """A mapping as pairs, which a plan file can hold: its tables have texts for names only."""
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        found = tuple((check.python_number(old), check.python_number(new)) for old, new in pairs)
    except (TypeError, ValueError):
        raise TacitaError(f"{what} must be old and new values, as in {{1: 'a', 2: 'a'}}; got {given!r}.") from None
    for old, new in found:
        if not isinstance(old, str | int | float | date) or not isinstance(new, str if texts else str | int | float):
            kinds = "a text for each code" if texts else "a text or a number for each value"
            raise TacitaError(f"{what} must have {kinds}; got {new!r} for {old!r}.")
    check.unique_names(f"values of {what}", [as_text(old) for old, _ in found])
    return found


def _check_names(name: str, groups: Groups, declared: tuple[Any, ...], as_codes: bool) -> None:
    """A group that nobody named must not be taken for a missing one."""
    if as_codes or groups.given:
        return
    clash = {text_of(value) for value in groups.values} & {text_of(code) for code in declared}
    if clash:
        raise TacitaError(
            f"{check.counted(len(clash), 'group')} of {name!r} would be called like a code declared missing or not "
            f"applicable; pass as_codes=True or declare other codes."
        )
