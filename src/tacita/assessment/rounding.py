"""How far numeric keys must be rounded so that as many records as a policy asks for could be each of them.

It is tried on the numbers alone, a few times: after rounding the measure is still valid, and what rounding does cannot
be told from counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.policy import Policy
from tacita.protect.round import to_digits, to_multiple
from tacita.result import Repair, step_call

DIGITS = (6, 5, 4, 3, 2, 1)
"""Significant digits, from the finest."""
MULTIPLES = (1, 2, 5)
"""Bases are these times a power of ten."""
MOST_TRIED = 100_000
"""Nothing is tried for more records: the assessment is not to take several times as long."""


def rounding(found: Any, policy: Policy) -> Repair:
    """The finest rounding of all numeric keys with which a limit on mixed uniqueness is kept, or that none is known."""
    limit = policy.limit_of("mixed_uniqueness").limit  # type: ignore[union-attr]
    names, below = list(found.tolerance), int((found.count < limit).sum())
    who = f"{check.counted(below, 'record')} with fewer than {limit:g} candidates: "
    usual = "TopCode the greatest, Recode the categorical keys or name fewer"
    asked = None if found.compared is None or found.size > MOST_TRIED else _enough(found.compared, limit)
    if asked is None:
        known = "" if found.size > MOST_TRIED else ", and rounding alone is not enough"
        ways = usual if known else f"Round {check.quoted(names)} more, {usual}"
        return Repair("mixed_uniqueness", f"{who}{ways}{known}", records=below)
    parameters = {"variables": names, **asked}
    text = f"{who}{step_call('round', parameters)} is enough; or {usual}"
    return Repair("mixed_uniqueness", text, "round", parameters, below)


def _enough(compared: Any, limit: float) -> dict[str, Any] | None:
    """The finest rounding that is enough: to digits, which suit numbers of any size, or one number to a multiple."""

    def kept(by_column: Callable[[Floats], Floats]) -> bool:
        values = np.column_stack([by_column(column) for column in compared.values.T])
        return bool(compared.candidates(values).min() >= limit)

    digits = _first(DIGITS, lambda each: kept(lambda column: to_digits(column, each)))
    if digits is not None:
        return {"digits": digits}
    if compared.values.shape[1] > 1:
        return None
    base = _first(_bases(compared.values[:, 0]), lambda each: kept(lambda column: to_multiple(column, each)))
    return None if base is None else {"base": base}


def _first(options: Sequence[Any], enough: Callable[[Any], bool]) -> Any:
    """The first option that is enough, found by halving: one that is followed by others that are enough too."""
    low, high = 0, len(options)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(options[middle]) else (middle + 1, high)
    return options[low] if low < len(options) else None


def _bases(values: Floats) -> list[float]:
    """Round numbers from a hundredth of a usual number to twice the greatest."""
    size = np.abs(values[~np.isnan(values) & (values != 0)])
    if not len(size):
        return []
    powers = range(math.floor(math.log10(float(np.median(size)))) - 2, math.ceil(math.log10(float(size.max()))) + 1)
    return [float(f"{each}e{power}") for power in powers for each in MULTIPLES]
