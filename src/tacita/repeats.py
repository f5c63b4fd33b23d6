"""Counts, means and medians over rows that stand for several records each; where `repeats` is None, for one each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats, Ints


def how_many(which: Bools, repeats: Ints | None) -> int:
    """The records of the rows that are marked.

    >>> how_many(np.array([True, False, True]), np.array([2, 7, 3]))
    5
    """
    return int(which.sum() if repeats is None else repeats[which].sum())


def counts(codes: NDArray[np.integer], repeats: Ints | None, size: int = 0) -> Ints:
    """By code its records.

    >>> counts(np.array([1, 0, 1]), np.array([2, 7, 3])).tolist()
    [7, 5]
    """
    # Doubles hold whole numbers up to 2^53.
    return np.bincount(codes, weights=repeats, minlength=size).astype(np.int64)


def distinct(codes: NDArray[np.integer], repeats: Ints | None) -> tuple[Ints, Ints]:
    """The different codes in ascending order, and how many records have each.

    >>> [each.tolist() for each in distinct(np.array([7, 3, 7]), np.array([2, 5, 3]))]
    [[3, 7], [5, 5]]
    """
    if repeats is None:
        return np.unique(codes, return_counts=True)
    different, place = np.unique(codes, return_inverse=True)
    return different, counts(place, repeats)


def mean(values: NDArray[Any], repeats: Ints | None) -> float:
    """The mean over records.

    >>> mean(np.array([1.0, 3.0]), np.array([3, 1]))
    1.5
    """
    return float(values.mean() if repeats is None else (values * repeats).sum() / repeats.sum())


def total(values: NDArray[Any], repeats: Ints | None) -> float:
    """The sum over records."""
    return float(values.sum() if repeats is None else (values * repeats).sum())


def median(values: Floats, repeats: Ints | None) -> float:
    """The median over records, between the middle two if their number is even.

    >>> median(np.array([1.0, 5.0, 9.0]), np.array([2, 1, 1])), median(np.array([1.0, 5.0]), np.array([2, 3]))
    (3.0, 5.0)
    """
    if repeats is None:
        return float(np.median(values))
    order = np.argsort(values)
    until = np.cumsum(repeats[order])
    middle = (until[-1] - 1) // 2, until[-1] // 2
    low, high = (values[order[np.searchsorted(until, place, side="right")]] for place in middle)
    return float((low + high) / 2)


def sd(values: Floats, repeats: Ints | None) -> float:
    """The standard deviation (n - 1) over records."""
    if repeats is None:
        return float(values.std(ddof=1))
    return float(np.sqrt(total((values - mean(values, repeats)) ** 2, repeats) / (repeats.sum() - 1)))


def some(repeats: Ints | None, rows: Any) -> Ints | None:
    """How many records some of the rows stand for."""
    return None if repeats is None else repeats[rows]
