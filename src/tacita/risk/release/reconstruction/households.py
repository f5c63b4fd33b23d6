"""By households and other groups: counts of members, sums over them, and equivalence scales.

What the intruder has: an identifier that puts records together. What he does: he counts the records of a household,
adds up what its members have, or takes what the others have from the household's total. What he gains: the household
size that was coded at the top or removed, the income of the one member who was suppressed. Values that housemates share
are found with the other columns, the identifier being one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected, members
from tacita.risk.release.reconstruction.leak import Leak, leak, or_kept
from tacita.risk.release.reconstruction.numbers import judged
from tacita.risk.release.reconstruction.sizes import MOST_MEMBERS, disclosed_at_least

SCALES = {"modified OECD scale": (0.5, 0.3), "Oxford scale": (0.7, 0.5)}
"""Equivalence scales: what further adults and children add to the 1 of the first."""
MOST_ADULTS, MOST_CHILDREN = 9, 9
LEAST_IN_GROUP = 2
"""Records that groups have on average, of which totals and means are looked for."""


def household_leaks(files: Files, variables: Sequence[Protected]) -> Iterator[Leak]:
    """Leaks by counting, by adding up and by taking from totals, within groups of an identifier."""
    identifiers = list(_identifiers(files))
    for protected in variables:
        if protected.numbers is None:
            continue
        yield from _leaks_by_equivalence_scale(files, protected)
        for name in identifiers:
            if name == protected.name:
                continue
            yield from _leaks_by_count(files, protected, name)
            yield from _leaks_by_sums(files, protected, name)
            yield from _leaks_by_one_member(files, protected, name)
        yield from _leaks_by_group_totals(files, protected)


def _identifiers(files: Files) -> Iterator[str]:
    """The household identifier, and columns that look like one: whole numbers or texts, a few records each."""
    for name in files.columns:
        different = files.distinct(name)
        few = len(files) / 12 < different < 0.95 * len(files) and len(files) >= 20
        numbers = files.numbers(name)
        whole = numbers is None or not (np.nan_to_num(numbers) % 1 != 0).any()
        if name == files.household or (few and whole):
            yield name


def _leaks_by_count(files: Files, protected: Protected, name: str) -> Iterator[Leak]:
    count = members(files, name)
    known, how = judged(protected, count, tried=1), f"the number of records with the same {name!r}"
    if known is None:
        known, how = disclosed_at_least(protected, count), f"{how}, as the least that it can be"
    if known is not None:
        repair = f"remove {name!r}, or split large households under new identifiers{or_kept(protected)}"
        yield leak(protected, "household", (name,), how, repair, *known)


def _leaks_by_sums(files: Files, protected: Protected, name: str) -> Iterator[Leak]:
    """The total of the members' values of a column, and a total without what the others have."""
    codes = files.codes(name)
    assert codes is not None
    columns = [each for each in files.columns if each not in (name, protected.name)]
    for each in columns:
        y = files.numbers(each)
        if y is None or (files.distinct(each) < 3):
            continue
        for how, guess in (
            (f"the sum of {each!r} over the records with the same {name!r}", group_sum(codes, y)),
            (
                f"{each!r} less what the other records with the same {name!r} have",
                _total_less_others(codes, y, protected),
            ),
        ):
            known = judged(protected, guess, tried=2 * len(columns))
            if known is not None:
                repair = f"suppress {each!r} in the same households, or remove it"
                yield leak(protected, "household", (name, each), how, repair, *known)


def group_sum(codes: Ints, y: Floats) -> Floats:
    """By row: the sum over its group; NaN where a member's value is missing, or the row has no group."""
    missing = np.bincount(codes, np.isnan(y))[codes] > 0
    total = np.bincount(codes, np.nan_to_num(y))[codes]
    return np.where(missing | (codes == 0), np.nan, total)


def _leaks_by_one_member(files: Files, protected: Protected, group: str) -> Iterator[Leak]:
    """The value of one member in the records of all, as the age of the head: his, who alone is of its class."""
    columns = [
        each for each in files.columns if each not in (group, protected.name) and files.numbers(each) is not None
    ]
    for name in columns:
        if _is_constant(files, group, name):
            known = judged(protected, _of_the_only_member(files, protected, group, name), tried=len(columns))
            if known is not None:
                how = f"{name!r}, of the one record with the same {group!r} that is released in its class"
                repair = f"recode {name!r} into the same classes, or remove it"
                yield leak(protected, "household", (group, name), how, repair, *known)


def _of_the_only_member(files: Files, protected: Protected, group: str, name: str) -> Floats:
    """By row: the number that all of a group have, where no other record of it is released in the class of that."""
    y, codes = files.numbers(name), files.codes(group)
    assert y is not None and codes is not None and protected.numbers is not None
    there = protected.rows[~np.isnan(protected.numbers[protected.rows]) & (protected.shown[protected.rows] > 0)]
    numbers, first = np.unique(protected.numbers[there], return_index=True)
    if not len(numbers):
        return np.full(len(y), np.nan)
    place = np.searchsorted(numbers, y).clip(0, len(numbers) - 1)
    its_class = np.where(numbers[place] == y, protected.shown[there[first]][place], 0)
    of_class = (its_class > 0) & (its_class == protected.shown) & (codes > 0)
    alone = np.bincount(codes, of_class, minlength=int(codes.max(initial=0)) + 1)[codes] == 1
    return np.where(of_class & alone, y, np.nan)


def _leaks_by_group_totals(files: Files, protected: Protected) -> Iterator[Leak]:
    """What a total or a mean of a region, or of any other group, leaves for the one record that is not shown."""
    if protected.released_numbers is None or not len(protected.true_rows):
        return
    pairs = [pair for pair in _constant_in_groups(files) if protected.name not in pair]
    for group, name in pairs:
        codes, y = files.codes(group), files.numbers(name)
        assert codes is not None and y is not None
        for what, total in (("the total", y), ("the mean", y * np.bincount(codes)[codes])):
            rounding = 0.5 * files.unit(name)
            slack = rounding * (np.bincount(codes)[codes].astype(np.float64) if what == "the mean" else 1.0)
            known = judged(protected, _total_less_others(codes, total, protected), 2 * len(pairs), slack)
            if known is not None:
                how = f"{name!r} as {what} of the records with the same {group!r}, less what the others show"
                repair = f"suppress it for two records of each {group!r}, or remove {name!r}"
                yield leak(protected, "household", (group, name), how, repair, *known)


def _constant_in_groups(files: Files) -> list[tuple[str, str]]:
    """Columns of groups, and numbers that are the same within each of them, worked out once."""
    if "constant in groups" not in files.memory:
        found = []
        for group in files.columns:
            if 2 <= files.distinct(group) <= len(files) / LEAST_IN_GROUP:
                names = [each for each in files.columns if each != group and files.numbers(each) is not None]
                found += [(group, each) for each in names if _is_constant(files, group, each)]
        files.memory["constant in groups"] = found
    pairs: list[tuple[str, str]] = files.memory["constant in groups"]
    return pairs


def _is_constant(files: Files, group: str, name: str) -> bool:
    """Whether all records of a group have one number of a column, and the groups do not all have the same."""
    codes, values = files.codes(group), files.codes(name)
    assert codes is not None and values is not None
    if not 2 <= files.distinct(name) <= files.distinct(group):
        return False
    last = np.zeros(files.distinct(group) + 1, dtype=np.int64)
    last[codes] = values
    return bool((last[codes] == values)[codes > 0].all())


def _total_less_others(codes: Ints, total: Floats, protected: Protected) -> Floats:
    """By row: a household's total less what its other members show; NaN unless all of them show it."""
    nothing = np.full(len(codes), np.nan)
    if protected.released_numbers is None:
        return nothing
    # A value that was coded at the top is known to be one, and stands for nothing.
    shown = np.where(protected.is_protected, np.nan, protected.released_numbers)
    hidden = np.isnan(shown)
    blanks = np.bincount(codes, hidden)[codes] - hidden
    others = np.bincount(codes, np.nan_to_num(shown))[codes] - np.nan_to_num(shown)
    return np.where((blanks > 0) | (codes == 0), np.nan, total - others)


def _leaks_by_equivalence_scale(files: Files, protected: Protected) -> Iterator[Leak]:
    """Household size from an equivalence scale."""
    for name in files.columns:
        y = files.numbers(name)
        if name == protected.name or y is None:
            continue
        there = y[~np.isnan(y)]
        if not len(there) or there.min() < 1 or len(np.unique(there)) > MOST_ADULTS * MOST_CHILDREN:
            continue
        found = []
        for scale, (adult, child) in SCALES.items():
            known = judged(protected, sizes_of_scale(y, adult, child), tried=len(files.columns) * len(SCALES))
            if known is not None:
                repair = f"remove {name!r} or code it with {protected.name!r}"
                found.append(leak(protected, "household", (name,), f"the {scale}, {name!r}", repair, *known))
        if found:
            yield max(found, key=lambda each: each.right - each.wrong)


def sizes_of_scale(y: Floats, adult: float, child: float) -> Floats:
    """By row: members of a household with this value of an equivalence scale; the fewest where several could be."""
    sizes: dict[int, int] = {}
    for adults in range(MOST_ADULTS + 1):
        for children in range(MOST_CHILDREN + 1):
            value = round(10 * (1 + adult * adults + child * children))
            sizes[value] = min(sizes.get(value, MOST_MEMBERS), 1 + adults + children)
    lookup = np.full(max(sizes) + 1, np.nan)
    lookup[list(sizes)] = list(sizes.values())
    tenths = np.round(10 * np.nan_to_num(y))
    fits = ~np.isnan(y) & (np.abs(10 * np.nan_to_num(y) - tenths) < 1e-6) & (tenths >= 0) & (tenths < len(lookup))
    return np.where(fits, lookup[np.where(fits, tenths, 0).astype(np.int64)], np.nan)
