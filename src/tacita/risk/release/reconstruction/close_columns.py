"""By columns that nearly go with a number: a year of birth beside ages released in tens.

What the intruder has: the original value of a key of somebody he looks for, and a released column from which it
follows to within a year or two: no classes of it, so that nothing can be counted by them, and no cell is given back.
What he gains: of those who share the released class he leaves out all whose column is too far off. A count by the
released key alone is then too high.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.random import Draws
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.finer import FinerColumns

WINDOW = 10
"""Records next to each other by a column, of the same released class."""
NARROW = 1 / 3
"""Their originals lie in this part of the class, by rank, where the column tells them more finely."""
MOSTLY = 0.5
"""Of such windows, the share that must be narrow; this much more than if the column said nothing."""
LEAST_RECORDS, LEAST_SHARE = 50, 0.05
"""Records whose column is not missing, and their share of those protected."""
MOST_RECORDS = 20_000
"""Records that are looked at; of more, some."""
SEED = 20_261
"""Of the draw that puts equal values into an order, and chooses some of many records: the same for every file."""


class Ranked(NamedTuple):
    """Records whose number the release shows as a class, or not at all, in an order that has to do with nothing."""

    rows: Ints
    released: Ints
    """The class that each is released in, or told to be in."""
    rank: Floats
    """The original number as its rank in the class, from 0 to 1."""


def close_columns(
    files: Files,
    variables: Sequence[Protected],
    keys: Collection[str],
    aside: Collection[str],
    finer: Mapping[str, FinerColumns],
) -> dict[str, tuple[str, ...]]:
    """By recoded or removed number: released columns from which it follows to within a third of its class.

    Keys, and classes that are told more finely, are counted with; columns `aside`, such as declared identifiers, are
    not looked at.
    """
    found = {}
    for protected in variables:
        if protected.numbers is None or protected.perturbed_by or not (protected.removed or protected.name in keys):
            continue
        ranked = _ranked(files, protected, finer.get(protected.name))
        names = [name for name in files.columns if name not in keys and name not in aside and name != protected.name]
        close = tuple(name for name in names if _is_close(ranked, files.numbers(name)))
        if close:
            found[protected.name] = close
    return found


def close_text(key: str, columns: Sequence[str]) -> str:
    """What close columns mean for a key, and the way out.

    >>> close_text("age", ["born"]).partition("; ")[0]
    "the key 'age' is recoded or removed, but 'born' tells it to within a third of its classes"
    """
    named = " and ".join(map(repr, columns[:3])) + (f" and {len(columns) - 3:,} more" if len(columns) > 3 else "")
    tell, it = ("tells", "it") if len(columns) == 1 else ("each tell", "them")
    return (
        f"the key {key!r} is recoded or removed, but {named} {tell} it to within a third of its classes; recode or "
        f"remove {it} alike, or name {it} among the keys"
    )


def _ranked(files: Files, protected: Protected, finer: FinerColumns | None) -> Ranked:
    """The protected records with a number, but for those whose cell alone is missing."""
    assert protected.numbers is not None
    usable = ~np.isnan(protected.numbers[protected.rows])
    rows = protected.rows[usable if protected.removed else usable & ~protected.suppressed]
    bits = Draws(SEED).bits(files.released.record[rows])
    kept = np.argsort(bits)[:MOST_RECORDS]
    rows = rows[kept]
    released = np.zeros(len(rows), dtype=np.int64) if protected.removed else protected.shown[rows]
    if finer is not None:
        told = np.column_stack([released, finer.classes[files.released_rows[rows]]])
        released = np.unique(told, axis=0, return_inverse=True)[1].reshape(-1)
    # Of equal numbers each has the mean rank.
    number, at, count = np.unique(
        np.column_stack([released, protected.numbers[rows]]), axis=0, return_inverse=True, return_counts=True
    )
    before = np.cumsum(count) - count
    first = np.searchsorted(number[:, 0], number[:, 0])
    size = np.bincount(released, minlength=1)[number[:, 0].astype(np.int64)] if len(rows) else count
    rank = (before - before[first] + (count - 1) / 2) / np.maximum(size - 1, 1) if len(rows) else np.zeros(0)
    return Ranked(rows, released, rank[at.reshape(-1)])


def _is_close(ranked: Ranked, column: Floats | None) -> bool:
    """Whether records that are next to each other by a column are so by the protected number, within their class."""
    if column is None:
        return False
    values = column[ranked.rows]
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < max(LEAST_RECORDS, LEAST_SHARE * len(values)):
        return False
    # Both sort stably, so that equal values keep their order by chance.
    by_column = _narrow(ranked, known[np.lexsort((values[known], ranked.released[known]))])
    by_chance = _narrow(ranked, known[np.argsort(ranked.released[known], kind="stable")])
    return by_column >= MOSTLY and by_column - by_chance >= MOSTLY / 2


def _narrow(ranked: Ranked, order: Ints) -> float:
    """Of windows within a class, in some order, the share in which the original ranks are near each other."""
    if len(order) < WINDOW:
        return 0.0
    released = ranked.released[order]
    same = released[: -WINDOW + 1] == released[WINDOW - 1 :]
    windows = np.lib.stride_tricks.sliding_window_view(ranked.rank[order], WINDOW)[same]
    return float((np.ptp(windows, axis=1) <= NARROW).mean()) if len(windows) else 0.0
