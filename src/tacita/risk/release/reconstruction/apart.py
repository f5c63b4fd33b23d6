"""Columns of a file on an engine whose combinations with all others do not fit memory: looked at alone and in pairs.

Each pair is grouped with the protected variables by itself. Which cells two pairs tell both nobody knows then: of all
of them together at least as many are given back as by the most telling one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from tacita.data import Data
from tacita.distance.truth import shared_records
from tacita.progress import Progress
from tacita.risk.release.reconstruction.cells import Files, Protected, protected_variables
from tacita.risk.release.reconstruction.columns import MOST_TELLING, column_leaks
from tacita.risk.release.reconstruction.copies import copy_leaks
from tacita.risk.release.reconstruction.leak import Leak


def leaks_apart(files: Files, variables: Sequence[Protected], progress: Progress) -> list[Leak]:
    """Leaks by columns that are not in the rows, alone and in pairs with each other and with columns that are."""
    apart = None if files.released.condensed is None else files.released.condensed.apart
    if apart is None or not variables:
        return []
    names, columns = [each.name for each in variables], apart.columns
    beside = [name for name in files.columns if name not in names]
    sets = [*((name,) for name in columns), *combinations(columns, 2), *((a, b) for a in columns for b in beside)]
    size = len(columns) + len(files.columns)
    tried = size + comb(size, 2) + comb(min(size, MOST_TELLING), 3)
    found: dict[tuple[str, tuple[str, ...]], Leak] = {}
    for at, chosen in enumerate(sets):
        progress(at / len(sets), "columns looked at apart")
        for each in _of_columns(apart, names, chosen, tried):
            found.setdefault((each.variable, each.columns), replace(each, apart=True))
    return list(found.values())


def _of_columns(apart: Any, names: Sequence[str], chosen: Sequence[str], tried: int) -> Iterator[Leak]:
    """Leaks by some columns, of all protected variables together, or where these do not fit one by one."""
    together = apart.beside([*names, *chosen])
    if together is not None:
        yield from _of_rows(together, names, chosen, tried)
        return
    for name in names:
        rows = apart.beside([name, *chosen])
        if rows is not None:
            yield from _of_rows(rows, [name], chosen, tried)


def _of_rows(rows: tuple[Data, Data], names: Sequence[str], chosen: Sequence[str], tried: int) -> Iterator[Leak]:
    was, now, _ = shared_records(*rows, None)
    files = Files(rows[0].take(was), rows[1].take(now), was, now, len(rows[1]), None)
    variables = tuple(protected_variables(files, names))
    remaining = {each.name: np.ones(len(each), dtype=np.bool_) for each in variables}
    leaks = [*copy_leaks(files, variables), *column_leaks(files, variables, remaining, threes="none", tried=tried)]
    yield from (each for each in leaks if set(each.columns) & set(chosen))
