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
from tacita.data.large_data import LargeData
from tacita.data.stands_for import Condensed
from tacita.engine import expressions
from tacita.engine.expressions import RECORD, Side
from tacita.frame import files as frame_files
from tacita.keys.condensed import checked_weights, fits, weights_of_parts
from tacita.keys.sampled_blocks import Blocks, sampled_blocks
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
    def apart(self) -> tuple[str, ...]:
        """Released columns that are not in the rows, and can be looked at beside some of them."""
        apart = None if self.released.condensed is None else self.released.condensed.apart
        return () if apart is None else tuple(apart.columns)


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
    check_records(original, released, unit)
    files = LargeFiles(original, released, both_sides(original, released, unit))
    chosen, named, left_out = _chosen(original, released, scenario, variables, also)
    weights = [scenario.weight if scenario.weight in large.columns else None for large in (original, released)]
    checks = [None if name is None else checked_weights(large, name)
              for name, large in zip(weights, (original, released), strict=True)]  # fmt: skip
    rows = files.combined(chosen, scenario.weight, checks, progress)
    if rows is None and named != chosen:
        left_out = tuple(dict.fromkeys([*left_out, *(name for name in chosen if name not in named)]))
        rows = files.combined(named, scenario.weight, checks, progress)
    if rows is None:
        raise TacitaError(
            f"{check.quoted(named, most=8)} have more different combinations in both files than fit the memory budget; "
            f"recode the most detailed of them first, or give more memory (--memory)."
        )
    first, second, shared = rows
    apart = tuple(name for name in left_out if _looked_at_apart(name, released, scenario)) if variables is None else ()
    if variables is None:
        assert second.condensed is not None
        second = replace(second, condensed=second.condensed._replace(apart=Apart(files, apart, scenario)))
    return Pair(first, second, tuple(name for name in left_out if name not in apart), shared)


def _looked_at_apart(name: str, released: LargeData, scenario: Scenario) -> bool:
    """Whether a released column is one of categories, and says nothing of who a record is."""
    identifying = {scenario.household, scenario.person, *scenario.identifiers}
    return name in released.columns and name not in identifying and released.different[name] <= MOST_VALUES


class Apart(NamedTuple):
    """What is not in the rows: columns whose combinations do not fit the memory budget, and single records."""

    files: LargeFiles
    columns: tuple[str, ...]
    """Released columns that are looked at beside a few others."""
    scenario: Scenario
    """The whole scenario, which may name columns that are not in the rows."""

    def beside(self, names: Sequence[str]) -> tuple[Data, Data] | None:
        """Both files by the combinations of some variables; None where these do not fit either."""
        found = self.files.combined(names, None, [None, None])
        return None if found is None else found[:2]

    def sampled(self, names: Sequence[str], known: Sequence[str]) -> Blocks | None:
        """Both files by single records, in runs in which cells are protected of some variables, or of unknown ones."""
        others = [name for name in self.files.original.columns if name not in known]
        return sampled_blocks(*self.files, self.scenario, [*names, *others])


class LargeFiles(NamedTuple):
    """An original and its release on one engine."""

    original: LargeData
    released: LargeData
    sides: tuple[Side, Side]

    def combined(
        self,
        names: Sequence[str],
        weight: str | None,
        checks: Sequence[tuple[int, float] | None],
        progress: Progress = no_progress,
    ) -> tuple[Data, Data, int] | None:
        """Both files by the combinations of some variables, and how many records they share; None if they do not fit.

        `checks` says of the weights of each file how many are below 1, and the greatest; None: it has none.
        """
        sides = []
        for large, side, checked in zip(self[:2], self.sides, checks, strict=True):
            own = [name for name in names if name in large.columns]
            greatest = 1.0 if checked is None else checked[1]
            sides.append(side._replace(names=own, weight=None if checked is None else weight, greatest=greatest))
        rows = _collected(sides[0], sides[1], self.original, self.released, progress)
        if rows is None:
            return None
        there = [rows[letter].to_numpy().astype(np.bool_) for letter in "ab"]
        records = rows[expressions.RECORDS].to_numpy().astype(np.int64)
        # Files without record numbers belong together row by row.
        together = row_by_row(self.released, *(side.record for side in sides))
        found = []
        for letter, large, side, here, checked in zip("ab", self[:2], sides, there, checks, strict=True):
            below_one = 0 if checked is None else checked[0]
            found.append(_data(rows, letter, large, side, records, here, together, below_one))
        return found[0], found[1], int(records[there[0] & there[1]].sum())


def both_sides(original: LargeData, released: LargeData, unit: str | None) -> tuple[Side, Side]:
    """Both files as tables of one engine, with the column that says which records are the same."""
    names = [unit or large.numbered for large in (original, released)]
    return Side(original.table, (), None, names[0]), Side(released.on(original), (), None, names[1])


def row_by_row(released: LargeData, *names: str) -> bool:
    """Whether records belong together by their place: in files, and not in what was made of records by number."""
    return RECORD in names and bool(released.files)


def check_records(original: LargeData, released: LargeData, unit: str | None) -> None:
    """Both files say which records are the same: by a column that identifies them, or as many in the same order."""
    names = [unit or large.numbered for large in (original, released)]
    for what, large, name in zip(("original", "released"), (original, released), names, strict=True):
        if name != RECORD:
            check.columns_exist(f"unit of the {what} file", (name,), large.columns)
            _check_identifies(what, large, name)
    if row_by_row(released, *names) and original.size != released.size:
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
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """The variables whose values are combined, those that must be, and those that are left out."""
    every = list(dict.fromkeys([*original.columns, *released.columns]))
    files = [(large, set(large.columns)) for large in (original, released)]
    if variables is not None:
        check.columns_exist("variables", variables, every)
        named = list(dict.fromkeys(variables))
        return named, named, ()
    # Keys are what is asked about; everything else is a category, or left out.
    many = {name for large, has in files for name in has if large.different[name] > MOST_VALUES}
    own = {*scenario.all_keys, *also}
    asked_for = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric_keys, *scenario.known, *also])
    named = [name for name in asked_for if name in own or name not in many]
    identifying = {scenario.household, scenario.person, *scenario.identifiers}
    chosen = [name for name in every if name in named or (name not in many and name not in identifying)]
    size = max(original.size, released.size)
    if len(chosen) > len(named) and not fits(size, 2 * len(chosen), original.room):
        for large, has in files:
            asked = expressions.combinations(large.table, [name for name in chosen if name in has])
            rows = int(large.database.collect(asked, what="looking at the columns")["n"][0].as_py())
            if not fits(2 * rows, 2 * len(chosen), original.room):
                chosen = named
                break
    return chosen, named, tuple(name for name in every if name not in chosen)


def _side_by_side(first: Side, second: Side, original: LargeData, released: LargeData) -> Any:
    """The records of both files side by side: row by row where an engine can, without looking for each."""
    lays = getattr(original.database, "row_by_row", None)
    if lays is None or {first.record, second.record} != {RECORD} or not (original.files and released.files):
        return expressions.laid_by_record(first, second)
    columns, others = expressions.aliases(first, "a"), expressions.aliases(second, "b")
    return lays(original.files, columns, released.files, others)


def _collected(
    first: Side, second: Side, original: LargeData, released: LargeData, progress: Progress
) -> frame.Frame | None:
    """The rows of both files together; None if they do not fit."""
    database = original.database
    laid = _side_by_side(first, second, original, released)
    grouped = expressions.pairs(laid, first, second)
    kept = database.keep(grouped, part(progress, 0.0, 0.9), "laying original and release side by side")
    try:
        counted = int(database.collect(kept.aggregate(n=kept.count()))["n"][0].as_py())
        if not fits(counted, len(first.names) + len(second.names), original.room):
            return None
        found = frame_files.from_arrow(database.collect(kept, part(progress, 0.9, 1.0), "reading the distinct values"))
        return frame_files.like(found, None, [name for name in kept.columns if name[0] in "ab" and "_" not in name])
    finally:
        database.drop(kept)


def _data(
    rows: frame.Frame,
    letter: str,
    large: LargeData,
    side: Side,
    records: Ints,
    here: Any,
    together: bool,
    below_one: int,
) -> Data:
    """One of the files, as many rows as it has; their numbers say which are the same in the other."""
    at = np.flatnonzero(here)
    columns: dict[str, Any] = {name: rows[f"{letter}{place}"] for place, name in enumerate(side.names)}
    stands_for = Condensed(records)
    if side.weight is not None:
        limbs, squares = weights_of_parts(rows, f"{letter}_", records, side.greatest)
        means = None if side.weight in columns else side.weight
        stands_for = Condensed(records, limbs, below_one, squares, means)
        if means is not None:
            columns[means] = as_float(limbs, WEIGHT_BITS) / records
    table = frame_files.of_kinds(frame.take(frame.table(columns), at), large.like, side.names)
    known = {name: said for name, said in large.variables.items() if name in columns}
    numbers = None if together else at + 1
    return Data(table, known, numbers_of_records=numbers, condensed=stands_for.of_rows(at))
