"""Sums of floats without rounding errors: the same whatever the order of the records, and in how many parts they come.

So that noise on a file that streams by is, to the last bit, the noise on the same file in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from tacita.arrays import Floats

DIGITS = 53
"""Bits of a float."""
LOW = 27
"""A float is added in two parts, of which 2^26 can be added up as floats without rounding."""
LEAST = 1073 + DIGITS
"""The exponent of the smallest float, so that every sum is a whole number of these."""
MOST = 1 << 26
"""So many numbers are added at once."""


class ExactSum:
    """A sum of finite floats without rounding errors.

    >>> total = ExactSum()
    >>> for part in ([1e300, 1.0], [-1e300, 0.1]):
    ...     total.add(np.array(part))
    >>> total.over(1)
    1.1
    """

    def __init__(self) -> None:
        self.total = 0

    def add(self, values: Floats) -> None:
        """Add some numbers."""
        for first in range(0, len(values), MOST):
            self._add(values[first : first + MOST])

    def _add(self, values: Floats) -> None:
        share, exponent = np.frexp(values)
        whole = np.ldexp(share, DIGITS).astype(np.int64)
        low = int(exponent.min())
        place = exponent - low
        for part, shift in ((whole >> LOW, LOW), (whole & ((1 << LOW) - 1), 0)):
            sums = np.bincount(place, weights=part)
            for at in np.flatnonzero(sums).tolist():
                self.total += int(sums[at]) << (low + at - DIGITS + LEAST + shift)

    def over(self, count: int) -> float:
        """The sum divided by a whole number, rounded once."""
        return float(Fraction(self.total, count << LEAST))


def deviation(passes: Callable[[], Iterable[Floats]]) -> float:
    """The standard deviation of numbers that can be gone through in parts, twice; 0 where they do not vary.

    >>> round(deviation(lambda: [np.array([1.0, 2.0]), np.array([6.0])]) ** 2, 12)
    7.0
    """
    total, count, low, high = ExactSum(), 0, math.inf, -math.inf
    for values in passes():
        if len(values):
            total.add(values)
            count += len(values)
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    if not low < high:
        return 0.0
    mean, squares = total.over(count), ExactSum()
    for values in passes():
        squares.add((values - mean) ** 2)
    return math.sqrt(squares.over(count - 1))
