"""By other columns: rules from one, two or three released columns to a protected one, learned from the rows that show
both.

What the intruder has: the released file. What he does: for a blank he looks up the rows that share its values in some
other columns, and takes the most frequent value there. What he gains: the cells that follow from a weight, a stratum, a
derived variable, a code of another classification, an identifier, or from housemates. He trusts a set of columns if
leaving one row out at a time gives that row's value back in 90 % of the cases and significantly more often than the
most frequent value of the file would; or else of the values that it gives those, or of its groups those, for which that
is so. Unanimous small groups fail that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.progress import Progress, no_progress
from tacita.repeats import counts, distinct, how_many, some
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import (
    HIT_RATE,
    LEVEL,
    Leak,
    is_trusted,
    judged_codes,
    leak,
    tail,
)
from tacita.risk.release.reconstruction.rounded_weights import coarser_weights
from tacita.risk.release.reconstruction.views import View, views_of

MOST_TELLING = 12
"""Threes are tried among this many columns."""
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


class Search(NamedTuple):
    """What is searched: the released columns, and the variables that some row still shows."""

    files: Files
    variables: tuple[Protected, ...]
    tried: int
    """Rules tried for each variable: what its tests are corrected for."""
    touched: Bools | None = None
    """By row: whether something was blanked there of late; sets of columns are looked at that tell a cell of these."""


def column_leaks(
    files: Files,
    variables: Sequence[Protected],
    remaining: dict[str, Bools],
    *,
    threes: str = "telling",
    largest: int = 3,
    aside: Collection[str] = (),
    touched: Bools | None = None,
    tried: int | None = None,
    progress: Progress = no_progress,
) -> Iterator[Leak]:
    """Leaks by one column, by two and by three; `remaining` says which cells are left, and is kept up to date.

    Sets of more than `largest` columns, or with one that is set aside, are counted as tried but not looked at; nor are,
    where `touched` names rows, sets that tell no cell of these. `tried` is how many rules are tried in all, if more
    than these columns are.
    """
    learnable = tuple(each for each in variables if len(each.shown_rows) > 1 and each.learnable.any())
    if not learnable:
        return
    ones = [name for name in files.columns if _has_several_values(files, name)]
    views = [view for name in ones for view in views_of(files, name)]
    groups = [name for name in ones if files.distinct(name) < files.size]
    several = len(groups) if threes == "all" else min(MOST_TELLING, len(groups))
    rules = len(ones) + len(views) + comb(len(groups), 2) + (comb(several, 3) if threes != "none" else 0)
    search = Search(files, learnable, tried or rules, touched)
    ones, groups = ([name for name in names if name not in aside] for names in (ones, groups))
    views = [view for view in views if view.column not in aside]
    telling = dict.fromkeys(groups, 0.0)
    found = list(_single_column_leaks(search, ones, views, remaining, telling, progress))
    yield from without_found_cells(found, remaining)
    found = list(_column_set_leaks(search, list(combinations(groups, 2)), remaining, progress))
    yield from without_found_cells(found, remaining)
    if threes != "none" and largest > 2:
        chosen = sorted(groups, key=lambda name: -telling[name])[:several]
        yield from without_found_cells(
            list(_column_set_leaks(search, list(combinations(chosen, 3)), remaining, progress)), remaining
        )


def _has_several_values(files: Files, name: str) -> bool:
    codes = files.codes(name)
    assert codes is not None
    return bool(len(codes)) and bool((codes != codes[0]).any())


def without_found_cells(found: list[Leak], remaining: dict[str, Bools]) -> list[Leak]:
    """The leaks as they are; the cells that they give back are taken out of the remaining ones."""
    for each in found:
        remaining[each.variable][each.right_cells] = False
    return found


def _single_column_leaks(
    search: Search,
    ones: Sequence[str],
    views: Sequence[View],
    remaining: dict[str, Bools],
    telling: dict[str, float],
    progress: Progress,
) -> Iterator[Leak]:
    """Leaks by single columns and by parts of the values of one; tested on all rows that show both."""
    listed = [*(View((name,), f"{name!r}", name) for name in ones), *views]
    told: dict[tuple[str, str], Bools] = {}
    for at, view in enumerate(listed):
        progress(at / len(listed) / 3, "single columns")
        codes = search.files.codes(view.column) if view.codes is None else view.codes
        assert codes is not None
        for protected in search.variables:
            if view.column == protected.name:
                continue
            rows = protected.shown_rows
            found = tally(codes[rows], protected.shown[rows], protected.codes, some(protected.repeats, rows))
            said = guesses(found, codes[protected.rows], protected, search.tried, whole=True)
            if view.column in telling:
                gain = said.rate - float(protected.shares.max())
                telling[view.column] = max(telling[view.column], gain)
            known = _leak(search, protected, view.names, view.words, said, codes, protected.learnable)
            if known is None:
                continue
            # A part of a value is named only where it gives back more than the whole does.
            before = told.setdefault((protected.name, view.column), np.zeros(len(protected), dtype=np.bool_))
            if view.codes is None or not before[known.right_cells].all():
                before[known.right_cells] = True
                yield known


def _column_set_leaks(
    search: Search, sets: Sequence[tuple[str, ...]], remaining: dict[str, Bools], progress: Progress
) -> Iterator[Leak]:
    """Leaks by sets of columns, of the cells that no smaller set gives back; tested in the groups that hold them."""
    for at, names in enumerate(sets):
        if at % 16 == 0:
            progress((len(names) - 1 + at / len(sets)) / 3, f"sets of {len(names)} columns")
        others = [each for each in search.variables if each.name not in names]
        asked = [(each, cells) for each in others if (cells := remaining[each.name] & each.learnable).any()]
        if not asked:
            continue
        key, place = places_of(*joint_key(search.files, names))
        for protected, left in _telling(search, asked, key, place):
            found = tally_of_groups(key, place, key[protected.rows[left]], protected)
            said = guesses(found, key[protected.rows[left]], protected, search.tried, whole=False)
            known = _leak(search, protected, names, " and ".join(map(repr, names)), said, key, left)
            if known is not None:
                yield known


def _telling(
    search: Search, asked: Sequence[tuple[Protected, Bools]], key: Ints, place: Places
) -> Iterator[tuple[Protected, Bools]]:
    """Variables and cells of them that are asked for: where rows were touched, of which the groups tell one there."""
    if search.touched is None:
        yield from asked
        return
    fresh = [cells & search.touched[protected.rows] for protected, cells in asked]
    held = np.zeros(len(place), dtype=np.bool_)
    for (protected, _), new in zip(asked, fresh, strict=True):
        held[key[protected.rows[new]]] = True
    rows = np.flatnonzero(held[key])
    for (protected, cells), new in zip(asked, fresh, strict=True):
        if new.any():
            own = key[protected.rows[new]]
            found = tally_of_groups(key[rows], place, own, protected, protected.shown[rows])
            told = guesses(found, own, protected, search.tried, whole=False).of(own)
            if ((told > 0) & ((told == protected.truth[new]) | (told == protected.target[new]))).any():
                yield protected, cells


def joint_key(files: Files, names: Sequence[str]) -> tuple[Ints, int]:
    """One number for the values of several columns together, and how many there could be."""
    key, size = np.zeros(len(files), dtype=np.int64), 1
    for name in names:
        codes = files.codes(name)
        assert codes is not None
        own = files.distinct(name) + 1
        if size * own >= 1 << 62:
            # Too many to count: number those that occur.
            different, key = np.unique(key, return_inverse=True)
            size = len(different)
        key = key * own + codes
        size *= own
    return key, size


def _leak(
    search: Search, protected: Protected, names: tuple[str, ...], words: str, said: Guesses, keys: Ints, cells: Bools
) -> Leak | None:
    """A leak, if what groups of rows say of the cells is right more often than a guess without the columns.

    `keys` are by row.
    """
    if not len(said.group):
        return None
    guess = np.zeros(len(protected), dtype=np.int64)
    guess[cells] = said.of(keys[protected.rows[cells]])
    known = judged_codes(protected, guess, cells, search.tried, lambda: said.wrong_of_true(keys, protected))
    if known is None:
        return None
    if names == (search.files.household,) and words == repr(names[0]):
        how, repair = f"housemates ({words}) who show it", "suppress it for all members of a household"
        return leak(protected, "housemates", names, how, repair, *known)
    repair = _repair(search, protected, names, bool((known[1] & ~protected.suppressed).any()))
    return leak(protected, "columns", names, words, repair, *known)


WAYS = {
    "transition": "exchange it together with {} (Pram with together=True), or in strata of it",
    "synthesis": "name a rule for it and {} (Synthesise with rules)",
    "swapping": "swap it within groups of {}, or carry {} along",
}
"""What repairs, by how values were perturbed, that logic tells those that came out impossible."""


def _repair(search: Search, protected: Protected, names: tuple[str, ...], changed: bool) -> str:
    """What to do about cells that some columns tell; `changed`: some of them show a wrong value."""
    way = WAYS.get(protected.perturbed_by) if changed else None
    if way is not None:
        return f"{way.format(*2 * [' and '.join(map(repr, names))])}, or coarsen {'it' if len(names) == 1 else 'one'}"
    weight = search.files.weight
    rounded = coarser_weights(weight, search.files.numbers(weight)) if weight is not None and weight in names else ""
    if names == (weight,):
        return f"{rounded}, or Remove it"
    others = [repr(name) for name in names if name != weight]
    ways = [f"Recode {others[0]}, Remove it" if len(others) == 1 else f"Recode or Remove {' or '.join(others)}"]
    ways += [rounded] if rounded else []
    return f"{', '.join(ways)}, or suppress it in the same records"
