"""The latent model of a file: risk of every record, expected re-identifications, population uniques."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.data import Data
from tacita.keys.matching import patterns
from tacita.keys.refilled import Refilled
from tacita.keys.table import KeyTable, key_table, population_weights
from tacita.progress import Progress, no_progress, part
from tacita.random import Draws
from tacita.risk.population.latent import law, words
from tacita.risk.population.latent.cells import Cells, rows_of
from tacita.risk.population.latent.forecasts import ChainForecast, Repeat
from tacita.risk.population.latent.law import KNOTS, Counts, between_knots
from tacita.risk.population.latent.points import Points
from tacita.risk.population.latent.posterior import Others, Population, Sample, quantile
from tacita.risk.population.latent.selection import Fit, selected
from tacita.risk.population.latent.weights import mean_weights
from tacita.scenario import Scenario

REPEATS = 2
WIDENED = 1.4
"""Intervals are wider than the model says by this, for clustering and lack of fit."""
NORMAL = 1.959963984540054
STEP = 1e-3
SEED = 20261119
"""Always the same: the figures of a file do not change from run to run, and nothing is protected by it."""


@dataclass(frozen=True, eq=False)
class Component:
    """One law of one repeat: F given f by key."""

    share: float
    fit: Fit
    counts: Counts
    points: Points

    @property
    def log_m(self) -> Floats:
        """By key the logarithm of the forecast."""
        return self.points.of_keys

    def population(self, mean: float = 0.0, shape: float = 0.0) -> Population:
        """By point F given f; log M and log a moved by so much."""
        log_mean, log_shape, _ = self.fit.law.at(self.points.log_m)
        return Population(self.points.sample, log_mean + mean, log_shape + shape, self.fit.law.power)

    @cached_property
    def others(self) -> Others:
        """By key F less f."""
        found = self.population().others
        return Others(*(self.points.by_key(each) for each in found))

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """By point E(1/F) and the variance of 1/F."""
        return self.population().moments()

    @cached_property
    def slopes(self) -> tuple[Floats, Floats]:
        """By point the derivatives of E(1/F) by log M and log a."""
        mean, shape = (
            self.population(*(STEP * direction for direction in step)).moments(second=False)[0]
            - self.population(*(-STEP * direction for direction in step)).moments(second=False)[0]
            for step in ((1.0, 0.0), (0.0, 1.0))
        )
        return mean / (2 * STEP), shape / (2 * STEP)

    def law_variance(self, attack: Floats) -> float:
        """The variance of the sum of risks, with so many attacks by point, that comes from not knowing the law."""
        place, right = between_knots(self.points.log_m)
        by_mean, by_shape = (attack * slope for slope in self.slopes)
        parts = [by_mean, by_shape]
        if self.fit.law.possible is not None:
            parts.append(-by_mean * (1 - self.fit.law.at(self.points.log_m)[2]))
        gradient = np.concatenate(
            [
                np.bincount(place, weights=each * (1 - right), minlength=len(KNOTS))
                + np.bincount(place + 1, weights=each * right, minlength=len(KNOTS))
                for each in parts
            ]
        )
        return max(float(gradient @ np.linalg.pinv(self._curvature, hermitian=True) @ gradient), 0.0)

    @cached_property
    def _curvature(self) -> Floats:
        return law.curvature(self.fit.law, self.counts)


@dataclass(frozen=True, eq=False)
class LatentModel:
    """F given the sample, by key: what an intruder meets who looks for somebody of the file in the population."""

    table: KeyTable
    repeats: tuple[tuple[Component, ...], ...]
    """By repeat its laws."""
    others: tuple[Component | None, ...]
    """By repeat the best law with another number of classes."""
    sample: Sample

    @property
    def components(self) -> list[tuple[float, Component]]:
        """All laws, with how much each counts."""
        return [(each.share / len(self.repeats), each) for repeat in self.repeats for each in repeat]

    @cached_property
    def risk(self) -> Floats:
        """By key: E(1/F)."""
        return np.minimum(self._mixed(lambda each: each.moments[0]), 1.0 / self.sample.f)

    @cached_property
    def unique(self) -> Floats:
        """By key: the probability that F = 1."""
        found, rows = np.zeros(len(self.sample.f)), np.flatnonzero(self.sample.f <= 1)
        sample = self.sample.of(rows)
        for share, each in self.components:
            log_mean, log_shape, _ = each.fit.law.at(each.log_m[rows])
            found[rows] += share * Population(sample, log_mean, log_shape, each.fit.law.power).unique()
        return np.minimum(found, 1.0)

    def _mixed(self, figure: Callable[[Component], Floats]) -> Floats:
        """By key the mean of a figure over all laws, never outside of what they say: shares add up to 1 but for
        rounding."""
        total = np.zeros(len(self.table.codes))
        for laws in self.repeats:
            found = [figure(each) for each in laws]
            mean = sum((each.share * one for each, one in zip(laws, found, strict=True)), np.zeros(len(found[0])))
            total += laws[0].points.by_key(np.clip(mean, np.minimum.reduce(found), np.maximum.reduce(found)))
        return total / len(self.repeats)

    def expected(self, attack: Floats | None = None) -> float:
        """The sum of risks, each key counting by its records or by what is given."""
        return math.fsum(self._attack(attack) * self.risk)

    @property
    def mean_count(self) -> Floats:
        """By key: E(F)."""
        return sum((share * each.others.mean_count for share, each in self.components), np.zeros(len(self.sample.f)))

    def at_most(self, count: Floats) -> Floats:
        """By key: P(F <= count)."""
        return np.minimum(sum(share * each.others.at_most(count) for share, each in self.components), 1.0)

    def quantile(self, share: float | Floats) -> Floats:
        """By key the quantile of F."""
        return quantile([(weight, each.others) for weight, each in self.components], share)

    def variance(self, attack: Floats | None = None) -> float:
        """The variance of what comes out of so many attacks, uncertainty of the model included."""
        attack = self._attack(attack)
        by_repeat = [
            self._of_repeat(laws, other, attack) for laws, other in zip(self.repeats, self.others, strict=True)
        ]
        sums, within = (np.array(column) for column in zip(*by_repeat, strict=True))
        return float(within.mean() + sums.var(ddof=1))

    def interval(self, attack: Floats | None = None) -> tuple[float, float]:
        """95 % interval of the sum of risks."""
        expected = self.expected(attack)
        if expected <= 0:
            return expected, expected
        ratio = math.exp(NORMAL * WIDENED * math.sqrt(self.variance(attack)) / expected)
        return expected / ratio, expected * ratio

    @property
    def population_uniques(self) -> float:
        """tau_1: how many sample uniques are expected to be unique in the population."""
        return math.fsum(self.table.records * self.unique)

    @property
    def matched_uniques(self) -> float:
        """tau_2: how many sample uniques are expected to be matched correctly if all are tried."""
        alone = self.table.sample_count <= 1
        return math.fsum((self.table.records * self.risk)[alone])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How many classes were chosen, and how much of the chain."""
        return words.notes(self.components)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Where the model stands on little, and what to do."""
        return tuple(words.cautions(self))

    def _attack(self, attack: Floats | None) -> Floats:
        return self.table.records.astype(np.float64) if attack is None else attack

    def _of_repeat(self, laws: tuple[Component, ...], other: Component | None, attack: Floats) -> tuple[float, float]:
        """The sum of risks of one repeat, and its variance."""
        points = laws[0].points
        by_point, squares = points.totals(attack), points.totals(np.square(attack))
        sums = [math.fsum(by_point * each.moments[0]) for each in laws]
        mean = sum(each.share * value for each, value in zip(laws, sums, strict=True))
        variance = 0.0
        if other is not None:
            variance = (math.fsum(other.points.totals(attack) * other.moments[0]) - mean) ** 2
        for each, value in zip(laws, sums, strict=True):
            chance = math.fsum(squares * each.moments[1])
            variance += each.share * (each.law_variance(by_point) + chance + (value - mean) ** 2)
        return mean, variance


def latent_model(data: Any, scenario: Scenario, keys: Any = None, progress: Progress = no_progress) -> LatentModel:
    """The latent model of a file under a scenario."""
    data = Data.of(data)
    table = key_table(data, scenario, keys)
    return model_of_table(table, population_weights(data, scenario, table.keys), progress=progress)


def model_of_table(table: KeyTable, weights: Floats | None, progress: Progress = no_progress) -> LatentModel:
    """The latent model of a key table; `weights` by record, where there are weights."""
    cells = Cells.of(table)
    sample = sample_of(table, cells, weights)
    draws = Draws(SEED).step("latent")
    chain = ChainForecast.of(cells, draws.step("chain"))
    repeats, others = [], []
    for number in range(REPEATS):
        here = part(progress, number / REPEATS, (number + 1) / REPEATS)
        repeat = Repeat(cells, chain, draws.step(str(number)))
        found = selected(cells, repeat, lambda classes, here=here: here(classes / 128, f"{classes} latent classes"))  # type: ignore[misc]
        repeats.append(_components(found.shares, found.fits, found.counts, sample, cells.row))
        other = () if found.other is None else (found.other,)
        others.append(next(iter(_components((1.0,), other, found.counts, sample, cells.row)), None))
    return LatentModel(table, tuple(repeats), tuple(others), sample)


def _components(
    shares: Sequence[float], fits: Sequence[Fit], counts: Counts, sample: Sample, row: Ints
) -> tuple[Component, ...]:
    """Laws of one forecast; `row` is by key its row among the cells that were forecast."""
    if not fits:
        return ()
    log_m = fits[0].forecast.blended(fits[0].blend)[row]
    points = Points.of(sample, log_m, [each.law for each in fits])
    return tuple(Component(share, fit, counts, points) for share, fit in zip(shares, fits, strict=True))


def model_of_release(model: LatentModel, table: KeyTable, whole: Refilled, weights: Floats | None) -> LatentModel:
    """What the model of a file before cells were suppressed says of the keys of the release: they are what is seen."""
    keys = whole.keys.astype(np.int64)
    known, row = rows_of(whole.table.codes.astype(np.int64), keys)
    sample = sample_of_release(whole, known, row, weights)

    def moved(laws: tuple[Component, ...]) -> tuple[Component, ...]:
        log_m = laws[0].log_m[row]
        log_m[~known] = laws[0].fit.forecast.of_others(keys[~known])
        points = Points.of(sample, log_m, [each.fit.law for each in laws])
        return tuple(replace(each, points=points) for each in laws)

    repeats = tuple(map(moved, model.repeats))
    others = tuple(None if other is None else moved((other,))[0] for other in model.others)
    return LatentModel(table, repeats, others, sample)


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
