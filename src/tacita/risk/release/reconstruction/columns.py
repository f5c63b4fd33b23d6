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
from tacita.repeats import some
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.column_repairs import column_repair
from tacita.risk.release.reconstruction.leak import (
    Leak,
    judged_codes,
    leak,
)
from tacita.risk.release.reconstruction.tallies import Guesses, Places, guesses, places_of, tally, tally_of_groups
from tacita.risk.release.reconstruction.views import View, views_of

MOST_TELLING = 12
"""Threes are tried among this many columns."""


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
    changed = bool((known[1] & ~protected.suppressed).any())
    repair = column_repair(search.files, protected, names, search.tried, changed)
    return leak(protected, "columns", names, words, repair, *known)
