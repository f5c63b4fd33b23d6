"""What a released number costs: exact where it was at most coded, within a window of ranks, or with normal errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.distance.comparison import patterns
from tacita.distance.distances import mapped
from tacita.distance.equal_rows import row_groups
from tacita.risk.external.categories import surprise
from tacita.risk.external.columns import UNKNOWN, Column, equal, square, within

NO_ERROR = 1e-6
"""A variable without errors has some of this share of its spread, so that all can be compared in one way."""
LEAST_ROOM = 1e-12
"""Errors are at least this share of the greatest number."""
UNRELATED = 1e-9
"""A direction in which errors have a smaller share of the variance than this has this share: sums of variables."""
SUPPRESSED, ZERO, SHOWN = range(3)


def codes_of(y: Floats) -> tuple[Floats, Floats]:
    """The distinct released numbers, ascending, and by position their codes from 1, 0 where suppressed."""
    distinct = np.unique(y[~np.isnan(y)])
    return distinct, np.where(np.isnan(y), 0.0, np.searchsorted(distinct, y) + 1.0)


def in_range(x: Floats, y: Floats, lowest: Floats, highest: Floats) -> Column:
    """Released numbers between two limits for each number of the intruder's; a suppressed one could be any."""
    distinct, codes = codes_of(y)
    first = np.searchsorted(distinct, lowest, side="left") + 1
    last = np.searchsorted(distinct, highest, side="right")
    count = np.bincount(codes.astype(np.int64), minlength=len(distinct) + 1)
    count[0] = 0
    total = np.cumsum(count)
    inside = (total[np.maximum(last, first - 1)] - total[first - 1]) / max(int(total[-1]), 1)
    lowest = np.where(np.isnan(x), UNKNOWN, first).astype(np.float64)
    return within(codes, lowest, last.astype(np.float64), surprise(inside, len(y)))


def as_coded(x: Floats, y: Floats, own: tuple[Ints, Ints]) -> Column | None:
    """A number that was at most rounded or cut off: the intruder codes his own alike; None if it was not."""
    ends = coded_ends(x, y, own)
    return None if ends is None else in_range(x, y, *ends)


def coded_ends(x: Floats, y: Floats, own: tuple[Ints, Ints]) -> tuple[Floats, Floats] | None:
    """Between which released numbers a number lies that was at most rounded or cut off; None if it was not.

    Coding keeps the order. Between numbers whose codes are known, others have a code between theirs.
    """
    before, after = x[own[0]], y[own[1]]
    both = ~np.isnan(before) & ~np.isnan(after)
    known, place = np.unique(before[both], return_inverse=True)
    least, most = np.full(len(known), np.inf), np.full(len(known), -np.inf)
    np.minimum.at(least, place, after[both])
    np.maximum.at(most, place, after[both])
    if (most[:-1] > least[1:]).any():
        return None
    if np.array_equal(least, known) and np.array_equal(most, known):
        return x, x  # nothing was coded: a number that is not released is none of the released ones
    at = np.searchsorted(known, x, side="left")
    same = np.isin(x, known)
    low = np.where(same, np.append(least, np.inf)[at], np.insert(most, 0, -np.inf)[at])
    high = np.where(same, np.append(most, np.inf)[at], np.append(least, np.inf)[at])
    return low, high


def in_window(x: Floats, y: Floats, window: int) -> Column:
    """Numbers that changed places with others at most so many ranks away: all of those are equally likely.

    Where one file has more numbers than the other, ranks may be off by as many.
    """
    ordered, released = np.sort(x[~np.isnan(x)]), np.sort(y[~np.isnan(y)])
    if not len(released):
        return in_range(x, y, x, x)
    reach = window + abs(len(ordered) - len(released))
    lowest = np.searchsorted(ordered, x, side="left") - reach
    highest = np.searchsorted(ordered, x, side="right") - 1 + reach
    ends = (np.clip(each, 0, len(released) - 1) for each in (lowest, highest))
    low, high = (released[each] for each in ends)
    return in_range(x, y, low, high)


def exchanged_at_random(x: Floats, y: Floats, rate: float) -> Column:
    """Numbers of which a share was exchanged, any other being as likely as the next."""
    distinct, codes = codes_of(y)
    place = np.minimum(np.searchsorted(distinct, x), max(len(distinct) - 1, 0))
    hit = distinct[place] == x if len(distinct) else np.zeros(len(x), dtype=np.bool_)
    code = np.where(np.isnan(x), UNKNOWN, np.where(hit, place + 1.0, len(distinct) + 2.0))
    return equal(codes, code, *shares_as_costs(rate, len(distinct)))


def shares_as_costs(rate: float, values: int) -> tuple[float, float]:
    """What a kept and what another value costs, where a share was exchanged for any of so many values."""
    other = max(rate, LEAST_ROOM) / max(values, 1)
    return -math.log(min(1.0 - rate + other, 1.0)), -math.log(min(other, 1.0))


class Errors(NamedTuple):
    """Numbers that got normal errors, by position in the ordered files."""

    names: tuple[str, ...]
    expected: Floats
    """By row of the intruder's file: the released numbers that he expects, NaN where he knows none."""
    released: Floats
    """NaN where suppressed."""
    covariance: Floats
    """Of released about expected numbers."""
    zero: Bools
    """By row of the intruder's file: whether the released number must be 0."""
    is_zero: Bools
    """By released row: whether it is."""


class Part(NamedTuple):
    """Records of both files that show the same numbers."""

    intruder: Ints
    released: Ints
    columns: list[Column]
    base: Floats
    """By row of the intruder's file: what all of these released records cost him besides."""


def parts_of(errors: Errors) -> Iterator[Part]:
    """Each pattern of cells that are suppressed, or expected to be 0, by itself: in each distances are plain ones."""
    spread = _spread(errors)
    states = np.where(np.isnan(errors.expected), SUPPRESSED, np.where(errors.zero, ZERO, SHOWN))
    group, _ = row_groups(states.astype(np.float64), states[:0].astype(np.float64))
    rows_of = [np.flatnonzero(group == at) for at in range(int(group.max(initial=-1)) + 1)]
    for theirs, shown in patterns(errors.released):
        for mine in rows_of:
            state = states[mine[0]]
            rows = theirs[errors.is_zero[theirs][:, shown & (state == ZERO)].all(axis=1)]
            if len(rows):
                yield _part(errors, mine, rows, shown, state, spread)


def _part(errors: Errors, mine: Ints, rows: Ints, shown: Bools, state: Ints, spread: Floats) -> Part:
    both = np.flatnonzero(shown & (state == SHOWN))
    base = np.zeros(len(mine))
    for at in np.flatnonzero(~shown & (state == SHOWN)).tolist():
        base += _suppressed(errors, mine, at)
    for at in np.flatnonzero(~shown & (state == ZERO)).tolist():
        there = ~np.isnan(errors.released[:, at])
        base += surprise(np.array([errors.is_zero[there, at].mean() if there.any() else 0.0]), len(there))[0]
    if not len(both):
        return Part(mine, rows, [], base)
    unit = spread[both]
    # Standardised errors, along directions in which they are independent.
    size, direction = np.linalg.eigh(errors.covariance[np.ix_(both, both)] / np.outer(unit, unit))
    size = np.maximum(size, UNRELATED)
    turn = direction / np.sqrt(size)
    x, y = (mapped(values[:, both] / unit, turn) for values in (errors.expected[mine], errors.released[rows]))
    base += 0.5 * float(np.log(size).sum()) + float(np.log(unit).sum()) + 0.5 * len(both) * math.log(2.0 * math.pi)
    return Part(mine, rows, [square(y[:, at], x[:, at]) for at in range(len(both))], base)


def _spread(errors: Errors) -> Floats:
    """By variable the standard deviation of its errors, a little where it has none."""
    found = []
    for at, variance in enumerate(np.diag(errors.covariance).tolist()):
        _, of_released = moments(errors.released[:, at])
        greatest = float(np.nanmax(np.abs(np.append(errors.released[:, at], 0.0))))
        found.append(max(math.sqrt(variance), NO_ERROR * math.sqrt(of_released), LEAST_ROOM * greatest, 1e-150))
    return np.array(found)


def _suppressed(errors: Errors, mine: Ints, at: int) -> Floats:
    """A suppressed number costs what one drawn from a normal distribution like that of the released ones would cost."""
    mean, variance = moments(errors.released[:, at])
    variance = max(variance + float(errors.covariance[at, at]), 1e-300)
    cost: Floats = 0.5 * (errors.expected[mine, at] - mean) ** 2 / variance + 0.5 * math.log(2.0 * math.pi * variance)
    return cost


def moments(values: Floats) -> tuple[float, float]:
    """Mean and variance of the numbers that are shown, whatever their order; 0 where there are none."""
    shown = values[~np.isnan(values)]
    if not len(shown):
        return 0.0, 0.0
    mean = math.fsum(shown) / len(shown)
    return mean, math.fsum((shown - mean) ** 2) / len(shown)
