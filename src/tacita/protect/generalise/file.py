"""From a file and its hierarchies to what the search works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_missing_codes
from tacita.frame import Coded
from tacita.keys.source import distinct_keys
from tacita.protect.generalise.cells import Cells, Ladder, beside_units, ladder, spread_over
from tacita.protect.generalise.loss import Column
from tacita.protect.recode.hierarchies import Hierarchy, Levels
from tacita.protect.recode.hierarchies.table import as_text
from tacita.risk.attribute.t_closeness import file_shares


@dataclass(frozen=True, eq=False)
class File:
    """A file as the search sees it."""

    keys: tuple[str, ...]
    coded: tuple[Coded, ...]
    """By key: the codes of the records and the values they stand for."""
    levels: tuple[Levels, ...]
    """By key: the groups of its values at each level."""
    ladders: tuple[Ladder, ...]
    columns: tuple[Column, ...]
    """By key: what losses need to know."""
    raw: Cells
    """The distinct keys."""
    row: Ints
    """For each record the row of its key among them."""
    shares: tuple[Floats, ...]
    """By sensitive variable: the share of each code in the file."""
    ordered: tuple[bool, ...]
    """By sensitive variable: whether its values have an order."""
    units: int = 0
    """How many units there are, where some have several records; 0: every record counts. Spreads are then of values
    beside units (`tacita.protect.generalise.cells.beside_units`), and one more is of units alone."""


def prepared(
    data: Data,
    keys: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    sensitive: Sequence[str] = (),
    unit: Ints | None = None,
) -> File:
    """Codes, groups and distinct keys of a file; a key without a hierarchy has level 0 only.

    `unit` is by record the place of its unit, where some have several.
    """
    apart = {name: (*data.variable(name).not_applicable, *kept_missing_codes(data, name)) for name in keys}
    coded = tuple(data.coded(name, apart[name]) for name in keys)
    levels = tuple(
        _levels(hierarchies[name], column, name, apart[name]) if name in hierarchies else _as_they_are(column)
        for name, column in zip(keys, coded, strict=True)
    )
    row, codes = distinct_keys([column.codes for column in coded], [len(column.values) for column in coded])
    records = np.bincount(row, minlength=len(codes))
    values: list[Ints] = [data.coded(name).codes.astype(np.int64) for name in sensitive]
    spread = values if unit is None else [*(beside_units(each, unit) for each in values), unit]
    spreads = tuple(spread_over(row, each, np.ones(len(row), dtype=np.int64)) for each in spread)
    columns = tuple(
        Column(each.groups, _counts(column.codes, len(column.values)), column.values, _scale(data, name, column, apart))
        for name, column, each in zip(keys, coded, levels, strict=True)
    )
    return File(
        keys=tuple(keys),
        coded=coded,
        levels=levels,
        ladders=tuple(ladder(each.groups) for each in levels),
        columns=columns,
        raw=Cells((0,) * len(coded), codes.astype(np.int64), records, spreads),
        row=row,
        shares=tuple(file_shares(each, unit) for each in values),
        ordered=tuple(data.scale(name) != "nominal" for name in sensitive),
        units=0 if unit is None else int(unit.max()) + 1,
    )


def kept_missing_codes(data: Data, name: str) -> tuple[Any, ...]:
    """Codes declared missing that a key keeps: where a blank means not applicable, nothing else may become one.

    Of any other key they become blanks.
    """
    return visible_missing_codes(data, name) if "" in data.variable(name).not_applicable else ()


def _levels(hierarchy: Hierarchy, column: Coded, name: str, apart: tuple[object, ...]) -> Levels:
    """The groups of a key; none may be called like a code for not applicable, which is apart from them."""
    levels = hierarchy.levels(column.values, name, apart)
    kept = np.array([value in apart for value in column.values], dtype=np.bool_)
    for level in range(1, hierarchy.own_height + 1 if kept.any() else 0):
        codes, others = (
            {as_text(levels.labels[level][group]) for group in levels.groups[level, where]} for where in (kept, ~kept)
        )
        clashes = codes & others
        if clashes:
            raise TacitaError(
                f"the hierarchy of {name!r} has {check.counted(len(clashes), 'label that reads', 'labels that read')} "
                f"like a code for not applicable at level {level}; rename them, or declare other codes."
            )
    return levels


def _scale(data: Data, name: str, column: Coded, apart: Mapping[str, tuple[object, ...]]) -> str:
    """The scale by which values differ; codes among numbers are no measurements, so there ranks stand for them."""
    scale = data.scale(name)
    codes = any(value in apart[name] or not isinstance(value, int | float) for value in column.values)
    return "ordinal" if scale == "numeric" and codes else scale


def check_labels(file: File) -> None:
    """Where records have levels of their own, a label must mean the same at every level."""
    for name, each in zip(file.keys, file.levels, strict=True):
        meant: dict[str, frozenset[int]] = {}
        clashes = set()
        for groups, labels in zip(each.groups, each.labels, strict=True):
            members: dict[int, list[int]] = {}
            for value, group in enumerate(groups.tolist()):
                members.setdefault(group, []).append(value)
            for group, label in enumerate(labels):
                text, values = as_text(label), frozenset(members.get(group, ()))
                if meant.setdefault(text, values) != values:
                    clashes.add(text)
        if clashes:
            raise TacitaError(
                f"the hierarchy of {name!r} has {check.counted(len(clashes), 'label')} that mean different groups at "
                f"different levels, which nobody could tell apart after local recoding; rename them."
            )


def _as_they_are(column: Coded) -> Levels:
    return Levels(np.arange(len(column.values), dtype=np.int64)[None, :], (tuple(column.values),))


def _counts(codes: Codes, values: int) -> Ints:
    counts: Ints = np.bincount(codes, minlength=values + 1)[1:]
    return counts
