"""Bootstrap of two files at once: who is drawn how often is a function of the record number, the same in both."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.data import Data
from tacita.parameters import AtLeast, Doc
from tacita.random import Draws

Seed = Annotated[int, AtLeast(0), Doc("Of the bootstrap.")]
TIMES = 20
"""Nobody is drawn more often: one in 10^18 would be."""


def sampling_units(data: Data, clusters: tuple[str, ...]) -> Ints:
    """By record the number of its sampling unit: that of its first record, so that both files call it the same.

    A cluster that the file does not name is no cluster.
    """
    names = [name for name in clusters if name in data.columns]
    if not names:
        return data.record
    different: Ints = np.zeros(len(data), np.int64)
    for name in names:
        place, count = data.groups(name)
        # A record without a cluster is one of its own.
        alone = np.where(place < 0, count + np.arange(len(data)), place)
        different = np.unique(different * (int(alone.max()) + 1) + alone, return_inverse=True)[1]
    first = np.full(int(different.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, different, data.record)
    return first[different]


def cluster_names(original: Data, clusters: object, usual: str | None) -> tuple[str, ...]:
    """The columns of the clusters: those named, or the usual one."""
    names = check.names("clusters", clusters) if clusters is not None else tuple(filter(None, [usual]))
    check.columns_exist("clusters", names, original.columns)
    return names


def times_drawn(draws: Draws, units: Ints, draw: int) -> Ints:
    """By record how often its unit is in a bootstrap sample: Poisson with mean 1, for itself.

    >>> int(times_drawn(Draws(seed=1), np.arange(1000), 0).sum())
    1054
    """
    steps = np.concatenate([[1.0], 1.0 / np.arange(1.0, TIMES + 1)])
    below = np.cumsum(np.exp(-1.0) * np.cumprod(steps))
    return np.searchsorted(below, draws.uniform(units, draw=draw), side="right").astype(np.int64)
