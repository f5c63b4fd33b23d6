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

from tacita.arrays import Bools, Floats, Ints
from tacita.random import Draws
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.finer import FinerColumns

WINDOW = 10
"""Records next to each other by a column, of the same released class."""
NARROW = 0.45
"""Their originals lie in this part of the class, by rank, where the column tells them more finely."""
MOSTLY = 0.5
"""Of such windows, the share that must be narrow; this much more than if the column said nothing."""
LEAST_WINDOWS = 30
"""Windows there must be: who has a value in the column may be few."""
FEW_RECORDS, GOES_WITH = 20, 0.9
"""Where there are fewer windows: so many records beyond one of each class, and the rank correlation within classes from
which on it is told."""
MOST_RECORDS = 20_000
"""Records of a column that are looked at; of more, some."""
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
    """By recoded or removed number: released columns from which it follows to within half of its class.

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
    "the key 'age' is recoded or removed, but 'born' tells it to within half of its classes"
    """
    named = " and ".join(map(repr, columns[:3])) + (f" and {len(columns) - 3:,} more" if len(columns) > 3 else "")
    tell, it = ("tells", "it") if len(columns) == 1 else ("each tell", "them")
    return (
        f"the key {key!r} is recoded or removed, but {named} {tell} it to within half of its classes; recode or "
        f"remove {it} alike, or name {it} among the keys"
    )


def _ranked(files: Files, protected: Protected, finer: FinerColumns | None) -> Ranked:
    """The protected records with a number, but for those whose cell alone is missing."""
    assert protected.numbers is not None
    usable = ~np.isnan(protected.numbers[protected.rows])
    rows = protected.rows[usable if protected.removed else usable & ~protected.suppressed]
    rows = rows[np.argsort(Draws(SEED).bits(files.released.record[rows]))]
    released = np.zeros(len(rows), dtype=np.int64) if protected.removed else protected.shown[rows]
    if finer is not None:
        told = np.column_stack([released, finer.classes[files.released_rows[rows]]])
        released = np.unique(told, axis=0, return_inverse=True)[1].reshape(-1)
    return Ranked(rows, released, _ranks(released, protected.numbers[rows]))


def _ranks(released: Ints, numbers: Floats) -> Floats:
    """By record the rank of its number in its class, from 0 to 1; of equal numbers each has the mean rank.

    >>> _ranks(np.array([7, 7, 7, 2]), np.array([30.0, 20.0, 30.0, 5.0])).tolist()
    [0.75, 0.0, 0.75, 0.0]
    """
    order = np.lexsort((numbers, released))
    of_class, number = released[order], numbers[order]
    begins = np.diff(of_class, prepend=-1) != 0
    first, tie = _runs(begins), _runs(begins | (np.diff(number, prepend=np.nan) != 0))
    rank = np.empty(len(order))
    rank[order] = (tie[0] - first[0] + (tie[1] - 1) / 2) / np.maximum(first[1] - 1, 1)
    return rank


def _runs(begins: Bools) -> tuple[Ints, Ints]:
    """By place: where its run begins, and how long that is."""
    start = np.flatnonzero(begins)
    length = np.diff(np.append(start, len(begins)))
    return np.repeat(start, length), np.repeat(length, length)


def _is_close(ranked: Ranked, column: Floats | None) -> bool:
    """Whether records that are next to each other by a column are so by the protected number, within their class."""
    if column is None:
        return False
    values = column[ranked.rows]
    known = np.flatnonzero(~np.isnan(values))[:MOST_RECORDS]
    if len(known) - len(np.unique(ranked.released[known])) >= FEW_RECORDS and _goes_with(ranked, values, known):
        return True
    # Both sort stably, so that equal values keep their order by chance.
    by_column = _narrow(ranked, known[np.lexsort((values[known], ranked.released[known]))])
    by_chance = _narrow(ranked, known[np.argsort(ranked.released[known], kind="stable")])
    return by_column >= MOSTLY and by_column - by_chance >= MOSTLY / 2


def _goes_with(ranked: Ranked, values: Floats, known: Ints) -> bool:
    """Whether a column that few have rises or falls with the number within the classes."""
    if len(known) > WINDOW * LEAST_WINDOWS:
        return False
    released = ranked.released[known]
    place = np.unique(released, return_inverse=True)[1]
    size = np.bincount(place)
    column, number = (_ranks(released, each[known]) for each in (values, ranked.rank))
    column, number = (each - (np.bincount(place, each) / size)[place] for each in (column, number))
    spread = float(np.sqrt((column**2).sum() * (number**2).sum()))
    return abs(float((column * number).sum())) >= GOES_WITH * spread > 0


def _narrow(ranked: Ranked, order: Ints) -> float:
    """Of windows within a class, in some order, the share in which the original ranks are near each other."""
    if len(order) < WINDOW + LEAST_WINDOWS - 1:
        return 0.0
    released = ranked.released[order]
    same = released[: -WINDOW + 1] == released[WINDOW - 1 :]
    windows = np.lib.stride_tricks.sliding_window_view(ranked.rank[order], WINDOW)[same]
    return float((np.ptp(windows, axis=1) <= NARROW).mean()) if len(windows) >= LEAST_WINDOWS else 0.0
