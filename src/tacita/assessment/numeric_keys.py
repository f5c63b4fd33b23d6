"""Scenarios without categorical keys: limits that count equal keys say nothing there, and are never passed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tacita.policy import BY_FREQUENCY, Policy
from tacita.result import Verdict

NO_CATEGORICAL_KEYS = (
    "k, risk and rate need categorical keys; numeric keys alone are judged against the original (original=..., "
    "--original FILE), by neighbours of the policy or a limit such as distance_linkage = 0.05, and in one file by a "
    "limit on mixed_uniqueness"
)
"""Why there is no verdict on a file whose keys are all numeric, and the way out."""


def not_judged(limits: Policy, others: Sequence[Verdict]) -> Iterator[Verdict]:
    """A verdict for every limit that would judge recognition, and cannot where numeric keys are all that there is."""
    named = {name: getattr(limits, name) for name in BY_FREQUENCY if getattr(limits, name) is not None}
    if limits.neighbours is not None or (not named and any(verdict.name != "given_back" for verdict in others)):
        named["confidentiality"] = 0.0
    for name, limit in named.items():
        yield Verdict(name, limit, None, None, NO_CATEGORICAL_KEYS)
