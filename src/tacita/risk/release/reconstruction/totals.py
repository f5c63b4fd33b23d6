"""What all attacks together reveal of a protected variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.repeats import how_many
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak


@dataclass(frozen=True, eq=False)
class ProtectedVariable:
    """One protected variable: how many of its cells are protected, given back, guessed wrong."""

    name: str
    removed: bool
    """Whether the variable is no longer there."""
    suppressed: int
    """Protected cells with nothing in their place, all of them if the variable was removed."""
    changed: int
    """Protected cells with another value in their place."""
    right: Bools = field(repr=False)
    """By protected cell: whether an attack gives it back."""
    wrong: Bools = field(repr=False)
    """By protected cell: whether attacks guess it, all of them wrong."""
    misleading: Bools = field(repr=False)
    """By protected cell: whether no attack tells it, and rules that an intruder would trust guess it, all wrong."""
    by_chance: Bools = field(repr=False)
    """By protected cell: whether no attack tells it, and one of those rules happens to be right."""
    record: Ints = field(repr=False)
    """By protected cell: the number of its record."""
    least: int = 0
    """So many cells at least are given back, as other rows of an engine say."""
    times: Ints | None = field(default=None, repr=False)
    """By protected cell how many records it stands for; None: each is one."""

    @property
    def protected(self) -> int:
        """Protected cells."""
        return self.suppressed + self.changed

    @property
    def given_back(self) -> int:
        """Cells that an attack guesses right, each counted once."""
        return max(how_many(self.right, self.times), self.least)

    @property
    def guessed_wrong(self) -> int:
        """Cells that attacks guess, none of them right."""
        return how_many(self.wrong, self.times)

    @property
    def not_disclosed(self) -> int:
        """Cells that no attack guesses."""
        return max(self.protected - self.given_back - self.guessed_wrong, 0)

    @property
    def misled(self) -> int:
        """Of the cells that no attack tells, those that rules guess which an intruder would trust, none of them right.

        Such rules hold on rows that show both, and on the protected cells are no better than a guess without them.
        """
        return how_many(self.misleading, self.times)

    @property
    def right_by_chance(self) -> int:
        """Of the cells that no attack tells, those that one of these rules happens to get right."""
        return how_many(self.by_chance, self.times)

    @property
    def misleading_rules(self) -> str:
        """How far such rules lead astray, in words."""
        covered = self.misled + self.right_by_chance
        right = f"{self.right_by_chance:,}" if self.right_by_chance else "none"
        return (
            f"misleading: rules that an intruder would trust cover {covered:,} of the "
            f"{check.counted(self.not_disclosed, 'cell')} of {self.name} that nothing tells, and are right for {right}"
        )

    @property
    def how(self) -> str:
        """What was done to the variable."""
        if self.removed:
            return "removed"
        both = [word for word, count in (("suppressed", self.suppressed), ("changed", self.changed)) if count]
        return " and ".join(both)


def totals(files: Files, protected: Protected, leaks: Sequence[Leak]) -> ProtectedVariable:
    """What all leaks together reveal of a variable, each cell counted once."""
    right, wrong = (np.zeros(len(protected), dtype=np.bool_) for _ in range(2))
    least = 0
    for each in (own for own in leaks if own.variable == protected.name):
        if each.apart:
            least = max(least, each.right)
        else:
            right[each.right_cells] = True
            wrong[each.wrong_cells] = True
    return ProtectedVariable(
        name=protected.name,
        removed=protected.removed,
        suppressed=how_many(protected.suppressed, protected.times),
        changed=how_many(~protected.suppressed, protected.times),
        right=right,
        wrong=wrong & ~right,
        misleading=protected.misleading.wrong & ~protected.misleading.right & ~right & ~wrong,
        by_chance=protected.misleading.right & ~right & ~wrong,
        record=files.released.record[protected.rows],
        least=least,
        times=protected.times,
    )
