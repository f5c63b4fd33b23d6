"""What the log says of a synthetic copy: names and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacita import check
from tacita.protect.synthesise.columns import Column
from tacita.protect.synthesise.copula import Copula
from tacita.protect.synthesise.drawing import Copy, File, Models
from tacita.protect.synthesise.replicated import replicated_columns

OWN_VALUES = 0.5
"""A variable with more than this share of records whose category nobody else has is more of a name than a category."""


def copy_figures(file: File, models: Models, copy: Copy, keys: Sequence[Column]) -> dict[str, Any]:
    """Counts of what a copy still reveals of the original."""
    drawn_keys = any(column.name in copy.made for column in keys)
    figures: dict[str, Any] = {
        "replicated_uniques": replicated_columns(file.columns, copy.made),
        "replicated_keys": replicated_columns(keys, copy.made) if drawn_keys else 0,
        "redrawn": copy.redrawn,
        "broken": copy.broken,
        "names": [column.name for column in file.columns if _like_names(column)],
    }
    if not isinstance(models, Copula):
        parts = {each.column.name: [m for m in (each.kinds, each.numbers) if m is not None] for each in models}
        figures["leaves"] = {name: sum(model.tree.leaves for model in found) for name, found in parts.items()}
        numbers = {each.column.name: each.numbers for each in models if each.numbers is not None}
        figures["one_value_leaves"] = {name: model.same for name, model in numbers.items()}
    return figures


def _like_names(column: Column) -> bool:
    """Whether most records have a category of their own."""
    counts = np.bincount(column.labels)
    return not column.numeric and (counts == 1).sum() > OWN_VALUES * len(column.labels)


def copy_remarks(file: File, figures: dict[str, Any], household: str | None, weighted: bool) -> tuple[str, ...]:
    """The same in words."""
    said = []
    count = check.counted(len(file.rows), "record")
    for name, what in (("replicated_uniques", "in all that was drawn"), ("replicated_keys", "in the keys")):
        if figures[name]:
            said.append(f"{figures[name]:,} of {count} equal an original record that was unique {what}")
    alone = {name: number for name, number in figures.get("one_value_leaves", {}).items() if number}
    if alone:
        listed = ", ".join(f"{name!r} {number:,}" for name, number in alone.items())
        said.append(f"leaves whose records all have the same number: {listed}; least_distinct=2 avoids them")
    if figures["redrawn"]:
        still = f", {figures['broken']:,} of which still break one" if figures["broken"] else ""
        said.append(f"{check.counted(figures['redrawn'], 'record')} drawn again for breaking a rule{still}")
    if figures["names"]:
        said.append(
            f"most records have a value of their own of {check.quoted(figures['names'])}: remove what is a name"
        )
    if household is not None:
        said.append(f"drawn person by person: who shares {household!r} no longer belongs together; remove it")
    if weighted:
        said.append("drawn by weight: the file stands for the population without weights")
    return tuple(said)
