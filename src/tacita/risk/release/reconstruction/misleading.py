"""Misleading rules: an intruder would trust them, but on protected cells they are no better than a guess without them.

Unanimous small groups are trusted on the rows that are shown, and the cells that were suppressed are just those that
differ. What such rules say counts as nothing given back; how far they lead astray is counted beside.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools


class Misleading:
    """What misleading rules say of the protected cells of one variable."""

    def __init__(self, cells: int):
        self.rules = 0
        """Misleading rules."""
        self.right: Bools = np.zeros(cells, dtype=np.bool_)
        """By protected cell: whether one of them guesses it right, by chance."""
        self.wrong: Bools = np.zeros(cells, dtype=np.bool_)
        """By protected cell: whether one of them guesses it wrong."""

    def add(self, covered: Bools, right: Bools) -> None:
        """One more rule, by the cells that it covers and those that it gets right."""
        if covered.any():
            self.rules += 1
            self.right |= covered & right
            self.wrong |= covered & ~right
