"""Breaks: where one interval ends and the next begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import Doc, Shape
from tacita.protect.recode import intervals
from tacita.protect.recode.regroup import Groups, is_number, text_of
from tacita.protect.recode.ways.way import Closed, Grouping, Source, Way, absent


def parted(values: list[float], breaks: Sequence[float], right: bool, into: tuple[Any, ...]) -> Groups:
    """Numbers put into the intervals between breaks, those at the ends open."""
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


def ascending(what: str, given: Any) -> tuple[float, ...]:
    """Ascending numbers, or one."""
    given = (given,) if is_number(given) else given
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TacitaError(f"{what} must be ascending numbers, as in [18, 65]; got {check.given(given)}.")
    breaks = tuple(check.exact_number(what, each) for each in given)
    if not breaks or any(low >= high for low, high in pairwise(breaks)):
        raise TacitaError(f"{what} must be ascending numbers, as in [18, 65]; got {check.given(list(breaks))}.")
    return breaks


def group_names(what: str, given: Any) -> tuple[Any, ...]:
    """What groups are called: texts or whole numbers."""
    if absent(given):
        return ()
    listed = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    names = tuple(check.python_number(each) for each in given) if listed else (given,)
    if not all(isinstance(each, str | int) and not isinstance(each, bool) for each in names):
        raise TacitaError(f"{what} must be texts or whole numbers; got {check.given(list(names))}.")
    return names


def check_group_names(names: tuple[Any, ...], groups: int) -> None:
    """One name for each group, all different; or none at all."""
    if names and (len(names) != groups or len(set(map(text_of, names))) != groups):
        raise TacitaError(
            f"into must name {groups} different groups, from the lowest on; got {check.given(list(names))}."
        )


def fewer_groups(name: str, found: int, asked: int, into: tuple[Any, ...], why: str) -> str:
    """A remark where there are fewer groups than asked for; an error where each was to have a name."""
    if found >= asked:
        return ""
    if into:
        raise TacitaError(
            f"column {name!r} can be parted into {found} groups only, but into names {asked}; name fewer."
        )
    return f"{found} groups in place of {asked}, {why}"


Into = Annotated[
    Any, Shape("texts or whole numbers", group_names), Doc("What the groups are called, from the lowest on.")
]


@dataclass(frozen=True)
class Breaks(Way):
    """Intervals between breaks, those at the ends open.

    >>> Breaks([18, 65])
    Breaks(breaks=(18, 65), closed='left', into=())
    """

    breaks: Annotated[
        Any,
        Shape("ascending numbers", ascending),
        Doc("Where one interval ends and the next begins: [18, 65] gives <18, 18-64 and 65+."),
    ]
    closed: Closed = "left"
    into: Into = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_group_names(self.into, len(self.breaks) + 1)

    def grouping(self, source: Source) -> Grouping:
        """The interval of every number."""
        return Grouping(parted(source.numbers(), self.breaks, self.closed == "right", self.into))
