"""How far figures of a sample may be off: bounds that hold whatever the distribution."""

from __future__ import annotations

import math
from typing import NamedTuple

from tacita import check
from tacita.arrays import Floats
from tacita.result import number, percent

LEVEL = 0.05
"""Bounds hold with a probability of 95 %."""


class Sampled(NamedTuple):
    """A file on an engine of which some records are looked at."""

    records: int
    """Records of the file."""
    drawn: int
    """Records that are looked at."""
    smallest: int
    """Records that are looked at in the stratum with fewest of those that are not looked at whole."""
    most_unseen: float
    """Neighbours that a record without any in the sample has at most, with 95 %, in the worst stratum."""
    by_stratum: Floats
    """By stratum: how many records it has in the file."""

    @property
    def error_of_alpha(self) -> float:
        """How far the share of wrong pairs nearer than delta is from alpha at most, with 95 %.

        Hoeffding's inequality for means over pairs of n records: sqrt(log(2 / 0.05) / (2 floor(n / 2))).
        """
        return math.sqrt(math.log(2 / LEVEL) / (2 * max(self.smallest // 2, 1)))

    @property
    def error_of_neighbours(self) -> float:
        """How far the neighbours of one record are off at most, as a share of the records of its stratum, with 95 %."""
        return math.sqrt(math.log(2 / LEVEL) / (2 * max(self.smallest - 1, 1)))

    @property
    def words(self) -> tuple[str, str]:
        """What was drawn, with the bounds, and what is left out."""
        return (
            f"sample of {self.drawn:,} of {self.records:,} records, links among these; within (95 %): alpha "
            f"{percent(self.error_of_alpha)}, neighbours {percent(self.error_of_neighbours)} of the stratum",
            f"(none in the sample: at most {number(self.most_unseen)}); left out: likelihood ratio, Kolmogorov-Smirnov "
            f"distances, ranks",
        )

    def why(self, unsafe: int) -> str:
        """Why there is no verdict."""
        few = check.counted(unsafe, "record")
        return (
            f"the confidentiality plot is of {self.drawn:,} of {self.records:,} records, of which {few} "
            f"{'is' if unsafe == 1 else 'are'} in the unsafe zone: that says nothing of each of the others; measure "
            f"the strata one by one in memory"
        )
