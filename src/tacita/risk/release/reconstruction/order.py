"""By order: rows, identifiers and numbers that follow the order of a protected variable, and identifiers that are those
of the original.

What the intruder has: the released file as it is sorted, and columns with (nearly) as many values as records, of which
no two rows share one: rules from equal values say nothing there. What he does: he sorts by such a column, or takes the
rows as they come, and fills a blank where the rows before and after it that show a value agree. What he gains: regions
of identifiers that were given region by region, strata of weights that were calibrated, whatever the file is sorted by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, is_trusted, judged_codes, leak
from tacita.risk.release.reconstruction.values import is_number

ROWS = "(order of the rows)"
"""What stands for the order of the rows among columns."""
REORDER = "put the records into random order with RandomOrder()"
"""What repairs what the order of the rows tells."""
SAME_ORDER = 0.99
"""A rank correlation from here on means that rows or an identifier follow a protected variable."""
RAREST_QUARTER, FULLEST_QUARTER = 0.05, 0.5
"""Shares of the records between which each quarter of the range of issued numbers has."""
RANKED = 100_000
"""Records that a rank correlation is taken of, at most."""


def neighbours_agree(position: Ints, value: Ints, cells: Ints) -> tuple[Ints, Ints]:
    """What the shown rows next to each row say where they agree, 0 elsewhere: of the shown rows, and of the cells.

    `position` is by row, `value` by row with 0 where nothing is shown; the first and last have one neighbour.
    """
    shown = np.flatnonzero(value)
    order = shown[np.argsort(position[shown], kind="stable")]
    told = value[order]
    before, after = np.concatenate([told[:1] * 0, told[:-1]]), np.concatenate([told[1:], told[:1] * 0])
    of_shown = np.zeros(len(value), dtype=np.int64)
    of_shown[order] = _agreed_value(before, after)
    place = np.searchsorted(position[order], position[cells])
    padded = np.concatenate([[0], told, [0]])
    return of_shown[shown], _agreed_value(padded[place], padded[place + 1])


def _agreed_value(before: Ints, after: Ints) -> Ints:
    one = np.where(before == 0, after, before)
    return np.where((before == 0) | (after == 0) | (before == after), one, 0)


def order_leaks(files: Files, variables: Sequence[Protected]) -> Iterator[Leak]:
    """Leaks by the order of rows, and by columns of which nearly every record has a value of its own."""
    names = [name for name in files.columns if files.distinct(name) > len(files) / 2]
    for protected in variables:
        if len(protected.shown_rows) < 2 or not protected.learnable.any():
            continue
        for name in [ROWS, *names]:
            if name != protected.name:
                found = _neighbour_leak(files, protected, name, len(names) + 1)
                if found is not None:
                    yield found


def _neighbour_leak(files: Files, protected: Protected, name: str, tried: int) -> Leak | None:
    codes = np.ones(len(files), dtype=np.int64) if name == ROWS else files.codes(name)
    assert codes is not None
    position = np.empty(len(files), dtype=np.int64)
    position[np.argsort(codes, kind="stable")] = np.arange(len(files))
    # A record without a value of the column has no neighbours by it.
    value = np.where(codes > 0, protected.shown, 0)
    of_shown, guess = neighbours_agree(position, value, protected.rows)
    guess = np.where(codes[protected.rows] > 0, guess, 0)
    covered = of_shown > 0
    hits = int((of_shown == value[value > 0])[covered].sum())
    if not is_trusted(hits, int(covered.sum()), float(protected.shares.max()), tried):
        return None
    known = judged_codes(protected, guess, protected.learnable, tried)
    if known is None:
        return None
    what = "the rows before and after it" if name == ROWS else f"the records next to it by {name!r}"
    repair = REORDER if name == ROWS else f"renew {name!r}, coarsen it or remove it"
    return leak(protected, "order", (name,), what, repair, *known)


def order_cautions(files: Files, variables: Sequence[Protected]) -> Iterator[str]:
    """What the order and identifiers reveal besides cells."""
    if len(files) > 2 and bool((np.diff(files.rows) > 0).all()):
        yield (
            "the rows stand in the order of the original: whoever has another file in that order links them; put "
            "the records into random order."
        )
    kept = [name for name in files.columns if _kept_identifier(files, name)]
    if kept:
        listed = ", ".join(map(repr, kept))
        yield (
            f"identifiers are those of the original ({listed}): whoever has an earlier release or a source with them "
            "links the records; give new ones."
        )
    for protected in variables:
        for name in [ROWS, *(each for each in files.columns if is_identifier(files, each))]:
            rank = _rank_correlation(files, protected, name)
            if name != protected.name and rank >= SAME_ORDER:
                what = "the rows follow" if name == ROWS else f"{name!r} follows"
                yield f"{what} the order of {protected.name!r} (rank correlation {rank:.3f}); renew the order."


def is_identifier(files: Files, name: str) -> bool:
    """Whether a column looks like an identifier: no fractions, and most records or households have their own."""
    return not _is_fraction(files, name) and files.distinct(name) > files.size / 5


def _is_fraction(files: Files, name: str) -> bool:
    numbers = files.numbers(name) if is_number(files.released, name) else None
    return numbers is not None and bool((np.nan_to_num(numbers) % 1 != 0).any())


def _kept_identifier(files: Files, name: str) -> bool:
    named = name == files.household or (is_identifier(files, name) and len(files) > 20 and looks_issued(files, name))
    if not named or name not in files.original.columns:
        return False
    from tacita import frame

    return not bool(frame.different(files.original.table[name], files.released.table[name]).any())


def looks_issued(files: Files, name: str) -> bool:
    """Whether values are texts, or whole numbers that come one after the other: measured ones lie apart."""
    numbers = files.numbers(name)
    if numbers is None:
        return True
    there = numbers[~np.isnan(numbers)]
    different = files.distinct(name)
    if different == len(there) or not len(there):
        return different == len(there)
    span = there.max() - there.min()
    # Numbers are issued evenly; what is measured or counted has a centre and tails.
    quarters = np.histogram(there, bins=4)[0] / len(there)
    if quarters.min() < RAREST_QUARTER or quarters.max() > FULLEST_QUARTER:
        return False
    # Months and counts begin with 0; what is issued does where all numbers are used.
    return bool(different > span / 10) and (0.0 not in there or different == span + 1)


def _rank_correlation(files: Files, protected: Protected, name: str) -> float:
    """How far protected cells follow an order, without sign; 0 if few or nearly all are equal."""
    if protected.numbers is None or len(protected) < 20:
        return 0.0
    rows = protected.rows[:RANKED] if len(protected) > RANKED else protected.rows
    x = protected.numbers[rows]
    position = rows.astype(np.float64) if name == ROWS else _positions(files, name)[rows]
    known = ~np.isnan(x)
    if len(np.unique(x[known])) < 20:
        return 0.0
    first, second = _ranks(x[known]), _ranks(position[known])
    return abs(float(np.corrcoef(first, second)[0, 1])) if first.std() * second.std() else 0.0


def _positions(files: Files, name: str) -> Floats:
    codes = files.codes(name)
    assert codes is not None
    return codes.astype(np.float64)


def _ranks(values: NDArray[np.float64]) -> Floats:
    """Mean ranks."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[inverse], dtype=np.float64)
