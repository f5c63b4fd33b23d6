"""Intervals of numbers: where a number belongs, and what an interval is called.

Limits are exact. Of whole numbers they are whole, whatever their size; of fractions they are the decimal numbers that
people write, so that 0.3 belongs to the interval of width 0.1 that begins at 0.3.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError

SAFE = 1 << 62
"""Whole numbers below this can be added to each other in 64 bits."""
SLACK = 20
"""For a rounder limit a group of equal counts may gain or lose one record in so many."""


def exact(number: float) -> Fraction:
    """A number as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


def all_whole(values: Sequence[float]) -> bool:
    """Whether no number has a fraction."""
    return all(isinstance(value, int) or value.is_integer() for value in values)


def array_of(values: Sequence[float], whole: bool, factor: int = 1, moved: int = 0) -> NDArray[Any]:
    """Numbers as an array: fractions as floats, whole numbers without loss, times `factor` and less `moved`."""
    if not whole:
        return np.array(values, dtype=np.float64)
    integers = [int(value) for value in values]
    most = max(map(abs, integers), default=0) * factor + abs(moved)
    return np.array(integers, dtype=np.int64 if most < SAFE else object) * factor - moved


def cut(values: Sequence[float], breaks: Sequence[float], *, right: bool = False, whole: bool = False) -> Ints:
    """For each number its place among the intervals that ascending breaks part: 0 below the first, up to their number.

    A number that equals a break belongs to the interval above it, with `right` to the one below.

    >>> cut([19, 20, 64, 65], [20, 65], whole=True).tolist(), cut([20, 65], [20, 65], right=True).tolist()
    ([0, 1, 1, 2], [0, 1])
    """
    numbers = array_of(values, whole)
    limits: NDArray[Any] = np.array(breaks, dtype=np.float64)
    if whole:
        # A whole number has reached 2.5 when it has reached 3, and is above 2.5 when it is above 2.
        whole_breaks = [math.floor(limit) if right else math.ceil(limit) for limit in breaks]
        huge = numbers.dtype == object or max(map(abs, whole_breaks), default=0) >= SAFE
        limits = np.array(whole_breaks, dtype=object if huge else np.int64)
    return np.searchsorted(limits, numbers, side="left" if right else "right").astype(np.int64)


def break_labels(breaks: Sequence[float], *, right: bool = False, whole: bool = False) -> list[str]:
    """What the intervals that breaks part are called, those at the ends open.

    >>> break_labels([20, 65], whole=True), break_labels([0.5, 2], right=True)
    (['<20', '20-64', '65+'], ['<=0.5', '(0.5, 2]', '>2'])
    """
    limits = [exact(limit) for limit in breaks]
    if whole:
        limits = [Fraction(math.floor(limit) if right else math.ceil(limit)) for limit in limits]
    inside = [interval_label(low, high, right=right, whole=whole) for low, high in pairwise(limits)]
    return [bottom_label(limits[0], right=right), *inside, top_label(limits[-1], right=right)]


def bottom_label(limit: Fraction, *, right: bool) -> str:
    """What the lowest, open interval is called."""
    return f"{'<=' if right else '<'}{number_text(limit)}"


def top_label(limit: Fraction, *, right: bool) -> str:
    """What the highest, open interval is called."""
    return f">{number_text(limit)}" if right else f"{number_text(limit)}+"


def interval_label(low: Fraction, high: Fraction, *, right: bool = False, whole: bool = False) -> str:
    """What an interval is called: by its first and last whole number, or by its limits.

    >>> interval_label(Fraction(20), Fraction(25), whole=True), interval_label(Fraction(0), Fraction(10))
    ('20-24', '[0, 10)')
    """
    if not whole:
        limits = f"{number_text(low)}, {number_text(high)}"
        return f"({limits}]" if right else f"[{limits})"
    first = math.floor(low) + 1 if right else math.ceil(low)
    last = math.floor(high) if right else math.ceil(high) - 1
    if first == last:
        return str(first)
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def number_text(number: Fraction) -> str:
    """A number without superfluous zeros.

    >>> number_text(Fraction(5, 2)), number_text(Fraction(2**54 + 1, 2))
    ('2.5', '9007199254740992.5')
    """
    if number.denominator == 1:
        return str(int(number))
    text = repr(float(number))
    if Fraction(text) == number:
        return text
    # Beyond 2^53 a float has no halves.
    with localcontext(prec=100):
        return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


def multiples(values: Sequence[float], width: Fraction, start: Fraction, *, right: bool, whole: bool) -> NDArray[Any]:
    """For each number the k of its interval, which goes from start + k width to start + (k + 1) width.

    >>> multiples([0.1, 0.3, 0.7], Fraction(1, 10), Fraction(0), right=False, whole=False).tolist()
    [1.0, 3.0, 7.0]
    """
    if whole:
        unit = math.lcm(width.denominator, start.denominator)
        distance, step = array_of(values, True, unit, int(start * unit)), int(width * unit)
        if step >= SAFE:
            distance = distance.astype(object)
        return -(-distance // step) - 1 if right else distance // step
    numbers = array_of(values, False)
    with np.errstate(over="ignore"):
        places = (numbers - float(start)) / float(width)
    k = np.ceil(places) - 1 if right else np.floor(places)
    if not (np.abs(k) < 2.0**53).all():
        raise TacitaError("width is too small for numbers that large; choose a larger one or set bottom and top.")
    # The division was rounded: compare with the limits themselves.
    different, where = np.unique(k, return_inverse=True)
    low, high = (_limits(different + offset, width, start)[where] for offset in (0, 1))
    outside = (numbers > high).astype(int) - (numbers <= low) if right else (numbers >= high) * 1 - (numbers < low)
    nearest: Floats = k + outside
    return nearest


def _limits(k: Floats, width: Fraction, start: Fraction) -> Floats:
    return np.array([float(start + int(each) * width) for each in k], dtype=np.float64)


def equal_count_breaks(values: Sequence[float], counts: Ints, groups: int, *, right: bool = False) -> list[float]:
    """Breaks that part ascending values, each with its count, into groups of about as many records.

    A value is never parted, so there may be fewer groups. A break stands in the labels, and should not be what some
    record has: it is the roundest number near the place where counts are most equal, at most a twentieth of a group
    away.

    >>> equal_count_breaks([11.3, 17.9, 21.4, 38.2], np.array([1, 1, 1, 1]), 2)
    [20.0]
    """
    upto, total = np.cumsum(counts)[:-1], int(counts.sum())
    parted: dict[int, float] = {}
    for group in range(1, groups if len(upto) else 1):
        # Whole numbers, so that nothing is rounded; of two places equally near the lower one.
        best = int(np.abs(upto * groups - total * group).argmin())
        near = np.flatnonzero(np.abs(upto - upto[best]) * SLACK * groups <= total)
        limit = _parting(values[near[0]], values[near[-1] + 1], right)
        below = (bisect_right if right else bisect_left)(values, limit)
        parted.setdefault(below, limit)
    return [parted[place] for place in sorted(parted)]


def _parting(low: float, high: float, right: bool) -> float:
    return -roundest(-high, -low) if right else roundest(low, high)


def roundest(low: float, high: float) -> float:
    """The number above `low` and not above `high` with the fewest digits: a multiple of the highest power of ten.

    >>> roundest(17.9, 21.4), roundest(1, 2), roundest(-3, 5), roundest(17, 19)
    (20.0, 2, 0, 18)
    """
    if low < 0 <= high:
        return 0
    kind = int if isinstance(low, int) and isinstance(high, int) else float
    ends = [Decimal(str(end)) for end in (low, high)]
    finest = int(ends[1].as_tuple().exponent)
    for power in range(max(end.adjusted() for end in ends) + 1, finest, -1):
        unit = Fraction(10) ** power
        candidate = math.floor(exact(high) / unit) * unit
        if low < kind(candidate) <= high and candidate > exact(low):
            return kind(candidate)
    # No rounder number: one less in the last digit is as long, and not what some record has.
    below = exact(high) - Fraction(10) ** finest
    return kind(below) if exact(low) < below and low < kind(below) < high else high
