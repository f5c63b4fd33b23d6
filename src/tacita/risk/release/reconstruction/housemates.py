"""By housemates: what the other members of a household show of a variable, alone or with one other column.

What the intruder has: the household's identifier. What he does: he learns from households that show all of their
members what goes together, and fills a blank from the others: one partner's sex tells that of the other, brothers and
sisters have one citizenship. What he gains: values that differ within a household, and yet follow from one another.
Values that all members share are found with the other columns, the identifier being one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, judged_codes, leak
from tacita.risk.release.reconstruction.tallies import Guesses, guesses, places_of, tally, tally_of_groups


def mates_of(household: Ints, value: Ints) -> Ints:
    """By row: one code for all rows whose housemates show the same values, each as often; blanks count as a value.

    `household` is 0 for those who live with nobody known. Values become numbers whose sums practically never agree.
    """
    number = _spread_over_64_bits(value.astype(np.uint64) + np.uint64(1))
    total = np.zeros(int(household.max(initial=0)) + 1, dtype=np.uint64)
    np.add.at(total, household, number)
    others = np.where(household > 0, total[household] - number, np.uint64(0))
    _, codes = np.unique(others, return_inverse=True)
    return codes.astype(np.int64)


def _spread_over_64_bits(
    values: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Numbers spread over 64 bits (splitmix64)."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def housemate_leaks(files: Files, variables: Sequence[Protected], remaining: dict[str, Bools]) -> Iterator[Leak]:
    """Leaks by what housemates show, of the cells that nothing else gives back."""
    name = files.household
    if name is None or name not in files.columns:
        return
    household = files.codes(name)
    assert household is not None
    columns = [each for each in files.columns if each != name and 1 < files.distinct(each) < len(files)]
    for protected in variables:
        left = remaining[protected.name] & protected.learnable
        if not left.any() or protected.name == name:
            continue
        mates = mates_of(household, protected.shown)
        rows = protected.shown_rows
        found = tally(mates[rows], protected.shown[rows], protected.codes)
        said = guesses(found, mates[protected.rows], protected, 1 + len(columns), whole=True)
        known = _leak(protected, (name,), said, mates, left, 1 + len(columns))
        if known is not None:
            left[known.right_cells] = False
            yield known
        yield from _leaks_with_another_column(files, protected, mates, columns, left)


def _leaks_with_another_column(
    files: Files, protected: Protected, mates: Ints, columns: Sequence[str], left: Bools
) -> Iterator[Leak]:
    """Leaks by what housemates show and one other column of the record itself."""
    cells = protected.rows[left]
    for each in columns:
        codes = files.codes(each)
        if each == protected.name or codes is None or not len(cells):
            continue
        size = files.distinct(each) + 1
        key, place = places_of(mates * size + codes, size * (int(mates.max(initial=0)) + 1))
        found = tally_of_groups(key, place, key[cells], protected)
        said = guesses(found, key[cells], protected, 1 + len(columns), whole=False)
        assert files.household is not None
        known = _leak(protected, (files.household, each), said, key, left, 1 + len(columns))
        if known is not None:
            yield known


def _leak(
    protected: Protected, names: tuple[str, ...], said: Guesses, keys: Ints, left: Bools, tried: int
) -> Leak | None:
    guess = np.zeros(len(protected), dtype=np.int64)
    guess[left] = said.of(keys[protected.rows[left]])
    told = judged_codes(protected, guess, left, tried, lambda: said.wrong_of_true(keys, protected))
    if told is None:
        return None
    how = f"what housemates ({names[0]!r}) show of it" + "".join(f", and {each!r}" for each in names[1:])
    return leak(protected, "housemates", names, how, "suppress it for all members of a household", *told)
