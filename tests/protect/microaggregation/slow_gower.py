"""Slow twins of the kernels of mixed microaggregation, from the definitions; and small files to try them on."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacita.protect.microaggregate.gower_distance import UNIT, Points, gower_points

Row = Sequence[float]


class Mixed(NamedTuple):
    """A small file for Gower's distance."""

    values: list[np.ndarray]
    nominal: list[bool]
    weight: np.ndarray
    constant: list[float | None]

    @property
    def points(self) -> Points:
        return gower_points(*self)

    @property
    def rows(self) -> list[list[float]]:
        return [[float(value) for value in row] for row in zip(*self.values, strict=True)]


def mixed_files(files: int, most: int = 40) -> Iterator[tuple[Mixed, int]]:
    """Numbers, ranks and categories, with ties, equal rows, missing values, zeros apart, constants, one record."""
    draw = np.random.default_rng(11)
    for number in range(files):
        n = int(draw.integers(1, most + 1))
        nominal = [[False, False, True], [True, True, True], [False, False, False], [True]][number % 4]
        values = [
            draw.integers(1, 4, n).astype(float) if categories else draw.lognormal(size=n) for categories in nominal
        ]
        if number % 3 == 1:
            values = [np.rint(column) for column in values]
        if number % 5 == 2:
            values = [np.where(draw.random(n) < 0.2, np.nan, column) for column in values]
        if number % 7 == 3:
            values[0] = np.full(n, 2.0)
        if number % 6 == 4:
            values = [column[np.sort(draw.integers(0, n, n))] for column in values]
        weight = np.ones(len(values)) if number % 2 else draw.integers(1, 5, len(values)) / 3
        zero = [0.0 if not categories and number % 3 == 1 else None for categories in nominal]
        yield Mixed(values, nominal, weight, zero), int(draw.integers(2, 6)) if n > 1 else 2


def slow_distance(file: Mixed, one: Row, other: Row) -> float:
    """Gower's distance of two records, not rounded."""
    total = common = 0.0
    for j, (x, y) in enumerate(zip(one, other, strict=True)):
        if math.isnan(x) or math.isnan(y):
            continue
        zero = file.constant[j]
        column = [value for value in file.values[j] if not math.isnan(value) and value != zero]
        width = max(column) - min(column) if column else 0.0
        apart = abs(x - y) / width if width else 0.0
        if file.nominal[j] or zero in (x, y):
            apart = float(x != y)
        total += file.weight[j] * apart
        common += file.weight[j]
    return total / common if common else 1.0


def slow_gower_mdav(distance: np.ndarray, k: int, gamma: float = 0.0) -> list[int]:
    """Groups around the records farthest from the medoid, by a table of all distances, looking at everything again."""
    left, groups = list(range(len(distance))), []

    def least(rows: Sequence[int], score: dict[int, float]) -> int:
        return min(rows, key=lambda row: (score[row], row))

    def farthest(row: int) -> int:
        return least(left, {each: -distance[row][each] for each in left})

    def form(row: int, gamma: float, stay: int) -> None:
        group = [row, *sorted((r for r in left if r != row), key=lambda r: (distance[row][r], r))[: k - 1]]
        left[:] = [r for r in left if r not in group]
        while gamma > 0 and len(group) < 2 * k - 1 and len(left) > stay:
            inside, new = min((distance[m][r], r) for r in left for m in group)
            if not inside < gamma * min(distance[new][r] for r in left if r != new):
                break
            group.append(new)
            left.remove(new)
        groups.append(group)

    while len(left) >= 2 * k:
        first = farthest(least(left, {each: sum(int(distance[each][r]) for r in left) for each in left}))
        pair = len(left) >= 3 * k
        form(first, gamma if pair else 0.0, 2 * k)
        if pair:
            form(farthest(first), gamma, k)
    if left:
        groups.append(left)
    return [next(number for number, rows in enumerate(groups) if row in rows) for row in range(len(distance))]


def table_of_distances(file: Mixed) -> np.ndarray:
    """All distances in whole units, by the definition."""
    rows, points = file.rows, file.points
    whole = points.share.sum()
    table = np.empty((len(rows), len(rows)))
    for a in range(len(rows)):
        for b in range(len(rows)):
            pairs = [
                (min(abs(x - y), share), share)
                for x, y, share in zip(points.columns[:, a], points.columns[:, b], points.share, strict=True)
                if not math.isnan(x - y)
            ]
            common = sum(share for _, share in pairs)
            table[a, b] = np.rint(sum(gap for gap, _ in pairs) * (whole / common)) if common else whole
            assert abs(table[a, b] / UNIT - slow_distance(file, rows[a], rows[b])) < 1e-10
    return table


def slow_mode(codes: Sequence[int], weights: Sequence[float]) -> set[int]:
    """The categories with the largest sum of weights, 0 being none."""
    total: Counter[int] = Counter()
    for code, weight in zip(codes, weights, strict=True):
        if code:
            total[code] += weight  # type: ignore[assignment]
    return {code for code, sum_ in total.items() if sum_ == max(total.values())}


def slow_median(codes: Sequence[int], weights: Sequence[float]) -> int:
    """The lowest category up to which half of the weight lies."""
    shown = sorted((code, weight) for code, weight in zip(codes, weights, strict=True) if code)
    reached = 0.0
    for code, weight in shown:
        reached += weight
        if 2 * reached >= sum(weight for _, weight in shown):
            return code
    raise AssertionError
