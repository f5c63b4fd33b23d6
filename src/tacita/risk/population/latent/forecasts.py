"""How many records each key should have, forecast by models that were fitted without it.

Keys are forecast by folds: five models, each fitted without a fifth of the cells, forecast the cells that they were not
shown. Keys that the sample does not have are drawn from the models themselves, each draw standing for as many cells as
it is unlikely, so that no table of all combinations is ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from tacita.arrays import Floats, Ints
from tacita.random import Draws
from tacita.risk.population.latent import class_loops, classes
from tacita.risk.population.latent.cells import Cells, Lookup
from tacita.risk.population.latent.chain import Chain, Rows, fitted_chain
from tacita.risk.population.latent.classes import Classes, Layout
from tacita.risk.population.latent.law import LEAST_LOG, Counts, pooled
from tacita.threads import in_threads

FOLDS = 5
SMALL = 20
"""Cells with more records are in all models, and their own records are taken out of the counts instead."""
MOST_CLASSES = 64
RECORDS_BY_CLASS = 15
LEAST_DRAWN, MOST_DRAWN = 6_000, 30_000
DRAWN_BY_CELL = 20
"""Draws of empty cells, from the classes and as many from the chain: so many that chance in them is little beside that
in the sample."""
MOST_CELLS = 60_000
"""Models are fitted to a part of the records that has about so many cells, and forecast all."""


class Empty(NamedTuple):
    """Cells that the sample does not have, as drawn."""

    log_classes: Floats
    """Their chance by the classes."""
    log_chain: Floats
    log_weight: Floats
    """For how many cells a draw stands."""


class Forecast(NamedTuple):
    """How many records each key should have, by so many classes and by the chain."""

    classes: int
    log_classes: Floats
    """By key: the logarithm of the forecast of the latent classes."""
    log_chain: Floats
    """By key: that of the chain; of keys with missing values that of the classes."""
    empty: Empty
    models: tuple[Classes, ...]
    """The classes, by fold."""
    log_records: float

    def blended(self, blend: float) -> Floats:
        """By key the logarithm of the forecast that is made of both."""
        return blended(self.log_classes, self.log_chain, blend)

    def of_others(self, codes: Ints) -> Floats:
        """The logarithm of the forecast of keys that no record has just like that, as of a release: by the classes."""
        layout, log_density = self.models[0].layout, np.empty((len(self.models), len(codes)))
        places = np.where(codes > 0, layout.starts[:-1] + codes - 1, -1).astype(np.int32)
        for model, density in zip(self.models, log_density, strict=True):
            model.log_density(places, np.arange(len(codes)), density)
        others: Floats = np.logaddexp.reduce(log_density) - np.log(len(self.models)) + self.log_records
        return np.maximum(others, LEAST_LOG)

    def counts(self, cells: Cells, blend: float) -> Counts:
        """What the law is fitted to: complete cells and drawn empty ones."""
        complete = cells.complete
        empty = blended(self.empty.log_classes, self.empty.log_chain, blend)
        shown = cells.count[complete].sum() / cells.records
        return pooled(
            self.blended(blend)[complete], cells.count[complete], empty, np.exp(self.empty.log_weight), float(shown)
        )


def blended(first: Floats, second: Floats, blend: float) -> Floats:
    """Two logarithms mixed: in logarithms for a blend of at least 0, in the numbers themselves below."""
    if blend >= 0:
        mixed = blend * first + (1 - blend) * second if 0 < blend < 1 else (first if blend == 1 else second)
    else:
        mixed = np.logaddexp(first + np.log(-blend), second + np.log1p(blend))
    result: Floats = np.maximum(mixed, LEAST_LOG)
    return result


class ChainForecast(NamedTuple):
    """What the chain says, the same for any number of classes and for every repeat."""

    chain: Chain
    log_density: Floats
    """By complete cell."""
    lookup: Lookup

    @classmethod
    def of(cls, cells: Cells, draws: Draws) -> ChainForecast:
        """The chain fitted to the complete cells."""
        rows = Rows(cells.codes[cells.complete] - 1, cells.count[cells.complete].astype(np.float64))
        chain, density = fitted_chain(rows, cells.values, draws)
        return cls(chain, density, Lookup(rows.codes, cells.values))

    def of_empty(self, codes: Ints) -> Floats:
        """log q of keys that the sample does not have."""
        return self.chain.log_density(Rows(codes, np.zeros(len(codes))))


class Repeat:
    """One division into folds, with one set of starts and draws."""

    def __init__(self, cells: Cells, chain: ChainForecast, draws: Draws) -> None:
        self.cells, self.chain, self.draws = cells, chain, draws
        self.layout = Layout.of(cells.values, cells.numbers)
        self.places = np.where(cells.codes > 0, self.layout.starts[:-1] + cells.codes - 1, -1).astype(np.int32)
        self.fitted_count = part_of(cells.count, draws.step("part"))
        self.fitted = np.flatnonzero(self.fitted_count)
        self.fold = draws.step("folds").integers(np.arange(len(cells.codes)), FOLDS)
        self.fold[cells.count > SMALL] = -1
        self.models = [classes.one_class(self.layout)] * FOLDS
        self.size = int(np.clip(DRAWN_BY_CELL * len(cells.codes), LEAST_DRAWN, MOST_DRAWN)) // FOLDS * FOLDS
        self.drawn = self._drawn_from_chain()

    def forecasts(self, progress: Callable[[int], None]) -> Iterator[Forecast]:
        """Forecasts with 1, 2, 4, ... classes, for as long as they are asked for."""
        number = 1
        while number == 1 or (number <= MOST_CLASSES and self.fitted_count.sum() >= RECORDS_BY_CLASS * number):
            progress(number)
            self._fit(number)
            yield self._forecast(number)
            number *= 2

    def _fit(self, number: int) -> None:
        def one(fold: int) -> Classes:
            draws = self.draws.step(f"start {number} {fold}")
            weight = np.where(own < 0, count, count * (FOLDS / (FOLDS - 1)))
            weight[own == fold] = 0.0
            return classes.fitted(classes.split(self.models[fold], number, draws), places, weight)

        own, count, places = (each[self.fitted] for each in (self.fold, self.fitted_count, self.places))
        # Each model is worked out by itself, so that the result is the same with any number of threads.
        self.models = in_threads(one, range(FOLDS))

    def _forecast(self, number: int) -> Forecast:
        size, log_records = len(self.cells.codes), np.log(self.cells.records)
        log_density, large = np.empty(size), np.flatnonzero(self.fold < 0)

        def one(fold: int) -> Floats:
            model, without = self.models[fold], np.zeros(size)
            model.log_density(self.places, np.flatnonzero(self.fold == fold), log_density)
            model.density_without(self.places, large, self.fitted_count, without)
            return without[large]

        log_density[large] = np.log(sum(in_threads(one, range(FOLDS))) / FOLDS)
        log_density += log_records
        log_chain = log_density.copy()
        log_chain[self.cells.complete] = self.chain.log_density + log_records
        empty = self._empty(number)
        with_records = Empty(empty.log_classes + log_records, empty.log_chain + log_records, empty.log_weight)
        return Forecast(number, log_density, log_chain, with_records, tuple(self.models), float(log_records))

    def _drawn_from_chain(self) -> tuple[Ints, Ints, Floats]:
        """Draws from the chain that the sample does not have, the model that each is held against, and their log q."""
        codes = self.chain.chain.draw(self.size, self.draws.step("chain"))
        fold = self.draws.step("fold of draw").integers(np.arange(self.size), FOLDS)
        outside = ~self.chain.lookup(codes)
        return codes[outside], fold[outside], self.chain.of_empty(codes[outside])

    def _empty(self, number: int) -> Empty:
        codes, fold, log_chain = self.drawn
        parts = [(codes + self.layout.starts[:-1], fold, log_chain)]
        for j, model in enumerate(self.models):
            places = model.draw(self.size // FOLDS, self.draws.step(f"cells {number} {j}"))
            places = places[~self.chain.lookup(places - self.layout.starts[:-1])]
            of_chain = self.chain.of_empty(places - self.layout.starts[:-1])
            parts.append((places, np.full(len(places), j), of_chain))
        places, fold, log_chain = (np.concatenate(column) for column in zip(*parts, strict=True))
        log_classes = np.empty(len(places))
        for j, model in enumerate(self.models):
            model.log_density(places.astype(np.int32), np.flatnonzero(fold == j), log_classes)
        return Empty(log_classes, log_chain, -np.log(self.size) - np.logaddexp(log_classes, log_chain))


def part_of(count: Ints, draws: Draws) -> Floats:
    """By cell the records that models are fitted to: all, or of many cells a random part."""
    if len(count) <= MOST_CELLS:
        return count.astype(np.float64)
    share, taken = _share_with(MOST_CELLS, count), np.empty(len(count))
    class_loops.thinned(count, share, draws.uniform(np.arange(len(count))), taken)
    return taken


def _share_with(cells: int, count: Ints) -> float:
    """The share of the records that is expected to have so many different cells."""
    different, times = np.unique(count, return_counts=True)

    def excess(share: float) -> float:
        return float((times * -np.expm1(different * np.log1p(-share))).sum() - cells)

    return float(brentq(excess, 0.0, 1.0 - 1e-9))
