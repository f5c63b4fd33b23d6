"""Recode: put values into larger groups, the same for all records."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.declared import plain_value
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, NotEmpty, Shape
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import Column, Groups, column_of, gathered, regrouped, text_of, with_blanks_as
from tacita.protect.recode.ways import WAYS, Way
from tacita.protect.recode.ways.way import Source, absent
from tacita.protect.step import Applied, CellStep, Context, present


def way_of(options: Mapping[str, Any]) -> Way:
    """The one way that options are of; an option that belongs to another way is an error.

    >>> way_of({"width": 5, "top": 80})
    Width(width=5, start=0, bottom=None, top=80, closed='left')
    """
    values = {name: plain_value(f"{name} of recode", value) for name, value in options.items()}
    given = {name: value for name, value in values.items() if not absent(value)}
    leading = [name for name in WAYS if name in given]
    if len(leading) != 1:
        said = " and ".join(leading) if leading else "none of them"
        *others, last = WAYS
        raise TacitaError(f"recode needs exactly one of {', '.join(others)} or {last}; got {said}.")
    way = leading[0]
    own = {each.name for each in WAYS[way].parameters()}
    for name in [name for name in given if name not in own]:
        owners = _owners(name)
        if any(given[name] != default for default in owners.values()):
            raise TacitaError(f"{name} goes with {' or '.join(owners)}, not with {way}; leave it out.")
        # What it would be anyway says nothing.
        del given[name]
    return WAYS[way](**given)


def _owners(option: str) -> dict[str, Any]:
    """The names of the ways that have an option, with its default there."""
    return {
        name: parameter.default
        for name, way in WAYS.items()
        for parameter in way.parameters()
        if parameter.name == option
    }


def _checked_way(what: str, given: Any) -> Way:
    if not isinstance(given, Way):
        raise TacitaError(
            f"{what} must be a way to recode, as Width(5), or give its parameters, as width=5; got "
            f"{type(given).__name__}."
        )
    return given


@dataclass(frozen=True, init=False)
class Recode(CellStep):
    """Put values into larger groups, in exactly one of ten ways.

    Whoever is rare by his exact age or place of birth is one of many by age group or country. A recoded value is true,
    only less is told. The same value becomes the same group in every record, no value is lost at either end, and
    missing values and codes declared missing or not applicable stay as they are.

    The way is given by its parameters, `Recode("age", width=5, top=80)`, or as an object,
    `Recode("age", Width(5, top=80))` with `Width` of `tacita.protect.recode.ways`. `Recode.ways` has them all by name:
    breaks, width, groups, quantiles, log_groups, mapping, scheme, digits, hierarchy and dates;
    `Recode.ways["width"].parameters()` lists the parameters of one.

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

    ways: ClassVar[Mapping[str, type[Way]]] = WAYS

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, each recoded by the same rule.")]
    way: Annotated[
        Way, Shape("way to recode", _checked_way), Doc("The way, if its parameters are not given by themselves.")
    ]
    as_codes: Annotated[bool, Doc("Whether groups become whole numbers from 1 on with labels, in place of texts.")] = (
        False
    )

    def __init__(
        self,
        variables: Iterable[str] | str,
        way: Way | None = None,
        *,
        as_codes: bool = False,
        label: str = "",
        only: Any = None,
        strata: Iterable[str] | str = (),
        **options: Any,
    ) -> None:
        """A way, or the parameters of one by themselves; both: the parameters in place of the way's own."""
        self.check_names(options)
        if options or way is None:
            before = {} if way is None else _checked_way("way", way).given()
            way = way_of(before | options)
        given = {"variables": variables, "way": way, "as_codes": as_codes, "only": only, "strata": strata}
        for name, value in (given | {"label": label}).items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    @classmethod
    def field_names(cls) -> list[str]:
        """The fields, with the parameters of all ways in place of the way."""
        options = dict.fromkeys(each.name for way in WAYS.values() for each in way.parameters())
        return ["variables", *options, *(name for name in super().field_names() if name not in ("variables", "way"))]

    @classmethod
    def _required(cls) -> str:
        return check.quoted(["variables"])

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, with the parameters of the way in place of the way."""
        out: dict[str, Any] = {}
        for name, value in super().to_dict().items():
            out |= self.way.to_dict() if name == "way" else {name: value}
        return out

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with recoded variables."""
        fresh, known, remarks = {}, {}, []
        for at, name in enumerate(present(self, self.variables, data)):
            context.progress(at / len(self.variables), self.label)
            given, column, codes = self._opened(data, name)
            if not column.plain:
                continue
            ascending = data.scale(name) in ("ordinal", "numeric")
            found = self.way.grouping(Source(name, column, given.variable(name), ascending))
            if found.remark:
                remarks.append(f"{name!r}: {found.remark}")
            groups = found.groups
            if groups is None and self._code_for_blanks(data, name) is not None:
                groups = gathered(column.plain, {}, ascending=ascending)._replace(given=True)
            if groups is not None:
                _check_names(name, groups, column.declared, self.as_codes)
                fresh[name], recoded = regrouped(given, name, column, groups, as_codes=self.as_codes)
                known[name] = _apart(recoded, column, codes, fresh[name])
        recoding = (Mechanism("recoding", self.variables, {"way": self.way.name}),)
        return Applied(data.with_columns(fresh, known) if fresh else data, tuple(remarks), {}, recoding, recoding)

    @property
    def adds_missing(self) -> bool:
        """A mapping may give a code to blanks that stand for not applicable."""
        return self.way.code_for_blanks is not None

    def _code_for_blanks(self, data: Data, name: str) -> Any:
        """The code that blanks get; None where none is given, or where a blank is missing and so has no value."""
        code = self.way.code_for_blanks
        return code if code is not None and "" in data.variable(name).not_applicable else None

    def _opened(self, data: Data, name: str) -> tuple[Data, Column, tuple[Any, ...]]:
        """The data, with codes for not applicable that the way names as values like any other; the values, blanks that
        get a code with it; and all codes for not applicable."""
        known, named, blank = data.variable(name), self.way.named_codes, self._code_for_blanks(data, name)
        codes = known.not_applicable
        if blank is not None:
            codes = tuple(dict.fromkeys(blank if code == "" else code for code in codes))
        left = tuple(code for code in codes if code in ("", blank) or as_text(code) not in named)
        opened = replace(data, variables={**data.variables, name: replace(known, not_applicable=left)})
        column = column_of(opened, name)
        return opened, column if blank is None else with_blanks_as(column, blank), codes


def _signature() -> inspect.Signature:
    """How a recoding is called, with the parameters of all ways: notebooks and consoles offer them."""
    *own, options = list(inspect.signature(Recode.__init__).parameters.values())[1:]
    assert options.kind is options.VAR_KEYWORD
    every = dict.fromkeys(each.name for way in WAYS.values() for each in way.parameters())
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in every]
    return inspect.Signature([*own, *named])


Recode.__signature__ = _signature()  # type: ignore[attr-defined]


def _apart(known: Variable, column: Column, codes: tuple[Any, ...], fresh: Any) -> Variable:
    """What is known of a recoded variable: values that only codes for not applicable became are such codes."""
    had = np.array([False, *(value in codes for value in column.values)])[column.codes]
    new = frame.coded(frame.table({"new": fresh}), "new")
    theirs = np.setdiff1d(new.codes[had], [0, *new.codes[~had]])
    found = dict.fromkeys([*known.not_applicable, *(new.values[at - 1] for at in theirs.tolist())])
    return replace(known, not_applicable=tuple(found))


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
