"""Counting under the missing-value rules: what counts for a key, and who does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.arrays import Codes, Floats, Ints
from tacita.keys import matching
from tacita.keys.matching import Keys
from tacita.keys.source import as_counts, combined
from tacita.keys.source import shown_fully as shown_fully
from tacita.scenario import MissingRule


def matching_counts(targets: Codes, sources: Keys, rule: MissingRule, records: Ints) -> Floats:
    """What counts for each target key: a column of counts and, where there are weights, one of weight sums."""
    if sources.codes is targets and only_equal_keys_match(targets, rule):
        return as_counts(sources.totals)
    return matching.matched_counts(targets, sources, matching_rule(targets, records, rule), as_counts)


def matching_key_pairs(codes: Codes, records: Ints, rule: MissingRule) -> matching.Pairs:
    """All pairs of matching keys with the factor by which one counts for the other."""
    if only_equal_keys_match(codes, rule):
        every = np.arange(len(codes), dtype=np.int64)
        return matching.Pairs(every, every, np.ones(len(every)))
    return matching.matched_pairs(codes, matching_rule(codes, records, rule))


def only_equal_keys_match(codes: Codes, rule: MissingRule) -> bool:
    """Whether only equal keys match: no missing values, or a rule that makes missing a category."""
    return rule.name in ("own_category", "no_match") or bool(shown_fully(codes).all())


def matching_rule(targets: Codes, records: Ints, rule: MissingRule) -> matching.Rule:
    """What counts for targets, by their pattern of missing values."""
    complete = (1 << targets.shape[1]) - 1
    rules: dict[str, matching.Rule] = {
        "one_way": matching.one_way,
        "wildcard": matching.wildcard,
        "conservative": matching.conservative(complete),
        "partial": matching.partial(complete, _partial_factor(targets, records, rule.factor)),
        "no_match": matching.no_match(complete),
        "own_category": matching.equal,
    }
    if rule.name == "sdcmicro":
        rules["sdcmicro"] = matching.sdcmicro(complete, float(rule.factor or 0.0))
    return rules[rule.name]


def _partial_factor(codes: Codes, records: Ints, factor: float | str | None) -> Callable[[int, Ints], Floats]:
    """By how much a complete key counts another that is blank on some variables: one factor per blank, multiplied."""

    share = _share_of_value if factor == "expected" else _share_of_categories
    found: dict[int, Floats] = {}

    def by_blanks(blanks: int, rows: Ints) -> Floats:
        # The rows are the complete keys, the same each time: a variable's share is worked out once.
        if isinstance(factor, int | float):
            return np.full(len(rows), float(factor))
        out = np.ones(len(rows))
        for variable in range(codes.shape[1]):
            if blanks >> variable & 1:
                if variable not in found:
                    found[variable] = share(codes, records, rows, variable)
                out *= found[variable]
        return out

    return by_blanks


def _share_of_categories(codes: Codes, records: Ints, rows: Ints, variable: int) -> Floats:
    """1 / number of categories that occur."""
    return np.full(len(rows), 1.0 / (np.unique(codes[:, variable]) > 0).sum())


def _share_of_value(codes: Codes, records: Ints, rows: Ints, variable: int) -> Floats:
    """The share with the key's own value among other records that agree on all other variables, 0 if none."""
    others = [j for j in range(codes.shape[1]) if j != variable]
    columns = [codes[rows, j] for j in others]
    group = combined(columns, [int(codes[:, j].max()) + 1 for j in others], len(rows))
    _, group = np.unique(group, return_inverse=True)
    alike = np.bincount(group, weights=records[rows])[group] - 1
    return np.divide(records[rows] - 1, alike, out=np.zeros(len(rows)), where=alike > 0)
