"""Masking by a model once more, slowly and plainly: normal equations record by record, ranks by counting."""

import math

Column = list[float]
LEAST = 5


def indicator(where: list[bool]) -> list[Column]:
    count = sum(where)
    return [[float(each) for each in where]] if LEAST <= count <= len(where) - LEAST else []


def predictors(
    others: list[Column], zero: list[list[bool]], codes: list[list[int]]
) -> tuple[list[Column], list[Column]]:
    """Columns of other numbers, and of categories."""
    numbers: list[Column] = []
    for column, nought in zip(others, zero, strict=True):
        present = [value for value in column if not math.isnan(value)]
        if len(present) >= LEAST:
            mean = math.fsum(present) / len(present)
            numbers.append([mean if math.isnan(value) else value for value in column])
        numbers += indicator(nought)
        numbers += indicator([math.isnan(value) and not each for value, each in zip(column, nought, strict=True)])
    categories: list[Column] = []
    for code in codes:
        usual = min(set(code), key=lambda each: (-code.count(each), each))
        for each in sorted(set(code) - {usual}):
            categories += indicator([other == each for other in code])
    return numbers, categories


def least_squares(columns: list[Column], y: Column, weight: Column) -> Column:
    """Coefficients by the normal equations; a column that the others give is left out."""
    used: list[int] = []
    beta = [0.0] * len(columns)
    for j in range(len(columns)):
        trial = [*used, j]
        matrix = [
            [math.fsum(w * a * b for w, a, b in zip(weight, columns[p], columns[q], strict=True)) for q in trial]
            for p in trial
        ]
        scale = [math.sqrt(matrix[i][i]) or 1.0 for i in range(len(trial))]
        scaled = [[matrix[p][q] / scale[p] / scale[q] for q in range(len(trial))] for p in range(len(trial))]
        if abs(determinant(scaled)) > 1e-13:
            used = trial
    matrix = [
        [math.fsum(w * a * b for w, a, b in zip(weight, columns[p], columns[q], strict=True)) for q in used]
        for p in used
    ]
    right = [math.fsum(w * a * b for w, a, b in zip(weight, columns[p], y, strict=True)) for p in used]
    for place, value in zip(used, solved(matrix, right), strict=True):
        beta[place] = value
    return beta


def determinant(matrix: list[Column]) -> float:
    rows, result = [list(row) for row in matrix], 1.0
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda row: abs(rows[row][i]))
        if rows[pivot][i] == 0:
            return 0.0
        if pivot != i:
            rows[i], rows[pivot], result = rows[pivot], rows[i], -result
        result *= rows[i][i]
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return result


def solved(matrix: list[Column], right: Column) -> Column:
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(len(rows)):
            if j != i:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [rows[i][-1] / rows[i][i] for i in range(len(rows))]


def masked(
    y: Column, numbers: list[Column], categories: list[Column], weight: Column, tail: float, factor: float
) -> Column:
    """Fitted values with moved tails."""
    n = len(y)
    columns: list[Column] = []
    for choice in ([*numbers, *categories], numbers):
        if n >= 2 * len(choice) + 2:
            columns = choice
            break
    design = [[1.0] * n, *columns]
    mean = math.fsum(weight) / n
    w = [each / mean for each in weight]
    beta = least_squares(design, y, w)
    fitted = [math.fsum(b * column[i] for b, column in zip(beta, design, strict=True)) for i in range(n)]
    coefficients = sum(b != 0 for b in beta)
    left = math.fsum(w[i] * (y[i] - fitted[i]) ** 2 for i in range(n))
    deviation = math.sqrt(left / max(n - coefficients, 1))
    out = []
    for i in range(n):
        rank = sum(other < y[i] for other in y) + (sum(other == y[i] for other in y) + 1) / 2
        v = rank / (n + 1)
        if tail > 0 and v > 1 - tail:
            out.append(fitted[i] - factor * deviation * (v - 1 + tail) / tail)
        elif tail > 0 and v < tail:
            out.append(fitted[i] + factor * deviation * (tail - v) / tail)
        else:
            out.append(fitted[i])
    return out
