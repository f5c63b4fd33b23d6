"""Probabilistic linkage after Fellegi and Sunter: on which variables do two records agree, and what does that say?

Pairs of records fall into a few agreement patterns: each variable agrees, differs, or is missing in one of the two. The
patterns are counted over the pairs inside blocks, equal records taken together, and no pair is ever stored. A mixture
of two classes, pairs of the same unit and others, is then fitted to the counts by the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.distance.equal_rows import row_groups
from tacita.progress import Progress, no_progress

MOST_VARIABLES = 12
"""3^12 patterns are still few."""
DIFFER, AGREE, UNKNOWN = 0, 1, 2
LEAST = 1e-9
"""Probabilities are kept that far from 0 and 1, so that one surprise does not decide everything."""
FIRST_M = 0.9
"""Where EM begins: how likely records of the same unit agree on a variable."""


PAIRS = 200_000_000
"""Pairs that are compared between two calls of the progress."""


class Blocks(NamedTuple):
    """Distinct records of two files, those of a block together."""

    x: Floats
    """Distinct rows of the first file."""
    x_count: Ints
    """How many records each stands for."""
    x_row: Ints
    """The lowest row of them."""
    y: Floats
    """Distinct rows of the second file."""
    y_count: Ints
    x_start: Ints
    """By block: its first distinct row of x, and one more at the end."""
    y_start: Ints
    y_group: Ints
    """For each record of the second file its distinct row, -1 if its block is in no record of the first."""

    @property
    def comparisons(self) -> int:
        """Pairs of distinct rows inside blocks."""
        return int((np.diff(self.x_start) * np.diff(self.y_start)).sum())

    @property
    def pairs(self) -> int:
        """Pairs of records inside blocks."""
        x = np.add.reduceat(np.append(self.x_count, 0), self.x_start[:-1]) * (np.diff(self.x_start) > 0)
        y = np.add.reduceat(np.append(self.y_count, 0), self.y_start[:-1]) * (np.diff(self.y_start) > 0)
        return int((x * y).sum())


def blocks(x: Floats, y: Floats, x_block: Ints, y_block: Ints) -> Blocks:
    """The distinct records of each block 0, 1, ...; -1 is no block, and missing values are NaN."""
    size = int(max(x_block.max(initial=-1), y_block.max(initial=-1))) + 1
    x_rows, x_count, x_start, _ = _distinct(x, x_block, size)
    y_rows, y_count, y_start, y_group = _distinct(y, y_block, size)
    return Blocks(x[x_rows], x_count, x_rows, y[y_rows], y_count, x_start, y_start, y_group)


def _distinct(values: Floats, block: Ints, size: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Lowest row and number of records of each distinct row in order of block; where blocks start; each record's."""
    shown = np.isnan(values)
    whole = np.column_stack([block, shown, np.where(shown, 0.0, values)])
    group, _ = row_groups(whole, whole[:0])
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(block[first], kind="stable")
    order = order[np.searchsorted(block[first][order], 0) :]
    place = np.full(len(first), -1)
    place[order] = np.arange(len(order))
    rows = first[order]
    count = np.bincount(inverse, minlength=len(first))[order]
    start = np.searchsorted(block[rows], np.arange(size + 1))
    return rows, count, start, place[inverse]


def digits(variables: int) -> Ints:
    """By pattern and variable: whether it differs, agrees or is unknown. Pattern numbers are read in base 3."""
    patterns = np.arange(3**variables)
    return np.stack([patterns // 3**j % 3 for j in range(variables)], axis=1)


@compiled
def _pattern(x: Floats, y: Floats, tolerance: Floats) -> int:
    """The number of the agreement pattern of two records."""
    number, power = 0, 1
    for j in range(len(tolerance)):
        difference = abs(x[j] - y[j])
        if difference <= tolerance[j]:
            number += power
        elif np.isnan(difference):
            number += 2 * power
        power *= 3
    return number


def count_patterns(given: Blocks, tolerance: Floats, progress: Progress = no_progress) -> Ints:
    """By pattern: how many pairs of records inside blocks have it."""
    counts = np.zeros(3 ** len(tolerance), np.int64)
    for first, last in _in_turns(given, progress, "comparing pairs"):
        _count(given, tolerance, first, last, counts)
    return counts


def _in_turns(given: Blocks, progress: Progress, what: str) -> Iterator[tuple[int, int]]:
    """The records of the second file in parts that are compared in about a second."""
    size = len(given.y)
    step = max(1, size * PAIRS // max(given.comparisons, 1))
    for first in range(0, size, step):
        progress(first / size, what)
        yield first, min(first + step, size)


@compiled
def _count(given: Blocks, tolerance: Floats, first: int, last: int, counts: Ints) -> None:
    for block in range(len(given.x_start) - 1):
        for i in range(max(given.y_start[block], first), min(given.y_start[block + 1], last)):
            for h in range(given.x_start[block], given.x_start[block + 1]):
                pattern = _pattern(given.x[h], given.y[i], tolerance)
                counts[pattern] += given.x_count[h] * given.y_count[i]


class Mixture(NamedTuple):
    """Pairs of the same unit and other pairs, as EM tells them apart."""

    share: float
    """Share of the pairs that are of the same unit."""
    m: Floats
    """By variable: how likely a pair of the same unit agrees."""
    u: Floats
    """By variable: how likely another pair agrees."""
    log_likelihood: float
    steps: int
    converged: bool


def expectation_maximisation(counts: Ints, most: float, *, steps: int = 5000, precision: float = 1e-8) -> Mixture:
    """Maximum likelihood of the mixture, variables being independent inside each class; unknown says nothing.

    At most the share `most` of the pairs is of the same unit: no record has two partners. Without that limit EM finds
    whatever makes variables depend on each other, such as age and education. It begins with that share, with m = 0.9
    and with u as if no pair were of the same unit; every step raises the likelihood.
    """
    seen = _occurring_patterns(counts)
    model = starting_mixture(counts, most)
    while model.steps < steps and not model.converged:
        further = _step(seen, model, most)
        model = further._replace(converged=bool(change(model, further) < precision))
    return model


def starting_mixture(counts: Ints, share: float) -> Mixture:
    """The mixture from which EM starts."""
    seen = _occurring_patterns(counts)
    u = _probability(seen.weight @ seen.agrees, seen.weight @ seen.known)
    return Mixture(share, np.full(len(u), FIRST_M), u, -np.inf, 0, False)


def em_step(counts: Ints, model: Mixture, most: float = 1.0) -> Mixture:
    """The mixture after one more step of EM, with the likelihood of the one before."""
    return _step(_occurring_patterns(counts), model, most)


def change(one: Mixture, other: Mixture) -> float:
    """The greatest difference between the probabilities of two mixtures."""
    return float(max(abs(one.share - other.share), np.abs(one.m - other.m).max(), np.abs(one.u - other.u).max()))


class _OccurringPatterns(NamedTuple):
    """The patterns that occur."""

    agrees: Bools
    known: Bools
    weight: Floats
    """How many pairs have each."""


def _occurring_patterns(counts: Ints) -> _OccurringPatterns:
    used = np.flatnonzero(counts)
    states = digits(round(np.log(len(counts)) / np.log(3)))[used]
    return _OccurringPatterns(states == AGREE, states != UNKNOWN, counts[used].astype(np.float64))


def _step(seen: _OccurringPatterns, model: Mixture, most: float) -> Mixture:
    agrees, known, weight = seen
    one = np.log(model.share) + _logarithm(agrees, known, model.m)
    other = np.log1p(-model.share) + _logarithm(agrees, known, model.u)
    both = np.logaddexp(one, other)
    matched = np.exp(one - both) * weight
    share = float(np.clip(matched.sum() / weight.sum(), LEAST / weight.sum(), most))
    m = _probability(matched @ agrees, matched @ known)
    u = _probability((weight - matched) @ agrees, (weight - matched) @ known)
    return Mixture(share, m, u, float(weight @ both), model.steps + 1, False)


def _probability(hits: Floats, tries: Floats) -> Floats:
    share = np.divide(hits, tries, out=np.full(len(hits), 0.5), where=tries > 0)
    return np.asarray(np.clip(share, LEAST, 1 - LEAST))


def _logarithm(agrees: Bools, known: Bools, probability: Floats) -> Floats:
    """By pattern: the logarithm of its probability in a class."""
    differs = (known & ~agrees).astype(np.float64)
    return agrees.astype(np.float64) @ np.log(probability) + differs @ np.log1p(-probability)


def expected_matches(counts: Ints, model: Mixture) -> Floats:
    """By pattern: how many of its pairs are of the same unit by the model, never more than there are.

    Share times m of the pattern, times the pairs that show the same variables; not from the odds of each pair, whose
    sum would exceed the share where that was limited.
    """
    states = digits(len(model.m))
    unknown = (states == UNKNOWN) @ (1 << np.arange(len(model.m)))
    pairs = np.bincount(unknown, weights=counts)[unknown]
    likely = np.exp(_logarithm(states == AGREE, states != UNKNOWN, model.m))
    return np.asarray(np.minimum(counts, pairs * model.share * likely))


def pattern_weights(m: Floats, u: Floats) -> Floats:
    """By pattern: the sum of log2(m/u) where a variable agrees and log2((1-m)/(1-u)) where it differs."""
    states = digits(len(m))
    agrees, differs = ((states == state).astype(np.float64) for state in (AGREE, DIFFER))
    gain = agrees @ np.log2(m / u) + differs @ np.log2((1 - m) / (1 - u))
    # Patterns of equal weight but for rounding are equally good.
    return np.asarray(np.round(gain, 10))


class Cutoffs(NamedTuple):
    """Pairs with at least the upper weight are links, those below the lower one are not; others are undecided."""

    upper: float
    lower: float


def cutoffs(weight: Floats, matches: Floats, others: Floats, false_links: float, missed_links: float) -> Cutoffs:
    """The lowest upper and the highest lower cut-off that keep to two error rates.

    By pattern (or pair): weight, and how many pairs of the same unit and other pairs are expected. At most the share
    `false_links` of the links are false, and at most the share `missed_links` of the pairs of the same unit are below
    the lower cut-off. No link at all keeps to the first one: then the upper cut-off is infinite.
    """
    values, place = np.unique(-weight, return_inverse=True)
    right = np.cumsum(np.bincount(place, weights=matches))
    wrong = np.cumsum(np.bincount(place, weights=others))
    kept = np.flatnonzero(wrong <= false_links * (right + wrong))
    upper = -values[kept[-1]] if len(kept) else np.inf
    enough = np.flatnonzero(right[-1] - right <= missed_links * right[-1])
    return Cutoffs(float(upper), float(min(upper, -values[enough[0]])))


class BestLinks(NamedTuple):
    """By record of the second file: the records of the first with the greatest weight."""

    weight: Floats
    """The greatest weight, minus infinity if there is no record to compare with."""
    ties: Ints
    """How many records have it."""
    row: Ints
    """The lowest row of them, -1 for none."""


def best_links(given: Blocks, tolerance: Floats, weight: Floats, progress: Progress = no_progress) -> BestLinks:
    """The best candidates of every record inside its block."""
    size = len(given.y)
    best, ties, row = np.full(size, -np.inf), np.zeros(size, np.int64), np.full(size, -1)
    for first, last in _in_turns(given, progress, "linking records"):
        _best(given, tolerance, weight, first, last, best, ties, row)
    group = np.where(given.y_group < 0, len(best), given.y_group)
    return BestLinks(np.append(best, -np.inf)[group], np.append(ties, 0)[group], np.append(row, -1)[group])


@compiled
def _best(
    given: Blocks, tolerance: Floats, weight: Floats, first: int, last: int, best: Floats, ties: Ints, row: Ints
) -> None:
    for block in range(len(given.x_start) - 1):
        for i in range(max(given.y_start[block], first), min(given.y_start[block + 1], last)):
            for h in range(given.x_start[block], given.x_start[block + 1]):
                value = weight[_pattern(given.x[h], given.y[i], tolerance)]
                if value > best[i]:
                    best[i], ties[i], row[i] = value, given.x_count[h], given.x_row[h]
                elif value == best[i]:
                    ties[i] += given.x_count[h]
                    row[i] = min(row[i], given.x_row[h])


def pair_weights(x: Floats, y: Floats, tolerance: Floats, weight: Floats) -> Floats:
    """The weight of each row of x with the same row of y."""
    return weight[_pair_patterns(np.ascontiguousarray(x), np.ascontiguousarray(y), tolerance)]


@compiled
def _pair_patterns(x: Floats, y: Floats, tolerance: Floats) -> Ints:
    result = np.empty(len(x), np.int64)
    for i in range(len(x)):
        result[i] = _pattern(x[i], y[i], tolerance)
    return result
