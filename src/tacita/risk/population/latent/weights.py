"""The mean weight of the records that count for a key, freed from chance.

Where weights vary among records with the same key, the mean weight of a few records is an uncertain guess of what a
member of that key stands for. It is drawn to what the keys say about the weight, as far as weights vary by chance.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Codes, Floats, Ints

SWEEPS = 100
ENOUGH = 1e-9


def mean_weights(codes: Codes, row: Ints, weights: Floats, f: Floats, sums: Floats) -> Floats:
    """By key: (sum of weights + kappa fitted weight) / (f + kappa), at least 1.

    kappa is the variance of weights within keys over that of keys around what an additive model of the keys says.
    """
    order = np.lexsort((weights, row))  # sums must not depend on the order of the records
    row, weights = row[order], weights[order]
    count = np.bincount(row, minlength=len(codes)).astype(np.float64)
    mean = np.bincount(row, weights=weights, minlength=len(codes)) / count
    square = np.bincount(row, weights=(weights - mean[row]) ** 2, minlength=len(codes))
    twice = count >= 2
    within = square[twice].sum() / max((count[twice] - 1).sum(), 1.0)
    if within <= (1e-9 * mean.mean()) ** 2:
        return np.maximum(sums / f, 1.0)
    fitted = additive(codes, count, mean)
    around = (square.sum() + (count * (mean - fitted) ** 2).sum()) / count.sum()
    kappa = within / max(around - within, 1e-12 * within)
    return np.maximum((sums + kappa * fitted) / (f + kappa), 1.0)


def additive(codes: Codes, count: Floats, mean: Floats, ridge: float = 1.0) -> Floats:
    """By key: least squares of the weights on one effect for each value of each variable, missing being a value.

    Effects are drawn to 0 as by one more record; found by fitting variable after variable until nothing changes.
    """
    level = (count * mean).sum() / count.sum()
    rest = mean - level
    effects = [np.zeros(int(column.max()) + 1) for column in codes.T]
    for _ in range(SWEEPS):
        change = 0.0
        for j, effect in enumerate(effects):
            column = codes[:, j]
            total = np.bincount(column, weights=count * rest, minlength=len(effect))
            records = np.bincount(column, weights=count, minlength=len(effect))
            step = (total - ridge * effect) / (records + ridge)
            effect += step
            rest -= step[column]
            change = max(change, float(np.abs(step).max()))
        if change < ENOUGH * abs(level):
            break
    return mean - rest
