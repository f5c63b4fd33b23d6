"""Which variables two files are compared on: those given, otherwise the keys of the scenario.

Options that all measures of two files share are declared here once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import Doc
from tacita.scenario import checked

MISSING = "(missing)"
"""What a missing value is called among the values of strata."""
NumericKeys = Annotated[tuple[str, ...] | None, Doc("Numeric variables to compare; the scenario's numeric keys.")]
AnyKeys = Annotated[tuple[str, ...] | None, Doc("Variables to compare; the scenario's keys and numeric keys.")]
Strata = Annotated[tuple[str, ...] | None, Doc("Variables that split the file, () for none; the scenario's strata.")]
Unit = Annotated[str | None, Doc("Column that identifies the units in both files; record numbers unless given.")]


def numeric_keys(measure: str, scenario: Any, keys: Any) -> tuple[str, ...]:
    """The numeric variables that a measure compares: those given, otherwise the scenario's numeric keys."""
    names = checked(scenario).numeric_keys
    if keys is not None:
        names = check.names("keys", keys)
    if not names:
        raise TacitaError(f"{measure} needs numeric keys; pass numeric_keys=[...] in the scenario, or keys=[...].")
    return names


def all_keys(measure: str, scenario: Any, keys: Any) -> tuple[str, ...]:
    """The variables of any scale that a measure compares: those given, otherwise all keys of the scenario."""
    names = (*checked(scenario).keys, *(name for name in scenario.numeric_keys if name not in scenario.keys))
    if keys is not None:
        names = check.names("keys", keys)
    if not names:
        raise TacitaError(f"{measure} needs keys; pass keys=[...] or numeric_keys=[...] in the scenario.")
    return names


def strata_of(scenario: Any, strata: Any) -> tuple[str, ...]:
    """The variables that split the file: those given, () for none, otherwise the scenario's strata."""
    names: tuple[str, ...] = checked(scenario).strata
    return names if strata is None else check.names("strata", strata)


def stratum_labels(parts: Sequence[Sequence[str | None]]) -> tuple[str, ...]:
    """What strata are called: their values one after the other, all different; None is a missing value.

    Values are quoted where two strata would have the same name otherwise.

    >>> stratum_labels([("north", "m"), ("north", None)]), stratum_labels([("a x b", "c"), ("a", "b x c")])
    (('north x m', 'north x (missing)'), ("'a x b' x 'c'", "'a' x 'b x c'"))
    """
    plain = [" x ".join(MISSING if value is None else value for value in each) for each in parts]
    if not parts or max(Counter(plain).values()) == 1:
        return tuple(plain)
    return tuple(" x ".join(MISSING if value is None else repr(value) for value in each) for each in parts)
