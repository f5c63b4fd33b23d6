"""The codebook beside a file: what a format such as CSV has no room for, and what of it is read back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tacita import frame
from tacita.data.data import Data
from tacita.data.formats import text

NAME = "codebook.csv"
COLUMNS = ("variable", "label", "scale", "perturbed", "value", "value_label")
YES = "yes"


def codebook(data: Data) -> frame.Frame:
    """One row per variable and labelled code: its label and scale, and whether its values were perturbed.

    >>> import polars as pl
    >>> people = Data.of(pl.DataFrame({"sex": ["f", "m"], "income": [10.5, 20.1]})).with_perturbed(["income"])
    >>> codebook(people)["variable", "perturbed"].rows()
    [('sex', ''), ('income', 'yes')]
    """
    rows: list[tuple[str, ...]] = []
    for name in data.columns:
        known = data.variable(name)
        said = (name, known.label, data.scale(name), YES if known.perturbed else "")
        rows.append((*said, "", ""))
        rows += [(*said, str(code), label) for code, label in known.value_labels.items()]
    return frame.rows(dict.fromkeys(COLUMNS, str), rows)


def perturbed_beside(file: Path, names: Collection[str]) -> list[str]:
    """The variables that the codebook in the folder of a file says were perturbed.

    Only a table with the columns of `codebook` counts: another program's file of that name says nothing.
    """
    if file.name == NAME:
        return []
    try:
        table = text.parse(
            (file.parent / NAME).read_bytes(), NAME, encoding=None, delimiter=",", decimal=".", missing=[]
        )
    except (OSError, ValueError):
        return []
    if not {"variable", "perturbed"} <= set(table.columns):
        return []
    said = {str(name) for name, was in table["variable", "perturbed"].rows() if was == YES}
    return [name for name in names if name in said]
