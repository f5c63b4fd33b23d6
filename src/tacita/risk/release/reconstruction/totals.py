"""What all attacks together tell of a protected variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacita.arrays import Bools, Ints
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
    record: Ints = field(repr=False)
    """By protected cell: the number of its record."""

    @property
    def protected(self) -> int:
        """Protected cells."""
        return self.suppressed + self.changed

    @property
    def given_back(self) -> int:
        """Cells that an attack guesses right, each counted once."""
        return int(self.right.sum())

    @property
    def guessed_wrong(self) -> int:
        """Cells that attacks guess, none of them right."""
        return int(self.wrong.sum())

    @property
    def not_told(self) -> int:
        """Cells that no attack guesses."""
        return self.protected - self.given_back - self.guessed_wrong

    @property
    def how(self) -> str:
        """What was done to the variable."""
        if self.removed:
            return "removed"
        both = [word for word, count in (("suppressed", self.suppressed), ("changed", self.changed)) if count]
        return " and ".join(both)


def totals(files: Files, protected: Protected, leaks: Sequence[Leak]) -> ProtectedVariable:
    """What all leaks together tell of a variable, each cell counted once."""
    right, wrong = (np.zeros(len(protected), dtype=np.bool_) for _ in range(2))
    for each in leaks:
        if each.variable == protected.name:
            right[each.right_cells] = True
            wrong[each.wrong_cells] = True
    return ProtectedVariable(
        name=protected.name,
        removed=protected.removed,
        suppressed=int(protected.suppressed.sum()),
        changed=int((~protected.suppressed).sum()),
        right=right,
        wrong=wrong & ~right,
        record=files.released.record[protected.rows],
    )
