"""Slow twins of the kernels of microaggregation, from the definitions; and small files to try them on."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

Row = Sequence[float]


def small_files(files: int, columns: int = 2, most: int = 40) -> Iterator[tuple[np.ndarray, int]]:
    """Files with ties, zeros, equal rows, constant columns, one record; and a k that does not exceed the records."""
    draw = np.random.default_rng(7)
    for number in range(files):
        n = int(draw.integers(1, most + 1))
        values = draw.normal(size=(n, columns))
        if number % 4 == 1:
            values = draw.integers(-2, 3, (n, columns)).astype(float)
        if number % 4 == 2:
            values = draw.lognormal(size=(n, columns)) * draw.integers(0, 2, (n, columns))
        if number % 4 == 3:
            values = values[draw.integers(0, n, n)]
        if number % 7 == 3:
            values[:, -1] = 5.0
        if number % 11 == 5:
            values[:] = 1.5
        yield values, int(draw.integers(2, 6)) if n > 1 else 1


def squared(one: Row, other: Row, weight: Row) -> float:
    """The squared standardised distance, variables in their order."""
    total = 0.0
    for x, y, w in zip(one, other, weight, strict=True):
        total += (abs(x - y) * w) ** 2
    return total


def mean(rows: Sequence[Row]) -> list[float]:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def farthest(values: Sequence[Row], rows: Sequence[int], place: Row, weight: Row) -> int:
    return max(rows, key=lambda row: (squared(values[row], place, weight), -row))


def around(values: Sequence[Row], rows: Sequence[int], row: int, size: int, weight: Row) -> list[int]:
    """A record and its nearest ones."""
    others = sorted((r for r in rows if r != row), key=lambda r: (squared(values[r], values[row], weight), r))
    return [row, *others[: size - 1]]


def numbered(groups: Sequence[Sequence[int]], n: int) -> list[int]:
    group = [-1] * n
    for number, rows in enumerate(groups):
        for row in rows:
            assert group[row] == -1
            group[row] = number
    return group


def slow_mdav(values: Sequence[Row], k: int, weight: Row) -> list[int]:
    """Maximum distance to average vector, looking at all records each time."""
    left, groups = list(range(len(values))), []

    def form(row: int) -> None:
        groups.append(around(values, left, row, k, weight))
        left[:] = [r for r in left if r not in groups[-1]]

    while len(left) >= 3 * k:
        first = farthest(values, left, mean([values[r] for r in left]), weight)
        form(first)
        form(farthest(values, left, values[first], weight))
    if len(left) >= 2 * k:
        form(farthest(values, left, mean([values[r] for r in left]), weight))
    return numbered([*groups, left] if left else groups, len(values))


def slow_in_order(values: Sequence[Row], k: int, weight: Row, order: Sequence[int], gamma: float) -> list[int]:
    """Groups around the records in their order, that grow while the next record is nearer to them than to others."""
    left, groups = list(range(len(values))), []
    while len(left) >= k:
        row = next(r for r in order if r in left)
        group = around(values, left, row, k, weight)
        left = [r for r in left if r not in group]
        while gamma > 0 and len(group) < 2 * k - 1 and left:
            inside, new = min((squared(values[r], values[m], weight), r) for r in left for m in group)
            outside = min((squared(values[r], values[new], weight) for r in left if r != new), default=math.inf)
            if not inside < gamma**2 * outside:
                break
            group.append(new)
            left.remove(new)
        groups.append(group)
    means = [mean([values[r] for r in group]) for group in groups]
    for row in left:
        distance = [squared(each, values[row], weight) for each in means]
        groups[distance.index(min(distance))].append(row)
    return numbered(groups, len(values))


def within(values: np.ndarray) -> float:
    """The sum of squares about the mean."""
    return float(((values - values.mean(axis=0)) ** 2).sum())


def least_loss(values: np.ndarray, k: int) -> float:
    """The least sum of squares within groups of neighbours of at least k, over all places to cut."""
    n = len(values)
    best = within(values)
    for count in range(1, n // k):
        for cuts in itertools.combinations(range(k, n - k + 1), count):
            ends = [0, *cuts, n]
            if all(b - a >= k for a, b in itertools.pairwise(ends)):
                best = min(best, sum(within(values[a:b]) for a, b in itertools.pairwise(ends)))
    return best


def least_loss_of_all(values: np.ndarray, k: int) -> float:
    """The least sum of squares within groups, over all partitions into groups of at least k."""

    def partitions(rows: list[int]) -> Iterator[list[list[int]]]:
        if not rows:
            yield []
            return
        first, *rest = rows
        for size in range(k - 1, len(rest) + 1):
            for others in itertools.combinations(rest, size):
                for more in partitions([row for row in rest if row not in others]):
                    yield [[first, *others], *more]

    return min(sum(within(values[group]) for group in groups) for groups in partitions(list(range(len(values)))))
