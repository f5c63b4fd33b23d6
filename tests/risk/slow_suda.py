"""SUDA straight from the definition: every set of keys against every record. None is missing."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod

Key = tuple[object, ...]
Sets = list[tuple[int, ...]]


def agrees(key: Key, other: Key, members: tuple[int, ...], wildcard: bool) -> bool:
    """Whether the other record cannot be told from the record on the members, all of which the record shows."""
    return all(other[j] == key[j] or (wildcard and other[j] is None) for j in members)


def is_unique(keys: Sequence[Key], i: int, members: tuple[int, ...], wildcard: bool) -> bool:
    """Shows all of the members, and nobody else agrees."""
    if any(keys[i][j] is None for j in members):
        return False
    return not any(agrees(keys[i], other, members, wildcard) for h, other in enumerate(keys) if h != i)


def minimal_uniques(keys: Sequence[Key], i: int, largest: int, wildcard: bool = False) -> Sets:
    """Sets of 1 to `largest` keys on which record i is unique, and on no set with one key or more left out."""
    found: Sets = []
    for size in range(1, largest + 1):
        for members in combinations(range(len(keys[i])), size):
            if is_unique(keys, i, members, wildcard):
                parts = [part for s in range(1, size) for part in combinations(members, s)]
                if not any(is_unique(keys, i, part, wildcard) for part in parts):
                    found.append(members)
    return found


def factorial(q: int, largest: int, s: int) -> Fraction:
    return Fraction(prod(q - i for i in range(s, min(largest, q - 1) + 1)))


def superset(q: int, largest: int, s: int) -> Fraction:
    return Fraction(sum(comb(q - s, i - s) for i in range(s, largest + 1)), comb(q, s))


def score(sets: Sets, q: int, largest: int, kind: str) -> Fraction:
    rule = factorial if kind == "factorial" else superset
    return sum((rule(q, largest, len(members)) for members in sets), Fraction(0))


def contributions(sets: Sets, q: int, largest: int, kind: str) -> list[Fraction]:
    """By key: the share of the score from sets that contain it, 0 if the score is 0."""
    total = score(sets, q, largest, kind)
    parts = [score([members for members in sets if j in members], q, largest, kind) for j in range(q)]
    return [part / total if total else Fraction(0) for part in parts]


def dis(scores: Sequence[float], pairs: int, d: float, q: int) -> list[float]:
    """With U written out, as the definition has it: 1 / (1 + (U / Dis - U) / (S^Q A)), Dis = U d / (U d + P (1-d))."""
    exponent = 1 + (8 - q) / 20
    positive = [s for s in scores if s > 0]
    u, a = len(positive), sum(s**-exponent for s in positive)
    if not u:
        return [0.0] * len(scores)
    overall = u * d / (u * d + pairs * (1 - d))
    return [1 / (1 + (u / overall - u) / (s**exponent * a)) if s > 0 else 0.0 for s in scores]
