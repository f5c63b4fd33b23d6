"""Compiled loops of the back-off chain: contexts of one more key each, and what was seen in them.

A level holds contexts and the values seen in each of them: `start` by context where its values begin, `value` and
`ends` by entry the value and how many records of the context have it or a value before it. Context -1: never seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled


@compiled
def _seen(start: Any, value: Any, ends: Any, context: int, wanted: int) -> float:
    """How many records of a context have a value."""
    low, high = start[context], start[context + 1]
    first, last = low, high
    while low < high:
        middle = (low + high) // 2
        if value[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low == last or value[low] != wanted:
        return 0.0
    return float(ends[low] - (ends[low - 1] if low > first else 0.0))


@compiled
def seen(
    start: Any, value: Any, ends: Any, context: Any, wanted: Any, records: Any, alike: Any, different: Any
) -> None:
    """By row how many records have its context, how many of these its value, and how many values they have."""
    for k in range(len(context)):
        s = context[k]
        if s >= 0:
            records[k] = ends[start[s + 1] - 1]
            alike[k] = _seen(start, value, ends, s, wanted[k])
            different[k] = start[s + 1] - start[s]


@compiled
def gains(records: Any, alike: Any, different: Any, own: Any, before: Any, factors: Any, result: Any) -> None:
    """By factor, added to `result`: the log-likelihood of values of cells, each with its own records left out."""
    for k in range(len(own)):
        others = different[k] - (1 if alike[k] == own[k] else 0)
        for g in range(len(factors)):
            prior = factors[g] * max(others, 1)
            result[g] += own[k] * np.log((alike[k] - own[k] + prior * before[k]) / (records[k] - own[k] + prior))


@compiled
def refine(records: Any, alike: Any, different: Any, own: Any, factor: float, probability: Any) -> None:
    """Bring the probability of each row's value from the contexts before to these, its own records left out.

    A row that is no cell of the sample has none of its own. Nothing changes where a context was never seen: 0 records.
    """
    for k in range(len(own)):
        if records[k] == 0.0:
            continue
        others = different[k] - (1 if own[k] > 0.0 and alike[k] == own[k] else 0)
        prior = factor * max(others, 1)
        probability[k] = (alike[k] - own[k] + prior * probability[k]) / (records[k] - own[k] + prior)


@compiled
def draw_from(
    start: Any, value: Any, ends: Any, context: Any, factor: float, stop: Any, choose: Any, open_: Any, result: Any
) -> None:
    """Draw the value of a random record of the context, where nothing is drawn yet and this level is where to stop."""
    for d in range(len(context)):
        s = context[d]
        if s < 0 or not open_[d]:
            continue
        first, last = start[s], start[s + 1] - 1
        records = ends[last]
        if stop[d] * (records + factor * (last - first + 1)) >= records:
            continue
        wanted = choose[d] * records
        while first < last:
            middle = (first + last) // 2
            if ends[middle] > wanted:
                last = middle
            else:
                first = middle + 1
        result[d] = value[first]
        open_[d] = False
