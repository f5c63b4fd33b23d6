"""MDAV: maximum distance to average vector, with the groups of the plain algorithm at any size."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric
from tacita.distance.remaining import farthest
from tacita.progress import Progress, no_progress
from tacita.protect.microaggregate.outermost import Outermost, fill, outermost, search
from tacita.protect.microaggregate.ungrouped import FORMED, LEFT, Ungrouped, form_group, mean_of_rest, ungrouped

PAIRS = 4096
"""Pairs of groups that are formed between two calls of the progress."""


def mdav(values: Floats, k: int, metric: Metric, progress: Progress = no_progress) -> Ints:
    """By record, one per row: its group of k records or more, by maximum distance to the average vector.

    While 3k or more records are left: r is the record farthest from their mean; it forms a group with its k - 1 nearest
    records; s is the record farthest from r, and forms one with its k - 1 nearest of those still left. Of 2k to 3k - 1
    records the farthest from the mean forms a group of k, and the rest is the last one; fewer than 2k are one group. Of
    equally distant records the lowest row counts first. So there are groups of k, and a last one of up to 2k - 1.

    The mean is updated without loss as records leave it, and searches pass over whole boxes of records: the groups are
    those of looking at all records each time.

    Reference: Domingo-Ferrer and Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11.

    >>> from tacita.distance.distances import euclidean
    >>> mdav(np.array([[1.0], [2.0], [9.0], [3.0], [8.0], [7.0], [8.0]]), 3, euclidean(np.ones(1))).tolist()
    [0, 0, 1, 0, 1, 1, 1]
    """
    given = ungrouped(values, metric)
    outer = outermost(*values.shape)
    centre = np.ascontiguousarray((given.total[:1] + given.total[1:]) / max(int(given.counts[LEFT]), 1))
    fill(outer, given.columns, given.groups, centre, metric)
    while given.counts[LEFT] >= 2 * k:
        progress(1.0 - given.counts[LEFT] / len(values), "grouping records")
        if _form_pairs(given, outer, centre, k, PAIRS):
            fill(outer, given.columns, given.groups, centre, metric)
    given.groups[given.groups < 0] = given.counts[FORMED]
    return given.groups


@compiled
def _form_pairs(given: Ungrouped, outer: Outermost, centre: Floats, k: int, pairs: int) -> bool:
    """Form some pairs of groups, or a last one, until fewer records are left than two groups need.

    Whether the list of the outermost records must be made anew first, for the mean that `centre` then holds.
    """
    members = np.empty(k, np.int64)
    for _ in range(pairs):
        if given.counts[LEFT] < 2 * k:
            break
        mean_of_rest(given, centre)
        left = given.counts[LEFT]
        first = search(outer, given.columns, given.groups, left, centre, given.metric)
        if first < 0:
            return True
        form_group(given, first, k, members)
        if left >= 3 * k:
            second = farthest(given.tree, given.remaining, given.values, first, given.metric, False)
            form_group(given, second, k, members)
    return False
