"""Original values that a release merges with others, among which attacks look for finer classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.risk.release.reconstruction.cells import Protected, released_as


class Merged(NamedTuple):
    """Original values that the release merges with others."""

    rows: Ints
    """Rows that have one of them."""
    original: Ints
    """By such row: the original value, as its place among them."""
    classes: Ints
    """By merged original value: the class it is released in."""


def all_merged(protected: Protected) -> Merged:
    """What a blank can be: any value of the original."""
    original = _original_codes(protected)
    rows = np.flatnonzero(original)
    values, place = np.unique(original[rows], return_inverse=True)
    return still_merged(Merged(rows, place, np.zeros(len(values), dtype=np.int64)), np.zeros(len(values), np.int64))


def _original_codes(protected: Protected) -> Ints:
    """By row the code of the original value."""
    original = protected.shown.copy()
    original[protected.rows] = protected.truth
    return original


def merged_values(protected: Protected) -> Merged:
    """What the release merges: everything of a removed variable; values without any released one form a class."""
    original = _original_codes(protected)
    classes = np.zeros(protected.codes + 1, dtype=np.int64)
    if not protected.removed:
        shown = np.bincount(original[protected.shown_rows], minlength=protected.codes + 1) > 0
        classes = np.where(shown, released_as(original, protected.shown, protected.codes, protected.repeats), 0)
    rows = np.flatnonzero(original)
    values, place = np.unique(original[rows], return_inverse=True)
    return still_merged(Merged(rows, place, classes[values]), classes[values])


def still_merged(merged: Merged, classes: Ints) -> Merged:
    """The original values that still share a class with another one."""
    _, classes = np.unique(classes, return_inverse=True)
    kept = np.bincount(classes)[classes] > 1 if len(classes) else np.zeros(0, dtype=np.bool_)
    chosen = kept[merged.original]
    _, own = np.unique(classes[kept], return_inverse=True)
    return Merged(merged.rows[chosen], (np.cumsum(kept) - 1)[merged.original[chosen]], own.astype(np.int64))
