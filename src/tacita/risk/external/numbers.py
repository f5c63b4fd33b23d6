"""When a number that an intruder knows agrees with a released one: by the ends of the interval around the released."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.external.agreement import NOTHING, Level
from tacita.risk.external.recoding import Ranges

SLACK = 1e-12
"""Relative rounding that counts as agreement: 105 agrees with 100 at 5 %, whatever 0.05 * 100 is in a computer."""
NARROWEST = 1e-16
"""With a tolerance next to 1 the nearer end stays on its side of 0, with which only 0 agrees."""


def lower_end(values: Floats, tolerance: float) -> Floats:
    """The least number that agrees with each value: |x# - x| <= tolerance |x|.

    A factor keeps the order of numbers, however they are rounded.
    """
    less, more = _factors(tolerance)
    ends: Floats = np.where(values > 0, values * less, values * more)
    return ends


def upper_end(values: Floats, tolerance: float) -> Floats:
    """The greatest number that agrees with each value.

    >>> (upper_end(np.array([100.0, 0.0, -100.0]), 0.05) >= [105.0, 0.0, -95.0]).tolist()
    [True, True, True]
    """
    less, more = _factors(tolerance)
    ends: Floats = np.where(values > 0, values * more, values * less)
    return ends


def _factors(tolerance: float) -> tuple[float, float]:
    return max(1.0 - (tolerance + SLACK), NARROWEST), 1.0 + (tolerance + SLACK)


class Placed(NamedTuple):
    """Released ranges as places on levels, and who agrees with them."""

    levels: tuple[Level, ...]
    level: Ints
    """By released value: its level."""
    place: Ints
    """By released value: its place there."""


def placed(known: Floats, ranges: Ranges, tolerance: float) -> Placed:
    """The places of each level that each known number agrees with; nobody agrees with a range that was never seen."""
    never = np.isnan(ranges.low)
    count = int(ranges.level.max(initial=0)) + 1
    level, place = np.where(never, count, ranges.level), np.zeros(len(never), np.int64)
    levels = []
    for number in range(count):
        here = np.flatnonzero(level == number)
        here = here[np.lexsort((ranges.high[here], ranges.low[here]))]
        place[here] = np.arange(len(here))
        first = np.searchsorted(upper_end(ranges.high[here], tolerance), known, side="left")
        last = np.searchsorted(lower_end(ranges.low[here], tolerance), known, side="right") - 1
        none = np.isnan(known) | (first > last)
        levels.append(Level(np.where(none, NOTHING, first), np.where(none, NOTHING, last)))
    nobody = Level(np.full(len(known), NOTHING))
    return Placed((*levels, nobody), level, place)


def nearest_agrees(known: Floats, low: Floats, high: Floats, tolerance: float) -> Bools:
    """Whether the released range that is nearest to each known number agrees with it; of several, whether one does.

    >>> nearest_agrees(np.array([104.0, 108.0]), np.array([100.0, 120.0]), np.array([100.0, 120.0]), 0.05).tolist()
    [True, False]
    """
    shown = ~np.isnan(low)
    order = np.argsort(low[shown], kind="stable")
    low, reached = low[shown][order], np.maximum.accumulate(high[shown][order])
    if not len(low):
        return np.zeros(len(known), dtype=np.bool_)
    after = np.searchsorted(low, known, side="right")
    below = np.where(after > 0, reached[np.maximum(after - 1, 0)], -np.inf)
    above = np.where(after < len(low), low[np.minimum(after, len(low) - 1)], np.inf)
    # Inside a range the distance is none.
    to_below, to_above = np.maximum(known - below, 0.0), above - known
    agrees_below = known <= upper_end(below, tolerance)
    agrees_above = known >= lower_end(above, tolerance)
    found: Bools = ((to_below <= to_above) & agrees_below) | ((to_above <= to_below) & agrees_above)
    return found
