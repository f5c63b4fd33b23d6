"""Which original values each released class covers, learnt from the records of both files.

Codes are 1, 2, ... with 0 for missing; what a class loses is the share of the variable that it covers, 0 for a single
value and 1 for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.repeats import counts, distinct, how_many, some

RULE = 30
"""So many records changed by one rule without an exception are no accident: the values were recoded, not perturbed."""


class Covered(NamedTuple):
    """By released code, from 0 for missing: which original codes stand behind it."""

    many: Ints
    """How many."""
    low: Ints
    """The least of them."""
    high: Ints
    """The greatest."""
    unknown: Bools
    """Whether it stands for one value alone that has another name too: then the files do not show what it covers."""


def pairs_of_codes(x: Ints, y: Ints, repeats: Ints | None = None) -> tuple[Ints, Ints, Ints]:
    """The different pairs of an original and a released code, in the order of the released one, and their records.

    >>> [each.tolist() for each in pairs_of_codes(np.array([1, 2, 2, 0]), np.array([1, 1, 1, 2]))]
    [[1, 2], [1, 1], [1, 2]]
    """
    shown = (x > 0) & (y > 0)
    span = int(x.max(initial=0)) + 1
    numbers = y[shown] * span + x[shown]
    size = span * (int(y.max(initial=0)) + 1)
    if size < max(1 << 20, len(x)):
        # Few categories: counting is faster than sorting.
        table = counts(numbers, some(repeats, shown), size)
        different = np.flatnonzero(table)
        records = table[different]
    else:
        different, records = distinct(numbers, some(repeats, shown))
    return different % span, different // span, records


def covered(x: Ints, y: Ints, repeats: Ints | None = None) -> Covered:
    """Which original codes stand behind each released code.

    >>> found = covered(np.array([1, 2, 3, 3]), np.array([1, 1, 2, 3]))
    >>> found.many.tolist(), found.unknown.tolist()
    ([0, 2, 1, 1], [False, False, False, True])
    """
    px, py, records = pairs_of_codes(x, y, repeats)
    size = int(y.max(initial=0)) + 1
    count = np.bincount(py, minlength=size)
    low, high = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    low[py[::-1]], high[py] = px[::-1], px
    alone = np.flatnonzero(count[py] == 1)
    # Of several names of one value the most frequent is its own.
    order = alone[np.lexsort((py[alone], -records[alone], px[alone]))]
    again = np.zeros(len(order), dtype=np.bool_)
    again[1:] = px[order[1:]] == px[order[:-1]]
    unknown = np.zeros(size, dtype=np.bool_)
    unknown[py[order[again]]] = True
    return Covered(count, low, high, unknown)


def class_losses(
    x: Ints, y: Ints, positions: Floats | None = None, whole: float = 0.0, repeats: Ints | None = None
) -> Floats:
    """By record: the share of the variable that its released class covers.

    Without `positions` the categories that it covers, (m_b - 1)/(m - 1); with the position of each original code (from
    code 1 on) the span from the least to the greatest, over `whole`. Suppressed, or a value where there was none: 1.

    >>> class_losses(np.array([1, 2, 3, 0]), np.array([1, 1, 2, 0])).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    found = covered(x, y, repeats)
    if positions is None:
        share = np.maximum(found.many - 1, 0) / max(int(x.max(initial=0)) - 1, 1)
    else:
        at = np.concatenate([[0.0], positions])
        share = (at[found.high] - at[found.low]) / (whole or 1.0)
    loss = np.where(found.unknown, 1.0, np.minimum(share, 1.0))[y]
    return np.where((x == 0) & (y == 0), 0.0, np.where((x == 0) | (y == 0), 1.0, loss))


def follows_rule(x: Ints, y: Ints, *, ordered: bool, repeats: Ints | None = None) -> bool:
    """Whether values were recoded by one rule: the same original value always gives the same released one, some share
    one, and enough records changed. The codes mean the same in both.

    Ordered values keep their order; others are left alone where they give others their name.

    >>> ages = np.arange(1, 61)
    >>> follows_rule(ages, (ages + 9) // 10 * 10, ordered=True), follows_rule(ages, ages[::-1], ordered=True)
    (True, False)
    """
    if how_many((x != y) & (x > 0) & (y > 0), repeats) < RULE:
        return False
    px, py, _ = pairs_of_codes(x, y)
    order = np.argsort(px, kind="stable")
    px, py = px[order], py[order]
    names = np.unique(py)
    if (px[1:] == px[:-1]).any() or (len(names) == len(px) and np.isin(names, px).any()):
        return False
    if ordered:
        return len(names) < len(px) and bool((np.diff(py) >= 0).all())
    taken = np.isin(px, names)
    return bool((py[taken] == px[taken]).all())
