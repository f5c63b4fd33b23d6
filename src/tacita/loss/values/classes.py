"""What is lost by generalised keys, by the classes that stand in place of values: kernels of codes, 0 for missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.distance.covered import class_losses, covered, pairs_of_codes
from tacita.repeats import counts, how_many, some

MOST_CELLS = 20_000_000
"""With more classes times categories, as in a perturbed number, no hierarchy is looked for: all are at level 1."""


class KeyClasses(NamedTuple):
    """By record what its class of one key loses, NaN where the original has no value to lose."""

    granularity: Floats
    """(m_b - 1)/(m - 1), of m_b of the m categories."""
    intensity: Floats
    """Level of the class / height of the hierarchy, as far as the release shows it."""
    entropy: Floats
    """Bits that the class leaves open: -log2 of the share of the value among records with a value of the class."""
    most_entropy: Floats
    """Bits that suppression leaves open."""
    size: Floats
    """m_b, the number of categories that it stands for; 1 where there was nothing to lose."""


def levels(x: Ints, y: Ints) -> tuple[Ints, int]:
    """By released code its level, and the height of the hierarchy, suppression being the top.

    A class is one level above the highest class inside it; single values are at level 0.

    >>> levels(np.array([1, 2, 3, 4, 1]), np.array([1, 1, 2, 3, 4]))
    (array([0, 1, 0, 0, 0]), 2)
    """
    found = covered(x, y)
    rows = np.flatnonzero(found.many > 1)
    level = np.zeros(len(found.many), dtype=np.int64)
    if len(rows) * int(x.max(initial=0)) > MOST_CELLS or len(rows) ** 2 > MOST_CELLS:
        level[rows] = 1
        return level, 2
    rows = rows[np.argsort(found.many[rows], kind="stable")]
    px, py, _ = pairs_of_codes(x, y)
    at = np.full(len(found.many), -1)
    at[rows] = np.arange(len(rows))
    inside = np.zeros((len(rows), int(x.max(initial=0)) + 1), dtype=np.float32)
    several = at[py] >= 0
    inside[at[py[several]], px[several]] = 1.0
    shared = inside @ inside.T
    for place, row in enumerate(rows):
        within = (shared[place, :place] == found.many[rows[:place]]) & (found.many[rows[:place]] < found.many[row])
        level[row] = 1 + int(level[rows[:place]][within].max(initial=0))
    all_of_them = found.many == len(np.unique(x[x > 0]))
    top = int(level[all_of_them].max(initial=0))
    return level, top if top > 0 and top == level.max(initial=0) else int(level.max(initial=0)) + 1


def key_classes(x: Ints, y: Ints, repeats: Ints | None = None) -> KeyClasses:
    """What each record loses on one key."""
    n_x = counts(x, repeats, int(x.max(initial=0)) + 1).astype(np.float64)
    n_x[0] = 0.0
    categories, shown = int((n_x > 0).sum()), n_x.sum()
    px, py, _ = pairs_of_codes(x, y)
    found = covered(x, y, repeats)
    among = np.bincount(py, weights=n_x[px], minlength=len(found.many))
    among[0] = shown
    level, height = levels(x, y)
    level[0] = height
    count = found.many.copy()
    count[0] = max(categories, 1)
    lost = x == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy, most = np.log2(among[y] / n_x[x]), np.log2(shown / n_x[x])
    return KeyClasses(
        np.where(lost, np.nan, class_losses(x, y, repeats=repeats)),
        np.where(lost, np.nan, level[y] / height),
        np.where(lost, np.nan, entropy),
        np.where(lost, np.nan, most),
        np.where(lost, 1.0, count[y]),
    )


def discernibility(group: Ints, suppressed: Ints, repeats: Ints | None = None) -> float:
    """The sum over records of the size of their class, the whole file for a suppressed record.

    >>> discernibility(np.array([0, 0, 1, 2]), np.array([False, False, False, True]))
    9.0
    """
    gone = suppressed.astype(np.bool_)
    n = how_many(np.ones_like(gone), repeats)
    kept = counts(group[~gone], some(repeats, ~gone)).astype(np.float64)
    return float((kept**2).sum() + n * float(how_many(gone, repeats)))


def scaled(before: float, after: float, most: float) -> float:
    """Where a figure lies between what it was and the most it can be: 0 to 1.

    >>> scaled(4.0, 7.0, 16.0)
    0.25
    """
    return 0.0 if most <= before else min(max((after - before) / (most - before), 0.0), 1.0)
