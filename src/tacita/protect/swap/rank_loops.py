"""Rank swapping, compiled: every value changes places with one of the next few ranks."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled


@compiled
def rank_partners(window: int, uniforms: Floats) -> Ints:
    """By rank the rank that it changes places with, its own where it stays.

    From the first rank on, each rank i that has no partner yet draws one from those of the ranks i + 1 to i + window
    that have none: number floor(u_i m) of these m. They wait in a list; who leaves it is replaced by the last.
    """
    count = len(uniforms)
    partner = np.arange(count)
    waiting = np.empty(count, dtype=np.int64)
    place = np.empty(count, dtype=np.int64)
    size, coming = 0, 1
    for rank in range(count):
        while coming < count and coming <= rank + window:
            waiting[size] = coming
            place[coming] = size
            size += 1
            coming += 1
        if partner[rank] != rank:
            continue
        if rank > 0 and window > 0:
            size -= 1
            waiting[place[rank]] = waiting[size]
            place[waiting[size]] = place[rank]
        if size > 0:
            drawn = min(int(uniforms[rank] * size), size - 1)
            other = waiting[drawn]
            size -= 1
            waiting[drawn] = waiting[size]
            place[waiting[size]] = drawn
            partner[rank] = other
            partner[other] = rank
    return partner


@compiled
def squared_change(values: Floats, window: int, uniforms: Floats) -> float:
    """The sum of (y - x)^2 when values, in the order of their ranks, are swapped."""
    partner = rank_partners(window, uniforms)
    total = 0.0
    for rank in range(len(values)):
        total += (values[partner[rank]] - values[rank]) ** 2
    return total
