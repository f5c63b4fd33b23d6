"""What a column tells of original values for certain, and how likely it would by chance."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from tacita.arrays import Floats, Ints
from tacita.repeats import counts, total

FEW_CELLS = 1 << 16
"""Up to so many possible pairs of values, or eight to a record, marking them is quicker than sorting records."""
UNKNOWN = -1
"""Stands for the value of a column that no record of an original value shows."""


def disclosed_classes(classes: Ints, original: Ints, column: Ints) -> Ints:
    """By original value the finest class that a column tells for certain; -1 where no record of the value is given.

    Two original values of one released class are told apart if no chain of records leads from one to the other, each
    record agreeing with the next in the original value or in the column: the connected components of the graph that
    joins the two. A column that is a function of the original tells its own classes, one that determines the original
    tells every value. `classes` is by original value, `original` and `column` by record.

    >>> disclosed_classes(np.zeros(4, int), np.array([0, 0, 1, 2, 3]), np.array([5, 6, 6, 7, 7])).tolist()
    [0, 0, 1, 1]
    """
    size, width = len(classes), int(column.max(initial=0)) + 1
    if size * width <= max(FEW_CELLS, 8 * len(original)):
        # Once each: marking all possible pairs is quicker than sorting records.
        seen = np.zeros(size * width, dtype=np.bool_)
        seen[original * width + column] = True
        original, column = np.divmod(np.flatnonzero(seen), width)
    pairs, place = np.unique(paired(classes[original], column), return_inverse=True)
    edges = coo_array((np.ones(len(original)), (original, size + place)), shape=(size + len(pairs),) * 2)
    _, component = connected_components(edges, directed=False)
    told: Ints = np.where(np.bincount(original, minlength=size) > 0, component[:size], UNKNOWN)
    return told.astype(np.int64)


def log_chance(classes: Ints, told: Ints, original: Ints, column: Ints, repeats: Ints | None = None) -> float:
    """The logarithm of a bound on how likely a column by chance tells released classes apart as finely.

    Fix m parts of the original values of a class. Given the first record of a column's value j, its n_j - 1 others are
    of the same part by chance with probability q^(n_j - 1), q being the part's share of the class. There are at most
    m^V ways to choose parts of V values: V log m + the sum over j of (n_j - 1) log q(j), over all classes. The same
    holds with original and column exchanged, and the smaller of the two counts. A column of which every record has
    its own value says nothing by this bound, however finely it splits.

    >>> four = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> round(log_chance(np.zeros(2, int), np.arange(2), four, four + 7), 3)  # log(2^2 * (1/2)^6)
    -2.773
    """
    of_record = classes[original]
    part = np.unique(paired(of_record, told[original]), return_inverse=True)[1]
    log_share = np.log(counts(part, repeats)[part] / counts(of_record, repeats)[of_record])
    first_part = np.unique(part, return_index=True)[1]
    log_parts = np.log(np.maximum(np.bincount(of_record[first_part]), 1))
    of_column = paired(of_record, column)
    bounds = []
    for value, other in ((of_column, original), (original, of_column)):
        first, other_first = (np.unique(each, return_index=True)[1] for each in (value, other))
        ways = log_parts[of_record[other_first]].sum()
        bounds.append(ways + total(log_share, repeats) - log_share[first].sum())
    return float(min(bounds))


def disclosed_ranges(classes: Ints, original: Ints, number: Floats) -> Ints:
    """By original value the finest class that the order of a column tells for certain; -1 where no record is given.

    The records of an original value have numbers from one to another. Two values of one released class are told apart
    if no chain of ranges that overlap leads from one to the other: a weight with a little noise is of another stratum.

    >>> disclosed_ranges(np.zeros(3, int), np.array([0, 0, 1, 1, 2]), np.array([1.0, 1.1, 7.0, 9.0, 8.0])).tolist()
    [0, 1, 1]
    """
    size = len(classes)
    rank = np.unique(number, return_inverse=True)[1]
    width = int(rank.max(initial=0)) + 2
    low, high = np.full(size, width - 1), np.full(size, -1)
    np.minimum.at(low, original, rank)
    np.maximum.at(high, original, rank)
    order = np.lexsort((low, classes))
    start, end = (classes[order] * width + each[order] for each in (low, high))
    reached = np.maximum.accumulate(end)
    told = np.empty(size, dtype=np.int64)
    told[order] = np.cumsum(np.append(False, start[1:] > reached[:-1])) if size else 0
    return np.where(high >= 0, told, UNKNOWN)


def log_chance_of_ranges(classes: Ints, told: Ints, original: Ints, repeats: Ints | None = None) -> float:
    """The logarithm of a bound on how likely the order of a column by chance tells released classes apart as finely.

    Of n records of a class in any order, m parts with n_i records stand one after the other with probability
    m! n_1! ... n_m! / n!, and there are at most m^V / m! ways to make parts of V values; added up over all classes.

    >>> round(log_chance_of_ranges(np.zeros(2, int), np.arange(2), np.array([0, 0, 0, 1, 1, 1])), 3)  # log(2^2 / 20)
    -1.609
    """
    of_record = classes[original]
    _, first, part = np.unique(paired(of_record, told[original]), return_index=True, return_inverse=True)
    members, size = counts(part, repeats), int(classes.max(initial=0)) + 1
    parts, records = np.bincount(of_record[first], minlength=size), counts(of_record, repeats, size)
    values = np.bincount(classes[np.unique(original)], minlength=size)
    ways = (values * np.log(np.maximum(parts, 1))).sum()
    return float(ways + gammaln(members + 1.0).sum() - gammaln(records + 1.0).sum())


def refined(classes: Ints, values: Ints) -> Ints:
    """Classes, each split by a second list of values; what is unknown (-1) goes with the least value of its class.

    >>> refined(np.array([0, 0, 0, 1]), np.array([7, 8, -1, 8])).tolist()
    [0, 1, 0, 2]
    """
    known = values != UNKNOWN
    least = np.full(int(classes.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, classes[known], values[known])
    least[least == np.iinfo(np.int64).max] = 0
    filled = np.where(known, values, least[classes])
    return np.asarray(np.unique(paired(classes, filled), return_inverse=True)[1], dtype=np.int64)


def paired(first: Ints, second: Ints) -> Ints:
    """One number for each pair of values."""
    return first * (int(second.max(initial=0)) + 1) + second
