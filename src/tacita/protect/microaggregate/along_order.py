"""Groups of neighbours along an order of the records: of equal size, or cut where the loss is least."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled


def equal_groups(order: Ints, k: int) -> Ints:
    """By record: its group of k neighbours in the order; the last group takes the rest, up to 2k - 1 records.

    >>> equal_groups(np.array([3, 0, 1, 2, 4]), 2).tolist()
    [0, 1, 1, 0, 1]
    """
    groups = np.empty(len(order), np.int64)
    groups[order] = np.minimum(np.arange(len(order)) // k, max(len(order) // k - 1, 0))
    return groups


def best_groups(order: Ints, scaled: Floats, k: int) -> Ints:
    """By record: its group of k to 2k - 1 neighbours in the order, with the least sum of squares within groups.

    A shortest path over the places to cut: cost(j) = min over sizes s of cost(j - s) + SSE(records j - s to j). Of one
    variable in its order it is the best of all partitions into groups of at least k; of several it is the best for this
    order. `scaled` has one row per record, variables on one scale. Of equal costs the smaller last group counts.

    References: Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation. IEEE
    Transactions on Knowledge and Data Engineering 15; Domingo-Ferrer et al. (2006), Efficient multivariate
    data-oriented microaggregation. VLDB Journal 15.

    >>> x = np.array([[1.0], [2.0], [8.0], [9.0], [3.0]])
    >>> best_groups(np.argsort(x[:, 0]), x, 2).tolist()
    [0, 0, 1, 1, 0]
    """
    groups = np.empty(len(order), np.int64)
    groups[order] = _cut(np.ascontiguousarray(scaled[order]), k)
    return groups


@compiled
def _cut(values: Floats, k: int) -> Ints:
    """By row: its group, rows being in their order."""
    n, p = values.shape
    cost, size = np.full(n + 1, np.inf), np.full(n + 1, n)
    cost[0] = 0.0
    mean = np.empty(p)
    for end in range(k, n + 1):
        mean[:] = 0.0
        within = 0.0
        for count in range(1, min(end, 2 * k - 1) + 1):
            # Welford's update: one more record in front.
            for j in range(p):
                difference = values[end - count, j] - mean[j]
                mean[j] += difference / count
                within += difference * (values[end - count, j] - mean[j])
            if count >= k and cost[end - count] + within < cost[end]:
                cost[end], size[end] = cost[end - count] + within, count
    groups, end, group = np.empty(n, np.int64), n, 0
    while end > 0:
        for place in range(end - size[end], end):
            groups[place] = group
        end -= size[end]
        group += 1
    return group - 1 - groups
