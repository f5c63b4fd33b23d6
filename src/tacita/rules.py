"""Rules that a release should keep: relations between variables that its users will check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from tacita import check
from tacita.arrays import Bools
from tacita.data import Data


class Rule(ABC):
    """A relation that holds in the original and should hold in the release."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule as it was declared."""

    @abstractmethod
    def broken(self, data: Data) -> Bools:
        """By record, or by published figure: whether the rule does not hold."""


@dataclass(frozen=True)
class Broken:
    """A rule that a release breaks."""

    rule: str
    """The rule."""
    before: int
    """How often the original breaks it."""
    after: int
    """How often the release does."""

    def __str__(self) -> str:
        return (
            f"the rule {self.rule!r} is broken {check.counted(self.after, 'time')} in the release, "
            f"{check.counted(self.before, 'time')} in the original."
        )

    def to_dict(self) -> dict[str, Any]:
        """The rule and the counts."""
        return {"rule": self.rule, "before": self.before, "after": self.after}


def broken_rules(rules: tuple[Rule, ...], original: Data, released: Data) -> tuple[Broken, ...]:
    """The rules that the release breaks."""
    counts = [Broken(each.text, int(each.broken(original).sum()), int(each.broken(released).sum())) for each in rules]
    return tuple(each for each in counts if each.after)
