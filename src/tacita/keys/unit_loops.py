"""Compiled loops that count units where a unit has several rows: each once, by the row that counts most.

Rows come in ascending order of their units, so that the rows of one unit stand together. A unit has one weight, the
mean of those of its records that count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.compiled import compiled

Groups = NDArray[np.int32]


@compiled
def units_in_groups(
    group: Groups, unit: Ints, records: Ints, weights: Floats, wanted: Ints, wanted_group: Groups, groups: int
) -> tuple[Ints, Floats]:
    """For each wanted row: the units, and the sum of their weights, in a group; its own unit is always counted.

    `group` is by row its group, -1 for none; `wanted` is in ascending order; `weights` may be empty.
    """
    total, last = np.zeros(groups, dtype=np.int64), np.full(groups, -1)
    # What the last unit of each group has there, and the sum of those before.
    own_records, own_weight, sums = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    itself = np.ones(len(wanted), dtype=np.int64)
    index = 0
    for row in range(len(group)):
        here = group[row]
        if here >= 0:
            if last[here] != unit[row]:
                sums[here] += own_weight[here] / max(own_records[here], 1.0)
                own_records[here], own_weight[here], last[here] = 0.0, 0.0, unit[row]
                total[here] += 1
            own_records[here] += records[row]
            own_weight[here] += weights[row] if len(weights) else 0.0
        if row + 1 == len(group) or unit[row + 1] != unit[row]:
            while index < len(wanted) and unit[wanted[index]] == unit[row]:
                itself[index] = last[wanted_group[index]] != unit[row]
                index += 1
    sums += own_weight / np.maximum(own_records, 1.0)
    if not len(weights):
        return total[wanted_group] + itself, weights
    return total[wanted_group] + itself, sums[wanted_group] + itself * weights[wanted] / records[wanted]
