"""How many ranks values may move: a share of their number, or as many as a correlation or means of subsets allow."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.progress import Progress, no_progress
from tacita.random import Draws

TRIALS = 20
"""The change that a window makes is the mean of so many trials."""


def whole_part(share: float, count: int) -> int:
    """The whole part of a share of a number, as the share is written: 0.29 of 100 is 29."""
    return math.floor(Fraction(str(share)) * count)


def correlation_limit(values: Floats, coded: Floats, correlation: float) -> float:
    """The greatest sum of squared changes S for which the swapped values correlate with the values as asked.

    x are the values, y what is swapped: the values, with tails already coded. Where the swap exchanges equals of x and
    y, its cross-product with x is sum (x - m)(y - m) - S/2, and its variance is that of y, so that
    cor = (sum (x - m)(y - m) - S/2) / sqrt(sum (x - m)^2 sum (y - m)^2).
    """
    x, y = values - values.mean(), coded - coded.mean()
    return float(2 * ((x * y).sum() - correlation * math.sqrt((x * x).sum() * (y * y).sum())))


def subset_limit(values: Floats, coded: Floats, factor: float) -> float:
    """The greatest sum of squared changes for which means of subsets stay: root mean square change K0 |mean|.

    The mean of a random subset of m records then changes by at most 2 K0 |mean| / sqrt(m), 95 times in 100
    (Moore 1996).
    """
    return float(len(values) * (factor * values.mean()) ** 2 - ((coded - values) ** 2).sum())


def widest_window(values: Floats, record: Ints, limit: float, draws: Draws, progress: Progress = no_progress) -> int:
    """The widest window whose sum of squared changes, the mean of 20 trials, keeps a limit: by bisection.

    Values stand in the order of their ranks. All windows are tried with the same draws, so that they differ in width
    alone.
    """
    from tacita.protect.swap.rank_loops import squared_change  # Numba is loaded by those who swap

    if limit < 0 or len(values) < 2:
        return 0
    uniforms = [draws.uniform(record, trial) for trial in range(TRIALS)]

    def holds(window: int) -> bool:
        return float(np.mean([squared_change(values, window, each) for each in uniforms])) <= limit

    kept, broken, rounds = 0, len(values), len(values).bit_length()
    for done in range(rounds):
        if broken - kept == 1:
            break
        progress(done / rounds, "trying windows")
        middle = (kept + broken) // 2
        kept, broken = (middle, broken) if holds(middle) else (kept, middle)
    return kept
