"""Counting what is released, by the same code as every measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.missing_rules import matching_counts, shown_fully
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.reporting import Report, unheard
from tacita.protect.suppress.sweep import Risk
from tacita.protect.suppress.trials import sources
from tacita.protect.suppress.units import Units, blanked
from tacita.scenario import MissingRule


def frequencies(codes: Codes, records: Ints, weights: Floats, members: int, rule: MissingRule) -> tuple[Floats, Floats]:
    """By row: the records, and the sum of weights, that count for it on some keys; no weights: the records twice."""
    now = sources(codes, records, weights, members)
    keys, row = now.keys.codes, now.row
    counted = matching_counts(keys, now.keys, rule, now.records)[row]
    f, weight = counted[:, 0], counted[:, -1]
    if rule.name == "no_match":
        alone = ~shown_fully(keys)[row]
        f = np.where(alone, 1.0, f)
        weight = np.where(alone, weights / records if len(weights) else 1.0, weight)
    return f, weight


def unsafe(
    codes: Codes,
    records: Ints,
    weights: Floats,
    needs: Sequence[Requirement],
    rule: MissingRule,
    risk: Risk | None = None,
    report: Report = unheard,
) -> Bools:
    """Which rows do not meet every requirement."""
    out = np.zeros(len(codes), dtype=bool)
    for number, need in enumerate(needs):
        report(number / len(needs))
        f, weight = frequencies(codes, records, weights, need.members, rule)
        out |= f < need.k
        if need.limits is not None and risk is not None:
            out |= risk(f, weight) > need.limits
    return out


def unsafe_units(
    units: Units, shown: Ints, needs: Sequence[Requirement], rule: MissingRule, risk: Risk | None
) -> Bools:
    """Which units that may be touched are unsafe with what all units show."""
    return unsafe(blanked(units.codes, shown), units.records, units.weights, needs, rule, risk) & units.free


def coverage(units: Units, needs: Sequence[Requirement], rule: MissingRule) -> Floats:
    """By unit: what counts for it as a share of the k asked, where it lacks most."""
    least = np.full(len(units.codes), np.inf)
    for need in needs:
        f, _ = frequencies(units.codes, units.records, units.weights, need.members, rule)
        least = np.minimum(least, f / need.k)
    return least
