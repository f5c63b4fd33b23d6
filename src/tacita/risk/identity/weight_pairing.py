"""Whether each weight of a released file still belongs to its record, or weights or keys were shuffled.

Equal weights, sorted, do not say so: weights that were shuffled among the records have the same ones, and a record
drawn with a weight of 1 is then judged by a weight of 2,000. Where rows have no numbers, what stands beside the weights
tells: columns that nobody changed must stand beside the same weights as before, and each value of a recoded key must
have gone, weight by weight, to one class of the release, or be missing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.repeats import counts
from tacita.scenario import Scenario

MOST_PAIRS = 5_000_000
"""Pairs of an original and a released value under one label that are looked at, the labels with fewest pairs first."""


class Column(NamedTuple):
    """A column of both files in the same codes, 0 where missing."""

    name: str
    before: Ints
    after: Ints
    repeats: Ints | None
    """By row how many records it stands for; None: one."""

    @property
    def unchanged(self) -> bool:
        """Whether it holds the same values as often as before."""
        size = int(max(self.before.max(), self.after.max())) + 1
        return np.array_equal(counts(self.before, self.repeats, size), counts(self.after, self.repeats, size))


def same_weights(data: Data, original: Data, scenario: Scenario) -> bool:
    """Whether records with the same weights in both files look the same, whatever the order of their rows."""
    assert scenario.weight is not None
    weights = np.concatenate([original.numbers(scenario.weight), data.numbers(scenario.weight)])
    labels = np.split(np.unique(weights, return_inverse=True)[1], [len(original)])
    if not labels[0].any():
        return True
    columns = list(_compared(data, original, scenario, data.columns))
    for column in (each for each in columns if each.unchanged):
        values = int(column.before.max()) + 1
        before, after = labels[0] * values + column.before, labels[1] * values + column.after
        if np.array_equal(np.sort(before), np.sort(after)):
            both = np.unique(np.concatenate([before, after]), return_inverse=True)[1]
            labels = np.split(both, [len(original)])
        elif column.name in scenario.all_keys or not _renumbered(column):
            return False
    changed = (each for each in columns if each.name in scenario.all_keys and not each.unchanged)
    return all(went_to_one_class(each.before, each.after, labels[0], labels[1]).all() for each in changed)


def same_rows(data: Data, original: Data, scenario: Scenario) -> bool:
    """Whether each row of the release is the same row of the original, as far as its keys tell."""
    if len(data) != len(original):
        return False
    rows = np.arange(len(data))
    keys = [name for name in data.columns if name in scenario.all_keys]
    return all(
        (column.before == column.after).all()
        if column.unchanged
        else went_to_one_class(column.before, column.after, rows, rows).all()
        for column in _compared(data, original, scenario, keys)
    )


def _compared(data: Data, original: Data, scenario: Scenario, names: Iterable[str]) -> Iterator[Column]:
    """The columns that both files have and that nobody says were perturbed, weight and identifiers left out."""
    from tacita.risk.release.reconstruction.cells import joint_codes

    aside = {scenario.weight, scenario.household, scenario.person, *scenario.identifiers, *data.perturbed}
    for name in names:
        if name in original.columns and name not in aside:
            try:
                (before, after), _ = joint_codes(name, original, data)
            except TacitaError:
                # Lists and objects: nothing here can compare them.
                continue
            yield Column(name, before, after, data.repeats)


def _renumbered(column: Column) -> bool:
    """Whether a column may be an identifier that was given out again: no value of it comes twice."""
    return len(np.unique(column.before)) == len(column.before)


def went_to_one_class(before: Ints, after: Ints, labels_before: Ints, labels_after: Ints) -> Bools:
    """By original value: whether all its records can have gone to one released value or be missing there.

    Under each label there must be as many records of that released value, or with a missing one, as there were of the
    original value. A value may also have been kept in some records, if the others went to a class that is new.

    >>> before, after = np.array([1, 1, 2, 2]), np.array([3, 3, 3, 0])
    >>> went_to_one_class(before, after, np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1])).tolist()
    [True, True]
    >>> went_to_one_class(before, np.array([1, 2, 1, 2]), np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3])).tolist()
    [False, False]
    """
    values = int(max(before.max(), after.max())) + 1
    shown_before, shown_after = before > 0, after > 0
    missing = np.bincount(labels_after[~shown_after], minlength=int(max(labels_before.max(), labels_after.max())) + 1)
    was, count_was = np.unique(labels_before[shown_before] * values + before[shown_before], return_counts=True)
    now, count_now = np.unique(labels_after[shown_after] * values + after[shown_after], return_counts=True)
    was, count_was = _with_few_pairs(was, count_was, now, values)
    label, value = np.divmod(was, values)
    asked = count_was - missing[label]
    place = np.minimum(np.searchsorted(now, was), max(len(now) - 1, 0))
    kept = np.where(now[place] == was, count_now[place], 0) if len(now) else np.zeros(len(was), dtype=np.int64)
    new = ~np.isin(np.arange(values), before)
    first, last = np.searchsorted(now, label * values), np.searchsorted(now, (label + 1) * values)
    owner = np.repeat(np.arange(len(was)), last - first)
    other = np.arange(len(owner)) - np.repeat(np.cumsum(last - first) - (last - first), last - first) + first[owner]
    target, enough = now[other] % values, count_now[other] >= asked[owner]
    moved = new[target] & (count_now[other] + kept[owner] >= asked[owner])
    wanted = np.bincount(value, minlength=values)
    whole = _most(value[owner], target, enough & (asked[owner] > 0), values)
    partly = _most(value[owner], target, moved & (asked > kept)[owner], values)
    holds = (whole + np.bincount(value[asked <= 0], minlength=values) == wanted) | (
        partly + np.bincount(value[asked <= kept], minlength=values) == wanted
    )
    every: Bools = holds[np.unique(value)]
    return every


def _with_few_pairs(was: Ints, counts: Ints, now: Ints, values: int) -> tuple[Ints, Ints]:
    """Original values under labels that few pairs of values stand under: all of them unless there are very many."""
    label = was // values
    targets = np.bincount(now // values, minlength=int(label.max(initial=0)) + 1)[label]
    order = np.argsort(targets * np.bincount(label)[label], kind="stable")
    few = np.sort(order[np.cumsum(targets[order]) <= MOST_PAIRS])
    return was[few], counts[few]


def _most(values: Ints, targets: Ints, which: Bools, size: int) -> Ints:
    """By original value: under how many labels the released value that fits most often fits."""
    most = np.zeros(size, dtype=np.int64)
    pairs, fits = np.unique(values[which] * size + targets[which], return_counts=True)
    np.maximum.at(most, pairs // size, fits)
    return most
