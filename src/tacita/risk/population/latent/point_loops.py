"""Compiled loops over keys that lie among the points of a grid.

By key `place` has its pattern, its f, and the first lines of forecast and weight that its polynomials go through, `at`
how many steps it is from these lines. `point` numbers the points. By f `first`, `number` and `shares` say which counts
its polynomial goes through, how many they are, and how much each of them counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled


@compiled
def mark(place: Any, point: Any, first: Any, number: Any, lines: int) -> None:
    """Put 0 where a point is needed."""
    for k in range(len(place)):
        f = place[k, 1]
        for c in range(first[f], first[f] + number[f]):
            for i in range(place[k, 2], place[k, 2] + lines):
                for j in range(place[k, 3], place[k, 3] + lines):
                    point[place[k, 0], c, i, j] = 0


@compiled
def _shares(at: float, shares: Any) -> None:
    """How much the points at 0, 1, 2, ... count for a polynomial through them."""
    for one in range(len(shares)):
        share = 1.0
        for other in range(len(shares)):
            if other != one:
                share *= (at - other) / (one - other)
        shares[one] = share


@compiled
def interpolated(
    place: Any, at: Any, point: Any, first: Any, number: Any, shares: Any, lines: int, figure: Any, result: Any
) -> None:
    """Figures of keys between those of points."""
    forecast, weight = np.empty(lines), np.empty(lines)
    for k in range(len(place)):
        f = place[k, 1]
        _shares(at[k, 0], forecast)
        _shares(at[k, 1], weight)
        total = 0.0
        for c in range(number[f]):
            layer = 0.0
            for i in range(lines):
                line = 0.0
                for j in range(lines):
                    line += weight[j] * figure[point[place[k, 0], first[f] + c, place[k, 2] + i, place[k, 3] + j]]
                layer += forecast[i] * line
            total += shares[f, c] * layer
        result[k] = total


@compiled
def totals(
    place: Any, at: Any, point: Any, first: Any, number: Any, shares: Any, lines: int, amount: Any, result: Any
) -> None:
    """Add the amounts of keys to the points that they lie among."""
    forecast, weight = np.empty(lines), np.empty(lines)
    for k in range(len(place)):
        f = place[k, 1]
        _shares(at[k, 0], forecast)
        _shares(at[k, 1], weight)
        for c in range(number[f]):
            of_layer = amount[k] * shares[f, c]
            for i in range(lines):
                of_line = of_layer * forecast[i]
                for j in range(lines):
                    result[point[place[k, 0], first[f] + c, place[k, 2] + i, place[k, 3] + j]] += of_line * weight[j]
