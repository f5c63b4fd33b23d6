"""From chosen levels back to the columns of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Codes, Ints
from tacita.data import Data, Variable
from tacita.protect.generalise.cells import Cells, Spread, placed, spread_over
from tacita.protect.generalise.file import File, kept_missing_codes
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import gathered


@dataclass(frozen=True, eq=False)
class Labelled:
    """One key as it is released."""

    codes: Ints
    """By raw cell: the code of what is released, 0 for missing."""
    labels: tuple[Any, ...]
    """What the codes 1, 2, ... stand for."""
    levels: tuple[int, ...]
    """The levels that occur."""


def labelled(file: File, key: int, levels: Ints, suppressed: Bools) -> Labelled:
    """What a key shows for each raw cell at its level.

    Labels that read the same are the same value in the release, from whatever level they come.
    """
    each, codes = file.levels[key], file.raw.codes[:, key]
    used = tuple(int(level) for level in np.unique(levels[~suppressed]))
    shown = [each.labels[level] for level in used]
    # Numbers beside texts, or values beside groups, go into one column as texts.
    mixed = len(used) > 1 or len({isinstance(label, str) for labels in shown for label in labels}) > 1
    places: dict[Any, int] = {}
    lookup = np.zeros((len(each.labels), each.groups.shape[1] + 1), dtype=np.int64)
    for level, labels in zip(used, shown, strict=True):
        texts = [as_text(label) if mixed else label for label in labels]
        code = np.array([places.setdefault(text, len(places) + 1) for text in texts], dtype=np.int64)
        lookup[level, 1:] = code[each.groups[level]]
    return Labelled(np.where(suppressed, 0, lookup[levels, codes]), tuple(places), used)


def released_cells(file: File, keys: list[Labelled], kept: Bools) -> tuple[Cells, Ints]:
    """The cells of the release, counted on what is released, and for each raw cell that is kept its place."""
    columns = [each.codes[kept] for each in keys]
    place, codes = placed(columns, [len(each.labels) + 1 for each in keys])
    records = np.bincount(place, weights=file.raw.records[kept], minlength=len(codes)).astype(np.int64)
    rows = np.cumsum(kept) - 1

    def moved(spread: Spread) -> Spread:
        inside = kept[spread.cell]
        return spread_over(place[rows[spread.cell[inside]]], spread.value[inside], spread.amount[inside])

    return Cells(file.raw.node, codes, records, tuple(map(moved, file.raw.spreads))), place


def released(data: Data, file: File, keys: list[Labelled], suppressed: Bools, *, remove: bool) -> Data:
    """The file at its levels; suppressed records have no keys, or are not there.

    Codes declared missing were counted as missing: they become blanks at every level.
    """
    gone = suppressed[file.row]
    columns: dict[str, tuple[Codes, tuple[Any, ...]]] = {}
    variables: dict[str, Variable] = {}
    blank: dict[str, Bools] = {}
    for key, (name, each) in enumerate(zip(file.keys, keys, strict=True)):
        if each.levels in ((), (0,)):
            seen = file.coded[key].codes == 0
            blank[name] = (seen if remove else seen | gone) & ~frame.missing(data.table, name)
        else:
            codes = _blank_again(data.variable(name), each)[file.row]
            columns[name] = (codes.astype(np.uint32), each.labels)
            variables[name] = _known(data, file, key, each)
    made = data.with_columns(columns, variables) if columns else data
    blank = {name: where for name, where in blank.items() if where.any()}
    made = made.blanked(blank) if blank else made
    return made.take(np.flatnonzero(~gone)) if remove and gone.any() else made


def _blank_again(known: Variable, each: Labelled) -> Ints:
    """The codes of a key, with a blank that stands for not applicable as the blank that it was."""
    if "" not in known.not_applicable or "" not in each.labels:
        return each.codes
    return np.where(each.codes == each.labels.index("") + 1, 0, each.codes)


def _known(data: Data, file: File, key: int, each: Labelled) -> Variable:
    """What is known of a generalised variable: its label, and its order where all records are at one level at which
    every group is one stretch of the values."""
    name = file.keys[key]
    before = data.variable(name)
    labels = {as_text(label): label for label in each.labels}
    missing = kept_missing_codes(data, name)
    codes = dict.fromkeys((*before.not_applicable, *missing))
    apart = {code: labels[as_text(code)] for code in codes if as_text(code) in labels}
    ordered = data.scale(name) != "nominal" and len(each.levels) == 1 and len(each.labels) > 1
    if ordered:
        groups = zip(file.coded[key].values, file.levels[key].groups[each.levels[0]].tolist(), strict=True)
        ordered = gathered([group for value, group in groups if value not in apart], {}, ascending=True).ordered
    # Codes for not applicable and for missing have no place in the order of the answers: behind them.
    answers = [label for label in each.labels if label not in apart.values()]
    order = (*answers, *(label for label in apart.values() if label != ""))
    return Variable(
        label=before.label,
        value_labels={apart[code]: text for code, text in before.value_labels.items() if code in apart},
        missing=tuple(apart[code] for code in missing if code in apart),
        not_applicable=tuple(apart[code] for code in before.not_applicable if code in apart),
        scale="ordinal" if ordered else "nominal",
        order=order if ordered else (),
    )
