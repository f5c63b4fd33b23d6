"""The mean weight of the records that count for a key, freed from chance.

Where weights vary among records with the same key, the mean weight of a few records is an uncertain guess of what a
member of that key stands for. It is drawn to what the keys say about the weight, as far as weights vary by chance.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.risk.population.latent import weight_loops

SWEEPS = 100
ENOUGH = 1e-9


def mean_weights(
    codes: Ints, row: Ints, weights: Floats, repeats: Ints | None = None, squares: Floats | None = None
) -> tuple[Floats, float]:
    """By cell what an additive model of its values says of the weight, and how many records that counts for (kappa).

    The mean weight of a key is (sum of weights + kappa fitted weight) / (f + kappa). kappa is the variance of weights
    within cells over that of cells around the model: 0 where weights are constant within cells.

    Where a weight is the mean of several records, `repeats` says of how many, and `squares` how they vary: the sum of
    their squared deviations from it.
    """
    times = np.ones(len(row)) if repeats is None else repeats.astype(np.float64)
    if not (np.diff(row) > 0).all():
        order = np.lexsort((weights, row))  # sums must not depend on the order of the records
        row, weights, times = row[order], weights[order], times[order]
        squares = None if squares is None else squares[order]
    count: Floats = np.bincount(row, weights=times, minlength=len(codes)).astype(np.float64)
    mean = np.bincount(row, weights=weights * times, minlength=len(codes)) / count
    square = np.bincount(row, weights=(weights - mean[row]) ** 2 * times, minlength=len(codes))
    if squares is not None:
        square += np.bincount(row, weights=squares, minlength=len(codes))
    twice = count >= 2
    within = square[twice].sum() / max((count[twice] - 1).sum(), 1.0)
    if within <= (1e-9 * mean.mean()) ** 2:
        return mean, 0.0
    fitted = additive(codes, count, mean)
    around = (square.sum() + (count * (mean - fitted) ** 2).sum()) / count.sum()
    return fitted, float(within / max(around - within, 1e-12 * within))


def additive(codes: Ints, count: Floats, mean: Floats, ridge: float = 1.0) -> Floats:
    """By key: least squares of the weights on one effect for each value of each variable, missing being a value.

    Effects are drawn to 0 as by one more record; found by fitting variable after variable until nothing changes.
    """
    level = (count * mean).sum() / count.sum()
    rest, columns = mean - level, np.ascontiguousarray(codes.T)
    values = int(columns.max()) + 1
    room = *np.zeros((2, len(columns), values)), np.empty(values)
    weight_loops.fit_effects(columns, count, rest, ridge, SWEEPS, ENOUGH * abs(level), *room)
    fitted: Floats = mean - rest
    return fitted
