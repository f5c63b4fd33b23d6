"""Sums over cells of a table, corrected axis by axis: the product of all matrices is never built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats


class Moments(NamedTuple):
    """What the records of a table add up to, by cell of the corrected table.

    A record that shows category y stands for h_y(k) records of category k, where h is the inverse of the transition
    matrix, over several variables the product of their inverses; w is the record's weight.
    """

    estimate: Floats
    """Sum of w h."""
    squares: Floats
    """Sum of (w h)^2."""
    linear: Floats
    """Sum of w^2 h: what the sum of w^2 over the records truly in the cell is estimated by."""


def along_axes(table: Floats, matrices: Sequence[Floats]) -> Floats:
    """A table multiplied by one matrix along each of its axes.

    >>> along_axes(np.array([[1.0, 2.0], [3.0, 4.0]]), [np.eye(2), np.array([[1.0], [1.0]])]).tolist()
    [[3.0], [7.0]]
    """
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(table, matrix, axes=(axis, 0)), -1, axis)
    return table


def moments(sums: Floats, square_sums: Floats, inverses: Sequence[Floats]) -> Moments:
    """Of sums of weights, and of their squares, by released cell: the moments by corrected cell."""
    return Moments(
        along_axes(sums, inverses),
        along_axes(square_sums, [inverse**2 for inverse in inverses]),
        along_axes(square_sums, inverses),
    )


def randomisation_variance(found: Moments) -> Floats:
    """Variance of the estimates over the draws of PRAM, given the true data: sum of w^2 h (h - 1), without bias."""
    return found.squares - found.linear


def sampling_variance(found: Moments, records: int) -> Floats:
    """Variance over both the sample and the draws, as of a sample drawn with replacement with these weights.

    n / (n - 1) times the sum of (w h - its mean)^2.
    """
    if records < 2:
        return np.full(found.estimate.shape, np.nan)
    variance: Floats = records / (records - 1) * (found.squares - found.estimate**2 / records)
    return variance
