"""The codebook of a file on an engine, which counts the values of each variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tacita import frame
from tacita.data import Data, Variable
from tacita.data.codebook import codebook
from tacita.data.description import Description, described
from tacita.data.large_data import LargeData
from tacita.data.stands_for import Condensed
from tacita.engine import expressions
from tacita.frame import files as frame_files
from tacita.progress import Progress

MOST_VALUES = 1000
"""Of a variable with more values, only those that have a label are counted."""


def columns_of(large: LargeData, progress: Progress) -> Iterator[Data]:
    """Each variable as its different values with how many records have them; of very many, one stands for the rest."""
    asked = {f"n_{at}": large.table[name].approx_nunique() for at, name in enumerate(large.columns)}
    found = large.database.collect(large.table.aggregate(**asked), what="counting values").to_pylist()[0]
    for at, name in enumerate(large.columns):
        progress(at / len(large.columns), "counting values")
        few = int(found[f"n_{at}"] or 0) <= MOST_VALUES
        yield _counted(large, name) if few else _many(large, name)


def _counted(large: LargeData, name: str) -> Data:
    return _data(large, name, large.table, large.variables.get(name))


def _many(large: LargeData, name: str) -> Data:
    """The labelled values of a variable that has very many, and one that stands for all others."""
    known = large.variables.get(name) or Variable()
    sample = frame_files.from_arrow(
        large.database.collect(large.table.select(name).distinct().limit(MOST_VALUES), what="looking at values")
    )
    said = [*known.value_labels, *known.missing, *known.not_applicable]
    other = next((each for each in sample[name].drop_nulls().to_list() if each not in said), None)
    # The scale that its many values show, which the few that are left may not.
    scale = known.scale or Data(frame.table({name: sample[name]}), {name: known}).scale(name)
    shown = expressions.with_rest(large.table, name, said, other)
    return _data(large, name, shown, Variable(scale=scale).over(known))


def _data(large: LargeData, name: str, table: Any, known: Variable | None) -> Data:
    counted = expressions.counted(table, [name], expressions.RECORDS)
    rows = frame_files.from_arrow(large.database.collect(counted, what="counting values"))
    rows = frame_files.like(rows, large.like, [name])
    records = rows[expressions.RECORDS].to_numpy().astype(np.int64)
    values = frame.table({name: rows[name]})
    return Data(values, {} if known is None else {name: known}, condensed=Condensed(records))


def large_codebook(columns: Sequence[Data]) -> frame.Frame:
    """The codebook of all variables."""
    return frame.stacked([codebook(each) for each in columns])


def large_description(columns: Sequence[Data], records: int, weight: str | None) -> Description:
    """What the file holds, with counts as they may be published."""
    variables = tuple(each for column in columns for each in described(column).variables)
    return Description(records, variables, weight)
