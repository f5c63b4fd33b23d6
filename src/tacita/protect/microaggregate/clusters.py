"""Clusters of records, inside which groups are formed: k-means, none with fewer records than a group needs."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.random import Draws

ROUNDS = 100
"""Rounds of k-means at most; it ends by itself when no record moves."""
SEED = 1
"""The draws choose the first centres only, which nobody could undo: a plan does the same every time."""


def clusters(scaled: Floats, records: Ints, count: int, k: int) -> Ints:
    """By record: its cluster, of at least k records, by k-means on variables of one scale.

    Reference: Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.

    >>> clusters(np.array([[0.0], [1.0], [20.0], [21.0], [60.0]]), np.arange(5), 3, 2).tolist()
    [1, 1, 0, 0, 0]
    """
    centres = _first_centres(scaled, records, count)
    label = np.full(len(scaled), -1)
    for _ in range(ROUNDS):
        moved = _squared(scaled, centres).argmin(axis=1)
        if (moved == label).all():
            break
        label = moved
        used = np.unique(label)
        centres[used] = _means(scaled, np.searchsorted(used, label))
    return _merged(scaled, np.unique(label, return_inverse=True)[1], k)


def _first_centres(scaled: Floats, records: Ints, count: int) -> Floats:
    """Records drawn one after the other, with probability proportional to the squared distance from those drawn."""
    draws = Draws(SEED).step("clusters")
    chosen = scaled[[int(np.argmin(draws.bits(records)))]]
    nearest = _squared(scaled, chosen)[:, 0]
    while len(chosen) < count and nearest.max() > 0:
        # The smallest of exponential times over their rates: a draw by record number, whatever the order of the rows.
        with np.errstate(divide="ignore"):
            times = -np.log(draws.uniform(records, len(chosen))) / nearest
        chosen = np.concatenate([chosen, scaled[[int(np.argmin(times))]]])
        nearest = np.minimum(nearest, _squared(scaled, chosen[-1:])[:, 0])
    return chosen


def _squared(scaled: Floats, centres: Floats) -> Floats:
    """By record and centre: the squared distance."""
    distance = np.zeros((len(scaled), len(centres)))
    for column, centre in zip(scaled.T, centres.T, strict=True):
        distance += (column[:, None] - centre) ** 2
    return distance


def _means(scaled: Floats, label: Ints) -> Floats:
    size = np.bincount(label)
    return np.asarray(np.stack([np.bincount(label, column) for column in scaled.T], axis=1) / size[:, None])


def _merged(scaled: Floats, label: Ints, k: int) -> Ints:
    """Clusters of fewer than k records join the one with the nearest centre, the smallest cluster first."""
    while True:
        size = np.bincount(label)
        if len(size) == 1 or size.min() >= k:
            return label
        small = int(size.argmin())
        centres = _means(scaled, label)
        distance = _squared(centres, centres[[small]])[:, 0]
        distance[small] = np.inf
        label = np.unique(np.where(label == small, int(distance.argmin()), label), return_inverse=True)[1]
