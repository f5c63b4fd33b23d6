"""What a group gives away: how sensitive values are spread among the records that count for a key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Codes, Floats, Ints
from tacita.data import Data
from tacita.keys.missing_rules import matching_key_pairs
from tacita.keys.source import combined
from tacita.keys.table import KeyTable


class Histogram(NamedTuple):
    """The sensitive values of every group, sparse: one row per group and value that occurs in it, sorted by both."""

    group: Ints
    """Place of the group."""
    value: Ints
    """Code of the sensitive value; 0 is missing, one category like the others."""
    amount: Floats
    """How often it occurs."""
    groups: int
    """Number of groups; each has at least one row."""

    @property
    def start(self) -> Ints:
        """The first row of each group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @property
    def total(self) -> Floats:
        """The size of each group."""
        return np.add.reduceat(self.amount, self.start)

    @property
    def share(self) -> Floats:
        """By row: the share of the value in its group."""
        return self.amount / self.total[self.group]


def histogram(table: KeyTable, sensitive: Codes) -> Histogram:
    """The sensitive values among the records that count for each key, under the table's missing-value rule."""
    return sub_histogram(table, sensitive, [])[0]


def sub_histogram(table: KeyTable, sensitive: Codes, others: list[Codes]) -> tuple[Histogram, Ints]:
    """The same inside sub-groups that agree on other variables, and the key that each sub-group belongs to."""
    units = [] if table.unit is None else [table.unit]
    columns: list[Ints] = [np.asarray(each, dtype=np.int64) for each in (table.row, *others, sensitive, *units)]
    sizes = [len(table.codes), *(int(column.max()) + 1 for column in columns[1:])]
    numbers = combined(columns, sizes, len(table.row))
    _, first, place, count = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    if table.repeats is not None:
        count = np.bincount(place, weights=table.repeats).astype(np.int64)
    own = [column[first] for column in columns]
    target, place, factor = _expanded(table, own[0])
    amounts = count[place] * factor
    rows = [target, *(column[place] for column in own[1:])]
    if units:
        rows, amounts = _once_each(rows, sizes, factor)
    return _added_up(rows, sizes[: len(rows)], amounts)


def _once_each(rows: list[Ints], sizes: list[int], factor: Floats) -> tuple[list[Ints], Floats]:
    """Every value of a unit, the last column, once in each group, by the record that counts most."""
    _, first, inverse = np.unique(combined(rows, sizes, len(factor)), return_index=True, return_inverse=True)
    most = np.zeros(len(first))
    np.maximum.at(most, inverse, factor)
    return [column[first] for column in rows[:-1]], most


def several_values(table: KeyTable, values: Histogram) -> str:
    """Why sensitive values say nothing where units have several records: one has different values in a group.

    Empty if none has: then every unit counts once in a group, by its value.
    """
    if table.unit is None or not (values.total > table.sample_count * (1 + 1e-9)).any():
        return ""
    return (
        "units have several records here, and some have different sensitive values in one group: a unit would hide "
        "behind itself; measure a file with one record per unit."
    )


def perturbed_values(data: Data, names: Iterable[str]) -> str:
    """Why sensitive values say nothing where a step exchanged them for wrong ones; empty if none did.

    A group whose members all have one illness looks diverse as soon as one of them was given another.
    """
    wrong = [name for name in names if name in data.perturbed]
    if not wrong:
        return ""
    what = f"sensitive {'variables' if len(wrong) > 1 else 'variable'} {check.quoted(wrong)}"
    return (
        f"the {what} {'were' if len(wrong) > 1 else 'was'} perturbed: values that stand in a group are no longer those "
        f"of its members; measure the file before that step, with the keys as they are released."
    )


def _expanded(table: KeyTable, key: Ints) -> tuple[Ints, Ints, Floats]:
    """The rows of each key, repeated for every key that it counts for."""
    pairs = matching_key_pairs(table.codes, table.records, table.rule)
    start = np.searchsorted(key, pairs.source, side="left")
    count = np.searchsorted(key, pairs.source, side="right") - start
    target = np.repeat(pairs.target, count)
    within = np.arange(len(target), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    return target, np.repeat(start, count) + within, np.repeat(pairs.factor, count)


def _added_up(rows: list[Ints], sizes: list[int], amounts: Floats) -> tuple[Histogram, Ints]:
    """Amounts by group and value; a group is what comes before the last column."""
    numbers = combined(rows, sizes, len(amounts))
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    amount: Floats = np.bincount(inverse, weights=amounts).astype(np.float64)
    target, value = rows[0][first], rows[-1][first]
    groups = combined([column[first] for column in rows[:-1]], sizes[:-1], len(first))
    different, group = np.unique(groups, return_inverse=True)
    order = np.lexsort((value, group))
    owner = np.zeros(len(different), dtype=np.int64)
    owner[group] = target
    return Histogram(group[order].astype(np.int64), value[order], amount[order], len(different)), owner
