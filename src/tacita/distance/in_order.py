"""The cheapest assignment of a sorted list of numbers to places of a longer one, in the same order."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled


@compiled
def in_order(x: Floats, y: Floats) -> Ints:
    """By number of x, both sorted: its place in y, ascending and each once, at the least sum of differences."""
    n, spare = len(x), len(y) - len(x)
    total = np.zeros(spare + 1)
    # Whether number i takes place i + s itself, where its best place up to there is asked for.
    here = np.zeros((n, spare + 1), np.bool_)
    for i in range(n):
        best = np.inf
        for s in range(spare + 1):
            cost = total[s] + abs(x[i] - y[i + s])
            if cost < best:
                best = cost
                here[i, s] = True
            total[s] = best
    places, s = np.empty(n, np.int64), spare
    for i in range(n - 1, -1, -1):
        while not here[i, s]:
            s -= 1
        places[i] = i + s
    return places
