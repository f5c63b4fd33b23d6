"""Group rare categories: no category is left that only a few records have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, Doc, NotEmpty, Shape, Share
from tacita.protect.recode.regroup import (
    Column,
    Groups,
    column_of,
    free_codes,
    gathered,
    is_declared,
    is_number,
    regrouped,
    text_of,
)
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.top_code import most_changed

LEAST = 3
"""So many records a category must have if neither the step nor the policy says."""


def rare_together(counts: Ints, least: int, other: int = -1) -> list[int]:
    """The places of the categories that go into one: those with fewer than `least` records, the category `other` if
    there is one, and, until they are `least` together, the next rarest; of equally rare ones the first.

    >>> rare_together(np.array([50, 1, 9, 1]), 5), rare_together(np.array([50, 3, 9, 3]), 5)
    ([1, 2, 3], [1, 3])
    """
    rare = [place for place, count in enumerate(counts.tolist()) if count < least]
    if not rare:
        return []
    chosen = {*rare, other} - {-1}
    rest = [place for place in np.argsort(counts, kind="stable").tolist() if place not in chosen]
    while rest and counts[sorted(chosen)].sum() < least:
        chosen.add(rest.pop(0))
    return sorted(chosen)


def neighbours_together(counts: Ints, least: int) -> list[int]:
    """For ascending categories the number of their group: the rarest joins the rarer of its neighbours, the lower one
    if they are equal, until every group has `least` records.

    >>> neighbours_together(np.array([2, 9, 9, 1]), 5)
    [0, 0, 1, 1]
    """
    sizes = counts.tolist()
    members = [[place] for place in range(len(sizes))]
    while len(sizes) > 1 and min(sizes) < least:
        at = sizes.index(min(sizes))
        sides = [side for side in (at - 1, at + 1) if 0 <= side < len(sizes)]
        beside = min(sides, key=lambda side: (sizes[side], side))
        low, high = min(at, beside), max(at, beside)
        sizes[low] += sizes.pop(high)
        members[low] += members.pop(high)
    group = {place: number for number, places in enumerate(members) for place in places}
    return [group[place] for place in range(len(counts))]


def category(what: str, given: Any) -> str | int:
    """What a category is called."""
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise TacitaError(f"{what} must be a text or a whole number; got {check.given(given)}.")
    return given


@dataclass(frozen=True)
class GroupRare(CellStep):
    """Put categories that few records have into one.

    A category of two people is two people. All categories with fewer than `least` records go into one; where these are
    still too few, the next rarest joins them, so that no category is left below. Categories of an ordinal variable join
    a neighbour instead. Missing values and declared codes stay and are not counted.

    Of codes that are numbers, the new one is the code labelled `into`, or the next whole number with that label.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"born": ["AT"] * 5 + ["DE"] * 3 + ["FJ", "TO"]})
    >>> release = tc.Plan([GroupRare("born", least=3)]).apply(people, tc.Scenario(keys=["born"]))
    >>> release.data.table["born"].to_list()[5:]
    ['other', 'other', 'other', 'other', 'other']
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold categories.")]
    least: Annotated[
        int | None, AtLeast(2), Doc("So many records a category must have; the policy's k unless given.")
    ] = None
    least_share: Annotated[
        float | None,
        Share(zero=False, one=False),
        Doc("Or so large a share of the records that have a value must have it."),
    ] = None
    into: Annotated[
        Any,
        Shape("text or whole number", category),
        Doc("What the group of rare categories is called; those of ordinal variables are called after first and last."),
    ] = "other"

    def __post_init__(self) -> None:
        if self.least is not None and self.least_share is not None:
            raise TacitaError(
                "group_rare takes least (records) or least_share (of the records), not both; give one of them."
            )

    def apply(self, data: Data, context: Context) -> Applied:
        """The data without rare categories."""
        fresh: dict[str, Any] = {}
        known: dict[str, Variable] = {}
        remarks = []
        sizes: dict[str, int] = {}
        for name in present(self, self.variables, data):
            if data.scale(name) == "numeric":
                raise TacitaError(
                    f"column {name!r} holds numbers, not categories; use Recode or TopCode, or declare it nominal or "
                    f"ordinal."
                )
            column = column_of(data, name)
            least = self._least(name, column, context)
            ordinal = data.scale(name) == "ordinal"
            groups = (_neighbours if ordinal else self._other)(column, data.variable(name), least)
            sizes[name] = len(column.plain) if groups is None else len(groups.values)
            if groups is not None:
                before, after = len(column.plain), len(groups.values)
                remarks.append(f"{name!r}: {check.counted(before, 'category', 'categories')} became {after:,}")
                joined = np.bincount(groups.place)[groups.place] > 1
                remarks += most_changed(name, int(column.counts[joined].sum()), int(column.counts.sum()), "joined")
                fresh[name], known[name] = regrouped(data, name, column, groups)
        data = data.with_columns(fresh, known) if fresh else data
        recoding = Mechanism("recoding", self.variables, {"way": "rare categories together", "categories": sizes})
        return Applied(data, tuple(remarks), {}, (recoding,), (recoding.with_parameters("way"),))

    def _least(self, name: str, column: Column, context: Context) -> int:
        records = int(column.counts.sum())
        least = self.least or context.policy.k or LEAST
        if self.least_share is not None:
            least = math.ceil(Fraction(str(self.least_share)) * records)
        if 0 < records < least:
            raise TacitaError(
                f"column {name!r} has {check.counted(records, 'record')} with a value, fewer than least = {least}; "
                f"remove it or choose a smaller least."
            )
        return least

    def _other(self, column: Column, known: Variable, least: int) -> Groups | None:
        """All rare categories into one."""
        plain = column.plain
        target = self._target(column, known)
        if is_declared(known, target):
            raise TacitaError(f"into must be no code declared missing or not applicable; got {check.given(target)}.")
        rare = rare_together(column.counts, least, plain.index(target) if target in plain else -1)
        if not rare:
            return None
        chosen = set(rare)
        becomes = {value: target if place in chosen else value for place, value in enumerate(plain)}
        labels = {code: label for code, label in known.value_labels.items() if becomes.get(code) == code}
        if is_number(target):
            labels[target] = known.value_labels.get(target, text_of(self.into))
        return gathered([becomes[value] for value in plain], labels, ascending=False)._replace(given=True)

    def _target(self, column: Column, known: Variable) -> Any:
        """The value of the group: `into` itself among texts, the code that is labelled so, or a new one, of numbers."""
        plain = column.plain
        if isinstance(self.into, int) or not plain or not all(map(is_number, plain)):
            return self.into
        labelled = [code for code, label in known.value_labels.items() if label == self.into and is_number(code)]
        if labelled:
            return labelled[0]
        codes = [code for code in (*plain, *known.value_labels) if is_number(code) and math.isfinite(code)]
        used = [code for code in codes if not known.is_missing(code) and code not in known.not_applicable]
        return free_codes(known, used, 1, first=max(0, math.floor(max(used, default=0))) + 1)[0]


def _neighbours(column: Column, known: Variable, least: int) -> Groups | None:
    """Rare categories join a neighbour."""
    plain = column.plain
    group = neighbours_together(column.counts, least)
    if len(set(group)) == len(plain):
        return None
    names: list[Any] = []
    labels: dict[Any, str] = {}
    for number in range(max(group) + 1):
        places = [place for place, its in enumerate(group) if its == number]
        name, label = _named(plain, places[0], places[-1], known)
        names.append(name)
        labels |= {name: label} if label else {}
    return Groups(np.array(group, dtype=np.int64), tuple(names), True, labels)


def _named(plain: Sequence[Any], start: int, end: int, known: Variable) -> tuple[Any, str]:
    """Value and label of a group from one place to another: of numbers one of its codes, of texts both ends."""
    first, last = plain[start], plain[end]
    labels = [known.value_labels[code] for code in (first, last) if code in known.value_labels]
    label = labels[0] if start == end and labels else " to ".join(labels) if len(labels) == 2 else ""
    if start == end:
        return first, label
    if not is_number(first):
        return f"{text_of(first)} to {text_of(last)}", label
    return (first, label) if label else _named_numbers(plain, start, end, known)


def _named_numbers(plain: Sequence[Any], start: int, end: int, known: Variable) -> tuple[Any, str]:
    """The same for numbers without labels: the lowest and the highest in the file are not told, one person has them."""
    first, last = plain[start], plain[end]
    lowest, highest = start == 0, end == len(plain) - 1
    if lowest and highest:
        return free_codes(known, (), 1)[0], "any"
    if lowest:
        return last, f"{text_of(last)} or less"
    return first, f"{text_of(first)} or more" if highest else f"{text_of(first)} to {text_of(last)}"
