"""Which released values agree with a value of the intruder's: what agrees costs nothing, all else too much.

Categories agree if they are equal, numbers if they differ by at most a share of the released one. Values that were
recoded, rounded or cut off are recoded by the intruder alike; how, he reads off the records of both files.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.external import categories as coding
from tacita.risk.external.columns import TABLE, Column, table, within
from tacita.risk.external.knowledge import is_numeric
from tacita.risk.external.number_costs import coded_ends, codes_of
from tacita.risk.linkage.files import Files

SLACK = 1e-12
"""Rounding decides in favour of agreement: 105 agrees with 100 at a tolerance of 0.05."""


class Agreement(NamedTuple):
    """One variable of one release, by position in the ordered files."""

    column: Column
    """Nothing where shown values agree, infinite where they do not; suppressed cells cost nothing."""
    suppressed: Floats
    """By row of the intruder's file what a suppressed cell costs where it is a level of its own."""
    missing: Bools
    """By row of the intruder's file: whether he does not know the value."""
    recoded: bool
    """Whether the intruder had to recode his values."""
    numeric: bool

    def alone(self, *, anything: bool) -> Column:
        """The column where there is no other release: a suppressed cell is a level, or could be anything."""
        blank = self.blank(anything=anything)
        if self.column.kind != TABLE:
            return self.column._replace(blank=blank)
        # The first row is that of a missing value.
        cells = self.column.table.copy()
        cells[1:, 0] = 0.0 if anything else np.inf
        return self.column._replace(table=cells)

    def blank(self, *, anything: bool) -> Floats:
        """What a cell costs that no release shows."""
        if not anything:
            return self.suppressed
        return np.where(self.missing, self.suppressed, 0.0)


def agreement(files: Files, name: str, tolerance: float) -> Agreement:
    """Which values of a variable agree."""
    return (_numbers if is_numeric(files, name) else _categories)(files, name, tolerance)


def _categories(files: Files, name: str, tolerance: float) -> Agreement:
    given = coding.categories_of(files, name)
    missing = given.x == 0
    suppressed = np.where(missing, 0.0, np.inf)
    released = given.y.astype(np.float64)
    changed = name in files.released.perturbed
    same = given.becomes(coded=not changed)
    place = {text: code for code, text in enumerate(given.y_texts, start=1)}
    plain = np.array([0, *(place.get(text, 0) for text in given.x_texts)])
    x, y, _ = given.counts()
    size, width = len(given.x_texts) + 1, len(given.y_texts) + 1
    several = not changed and len(np.unique(x)) < len(x) and size * width <= coding.LARGEST_TABLE
    recoded = bool((same[given.x] != plain[given.x]).any()) or several
    if several:
        costs = np.full((size, width), np.inf)
        costs[x, y] = 0.0
        alone = np.flatnonzero((same > 0) & ~np.isin(np.arange(size), x))
        costs[alone, same[alone]] = 0.0
        costs[:, 0] = 0.0
        return Agreement(table(released, given.x.astype(np.float64), costs), suppressed, missing, recoded, False)
    code = np.where(same > 0, same, np.inf)[given.x]
    code[missing] = np.inf
    return Agreement(within(released, code, code, np.zeros(len(code))), suppressed, missing, recoded, False)


def _numbers(files: Files, name: str, tolerance: float) -> Agreement:
    x, y = coding.numbers_of(files, name)
    ends = None if name in files.released.perturbed else coded_ends(x, y, coding.own_records(files))
    low, high = (x, x) if ends is None else ends
    distinct, codes = codes_of(y)
    first, last = agreeing(distinct, low, high, tolerance)
    missing = np.isnan(x)
    first[missing], last[missing] = np.inf, -np.inf
    suppressed = np.where(_nearest_agrees(distinct, x, first, last), 0.0, np.inf)
    suppressed[missing] = np.inf
    recoded = ends is not None and not np.array_equal(low, x, equal_nan=True)
    return Agreement(within(codes, first, last, np.zeros(len(x))), suppressed, missing, recoded, True)


def agreeing(released: Floats, low: Floats, high: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """The first and last code of ascending released numbers y with |x - y| <= d |y| for some x between two limits.

    >>> agreeing(np.array([0.0, 100.0, 200.0]), np.array([105.0, 0.0, 106.0]), np.array([105.0, 0.0, 106.0]), 0.05)
    (array([2., 1., 3.]), array([2., 1., 2.]))
    """
    reach = tolerance + SLACK
    lower = np.where(released >= 0, released * (1.0 - reach), released * (1.0 + reach))
    upper = np.where(released >= 0, released * (1.0 + reach), released * (1.0 - reach))
    first = np.searchsorted(upper, low, side="left") + 1
    return first.astype(np.float64), np.searchsorted(lower, high, side="right").astype(np.float64)


def _nearest_agrees(released: Floats, x: Floats, first: Floats, last: Floats) -> Bools:
    """Whether one of the released numbers nearest to x agrees with it: it stands in for a suppressed one."""
    if not len(released):
        return np.zeros(len(x), dtype=np.bool_)
    above: Ints = np.minimum(np.searchsorted(released, x), len(released) - 1)
    below = np.maximum(above - 1, 0)
    up, down = np.abs(released[above] - x), np.abs(released[below] - x)
    fits = [(place + 1.0 >= first) & (place + 1.0 <= last) for place in (above, below)]
    found: Bools = (fits[0] & (up <= down)) | (fits[1] & (down <= up))
    return found
