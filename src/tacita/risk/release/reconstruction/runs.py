"""By rows that stand together: members of a household counted without its identifier.

What the intruder has: a file without an identifier of households, in which housemates still stand next to each other,
as in the original or after households were put into random order as a whole. What he does: he takes rows one after the
other that agree in a column that housemates share, such as the weight, for one household, and counts them. What he
gains: the household size that was coded at the top or removed. Where the size is coded as s or more, a run of fewer
than 2s such rows cannot be two households: it is one, whatever else housemates share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, is_trusted, leak
from tacita.risk.release.reconstruction.numbers import judged
from tacita.risk.release.reconstruction.order import REORDER, ROWS
from tacita.risk.release.reconstruction.sizes import is_size, least_sizes


def run_lengths(*columns: Ints) -> Floats:
    """By row: how many rows one after the other, this one among them, agree in all columns.

    >>> run_lengths(np.array([7, 7, 7, 4, 4]), np.array([1, 1, 2, 2, 2])).tolist()
    [2.0, 2.0, 1.0, 2.0, 2.0]
    """
    starts = np.zeros(len(columns[0]), dtype=np.bool_)
    for codes in columns:
        starts |= np.diff(codes, prepend=codes[:1] - 1) != 0
    run = np.cumsum(starts) - 1
    lengths: Floats = np.bincount(run).astype(np.float64)[run]
    return lengths


def single_household_sizes(lengths: Floats, least: Floats) -> Floats:
    """By row: the length of its run where that is one household for certain, NaN elsewhere.

    `least` is the least size of a household that the row can belong to. A run shorter than twice that is one household.

    >>> single_household_sizes(np.array([4.0, 5.0, 6.0, 2.0]), np.array([3.0, 3.0, 3.0, 3.0])).tolist()
    [4.0, 5.0, nan, nan]
    """
    return np.where((lengths >= least) & (lengths < 2 * least), lengths, np.nan)


def run_leaks(files: Files, variables: Sequence[Protected]) -> Iterator[Leak]:
    """The column by which most household sizes are told, where there is no identifier of households."""
    if files.household is not None:
        return
    for protected in variables:
        if not is_size(protected):
            continue
        names = [name for name in files.columns if name != protected.name and files.distinct(name) > 1]
        found = [*_leaks_by_run_lengths(files, protected, names), *_leaks_by_single_households(files, protected, names)]
        if found:
            yield max(found, key=lambda each: each.right)


def _leaks_by_single_households(files: Files, protected: Protected, names: Sequence[str]) -> Iterator[Leak]:
    """Sizes coded at the top, by runs that can only be one household, where sizes that are shown fit their runs."""
    least = least_sizes(protected)
    coded = np.unique(protected.shown[protected.rows])
    shown = protected.shown_rows[~np.isin(protected.shown[protected.shown_rows], coded)]
    shown = shown[least[shown] >= 2]
    of_size = np.isin(protected.shown, coded)
    for name in (*names, None):
        codes = protected.shown if name is None else files.codes(name)
        assert codes is not None
        lengths = run_lengths(codes, protected.shown)
        # Counted by households: rows of one run are right or wrong together. By chance at most every second run fits.
        households, fit, base = 1 / least[shown], lengths[shown] % least[shown] == 0, 0.5
        if not len(shown):
            # No size between one and the coded one is shown: nobody of a larger household stands alone.
            rows = np.flatnonzero(of_size & (least >= 1))
            households, fit = 1 / least[rows], lengths[rows] >= least[rows]
            base = _chance_of_company((codes, protected.shown), rows)
        if not is_trusted(round(households[fit].sum()), round(households.sum()), base, len(names) + 1):
            continue
        known = judged(protected, single_household_sizes(lengths, least), tried=len(names) + 1)
        if known is not None:
            agree = "" if name is None else f"agree in {name!r} and "
            how = f"runs of rows that {agree}are too short for two households"
            used = (ROWS,) if name is None else (ROWS, name)
            yield leak(protected, "order", used, how, REORDER, *known)


def _chance_of_company(columns: Sequence[Ints], rows: Ints) -> float:
    """How often a row would stand next to one that agrees in all columns, if rows were in random order."""
    together = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        together = np.unique(together * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    share = np.bincount(together)[together[rows]] / len(together)
    return float((1.0 - (1.0 - share) ** 2).mean()) if len(rows) else 1.0


def _leaks_by_run_lengths(files: Files, protected: Protected, names: Sequence[str]) -> Iterator[Leak]:
    for name in names:
        codes = files.codes(name)
        assert codes is not None
        known = judged(protected, run_lengths(codes, protected.shown), tried=len(names))
        if known is not None:
            how = f"the number of rows one after the other that agree in {name!r}"
            yield leak(protected, "order", (ROWS, name), how, REORDER, *known)
