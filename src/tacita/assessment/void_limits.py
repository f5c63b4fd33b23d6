"""Limits that every file keeps: they say nothing, and make nothing safe."""

from __future__ import annotations

from collections.abc import Iterator

from tacita.measures import find
from tacita.policy import OWN_FIELDS, Policy
from tacita.result import Verdict
from tacita.scenario import Scenario

PROBABILITIES = ("risk", "rate", "household_risk")
"""Limits of a policy on probabilities, which 1 makes void."""


def is_void(verdict: Verdict, policy: Policy, records: int) -> bool:
    """Whether a limit is kept, and is one that every file of so many records keeps."""
    if verdict.holds is not True:
        return False
    name = verdict.name.split(":")[0]
    if name == "confidentiality" and policy.neighbours == 1:
        # Every original looks like itself.
        return True
    return _is_void(name, verdict.limit, records)


def void_limits(policy: Policy, scenario: Scenario, records: int) -> Iterator[str]:
    """A caution for each limit of a policy that is none."""
    named = {name: getattr(policy, name) for name in PROBABILITIES}
    named |= {f"risk of the key set {name!r}": own.risk for name, own in scenario.key_sets.items()}
    named |= {name: limited.limit for name in policy.limits if (limited := policy.limit_of(name)) is not None}
    for name, limit in named.items():
        if limit is not None and _is_void(name.split(" ")[0], limit, records):
            yield _said(f"{name} = {limit:g}")
    if policy.neighbours == 1 and scenario.numeric_keys:
        yield _said("neighbours = 1")


def _is_void(name: str, limit: float, records: int) -> bool:
    if name in OWN_FIELDS.values():
        return name in PROBABILITIES and limit >= 1.0
    declared = find(name).limit
    return declared is not None and declared.is_void(limit, records)


def _said(limit: str) -> str:
    return f"{limit} is no limit, since every file keeps it: it makes nothing safe."
