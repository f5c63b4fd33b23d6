"""PRAM in plain Python: one cell, one record at a time."""

import math
from collections.abc import Sequence

Matrix = list[list[float]]


def spread(diagonal: Sequence[float], bandwidth: int | None = None) -> Matrix:
    size = len(diagonal)
    matrix = [[0.0] * size for _ in range(size)]
    for i in range(size):
        others = [j for j in range(size) if j != i and (bandwidth is None or abs(i - j) <= bandwidth)]
        for j in others:
            matrix[i][j] = (1 - diagonal[i]) / len(others)
        matrix[i][i] = diagonal[i] if others else 1.0
    return matrix


def product(first: Matrix, p: Sequence[float]) -> Matrix:
    """R = P Q with Q_kj = P_jk p_j / sum_l P_lk p_l; what nothing arrives at leads back to itself."""
    size = len(p)
    back = [[0.0] * size for _ in range(size)]
    for k in range(size):
        arriving = sum(first[source][k] * p[source] for source in range(size))
        for j in range(size):
            back[k][j] = first[j][k] * p[j] / arriving if arriving else float(j == k)
    return [[sum(first[i][k] * back[k][j] for k in range(size)) for j in range(size)] for i in range(size)]


def within(first: Matrix, p: Sequence[float]) -> Matrix:
    size = len(p)
    made = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(size):
            if i != j and p[i] > 0:
                made[i][j] = min(first[i][j], p[j] * first[j][i] / p[i])
        made[i][i] = 1 - sum(made[i])
    return made


def exact(p: Sequence[float], diagonal: Sequence[float]) -> Matrix | None:
    """R_ij = [i=j] - (v_i [i=j] - v_i v_j / S) / p_i, with S = sum v and v_i (1 - v_i / S) = p_i (1 - d_i).

    The shares u_i = v_i / S are roots of a quadratic equation; S is found by bisection so that they add up to 1. Of
    the category that changes most the greater root may be needed.
    """
    change = [share * (1 - kept) for share, kept in zip(p, diagonal, strict=True)]
    if not any(change):
        return [[float(i == j) for j in range(len(p))] for i in range(len(p))]
    top = change.index(max(change))
    if change[top] >= sum(change) - change[top]:
        return None

    def roots(total: float, greater: bool) -> list[float]:
        made = [(1 - math.sqrt(max(1 - 4 * each / total, 0.0))) / 2 for each in change]
        return [1 - each if greater and i == top else each for i, each in enumerate(made)]

    low = 4 * change[top]
    greater = sum(roots(low, False)) < 1
    high = low
    while (sum(roots(high, greater)) - 1 > 0) != greater:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (sum(roots(middle, greater)) - 1 > 0) != greater else (low, middle)
    u, total = roots(high, greater), high
    v = [total * each for each in u]
    size = range(len(p))
    return [
        [(i == j) - (v[i] * (i == j) - v[i] * v[j] / total) / p[i] if p[i] else float(i == j) for j in size]
        for i in size
    ]


def drawn(codes: Sequence[int], matrix: Matrix, uniform: Sequence[float]) -> list[int]:
    found = []
    for code, number in zip(codes, uniform, strict=True):
        possible = [j for j, share in enumerate(matrix[code]) if share > 0]
        total = 0.0
        for j in possible:
            total += matrix[code][j]
            if number < total:
                break
        found.append(j)
    return found


def moments(
    records: Sequence[tuple[tuple[int, ...], float]], inverses: Sequence[Matrix], shape: Sequence[int]
) -> dict[tuple[int, ...], tuple[float, float, float]]:
    """By cell: estimate, sum of squares of what records contribute, and the same weighted once.

    Each record with released categories y contributes its weight times the product of the cells of the inverses.
    """
    cells: list[tuple[int, ...]] = [()]
    for size in shape:
        cells = [(*cell, k) for cell in cells for k in range(size)]
    found = {}
    for cell in cells:
        estimate = squares = linear = 0.0
        for categories, weight in records:
            h = math.prod(inverse[y][k] for inverse, y, k in zip(inverses, categories, cell, strict=True))
            estimate += weight * h
            squares += weight**2 * h**2
            linear += weight**2 * h
        found[cell] = (estimate, squares, linear)
    return found
