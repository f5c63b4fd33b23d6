"""A file fitted and drawn: columns out of the data, models, draws by record number, and values back into the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.data import Data
from tacita.data.variable import among_codes
from tacita.protect.numeric_column import numbers_of, written
from tacita.protect.synthesise.columns import Column, column_of
from tacita.protect.synthesise.copula import Copula, copula_of, draw_copula, parts_of
from tacita.protect.synthesise.sequence import Fitted, Sample, Synthetic, draw_sequence, fitted
from tacita.random import Draws
from tacita.rules import EditRule
from tacita.trees.tree import Growth


class File(NamedTuple):
    """A file on its way through synthesis, by record in the order of record numbers."""

    data: Data
    rows: Ints
    """By record: its row in the data."""
    given: Sequence[Column]
    """Variables that stay as they are and that the others are drawn given."""
    columns: Sequence[Column]
    """Variables to be drawn, in this order."""
    weight: Floats

    @property
    def record(self) -> Ints:
        """The record numbers, increasing."""
        return self.data.record[self.rows]


class Options(NamedTuple):
    """How a file is drawn."""

    method: str
    growth: Growth
    smooth: bool
    proper: bool


class Copy(NamedTuple):
    """One synthetic copy of a file."""

    data: Data
    made: Mapping[str, Synthetic]
    """By variable: what was drawn, by record in the order of record numbers."""
    redrawn: int
    """Records drawn again because they broke a rule."""
    broken: int
    """Records that break one all the same."""


Models = list[Fitted] | Copula


def file_of(data: Data, given: Sequence[str], names: Sequence[str], weight: Floats | None) -> File:
    """The columns of the data."""
    rows = np.argsort(data.record, kind="stable")
    known, wanted = ([column_of(data, name, rows) for name in several] for several in (given, names))
    return File(data, rows, known, wanted, np.ones(len(rows)) if weight is None else weight[rows])


def models_of(file: File, options: Options, draws: Draws, progress: Callable[[float], None]) -> Models:
    """What the file is drawn from; proper models are fitted to records drawn with replacement."""
    count, everybody = len(file.rows), np.arange(len(file.rows))

    def sample(name: str) -> Ints:
        return np.sort(draws.step(name).integers(file.record, count)) if options.proper else everybody

    if options.method == "copula":
        return copula_of(file.given, file.columns, file.weight, sample("bootstrap"))
    rows = {column.name: sample(f"bootstrap {column.name}") for column in file.columns}
    return fitted(
        file.given, file.columns, Sample(rows, file.weight), options.growth, options.smooth, progress=progress
    )


def models_as_lists(file: File, models: Models) -> dict[str, Any]:
    """The models as plain lists, from which any program can draw the same values again.

    Features of trees are numbered as `features` lists them: those of variables given, then of those drawn before.
    Categories are numbered by the order of the values in the original file, 0 for missing. Of a copula `parts` lists
    the normal variables: of each column which kind of cell there is, where they differ, and which value.
    """
    names = {"given": [column.name for column in file.given], "order": [column.name for column in file.columns]}
    if isinstance(models, Copula):
        parts = [[part.column.name, part.what] for part in (*parts_of(file.given), *models.parts)]
        return {**names, "parts": parts, "correlation": models.correlation.tolist()}
    one = np.arange(min(1, len(file.rows)))
    features = [column.name for column in (*file.given, *file.columns) for _ in column.features(one)]
    return {**names, "features": features, "trees": {each.column.name: each.trees() for each in models}}


def drawn_copy(file: File, models: Models, options: Options, draws: Draws, rules: Sequence[str], tries: int) -> Copy:
    """The file with all variables drawn; records that break a rule are drawn again, at most so many times."""
    everybody = np.arange(len(file.rows))
    made = dict(_drawn(file, models, options, draws, everybody, 0))
    result = with_drawn(file, made)
    first = wrong = _breaking(file, result, rules)
    for attempt in range(1, tries + 1):
        if not len(wrong):
            break
        again = _drawn(file, models, options, draws, wrong, attempt)
        made = {name: _replaced(each, again[name], wrong) for name, each in made.items()}
        result = with_drawn(file, made)
        wrong = _breaking(file, result, rules)
    return Copy(result, made, len(first), len(wrong))


def _drawn(
    file: File, models: Models, options: Options, draws: Draws, rows: Ints, attempt: int
) -> dict[str, Synthetic]:
    record = file.record[rows]

    def uniform(name: str, what: str) -> Floats:
        return draws.step(name).step(what).uniform(record, attempt)

    def normal(name: str, what: str) -> Floats:
        return draws.step(name).step(what).normal(record, attempt)

    if isinstance(models, Copula):
        return draw_copula(models, rows, normal, options.growth.least_leaf if options.smooth else 0)
    return draw_sequence(file.given, models, rows, uniform, normal)


def _breaking(file: File, result: Data, rules: Sequence[str]) -> Ints:
    """Records that break one of the rules."""
    broken = np.zeros(len(file.rows), dtype=np.bool_)
    for rule in rules:
        broken |= EditRule(rule).verdict(result).fails
    return np.flatnonzero(broken[file.rows])


def _replaced(before: Synthetic, again: Synthetic, rows: Ints) -> Synthetic:
    donors, numbers = before.donors.copy(), None if before.numbers is None else before.numbers.copy()
    donors[rows] = again.donors
    if numbers is not None and again.numbers is not None:
        numbers[rows] = again.numbers
    return Synthetic(donors, numbers)


def with_drawn(file: File, made: Mapping[str, Synthetic]) -> Data:
    """The data with the donors' cells, and with numbers in place of theirs where they were smoothed."""
    place = np.empty(len(file.rows), np.int64)
    place[file.rows] = np.arange(len(file.rows))
    donors = {name: file.rows[each.donors][place] for name, each in made.items()}
    result = file.data.with_columns({name: file.data.table[name][rows] for name, rows in donors.items()})
    smooth = {name: each.numbers[place] for name, each in made.items() if each.numbers is not None}
    return result.with_columns({name: _with_numbers(result, name, fresh) for name, fresh in smooth.items()})


def _with_numbers(data: Data, name: str, fresh: Floats) -> Any:
    """A column with fresh numbers; the donor's stays where there is none, or where it would be a declared code."""
    given, known = numbers_of(data, name), data.variable(name)
    codes = among_codes(fresh, (*known.missing, *known.not_applicable), known.missing_ranges)
    moved = given.there & ~np.isnan(fresh) & ~codes & (fresh != given.values)
    values = given.values.copy()
    values[moved] = fresh[moved]
    return written(data, name, given, values)
