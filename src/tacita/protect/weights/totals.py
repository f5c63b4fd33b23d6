"""Weights between limits whose total is kept: what trimming and noise share."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.keys.source import WEIGHT_BITS, as_float, group_sums

FEASIBLE = 1e-12
"""Limits that miss the total by less than this share are taken to meet it."""


def cell_totals(values: Floats, cell: Ints, cells: int) -> Floats:
    """Sums by cell that do not depend on the order of the records."""
    return as_float(group_sums(values, cell, cells, WEIGHT_BITS), WEIGHT_BITS)


def scaled_between(
    weight: Floats, size: Floats, cell: Ints, total: Floats, least: float, most: float = np.inf
) -> Floats:
    """Weights min(max(c w, least), most) with the one c for each cell that gives its total.

    `size` is how many records each weight counts for. The sum is a rising piecewise linear function of c: its bends are
    sorted, the piece that reaches the total is looked up, and c is solved on it.

    >>> scaled_between(np.array([1.0, 3.0, 8.0]), np.ones(3), np.zeros(3, int), np.array([12.0]), 0.0, 6.0).tolist()
    [1.5, 4.5, 6.0]
    """
    cells = len(total)
    # c is free, and sums of very small numbers would lose digits: the greatest weight of each cell is brought near the
    # total, by a power of two, which rounds nothing.
    greatest = np.zeros(cells)
    np.maximum.at(greatest, cell, weight)
    ratio = np.divide(total, greatest, out=np.ones(cells), where=(greatest > 0) & (total > 0))
    weight = weight * np.exp2(np.floor(np.log2(ratio)))[cell]
    mass = weight * size
    ends = [(least, 1.0), (most, -1.0)] if np.isfinite(most) else [(least, 1.0)]
    bend = np.concatenate([limit / weight for limit, _ in ends])
    slope = np.concatenate([sign * mass for _, sign in ends])
    level = np.concatenate([-sign * limit * size for limit, sign in ends])
    place = np.tile(cell, len(ends))
    order = np.lexsort((bend, place))
    bend, slope, level, place = bend[order], slope[order], level[order], place[order]
    count = np.bincount(place, minlength=cells)
    start = np.cumsum(count) - count
    slope, level = _sums_within(slope, start, place), _sums_within(level, start, place)
    reached = (cell_totals(least * size, cell, cells) if least else np.zeros(cells))[place] + level + slope * bend
    below = np.bincount(place[reached <= total[place]], minlength=cells)
    at = start + np.maximum(below, 1) - 1
    rest = np.maximum(total - reached[at], 0.0)
    factor = bend[at] + np.divide(rest, slope[at], out=np.zeros(cells), where=slope[at] > 0)
    fresh = np.clip(factor[cell] * weight, least, most)
    return _rescaled_exactly(fresh, weight, size, cell, total, least, most)


def _sums_within(values: Floats, start: Ints, place: Ints) -> Floats:
    """Running sums that begin anew in each cell; the values stand cell by cell."""
    running = np.cumsum(values)
    before = np.where(start > 0, running[start - 1], 0.0)
    found: Floats = running - before[place]
    return found


def _rescaled_exactly(
    fresh: Floats, weight: Floats, size: Floats, cell: Ints, total: Floats, least: float, most: float
) -> Floats:
    """The same with c solved once more from sums without rounding errors, now that it is known who is at a limit."""
    cells, free = len(total), (fresh > least) & (fresh < most)
    fixed = cell_totals(np.where(free, 0.0, fresh * size), cell, cells)
    loose = cell_totals(np.where(free, weight * size, 0.0), cell, cells)
    factor = np.divide(total - fixed, loose, out=np.ones(cells), where=loose > 0)
    return np.where(free, np.clip(factor[cell] * weight, least, most), fresh)


def check_limits(size: Floats, cell: Ints, total: Floats, least: float, most: float, upper: str = "most") -> None:
    """An error if a group's total cannot be reached by weights between the limits; `upper` is the name of the upper."""
    records = cell_totals(size, cell, len(total))
    with np.errstate(over="ignore"):
        low: Bools = records * least > total * (1 + FEASIBLE)
        high: Bools = records * most < total * (1 - FEASIBLE)
    for wrong, limit, word, way in ((low, "least", "above", "lower"), (high, upper, "below", "raise")):
        if wrong.any():
            where = f" in {int(wrong.sum()):,} of {len(total):,} groups" if len(total) > 1 else ""
            way = "lower" if limit == "share" else way
            raise TacitaError(f"weights within {limit} add up to a total {word} the one to keep{where}; {way} {limit}.")


def greatest_change(before: Floats, after: Floats, size: Floats, cell: Ints, cells: int) -> float:
    """The greatest relative change of a cell's total."""
    was, now = cell_totals(before * size, cell, cells), cell_totals(after * size, cell, cells)
    return float(np.max(np.abs(now - was) / was, initial=0.0))
