"""Margins: the totals that categories of variables should have, given or taken from the original file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.frame import Coded
from tacita.keys.source import distinct_keys
from tacita.protect.weights.totals import cell_totals
from tacita.protect.weights.units import UnitWeights

CROSS = " x "
"""What stands between the variables of a crossed margin, and between their categories."""
AGREE = 1e-6
"""Totals of two variables that differ by a greater share cannot both be met."""


class Margin(NamedTuple):
    """One variable's categories, or those of several crossed, and the totals that they should have."""

    name: str
    codes: Ints
    """For each row the place of its category, -1 where the value is missing."""
    totals: Floats
    """By category."""


def crossed(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The variables of a margin: the one that it names, or those that it crosses, `sex x region`.

    >>> crossed("sex x region", ["sex", "region"]), crossed("a x b", ["a x b"])
    (('sex', 'region'), ('a x b',))
    """
    return (name,) if name in columns else tuple(name.split(CROSS))


def categories(name: str, data: Data) -> Coded:
    """The categories of a margin: those of its variable, or every combination that records have of several."""
    parts = [data.coded(each) for each in crossed(name, data.columns)]
    if len(parts) == 1:
        return parts[0]
    shown = np.logical_and.reduce([each.codes > 0 for each in parts])
    codes = np.zeros(len(data), dtype=np.uint32)
    values: tuple[Any, ...] = ()
    if shown.any():
        columns = [each.codes[shown] for each in parts]
        row, found = distinct_keys(columns, [len(each.values) for each in parts])
        codes[shown] = row + 1
        values = tuple(
            tuple(each.values[code - 1] for each, code in zip(parts, one, strict=True)) for one in found.tolist()
        )
    return Coded(codes, values)


def all_totals(what: str, given: Any) -> dict[str, dict[str, float]]:
    """By variable the total of each category; categories as texts, which is how a file has them."""
    return {name: _totals(name, each) for name, each in check.mapping(what, given).items()}


def _totals(name: str, given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping) or not given:
        raise TacitaError(
            f"totals of {name!r} must be a table of categories, as in {{'f': 100}}; got {check.given(given)}."
        )
    labels = [_text_of(category) for category in given]
    check.unique_names(f"categories of {name!r}", labels)
    found = {}
    for label, total in zip(labels, given.values(), strict=True):
        found[label] = check.number(f"the total of {label!r} in {name!r}", total)
        if found[label] < 0:
            raise TacitaError(f"the total of {label!r} in {name!r} must be at least 0; got {check.given(total)}.")
    return found


def _text_of(category: Any) -> str:
    """A category as text: 1 and 1.0 are the same; one of several variables with ` x ` between them."""
    if isinstance(category, tuple):
        return CROSS.join(map(_text_of, category))
    return str(int(category)) if isinstance(category, float) and category.is_integer() else str(category)


def given_margin(name: str, data: Data, totals: Mapping[str, float]) -> Margin:
    """A variable whose totals were given."""
    coded = categories(name, data)
    labels = [_text_of(value) for value in coded.values]
    check.unique_names(f"categories of {name!r}", labels)
    unknown = sum(label not in totals for label in labels)
    if unknown:
        raise TacitaError(
            f"totals of {name!r} leave out {check.counted(unknown, 'category', 'categories')} of the data; "
            f"give a total for each."
        )
    empty = [label for label, total in totals.items() if label not in labels and total > 0]
    if empty:
        raise TacitaError(
            f"no record has the {'categories' if len(empty) > 1 else 'category'} {check.quoted(empty)} of {name!r}, "
            f"so its total cannot be met; merge it with another."
        )
    wanted = np.array([totals[label] for label in labels])
    return _margin(name, coded.codes.astype(np.int64) - 1, wanted)


def original_margin(name: str, data: Data, original: Data, weights: Floats) -> Margin:
    """A variable whose totals are those of the original file, added up where categories were merged since."""
    gone = [each for each in crossed(name, data.columns) if each not in original.columns]
    if gone:
        raise TacitaError(f"the original has no variable {check.quoted(gone)}; give its totals.")
    now, was = categories(name, data), categories(name, original)
    known = was.codes > 0
    before = cell_totals(weights[known], was.codes[known].astype(np.int64) - 1, len(was.values))
    target = _targets(name, data, original, now, was)
    left = int((target < 0).sum())
    if left:
        raise TacitaError(
            f"no record has {check.counted(left, 'category', 'categories')} of {name!r} that the original has, "
            f"so its total cannot be met; merge categories first."
        )
    totals: Floats = np.zeros(len(now.values))
    np.add.at(totals, target, before)
    return _margin(name, now.codes.astype(np.int64) - 1, totals)


def _targets(name: str, data: Data, original: Data, now: Coded, was: Coded) -> Ints:
    """For each category of the original the one that it became, -1 if none.

    The records tell, where all of a category went to the same one. Where they were exchanged, or none is left, a
    category is the one with the same value.
    """
    places = {value: place for place, value in enumerate(now.values)}
    alike = np.array([places.get(value, -1) for value in was.values], dtype=np.int64)
    _, there, here = np.intersect1d(original.record, data.record, assume_unique=True, return_indices=True)
    before, after = was.codes[there].astype(np.int64) - 1, now.codes[here].astype(np.int64) - 1
    both = (before >= 0) & (after >= 0)
    pairs = np.unique(before[both] * len(now.values) + after[both])
    source, found = np.divmod(pairs, max(len(now.values), 1))
    if len(np.unique(source)) == len(source):
        alike[source] = found
    elif not set(now.values) <= set(was.values):
        raise TacitaError(
            f"the categories of {name!r} are not those of the original, nor a recoding of them; give its totals."
        )
    return alike


def _margin(name: str, codes: Ints, totals: Floats) -> Margin:
    if not len(totals):
        raise TacitaError(f"every value of {name!r} is missing, so its totals cannot be met; drop it.")
    zero = int((totals <= 0).sum())
    if zero:
        raise TacitaError(
            f"{check.counted(zero, 'category', 'categories')} of {name!r} with records should have a total of 0; "
            f"remove the records, or merge categories."
        )
    return Margin(name, codes, totals)


def check_agreement(margins: list[Margin]) -> None:
    """Variables without missing values all count the same people."""
    complete = [margin for margin in margins if (margin.codes >= 0).all()]
    for other in complete[1:]:
        one, two = complete[0].totals.sum(), other.totals.sum()
        if abs(one - two) > AGREE * max(one, two):
            raise TacitaError(
                f"the totals of {complete[0].name!r} and {other.name!r} add up to different sums, so no weights "
                f"meet both; make them agree."
            )


def design_of(margins: list[Margin], given: UnitWeights) -> tuple[Any, Floats]:
    """By unit the share of its records in each category, as a sparse matrix, and the totals of all categories."""
    from scipy.sparse import csr_array

    rows, columns, offset = [], [], 0
    for margin in margins:
        known = np.flatnonzero(margin.codes >= 0)
        rows.append(given.units.unit[known])
        columns.append(margin.codes[known] + offset)
        offset += len(margin.totals)
    row = np.concatenate(rows)
    shape = (len(given.weight), offset)
    matrix = csr_array((1.0 / given.size[row], (row, np.concatenate(columns))), shape=shape)
    matrix.sum_duplicates()
    return matrix, np.concatenate([margin.totals for margin in margins])
