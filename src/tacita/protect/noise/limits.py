"""What noisy numbers may be: bounds, signs, no codes for missing; and column totals that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.variable import among_codes
from tacita.protect.numeric_table import NumericTable

ROUNDS = 200
"""Halvings until a total is met: more than the digits of a float."""


class Limits(NamedTuple):
    """What each number may become."""

    lower: Floats
    """By record and variable: the least number allowed."""
    upper: Floats
    """And the greatest."""
    whole: Bools
    """By variable: whether numbers are rounded to whole ones before they are judged."""
    codes: tuple[tuple[tuple[Any, ...], tuple[tuple[float, float], ...]], ...]
    """By variable: codes, and ranges of codes, that stand for missing or not applicable."""

    def broken(self, rows: Ints, fresh: Floats) -> Bools:
        """Which of the fresh numbers of some records may not be."""
        final = self.rounded(fresh)
        wrong: Bools = (final < self.lower[rows]) | (final > self.upper[rows])
        return wrong | self.coded(final)

    def coded(self, final: Floats) -> Bools:
        """Which numbers are codes for missing or not applicable."""
        found = np.zeros(final.shape, dtype=np.bool_)
        for place, (codes, ranges) in enumerate(self.codes):
            if codes or ranges:
                found[:, place] = among_codes(final[:, place], codes, ranges)
        return found

    def beside_codes(self, given: Floats, fresh: Floats) -> tuple[Floats, int]:
        """Whole numbers that became codes moved one by one towards what they were, and how many there were."""
        fresh, first = fresh.copy(), 0
        while (wrong := self.coded(self.rounded(fresh)) & self.whole & ~np.isnan(given)).any():
            first = first or int(wrong.sum())
            fresh = np.where(wrong, np.rint(fresh) + np.sign(given - np.rint(fresh)), fresh)
        return fresh, first

    def rounded(self, fresh: Floats) -> Floats:
        """Fresh numbers as they will be released: in columns of whole numbers, whole."""
        return np.where(self.whole, np.rint(fresh), fresh) if self.whole.any() else fresh

    def brought_inside(self, rows: Ints, fresh: Floats) -> Floats:
        """What is outside mirrored at the bound that it crossed, or put at a bound where that is outside too."""
        lower, upper = self.lower[rows], self.upper[rows]
        with np.errstate(invalid="ignore"):
            mirrored = np.where(fresh < lower, 2 * lower - fresh, np.where(fresh > upper, 2 * upper - fresh, fresh))
        return np.clip(mirrored, lower, upper)


def limits_of(given: NumericTable, data: Data, least: Any, greatest: Any, signs: bool) -> Limits:
    """The limits of a file; an error where its numbers are outside them already."""
    whole, shape = given.whole, given.values.shape
    bounds = [_by_variable(each, given.names, usual) for each, usual in ((least, -np.inf), (greatest, np.inf))]
    # Between whole numbers the bounds are whole.
    lower, upper = np.where(whole, np.ceil(bounds[0]), bounds[0]), np.where(whole, np.floor(bounds[1]), bounds[1])
    _check_inside(given, lower, upper)
    known = [data.variable(name) for name in given.names]
    codes = tuple(((*each.missing, *each.not_applicable), tuple(each.missing_ranges)) for each in known)
    low, high = (np.broadcast_to(each, shape) for each in (lower, upper))
    if signs:
        smallest = np.where(whole, 1.0, np.finfo(np.float64).tiny)
        low = np.where(given.values > 0, np.maximum(low, smallest), low)
        high = np.where(given.values < 0, np.minimum(high, -smallest), high)
    return Limits(low, high, whole, codes)


def _by_variable(given: Any, names: tuple[str, ...], usual: float) -> Floats:
    if given is None:
        return np.full(len(names), usual)
    return np.array([float(given.get(name, usual) if isinstance(given, Mapping) else given) for name in names])


def _check_inside(given: NumericTable, lower: Floats, upper: Floats) -> None:
    for place, name in enumerate(given.names):
        column = given.values[:, place]
        count = int(((column < lower[place]) | (column > upper[place])).sum())
        if count:
            raise TacitaError(
                f"{check.counted(count, 'number')} of {name!r} {'is' if count == 1 else 'are'} outside least and "
                f"greatest before any noise; widen them, or use TopCode or BottomCode first."
            )


def with_total(
    before: Floats, fresh: Floats, changeable: Bools, weight: Floats, limits: tuple[Floats, Floats]
) -> Floats:
    """Fresh numbers of one column brought to the total that there was, within their limits.

    All numbers that may change are multiplied by one factor; where some are negative one number is added to all. The
    weights are those of the total.

    >>> ends = (np.full(3, -np.inf), np.full(3, np.inf))
    >>> with_total(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]), np.ones(3, bool), np.ones(3), ends).tolist()
    [1.0, 2.0, 3.0]
    """
    where = np.flatnonzero(changeable)
    old, new, mass = before[where], fresh[where], weight[where]
    low, high = limits[0][where], limits[1][where]
    target = float(mass @ old)
    scaled = bool((old >= 0).all() and (new >= 0).all() and (mass @ new > 0))
    rate = new if scaled else np.ones(len(new))
    # new + t rate: t = factor - 1, or what is added to each.
    step = (target - float(mass @ new)) / float(mass @ rate) if len(where) else 0.0
    made = new + step * rate
    if ((made < low) | (made > high)).any():
        made = _within(new, rate, mass, target, low, high, -1.0 if scaled else -np.inf)
    out = fresh.copy()
    out[where] = made
    return out


def _within(new: Floats, rate: Floats, mass: Floats, target: float, low: Floats, high: Floats, least: float) -> Floats:
    """The numbers new + t rate, cut at their limits, with the t that meets the target best."""

    def at(t: float) -> Floats:
        return np.clip(new + t * rate, low, high)

    reach = 1.0 + abs(target) / max(float(mass @ rate), 1e-300)
    start, end = max(-reach, least), reach
    while float(mass @ at(end)) < target and end < 1e12 * reach:
        end *= 2.0
    while float(mass @ at(start)) > target and start > least and start > -1e12 * reach:
        start = max(2.0 * start, least)
    for _ in range(ROUNDS):
        middle = (start + end) / 2.0
        if not start < middle < end:
            break
        start, end = (middle, end) if float(mass @ at(middle)) < target else (start, middle)
    return at(end)


def whole_with_total(values: Floats, weight: Floats, total: float) -> Floats:
    """Numbers rounded down or up so that their weighted sum is as near to a total as can be: the greatest remainders
    go up.

    >>> whole_with_total(np.array([1.5, 2.25, 3.25]), np.ones(3), 7.0).tolist()
    [2.0, 2.0, 3.0]
    """
    down = np.floor(values)
    order = np.argsort(down - values, kind="stable")
    missing = total - np.concatenate([[0.0], np.cumsum(weight[order])]) - float(weight @ down)
    down[order[: int(np.abs(missing).argmin())]] += 1.0
    return down
