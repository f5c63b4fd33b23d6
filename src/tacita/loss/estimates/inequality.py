"""Inequality of a weighted distribution: Lorenz curve, Gini, shares of the poorest and richest, poverty."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats


class Sorted(NamedTuple):
    """Numbers in ascending order, with what is reached up to each of them."""

    values: Floats
    weight: Floats
    """By value; some can be 0."""
    population: Floats
    """The weight up to each value, it included."""
    amount: Floats
    """The amount up to each value, it included."""

    @property
    def positive(self) -> bool:
        """Whether there is anything to share out."""
        return len(self.values) > 0 and bool(self.population[-1] > 0 and self.amount[-1] > 0)


def added_up(values: Floats, weight: Floats) -> Sorted:
    """Numbers that are in ascending order, added up."""
    return Sorted(values, weight, np.cumsum(weight), np.cumsum(weight * values))


def gini(given: Sorted) -> float:
    """Gini's coefficient: 0 everybody has the same, 1 one has everything; NaN if there is no positive total.

    >>> gini(added_up(np.array([0.0, 1.0]), np.array([1.0, 1.0])))
    0.5
    """
    if not given.positive:
        return math.nan
    # Between the weight before a value and that up to it.
    twice = 2.0 * given.population - given.weight
    total = given.population[-1] * given.amount[-1]
    return float((given.weight * given.values * twice).sum() / total - 1.0)


def lorenz(given: Sorted, at: Floats) -> Floats:
    """The share of the amount that the poorest shares of the population have; NaN if there is no positive total.

    >>> lorenz(added_up(np.array([1.0, 3.0]), np.array([1.0, 1.0])), np.array([0.25, 0.5, 1.0])).tolist()
    [0.125, 0.25, 1.0]
    """
    if not given.positive:
        return np.full(len(at), np.nan)
    # A value by which the share is reached, and how far along its own weight.
    wanted = at * given.population[-1]
    place = np.minimum(np.searchsorted(given.population, wanted, side="left"), len(given.values) - 1)
    amount = given.amount[place] - (given.population[place] - wanted) * given.values[place]
    return np.asarray(amount / given.amount[-1], dtype=np.float64)


def poverty_line(given: Sorted, share: float) -> float:
    """A share of the median; NaN without weight."""
    if not len(given.values) or given.population[-1] <= 0:
        return math.nan
    place = int(np.searchsorted(given.population, 0.5 * given.population[-1] * (1.0 - 1e-12), side="left"))
    return share * float(given.values[place])


def poverty_rate(given: Sorted, line: float) -> float:
    """The share of the population below a line."""
    if math.isnan(line) or not len(given.values) or given.population[-1] <= 0:
        return math.nan
    below = int(np.searchsorted(given.values, line, side="left"))
    return float(given.population[below - 1] / given.population[-1]) if below else 0.0


STATISTICS = ("gini", "bottom 20 %", "top 20 %", "s80/s20", "poverty rate", "poverty rate, first line")


def inequality(given: Sorted, line_share: float, anchor: float) -> Floats:
    """The figures of `STATISTICS`; `anchor` is the poverty line of the original."""
    bottom, rest = lorenz(given, np.array([0.2, 0.8])).tolist()
    top = 1.0 - rest
    ratio = top / bottom if bottom > 0 else math.nan
    own = poverty_line(given, line_share)
    return np.array([gini(given), bottom, top, ratio, poverty_rate(given, own), poverty_rate(given, anchor)])
