"""What every hierarchy can do: give the group of a value at each of its levels.

Level 0 is the values themselves; each further level puts them into larger groups, nested: values that are together at
one level are together at all levels above. The last level may be the star, at which nothing is told any more.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.declared import plain
from tacita.frame import Coded

STAR = "*"
"""What is released where nothing is told."""


class Levels(NamedTuple):
    """The groups of some values at every level of a hierarchy."""

    groups: Ints
    """One row per level, one column per value: the place of the value's group among the labels of the level."""
    labels: tuple[tuple[Any, ...], ...]
    """By level: what the groups are called; at level 0 the values themselves."""


@dataclass(frozen=True)
class Hierarchy(ABC):
    """How the values of one variable become coarser, level by level.

    Made by one of `Hierarchy.csv`, `.mappings`, `.rows`, `.intervals`, `.truncation`, `.dates` and `.redaction`. A
    hierarchy is data: it compares, and goes to a plan file and back.

    >>> ages = Hierarchy.intervals([5, 10], top=80)
    >>> ages.height, ages.labels_at([23, 27, 85], 1), ages.labels_at([23, 27, 85], 2), ages.labels_at([23, 27, 85], 3)
    (3, ['20-24', '25-29', '80+'], ['20-29', '20-29', '80+'], ['*', '*', '*'])
    """

    kind: str = field(init=False, default="")
    """Which kind of hierarchy it is."""
    redact: bool = field(default=True, kw_only=True)
    """Whether a last level follows at which every value is released as a star."""

    kinds: ClassVar[dict[str, Any]] = {}
    """The kinds of hierarchy by name; each adds itself."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Hierarchy.kinds[cls.__dict__["kind"].default] = cls

    def __post_init__(self) -> None:
        true_or_false("redact", self.redact)

    @property
    @abstractmethod
    def own_height(self) -> int:
        """The number of levels above the values, without the star."""

    @abstractmethod
    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """The label of each value's group at a level from 1 to `own_height`; None for a value it does not have."""

    def unknown(self, name: str, count: int) -> str:
        """What to say of values that the hierarchy does not have."""
        return (
            f"the hierarchy of {name!r} does not have {check.counted(count, 'value')} of the data; add them to it, "
            f"or declare them missing or not applicable."
        )

    @property
    def starred(self) -> bool:
        """Whether the star is a level of its own."""
        return self.redact

    @property
    def height(self) -> int:
        """The number of levels above the values: the highest level."""
        return self.own_height + self.starred

    def check_level(self, level: object, name: str) -> int:
        """A level that the hierarchy has."""
        found = check.whole(f"the level of {name!r}", level, 0)
        if found > self.height:
            raise TacitaError(
                f"the level of {name!r} must be at most {self.height}, the height of its hierarchy; got {level!r}."
            )
        return found

    def labels_at(self, values: Sequence[Any], level: int, name: str = "the variable") -> list[Any]:
        """The label of each value's group at a level; a value that the hierarchy does not have is an error."""
        self.check_level(level, name)
        if level == 0:
            return list(values)
        labels = self.own_labels(values, min(level, self.own_height)) if self.own_height else list(values)
        absent = sum(label is None for label in labels)
        if absent:
            raise TacitaError(self.unknown(name, absent))
        return [STAR] * len(labels) if level > self.own_height else labels

    def levels(self, values: Sequence[Any], name: str, apart: Collection[Any] = ()) -> Levels:
        """The groups of the different values of a variable at all levels.

        Values in `apart`, such as codes for not applicable, stay what they are at every level but the star.
        """
        inside = [place for place, value in enumerate(values) if value not in apart]
        groups = np.zeros((self.height + 1, len(values)), dtype=np.int64)
        labels: list[tuple[Any, ...]] = []
        for level in range(self.height + 1):
            given = list(values) if level <= self.own_height else [STAR] * len(values)
            for place, label in zip(
                inside, self.labels_at([values[place] for place in inside], level, name), strict=True
            ):
                given[place] = label
            different = {label: place for place, label in enumerate(dict.fromkeys(given))}
            groups[level] = [different[label] for label in given]
            labels.append(tuple(different))
        return Levels(groups, tuple(labels))

    def to_dict(self) -> dict[str, Any]:
        """The kind and the fields that differ from their defaults, as plain lists, texts and numbers."""
        out: dict[str, Any] = {"kind": self.kind}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if each.name != "kind" and value is not None and value != each.default:
                out[each.name] = plain(value)
        return out

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Hierarchy:
        """The hierarchy of a table with its kind and fields, as plan files hold it."""
        fields = dict(given)
        kind = fields.pop("kind", None)
        check.one_of("the kind of a hierarchy", kind, sorted(Hierarchy.kinds))
        every = [each for each in dataclasses.fields(Hierarchy.kinds[str(kind)]) if each.init]
        known = [each.name for each in every]
        wrong = [name for name in fields if name not in known]
        if wrong:
            raise TacitaError(
                f"a hierarchy of kind {kind!r} has the fields {', '.join(known)}; got {check.quoted(wrong)}."
            )
        try:
            made: Hierarchy = Hierarchy.kinds[str(kind)](**fields)
        except TypeError:
            needed = check.quoted(each.name for each in every if each.default is dataclasses.MISSING)
            raise TacitaError(f"a hierarchy of kind {kind!r} must have {needed}, a list.") from None
        return made

    @staticmethod
    def of(given: Any, name: str = "") -> Hierarchy:
        """A hierarchy itself, of a table with its kind, or of the path of a CSV file."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, Mapping):
            return Hierarchy.from_dict(given)
        if isinstance(given, str | Path):
            return Hierarchy.csv(given)
        what = f"the hierarchy of {name!r}" if name else "hierarchy"
        raise TacitaError(f"{what} must be a Hierarchy or the path of a CSV file; got {type(given).__name__}.")

    @staticmethod
    def csv(path: str | Path, *, delimiter: str | None = None, header: bool = False, redact: bool = True) -> Hierarchy:
        """The hierarchy in a CSV file as ARX writes them: one row per value, one column per level, the value first.

        The delimiter is found unless given. With `header=True` the first line names the levels and is left out.
        """
        made: Hierarchy = Hierarchy.kinds["table"].read(path, delimiter=delimiter, header=header, redact=redact)
        return made

    @staticmethod
    def rows(rows: Sequence[Sequence[Any]], *, redact: bool = True) -> Hierarchy:
        """A hierarchy of rows: the value, then its group at each level.

        >>> Hierarchy.rows([("Vienna", "east"), ("Graz", "south")]).labels_at(["Graz"], 1)
        ['south']
        """
        made: Hierarchy = Hierarchy.kinds["table"](rows, redact=redact)
        return made

    @staticmethod
    def mappings(*levels: Mapping[Any, Any], redact: bool = True) -> Hierarchy:
        """A hierarchy of mappings: the first from values to groups, each further one from groups to larger groups.

        >>> Hierarchy.mappings({"a": "x", "b": "x", "c": "y"}, {"x": "all", "y": "all"}).height
        2
        """
        made: Hierarchy = Hierarchy.kinds["table"].chained(levels, redact=redact)
        return made

    @staticmethod
    def intervals(
        widths: Sequence[float],
        *,
        start: float = 0,
        bottom: float | None = None,
        top: float | None = None,
        whole: bool = True,
        redact: bool = True,
    ) -> Hierarchy:
        """Intervals of numbers, wider at each level; below `bottom` and from `top` on there is one group each.

        Every width must be a multiple of the one before. With `whole=False` numbers may have fractions.
        """
        made: Hierarchy = Hierarchy.kinds["intervals"](
            widths, start=start, bottom=bottom, top=top, whole=whole, redact=redact
        )
        return made

    @staticmethod
    def truncation(keep: Sequence[int], *, digits: int | None = None, redact: bool = True) -> Hierarchy:
        """Codes cut from the right: at each level only so many characters are kept.

        `digits` is the full length of codes that are numbers: 110 of an ISCO code of 4 digits means 0110.

        >>> Hierarchy.truncation([2, 1], digits=4).labels_at([2411, 110], 1)
        ['24', '01']
        """
        made: Hierarchy = Hierarchy.kinds["truncation"](keep, digits=digits, redact=redact)
        return made

    @staticmethod
    def dates(units: Sequence[str] = ("month", "quarter", "year"), *, redact: bool = True) -> Hierarchy:
        """Dates cut to day, month, quarter, half-year, year or decade, in that order; text must be as 2024-03-31.

        >>> Hierarchy.dates().labels_at(["2024-05-17"], 2)
        ['2024-Q2']
        """
        made: Hierarchy = Hierarchy.kinds["dates"](units, redact=redact)
        return made

    @staticmethod
    def redaction() -> Hierarchy:
        """The hierarchy with the star as the only level above the values."""
        made: Hierarchy = Hierarchy.kinds["redaction"]()
        return made


def true_or_false(what: str, value: object) -> None:
    """An option that is on or off."""
    if not isinstance(value, bool):
        raise TacitaError(f"{what} must be true or false; got {check.given(value)}.")


def listed(value: Any) -> tuple[Any, ...]:
    """One parameter or several, as a tuple."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value)


def recoded(column: Coded, hierarchy: Hierarchy, level: int, name: str, apart: Collection[Any] = ()) -> Coded:
    """A column at a level of its hierarchy; what is missing stays missing."""
    hierarchy.check_level(level, name)
    levels = hierarchy.levels(column.values, name, apart)
    lookup = np.append(0, levels.groups[level] + 1).astype(np.uint32)
    return Coded(lookup[column.codes], levels.labels[level])
