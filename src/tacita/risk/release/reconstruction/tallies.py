"""What groups of rows with the same values of some columns say of a protected variable, and which are trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.repeats import counts, distinct, how_many, some
from tacita.risk.release.reconstruction.cells import Protected
from tacita.risk.release.reconstruction.leak import HIT_RATE, LEVEL, is_trusted, tail

FEW_CELLS = 1 << 14
"""Up to so many possible cells, or eight to a row, counting them all is quicker than sorting rows."""
DENSE = 1 << 25
"""Up to so many possible keys a table of all of them is quicker than sorting."""


Places = np.ndarray[tuple[int], np.dtype[np.int32]]
"""By key: 1 for the first group that is asked for, 2 for the next; 0 for the others."""


class Tally(NamedTuple):
    """By group of rows with the same values of some columns: what it says of a variable."""

    group: Ints
    """The key of the group, ascending."""
    total: Ints
    """Rows that show both."""
    top: Ints
    """The most frequent value; 0 where two are."""
    most: Ints
    """How many rows have it."""
    hits: Ints
    """Rows whose value is the most frequent one of the others: leave one out, ties do not count."""
    guessed: Ints
    """By value, not by group: how many rows it is guessed for, each from the others of its group."""
    confirmed: Ints
    """By value: how many of them have it."""


def tally(group: Ints, value: Ints, codes: int, repeats: Ints | None = None) -> Tally:
    """By group: rows, most frequent value, and how many rows are told by the others.

    Where a row stands for several records, records are counted.
    """
    combined = group * (codes + 1) + value
    if len(combined) and int(combined.max()) < max(FEW_CELLS, 8 * len(combined)):
        table = counts(combined, repeats)
        cell = np.flatnonzero(table)
        return _tally_of_cells(cell, table[cell], codes)
    return _tally_of_cells(*distinct(combined, repeats), codes)


def tally_of_groups(key: Ints, place: Places, keys: Ints, protected: Protected, shown: Ints | None = None) -> Tally:
    """The tally of the groups that some keys name, of all rows that have a released value.

    `key` is by row, and so is `shown`, the released value, unless these are all rows of the file.
    """
    from tacita.risk.release.reconstruction.group_loops import count_in_groups

    values = protected.shown if shown is None else shown
    chosen = np.unique(keys)
    place[chosen] = np.arange(1, len(chosen) + 1)
    width = protected.codes + 1
    if len(chosen) * width <= max(FEW_CELLS, 8 * len(key)):
        table = np.zeros(len(chosen) * width, dtype=np.int64)
        times = np.zeros(0, dtype=np.int64) if protected.repeats is None else protected.repeats
        count_in_groups(key, place, values, width, times, table)
        cell = np.flatnonzero(table)
        found = _tally_of_cells(cell, table[cell], protected.codes)
    else:
        group = place[key]
        there = (group > 0) & (values > 0)
        own = some(protected.repeats, there)
        found = tally(group[there].astype(np.int64) - 1, values[there], protected.codes, own)
    place[chosen] = 0
    return found._replace(group=chosen[found.group])


def places_of(key: Ints, size: int) -> tuple[Ints, Places]:
    """Keys below `size`, by row, with a place for each that can be looked up: numbered anew where they are too many."""
    if size > max(DENSE, 4 * len(key)):
        different, key = np.unique(key, return_inverse=True)
        size = len(different)
    return key, np.zeros(size, dtype=np.int32)


def _tally_of_cells(cell: Ints, count: Ints, codes: int) -> Tally:
    """The tally by cell: groups times codes + 1 plus the value, ascending, and how many rows have both."""
    from tacita.risk.release.reconstruction.group_loops import tally_cells

    groups, by_value = np.empty((5, len(cell)), dtype=np.int64), np.zeros((2, codes + 1), dtype=np.int64)
    number = tally_cells(cell, count, codes + 1, groups, by_value)
    return Tally(*groups[:, :number], *by_value)


class Guesses(NamedTuple):
    """What an intruder guesses by groups of rows."""

    rate: float
    """The hit rate of all groups."""
    group: Ints
    """The keys of groups that he trusts, ascending."""
    top: Ints
    """By such group: the value that it says."""

    def of(self, keys: Ints) -> Ints:
        """By key the value that its group says, 0 for none."""
        if not len(self.group):
            return np.zeros(len(keys), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.group, keys), len(self.group) - 1)
        return np.where(self.group[place] == keys, self.top[place], 0)

    def wrong_of_true(self, keys: Ints, protected: Protected) -> int:
        """In how many rows that show what is true a group says another value; `keys` are by row."""
        rows = np.flatnonzero((protected.shown > 0) & ~protected.is_protected)
        said = self.of(keys[rows])
        wrong = (said > 0) & (said != protected.blank) & (said != protected.shown[rows])
        return how_many(wrong, some(protected.repeats, rows))


def guesses(found: Tally, keys: Ints, protected: Protected, tried: int, whole: bool) -> Guesses:
    """What an intruder would guess by group, for the cells of some groups.

    `whole`: the groups are all of the file, not only those that hold protected cells.
    """
    several = found.total >= 2
    tries, hits = int(found.total[several].sum()), int(found.hits[several].sum())
    if is_trusted(hits, tries, float(protected.shares.max()), tried):
        trusted = np.ones(len(found.group), dtype=np.bool_)
    else:
        trusted = _trusted_values(found, protected, tried)
        trusted |= _trusted_groups(found, several & ~trusted, protected, tried, keys if whole else None)
    return Guesses(hits / tries if tries else 0.0, found.group[trusted], found.top[trusted])


def _trusted_values(found: Tally, protected: Protected, tried: int) -> Bools:
    """By group: whether the value that it says is right for nearly all rows that others of their group say it of.

    Rare values are what is suppressed: a housemate's citizenship may tell nothing on the whole and all of the rare one.
    """
    hits, total = found.confirmed, found.guessed
    good = (hits > 0) & (hits >= HIT_RATE * total)
    if not good.any():
        return good[found.top]
    level = LEVEL / (max(tried, 1) * max(int((total > 0).sum()), 1))
    good[good] = tail(hits[good], total[good], protected.shares[good]) <= level
    return good[found.top]


def _trusted_groups(found: Tally, asked: Bools, protected: Protected, tried: int, keys: Ints | None) -> Bools:
    """By group: whether nearly all of its own rows have one value, and so many that it is no chance."""
    trusted = np.zeros(len(found.group), dtype=np.bool_)
    sure = np.flatnonzero(asked & (found.hits >= HIT_RATE * found.total) & (found.hits > 0))
    if not len(sure):
        return trusted
    held = len(found.group) if keys is None else len(np.unique(keys))
    chance = tail(found.hits[sure], found.total[sure], protected.shares[found.top[sure]])
    trusted[sure[chance <= LEVEL / (max(tried, 1) * max(held, 1))]] = True
    return trusted
