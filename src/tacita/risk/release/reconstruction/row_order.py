"""Whether the rows of two plain tables belong together: without record numbers nobody says that they do.

A file that was put into random order before it was written is not its original row by row, and nothing that is held
against it there means anything: it would seem that all cells were changed and none is given back.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.repeats import counts, how_many, total
from tacita.risk.release.reconstruction.cells import joint_codes
from tacita.risk.release.reconstruction.leak import LEVEL, tail
from tacita.risk.release.reconstruction.tallies import tally

LEAST_ROWS = 10
"""Rows from which on a table can be seen to be in another order."""


def other_order(original: Data, released: Data, unit: str | None) -> str:
    """Why the rows of two files do not belong together as they stand; empty if they do, or if nothing says so."""
    numbered = any(each.numbers_of_records is not None for each in (original, released))
    if numbered or unit is not None or len(original) != len(released) or released.size < LEAST_ROWS:
        return ""
    kept = moved = associated = compared = 0
    repeats = released.repeats
    for name in (each for each in released.columns if each in original.columns):
        try:
            (was, now), _ = joint_codes(name, original, released)
        except TacitaError:
            continue
        if min(was.min(), now.min()) == max(was.max(), now.max()):
            continue
        compared += 1
        associated += _go_together(was, now, repeats)
        # The same values in other rows: a column that nobody touched, of a file in another order.
        size = int(max(was.max(), now.max())) + 1
        same = np.array_equal(counts(was, repeats, size), counts(now, repeats, size))
        kept, moved = kept + (same and bool((was == now).all())), moved + (same and bool((was != now).any()))
    if moved > kept or (compared and not associated and not kept):
        return (
            "the rows of the release are not those of the original in the same order: assess the release itself, or "
            "bring both files into one order"
        )
    return ""


def _go_together(was: Ints, now: Ints, repeats: Ints | None) -> bool:
    """Whether the released values of a column go with the original ones of the same rows more than by chance."""
    before, after = (counts(codes, repeats, int(max(was.max(), now.max())) + 1) for codes in (was, now))
    size = int(before.sum())
    equal, chance = how_many(was == now, repeats), float((before / size) @ (after / size))
    found = tally(was, now, int(now.max()), repeats)
    several = found.total >= 2
    tries, hits = int(found.total[several].sum()), int(found.hits[several].sum())
    beyond_chance = tail(equal, size, chance) <= LEVEL or tail(hits, tries, float(after.max() / size)) <= LEVEL
    return bool(beyond_chance) or _rise_together(_ranks(before)[was], _ranks(after)[now], repeats, size)


def _rise_together(first: Floats, second: Floats, repeats: Ints | None, size: int) -> bool:
    """Whether the ranks of numbers with noise go with the original ones more than by chance."""
    lengths = float(np.sqrt(total(np.square(first), repeats) * total(np.square(second), repeats)))
    if lengths == 0:
        return False
    correlation = total(first * second, repeats) / lengths
    return bool(2 * ndtr(-abs(correlation) * np.sqrt(size - 1)) <= LEVEL)


def _ranks(count: Ints) -> Floats:
    """By value the rank that records with it share, less the mean of all ranks; `count` is how many there are.

    >>> _ranks(np.array([1, 2])).tolist()
    [-1.0, 0.5]
    """
    ranks: Floats = np.cumsum(count) - (count - 1) / 2 - (count.sum() + 1) / 2
    return ranks
