"""The four figures of external risk, and what they are on average over what the intruder may know."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.progress import Progress, no_progress, part
from tacita.random import Draws
from tacita.repeats import how_many
from tacita.risk.external.agreement import Compared, pair_sums

MOST_EXACT = 6
"""So many variables that are known with some probability are averaged over exactly."""
KINDS = ("paired", "true", "unique", "expected", "highest")
"""What a policy can limit."""
AVERAGED = KINDS[:-1]


class Found(NamedTuple):
    """What the intruder finds, by record of his file."""

    pairs: Ints
    """Released records that agree with it."""
    candidates: Floats
    """Among so many he guesses: the pairs, or the sum of their weights."""
    right: Ints | None
    """Released records of the same unit among the pairs; None: nobody knows who is who."""
    repeats: Ints | None = None
    """How many records each row of his file stands for, where files are on an engine; None: each is one."""

    @property
    def unique_correct(self) -> Bools:
        """Whether all pairs, at least one, are of the right unit."""
        assert self.right is not None
        found: Bools = (self.right > 0) & (self.right == self.pairs)
        return found

    @property
    def expected(self) -> Floats:
        """The probability that a pair drawn at random is right."""
        assert self.right is not None
        return np.minimum(1.0, self.right / np.maximum(self.candidates, np.finfo(np.float64).tiny))


class Figures(NamedTuple):
    """The figures of a file, as numbers of records."""

    records: int
    """Records of the intruder's file."""
    paired: int
    """Those that agree with some released record."""
    true: int | None
    """Those that agree with a released record of the right unit; None: nobody knows."""
    unique: int | None
    """Those that agree with released records of the right unit only."""
    expected: float | None
    """How many guesses are right where he draws one of the pairs of each."""
    highest: float | None
    """The greatest probability of a right guess."""

    @classmethod
    def of(cls, found: Found) -> Figures:
        """The figures of what he finds."""
        repeats = found.repeats
        size, paired = (how_many(each, repeats) for each in (found.pairs >= 0, found.pairs > 0))
        if found.right is None:
            return cls(size, paired, None, None, None, None)
        expected, true = found.expected, how_many(found.right > 0, repeats)
        # An exact sum: it does not depend on the order of the records.
        total = math.fsum((expected if repeats is None else expected * repeats).tolist())
        return cls(size, paired, true, how_many(found.unique_correct, repeats), total, float(expected.max()))

    def share(self, name: str) -> float:
        """A figure as a share of the records, the highest probability as it is; NaN where nobody knows."""
        value = getattr(self, name)
        if value is None:
            return float("nan")
        return float(value) if name == "highest" else value / self.records


class Matching(NamedTuple):
    """What both files hold, for the question who agrees with whom on some of the variables."""

    size: int
    """Records of the intruder's file."""
    amounts: Ints
    """By released record: 1, and its weight as a whole number where there are weights."""
    unit: float
    """What a whole number of weight stands for."""
    true_pairs: tuple[Ints, Ints] | None
    """Rows of both files that are the same unit; None: nobody knows."""
    repeats: Ints | None = None
    """How many records each row of the intruder's file stands for; None: each is one."""

    def found(self, variables: Sequence[Compared], progress: Progress = no_progress) -> Found:
        """What an intruder finds who knows these variables."""
        sums = pair_sums(variables, self.size, self.amounts, progress)
        candidates: Floats = sums[:, -1].astype(np.float64) * self.unit
        if self.true_pairs is None:
            return Found(sums[:, 0], candidates, None, self.repeats)
        rows, released = self.true_pairs
        agrees = np.ones(len(rows), dtype=np.bool_)
        for each in variables:
            agrees &= each.agrees(rows, released)
        return Found(sums[:, 0], candidates, np.bincount(rows[agrees], minlength=self.size), self.repeats)


class Average(NamedTuple):
    """The figures averaged over the sets of variables that the intruder may know, as shares."""

    shares: Mapping[str, float]
    """By name of the figure; NaN where nobody knows who is who."""
    errors: Mapping[str, float] | None
    """Standard errors where sets were drawn; None: all sets were counted."""
    sets: int
    """Different sets of variables."""
    draws: int | None
    """How many were drawn."""

    def to_dict(self) -> dict[str, Any]:
        """The averages as plain numbers, null where nobody knows who is who."""
        shares = {name: None if math.isnan(value) else value for name, value in self.shares.items()}
        errors = (
            None if self.errors is None else {name: self.errors[name] for name in shares if shares[name] is not None}
        )
        return {"shares": shares, "standard_errors": errors, "sets": self.sets, "draws": self.draws}


def average(
    matching: Matching,
    variables: Sequence[Compared],
    known: Mapping[str, float],
    draws: int,
    seed: int,
    progress: Progress = no_progress,
) -> Average:
    """The figures averaged over the sets of known variables: all of them, or drawn ones if there are many."""
    uncertain = [place for place, each in enumerate(variables) if known[each.name] < 1]
    probabilities = [known[variables[place].name] for place in uncertain]
    exact = len(uncertain) <= MOST_EXACT
    weights = _all_sets(probabilities) if exact else _drawn_sets(probabilities, draws, seed)
    shares: dict[tuple[bool, ...], Figures] = {}
    for at, taken in enumerate(weights):
        without = {place for place, is_known in zip(uncertain, taken, strict=True) if not is_known}
        some = [each for place, each in enumerate(variables) if place not in without]
        shares[taken] = Figures.of(matching.found(some, part(progress, at / len(weights), (at + 1) / len(weights))))
    means = {
        name: math.fsum(weight * shares[taken].share(name) for taken, weight in weights.items()) for name in AVERAGED
    }
    errors = None if exact else {name: _error(weights, shares, name, means[name], draws) for name in AVERAGED}
    return Average(means, errors, len(weights), None if exact else draws)


def _all_sets(probabilities: Sequence[float]) -> dict[tuple[bool, ...], float]:
    """By which of the variables are known: how likely that is."""
    return {
        taken: math.prod(p if known else 1 - p for p, known in zip(probabilities, taken, strict=True))
        for taken in product((True, False), repeat=len(probabilities))
    }


def _drawn_sets(probabilities: Sequence[float], draws: int, seed: int) -> dict[tuple[bool, ...], float]:
    """By which of the variables are known: the share of the draws."""
    source = Draws(seed).step("external risk")
    taken = np.column_stack([source.uniform(np.arange(draws), draw=place) < p for place, p in enumerate(probabilities)])
    counts = Counter(tuple(row) for row in taken.tolist())
    return {row: times / draws for row, times in sorted(counts.items())}


def _error(
    weights: Mapping[tuple[bool, ...], float],
    shares: Mapping[tuple[bool, ...], Figures],
    name: str,
    mean: float,
    draws: int,
) -> float:
    """The standard error of a mean over draws; infinite after a single one."""
    spread = math.fsum(weight * (shares[taken].share(name) - mean) ** 2 for taken, weight in weights.items())
    return math.sqrt(spread / (draws - 1)) if draws > 1 else math.inf
