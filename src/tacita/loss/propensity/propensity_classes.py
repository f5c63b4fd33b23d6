"""Variables of both files, one above the other, as a propensity model takes them: classes, numbers, features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.loss.both_files import Both, both_numbers, both_numeric
from tacita.loss.common_classes import common_classes


class Stacked(NamedTuple):
    """One variable of both files, the records of the original first."""

    name: str
    codes: Ints
    """Classes 0, 1, ...: the most frequent categories and the others, or intervals of numbers; missing is a class."""
    size: int
    """How many classes there are."""
    numbers: Floats | None
    """The numbers, NaN where missing; None for categories."""
    categories: Ints
    """All categories, 0 for missing; of numbers the same as the classes."""
    recoded: bool
    """Whether the classes are those of the release."""


def stacked(both: Both, name: str, most: int) -> Stacked:
    """A variable of both files with at most `most` classes, and one for missing values or all others."""
    first = len(both.original)
    if both_numeric(both, name):
        numbers = np.concatenate(both_numbers(both, name))
        codes, size = dense(intervals(numbers, first, most))
        return Stacked(name, codes, size, numbers, codes, False)
    classes = common_classes(both, name)
    categories = np.concatenate(classes.both)
    codes, size = dense(most_frequent(categories, first, most))
    return Stacked(name, codes, size, None, categories, classes.recoded)


def intervals(numbers: Floats, first: int, most: int) -> Ints:
    """Numbers cut at quantiles of the first so many, 0 where missing.

    >>> intervals(np.array([1.0, 2.0, 3.0, 4.0, np.nan, 9.0]), 4, 2).tolist()
    [1, 1, 2, 2, 0, 2]
    """
    shown = numbers[:first][~np.isnan(numbers[:first])]
    if not len(shown):
        return np.where(np.isnan(numbers), 0, 1)
    ends = np.unique(np.quantile(shown, np.linspace(0, 1, most + 1)[1:-1]))
    return np.where(np.isnan(numbers), 0, 1 + np.searchsorted(ends, numbers))


def most_frequent(codes: Ints, first: int, most: int) -> Ints:
    """The most frequent codes of the first so many as 1, 2, ..., all others together.

    >>> most_frequent(np.array([5, 5, 7, 2, 7, 5]), 6, 2).tolist()
    [1, 1, 2, 3, 2, 1]
    """
    before = np.bincount(codes[:first], minlength=int(codes.max()) + 1)
    kept = np.argsort(-before, kind="stable")[:most]
    lookup = np.full(len(before), most + 1)
    lookup[kept] = np.arange(1, len(kept) + 1)
    return lookup[codes]


def dense(codes: Ints) -> tuple[Ints, int]:
    """Codes that occur as 0, 1, ..., and how many there are."""
    occurs = np.bincount(codes) > 0
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum())


class Alone(NamedTuple):
    """How far the classes of one or two variables by themselves tell the files apart."""

    variables: tuple[str, ...]
    pmse: float
    ratio: float
    """pMSE over its expectation; NaN for a single class."""


def alone(columns: tuple[Stacked, ...], released: Floats) -> Alone:
    """The pMSE of all classes of some variables crossed: the score is the share of the release in each."""
    codes = np.zeros(len(released), np.int64)
    for column in columns:
        codes, _ = dense(codes * column.size + column.codes)
    share = float(released.mean())
    size = np.bincount(codes)
    scores = np.bincount(codes, weights=released) / size
    pmse = float((size * np.square(scores - share)).sum()) / len(released)
    expected = null_mean(len(size), share, len(released))
    return Alone(tuple(column.name for column in columns), pmse, pmse / expected if expected else np.nan)


def null_mean(coefficients: int, share: float, records: int) -> float:
    """The expectation of the pMSE of a release that was drawn from the right model (Snoke et al. 2018)."""
    return (coefficients - 1) * (1.0 - share) ** 2 * share / records


def null_sd(coefficients: int, share: float, records: int) -> float:
    """Its standard deviation."""
    return float(np.sqrt(2.0 * (coefficients - 1))) * (1.0 - share) ** 2 * share / records
