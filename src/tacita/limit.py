"""A limit that a policy can set on a measure: on which figure of its result, and in which direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Limit:
    """Which figure of a result a policy can limit, and in which direction."""

    figure: str
    """The property of the result, or a method that takes options of the limit."""
    words: str
    """What it is in words, as `the smallest l`."""
    least: bool
    """Whether the limit is the least value allowed, not the greatest."""
    void: float | Literal["records"] | None = None
    """From which limit on every file keeps it: a number, or the number of its records; None: there is no such limit."""
    moved_by: str = ""
    """Which kinds of steps bring the figure within a limit, in words; empty: none is known."""

    @property
    def of_share(self) -> bool:
        """Whether the figure is a share, which is shown in percent."""
        return self.words.startswith("the share ")

    def is_void(self, limit: float, records: int) -> bool:
        """Whether every file of so many records keeps a limit, so that it says nothing.

        >>> at_most("share", "the share of records", void=1.0).is_void(1.0, records=50)
        True
        """
        if self.void is None:
            return False
        end = records if self.void == "records" else self.void
        return limit <= end if self.least else limit >= end

    def judged(self, name: str, value: float, limit: float, kind: Literal["risk", "loss"]) -> tuple[bool, str]:
        """Whether the limit is kept, and the verdict in words."""
        holds = value >= limit if self.least else value <= limit
        side = f"at {'least' if self.least else 'most'} {limit:g} is {'safe' if kind == 'risk' else 'allowed'}"
        shown = f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
        return bool(holds), f"{name}: {self.words} is {shown}, {side}"


def at_least(figure: str, words: str, void: float | None = None, moved_by: str = "") -> Limit:
    """A limit that a figure must reach; every file reaches `void`, and steps that it is `moved_by` raise it."""
    return Limit(figure, words, least=True, void=void, moved_by=moved_by)


def at_most(figure: str, words: str, void: float | Literal["records"] | None = None, moved_by: str = "") -> Limit:
    """A limit that a figure must not exceed; no file exceeds `void`, and steps that it is `moved_by` lower it."""
    return Limit(figure, words, least=False, void=void, moved_by=moved_by)
