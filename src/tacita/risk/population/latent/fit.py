"""The latent model fitted to a key table: laws of several repeats around their forecasts, mixed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.keys.refilled import Refilled
from tacita.keys.table import KeyTable
from tacita.progress import Progress, no_progress, part
from tacita.random import Draws
from tacita.result import percent
from tacita.risk.population.latent import law
from tacita.risk.population.latent.cells import Cells, rows_of
from tacita.risk.population.latent.forecasts import ChainForecast, Repeat
from tacita.risk.population.latent.law import KNOTS, Counts, between_knots
from tacita.risk.population.latent.points import Points
from tacita.risk.population.latent.posterior import Others, Population, quantile
from tacita.risk.population.latent.sample import Sample, sample_of, sample_of_release
from tacita.risk.population.latent.selection import Fit, selected

REPEATS = 2
STEP = 1e-3
SEED = 20261119
"""Always the same: the figures of a file do not change from run to run, and nothing is protected by it."""

FEW_RECORDS = 1000
NEARLY_IMPOSSIBLE = 0.1
"""A key that the model expects fewer persons of the population to have than this."""
MUCH = 0.2
"""From this share of the expected re-identifications on a caution is due."""
MOST = 99.5
"""From this percentage on there is nothing beside."""
AROUND = np.array([-3.0, -1.5, 0.0])
"""Forecasts, in logarithms, of keys that could be in the sample or not: where cells that cannot occur matter."""


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
class Mixture:
    """The laws of all repeats, mixed: F given f by key."""

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

    def variance(self, attack: Floats) -> float:
        """The variance of what comes out of so many attacks by key, uncertainty of the model included."""
        by_repeat = [
            self._of_repeat(laws, other, attack) for laws, other in zip(self.repeats, self.others, strict=True)
        ]
        sums, within = (np.array(column) for column in zip(*by_repeat, strict=True))
        return float(within.mean() + sums.var(ddof=1))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How many classes were chosen, and how much of the chain."""
        return _notes(self.components)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Where the model stands on little, and what to do."""
        return tuple(_cautions(self))

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


def fitted(table: KeyTable, weights: Floats | None, progress: Progress = no_progress) -> Mixture:
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
    return Mixture(table, tuple(repeats), tuple(others), sample)


def _components(
    shares: Sequence[float], fits: Sequence[Fit], counts: Counts, sample: Sample, row: Ints
) -> tuple[Component, ...]:
    """Laws of one forecast; `row` is by key its row among the cells that were forecast."""
    if not fits:
        return ()
    log_m = fits[0].forecast.blended(fits[0].blend)[row]
    points = Points.of(sample, log_m, [each.law for each in fits])
    return tuple(Component(share, fit, counts, points) for share, fit in zip(shares, fits, strict=True))


def fitted_to_release(model: Mixture, table: KeyTable, whole: Refilled, weights: Floats | None) -> Mixture:
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
    return Mixture(table, repeats, others, sample)


def _notes(components: Sequence[tuple[float, Component]]) -> tuple[str, ...]:
    """How many classes were chosen, and how much of the chain."""
    classes = sorted({each.fit.forecast.classes for _, each in components})
    share = 100 * sum(weight * abs(each.fit.blend) for weight, each in components)
    counted = f"{' and '.join(str(each) for each in classes)} {'class' if classes == [1] else 'classes'}"
    if share > MOST:
        return (f"F by the latent model: the forecast is that of {counted} alone, without the back-off chain",)
    if share < 100 - MOST:
        return ("F by the latent model: the back-off chain alone makes the forecast",)
    weigh = "weighs" if classes == [1] else "weigh"
    return (f"F by the latent model: {counted} {weigh} {share:.0f} % of the forecast, the back-off chain the rest",)


def _cautions(model: Mixture) -> Iterator[str]:
    """Where the model stands on little, and what to do."""
    complete = int(model.table.records[model.table.complete].sum())
    if complete < FEW_RECORDS:
        yield (
            f"the latent model has {complete:,} complete records to go by: below {FEW_RECORDS:,} single estimates were "
            f"10 to 20 % off on populations with known counts; go by the upper end of the interval, or recode the keys."
        )
    impossible = _share_of_impossible(model)
    if impossible >= MUCH:
        yield (
            f"{percent(impossible)} of the expected re-identifications come from keys that the model thinks nearly "
            f"impossible: look for coding errors among them, and for combinations that only a few can have."
        )
    possible = sum(share * _possible(each) for share, each in model.components)
    if possible < 1 - MUCH:
        yield (
            f"up to {percent(1 - possible)} of the combinations that the latent model would expect do not occur: "
            f"on such files expected re-identifications were up to 10 % off, and population uniques are not safe."
        )
    if model.table.unit is not None:
        yield (
            "units have several records: on such files the latent model gave expected re-identifications 9 to 22 % too "
            "high; one record per unit is estimated better."
        )


def _share_of_impossible(model: Mixture) -> float:
    """The share of the sum of risks from keys that nearly nobody should have."""
    total: Floats = model.table.records * model.risk
    forecast = sum((weight * each.log_m for weight, each in model.components), np.zeros(len(total)))
    expected = np.exp(forecast) * model.sample.mean_weight
    return math.fsum(total[expected < NEARLY_IMPOSSIBLE]) / math.fsum(total)


def _possible(component: Component) -> float:
    """The least share of cells that can occur, where the sample may or may not have them."""
    return float(component.fit.law.at(AROUND)[2].min())
