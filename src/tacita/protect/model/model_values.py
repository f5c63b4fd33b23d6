"""A regression whose fitted values are released, and what is moved besides: arrays in, arrays out.

Rows are records in the order of their numbers. Numbers are on the scale of the model, logarithms as a rule; NaN where
there is none, as of a zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.shuffle.rank_model import mid_ranks

LEAST = 5
"""A column that tells fewer records than this from the others is left out: the model would give them back."""


class Fit(NamedTuple):
    """A regression."""

    fitted: Floats
    deviation: float
    """The standard deviation of the residuals, divided by n less the coefficients."""
    columns: int
    """How many columns predict, besides the constant."""


def number_columns(others: Floats, zero: Bools) -> list[Floats]:
    """Columns of other numbers: the number, its mean where there is none, and whether it is zero, and missing.

    >>> log = np.array([[1.0], [2.0], [3.0], [np.nan]])
    >>> [column.tolist() for column in number_columns(np.repeat(log, 5, axis=0), np.zeros((20, 1), bool))][0][::5]
    [1.0, 2.0, 3.0, 2.0]
    """
    columns: list[Floats] = []
    for number, nought in zip(others.T, zero.T, strict=True):
        there = ~np.isnan(number)
        if there.sum() >= LEAST:
            columns.append(np.where(there, number, number[there].mean()))
        columns += [each.astype(np.float64) for each in (nought, ~there & ~nought) if _tells(each)]
    return columns


def category_columns(codes: Ints) -> list[Floats]:
    """For each variable an indicator of every category, missing being one, but the most frequent and rare ones."""
    columns: list[Floats] = []
    for code in codes.T:
        count = np.bincount(code)
        usual = int(count.argmax())
        found = [code == place for place in range(len(count)) if place != usual and count[place]]
        columns += [each.astype(np.float64) for each in found if _tells(each)]
    return columns


def _tells(where: Bools) -> bool:
    """Whether an indicator is neither nearly always nor hardly ever 1."""
    count = int(where.sum())
    return LEAST <= count <= len(where) - LEAST


def regression(values: Floats, numbers: list[Floats], categories: list[Floats], weight: Floats) -> Fit:
    """Weighted least squares of values on a constant and columns.

    With fewer than 2 c + 2 records for c columns the model would come close to the values themselves: then the
    categories are left out, and if that is not enough everything but the constant.
    """
    size = len(values)
    choices = [each for each in ([*numbers, *categories], numbers) if size >= 2 * len(each) + 2]
    columns = choices[0] if choices else []
    design = np.column_stack([np.ones(size), *columns])
    scale = np.abs(design).max(axis=0)
    design = design / np.where(scale > 0, scale, 1.0)
    root = np.sqrt(weight / weight.mean())
    beta, _, rank, _ = np.linalg.lstsq(design * root[:, None], values * root, rcond=1e-10)
    fitted: Floats = design @ beta
    left = (values - fitted) * root
    return Fit(fitted, float(np.sqrt((left * left).sum() / max(size - int(rank), 1))), len(columns))


def moved_tails(fit: Fit, values: Floats, tail: float, factor: float) -> Floats:
    """Fitted values, those of the tails moved towards the centre by up to `factor` residual standard deviations.

    With v = rank(x)/(n + 1), tail share q, fitted m and residual deviation s:
    m - F s (v - 1 + q)/q for v > 1 - q, m + F s (q - v)/q for v < q, m otherwise.

    >>> fit = Fit(np.zeros(4), 1.0, 0)
    >>> moved_tails(fit, np.array([1.0, 2.0, 3.0, 9.0]), tail=0.4, factor=2.0).round(6).tolist()
    [1.0, 0.0, 0.0, -1.0]
    """
    share = mid_ranks(values) / (len(values) + 1)
    if tail == 0:
        return fit.fitted
    upper, lower = (np.maximum(each, 0.0) / tail for each in (share - 1 + tail, tail - share))
    moved: Floats = fit.fitted + factor * fit.deviation * (lower - upper)
    return moved
