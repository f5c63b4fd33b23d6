"""Parameters of generalisation that are tables by key: hierarchies, weights, levels."""

from __future__ import annotations

from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.recode.hierarchies import Hierarchy


def hierarchies_of(what: str, given: Any) -> dict[str, Hierarchy]:
    """By key its hierarchy: itself, of a table with its kind, or of the path of a CSV file."""
    found = {name: Hierarchy.of(each, name) for name, each in check.mapping(what, given).items()}
    if not found:
        raise TacitaError(f"{what} must be given for at least one key, as {{'age': Hierarchy.intervals([5])}}.")
    return found


def weights_of(what: str, given: Any) -> dict[str, float]:
    """By key a number of at least 0."""
    weights = {name: check.number(f"the weight of {name!r}", each) for name, each in check.mapping(what, given).items()}
    if any(weight < 0 for weight in weights.values()):
        raise TacitaError(f"{what} must be at least 0.")
    return weights


def levels_of(what: str, given: Any) -> dict[str, tuple[int, int]]:
    """By key the least and the greatest level."""
    return {name: _pair(what, name, each) for name, each in check.mapping(what, given).items()}


def _pair(what: str, name: str, given: Any) -> tuple[int, int]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise TacitaError(
            f"{what} of {name!r} must be the least and the greatest, as (0, 2); got {check.given(given)}."
        ) from None
    low, high = (check.whole(f"the level of {name!r}", each, 0) for each in (low, high))
    if low > high:
        raise TacitaError(f"the least level of {name!r} must not be above the greatest; got {low} and {high}.")
    return low, high
