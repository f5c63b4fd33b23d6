"""Files on an engine: what rows that stand for many records cannot be attacked with is tried on a sample of records.

Rows have columns of few values, alone, in pairs and in threes; housemates, the order of rows, arithmetic and columns of
many values need single records. The sample is runs of records in which protected cells are, for each variable its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.progress import Progress
from tacita.risk.release.reconstruction.attacks import attacked, files_of
from tacita.risk.release.reconstruction.cells import Files, Protected, protected_variables
from tacita.risk.release.reconstruction.close_columns import close_columns
from tacita.risk.release.reconstruction.finer import beside_another_key, finer_columns, narrowing_columns
from tacita.risk.release.reconstruction.identifiers import declared_identifiers
from tacita.risk.release.reconstruction.leak import Leak
from tacita.scenario import Scenario

ENOUGH = 20
"""Protected cells that the sample must have of a variable, or all that there are."""
NOT_TRIED = (
    "on an engine columns are tried, alone, in pairs and in threes, and copies: arithmetic, relations, households and "
    "the order of rows need single records, of which no sample could be drawn; try them on one in memory"
)
"""Why that nothing is given back says little of a file on an engine."""


class OfSample(NamedTuple):
    """What a sample of records says beyond the rows."""

    leaks: tuple[Leak, ...] = ()
    not_tried: str = ""
    """Why that nothing is given back says little; empty where it says that."""
    cautions: tuple[str, ...] = ()


def leaks_of_sample(files: Files, variables: Sequence[Protected], threes: str, progress: Progress) -> OfSample:
    """Leaks by what only single records have; of each at least so many cells are given back."""
    if files.repeats is None:
        return OfSample()
    condensed = files.released.condensed
    apart, names = None if condensed is None else condensed.apart, [each.name for each in variables]
    pair = None if apart is None else apart.sampled(names, files.original.columns)
    if apart is None or pair is None:
        return OfSample(not_tried=NOT_TRIED)
    if not len(pair.released):
        return OfSample()  # No cell differs.
    few = files_of(pair.original, pair.released, apart.scenario)
    chosen = tuple(protected_variables(few, None))
    remaining = {each.name: np.ones(len(each), dtype=np.bool_) for each in chosen}
    found, cautions = attacked(few, chosen, remaining, threes=threes, progress=progress)
    looked_at = {*files.columns, *apart.columns, *names}
    leaks = [each for each in found if not _tried_on_rows(each, looked_at)]
    cells = {each.name: len(each) for each in chosen}
    if any(cells.get(each.name, 0) < min(ENOUGH, each.size) for each in variables):
        return OfSample(not_tried=NOT_TRIED)
    why = _others_told([each for each in leaks if each.variable not in names])
    why = why or _told_finely(_telling(few, chosen, apart.scenario) - looked_at)
    of_rows = tuple(replace(each, apart=True) for each in leaks if each.variable in names)
    said = _looked_for(len(few), sum(cells.values())) if variables else []
    return OfSample(of_rows, why, (*said, *cautions))


def _looked_for(records: int, cells: int) -> list[str]:
    return [
        f"what tells protected cells was looked for in all records by columns of up to a thousand values, alone, in "
        f"pairs and in threes; households, the order of rows, arithmetic and columns of more values were tried on "
        f"{check.counted(records, 'record')} with {check.counted(cells, 'protected cell')}: what tells only a few "
        f"cells of all may have been missed."
    ]


def _others_told(leaks: Sequence[Leak]) -> str:
    """Why nothing given back of the rows is not all: variables that they do not have are told in the sample."""
    told = dict.fromkeys(each.variable for each in leaks if each.right)
    if not told:
        return ""
    return (
        f"in a sample of the records cells of {check.quoted(tuple(told), most=8)} are given back, whose values are too "
        f"many for an engine; recode into classes, or measure a sample of the records of both files in memory"
    )


def _told_finely(columns: set[str]) -> str:
    """Why nothing given back is not all: columns that the rows do not have tell merged values apart in the sample."""
    if not columns:
        return ""
    several = len(columns) > 1
    return (
        f"in a sample of the records {check.quoted(sorted(columns), most=8)} {'tell' if several else 'tells'} original "
        f"values more finely than the release does; remove {'them' if several else 'it'}, or recode into classes"
    )


def _tried_on_rows(leak: Leak, looked_at: set[str]) -> bool:
    """Whether it is one of those that the rows are attacked with, by columns that they have."""
    return leak.kind in ("columns", "copy") and looked_at.issuperset(leak.columns)


def _telling(files: Files, variables: Sequence[Protected], scenario: Scenario) -> set[str]:
    """Columns that tell merged or suppressed values of a key apart, or a number within its class."""
    keys, aside = scenario.all_keys, declared_identifiers(files, scenario)
    variables = [each for each in variables if each.name in keys]
    finer = finer_columns(files, variables, keys, aside)
    narrowed = narrowing_columns(files, variables, keys, aside)
    beside = beside_another_key(files, variables, keys, aside, finer)
    split = [*finer.values(), *narrowed.values(), *beside.values()]
    told = {name for each in split for name in each.columns}
    close = close_columns(files, variables, keys, aside, finer)
    return told | {name for columns in close.values() for name in columns}
