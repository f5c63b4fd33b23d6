"""An original and its release on engines, as data in memory: one row per combination of the values of both.

Row by row the two stand for the same records, so that measures of two files work on these rows as on the records of
small files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.data import Condensed
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.engine.expressions import RECORD, Side
from tacita.frame import files as frame_files
from tacita.keys.condensed import check_fits, checked_weights, fits, weights_of_parts
from tacita.keys.source import WEIGHT_BITS, as_float
from tacita.progress import Progress, no_progress, part
from tacita.scenario import Scenario

MOST_VALUES = 1000
"""A variable with more different values is a number: its combinations would be as many as records."""


class Pair(NamedTuple):
    """Two files, each row the same records of both."""

    original: Data
    released: Data
    left_out: tuple[str, ...]
    """Variables that are not in them: they have too many values, or too many combinations with the others."""
    shared: int
    """Records that both files have."""

    @property
    def dropped(self) -> int:
        """Records of the original that were not released."""
        return self.original.size - self.shared

    @property
    def added(self) -> int:
        """Released records that are not in the original."""
        return self.released.size - self.shared


def condensed_pair(
    original: LargeData,
    released: LargeData,
    scenario: Scenario,
    variables: Sequence[str] | None = None,
    unit: str | None = None,
    *,
    also: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Pair:
    """One row per combination of the values of both files: of some variables, or of all that are categories.

    Where the combinations of all do not fit the memory budget, those of the variables of the scenario are taken, and of
    `also`.
    """
    _check_records(original, released, unit)
    sides = both_sides(original, released, unit)
    chosen, left_out = _chosen(original, released, scenario, variables, also)
    files = []
    for large, side in zip((original, released), sides, strict=True):
        weight = scenario.weight if scenario.weight in large.columns else None
        below_one, greatest = (0, 1.0) if weight is None else checked_weights(large, weight)
        names = [name for name in chosen if name in large.columns]
        files.append((large, side._replace(names=names, weight=weight, greatest=greatest), below_one))
    rows = _collected([side for _, side, _ in files], original, released, progress)
    there = [rows[letter].to_numpy().astype(np.bool_) for letter in "ab"]
    records = rows[expressions.RECORDS].to_numpy().astype(np.int64)
    # Files without record numbers belong together row by row.
    together = RECORD in (sides[0].record, sides[1].record)
    found = [
        _data(rows, letter, large, side, records, here, together)
        for letter, (large, side, _), here in zip("ab", files, there, strict=True)
    ]
    found = [_with_below_one(data, below) for data, (_, _, below) in zip(found, files, strict=True)]
    return Pair(found[0], found[1], left_out, int(records[there[0] & there[1]].sum()))


def both_sides(original: LargeData, released: LargeData, unit: str | None) -> tuple[Side, Side]:
    """Both files as tables of one engine, with the column that says which records are the same."""
    names = [unit or large.numbered for large in (original, released)]
    return Side(original.table, (), None, names[0]), Side(released.on(original), (), None, names[1])


def _check_records(original: LargeData, released: LargeData, unit: str | None) -> None:
    names = [unit or large.numbered for large in (original, released)]
    for what, large, name in zip(("original", "released"), (original, released), names, strict=True):
        if name != RECORD:
            check.columns_exist(f"unit of the {what} file", (name,), large.columns)
            _check_identifies(what, large, name)
    if RECORD in names and original.size != released.size:
        raise TacitaError(
            f"the release has {released.size:,} records and the original {original.size:,}: name a column that "
            f"identifies them in both with unit=...."
        )


def _check_identifies(what: str, large: LargeData, name: str) -> None:
    found = large.database.collect(expressions.identified(large.table, name), what="checking records").to_pylist()[0]
    if found["none"] or found["values"] < found["there"]:
        raise TacitaError(
            f"unit {name!r} must identify the records; in the {what} file it is missing or comes again in "
            f"{check.counted(int(found['none'] + found['there'] - found['values']), 'record')}, name another column."
        )


def _chosen(
    original: LargeData, released: LargeData, scenario: Scenario, variables: Sequence[str] | None, also: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """The variables whose values are combined, and those that are left out."""
    every = list(dict.fromkeys([*original.columns, *released.columns]))
    files = [(large, set(large.columns)) for large in (original, released)]
    if variables is not None:
        check.columns_exist("variables", variables, every)
        return list(dict.fromkeys(variables)), ()
    # Keys are what is asked about; everything else is a category, or left out.
    many = {name for large, has in files for name in has if large.different[name] > MOST_VALUES}
    own = {*scenario.all_keys, *also}
    asked_for = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric_keys, *scenario.known, *also])
    named = [name for name in asked_for if name in own or name not in many]
    identifying = {scenario.household, scenario.person, *scenario.identifiers}
    chosen = [name for name in every if name in named or (name not in many and name not in identifying)]
    size = max(original.size, released.size)
    if len(chosen) > len(named) and not fits(size, 2 * len(chosen), original.memory):
        for large, has in files:
            asked = expressions.combinations(large.table, [name for name in chosen if name in has])
            rows = int(large.database.collect(asked, what="looking at the columns")["n"][0].as_py())
            if not fits(2 * rows, 2 * len(chosen), original.memory):
                chosen = named
                break
    return chosen, tuple(name for name in every if name not in chosen)


def _side_by_side(first: Side, second: Side, original: LargeData, released: LargeData) -> Any:
    """The records of both files side by side: row by row where an engine can, without looking for each."""
    lays = getattr(original.database, "row_by_row", None)
    if lays is None or {first.record, second.record} != {RECORD} or not (original.files and released.files):
        return expressions.laid_by_record(first, second)
    columns, others = expressions.aliases(first, "a"), expressions.aliases(second, "b")
    return lays(original.files, columns, released.files, others)


def _collected(sides: Sequence[Side], original: LargeData, released: LargeData, progress: Progress) -> frame.Frame:
    """The rows of both files together, if they fit."""
    database = original.database
    laid = _side_by_side(sides[0], sides[1], original, released)
    grouped = expressions.pairs(laid, sides[0], sides[1])
    kept = database.keep(grouped, part(progress, 0.0, 0.9), "laying original and release side by side")
    try:
        counted = int(database.collect(kept.aggregate(n=kept.count()))["n"][0].as_py())
        check_fits(counted, [*sides[0].names, *sides[1].names], original.memory)
        found = frame_files.from_arrow(database.collect(kept, part(progress, 0.9, 1.0), "reading the distinct values"))
        return frame_files.like(found, None, [name for name in kept.columns if name[0] in "ab" and "_" not in name])
    finally:
        database.drop(kept)


def _data(
    rows: frame.Frame, letter: str, large: LargeData, side: Side, records: Ints, here: Any, together: bool
) -> Data:
    """One of the files, as many rows as it has; their numbers say which are the same in the other."""
    at = np.flatnonzero(here)
    columns: dict[str, Any] = {name: rows[f"{letter}{place}"] for place, name in enumerate(side.names)}
    stands_for = Condensed(records)
    if side.weight is not None:
        limbs, squares = weights_of_parts(rows, f"{letter}_", records, side.greatest)
        means = None if side.weight in columns else side.weight
        stands_for = Condensed(records, limbs, squares=squares, means=means)
        if means is not None:
            columns[means] = as_float(limbs, WEIGHT_BITS) / records
    table = frame_files.of_kinds(frame.take(frame.table(columns), at), large.like, side.names)
    known = {name: said for name, said in large.variables.items() if name in columns}
    numbers = None if together else at + 1
    return Data(table, known, numbers_of_records=numbers, condensed=stands_for.of_rows(at))


def _with_below_one(data: Data, below_one: int) -> Data:
    assert data.condensed is not None
    return replace(data, condensed=data.condensed._replace(below_one=below_one))
