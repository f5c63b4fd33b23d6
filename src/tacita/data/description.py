"""What a released file holds, variable by variable, as a codebook for its users has it: small counts withheld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Ints
from tacita.data.codebook import MOST_CATEGORIES as MOST_CATEGORIES
from tacita.data.codebook import in_their_order, with_noted_weight
from tacita.data.data import Data
from tacita.data.variable import Scale
from tacita.small_counts import LEAST, shown_counts

VARIED = 20
"""Fewer different values than this have no mean in a codebook."""


@dataclass(frozen=True)
class Category:
    """A value of a variable."""

    value: str
    label: str
    records: int | None
    """How many records have it; None: withheld."""
    missing: bool = False
    """Whether it is a code that stands for a missing value."""


@dataclass(frozen=True)
class Described:
    """A variable of a released file."""

    name: str
    label: str
    scale: Scale
    text: bool
    """Whether its values are texts, not numbers."""
    perturbed: bool
    """Whether values were exchanged for wrong ones."""
    categories: tuple[Category, ...]
    """Its values, where they are categories; of a number only those with a label."""
    valid: int | None
    """Records with a value; None: withheld."""
    missing: int | None
    """Records without; None: withheld."""
    mean: float | None = None
    """Of a number the mean of its released values, without weights; None of categories and of few values."""
    deviation: float | None = None
    """Of a number the standard deviation of its released values."""


@dataclass(frozen=True)
class Description:
    """A released file."""

    records: int
    variables: tuple[Described, ...]
    weight: str | None = None
    """The survey weight."""


def described(data: Data, weight: str | None = None) -> Description:
    """What a released file holds: labels and categories, with counts as they may be published.

    No smallest and greatest values: each is often that of a single record.

    >>> import polars as pl
    >>> people = Data.of(pl.DataFrame({"sex": ["f", "m"] * 20 + [None] * 3}))
    >>> [(each.value, each.records) for each in described(people).variables[0].categories]
    [('f', None), ('m', 20)]
    """
    noted = with_noted_weight(data)
    variables = tuple(_described(noted, name) for name in data.columns)
    return Description(data.size, variables, weight if weight in data.columns else None)


def _described(data: Data, name: str) -> Described:
    known = data.variable(name)
    coded = frame.coded(data.table, name)
    records = np.ones(len(data), dtype=np.int64) if data.condensed is None else data.condensed.records
    by_code = np.zeros(len(coded.values) + 1, dtype=np.int64)
    np.add.at(by_code, coded.codes, records)
    counts = by_code.tolist()
    blank, by_value = counts[0], counts[1:]
    missing = int(records[data.missing(name)].sum())
    listed = _listed(data, name, coded.values)
    # What is not listed is one part of the total, so that no difference tells a count that is withheld.
    rest = sum(by_value) - sum(by_value[place] for place in listed)
    *shown, shown_blank, _ = shown_counts([*(by_value[place] for place in listed), blank, rest])
    valid, shown_missing = shown_counts([data.size - missing, missing])
    if shown_blank is None:
        valid = shown_missing = None
    mean, deviation = _summary(data, name, records, len(coded.values))
    return Described(
        name=name,
        label=known.label,
        scale=data.scale(name),
        text=frame.is_text(data.table, name) or frame.is_categorical(data.table, name),
        perturbed=known.perturbed,
        categories=tuple(
            _category(known, coded.values[place], count) for place, count in zip(listed, shown, strict=True)
        ),
        valid=valid,
        missing=shown_missing,
        mean=mean,
        deviation=deviation,
    )


def _summary(data: Data, name: str, records: Ints, different: int) -> tuple[float, float] | tuple[None, None]:
    """Mean and standard deviation of a number of many values; of few ones they would tell counts that are withheld."""
    if data.scale(name) != "numeric" or different < VARIED:
        return None, None
    values = data.numbers(name)
    known = ~data.missing(name) & np.isfinite(values)
    size = int(records[known].sum())
    if size < LEAST:
        return None, None
    mean = float((values[known] * records[known]).sum() / size)
    return mean, float(np.sqrt(((values[known] - mean) ** 2 * records[known]).sum() / (size - 1)))


def _category(known: Any, value: Any, records: int | None) -> Category:
    return Category(str(value), known.value_labels.get(value, ""), records, known.is_missing(value))


def _listed(data: Data, name: str, values: tuple[Any, ...]) -> list[int]:
    """The places of the values that a codebook lists."""
    known = data.variable(name)
    if data.scale(name) != "numeric" and len(values) <= MOST_CATEGORIES:
        return in_their_order(known, values)
    labelled = {*known.value_labels, *known.missing, *known.not_applicable}
    return [place for place, value in enumerate(values) if value in labelled]
