"""Targeted record swapping on arrays: which household changes places with which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.keys.source import combined
from tacita.progress import Progress, no_progress


class Problem(NamedTuple):
    """Households, and what decides who swaps with whom."""

    area: Ints
    """By level, the highest first, and household: the area it lives in, within the areas of higher levels."""
    profile: Ints
    """By profile and household: households of the same number are similar."""
    risk: Floats
    """By level and household: its risk, by which donors and further households are drawn."""
    must: Bools
    """By level and household: whether its risk there is too high."""
    free: Bools
    """By household: whether it may be swapped."""
    quota: Ints
    """By area of the lowest level: how many swaps it should start, those of households that must swap included."""
    asking: Floats
    """By level and household: a draw that decides who asks for a donor first."""
    giving: Floats
    """By level and household: a draw that decides who is a donor first."""


class Swaps(NamedTuple):
    """Who swapped with whom."""

    partner: Ints
    """By household: the one it changes places with, itself if it stays."""
    level: Ints
    """By household: the level across which it swapped, -1 if it stays; the number of levels if it filled a quota."""
    profile: Ints
    """By household: the profile in which it equals its partner, -1 if it stays."""
    first: Ints
    """By household: the highest level at which it had to swap, the number of levels if it had not."""
    without_donor: Ints
    """By level: households that had to swap, and found no donor there."""


class Lines(NamedTuple):
    """Households of each profile in a line, by profile and position or household; see `first_donor`."""

    line: Ints
    stop: Ints
    cell: Ints
    reached: Ints
    skip: Ints


def smallest_counts(key: Ints, area: Ints, unit: Ints, units: int) -> Ints:
    """By household the least number of persons who have the same key as one of its members and live in its area."""
    both = combined((key, area), (int(key.max(initial=0)) + 1, int(area.max(initial=0)) + 1), len(key))
    _, group, counts = np.unique(both, return_inverse=True, return_counts=True)
    smallest = np.full(units, np.iinfo(np.int64).max)
    np.minimum.at(smallest, unit, counts[group])
    return smallest


def drawing_order(risk: Floats, uniform: Floats) -> Ints:
    """Households in the order in which they are drawn, without replacement, with probability proportional to risk.

    Ordered by -log(u)/risk (Efraimidis and Spirakis 2006), an exponential waiting time: the first of any set of
    households is one of them with probability proportional to its risk, whoever was drawn before.
    """
    with np.errstate(divide="ignore"):
        return np.argsort(-np.log(uniform) / risk, kind="stable")


def lines_of(profile: Ints, area: Ints, order: Ints) -> Lines:
    """Households of the same profile in a line, in the order given."""
    count = len(area)
    made = Lines(*(np.empty(profile.shape, dtype=np.int64) for _ in range(5)))
    for number, codes in enumerate(profile):
        line = order[np.argsort(codes[order], kind="stable")]
        ends = np.cumsum(np.bincount(codes))
        pairs = combined((codes, area), (len(ends), int(area.max(initial=0)) + 1), count)
        _, one, cell = np.unique(pairs, return_index=True, return_inverse=True)
        made.line[number], made.stop[number], made.cell[number] = line, ends[codes], cell
        made.reached[number, : len(one)] = np.append(0, ends)[codes[one]]
        made.skip[number] = np.arange(1, count + 1)
    return made


def household_swaps(given: Problem, progress: Progress = no_progress) -> Swaps:
    """Who changes places with whom.

    From the highest level down, each household that must swap there, or found no donor further up, takes the first
    donor drawn who is still free, lives in another area of that level and equals it in the first profile, else the
    second, ... At the lowest level further households, drawn likewise, swap until each area has started its quota.
    """
    from tacita.protect.swap.household_loops import swap_with_donors  # Numba is loaded by those who swap

    levels, count = given.area.shape
    first = np.where(given.must.any(axis=0), given.must.argmax(axis=0), levels)
    free, quota, partner = given.free.copy(), given.quota.copy(), np.arange(count)
    matched, level, without = (np.full(size, -1, dtype=np.int64) for size in (count, count, levels))
    for here in range(levels):
        progress(here / levels, "swapping households")
        order = drawing_order(given.risk[here], given.asking[here])
        # Another draw: whoever asks late would be a donor late, and households at risk would hardly ever be donors.
        donors = drawing_order(given.risk[here], given.giving[here])
        lines = lines_of(given.profile, given.area[here], donors)
        shared = (quota, given.area[-1], given.area[here], *lines, free, partner, matched)
        asking = order[free[order] & (first[order] <= here)]
        swap_with_donors(asking, *shared, False)
        level[(partner != np.arange(count)) & (level < 0)] = here
        without[here] = int(free[asking].sum())
        if here == levels - 1:
            swap_with_donors(order, *shared, True)
            level[(partner != np.arange(count)) & (level < 0)] = levels
    return Swaps(partner, level, matched, first, without)
