"""What became of the rules: how often each is broken, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.data import Data
from tacita.rules.declared import Rule, Total
from tacita.rules.verdict import UnfitError, Verdict


@dataclass(frozen=True)
class Broken:
    """A rule and how often it is broken."""

    rule: str
    """The rule."""
    before: int
    """How often the original breaks it."""
    after: int
    """How often the release does."""
    newly: int = 0
    """How often the release does where the original did not."""
    undecided_before: int = 0
    """How often missing values leave it open in the original."""
    undecided: int = 0
    """How often they do in the release."""
    note: str = ""
    """Why the rule could not be checked in the release, or how far a total is off."""
    unchecked: bool = False
    """Whether it could not be checked in the release."""
    records: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False, compare=False)
    """The numbers of the records of the release that break it: they lead back to the original, and are for internal
    use only."""

    @property
    def kept(self) -> bool:
        """Whether the release keeps the rule, as far as can be told."""
        return not self.after and not self.unchecked

    def __str__(self) -> str:
        if self.unchecked:
            return f"the rule {self.rule!r} could not be checked in the release: {self.note}."
        told = [
            f"{check.counted(self.before, 'time')} in the original",
            *([f"{self.newly:,} newly"] if self.newly else []),
            *([f"{self.undecided:,} undecided"] if self.undecided else []),
            *([self.note] if self.note else []),
        ]
        return (
            f"the rule {self.rule!r} is broken {check.counted(self.after, 'time')} in the release, {', '.join(told)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The rule and the counts; no record numbers."""
        names = ("rule", "before", "after", "newly", "undecided_before", "undecided", "note", "unchecked")
        return {name: getattr(self, name) for name in names}


def broken_rules(rules: Iterable[Rule], original: Data, released: Data) -> tuple[Broken, ...]:
    """The rules that the release breaks, or that can no longer be checked in it."""
    return tuple(each for each in checked_rules(rules, original, released) if not each.kept)


def checked_rules(rules: Iterable[Rule], original: Data, released: Data) -> tuple[Broken, ...]:
    """Every rule and how often it is broken in the original and in the release.

    A rule must fit the original. Where it no longer fits the release, because a variable was removed or became text,
    the finding says so.

    >>> import polars as pl
    >>> from tacita.rules import Rules
    >>> before, after = (Data.of(pl.DataFrame({"income": values})) for values in ([5, 7, None], [5, -1, None]))
    >>> (found,) = checked_rules(Rules("income >= 0"), before, after)
    >>> print(found)
    the rule 'income >= 0' is broken 1 time in the release, 0 times in the original, 1 newly, 1 undecided.
    """
    return tuple(_checked(each, original, released) for each in rules)


def _checked(rule: Rule, original: Data, released: Data) -> Broken:
    was = rule.verdict(original)
    before, open_before = int(was.fails.sum()), _undecided(was)
    try:
        now = rule.verdict(released)
    except UnfitError:
        note = "a variable that it needs is no longer there, or holds text in place of numbers"
        return Broken(rule.text, before, 0, 0, open_before, 0, note, unchecked=True)
    fails = now.fails
    if rule.by_record:
        records = released.record[fails]
        newly = int((~np.isin(records, original.record[was.fails])).sum())
    else:
        records, newly = np.zeros(0, dtype=np.int64), int(bool(fails.any()) and not was.fails.any())
    return Broken(
        rule=rule.text,
        before=before,
        after=int(fails.sum()),
        newly=newly,
        undecided_before=open_before,
        undecided=_undecided(now),
        note=_off(rule, released) if isinstance(rule, Total) and fails.any() else "",
        records=records,
    )


def _undecided(verdict: Verdict) -> int:
    return int((~verdict.holds & ~verdict.fails).sum())


def _off(rule: Total, released: Data) -> str:
    """How far the release is from what was published, both of which everybody can see."""
    away = rule.deviation(released)
    by = f"{100 * abs(away):.2g} %" if rule.value else f"{abs(away):.3g}"
    return f"off by {by} ({'too high' if away > 0 else 'too low'})"
