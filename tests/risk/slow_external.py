"""External risk by its definition, on all pairs of records, in plain loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

Agrees = Callable[[Any, Any], bool]


class Found(NamedTuple):
    """By record of the intruder's file."""

    pairs: list[int]
    right: list[int]


def lower(x: float, d: float) -> float:
    return x * (1.0 - (d + 1e-12)) if x > 0 else x * (1.0 + (d + 1e-12))


def upper(x: float, d: float) -> float:
    return x * (1.0 + (d + 1e-12)) if x > 0 else x * (1.0 - (d + 1e-12))


def categories_agree(
    known: list[Any], released: list[Any], same: list[tuple[Any, Any]], perturbed: bool, suppressed: str
) -> Agrees:
    """`same` has the original and released values of the same records."""
    shown = [(x, y) for x, y in same if x is not None and y is not None]
    changed = any(x != y for x, y in shown)
    exchanged = perturbed or any(x != y and (x, x) in shown and (y, y) in shown for x, y in shown)
    # Of equally frequent values the first, in the order in which values are met.
    order = [*sorted({x for x in known if x is not None}), *sorted({y for y in released if y is not None})]

    @cache
    def becomes(x: Any) -> set[Any]:
        to = [y for each, y in shown if each == x]
        if not changed or not to:
            return {x}
        if not exchanged:
            return set(to)
        if any(y == x for _, y in shown):
            return {x}
        most = Counter(to).most_common()[0][1]
        first = min((y for y, times in Counter(to).items() if times == most), key=order.index)
        # What it became is another kind of value, or else the value is gone.
        return {x} if any(each == first for each, _ in shown) else {first}

    def agree(x: Any, y: Any) -> bool:
        if y is None:
            return suppressed == "any" or x is None
        return x is not None and y in becomes(x)

    return agree


def number_ranges(
    released: list[Any], same: list[tuple[Any, Any]], perturbed: bool
) -> dict[float, tuple[float, float]]:
    """By released number what it may have been: itself, or the originals that became it."""
    shown = [(x, y) for x, y in same if x is not None and y is not None]
    itself = {y: (y, y) for y in released if y is not None}
    became: dict[float, list[float]] = {}
    for x, y in shown:
        became.setdefault(y, []).append(x)
    ranges = {y: (min(xs), max(xs)) for y, xs in became.items()}
    in_order = all(y <= y2 for x, y in shown for x2, y2 in shown if x < x2)
    several = all(len(set(became[y])) > 1 for x, y in shown if x != y)
    nested = all(
        high <= low2 or high2 <= low or (low <= low2 and high2 <= high) or (low2 <= low and high <= high2)
        for low, high in ranges.values()
        for low2, high2 in ranges.values()
    )
    if perturbed or not (in_order or (several and nested)):
        return itself
    return itself | ranges


def numbers_agree(ranges: dict[float, tuple[float, float]], d: float, suppressed: str) -> Agrees:
    def inside(x: float, ends: tuple[float, float]) -> bool:
        return lower(ends[0], d) <= x <= upper(ends[1], d)

    def away(x: float, ends: tuple[float, float]) -> float:
        return max(ends[0] - x, x - ends[1], 0.0)

    @cache
    def agree(x: Any, y: Any) -> bool:
        if y is None and suppressed == "any":
            return True
        if x is None or not ranges:
            return False
        if y is not None:
            return inside(x, ranges[y])
        nearest = min(away(x, ends) for ends in ranges.values())
        return any(inside(x, ends) for ends in ranges.values() if away(x, ends) == nearest)

    return agree


def all_pairs(
    known: list[dict[str, Any]],
    released: list[dict[str, Any]],
    rules: dict[str, Agrees],
    who: list[Any],
    whose: list[Any],
) -> Found:
    """Every record of the intruder's file against every released one; `who` and `whose` are units, None for nobody."""
    pairs, right = [], []
    for row, unit in zip(known, who, strict=True):
        agreeing = [
            other
            for other, there in zip(whose, released, strict=True)
            if all(agree(row[name], there[name]) for name, agree in rules.items())
        ]
        pairs.append(len(agreeing))
        right.append(sum(unit is not None and other == unit for other in agreeing))
    return Found(pairs, right)
