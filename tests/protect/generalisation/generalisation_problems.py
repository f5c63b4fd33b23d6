"""Small files as the search sees them."""

from collections import Counter

import numpy as np
from slow_generalisation import Small

from tacita.protect.generalise.cells import Cells, Ladder, beside_units, ladder, spread_over
from tacita.protect.generalise.loss import Column, make_loss
from tacita.protect.generalise.requirements import Judge, Requirements
from tacita.protect.generalise.search import Problem
from tacita.risk.attribute.t_closeness import file_shares
from tacita.scenario import MissingRule


def cells_of(small: Small) -> tuple[Cells, np.ndarray]:
    """The distinct keys, and for each record the row of its key."""
    codes = np.array([[0 if value is None else value + 1 for value in row] for row in small.rows], dtype=np.int64)
    distinct, row = np.unique(codes, axis=0, return_inverse=True)
    row = row.ravel()
    sensitive, ones = np.array(small.sensitive, dtype=np.int64), np.ones(len(row), dtype=np.int64)
    asked = (small.distinct_l, small.entropy_l, small.recursive_l, small.t)
    values = [sensitive] if any(limit is not None for limit in asked) else []
    if small.unit is not None:
        values = [*(beside_units(each, np.array(small.unit)) for each in values), np.array(small.unit)]
    spreads = tuple(spread_over(row, each, ones) for each in values)
    return Cells((0,) * codes.shape[1], distinct, np.bincount(row), spreads), row


def ladders_of(small: Small) -> tuple[Ladder, ...]:
    return tuple(ladder(np.array(levels, dtype=np.int64)) for levels in small.groups)


def judge_of(small: Small) -> Judge:
    wanted = Requirements(
        small.k, small.distinct_l, small.entropy_l, small.recursive_l, small.c, small.t, MissingRule(small.rule)
    )
    unit = None if small.unit is None else np.array(small.unit)
    shares = file_shares(np.array(small.sensitive), unit)
    return Judge(wanted, (shares,), (small.ordered,), 0 if unit is None else int(unit.max()) + 1)


def columns_of(small: Small) -> list[Column]:
    """Values that occur nowhere are no values of the file."""
    out = []
    for key, levels in enumerate(small.groups):
        count = Counter(row[key] for row in small.rows)
        counts = np.array([count[value] for value in range(len(levels[0]))], dtype=np.int64)
        out.append(Column(np.array(levels, dtype=np.int64), counts, tuple(range(len(counts))), "nominal"))
    return out


def occurring(small: Small) -> Small:
    """The same file with values numbered as they occur, so that every value has a record."""
    groups, rows = [], [list(row) for row in small.rows]
    for key, levels in enumerate(small.groups):
        present = sorted({row[key] for row in small.rows if row[key] is not None})
        places = {value: place for place, value in enumerate(present)}
        for row in rows:
            row[key] = None if row[key] is None else places[row[key]]
        renumbered = []
        for level in levels:
            seen = {group: place for place, group in enumerate(dict.fromkeys(level[value] for value in present))}
            renumbered.append([seen[level[value]] for value in present])
        groups.append(renumbered)
    return Small(**{**small.__dict__, "rows": [tuple(row) for row in rows], "groups": groups})


def problem_of(small: Small, loss: str, weights: list[float]) -> Problem:
    raw, _ = cells_of(small)
    ladders = ladders_of(small)
    return Problem(
        raw=raw,
        ladders=ladders,
        bottom=(0,) * len(ladders),
        top=small.top,
        judge=judge_of(small),
        loss=make_loss(loss, raw, ladders, columns_of(small), np.array(weights)),
        allowed=small.allowed,
    )
