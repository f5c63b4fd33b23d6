"""Attribute disclosure straight from the definitions, on pairs of records."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import exp, inf, log

import slow

Value = object


def group(keys: slow.Keys, i: int, rule: str, c: float | str | None = None) -> list[tuple[int, Fraction]]:
    """The records that count for record i, and by how much."""
    factor = slow.rule_factor(keys, rule, c, None)
    found = ((h, Fraction(factor(i, h))) for h in range(len(keys)))
    return [(h, share) for h, share in found if share > 0]


def amounts(keys: slow.Keys, values: Sequence[Value], i: int, rule: str, c: float | str | None) -> Counter[Value]:
    out: Counter[Value] = Counter()
    for h, share in group(keys, i, rule, c):
        out[values[h]] += share  # type: ignore[assignment]
    return out


def entropy(found: Counter[Value]) -> float:
    total = sum(found.values())
    return exp(-sum(float(a / total) * log(a / total) for a in found.values()))


def recursive(found: Counter[Value], c: float) -> int:
    counts = sorted(found.values(), reverse=True)
    holds = [level for level in range(1, len(counts) + 1) if counts[0] < Fraction(str(c)) * sum(counts[level - 1 :])]
    return max(holds, default=1)


def nominal(found: Counter[Value], file: Counter[Value]) -> float:
    total, n = sum(found.values()), sum(file.values())
    return float(sum(abs(Fraction(found[v], 1) / total - Fraction(file[v], n)) for v in file) / 2)


def ordered(found: Counter[Value], file: Counter[Value]) -> float:
    """Missing (None) is the lowest."""
    order = sorted(file, key=lambda v: (v is not None, v))
    if len(order) == 1:
        return 0.0
    total, n = sum(found.values()), sum(file.values())
    distance, running = Fraction(0), Fraction(0)
    for value in order[:-1]:
        running += Fraction(found[value], 1) / total - Fraction(file[value], n)
        distance += abs(running)
    return float(distance / (len(order) - 1))


def gains(found: Counter[Value], file: Counter[Value]) -> list[tuple[float, float]]:
    """(relative gain, file share) of every value in the group."""
    total, n = sum(found.values()), sum(file.values())
    return [(float(a * n / (total * file[v]) - 1), file[v] / n) for v, a in found.items()]


def beta(found: Counter[Value], file: Counter[Value]) -> float:
    return max(0.0, *(gain for gain, _ in gains(found, file)))


def enhanced(found: Counter[Value], file: Counter[Value]) -> float:
    return max(0.0, *(inf if gain > -log(q) + 1e-12 else gain for gain, q in gains(found, file)))


def delta(found: Counter[Value], file: Counter[Value]) -> float:
    if any(value not in found for value in file):
        return inf
    return delta_present(found, file)


def delta_present(found: Counter[Value], file: Counter[Value]) -> float:
    return max(abs(log(1 + gain)) for gain, _ in gains(found, file))


def alpha(found: Counter[Value]) -> float:
    return float(max(found.values()) / sum(found.values()))
