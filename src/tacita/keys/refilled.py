"""The key table of a release with its suppressed cells filled in again, where the original is known.

How rare keys are shows in how counts stray around what the values alone would have. Suppression takes away just the
small counts; what is left would say that keys stray little, and that nobody is rare. So a release whose original is
known is modelled with its suppressed cells filled in again, as coarsely as the same values were released elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Codes, Floats, Ints
from tacita.data import Data
from tacita.data.stands_for import Condensed
from tacita.keys.matching import Keys
from tacita.keys.missing_rules import matching_counts
from tacita.keys.source import Grouped, InMemory, distinct_keys, totals_by_key, totals_of_condensed
from tacita.keys.table import KeyTable, condensed_as_they_were, population_weights, table_of
from tacita.keys.units import counted_units, entries
from tacita.scenario import Scenario, with_codes


class Filled(NamedTuple):
    """The codes of a key with its suppressed cells filled in."""

    codes: Ints
    """By record."""
    values: tuple[Any, ...]
    """What the codes stand for, those that were released and others."""
    released: Ints
    """By code of the released key, 0 for missing, the code that it has here."""


class Refilled(NamedTuple):
    """The key table of a release with its suppressed cells filled in."""

    table: KeyTable
    keys: Codes
    """The keys of the release, one row for each, as codes of this table."""
    sample_count: Floats
    """By key of the release how many units of this table count for it."""
    population_count: Floats
    """The same in the population."""


def refilled(data: Data, scenario: Scenario, table: KeyTable) -> Refilled | None:
    """The key table of a release as it was before cells were suppressed; None where none were, or it is not known.

    A missing value must be one that says nothing of the record, as under the rule `one_way`.
    """
    original = data.before
    # Growth of counts by dropped records is by key set, and not known for filled keys.
    grown = data.original_weights is not None and table.source in ("population_size", "sampling_fraction")
    if original is None or grown or table.rule.name != "one_way" or not table.has_missing:
        return None
    place = places(data, original)
    if place is None:
        return None
    before = with_codes(original, scenario)
    columns = [_filled(name, at, data, before, place, table) for at, name in enumerate(table.keys)]
    if all((each.codes == table.codes[table.row, at]).all() for at, each in enumerate(columns)):
        return None
    weights = population_weights(data, scenario, table.keys)
    stands_for = condensed_as_they_were(data, scenario, table.keys)
    source = _InCodes(columns, weights, stands_for)
    size = data.original_size
    whole = table_of(source, scenario, table.keys, unit=table.unit, weights=weights, original_size=size)
    if stands_for is not None:
        whole = replace(whole, repeats=stands_for.records, squares=stands_for.squares)
    keys = np.stack([each.released[table.codes[:, at]] for at, each in enumerate(columns)], axis=1).astype(np.uint32)
    if table.unit is None:
        sums = Keys(whole.codes, source.totals(whole.row, len(whole.codes)))
        counted = matching_counts(keys, sums, table.rule, table.records)
    else:
        given = entries(whole.row, table.unit, weights)
        counted = counted_units(keys, whole.codes, table.records, given, table.rule)
    ratio = whole.population_count[0] / whole.sample_count[0]
    population = counted[:, 1] if counted.shape[1] > 1 else counted[:, 0] * ratio
    return Refilled(whole, keys, counted[:, 0], population)


def places(data: Data, original: Data) -> Ints | None:
    """For each released record its row in the original; None where that is not known of all."""
    if data.numbers_of_records is None and len(data) != len(original):
        return None
    order = np.argsort(original.record)
    found = np.minimum(np.searchsorted(original.record[order], data.record), len(order) - 1)
    return order[found] if (original.record[order][found] == data.record).all() else None


def _filled(name: str, at: int, data: Data, original: Data, place: Ints, table: KeyTable) -> Filled:
    """A key with its missing cells filled in, as what was there is released elsewhere, or else as it was.

    A key that is not in the original, or of which a value is released as several, stays as it is.
    """
    codes, values = table.codes[:, at][table.row].astype(np.int64), table.values[at]
    as_it_is = Filled(codes, values, np.arange(len(values) + 1))
    if name not in original.columns or name in data.perturbed or (codes > 0).all():
        return as_it_is
    known = InMemory(original).grouped([name])
    old_values = known.values[0]
    old = known.codes[known.row, 0].astype(np.int64)[place]
    shown = (codes > 0) & (old > 0)
    pairs = np.unique(np.stack([old[shown], codes[shown]], axis=1), axis=0)
    if len(np.unique(pairs[:, 0])) < len(pairs):
        return as_it_is
    released_as = np.zeros(len(old_values) + 1, dtype=np.int64)
    released_as[pairs[:, 0]] = pairs[:, 1]
    unchanged = all(old_values[was - 1] == values[now - 1] for was, now in pairs.tolist())
    gone = np.unique(old[(codes == 0) & (old > 0)])
    new = gone[released_as[gone] == 0]
    released_as[new] = len(values) + 1 + np.arange(len(new))
    # Where values were recoded it is not known into what these would have been: they are categories of their own.
    more = [old_values[each - 1] if unchanged else (name, old_values[each - 1]) for each in new.tolist()]
    every = (*values, *more)
    rank = _ranks(every)
    return Filled(rank[np.where(codes > 0, codes, released_as[old])], _ordered(every, rank), rank[: len(values) + 1])


def _ranks(values: Sequence[Any]) -> Ints:
    """By code, 0 for missing, the code in ascending order of values, where they are numbers; else as it is."""
    rank = np.arange(len(values) + 1)
    if all(isinstance(value, int | float) for value in values):
        rank[1 + np.argsort(np.array(values, dtype=np.float64), kind="stable")] = np.arange(1, len(values) + 1)
    return rank


def _ordered(values: Sequence[Any], rank: Ints) -> tuple[Any, ...]:
    ordered = list(values)
    for at, value in enumerate(values, start=1):
        ordered[int(rank[at]) - 1] = value
    return tuple(ordered)


class _InCodes:
    """Keys by record as codes, with weights if the records have some."""

    def __init__(self, columns: Sequence[Filled], weights: Floats | None, condensed: Condensed | None) -> None:
        self.columns, self.weights, self.condensed = columns, weights, condensed

    def totals(self, row: Ints, keys: int) -> Ints:
        """Per key records and, where there are weights, their sums."""
        if self.condensed is not None:
            return totals_of_condensed(row, keys, self.condensed)
        return totals_by_key(row, keys, self.weights)

    def grouped(self, keys: Sequence[str], *, incomplete_apart: bool = False) -> Grouped:
        """The distinct keys with counts and sums."""
        sizes = [len(each.values) for each in self.columns]
        row, codes = distinct_keys([each.codes.astype(np.uint32) for each in self.columns], sizes)
        values = tuple(each.values for each in self.columns)
        return Grouped(codes, values, self.totals(row, len(codes)), row)
