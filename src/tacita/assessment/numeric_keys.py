"""Verdicts that stay open where keys are numeric and nothing in the policy judges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tacita import check
from tacita.policy import BY_FREQUENCY, Policy
from tacita.result import Verdict, all_hold

NO_CATEGORICAL_KEYS = (
    "k, risk and rate need categorical keys; numeric keys alone are judged against the original (original=..., "
    "--original FILE), by neighbours of the policy or a limit such as distance_linkage = 0.05, and in one file by a "
    "limit on mixed_uniqueness"
)
"""Why there is no verdict on a file whose keys are all numeric, and the way out."""
BESIDE_OTHERS = (
    "the numeric keys {} are known to the intruder and judged against the original only (original=..., --original "
    "FILE), or in one file by a limit on mixed_uniqueness; set neighbours of the policy to false where they do not "
    "count"
)
"""Why a file with other keys that keep every limit is not called safe."""


def not_judged(limits: Policy, others: Sequence[Verdict]) -> Iterator[Verdict]:
    """A verdict for every limit that would judge recognition, and cannot where numeric keys are all that there is."""
    named = {name: getattr(limits, name) for name in BY_FREQUENCY if getattr(limits, name) is not None}
    if limits.neighbours is not None or (not named and any(verdict.name != "given_back" for verdict in others)):
        named["confidentiality"] = 0.0
    for name, limit in named.items():
        yield Verdict(name, limit, None, None, NO_CATEGORICAL_KEYS)


def numeric_keys_not_judged(
    numeric_keys: Sequence[str], verdicts: Sequence[Verdict], limits: Policy
) -> Iterator[Verdict]:
    """A verdict that is not known where every limit is kept and none of them is on what a file shows of its numeric
    keys; where a limit is not kept, the file is not safe without it."""
    if numeric_keys and limits.neighbours is not None and all_hold(verdicts):
        why = BESIDE_OTHERS.format(check.quoted(numeric_keys))
        yield Verdict("confidentiality", 0.0, None, None, why)
