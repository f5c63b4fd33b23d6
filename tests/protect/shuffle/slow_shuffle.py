"""Shuffling once more, slowly and plainly: ranks by counting, sums as loops, equations by elimination."""

import math
from statistics import NormalDist

Column = list[float]


def there(column: Column) -> list[int]:
    return [i for i, value in enumerate(column) if not math.isnan(value)]


def mid_rank(value: float, column: Column) -> float:
    present = [column[i] for i in there(column)]
    below = sum(other < value for other in present)
    equal = sum(other == value for other in present)
    return below + (equal + 1) / 2


def scores(column: Column) -> Column:
    n = len(there(column))
    return [
        math.nan if math.isnan(value) else NormalDist().inv_cdf((mid_rank(value, column) - 0.5) / n) for value in column
    ]


def standardised(column: Column) -> Column:
    present = [column[i] for i in there(column)]
    if len(set(present)) < 2:
        return [math.nan if math.isnan(value) else 0.0 for value in column]
    mean = math.fsum(present) / len(present)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in present) / len(present))
    return [(value - mean) / spread for value in column]


def pearson(x: Column, y: Column) -> float:
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    a, b = math.fsum(x) / len(x), math.fsum(y) / len(y)
    xy = math.fsum((p - a) * (q - b) for p, q in zip(x, y, strict=True))
    return xy / math.sqrt(math.fsum((p - a) ** 2 for p in x) * math.fsum((q - b) ** 2 for q in y))


def correlation(x: Column, y: Column, by_rank: bool) -> float:
    both = [i for i in there(x) if not math.isnan(y[i])]
    p, q = [x[i] for i in both], [y[i] for i in both]
    if not by_rank:
        return pearson(p, q)
    rho = pearson([mid_rank(value, p) for value in p], [mid_rank(value, q) for value in q])
    return 2 * math.sin(math.pi * rho / 6)


def solved(matrix: list[Column], right: Column) -> Column:
    """Gauss's elimination with the largest pivot."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(size):
            if j != i:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [rows[i][-1] / rows[i][i] for i in range(size)]


def expected_scores(known: list[Column], matrix: list[Column], count: int) -> list[Column]:
    """By record and variable: its score but for what is drawn."""
    out = []
    for record in known:
        given = [j for j, value in enumerate(record) if not math.isnan(value)]
        r_ss = [[matrix[count + a][count + b] for b in given] for a in given]
        beta = [solved(r_ss, [matrix[count + a][x] for a in given]) for x in range(count)]
        out.append([sum(record[j] * b for j, b in zip(given, each, strict=True)) for each in beta])
    return out


def dealt(values: Column, drawn: Column) -> Column:
    """The i-th smallest score gets the i-th smallest value."""
    present = there(values)
    ascending = sorted(values[i] for i in present)
    out = list(values)
    for place, i in enumerate(sorted(present, key=lambda i: drawn[i])):
        out[i] = ascending[place]
    return out
