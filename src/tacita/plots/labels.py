"""Names beside points, so placed that they do not cover each other, the points or the lines of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats

DISTANCES = (9.0, 18.0, 28.0, 40.0, 55.0)
"""How far from its point a name may be, in pixels."""
ANGLES = 16
"""In so many directions."""
SWEEPS = 6
"""So many times each name looks for a better place."""
MARK = 6.0
"""Half the width of a point, with room around it."""
LEADER = 14.0
"""A name further from its point than this has a line to it."""
NARROW, WIDE = set("iljtfrI.,:;'|!()[] -"), set("mwMW@%")


class Place(NamedTuple):
    """Where a name stands: the left end of its middle line, in pixels from the upper left corner."""

    x: float
    y: float
    width: float
    far: bool
    """Whether it needs a line to its point."""


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a sans-serif face, a little more rather than less."""
    wide = sum(0.33 if each in NARROW else 0.9 if each in WIDE else 0.7 if each.isupper() else 0.58 for each in text)
    return size * wide


def placed(
    points: Floats, texts: Sequence[str], obstacles: Floats, area: tuple[float, float], size: float = 11
) -> list[Place | None]:
    """A place for each name beside its point, None where there is none; the first names choose first.

    `obstacles` are rectangles to be left free where it can be done (left, top, right, bottom), as lines of the figure.
    """
    candidates = [
        _candidates(point, text_width(text, size), size + 2) for point, text in zip(points, texts, strict=True)
    ]
    marks = np.column_stack([points - MARK, points + MARK])
    fixed = [_fixed_cost(boxes, marks, obstacles, area) for boxes in candidates]
    chosen: list[int | None] = [None] * len(texts)
    for _ in range(SWEEPS):
        before = list(chosen)
        for at, boxes in enumerate(candidates):
            others = [
                candidates[other][place] for other, place in enumerate(chosen) if place is not None and other != at
            ]
            clash = _overlap(boxes, np.array(others)) if others else np.zeros(len(boxes))
            cost = fixed[at] + 50 * clash
            chosen[at] = int(np.argmin(cost))
        if chosen == before:
            break
    return _without_clashes(candidates, fixed, [place or 0 for place in chosen])


def _candidates(point: Floats, width: float, height: float) -> Floats:
    """Rectangles around a point, the near ones to the right first."""
    turn = 2 * np.pi * np.arange(ANGLES) / ANGLES
    boxes = []
    for distance in DISTANCES:
        x, y = point[0] + distance * np.cos(turn), point[1] - distance * np.sin(turn)
        left = x - width * (1 - np.cos(turn)) / 2
        top = y - height * (1 + np.sin(turn)) / 2
        boxes.append(np.column_stack([left, top, left + width, top + height]))
    return np.concatenate(boxes)


def _fixed_cost(boxes: Floats, marks: Floats, obstacles: Floats, area: tuple[float, float]) -> Floats:
    """What a place costs whatever the others do: points and lines that it covers, and its distance."""
    outside = (boxes[:, 0] < 0) | (boxes[:, 1] < 0) | (boxes[:, 2] > area[0]) | (boxes[:, 3] > area[1])
    lines = _overlap(boxes, obstacles) if len(obstacles) else 0.0
    away = np.repeat(np.array(DISTANCES), ANGLES)
    return np.where(outside, 1e9, 50 * _overlap(boxes, marks) + 4 * lines + 2 * away)


def _overlap(boxes: Floats, others: Floats) -> Floats:
    """For each rectangle the area that others cover, in square pixels."""
    across = np.minimum(boxes[:, None, 2], others[None, :, 2]) - np.maximum(boxes[:, None, 0], others[None, :, 0])
    down = np.minimum(boxes[:, None, 3], others[None, :, 3]) - np.maximum(boxes[:, None, 1], others[None, :, 1])
    found: Floats = (np.maximum(across, 0) * np.maximum(down, 0)).sum(axis=1)
    return found


def _without_clashes(candidates: list[Floats], fixed: list[Floats], chosen: list[int]) -> list[Place | None]:
    """The places of the names that cover nothing, and None for the others; the first ones stay."""
    kept: list[Floats] = []
    places: list[Place | None] = []
    for boxes, cost, at in zip(candidates, fixed, chosen, strict=True):
        distance = DISTANCES[at // ANGLES]
        free: Bools = _overlap(boxes[at : at + 1], np.array(kept)) < 1 if kept else np.array([True])
        # More than its distance costs: it would cover a point, or most of a line.
        if cost[at] - 2 * distance > 250 or not free[0]:
            places.append(None)
            continue
        kept.append(boxes[at])
        left, top, right, bottom = boxes[at].tolist()
        places.append(Place(left, (top + bottom) / 2, right - left, distance > LEADER))
    return places
