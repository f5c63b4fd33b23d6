"""The codebook beside a file: what a format such as CSV has no room for, and what of it is read back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from tacita import frame
from tacita.data.data import Data
from tacita.data.formats import text
from tacita.data.variable import Variable

NAME = "codebook.csv"
COLUMNS = ("variable", "label", "scale", "perturbed", "value", "value_label")
YES = "yes"
MOST_CATEGORIES = 60
"""Of a variable with more categories a codebook lists those that have a label."""


def codebook(data: Data) -> frame.Frame:
    """One row per variable, labelled code and category: its label and scale, and whether its values were perturbed.

    >>> import polars as pl
    >>> people = Data.of(pl.DataFrame({"sex": ["f", "m"], "income": [10.5, 20.1]})).with_perturbed(["income"])
    >>> codebook(people)["variable", "perturbed"].unique(maintain_order=True).rows()
    [('sex', ''), ('income', 'yes')]
    """
    rows: list[tuple[str, ...]] = []
    noted = with_noted_weight(data)
    for name in data.columns:
        known = noted.variable(name)
        said = (name, known.label, data.scale(name), YES if known.perturbed else "")
        rows.append((*said, "", ""))
        labels = {str(code): label for code, label in known.value_labels.items()}
        rows += [(*said, value, labels.get(value, "")) for value in dict.fromkeys([*labels, *_categories(noted, name)])]
    return frame.rows(dict.fromkeys(COLUMNS, str), rows)


def _categories(data: Data, name: str) -> tuple[str, ...]:
    """The categories of a variable, in their order; of numbers, and where there are very many, none."""
    if data.scale(name) == "numeric":
        return ()
    values = frame.coded(data.table, name).values
    if len(values) > MOST_CATEGORIES:
        return ()
    return tuple(str(values[at]) for at in in_their_order(data.variable(name), values))


def in_their_order(known: Variable, values: tuple[Any, ...]) -> list[int]:
    """Places of the values of a variable in the declared order of its categories, as `<15` before `15-29`."""
    place_of = {value: at for at, value in enumerate(known.order)}
    return sorted(range(len(values)), key=lambda at: (place_of.get(values[at], len(place_of)), at))


def with_noted_weight(data: Data) -> Data:
    """The data with a weight that a step changed called perturbed.

    A file has no room for the weights as they were. Whoever assesses it alone must not take those that it shows for
    them: a weight of 1 rounded to 100 would hide a firm among a hundred.
    """
    was = data.original_weights
    if was is None or was.name is None or was.name not in data.columns:
        return data
    same = np.array_equal(data.numbers(was.name), was.values, equal_nan=True)
    return data if same else data.with_perturbed([was.name])


def beside(file: Path) -> frame.Frame | None:
    """The codebook in the folder of a file; None where there is none, or for the codebook itself.

    Only a table with the columns of `codebook` counts: another program's file of that name says nothing.
    """
    if file.name == NAME:
        return None
    try:
        table = text.parse(
            (file.parent / NAME).read_bytes(), NAME, encoding=None, delimiter=",", decimal=".", missing=[]
        )
    except (OSError, ValueError):
        return None
    return table if {"variable", "perturbed"} <= set(table.columns) else None


def perturbed_in(table: frame.Frame, names: Collection[str]) -> list[str]:
    """The variables that a codebook says were perturbed."""
    said = {str(name) for name, was in table["variable", "perturbed"].rows() if was == YES}
    return [name for name in names if name in said]
