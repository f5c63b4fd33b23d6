"""Counts of units where a unit has several records: persons of a panel, firms with twelve months.

Twelve records of one firm hide nobody. So f of a key is the number of different units with a record that counts for it,
and F adds up one weight for each of them, the mean weight of those records. Where a missing-value rule counts a record
in part, a unit counts by the record that counts most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacita.arrays import Codes, Floats, Ints
from tacita.data import Data
from tacita.keys import matching
from tacita.keys.missing_rules import matching_rule, only_equal_keys_match
from tacita.keys.source import WEIGHT_BITS, as_float, group_sums
from tacita.scenario import MissingRule, Scenario

MOST_PAIRS = 1 << 22
"""Pairs of a key and a record that counts for it that are looked at in one go."""


class Entries(NamedTuple):
    """One row per key and unit that has a record with it, in the order of the keys."""

    key: Ints
    unit: Ints
    records: Ints
    """How many records of the unit have the key."""
    weight: Floats | None
    """The sum of their weights."""

    def some(self, rows: Ints) -> Entries:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Entries(self.key[rows], self.unit[rows], self.records[rows], weight)


def entries(row: Ints, unit: Ints, weights: Floats | None, records: Ints | None = None) -> Entries:
    """The keys and units of records, each pair once; of rows that stand for several records with how many."""
    units = int(unit.max()) + 1
    pairs, place = np.unique(row * units + unit, return_inverse=True)
    count = np.bincount(place, weights=records, minlength=len(pairs)).astype(np.int64)
    return Entries(pairs // units, pairs % units, count, None if weights is None else _sums(weights, place, len(pairs)))


def counted_units(targets: Codes, codes: Codes, records: Ints, given: Entries, rule: MissingRule) -> Floats:
    """What counts for each target key: a column of units and, where there are weights, one of their weights.

    `codes` are the keys of the entries, and `records` how many records have each target.
    """
    counted = np.zeros((len(targets), 1 if given.weight is None else 2))
    if targets is codes and only_equal_keys_match(codes, rule):
        return _added(given.key, given, np.ones(len(given.key)), len(codes))
    patterns, target_patterns = matching.patterns(codes), matching.patterns(targets)
    occurring = [int(pattern) for pattern in np.unique(patterns)]
    rows_of = {pattern: np.flatnonzero(patterns == pattern) for pattern in occurring}
    start = np.searchsorted(given.key, np.arange(len(codes) + 1))
    project, counts_for = matching.projector(targets, codes), matching_rule(targets, records, rule)
    for pattern in map(int, np.unique(target_patterns)):
        rows = np.flatnonzero(target_patterns == pattern)
        parts = []
        for part in counts_for(pattern, rows, occurring):
            sources = np.concatenate([rows_of[source] for source in part.sources])
            wanted, offered = project(rows, sources, part.shared)
            factor = np.broadcast_to(np.asarray(part.factor, dtype=np.float64), len(rows))
            parts.append(_Part(wanted, offered, sources, factor))
        if len(parts) == 1 and (parts[0].factor == 1.0).all():
            counted[rows] = _one_part(parts[0], given, start)
        elif parts:
            _several_parts(parts, rows, given, start, counted)
    return counted


def riskiest_of_each(risk: Floats, unit: Ints, group: Ints) -> Ints:
    """One record of every unit in every group: the one with the greatest risk."""
    order = np.lexsort((-risk, unit, group))
    first = (np.diff(group[order], prepend=-1) != 0) | (np.diff(unit[order], prepend=-1) != 0)
    riskiest: Ints = order[first]
    return riskiest


class _Part(NamedTuple):
    """Keys that count for targets where their numbers are equal, by a factor for each target."""

    wanted: Ints
    offered: Ints
    sources: Ints
    factor: Floats


def _entries_of(sources: Ints, start: Ints) -> tuple[Ints, Ints]:
    """The entries of some keys, and for each of them the place of its key among those."""
    count = start[sources + 1] - start[sources]
    place = np.repeat(np.arange(len(sources), dtype=np.int64), count)
    within = np.arange(len(place), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    return start[sources][place] + within, place


def _one_part(part: _Part, given: Entries, start: Ints) -> Floats:
    """What counts for targets where all that counts agrees with them on the same variables: grouped once."""
    rows, place = _entries_of(part.sources, start)
    different, group = np.unique(part.offered, return_inverse=True)
    by_group = _added(group[place], given.some(rows), np.ones(len(rows)), len(different))
    at = np.minimum(np.searchsorted(different, part.wanted), len(different) - 1)
    return np.where((different[at] == part.wanted)[:, None], by_group[at], 0.0)


def _several_parts(parts: list[_Part], rows: Ints, given: Entries, start: Ints, counted: Floats) -> None:
    """What counts for targets where a unit may count on several grounds: every pair is looked at."""
    size = start[1:] - start[:-1]
    orders = [np.argsort(part.offered, kind="stable") for part in parts]
    pairs = np.zeros(len(rows), dtype=np.int64)
    for part, order in zip(parts, orders, strict=True):
        ends = np.concatenate([[0], np.cumsum(size[part.sources][order])])
        low, high = (np.searchsorted(part.offered[order], part.wanted, side=side) for side in ("left", "right"))
        pairs += ends[high] - ends[low]
    block = np.cumsum(pairs) // MOST_PAIRS
    for number in np.unique(block):
        some = np.flatnonzero(block == number)
        found = []
        for part, order in zip(parts, orders, strict=True):
            target, source = matching.equal_pairs(part.wanted[some], part.offered, order)
            at, place = _entries_of(part.sources[source], start)
            found.append((target[place], at, part.factor[some][target[place]]))
        target, at, factor = (np.concatenate(columns) for columns in zip(*found, strict=True))
        counted[rows[some]] = _added(target, given.some(at), factor, len(some))


def _added(group: Ints, given: Entries, factor: Floats, count: int) -> Floats:
    """By group: its different units, each by its greatest factor, and one weight for each of them."""
    kept = factor > 0
    if not kept.all():
        group, factor, given = group[kept], factor[kept], given.some(np.flatnonzero(kept))
    units = int(given.unit.max(initial=0)) + 1
    pairs, place = np.unique(group * units + given.unit, return_inverse=True)
    owner = pairs // units
    greatest = np.zeros(len(pairs))
    np.maximum.at(greatest, place, factor)
    counts = matching.rounded_to_whole(_sums(greatest, owner, count), np.ones(count, dtype=np.bool_))
    if given.weight is None:
        return counts[:, None]
    mean = _sums(given.weight, place, len(pairs)) / np.bincount(place, weights=given.records, minlength=len(pairs))
    return np.column_stack([counts, _sums(greatest * mean, owner, count)])


def _sums(values: Floats, groups: Ints, count: int) -> Floats:
    """Sums by group that do not depend on the order of the records."""
    return as_float(group_sums(values, groups, count, WEIGHT_BITS), WEIGHT_BITS)


def units_not_counted(unit: Ints | None) -> str:
    """Why a measure that counts records is not valid where units have several; empty if none has."""
    if unit is None:
        return ""
    return (
        "units have several records here, and this measure counts records: a unit would hide behind itself; measure a "
        "file with one record per unit."
    )


def counting_records(data: Data, scenario: Scenario) -> tuple[Data, Scenario]:
    """File and scenario for a model of records: each record is a unit."""
    return data if data.units is None else replace(data, units=None), replace(scenario, person=None)
