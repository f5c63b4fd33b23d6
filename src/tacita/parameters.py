"""Parameters declared once, as data: their type, their constraints, and one line of documentation.

    k: Annotated[int, AtLeast(2), Doc("Records that must share a key.")] = 3

Checks, the help of the command line, tables of the documentation and the forms of the app are read from there.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from tacita import check
from tacita.check import TacitaError

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that has none."""
NOT_OPTIONS = ("data", "scenario", "original", "released", "progress")
"""Parameters of a measure that are not its options."""


@dataclass(frozen=True)
class Doc:
    """What a parameter means, in one line."""

    text: str


@dataclass(frozen=True)
class AtLeast:
    """A number of at least `least`."""

    least: float

    def check(self, what: str, value: float) -> None:
        """An error for a smaller number."""
        if value < self.least:
            raise TacitaError(f"{what} must be at least {self.least:g}; got {check.given(value)}.")

    def __str__(self) -> str:
        return f"at least {self.least:g}"


@dataclass(frozen=True)
class AtMost:
    """A number of at most `most`."""

    most: float

    def check(self, what: str, value: float) -> None:
        """An error for a greater number."""
        if value > self.most:
            raise TacitaError(f"{what} must be at most {self.most:,g}; got {check.given(value)}.")

    def __str__(self) -> str:
        return f"at most {self.most:,g}"


@dataclass(frozen=True)
class Above:
    """A number above `limit`."""

    limit: float

    def check(self, what: str, value: float) -> None:
        """An error for a number that is not greater."""
        if value <= self.limit:
            raise TacitaError(f"{what} must be above {self.limit:g}; got {check.given(value)}.")

    def __str__(self) -> str:
        return f"above {self.limit:g}"


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1, open or closed at either end."""

    zero: bool = True
    one: bool = True

    def check(self, what: str, value: float) -> None:
        """An error for a number outside the range."""
        check.share(what, value, zero=self.zero, one=self.one)

    def __str__(self) -> str:
        return f"in {'[0' if self.zero else '(0'}, {'1]' if self.one else '1)'}"


@dataclass(frozen=True)
class Percentage:
    """A number above 0, at most 100."""

    def check(self, what: str, value: float) -> None:
        """An error for a number outside the range."""
        if not 0 < value <= 100:
            raise TacitaError(f"{what} must be a percentage above 0, at most 100; got {check.given(value)}.")

    def __str__(self) -> str:
        return "in (0, 100], a percentage"


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    choices: tuple[str, ...]

    def check(self, what: str, value: Any) -> None:
        """An error for any other word."""
        check.one_of(what, value, self.choices)

    def __str__(self) -> str:
        return " or ".join(f"`{choice}`" for choice in self.choices)


@dataclass(frozen=True)
class NotEmpty:
    """At least one name."""

    def check(self, what: str, value: tuple[str, ...]) -> None:
        """An error if there is no name."""
        if not value:
            raise TacitaError(f"{what} must name at least one variable.")

    def __str__(self) -> str:
        return "(at least one)"


Constraint = AtLeast | AtMost | Above | Share | Percentage | OneOf | NotEmpty


@dataclass(frozen=True)
class Shape:
    """What a parameter must be if its type does not say it: in words, and as a function.

    The function takes what the parameter is called and the value given; it returns a plain value, or raises one
    sentence. It has a name: a lambda in an annotation does not see its module.
    """

    words: str
    read: Callable[[str, Any], Any]


EXACT_NUMBER = Shape("number", check.exact_number)
"""A number that stays whole if it is, whatever its size."""
COLUMN = Shape("name of a variable", check.column_name)
"""The name of one column."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a step, a measure or a declaration."""

    name: str
    kind: str
    """What it is: `whole number`, `number`, `text`, `true or false`, `names`, `one of`, `table` or `any`."""
    optional: bool
    """Whether None is a value."""
    default: Any
    """Its default; `REQUIRED` if it has none."""
    constraints: tuple[Constraint, ...]
    doc: str
    """One line of documentation."""
    shape: Shape | None = None
    """What it must be if its kind does not say it."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words to choose from, if it is one of a few."""
        return next((each.choices for each in self.constraints if isinstance(each, OneOf)), ())

    @property
    def wanted(self) -> str:
        """What it must be, in words."""
        limits = ", ".join(str(each) for each in self.constraints)
        kind = "" if self.kind in ("any", "one of") or self.choices else self.kind
        return " ".join(part for part in (self.shape.words if self.shape else kind, limits) if part)

    @property
    def shown_default(self) -> str:
        """Its default as people read it; nothing if it has none."""
        if self.default is REQUIRED:
            return ""
        return "none" if self.default is None or self.default in ((), {}, "") else str(self.default)

    def checked(self, value: Any, what: str | None = None) -> Any:
        """The value as a plain one of its kind; anything else is an error of one sentence."""
        name = what or self.name
        check.not_too_deep(name, value)
        value = check.python_number(value)
        if value is None and (self.optional or self.default is None):
            return None
        if value is False and self.optional and self.kind != "true or false":
            # TOML has no null: false stands for it.
            return None
        value = self._of_kind(name, value)
        # Of several kinds a table keeps no limits, nor does true.
        if self.kind != "any" or (isinstance(value, int | float | str) and value is not True):
            for constraint in self.constraints:
                constraint.check(name, value)
        return float(value) if self.kind == "number" and self.shape is None else value

    def _of_kind(self, name: str, value: Any) -> Any:
        if self.shape is not None:
            return self.shape.read(name, value)
        if self.kind == "whole number":
            least = next((each.least for each in self.constraints if isinstance(each, AtLeast)), None)
            return check.whole(name, value, None if least is None else int(least))
        if self.kind == "number":
            if not any(isinstance(each, Share) for each in self.constraints):
                check.number(name, value)
            # Of a share the constraint speaks.
            return value
        if self.kind == "true or false" and not isinstance(value, bool):
            raise TacitaError(f"{name} must be true or false; got {check.given(value)}.")
        if self.kind == "text" and not isinstance(value, str):
            raise TacitaError(f"{name} must be a text; got {check.given(value)}.")
        if self.kind == "names":
            return check.names(name, value)
        return check.mapping(name, value) if self.kind == "table" else value


def parameters_of(owner: Any) -> tuple[Parameter, ...]:
    """The parameters of a dataclass, or the options of a measure."""
    return _parameters_of(owner)


@cache
def _parameters_of(owner: Any) -> tuple[Parameter, ...]:
    hints = get_type_hints(owner, include_extras=True)
    return tuple(_parameter(name, hints.get(name, Any), default) for name, default in _defaults(owner).items())


def _defaults(owner: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(owner):
        fields = (field for field in dataclasses.fields(owner) if field.init)
        return {field.name: _default_of(field) for field in fields}
    listed = inspect.signature(owner).parameters.values()
    variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {each.name: each.default for each in listed if each.name not in NOT_OPTIONS and each.kind not in variadic}


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    metadata: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *metadata = get_args(hint)
    kinds = [hint]
    if get_origin(hint) in (Union, UnionType):
        kinds = list(get_args(hint))
    optional = NoneType in kinds
    kinds = [kind for kind in kinds if kind is not NoneType]
    constraints = [each for each in metadata if isinstance(each, Constraint)]
    if len(kinds) == 1 and get_origin(kinds[0]) is Literal:
        constraints.append(OneOf(get_args(kinds[0])))
    doc = next((each.text for each in metadata if isinstance(each, Doc)), "")
    shape = next((each for each in metadata if isinstance(each, Shape)), None)
    return Parameter(name, _kind(kinds), optional, default, tuple(constraints), doc, shape)


def _kind(kinds: list[Any]) -> str:
    if len(kinds) != 1:
        return "any"
    plain = {int: "whole number", float: "number", bool: "true or false", str: "text"}
    if kinds[0] in plain:
        return plain[kinds[0]]
    if get_origin(kinds[0]) is Literal:
        return "one of"
    if kinds[0] == tuple[str, ...]:
        return "names"
    return "table" if get_origin(kinds[0]) is not None and issubclass(get_origin(kinds[0]), Mapping) else "any"


def checked_options(owner: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a measure, checked; an unknown one is an error that names those there are."""
    known = {each.name: each for each in parameters_of(owner)}
    unknown = [name for name in options if name not in known]
    if unknown:
        name = getattr(owner, "__name__", str(owner))
        raise TacitaError(f"{name} has no option {check.quoted(unknown)}; it has {', '.join(known) or 'none'}.")
    return {name: known[name].checked(value) for name, value in options.items()}


def parameter_table(parameters: Iterable[Parameter]) -> str:
    """The parameters as a Markdown table."""
    rows = ["| parameter | what it must be | default | meaning |", "| --- | --- | --- | --- |"]
    for each in parameters:
        default = each.shown_default or "required"
        default = default if default in ("none", "required") else f"`{default}`"
        doc = each.doc.replace("|", "\\|").replace("\n", " ")
        rows.append(f"| `{each.name}` | {each.wanted.replace('|', ' or ')} | {default} | {doc} |")
    return "\n".join(rows)
