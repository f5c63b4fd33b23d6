"""One axis of a corrected table: the categories that are shown, and the matrix from those to the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.pram.categories import distinct_codes
from tacita.protect.pram.transitions import Category, Transition
from tacita.protect.recode.regroup import text_of


class Axis(NamedTuple):
    """The variables that one matrix is of, or one variable that was not exchanged."""

    names: tuple[str, ...]
    """Those of them that the table has."""
    codes: Ints
    """By record: which of the released categories it shows."""
    stratum: Ints
    """By record: which of the inverses is for it."""
    inverses: tuple[Floats, ...]
    """By stratum: released categories by categories of the table."""
    shown: Floats
    """The same without correction: 1 where a released category is one of the table."""
    categories: tuple[Category, ...]
    """The categories of the table."""


def axis_of(data: Data, group: tuple[str, ...], wanted: Sequence[str], transitions: Sequence[Transition]) -> Axis:
    """The axis of variables that were exchanged together; without transitions that of a variable as it is."""
    kept = [at for at, name in enumerate(group) if name in wanted]
    codes, labels = joint_categories([frame.coded(data.table, name) for name in group])
    stratum = _strata(data, transitions)
    _check_known(group, codes, labels, stratum, transitions)
    every = [*(category for each in transitions for category in each.categories), *labels]
    projected = dict.fromkeys(tuple(category[at] for at in kept) for category in every)
    categories = tuple(sorted(projected, key=_missing_last))
    place = {category: at for at, category in enumerate(categories)}

    def project(listed: Sequence[Category]) -> Floats:
        matrix = np.zeros((len(listed), len(categories)))
        matrix[np.arange(len(listed)), [place[tuple(each[at] for at in kept)] for each in listed]] = 1.0
        return matrix

    shown = project(labels)
    inverses = []
    for each in transitions:
        corrected = shown.copy()
        row = {category: at for at, category in enumerate(each.categories)}
        here = [at for at, label in enumerate(labels) if label in row]
        corrected[here] = each.inverse()[[row[labels[at]] for at in here]] @ project(each.categories)
        inverses.append(corrected)
    return Axis(tuple(group[at] for at in kept), codes, stratum, tuple(inverses) or (shown,), shown, categories)


def _missing_last(category: Category) -> tuple[tuple[bool, bool, float, str], ...]:
    """Numbers by size, then texts, then what is missing."""
    return tuple(_rank(value) for value in category)


def _rank(value: str | None) -> tuple[bool, bool, float, str]:
    try:
        return (value is None, False, float(value or ""), "")
    except ValueError:
        return (value is None, True, 0.0, value or "")


def joint_categories(columns: Sequence[frame.Coded]) -> tuple[Ints, list[Category]]:
    """By record the combination of its values, and the combinations: texts, None where missing."""
    joint = np.zeros(len(columns[0].codes), dtype=np.int64)
    labels: list[Category] = [()]
    for codes, values in columns:
        texts = (None, *map(text_of, values))
        found, joint = distinct_codes(joint * len(texts) + codes)
        labels = [(*labels[code // len(texts)], texts[code % len(texts)]) for code in found.tolist()]
    return joint, labels


def _strata(data: Data, transitions: Sequence[Transition]) -> Ints:
    """By record the place of the transition that is for it."""
    names = tuple(transitions[0].stratum) if transitions else ()
    if not names:
        return np.zeros(len(data), dtype=np.int64)
    check.columns_exist("strata of the transitions", names, data.columns)
    joint, labels = joint_categories([data.coded(name) for name in names])
    place = {tuple(each.stratum.values()): at for at, each in enumerate(transitions)}
    stratum = np.array([place.get(label, -1) for label in labels], dtype=np.int64)[joint]
    if (stratum < 0).any():
        count = check.counted(int((stratum < 0).sum()), "record is", "records are")
        raise TacitaError(f"{count} in no stratum that has a matrix; were {check.quoted(names)} changed afterwards?")
    return stratum


def _check_known(
    group: tuple[str, ...], codes: Ints, labels: Sequence[Category], stratum: Ints, transitions: Sequence[Transition]
) -> None:
    """Whatever a record shows is in the matrix of its stratum, or was never exchanged."""
    for at, each in enumerate(transitions):
        known = set(each.categories)
        used = np.unique(codes[stratum == at]).tolist()
        unknown = sum(labels[code] not in known and not each.stays(labels[code]) for code in used)
        if unknown:
            count = check.counted(unknown, "category", "categories")
            raise TacitaError(
                f"{check.quoted(group)} has {count} that the matrix does not name; was it changed after the exchange?"
            )
