"""Columns that look like identifiers of units with several records, though the scenario does not name them.

Twelve months of one person agree in every key, and twelve records look like a crowd: k, f and F are then too high by as
much. Where a column puts records together that agree in keys as detailed as theirs, nobody may be told that k holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tacita import frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.identifying import words_of
from tacita.keys.table import key_table, repeated_units
from tacita.policy import Policy
from tacita.result import Verdict
from tacita.scenario import Scenario, restricted

LEAST_GROUPS = 20
"""Groups of several records that there must be."""
AGREE = 0.9
"""The share of them whose records must agree in all keys."""
BY_CHANCE = 0.005
"""Two groups agree in all keys at most so often; where they do more often, groups of regions do too."""
BY_CHANCE_NAMED = 0.05
"""The same for a column that is declared an identifier, or called like one."""
MOST_TOGETHER = 50
"""Records of a group on average; more are a region or a class."""
IDENTIFIER = re.compile(
    r".*\b(id|ids|ident|identifier|uid|uuid|pid|no|nr|num|number|unit|case|panel|person|persons|respondent|patient|"
    r"member|firm|enterprise|company|business|employer|employee|subject|participant|client|pin)\b.*"
)
"""Words in the name of a column that was removed, and may have said whose records they are."""


def undeclared_units(data: Data, scenario: Scenario, policy: Policy, original: Data | None) -> Iterator[Verdict]:
    """A verdict that is not known where records seem to be of one unit each several times; of the original, if known.

    `scenario` is that of the original, where there is one.
    """
    if not scenario.keys or (policy.k is None and policy.risk is None):
        return
    if scenario.person is not None or repeated_units(data, scenario) is not None:
        return
    file = data if original is None or not set(scenario.keys) <= set(original.columns) else original
    known_there = restricted(scenario, file.columns)
    assert known_there is not None
    row = key_table(file, known_there).row
    named = [name for name in file.columns if _possible_identifiers(name, file, data, scenario)]
    for name in named:
        known = name in scenario.roles or bool(IDENTIFIER.fullmatch(words_of(name)))
        together = _together(file, name, row)
        if together is None:
            continue
        by_chance = _agree_by_chance(*together) <= (BY_CHANCE_NAMED if known else BY_CHANCE)
        if by_chance or (known and _hides(*together, policy.k or 2)):
            limit, what = (policy.k, "k") if policy.k is not None else (policy.risk, "risk")
            assert limit is not None
            way = "" if known else f", or {name!r} as a key or remove it if it is something else"
            why = (
                f"records with the same {name!r} agree in all keys, and each counts as somebody else; declare "
                f"person = {name!r}, so that units are counted{way}"
            )
            yield Verdict(what, limit, None, None, why)
            return


def _possible_identifiers(name: str, file: Data, data: Data, scenario: Scenario) -> bool:
    """Declared identifiers, released columns that are nothing else, and removed ones that are called so."""
    if name in (*scenario.identifiers, scenario.household):
        return True
    if name in scenario.roles or name in scenario.sensitive or _has_fractions(file, name):
        return False
    return name in data.columns or bool(IDENTIFIER.fullmatch(words_of(name)))


def _has_fractions(file: Data, name: str) -> bool:
    if not frame.is_float(file.table, name):
        return False
    return bool((np.nan_to_num(file.numbers(name)) % 1 != 0).any())


def _together(file: Data, name: str, key: Ints) -> tuple[Ints, Ints] | None:
    """Group and key of the records that a column puts together: a few for most of its values, which agree in all keys.

    None where it does not.
    """
    try:
        place, count = file.groups(name)
    except TacitaError:
        return None
    there = place >= 0
    size = np.bincount(place[there], minlength=count)
    several = size > 1
    if several.sum() < max(LEAST_GROUPS, 0.5 * count) or size[several].mean() > MOST_TOGETHER:
        return None
    # Of records that agree, the least and the greatest place of the key are the same.
    least, greatest = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(least, place[there], key[there])
    np.maximum.at(greatest, place[there], key[there])
    return (place[there], key[there]) if (least == greatest)[several].mean() >= AGREE else None


def _hides(group: Ints, key: Ints, k: int) -> bool:
    """Whether some key has k records, of fewer than k groups: their unit would hide behind itself.

    >>> _hides(np.array([0, 0, 0, 1, 2, 3]), np.array([0, 0, 0, 1, 1, 1]), 3)
    True
    """
    different = np.unique(np.column_stack([group, key]), axis=0)[:, 1]
    units, records = (np.bincount(each, minlength=int(key.max(initial=-1)) + 1) for each in (different, key))
    return bool(((records >= k) & (units < k)).any())


def _agree_by_chance(group: Ints, key: Ints) -> float:
    """The share of the pairs of groups that agree in all keys, a group with several keys taken once for each.

    Records of one group say nothing of it: 50 persons with a dozen records each make 2 % of all pairs agree.

    >>> _agree_by_chance(np.array([0, 0, 1, 1, 2]), np.array([7, 7, 7, 8, 9]))
    0.2
    """
    different = np.unique(np.column_stack([group, key]), axis=0)
    pairs = _pairs(len(different)) - _pairs(np.bincount(different[:, 0]))
    return _pairs(np.unique(different[:, 1], return_counts=True)[1]) / pairs if pairs else 1.0


def _pairs(size: Ints | int) -> float:
    """How many pairs there are within groups of these sizes."""
    sizes = np.asarray(size, dtype=np.float64)
    return float((sizes * (sizes - 1) / 2).sum())
