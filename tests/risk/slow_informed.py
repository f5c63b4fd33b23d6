"""The attack of an intruder who knows the methods, by loops over all pairs of records: slow, and as it is defined."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from tacita.arrays import Floats
from tacita.mechanism import Mechanism

Value = Any
Cost = Callable[[int, int], float]
"""What released record h costs record i of the intruder."""


def shares(column: Sequence[Value]) -> dict[Value, float]:
    shown = [value for value in column if value is not None]
    return {value: shown.count(value) / len(shown) for value in dict.fromkeys(shown)}


def surprise(likelihood: float, size: int) -> float:
    return -math.log(min(max(likelihood, 1 / (size + 1)), 1.0))


def exchanged_by_matrix(
    x: Sequence[Value], y: Sequence[Value], steps: Sequence[Sequence[Mechanism]], strata: Sequence[Mapping[str, Value]]
) -> Cost:
    """-log of the probability that x becomes y, step by step; each step has one matrix, or one by stratum."""
    frequency = shares(y)

    @cache
    def chances(i: int) -> dict[Value, float]:
        now = {x[i]: 1.0}
        for step in steps:
            fits = [
                each for each in step
                if all(strata[i][name] == value for name, value in each.parameters.get("stratum", {}).items())
            ]  # fmt: skip
            categories = fits[0].parameters["categories"] if fits else []
            after: dict[Value, float] = {}
            for value, chance in now.items():
                if value not in categories:
                    after[value] = after.get(value, 0.0) + chance
                    continue
                row = fits[0].parameters["matrix"][categories.index(value)]
                for category, probability in zip(categories, row, strict=True):
                    after[category] = after.get(category, 0.0) + chance * probability
            now = after
        return now

    def cost(i: int, h: int) -> float:
        if x[i] is None:
            return 0.0
        likely = chances(i)
        if y[h] is None:
            return surprise(sum(share * likely.get(value, 0.0) for value, share in frequency.items()), len(y))
        chance = likely.get(y[h], 0.0)
        return -math.log(chance) if chance > 0 else math.inf

    return cost


def stayed(x: Sequence[Value], y: Sequence[Value]) -> Cost:
    """Nothing for an equal value, infinite for another."""
    frequency = shares(y)

    def cost(i: int, h: int) -> float:
        if x[i] is None:
            return 0.0
        if y[h] is None:
            return surprise(frequency.get(x[i], 0.0), len(y))
        return 0.0 if x[i] == y[h] else math.inf

    return cost


def share_exchanged(x: Sequence[Value], y: Sequence[Value], rate: float) -> Cost:
    """A share was exchanged for any of the released values."""
    values = len(shares(y))

    def cost(i: int, h: int) -> float:
        if x[i] is None:
            return 0.0
        return -math.log((1 - rate + rate / values) if x[i] == y[h] else rate / values)

    return cost


def in_window(x: Sequence[Value], y: Sequence[Value], window: int) -> Cost:
    """Nothing if some rank of y is within the window around some rank of x."""
    mine, theirs = (sorted(value for value in column if value is not None) for column in (x, y))
    reach = window + abs(len(mine) - len(theirs))

    def cost(i: int, h: int) -> float:
        if x[i] is None:
            return 0.0
        ranks = [rank for rank, value in enumerate(mine) if value == x[i]]
        low = theirs[min(max(min(ranks) - reach, 0), len(theirs) - 1)]
        high = theirs[min(max(max(ranks) + reach, 0), len(theirs) - 1)]
        if y[h] is None:
            return surprise(sum(low <= value <= high for value in theirs) / len(theirs), len(y))
        return 0.0 if low <= y[h] <= high else math.inf

    return cost


def normal_errors(
    x: Sequence[Sequence[Value]], y: Sequence[Sequence[Value]], kept: float, covariance: Any, zeros: bool
) -> Cost:
    """-log of the normal density of the numbers that both show; x and y: by variable the values."""
    means = [np.mean([value for value in column if value is not None]) for column in x]
    covariance = np.array(covariance)

    def cost(i: int, h: int) -> float:
        total, there = 0.0, []
        for j, (mine, theirs) in enumerate(zip(x, y, strict=True)):
            shown = [value for value in theirs if value is not None]
            if mine[i] is None:
                continue
            if zeros and mine[i] == 0:
                if theirs[h] is None:
                    total += surprise(sum(value == 0 for value in shown) / len(shown), len(shown))
                elif theirs[h] != 0:
                    return math.inf
            elif theirs[h] is None:
                expected = means[j] + kept * (mine[i] - means[j])
                total -= log_density(expected - np.mean(shown), np.var(shown) + covariance[j, j])
            else:
                there.append(j)
        if there:
            away = np.array([y[j][h] - means[j] - kept * (x[j][i] - means[j]) for j in there])
            part = covariance[np.ix_(there, there)]
            total += 0.5 * float(away @ np.linalg.solve(part, away)) + 0.5 * float(np.linalg.slogdet(part)[1])
            total += 0.5 * len(there) * math.log(2 * math.pi)
        return total

    return cost


def log_density(away: float, variance: float) -> float:
    return -0.5 * away * away / variance - 0.5 * math.log(2 * math.pi * variance)


def differs(x: Sequence[Value], y: Sequence[Value], numeric: bool) -> Cost:
    """Gower's distance in one variable, a suppressed cell being as far as can be."""
    shown = [value for value in (*x, *y) if value is not None]
    width = (max(shown) - min(shown) or 1.0) if numeric else 1.0

    def cost(i: int, h: int) -> float:
        if x[i] is None:
            return 0.0
        if y[h] is None:
            return 1.0
        return abs(x[i] - y[h]) / width if numeric else float(x[i] != y[h])

    return cost


def linked(costs: Sequence[Cost], size: int, released: int) -> tuple[list[int], Floats]:
    """By record i how many released records cost least, and the probability of drawing record i among them."""
    ties, correct = [], np.zeros(size)
    for i in range(size):
        totals = [sum(cost(i, h) for cost in costs) for h in range(released)]
        least = min(totals)
        best = [h for h in range(released) if math.isfinite(least) and totals[h] <= least + 1e-9]
        ties.append(len(best))
        correct[i] = (i in best) / max(len(best), 1)
    return ties, correct
