"""A compiled loop: an additive model of weights, variable after variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled


@compiled
def fit_effects(
    columns: Any, count: Any, rest: Any, ridge: float, sweeps: int, enough: float, records: Any, effects: Any,
    total: Any,
) -> None:  # fmt: skip
    """Take one effect for each value of each variable out of `rest`, until the fit changes by no more than `enough`.

    Each sweep fits the effects of one variable after the other, drawn to 0 as by `ridge` more records. What all effects
    of one variable gain and those of another lose changes nothing. By variable and value, all 0 at first: `records` and
    `effects`; `total` has room for one number for each value.
    """
    for j in range(len(columns)):
        for k in range(len(rest)):
            records[j, columns[j, k]] += count[k]
    for _ in range(sweeps):
        change, moved = 0.0, 0.0
        for j in range(len(columns)):
            total[:] = 0.0
            for k in range(len(rest)):
                total[columns[j, k]] += count[k] * rest[k]
            least, greatest = np.inf, -np.inf
            for value in range(len(total)):
                if records[j, value] == 0.0:
                    continue
                step = (total[value] - ridge * effects[j, value]) / (records[j, value] + ridge)
                effects[j, value] += step
                total[value] = step
                least, greatest = min(least, step), max(greatest, step)
            change, moved = max(change, greatest - least), moved + (greatest + least) / 2.0
            for k in range(len(rest)):
                rest[k] -= total[columns[j, k]]
        if max(change, abs(moved)) < enough:
            break
