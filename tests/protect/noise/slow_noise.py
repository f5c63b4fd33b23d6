"""Noise once more, slowly and plainly: one record after the other, sums as loops, Gram and Schmidt by hand."""

import math
from collections.abc import Callable

Row = list[float]
Rows = list[Row]


def mean(rows: Rows, weight: Row) -> Row:
    total = sum(weight)
    return [sum(w * row[j] for w, row in zip(weight, rows, strict=True)) / total for j in range(len(rows[0]))]


def covariance(rows: Rows, weight: Row) -> Rows:
    n, total, centre = len(rows), sum(weight), mean(rows, weight)
    factor = n / max(n - 1, 1) / total
    size = range(len(centre))
    return [
        [
            factor * sum(w * (r[i] - centre[i]) * (r[j] - centre[j]) for w, r in zip(weight, rows, strict=True))
            for j in size
        ]
        for i in size
    ]


def cholesky(matrix: Rows) -> Rows:
    """Lower triangular, row by row."""
    size = len(matrix)
    root = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - sum(root[i][k] * root[j][k] for k in range(j))
            root[i][j] = math.sqrt(rest) if i == j else rest / root[j][j]
    return root


def pattern(changeable: list[bool]) -> tuple[int, ...]:
    return tuple(j for j, here in enumerate(changeable) if here)


def source(values: Rows, changeable: list[list[bool]], record: int, enough: int = 30) -> tuple[list[int], bool] | None:
    """The records that a record's mean and covariance come from, and whether they are those of its pattern alone."""
    columns = pattern(changeable[record])
    own = [i for i in range(len(values)) if pattern(changeable[i]) == columns]
    available = [i for i in range(len(values)) if all(changeable[i][j] for j in columns)]
    for rows in [own, available] if len(own) >= enough else [available]:
        varies = all(
            len({values[i][j] for i in rows}) > 1
            or len({values[i][j] for i in range(len(values)) if changeable[i][j]}) < 2
            for j in columns
        )
        if len(rows) >= 2 * len(columns) + 2 and varies:
            return rows, len(rows) == len(own)
    return None


def drawn_from(values: Rows, changeable: list[list[bool]], weight: Row, record: int) -> tuple[Row, Rows]:
    """Mean, and root of the covariance, for the noise of one record."""
    columns = pattern(changeable[record])
    found = source(values, changeable, record)
    if found is not None:
        part = [[values[i][j] for j in columns] for i in found[0]]
        mass = [weight[i] for i in found[0]]
        return mean(part, mass), cholesky(covariance(part, mass))
    centre, root = [], [[0.0] * len(columns) for _ in columns]
    for place, j in enumerate(columns):
        rows = [i for i in range(len(values)) if changeable[i][j]]
        one, mass = [[values[i][j]] for i in rows], [weight[i] for i in rows]
        centre.append(mean(one, mass)[0])
        root[place][place] = math.sqrt(covariance(one, mass)[0][0])
    return centre, root


def together(method: str, amount: float, x: Row, centre: Row, root: Rows, z: Row) -> Row:
    """One record under noise that is drawn for all of its variables together."""
    e = [sum(root[i][k] * z[k] for k in range(len(z))) for i in range(len(x))]
    if method == "correlated":
        return [x[i] + amount * e[i] for i in range(len(x))]
    if method == "delta":
        keep = math.sqrt(1 - amount**2)
        return [centre[i] + keep * (x[i] - centre[i]) + amount * e[i] for i in range(len(x))]
    shrink = 1 / math.sqrt(1 + amount**2)
    return [centre[i] + shrink * (x[i] - centre[i] + amount * e[i]) for i in range(len(x))]


def by_cell(method: str, amount: float, x: float, sd: float, z: float) -> float:
    if method == "additive":
        return x + amount * sd * z
    if method == "multiplicative":
        return x * math.exp(amount * z) / math.exp(amount**2 / 2)
    chance = 0.5 * math.erfc(-z / math.sqrt(2))
    within = 2 * chance if z <= 0 else 2 * chance - 1
    change = amount * (1 + (1 - math.sqrt(1 - within)))
    return x * (1 + change) if z > 0 else x * (1 - change)


def deviation(column: Row, weight: Row) -> float:
    there = [(x, w) for x, w in zip(column, weight, strict=True) if not math.isnan(x)]
    return math.sqrt(covariance([[x] for x, _ in there], [w for _, w in there])[0][0]) if there else 0.0


def product(first: Row, second: Row, weight: Row) -> float:
    return sum(w * a * b for w, a, b in zip(weight, first, second, strict=True))


def gram_schmidt(columns: Rows, weight: Row, against: Rows) -> Rows:
    """Columns made orthonormal, one after the other, and orthogonal to some others, which are made so first."""
    base: Rows = []
    for place, column in enumerate([*against, *columns]):
        left = list(column)
        for _ in range(3):
            for other in base:
                share = product(left, other, weight)
                left = [a - share * b for a, b in zip(left, other, strict=True)]
        size = math.sqrt(product(left, left, weight))
        base.append([a / size for a in left])
        assert size > 1e-9 or place < len(against)
    return base[len(against) :]


def turned(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def exact(rows: Rows, weight: Row, amount: float, normal: Rows) -> Rows:
    """Noise orthogonal to 1 and to x under the weights, with the covariance of x."""
    n, centre, root = len(rows), mean(rows, weight), cholesky(covariance(rows, weight))
    free = gram_schmidt(turned(normal), weight, [[1.0] * n, *turned(rows)])
    scale = math.sqrt(sum(weight) * (1 - 1 / n))
    return [together("exact", amount, rows[i], centre, root, [scale * column[i] for column in free]) for i in range(n)]


def rotated(rows: Rows, weight: Row, amount: float, normal: Rows) -> Rows:
    """X = QR by Gram and Schmidt, Q moved and made orthonormal again, times R."""
    n, size, centre = len(rows), len(rows[0]), mean(rows, weight)
    mass = [w * n / sum(weight) for w in weight]
    moved = turned([[row[j] - centre[j] for j in range(size)] for row in rows])
    first = gram_schmidt(moved, mass, [])
    upper = [[product(first[k], moved[j], mass) for j in range(size)] for k in range(size)]
    noise = turned(normal)
    centres = [product(column, [1.0] * n, mass) / n for column in noise]
    fresh = [[first[k][i] + amount * (noise[k][i] - centres[k]) / math.sqrt(n) for i in range(n)] for k in range(size)]
    final = gram_schmidt(fresh, mass, [])
    return [[centre[j] + sum(final[k][i] * upper[k][j] for k in range(size)) for j in range(size)] for i in range(n)]


def noisy(method: str, amount: float, values: Rows, changeable: list[list[bool]], weight: Row, normal: Rows) -> Rows:
    """The whole file, without limits."""
    out = [list(row) for row in values]
    sds = [deviation(column, weight) for column in turned(values)]
    for i, row in enumerate(values):
        columns = pattern(changeable[i])
        if method in ("additive", "multiplicative", "two_sided"):
            for j in columns:
                out[i][j] = by_cell(method, amount, row[j], sds[j], normal[i][j])
        elif columns:
            centre, root = drawn_from(values, changeable, weight, i)
            made = together(method, amount, [row[j] for j in columns], centre, root, [normal[i][j] for j in columns])
            for place, j in enumerate(columns):
                out[i][j] = made[place]
    if method in ("exact", "romm"):
        _replace_exact(method, amount, values, changeable, weight, normal, out)
    return out


def _replace_exact(
    method: str, amount: float, values: Rows, changeable: list[list[bool]], weight: Row, normal: Rows, out: Rows
) -> None:
    """Patterns with a covariance of their own are masked exactly."""
    mask: Callable[[Rows, Row, float, Rows], Rows] = exact if method == "exact" else rotated
    for columns in {pattern(each) for each in changeable} - {()}:
        rows = [i for i in range(len(values)) if pattern(changeable[i]) == columns]
        found = source(values, changeable, rows[0])
        if found is None or not found[1]:
            continue
        part, drawn = ([[table[i][j] for j in columns] for i in rows] for table in (values, normal))
        for i, made in zip(rows, mask(part, [weight[i] for i in rows], amount, drawn), strict=True):
            for place, j in enumerate(columns):
                out[i][j] = made[place]
