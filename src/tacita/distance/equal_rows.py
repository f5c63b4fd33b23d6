"""Groups of equal records in two files, which cannot be told apart."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints


def row_groups(x: Floats, y: Floats) -> tuple[Ints, Ints]:
    """For each row of two files the number of its group of equal rows, groups numbered from 0 over both files.

    >>> x, y = row_groups(np.array([[1.0], [2.0], [1.0]]), np.array([[2.0], [3.0]]))
    >>> x.tolist(), y.tolist()
    ([0, 1, 0], [1, 2])
    """
    both = np.concatenate([x, y]) + 0.0  # -0.0 becomes 0.0
    group = np.zeros(len(both), np.int64)
    if both.shape[1] and len(both):
        order = np.lexsort(both.T)
        changes = (both[order[1:]] != both[order[:-1]]).any(axis=1)
        group[order] = np.concatenate([[0], np.cumsum(changes)])
    return group[: len(x)], group[len(x) :]


def numbered(group: Ints) -> Ints:
    """For each row its number, from 0, among the rows of its group.

    >>> numbered(np.array([4, 2, 4, 4])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    start = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    number = np.empty(len(group), np.int64)
    number[order] = np.arange(len(group)) - np.repeat(start, np.diff(np.append(start, len(group))))
    return number


def coincident(x: Floats, y: Floats) -> Ints:
    """Rows of x with an equal row of y as their partner, as many as there are; -1 for the others.

    By the triangle inequality some best assignment has them as partners: if x = y have other partners y' and x', those
    two can be assigned to each other, and d(x', y') <= d(x', y) + d(x, y').
    """
    of_x, of_y = row_groups(x, y)
    first, second = numbered(of_x), numbered(of_y)
    # The k-th row of a group in x gets the k-th one in y.
    width = int(max(first.max(initial=0), second.max(initial=0))) + 1
    keys, wanted = of_y * width + second, of_x * width + first
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order][at] == wanted, order[at], -1)


def shared_links(x: Floats, y: Floats, partner: Ints, own: tuple[Ints, Ints]) -> tuple[Ints, Bools, Floats]:
    """What a one-to-one assignment of rows of y to rows of x tells where rows are equal.

    `partner` has for each row of y its row of x, `own` the rows of y and of x that are the same unit. With n_a rows of
    x in group a, m_b rows of y in group b and f_ab links between them, a row of b belongs to a given row of a with
    probability f_ab / (n_a m_b): which of the equal rows is linked to which is chance.

    Returns for each row of y how many rows of x it could equally be linked to, whether no other row of y equals it,
    and the probability for one of its own.
    """
    of_x, of_y = row_groups(x, y)
    size = int(max(of_x.max(initial=0), of_y.max(initial=0))) + 1
    n, m = np.bincount(of_x, minlength=size), np.bincount(of_y, minlength=size)
    linked = np.flatnonzero(partner >= 0)
    pairs, links = np.unique(of_y[linked] * size + of_x[partner[linked]], return_counts=True)
    candidates = np.bincount(pairs // size, weights=n[pairs % size], minlength=size).astype(np.int64)
    known, same = own
    wanted = of_y[known] * size + of_x[same]
    probability = np.zeros(len(y))
    if len(pairs):
        at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        share = links[at] / (n[of_x[same]] * m[of_y[known]])
        np.add.at(probability, known, np.where(pairs[at] == wanted, share, 0.0))
    return candidates[of_y], m[of_y] == 1, probability
