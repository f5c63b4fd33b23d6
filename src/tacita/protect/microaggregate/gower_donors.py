"""Whose category the members of a group get: donors, given as rows, so that every value is one that somebody has."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.distance.comparison import patterns
from tacita.random import Draws


def mode_donors(codes: Ints, groups: Ints, weights: Floats, records: Ints, draws: Draws) -> Ints:
    """By group: a row with its most frequent category, by the sum of weights; one of several is drawn.

    Codes from 1 on; 0 and group -1 do not count, and a group without any gets -1. The lowest record number of a group
    decides its draw.

    >>> codes, groups = np.array([2, 1, 2, 3, 3]), np.array([0, 0, 0, 1, 1])
    >>> mode_donors(codes, groups, np.ones(5), np.arange(5), Draws(1)).tolist()
    [0, 3]
    """
    rows = _counting(codes, groups)
    width = int(codes.max(initial=0)) + 1
    pair, first, member = np.unique(groups[rows] * width + codes[rows], return_index=True, return_inverse=True)
    group, total = pair // width, np.bincount(member.reshape(-1), weights[rows], minlength=len(pair))
    most = np.zeros(int(groups.max(initial=-1)) + 1)
    np.maximum.at(most, group, total)
    tied = total == most[group]
    return _drawn(rows[first[tied]], group[tied], groups, records, draws)


def drawn_donors(codes: Ints, groups: Ints, records: Ints, draws: Draws) -> Ints:
    """By group: the row of a member that is drawn, each with the same probability; -1 if all codes are 0.

    >>> drawn_donors(np.array([0, 1, 0]), np.array([0, 0, 1]), np.arange(3), Draws(1)).tolist()
    [1, -1]
    """
    rows = _counting(codes, groups)
    rows = rows[np.lexsort((records[rows], groups[rows]))]
    return _drawn(rows, groups[rows], groups, records, draws)


def median_donors(codes: Ints, groups: Ints, weights: Floats) -> Ints:
    """By group: a row with the median of ordered categories, the lowest up to which half of the weight lies.

    >>> median_donors(np.array([1, 3, 2, 2, 4]), np.array([0, 0, 0, 1, 1]), np.ones(5)).tolist()
    [2, 3]
    """
    rows = _counting(codes, groups)
    rows = rows[np.lexsort((codes[rows], groups[rows]))]
    donors = np.full(int(groups.max(initial=-1)) + 1, -1)
    if not len(rows):
        return donors
    size = np.bincount(groups[rows], minlength=len(donors))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size)
    # One line per group, so that what is added up does not depend on other groups.
    weight = np.zeros((len(donors), int(size.max())))
    weight[groups[rows], place] = weights[rows]
    reached = weight.cumsum(axis=1)
    middle = (2 * reached >= reached[:, -1:]).argmax(axis=1)
    there = size > 0
    donors[there] = rows[(np.cumsum(size) - size + middle)[there]]
    return donors


def combinations(codes: Ints) -> Ints:
    """By row of several codes: the number of their combination, from 1 on.

    >>> combinations(np.array([[1, 2], [1, 3], [1, 2]])).tolist()
    [1, 2, 1]
    """
    number = np.zeros(len(codes), np.int64)
    for column in codes.T:
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
    return number + 1


def unseen(codes: Ints, donors: Ints) -> Bools:
    """By record: whether its new categories, the codes of each variable in the rows of its donors, are a combination
    that no record had; what is missing, code 0, is not compared.

    >>> unseen(np.array([[1, 1], [2, 2], [2, 0]]), np.array([[0, 1], [1, 1], [0, 2]])).tolist()
    [True, False, False]
    """
    fresh = np.stack([column[rows] for column, rows in zip(codes.T, donors.T, strict=True)], axis=1)
    found = np.zeros(len(codes), np.bool_)
    for rows, pattern in patterns(np.where(fresh > 0, 0.0, np.nan)):
        had = codes[(codes[:, pattern] > 0).all(axis=1)][:, pattern]
        number = combinations(np.concatenate([had, fresh[rows][:, pattern]]))
        found[rows] = pattern.any() & ~np.isin(number[len(had) :], number[: len(had)])
    return found


def _counting(codes: Ints, groups: Ints) -> Ints:
    return np.flatnonzero((codes > 0) & (groups >= 0))


def _drawn(candidates: Ints, of_group: Ints, groups: Ints, records: Ints, draws: Draws) -> Ints:
    """By group: one of its candidates, which come group by group in an order that the data fix; -1 if it has none."""
    count = int(groups.max(initial=-1)) + 1
    size = np.bincount(of_group, minlength=count)
    lowest = np.full(count, np.iinfo(np.int64).max)
    there = groups >= 0
    np.minimum.at(lowest, groups[there], records[there])
    donors = np.full(count, -1)
    some = np.flatnonzero(size)
    if len(some):
        donors[some] = candidates[(np.cumsum(size) - size)[some] + draws.integers(lowest[some], size[some])]
    return donors
