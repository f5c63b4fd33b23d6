"""What would be counted if some units showed something else: many trials at once, each alone.

A trial changes what few units show. What a unit counts then is what it counts among all units as they are, less what
the changed ones gave it and more what they give now. So all trials are counted in one pass, by the same code as every
measure, and only the pairs inside a trial are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.matching import Keys, matched_counts, partial, patterns
from tacita.keys.missing_rules import matching_counts, shown_fully
from tacita.keys.source import WEIGHT_BITS, as_float, distinct_keys, group_sums
from tacita.protect.suppress.combinations import places
from tacita.protect.suppress.units import Units, blanked
from tacita.scenario import MissingRule


class Rows(NamedTuple):
    """Units in trials: which, what they show there, in which trial (numbered from 0), and how many of their records."""

    unit: Ints
    shows: Ints
    trial: Ints
    records: Ints

    def some(self, which: Bools | Ints) -> Rows:
        """Some of the rows."""
        return Rows(*(each[which] for each in self))


class Sources(NamedTuple):
    """What is released now, on some keys."""

    codes: Codes
    """By unit."""
    keys: Keys
    """The distinct ones, with their records and weights."""
    row: Ints
    """For each unit its key."""
    records: Ints
    """By key."""


def sources(codes: Codes, records: Ints, weights: Floats, members: int) -> Sources:
    """The distinct keys of what is released; no weights: records only."""
    now = codes[:, places(members)]
    row, keys = distinct_keys(list(now.T), [int(column.max(initial=0)) for column in now.T])
    carried = np.bincount(row, weights=records, minlength=len(keys)).astype(np.int64)
    totals = carried[:, None]
    if len(weights):
        totals = np.column_stack([carried, group_sums(weights, row, len(keys), WEIGHT_BITS)])
    return Sources(now, Keys(keys, totals), row, carried)


def counted_in_trials(
    units: Units, shown: Ints, changed: Rows, watched: Rows, members: int, rule: MissingRule
) -> tuple[Floats, Floats]:
    """By watched row: the records, and the sum of weights, that count for it in its trial.

    Without weights the records twice.
    """
    columns = places(members)
    now = sources(blanked(units.codes, shown), units.records, units.weights, members)
    targets = blanked(units.codes[watched.unit], watched.shows)[:, columns]
    pair, other = _pairs(watched.trial, changed.trial)
    before = now.codes[changed.unit[other]]
    after = blanked(units.codes[changed.unit[other]], changed.shows[other])[:, columns]
    moved = changed.records[other]
    if isinstance(rule.factor, str):
        complete = (1 << len(columns)) - 1
        shares = np.zeros(targets.shape)
        if rule.factor == "categories":
            shares = _shares_of_categories(units, shown, changed, watched, columns)
        else:
            shares = _shares_of_value(now, targets, pair, before, after, moved)

        def share(blanks: int, rows: Ints) -> Floats:
            found: Floats = shares[rows][:, places(blanks)].prod(axis=1)
            return found

        counted = matched_counts(targets, now.keys, partial(complete, share), _as_counts)
        given = contribution(targets[pair], after, rule, shares[pair]) - contribution(
            targets[pair], before, rule, shares[pair]
        )
    else:
        counted = matching_counts(targets, now.keys, rule, now.records)
        given = contribution(targets[pair], after, rule) - contribution(targets[pair], before, rule)
    f = counted[:, 0] + np.bincount(pair, weights=given * moved, minlength=len(targets))
    if not len(units.weights):
        return f, f
    heavy = units.weights[changed.unit[other]] * moved / units.records[changed.unit[other]]
    return f, counted[:, -1] + np.bincount(pair, weights=given * heavy, minlength=len(targets))


def contribution(targets: Codes, others: Codes, rule: MissingRule, shares: Floats | None = None) -> Floats:
    """By row: how much another record counts for a target; `shares` by row and key where the rule works them out."""
    blank, equal = others == 0, targets == others
    if rule.name == "own_category":
        counts = equal.all(axis=1)
    elif rule.name == "one_way":
        counts = (equal | (targets == 0)).all(axis=1)
    else:
        counts = (equal | (targets == 0) | blank).all(axis=1)
    part: Floats = counts.astype(np.float64)
    through = shown_fully(targets) & blank.any(axis=1)
    if rule.name == "conservative":
        part[through] = 0.0
    elif shares is not None:
        part[through] *= np.where(blank, shares, 1.0)[through].prod(axis=1)
    elif rule.name == "partial":
        part[through] *= float(rule.factor or 0.0)
    elif rule.name == "sdcmicro":
        part *= _sdcmicro_parts(targets, others, float(rule.factor or 0.0))
    return part


def _sdcmicro_parts(targets: Codes, others: Codes, alpha: float) -> Floats:
    """The reference program's factors, quirks included (`tacita.keys.matching.sdcmicro`)."""
    mine, theirs = patterns(targets), patterns(others)
    complete = (1 << targets.shape[1]) - 1
    fully = (mine == 0) | (theirs == complete) | (theirs == mine)
    ignored = (mine == complete) & (theirs == 0) & (complete != 1)
    return np.where(fully, 1.0, np.where(ignored, 0.0, alpha))


def _as_counts(totals: Ints) -> Floats:
    counts = totals[:, :1].astype(np.float64)
    return counts if totals.shape[1] == 1 else np.column_stack([counts, as_float(totals[:, 1:], WEIGHT_BITS)])


def _pairs(watched: Ints, changed: Ints) -> tuple[Ints, Ints]:
    """All pairs of a watched and a changed row of the same trial; the changed rows are in the order of their trials."""
    first = np.searchsorted(changed, watched, side="left")
    count = np.searchsorted(changed, watched, side="right") - first
    pair = np.repeat(np.arange(len(watched), dtype=np.int64), count)
    within = np.arange(len(pair), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    return pair, np.repeat(first, count) + within


def _shares_of_categories(units: Units, shown: Ints, changed: Rows, watched: Rows, columns: Sequence[int]) -> Floats:
    """By watched row and key: 1 / number of categories that occur in its trial."""
    trials = int(max(changed.trial.max(initial=-1), watched.trial.max(initial=-1))) + 1
    out = np.empty((len(watched.trial), len(columns)))
    for number, column in enumerate(columns):
        codes = units.codes[:, column].astype(np.int64)
        size, bit = int(codes.max(initial=0)) + 1, 1 << column
        now = np.bincount(codes, weights=units.records * (shown & bit != 0), minlength=size)
        now[0] = 0.0
        more = (changed.shows & bit != 0).astype(np.int64) - (shown[changed.unit] & bit != 0)
        place, where = np.unique(changed.trial * size + codes[changed.unit], return_inverse=True)
        delta = np.bincount(where, weights=more * changed.records, minlength=len(place))
        code = place % size
        gained = ((now[code] + delta > 0) & (code > 0)).astype(np.float64) - (now[code] > 0)
        categories = (now > 0).sum() + np.bincount(place // size, weights=gained, minlength=trials)
        out[:, number] = 1.0 / np.maximum(categories, 1.0)[watched.trial]
    return out


def _shares_of_value(now: Sources, targets: Codes, pair: Ints, before: Codes, after: Codes, moved: Ints) -> Floats:
    """By watched row and key: the share with its value among other complete records that agree on all other keys."""
    complete = shown_fully(now.keys.codes)
    keys, records = now.keys.codes[complete], now.records[complete]

    def alike(columns: list[int]) -> Floats:
        both = np.concatenate([targets[:, columns], keys[:, columns]])
        row = np.zeros(len(both), dtype=np.int64)
        if columns:
            row, _ = distinct_keys(list(both.T), [int(column.max(initial=0)) for column in both.T])
        size = int(row.max(initial=0)) + 1
        there = np.bincount(row[len(targets) :], weights=records, minlength=size).astype(np.float64)
        mine = targets[pair][:, columns]
        step = np.zeros(len(pair))
        for codes, sign in ((before, -1.0), (after, 1.0)):
            step += sign * (shown_fully(codes) & (codes[:, columns] == mine).all(axis=1)) * moved
        counted: Floats = there[row[: len(targets)]] + np.bincount(pair, weights=step, minlength=len(targets))
        return counted - 1.0

    every = list(range(targets.shape[1]))
    twins = alike(every)
    out = np.zeros(targets.shape)
    for column in every:
        others = alike([each for each in every if each != column])
        np.divide(twins, others, out=out[:, column], where=others > 0)
    return out
