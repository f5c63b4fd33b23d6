"""By the roles of household members: what one member's number says of another's, and which value a household lacks.

What the intruder has: the household's identifier, and a column that tells the members' roles, such as relation or
marital status. What he does: from households that show both he learns between which bounds the difference of two
members' numbers lies, parent and child, wife and husband, and takes the value that the bounds of all housemates
together leave; and he learns that every household has a member with some value, a reference person, one adult. What he
gains: ages that follow from those of others, and the one blank that must have the value which all others lack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, is_trusted, judged_codes, leak
from tacita.risk.release.reconstruction.numbers import judged

MOST_ROLES = 12
"""Different values up to which a column may tell roles."""
MOST_VALUES = 40
"""Different values up to which it is asked whether every household has one."""
SCREENED = 2_000
"""Rows, in whole households, on which bounds are tried first."""
LEAST_CORRELATION = 0.3
"""Of a member's number with the others' mean of another column, from which on that column is tried."""
LEAST_PAIRS = 20
"""Pairs of members that show both, from which on bounds are learned."""


def only_other_member(household: Ints, chosen: Bools, number: Floats) -> Floats:
    """By row: the number of the one other member of the household that is chosen; NaN where there is none, or two.

    `household` is 0 for those who live with nobody known.
    """
    there = chosen & (household > 0)
    size = int(household.max(initial=0)) + 1
    count = np.bincount(household[there], minlength=size)[household] - there
    known = there & ~np.isnan(number)
    total = np.bincount(household[known], number[known], minlength=size)[household] - np.where(known, number, 0.0)
    shown = np.bincount(household[known], minlength=size)[household] - known
    return np.where((count == 1) & (shown == 1) & (household > 0), total, np.nan)


def bounds_of(difference: Floats, group: Ints) -> tuple[Floats, Floats]:
    """By row: the least and the greatest difference among the other rows of its group; NaN where these are too few.

    A row's own difference, where it shows one, does not count: what it is told is what the others say.
    """
    low, high = np.full(len(group), np.nan), np.full(len(group), np.nan)
    for each in np.unique(group):
        rows = np.flatnonzero(group == each)
        own = difference[rows]
        there = np.sort(own[~np.isnan(own)])
        if len(there) >= LEAST_PAIRS:
            low[rows] = np.where(own == there[0], there[1], there[0])
            high[rows] = np.where(own == there[-1], there[-2], there[-1])
    return low, high


def others_lack(household: Ints, shown: Ints, value: int) -> Bools:
    """By row: whether the other members of its household all show something, and none of them this value.

    `shown` is 0 for blanks; those who live with nobody known are not asked.
    """
    size = int(household.max(initial=0)) + 1
    blank, has = shown == 0, shown == value
    blanks = np.bincount(household, blank, minlength=size)[household] - blank
    others = np.bincount(household, has, minlength=size)[household] - has
    found: Bools = (household > 0) & (blanks == 0) & (others == 0)
    return found


def bound_leaks(files: Files, variables: Sequence[Protected], remaining: dict[str, Bools]) -> Iterator[Leak]:
    """Leaks by bounds between housemates, and by values that every household has, of the cells that are left."""
    name = files.household
    household = None if name is None or name not in files.columns else files.codes(name)
    if name is None or household is None or not len(household):
        return
    for protected in variables:
        left = remaining[protected.name].copy()
        if protected.name == name or not left.any():
            continue
        if protected.released_numbers is not None and protected.numbers is not None:
            for known in _leaks_by_roles(files, protected, household, left):
                left[known.right_cells] = False
                yield known
        lacks = _required_value_leak(files, protected, household, left & protected.learnable)
        if lacks is not None:
            yield lacks


def _required_value_leak(files: Files, protected: Protected, household: Ints, left: Bools) -> Leak | None:
    """The one blank of a household whose other members lack a value that every household has."""
    values = np.flatnonzero(protected.shares)
    # A blank that lives with another one may be either.
    if not left.any() or not 2 <= len(values) <= MOST_VALUES:
        return None
    guess = np.zeros(len(protected), dtype=np.int64)
    told = np.zeros(len(protected), dtype=np.int64)
    for value in values.tolist():
        asked = others_lack(household, protected.shown, value)
        tested = asked[protected.shown_rows]
        hits = int((protected.shown[protected.shown_rows] == value)[tested].sum())
        if is_trusted(hits, int(tested.sum()), float(protected.shares[value]), len(values)):
            here = asked[protected.rows] & protected.suppressed
            guess[here] = value
            told += here
    # Two values that the others lack, and one blank: neither can be told.
    guess[told > 1] = 0
    known = judged_codes(protected, guess, left, len(values))
    if known is None:
        return None
    how = f"the value that a household ({files.household!r}) must have, and the other members lack"
    return leak(
        protected, "household", (str(files.household),), how, "suppress it for two members of a household", *known
    )


def _leaks_by_roles(files: Files, protected: Protected, household: Ints, left: Bools) -> Iterator[Leak]:
    """The one number that the numbers of housemates leave, by roles."""
    rows = np.flatnonzero((household > 0) & (np.bincount(household)[household] > 1))
    cells = np.zeros(len(files), dtype=np.bool_)
    cells[protected.rows[left]] = True
    if not cells[rows].any() or not protected.unit:
        return
    some = rows if len(rows) <= SCREENED else rows[household[rows] <= np.sort(household[rows])[SCREENED]]
    roles = [each for each in files.columns if each != protected.name and 2 <= files.distinct(each) <= MOST_ROLES]
    measures = [
        each for each in files.columns if each != files.household and _is_correlated(files, protected, some, each)
    ]
    for role in roles:
        for measure in measures:
            if not _half_are_right(files, protected, household, some, role, measure):
                continue
            guess = np.full(len(files), np.nan)
            guess[rows] = _numbers_within_bounds(files, protected, household, rows, role, measure)
            guess[protected.rows[~left]] = np.nan
            known = judged(protected, guess, tried=len(roles) * len(measures))
            if known is not None:
                how = f"bounds by {measure!r} of the other members ({files.household!r}), by their {role!r}"
                columns = tuple(dict.fromkeys((str(files.household), role, measure)))
                yield leak(protected, "household", columns, how, "suppress it for all members of a household", *known)


def _is_correlated(files: Files, protected: Protected, rows: Ints, measure: str) -> bool:
    """Whether bounds are looked for: by the variable itself always, by others if they go with it on the whole."""
    numbers, shown, household = files.numbers(measure), protected.released_numbers, files.codes(str(files.household))
    if numbers is None or files.distinct(measure) <= MOST_ROLES or shown is None or household is None:
        return False
    if measure == protected.name:
        return True
    y, homes = numbers[rows], household[rows]
    known = ~np.isnan(y)
    count = np.bincount(homes[known], minlength=int(household.max()) + 1)[homes] - known
    others = np.bincount(homes, np.nan_to_num(y), minlength=int(household.max()) + 1)[homes] - np.nan_to_num(y)
    asked = ~np.isnan(shown[rows]) & (count > 0)
    x, mean = shown[rows][asked], others[asked] / count[asked]
    if len(x) < LEAST_PAIRS or not x.std() or not mean.std():
        return False
    return bool(abs(np.corrcoef(x, mean)[0, 1]) >= LEAST_CORRELATION)


def _half_are_right(files: Files, protected: Protected, household: Ints, some: Ints, role: str, measure: str) -> bool:
    """Whether bounds tell some shown rows of a part of the households, most of them rightly."""
    shown = protected.released_numbers
    assert shown is not None
    told = _numbers_within_bounds(files, protected, household, some, role, measure)
    asked = ~np.isnan(told) & ~np.isnan(shown[some])
    return bool(asked.any()) and bool((np.abs(told - shown[some]) < protected.unit)[asked].mean() >= 0.5)


def _numbers_within_bounds(
    files: Files, protected: Protected, household: Ints, rows: Ints, role: str, measure: str
) -> Floats:
    """By row of those given: the number that the bounds of all housemates leave; NaN where they leave none, or more."""
    codes, numbers, shown = files.codes(role), files.numbers(measure), protected.released_numbers
    assert codes is not None and numbers is not None and shown is not None
    own, homes = codes[rows], household[rows]
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for other in range(1, files.distinct(role) + 1):
        beside = only_other_member(homes, own == other, numbers[rows])
        least, greatest = bounds_of(shown[rows] - beside, np.where(np.isnan(beside), -1, own))
        low, high = np.fmax(low, beside + least), np.fmin(high, beside + greatest)
    middle = (low + high) / 2
    return np.where(np.isfinite(middle) & (high - low < protected.unit) & (high >= low), middle, np.nan)
