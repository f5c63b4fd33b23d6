"""Which role a variable may have, suggested from its name, its number of values and how it looks; people confirm it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.data import Data
from tacita.data.identifying import suspects, words_of

WEIGHT = r"(.* )?(weights?|wgt|wt|gewicht|pweight|grossing|hweight|pond|factor)( .*)?"
HOUSEHOLD = r"(.* )?(household|hhid|hid|hh|haushalt)( (id|no|nr|number))?|family id"
PERSON = r"(.* )?(person|pid|respondent|individual|firm|enterprise|company|unit)( (id|no|nr|number))?"
VISIBLE = (
    r"region|nuts|district|county|province|state|municipality|city|area|sex|gender|age|birth|citizenship|nationality|"
    r"country|marital|civil|status|education|occupation|profession|isco|industry|nace|sector|branch|activity|"
    r"size class|legal form|household size|size|children|language|religion|ethnic|ethnicity|race|tenure|dwelling|group"
)
"""Words of what others see or know of a person or a firm: what an intruder may know."""
AMOUNTS = (
    r"turnover|employees|revenue|sales|assets|exports|imports|expenditure|investment|production|area|livestock|staff"
)
"""Words of amounts of firms that others know about."""
SENSITIVE = (
    r"income|wage|salary|earnings|debt|wealth|savings|benefit|health|illness|disease|disability|diagnosis|drug|crime|"
    r"vote|party|religion|sexual|innovation|profit|cost|injury"
)
MOST_CATEGORIES = 200
"""A key with more values is coarsened first, but is a key all the same."""
MOST_LOOKED_AT = 40
"""So many variables are looked at for being worked out from others."""


class Suggestion(NamedTuple):
    """A role that a variable may have."""

    variable: str
    role: str
    reason: str
    """Why, in a few words."""


def suggestions(data: Data) -> tuple[Suggestion, ...]:
    """A role for each variable that looks like having one; at most one each.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m"] * 20, "weight": [10.5, 20.0] * 20, "income": [900.0, 1500.5] * 20})
    >>> [(each.variable, each.role) for each in suggestions(Data.of(people))]
    [('sex', 'keys'), ('weight', 'weight'), ('income', 'sensitive')]
    """
    looks = {each.column: each.looks_like for each in suspects(data)}
    found: dict[str, Suggestion] = {}
    single: set[str] = set()
    for name in data.columns:
        one = _of(data, name, looks, single)
        if one is not None:
            found[name] = one
            single.add(one.role)
    if "household" in single:
        household = next(each.variable for each in found.values() if each.role == "household")
        found |= {each.variable: each for each in _same_in_household(data, household, found)}
    return tuple(found.values())


def _of(data: Data, name: str, looks: Mapping[str, str], taken: set[str]) -> Suggestion | None:
    """The role of one variable by its own looks."""
    words = words_of(name)
    different = frame.distinct(data.table, name)
    many = different > len(data) / 2
    if re.fullmatch(WEIGHT, words) and data.scale(name) == "numeric" and "weight" not in taken:
        return Suggestion(name, "weight", "called like a weight, and a number")
    if re.fullmatch(HOUSEHOLD, words) and len(data) / 20 < different < len(data) and "household" not in taken:
        return Suggestion(name, "household", "called like a household, and several records share a value")
    if re.fullmatch(PERSON, words) and different == len(data) and "person" not in taken:
        if "household" in taken:
            return Suggestion(name, "person", "called like a person, and every record has its own")
        return Suggestion(name, "identifiers", "every record has its own: a number that was issued")
    if name in looks:
        return Suggestion(name, "identifiers", f"looks like {looks[name]}")
    if data.scale(name) == "numeric" and _any(AMOUNTS, words):
        return Suggestion(name, "numeric_keys", "an amount that others may know")
    if _any(VISIBLE, words) and not many and 1 < different <= MOST_CATEGORIES:
        return Suggestion(name, "keys", f"others know it; {different:,} values")
    if _any(SENSITIVE, words):
        return Suggestion(name, "sensitive", "what an intruder would want to learn")
    return None


def _any(pattern: str, words: str) -> bool:
    return re.search(rf"\b({pattern})\b", words) is not None


def _same_in_household(data: Data, household: str, found: Mapping[str, Suggestion]) -> Iterator[Suggestion]:
    """Keys that are the same for everybody who lives together also tell who lives together."""
    group, count = data.groups(household)
    for name, each in found.items():
        if each.role == "keys" and count < len(data) and _function_of(group, data.groups(name)[0]):
            yield each._replace(reason=f"{each.reason}; the same for all members of a household")


def household_variables(data: Data, household: str | None) -> tuple[str, ...]:
    """Variables that are the same for all members of a household, where some have several."""
    if household is None:
        return ()
    group, count = data.groups(household)
    if count == len(data):
        return ()
    names = [name for name in data.columns if name != household and frame.distinct(data.table, name) > 1]
    return tuple(name for name in names if _function_of(group, data.groups(name)[0]))


def derived(data: Data, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of variables of which the first determines the second: an intruder who knows the one knows the other."""
    groups = {name: data.groups(name) for name in names[:MOST_LOOKED_AT]}
    few = {name: place for name, (place, count) in groups.items() if 1 < count <= len(data) / 4}
    found = []
    for first, place in few.items():
        for second, other in few.items():
            fewer = groups[second][1] <= groups[first][1]
            if first != second and fewer and _function_of(place, other):
                found.append((first, second))
    return tuple(found)


def _function_of(place: Any, other: Any) -> bool:
    """Whether all records of a group agree on the other variable; groups of missing values are a group of their own."""
    first = np.asarray(place, dtype=np.int64) - int(np.min(place, initial=0))
    second = np.asarray(other, dtype=np.int64) - int(np.min(other, initial=0))
    if len(first) == 0:
        return False
    lowest = np.full(int(first.max()) + 1, np.iinfo(np.int64).max)
    highest = np.full(int(first.max()) + 1, -1)
    np.minimum.at(lowest, first, second)
    np.maximum.at(highest, first, second)
    seen = highest >= 0
    return bool((lowest[seen] == highest[seen]).all())
