"""A whole file made noisy: each pattern of cells by itself, draws outside the limits repeated."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.protect.code_outliers import middle
from tacita.protect.noise.exact_sums import deviation
from tacita.protect.noise.limits import Limits
from tacita.protect.noise.methods import BY_CELL, EXACT, TOGETHER, restricted
from tacita.protect.noise.moments import Group, groups, moments

TRIES = 100
"""So often is noise drawn again that would leave the limits."""
OUTLYING = 0.975
"""Quantile of the chi-squared distribution beyond which a squared robust distance is outlying."""
TAIL = 0.01
"""A number in this share of the records at either end is outlying."""

Draw = Callable[[Ints, int], Floats]
"""Standard normal numbers for some rows, by variable, and the number of the try."""
Make = Callable[[Floats, Floats], Floats]
"""Rows of numbers and of draws to noisy rows."""


class File(NamedTuple):
    """The numbers of a file, by record number."""

    values: Floats
    """NaN where there is no number."""
    record: Ints
    changeable: Bools
    """Which cells may change: not missing, and no zero that is kept."""
    weight: Floats
    """What a record counts for in means and covariances."""
    limits: Limits
    draw: Draw
    deviations: Floats | None = None
    """By variable the standard deviation in the whole file, where these records are some of it."""


class Noisy(NamedTuple):
    """The file after it."""

    values: Floats
    covariance: Floats
    """Covariance of the noise that was added, averaged over the records whose cells may change."""
    kept: float
    """What the deviation from the mean was multiplied by; 1 where noise was only added."""
    at_bound: int
    """Numbers mirrored or put at a bound because no draw stayed inside."""
    borrowed: int
    """Records with too few of their own pattern, which took the covariance of others."""
    records: int
    """Records that got noise."""
    robust: bool = True
    """Whether outliers were also looked for over all variables together."""


def noisy(method: str, amount: float, file: File) -> Noisy:
    """The file with noise of one of the methods."""
    if method in BY_CELL or method == "outliers":
        return _by_cell(method, amount, file)
    return _together(method, amount, file)


def outlying(file: File) -> tuple[Bools, bool]:
    """Records beyond the 1st or 99th percentile of a variable, or far from the centre of all variables together.

    Far is a robust Mahalanobis distance above the root of the 0.975 quantile of chi-squared, of complete records. Where
    variables are sums of others, or records are few, there is no robust covariance, and the second answer is false.
    """
    from scipy.special import chdtri

    far: Bools = np.zeros(len(file.values), dtype=np.bool_)
    for column in file.values.T:
        there = column[~np.isnan(column)]
        if len(there):
            low, high = np.quantile(there, [TAIL, 1 - TAIL])
            far |= (column < low) | (column > high)
    complete = np.flatnonzero(~np.isnan(file.values).any(axis=1))
    try:
        centre, covariance = middle(file.values[complete], file.record[complete], robust=True)
    except TacitaError:
        return far, False
    moved = file.values[complete] - centre
    squared = np.einsum("ij,ij->i", moved, np.linalg.solve(covariance, moved.T).T)
    far[complete] |= squared > float(chdtri(moved.shape[1], 1.0 - OUTLYING))
    return far, True


def deviations(values: Floats, weight: Floats) -> Floats:
    """The standard deviation of each variable, of the numbers that are there; 0 where there are none."""
    found = np.zeros(values.shape[1])
    for place, column in enumerate(values.T):
        there = ~np.isnan(column)
        if (weight == 1.0).all():
            # Exactly, so that a file whose records come in parts gets the same noise.
            found[place] = deviation(partial(tuple, [column[there]]))
        elif there.any():
            found[place] = np.sqrt(moments(column[there, None], weight[there]).covariance[0, 0])
    return found


def _by_cell(method: str, amount: float, file: File) -> Noisy:
    """Noise for each cell on its own."""
    make = BY_CELL["additive" if method == "outliers" else method]
    sd = deviations(file.values, file.weight) if file.deviations is None else file.deviations
    far, robust = outlying(file) if method == "outliers" else (True, True)
    rows = np.flatnonzero(file.changeable.any(axis=1) & far)
    fresh, at_bound = redrawn(file, rows, lambda part, normal: make(part, sd, amount, normal), whole_records=False)
    values = file.values.copy()
    values[rows] = fresh
    spread = np.diag((amount * sd) ** 2) if make is BY_CELL["additive"] else _factor_spread(file, rows, method, amount)
    return Noisy(values, spread, 1.0, at_bound, 0, len(rows), robust)


def _factor_spread(file: File, rows: Ints, method: str, amount: float) -> Floats:
    """The covariance that factors add on average: the variance of a factor times the mean square of the numbers."""
    variance = np.expm1(amount * amount) if method == "multiplicative" else amount * amount * 11.0 / 6.0
    part = np.where(file.changeable[rows], file.values[rows], 0.0)
    count = np.maximum(file.changeable[rows].sum(axis=0), 1)
    return np.diag(variance * (part**2).sum(axis=0) / count)


def _together(method: str, amount: float, file: File) -> Noisy:
    """Noise for the cells of a record together, by the pattern of cells that may change."""
    size = file.values.shape[1]
    values, at_bound, borrowed = file.values.copy(), 0, 0
    spread, pairs = np.zeros((size, size)), np.zeros((size, size))
    kept, share = factors(method, amount)
    for group in groups(file.values, file.changeable, file.weight):
        fresh, outside = _group(method, amount, file, group)
        values[group.rows] = fresh
        at_bound += outside
        borrowed += 0 if group.own else len(group.rows)
        cells = np.ix_(group.columns, group.columns)
        spread[cells] += len(group.rows) * share * share * group.moments.covariance
        pairs[cells] += len(group.rows)
    covariance = spread / np.maximum(pairs, 1)
    return Noisy(values, covariance, kept, at_bound, borrowed, int(file.changeable.any(axis=1).sum()))


def factors(method: str, amount: float) -> tuple[float, float]:
    """What x - m is multiplied by, and the noise, as a share of the standard deviation."""
    if method == "correlated":
        return 1.0, amount
    if method == "delta":
        return float(np.sqrt(1.0 - amount * amount)), amount
    shrunk = 1.0 / np.sqrt(1.0 + amount * amount)
    return float(shrunk), float(amount * shrunk)


def _group(method: str, amount: float, file: File, group: Group) -> tuple[Floats, int]:
    columns, found = group.columns, group.moments
    if method in EXACT and group.own:
        given, normal = file.values[group.rows], file.draw(group.rows, 0)[:, columns]
        fresh = given.copy()
        fresh[:, columns] = EXACT[method](given[:, columns], found, file.weight[group.rows], amount, normal)
        return file.limits.beside_codes(given, fresh)
    masked = TOGETHER.get(method, restricted)

    def make(part: Floats, normal: Floats) -> Floats:
        out = part.copy()
        out[:, columns] = masked(part[:, columns], found, amount, normal[:, columns])
        return out

    return redrawn(file, group.rows, make, whole_records=True)


def redrawn(file: File, rows: Ints, make: Make, *, whole_records: bool) -> tuple[Floats, int]:
    """Noisy rows, drawn again where a number would leave its limits: that number, or its whole record.

    Given the limits the noise is then that of the truncated distribution. What is outside after 100 draws is mirrored
    at its bound, and counted.
    """
    given, changeable = file.values[rows], file.changeable[rows]
    fresh = np.where(changeable, make(given, file.draw(rows, 0)), given)
    left = np.arange(len(rows))
    wrong = file.limits.broken(rows, fresh) & changeable
    for attempt in range(1, TRIES):
        again = wrong.any(axis=1)
        if not again.any():
            return fresh, 0
        left, wrong = left[again], wrong[again]
        replaced = changeable[left] if whole_records else wrong
        fresh[left] = np.where(replaced, make(given[left], file.draw(rows[left], attempt)), fresh[left])
        wrong = file.limits.broken(rows[left], fresh[left]) & changeable[left]
    inside = file.limits.brought_inside(rows[left], fresh[left])
    fresh[left] = np.where(wrong, inside, fresh[left])
    return fresh, int(wrong.sum())
