"""Whether the rows of two plain tables belong together: without record numbers nobody says that they do.

A file that was put into random order before it was written is not its original row by row, and nothing that is held
against it there means anything: it would seem that all cells were changed and none is given back.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.release.reconstruction.cells import joint_codes
from tacita.risk.release.reconstruction.columns import tally
from tacita.risk.release.reconstruction.leak import LEVEL, tail

LEAST_ROWS = 10
"""Rows from which on a table can be seen to be in another order."""


def other_order(original: Data, released: Data, unit: str | None) -> str:
    """Why the rows of two files do not belong together as they stand; empty if they do, or if nothing says so."""
    numbered = any(each.numbers_of_records is not None for each in (original, released))
    if numbered or unit is not None or len(original) != len(released) or len(original) < LEAST_ROWS:
        return ""
    kept = moved = associated = compared = 0
    for name in (each for each in released.columns if each in original.columns):
        try:
            (was, now), _ = joint_codes(name, original, released)
        except TacitaError:
            continue
        if min(was.min(), now.min()) == max(was.max(), now.max()):
            continue
        compared += 1
        associated += _go_together(was, now)
        # The same values in other rows: a column that nobody touched, of a file in another order.
        same = bool((np.sort(was) == np.sort(now)).all())
        kept, moved = kept + (same and bool((was == now).all())), moved + (same and bool((was != now).any()))
    if moved > kept or (compared and not associated and not kept):
        return (
            "the rows of the release are not those of the original in the same order: assess the release itself, or "
            "bring both files into one order"
        )
    return ""


def _go_together(was: Ints, now: Ints) -> bool:
    """Whether the released values of a column go with the original ones of the same rows more than by chance."""
    equal, chance = int((was == now).sum()), float((np.bincount(was) / len(was)) @ _shares(now, int(was.max())))
    found = tally(was, now, int(now.max()))
    several = found.total >= 2
    tries, hits = int(found.total[several].sum()), int(found.hits[several].sum())
    most = float(np.bincount(now).max() / len(now))
    beyond_chance = tail(equal, len(was), chance) <= LEVEL or tail(hits, tries, most) <= LEVEL
    return bool(beyond_chance) or _rise_together(was, now)


def _rise_together(was: Ints, now: Ints) -> bool:
    """Whether the ranks of numbers with noise go with the original ones more than by chance."""
    ranks = [rankdata(codes) - (len(codes) + 1) / 2 for codes in (was, now)]
    lengths = float(np.sqrt(np.square(ranks[0]).sum() * np.square(ranks[1]).sum()))
    if lengths == 0:
        return False
    correlation = float(ranks[0] @ ranks[1]) / lengths
    return bool(2 * ndtr(-abs(correlation) * np.sqrt(len(was) - 1)) <= LEVEL)


def _shares(codes: Ints, last: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """By code from 0 to the last one its share of the rows."""
    return np.bincount(codes, minlength=last + 1)[: last + 1] / len(codes)
