"""What a file says of each key by itself: its count, who could show it, and what a record with it stands for.

Where weights vary among records with the same key, the mean weight of a few records is an uncertain guess of what a
member of that key stands for. It is drawn to what the keys say about the weight, as far as weights vary by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.keys.refilled import Refilled
from tacita.keys.source import patterns
from tacita.keys.table import KeyTable
from tacita.risk.identity.negative_binomial import expected_reciprocal, reciprocal_variance
from tacita.risk.population.latent import weight_loops
from tacita.risk.population.latent.cells import Cells
from tacita.risk.population.latent.law import GREATEST_COUNT

SWEEPS = 100
ENOUGH = 1e-9


@dataclass(frozen=True, eq=False)
class Sample:
    """By key what the file says."""

    f: Floats
    shown: Floats
    """The share of records that show at least what the key shows (rho)."""
    mean_weight: Floats
    forecast: Bools
    """Which keys the model speaks of; of the others f alone does."""

    def of(self, keys: Ints) -> Sample:
        """The same of some keys."""
        return Sample(self.f[keys], self.shown[keys], self.mean_weight[keys], self.forecast[keys])

    @cached_property
    def of_frequent(self) -> tuple[Ints, Floats, Floats]:
        """The keys whose counts speak for themselves, with E(1/F) and its variance: the same for every law."""
        many = np.flatnonzero(self.f > GREATEST_COUNT)
        f, p = self.f[many], 1.0 / (1.0 + self.others[many] / self.shown[many])
        return many, expected_reciprocal(f, p), reciprocal_variance(f, p)

    @cached_property
    def others(self) -> Floats:
        """By key how many persons outside the sample each one in it stands for."""
        # Who stands for himself alone has no others, whatever they might have answered.
        return np.where(self.mean_weight > 1, np.maximum(self.mean_weight - self.shown, 0.0), 0.0)


def sample_of(table: KeyTable, cells: Cells, weights: Floats | None) -> Sample:
    """What the file says by key: f, the share of records that could show it, and the mean weight."""
    forecast, shown = np.ones(len(table.codes), dtype=np.bool_), np.ones(len(table.codes))
    if table.rule.name in ("one_way", "no_match"):
        shown = cells.shown[cells.row]
    if table.rule.name == "no_match":
        # A missing value matches nothing: such a record is alone by the rule, whatever it is like.
        forecast = table.complete
        shown = np.where(forecast, shown, 1.0)
    fitted, kappa = np.zeros(len(cells.codes)), 0.0
    if weights is not None:
        fitted, kappa = mean_weights(cells.codes, cells.row[table.row], weights, table.repeats, table.squares)
    mean = (table.population_count + kappa * fitted[cells.row]) / (table.sample_count + kappa)
    return Sample(table.sample_count, shown, np.maximum(mean, 1.0), forecast)


def sample_of_release(whole: Refilled, known: Bools, row: Ints, weights: Floats | None) -> Sample:
    """What the file before suppression says by key of the release; `known` keys are in that file, in these rows."""
    mean = whole.population_count / whole.sample_count
    if weights is not None:
        table = whole.table
        fitted, kappa = mean_weights(table.codes.astype(np.int64), table.row, weights, table.repeats, table.squares)
        # What the values say of a weight is known of keys of that file; others, of many people, have their mean weight.
        said = np.where(known, fitted[row], mean)
        mean = (whole.population_count + kappa * said) / (whole.sample_count + kappa)
    pattern = patterns(whole.keys)
    showing = {int(each): _share_showing(whole.table, int(each)) for each in np.unique(pattern)}
    shown = np.array([showing[int(each)] for each in pattern])
    return Sample(whole.sample_count, shown, np.maximum(mean, 1.0), np.ones(len(mean), dtype=np.bool_))


def _share_showing(table: KeyTable, pattern: int) -> float:
    """The share of units that show at least some keys."""
    shows = patterns(table.codes) & pattern == pattern
    return float(table.units_by_key(shows.astype(np.float64))[shows].sum() / table.units)


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
