"""The back-off chain: each key given the keys before it, as far as the sample has seen them together.

Where keys depend on each other so strictly that most combinations cannot occur (places within regions, carriers and
their routes), latent classes spread the records too thinly. The chain looks each value up among the records that agree
on the keys before it, and backs off to fewer of them as far as there are too few records. Every cell is forecast with
its own records left out of all counts, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.random import Draws
from tacita.risk.population.latent import chain_loops
from tacita.risk.population.latent.cells import ranked
from tacita.threads import halt_if_asked, in_threads

FACTORS = np.array([0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])
"""How much the values not seen in a context may count, by the number of values that were."""
MIXING_STEPS = 20
MOST_TRIED = 60_000
"""Of more cells a random part chooses the factors."""


class Level(NamedTuple):
    """What was seen of a key in contexts of some keys before it."""

    added: int
    """The key that the contexts have beyond those of the level before."""
    known: Ints
    """The contexts in ascending order: context before times values of the added key, plus its value."""
    start: Ints
    value: Ints
    ends: Floats
    factor: float


class Seen(NamedTuple):
    """By row what the sample has of its context and value."""

    records: Floats
    """Records of the context; 0 for one that was never seen."""
    alike: Floats
    """Those of them with the value."""
    different: Ints
    """How many values they have."""

    def of(self, rows: Ints) -> Seen:
        """The same of some rows."""
        return Seen(self.records[rows], self.alike[rows], self.different[rows])

    @classmethod
    def of_rows(cls, level: Level, context: Ints, wanted: Ints) -> Seen:
        """What was seen of rows that may not be in the sample."""
        records, alike = np.zeros(len(context)), np.zeros(len(context))
        different = np.zeros(len(context), dtype=np.int64)
        chain_loops.seen(level.start, level.value, level.ends, context, wanted, records, alike, different)
        return cls(records, alike, different)


class Factor(NamedTuple):
    """One key given the keys before it."""

    key: int
    first: Floats
    """By value: how many records have it."""
    levels: tuple[Level, ...]


class Rows(NamedTuple):
    """Complete keys, codes from 0, with how many records of the sample each stands for (0: not in the sample)."""

    codes: Ints
    own: Floats


class Order(NamedTuple):
    """The chain in one order of the keys."""

    values: Ints
    """By key how many values it has."""
    factors: tuple[Factor, ...]

    def log_density(self, rows: Rows) -> Floats:
        """log q of rows, each with its own records left out."""
        result = np.zeros(len(rows.codes))
        for factor in self.factors:
            wanted = np.ascontiguousarray(rows.codes[:, factor.key])
            probability = first_shares(factor.first, wanted, rows.own)
            context = np.zeros(len(wanted), dtype=np.int64)
            for level in factor.levels:
                context = self._contexts(level, context, rows.codes)
                seen = Seen.of_rows(level, context, wanted)
                chain_loops.refine(*seen, rows.own, level.factor, probability)
            result += np.log(probability)
        return result

    def draw(self, count: int, draws: Draws) -> Ints:
        """Complete keys drawn from the chain."""
        codes = np.zeros((count, len(self.values)), dtype=np.int64)
        for factor in self.factors:
            generator = draws.step(str(factor.key)).generator()
            contexts = [np.zeros(count, dtype=np.int64)]
            for level in factor.levels:
                contexts.append(self._contexts(level, contexts[-1], codes))
            remaining, value = np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
            for depth in range(len(factor.levels), 0, -1):
                level = factor.levels[depth - 1]
                stop, choose = generator.random((2, count))
                chain_loops.draw_from(
                    level.start, level.value, level.ends, contexts[depth], level.factor, stop, choose, remaining, value
                )
            ends = np.cumsum(factor.first + 0.5)
            anew = np.searchsorted(ends, generator.random(count) * ends[-1], side="right")
            codes[:, factor.key] = np.where(remaining, np.minimum(anew, len(ends) - 1), value)
        return codes

    def _contexts(self, level: Level, before: Ints, codes: Ints) -> Ints:
        """For each row its context one key longer; -1 where the sample has none such."""
        wanted = before * self.values[level.added] + codes[:, level.added]
        place = np.minimum(np.searchsorted(level.known, wanted), len(level.known) - 1)
        return np.where((before >= 0) & (level.known[place] == wanted), place, -1)


def first_shares(first: Floats, wanted: Ints, own: Floats) -> Floats:
    """The shares of values in the sample, own records left out."""
    shares: Floats = (first[wanted] - own + 0.5) / (first.sum() - own + len(first) / 2)
    return shares


def fitted_order(rows: Rows, values: Ints, order: Ints, known: Floats, tried: Ints) -> tuple[Order, Floats]:
    """The chain in one order of the keys, and log q of the cells, each with its own records left out.

    `known` is the information that keys have of each other. Factors are those under which `tried` cells are likeliest
    when they are left out.
    """
    factors, density = [], np.zeros(len(rows.codes))
    for place, key in enumerate(order):
        halt_if_asked()
        before = order[:place]
        nearest = before[np.argsort(-known[key, before], kind="stable")]
        factor, probability = _fitted_factor(rows, values, int(key), nearest, tried)
        factors.append(factor)
        density += np.log(probability)
    return Order(values, tuple(factors)), density


def _fitted_factor(rows: Rows, values: Ints, key: int, before: Ints, tried: Ints) -> tuple[Factor, Floats]:
    """One key given those before it, the nearest of them first; and by cell the probability of its value."""
    wanted = np.ascontiguousarray(rows.codes[:, key])
    first = np.bincount(wanted, weights=rows.own, minlength=values[key]).astype(np.float64)
    probability = first_shares(first, wanted, rows.own)
    context, known, levels = np.zeros(len(wanted), dtype=np.int64), np.zeros(1, dtype=np.int64), []
    for added in before:
        known, context = ranked(context * values[added] + rows.codes[:, added], len(known) * int(values[added]))
        if len(known) == len(wanted):
            break  # No cell shares its context with another: longer contexts say nothing that could be checked.
        (start, value, ends), seen = _entries(context, wanted, rows.own, len(known), int(values[key]))
        some = seen.of(tried)
        gains = np.zeros(len(FACTORS))
        chain_loops.gains(*some, rows.own[tried], probability[tried], FACTORS, gains)
        factor = float(FACTORS[int(np.argmax(gains))])
        chain_loops.refine(*seen, rows.own, factor, probability)
        levels.append(Level(int(added), known, start, value, ends, factor))
    return Factor(key, first, tuple(levels)), probability


def _entries(
    context: Ints, wanted: Ints, own: Floats, contexts: int, values: int
) -> tuple[tuple[Ints, Ints, Floats], Seen]:
    """By context the values seen in it: where they start, the values, and running sums of their records.

    And by cell what was seen of its context and value.
    """
    pairs, place = ranked(context * values + wanted, contexts * values)
    records = np.bincount(place, weights=own).astype(np.float64)
    of_context = pairs // values
    start = np.searchsorted(of_context, np.arange(contexts + 1)).astype(np.int64)
    ends = np.cumsum(records)
    ends = ends - np.concatenate([[0.0], ends])[start[of_context]]
    seen = Seen(ends[start[1:] - 1][context], records[place], np.diff(start)[context])
    return (start, pairs % values, ends), seen


def information(rows: Rows, values: Ints) -> Floats:
    """Mutual information of each two keys, less what as many pairs of values show by chance."""
    keys, records = len(values), rows.own.sum()
    single = [_entropy(rows.codes[:, j], rows.own) for j in range(keys)]
    result = np.zeros((keys, keys))
    for j in range(keys):
        for s in range(j):
            both, seen = _entropy(rows.codes[:, j] * values[s] + rows.codes[:, s], rows.own)
            by_chance = (seen - values[j] - values[s] + 1) / (2 * records)
            result[j, s] = result[s, j] = single[j][0] + single[s][0] - both - by_chance
    return result


def _entropy(codes: Any, own: Floats) -> tuple[float, int]:
    """Entropy of what records show, and how many different values do occur."""
    _, place = ranked(codes, int(codes.max()) + 1)
    share = np.bincount(place, weights=own) / own.sum()
    return float(-(share * np.log(share)).sum()), len(share)


class Chain(NamedTuple):
    """The chain in two orders of the keys, mixed."""

    orders: tuple[Order, ...]
    mixing: Floats

    def log_density(self, rows: Rows) -> Floats:
        """log q of rows, each with its own records left out."""
        return _mixed([order.log_density(rows) for order in self.orders], self.mixing)

    def draw(self, count: int, draws: Draws) -> Ints:
        """Complete keys drawn from the mixture."""
        parts = [order.draw(count, draws.step(str(place))) for place, order in enumerate(self.orders)]
        first = draws.step("order").generator().random(count) < self.mixing[0]
        return np.where(first[:, None], parts[0], parts[-1])


def fitted_chain(rows: Rows, values: Ints, draws: Draws) -> tuple[Chain, Floats]:
    """The chain, and log q of the cells, each with its own records left out."""
    descending = np.argsort(-values, kind="stable")
    known, tried = information(rows, values), np.arange(len(rows.codes))
    if len(tried) > MOST_TRIED:
        tried = np.flatnonzero(draws.uniform(tried) < MOST_TRIED / len(tried))

    def one(order: Ints) -> tuple[Order, Floats]:
        return fitted_order(rows, values, order, known, tried)

    orders, densities = zip(*in_threads(one, (descending, descending[::-1])), strict=True)
    mixing = np.full(2, 0.5)
    for _ in range(MIXING_STEPS):
        share = np.exp(densities[0] + np.log(mixing[0]) - _mixed(densities, mixing))
        total = (share.sum() + 1) / (len(share) + 2)
        mixing = np.array([total, 1 - total])
    return Chain(orders, mixing), _mixed(densities, mixing)


def _mixed(densities: Sequence[Floats], mixing: Floats) -> Floats:
    """The logarithm of a mixture of two densities."""
    result: Floats = np.logaddexp(densities[0] + np.log(mixing[0]), densities[1] + np.log(mixing[1]))
    return result
