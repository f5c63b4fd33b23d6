"""Latent classes: within a class the keys are independent, so that a few hundred shares describe the whole sample.

A model of the sample, without weights: how likely is a record to show these values? Fitted by EM over the distinct
keys. Shares are drawn to those of all records (for numbers with many values, to those of neighbouring values) by a
prior weight that is estimated for each key.

Goodman (1974), Biometrika 61, 215-231; Manrique-Vallier and Reiter (2012), JASA 107, 1385-1394.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from tacita.arrays import Bools, Floats, Ints
from tacita.random import Draws
from tacita.risk.population.latent import class_loops
from tacita.threads import halt_if_asked

ITERATIONS = 25
LEAST_ITERATIONS = 6
ENOUGH = 5e-5
"""EM stops when the log-likelihood gains less than this by record."""
LEAST_RECORDS = 1.0
"""A class that holds less is dropped."""
LEAST_PRIOR, GREATEST_PRIOR = 0.01, 1e4
NUMERIC_FROM = 20
"""Numbers with more values than this borrow from neighbouring values."""
KERNEL = np.exp(-0.5 * (np.arange(1, 11) / 2.0) ** 2)
"""Weights of neighbours at distance 1, 2, ...: standard deviation 2 values."""


class Layout(NamedTuple):
    """How the values of all keys lie one below the other."""

    starts: Ints
    """By key its first place; one more at the end."""
    numeric: Bools
    """By key whether it is a number with many values."""

    @classmethod
    def of(cls, values: Ints, numbers: Bools) -> Layout:
        """The layout of keys with so many values each, of which some are numbers."""
        return cls(np.concatenate([[0], np.cumsum(values)]), numbers & (values > NUMERIC_FROM))

    @property
    def values(self) -> Ints:
        """By key how many values it has."""
        return np.diff(self.starts)

    def sums(self, counts: Floats) -> Floats:
        """Sums by key of what is known by value."""
        result: Floats = np.add.reduceat(counts, self.starts[:-1], axis=0)
        return result

    def spread(self, by_key: Floats) -> Floats:
        """What is known by key for each of its values."""
        return np.repeat(by_key, self.values, axis=0)


class Classes(NamedTuple):
    """A fitted model."""

    layout: Layout
    sizes: Floats
    """By class its share of the records."""
    shares: Floats
    """By value and class: the share of the value in the class."""
    prior: Floats
    """By key: how many records the common shares count for."""
    counts: Floats
    """By value and class: expected records."""
    totals: Floats
    """By class: expected records."""

    def log_density(self, places: Any, rows: Ints, density: Floats) -> None:
        """Put log q of some rows into `density`."""
        class_loops.log_density(places, rows, self.sizes, self.shares, density)

    def density_without(self, places: Any, rows: Ints, weight: Floats, density: Floats) -> None:
        """Add to `density` q of some rows, with their own records taken out of the counts."""
        everywhere = self.counts.sum(axis=1)
        class_loops.density_without(
            places, rows, weight, self.sizes, self.shares, self.counts, self.totals, self.layout.sums(self.counts),
            _smoothed(self.counts, self.layout), self.prior, everywhere, self.layout.sums(everywhere),
            self.layout.values, self.layout.numeric, density,
        )  # fmt: skip

    def draw(self, count: int, draws: Draws) -> Ints:
        """Complete keys drawn from the model, as places."""
        keys = len(self.layout.values)
        result = np.empty((count, keys), dtype=np.int64)
        uniforms = draws.generator().random((count, keys + 1))
        ends, sums = np.cumsum(self.sizes), np.empty_like(self.shares)
        for first, last in pairwise(self.layout.starts):
            np.cumsum(self.shares[first:last], axis=0, out=sums[first:last])
        chosen = np.minimum(np.searchsorted(ends, uniforms[:, 0] * ends[-1], side="right"), len(ends) - 1)
        class_loops.draw_rows(uniforms, chosen, sums, self.layout.starts, result)
        return result


def one_class(layout: Layout) -> Classes:
    """The model to begin with: one class, every value as likely as any other."""
    shares = layout.spread(1.0 / layout.values)[:, None]
    nothing = np.zeros_like(shares)
    return Classes(layout, np.ones(1), shares, np.ones(len(layout.values)), nothing, np.zeros(1))


def fitted(model: Classes, places: Any, weight: Floats) -> Classes:
    """The model after EM over distinct keys that stand for `weight` records each."""
    records, last = weight.sum(), -np.inf
    for iteration in range(ITERATIONS):
        halt_if_asked()
        counts, totals = np.zeros_like(model.shares), np.zeros_like(model.sizes)
        likelihood = class_loops.expected_counts(places, weight, model.sizes, model.shares, counts, totals)
        kept = totals >= LEAST_RECORDS
        if not kept.all() and kept.any():
            counts, totals = np.ascontiguousarray(counts[:, kept]), totals[kept]
        model = maximised(model.layout, counts, totals, model.prior, estimate_prior=iteration % 3 == 2)
        if iteration + 1 >= LEAST_ITERATIONS and likelihood - last < ENOUGH * records:
            break
        last = likelihood
    return model


def maximised(layout: Layout, counts: Floats, totals: Floats, prior: Floats, *, estimate_prior: bool) -> Classes:
    """The M step: shares from expected counts, drawn to common ones."""
    drawn_to = common_shares(layout, counts)
    by_key = layout.sums(counts)
    if estimate_prior:
        prior = _estimated_prior(layout, counts, by_key, drawn_to, prior)
    weight = layout.spread(prior)[:, None]
    shares = (counts + weight * drawn_to) / (layout.spread(by_key) + weight)
    sizes = (totals + 0.1) / (totals.sum() + 0.1 * len(totals))
    return Classes(layout, sizes, shares, prior, counts, totals)


def common_shares(layout: Layout, counts: Floats) -> Floats:
    """By value and class the shares that those of a class are drawn to: of all records, or of neighbouring values."""
    everywhere = counts.sum(axis=1)
    common = (everywhere + 0.5) / layout.spread(layout.sums(everywhere) + layout.values / 2)
    result = np.repeat(common[:, None], counts.shape[1], axis=1)
    if layout.numeric.any():
        near, by_key = _smoothed(counts, layout), layout.sums(counts)
        for j in np.flatnonzero(layout.numeric):
            part = slice(layout.starts[j], layout.starts[j + 1])
            shown = by_key[j] > 1e-9
            result[part, shown] = 0.1 * result[part, shown] + 0.9 * near[part, shown] / by_key[j, shown]
    return result


def _smoothed(counts: Floats, layout: Layout) -> Floats:
    """Counts of numeric keys spread over their neighbours; those of other keys are not looked at."""
    result = np.zeros_like(counts)
    for j in np.flatnonzero(layout.numeric):
        class_loops.smoothed(counts, layout.starts[j], layout.starts[j + 1], KERNEL, result)
    return result


def _estimated_prior(layout: Layout, counts: Floats, by_key: Floats, drawn_to: Floats, prior: Floats) -> Floats:
    """One step towards the prior weights under which the counts are likeliest (Minka's fixed point)."""
    weighted = layout.spread(prior)[:, None] * drawn_to
    above = layout.sums((drawn_to * (digamma(counts + weighted) - digamma(weighted))).sum(axis=1))
    below = (digamma(by_key + prior[:, None]) - digamma(prior)[:, None]).sum(axis=1)
    step = np.divide(above, below, out=np.ones_like(above), where=below > 0)
    estimated: Floats = np.clip(prior * step, LEAST_PRIOR, GREATEST_PRIOR)
    return estimated


def split(model: Classes, classes: int, draws: Draws) -> Classes:
    """The model with the largest classes halved until there are so many, each halved or not given some noise."""
    totals, origin = list(model.sizes), list(range(len(model.sizes)))
    while len(totals) < classes:
        largest = int(np.argmax(totals))
        totals[largest] /= 2
        totals.append(totals[largest])
        origin.append(origin[largest])
    shares = model.shares[:, origin]
    # Gamma with shape 2 and mean 1 is the mean of two exponentials.
    noise = -np.log1p(-draws.generator().random((2, *shares.shape))).mean(axis=0)
    shares = shares * noise
    shares /= model.layout.spread(model.layout.sums(shares))
    sizes = np.array(totals)
    return model._replace(sizes=sizes / sizes.sum(), shares=np.ascontiguousarray(shares))
