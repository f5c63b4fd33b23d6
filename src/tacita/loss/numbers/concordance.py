"""Kendall's tau-b from the different pairs of values, in O(m log m): imported where it is needed, since it compiles."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled


@compiled
def concordance(x: Ints, y: Ints, weight: Floats, size: int) -> float:
    """Weight of the concordant pairs less that of the discordant ones; points in the order of x, y from 1 to size.

    Weights of smaller y are added up in a tree of partial sums; points of equal x enter it after all of them were
    compared.
    """
    tree = np.zeros(size + 1)
    total, inside, start = 0.0, 0.0, 0
    for at in range(len(x) + 1):
        if at < len(x) and x[at] == x[start]:
            continue
        for point in range(start, at):
            below, place = 0.0, y[point] - 1
            while place > 0:
                below += tree[place]
                place -= place & -place
            upto, place = below, y[point]
            upto = 0.0
            while place > 0:
                upto += tree[place]
                place -= place & -place
            total += weight[point] * (below - (inside - upto))
        for point in range(start, at):
            inside += weight[point]
            place = y[point]
            while place <= size:
                tree[place] += weight[point]
                place += place & -place
        start = at
    return total


def kendall(x: Ints, y: Ints, weights: Floats | None = None) -> float:
    """tau-b of two columns of ranks from 0, each pair of records weighing by the product of their weights; NaN where
    one of them is constant.

    >>> kendall(np.array([0, 1, 2, 3]), np.array([0, 2, 1, 3]))
    0.6666666666666666
    """
    size = int(y.max()) + 1
    numbers = x * size + y
    if (int(x.max()) + 1) * size <= max(1 << 20, 4 * len(x)):
        table = np.bincount(numbers, weights=weights)
        cells = np.flatnonzero(np.bincount(numbers))
        weight = table[cells].astype(np.float64)
    else:
        cells, place = np.unique(numbers, return_inverse=True)
        weight = np.bincount(place.reshape(-1), weights=weights).astype(np.float64)
    row, column = cells // size, cells % size
    whole = weight.sum() ** 2
    untied = [whole - float((np.bincount(side, weights=weight) ** 2).sum()) for side in (row, column)]
    if not (untied[0] > 0 and untied[1] > 0):
        return float("nan")
    # Pairs of equal value count in neither, on both sides of the fraction.
    return 2.0 * float(concordance(row, column + 1, weight, size)) / float(np.sqrt(untied[0] * untied[1]))
