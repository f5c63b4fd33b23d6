"""Verdicts: whether a limit of the policy is kept, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """Whether one limit of the policy is kept."""

    name: str
    """What is limited: `k`, `risk`, `rate`, `household_risk` or the name of a measure; of another key set `k:name`."""
    limit: float
    """The limit."""
    value: float | None
    """What was measured; None: nothing was."""
    holds: bool | None
    """Whether the limit is kept. None: the measure is not valid here, or was not measured. None is never safe."""
    why: str
    """The verdict in one clause, without a full stop."""

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers and texts."""
        return {"name": self.name, "limit": self.limit, "value": self.value, "holds": self.holds, "why": self.why}


def all_hold(verdicts: Iterable[Verdict]) -> bool:
    """Whether there is at least one verdict and every one holds: only then is a file safe."""
    listed = list(verdicts)
    return bool(listed) and all(verdict.holds is True for verdict in listed)


def summary(verdicts: Iterable[Verdict]) -> str:
    """The verdict on the whole file: SAFE, NOT SAFE, NOT ASSESSED or NO VERDICT, with the reasons.

    >>> summary([Verdict("k", 3, 0, True, "no record below k = 3")])
    'SAFE under this policy'
    >>> summary([Verdict("k", 3, None, None, "the key 'age' was perturbed")])
    "NOT ASSESSED under this policy: the key 'age' was perturbed"
    """
    listed = list(verdicts)
    failed = [verdict.why for verdict in listed if verdict.holds is False]
    unknown = list(dict.fromkeys(verdict.why.rstrip(".") for verdict in listed if verdict.holds is None))
    if failed:
        open_ones = f"; not assessed: {'; '.join(unknown)}" if unknown else ""
        return f"NOT SAFE under this policy: {'; '.join(failed)}{open_ones}"
    if unknown:
        return f"NOT ASSESSED under this policy: {'; '.join(unknown)}"
    return "SAFE under this policy" if listed else "NO VERDICT: the policy sets no limit"
