"""Leaks of suppressed cells alone: by what blanking further cells repairs, or by everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.data import Data
from tacita.progress import Progress, part
from tacita.risk.release.reconstruction.attacks import attacked, files_of
from tacita.risk.release.reconstruction.cells import protected_variables
from tacita.risk.release.reconstruction.columns import column_leaks
from tacita.risk.release.reconstruction.copies import copy_leaks
from tacita.risk.release.reconstruction.housemates import housemate_leaks
from tacita.risk.release.reconstruction.leak import Leak
from tacita.scenario import Scenario


def leaks_of_suppressed(
    original: Data,
    released: Data,
    scenario: Scenario,
    names: tuple[str, ...],
    aside: frozenset[str],
    threes: bool,
    touched: Bools | None,
    progress: Progress,
) -> Iterator[tuple[Leak, Ints]]:
    """Leaks of suppressed cells of some columns, and the rows of those given back, were the columns `aside` not there.

    The order of rows, sums and functions are left out: what they give back, blanking other cells does not protect.
    Rules are trusted as if all columns and threes were searched. Where `touched` says in which rows something was
    blanked since the file was last searched, sets of columns are looked at that tell a cell there.
    """
    files = files_of(original, released, scenario)
    variables = [each.suppressed_only for each in protected_variables(files, names) if each.suppressed.any()]
    rows_of = {each.name: each.rows for each in variables}
    remaining = {each.name: np.ones(len(each), dtype=np.bool_) for each in variables}
    found = [leak for leak in copy_leaks(files, variables) if not aside & set(leak.columns)]
    for leak in found:
        remaining[leak.variable][leak.right_cells] = False
    largest, searching = 3 if threes else 2, part(progress, 0.1, 0.9)
    late = None if touched is None else touched[files.released_rows]
    found += column_leaks(files, variables, remaining, largest=largest, aside=aside, touched=late, progress=searching)
    found += housemate_leaks(files, variables, remaining)
    for leak in found:
        if not aside & set(leak.columns):
            yield leak, files.released_rows[rows_of[leak.variable][leak.right_cells]]


def every_leak_of_suppressed(
    original: Data, released: Data, scenario: Scenario, names: tuple[str, ...], progress: Progress
) -> Iterator[tuple[Leak, Ints]]:
    """Leaks that an assessment finds of the suppressed cells of some columns, and the rows of those given back."""
    files = files_of(original, released, scenario)
    variables = [each.suppressed_only for each in protected_variables(files, names) if each.suppressed.any()]
    rows_of = {each.name: each.rows for each in variables}
    remaining = {each.name: np.ones(len(each), dtype=np.bool_) for each in variables}
    found, _ = attacked(files, variables, remaining, progress=progress)
    for leak in sorted(found, key=lambda each: (-each.right, len(each.columns))):
        yield leak, files.released_rows[rows_of[leak.variable][leak.right_cells]]
