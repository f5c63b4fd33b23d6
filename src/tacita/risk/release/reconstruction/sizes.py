"""Sizes of households that are coded at the top, and what a count of members tells of them at least.

Members who are not in the file (children, those who did not answer) make a count too small, and so no guess of the
size that an intruder would trust. It is a bound all the same: "two or more" with four records are four at least.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats
from tacita.risk.release.reconstruction.cells import Protected
from tacita.risk.release.reconstruction.copies import interval_of
from tacita.risk.release.reconstruction.leak import HIT_RATE, is_justified, is_trusted

MOST_MEMBERS = 50


def is_size(protected: Protected) -> bool:
    """Whether a variable may count the members of a household."""
    if protected.numbers is None:
        return False
    known = protected.numbers[~np.isnan(protected.numbers)]
    return len(known) > 0 and bool(((known >= 1) & (known <= MOST_MEMBERS) & (known % 1 == 0)).all())


def least_sizes(protected: Protected) -> Floats:
    """By row: the least number of members that the released size allows, NaN where none is shown."""
    least = np.full(protected.codes + 1, np.nan)
    for code in np.unique(protected.shown[protected.shown_rows]).tolist():
        interval = interval_of(protected.text_of(code))
        least[code] = np.nan if interval is None else interval[0]
    return np.asarray(least[protected.shown], dtype=np.float64)


def share_of_at_least(values: Floats, bounds: Floats) -> Floats:
    """By bound: the share of the values that are as large.

    >>> share_of_at_least(np.array([2.0, 3.0, 5.0, 5.0]), np.array([2.0, 3.0, 4.0])).tolist()
    [1.0, 0.75, 0.5]
    """
    ordered = np.sort(values)
    return np.asarray(1.0 - np.searchsorted(ordered, bounds, side="left") / max(len(ordered), 1))


def disclosed_at_least(protected: Protected, count: Floats) -> tuple[Bools, Bools] | None:
    """By cell whether a count of members says more than the released size, and whether it is right; None if nobody
    would trust it.

    An intruder trusts it if no size that is shown is smaller than its count, in 90 % of the rows and more often than if
    counts were dealt out anew. He is right to if the size is that large more often than others of its released class.
    """
    if not is_size(protected) or protected.removed:
        return None
    assert protected.numbers is not None
    shown = protected.true_rows[~np.isnan(count[protected.true_rows])]
    if not len(shown):
        return None
    sizes = protected.numbers[shown]
    hits, base = int((count[shown] <= sizes).sum()), float(share_of_at_least(sizes, count[shown]).mean())
    if not is_trusted(hits, len(shown), base, tried=1):
        return None
    covered: Bools = count[protected.rows] > least_sizes(protected)[protected.rows]
    right: Bools = covered & (protected.numbers[protected.rows] >= count[protected.rows])
    chance, coded = np.zeros(len(covered)), protected.shown[protected.rows]
    for code in np.unique(coded[covered]).tolist():
        of_class = protected.numbers[(protected.shown == code) & ~np.isnan(protected.numbers)]
        cells = covered & (coded == code)
        chance[cells] = share_of_at_least(of_class, count[protected.rows][cells])
    total, told = int(right.sum()), int(covered.sum())
    if not total or total < HIT_RATE * told:
        return None
    return (covered, right) if is_justified(total, told, float(chance[covered].mean())) else None
