"""Counting what is released, by the same code as every measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita import sums
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.counting import matching_counts, shown_fully
from tacita.keys import distinct_keys
from tacita.matching import Keys
from tacita.protect.suppression.combinations import Requirement, places
from tacita.protect.suppression.households import Households
from tacita.protect.suppression.reporting import Report, unheard
from tacita.protect.suppression.sweep import Risk
from tacita.protect.suppression.units import Units, blanked
from tacita.scenario import MissingRule

MOST_TRIALS = 2000
"""So many cells are tried one by one, each by counting the file."""
EXACT_LOOKS = 2_000_000
"""So many pairs of units are worth looking at for the log alone."""


def frequencies(codes: Codes, records: Ints, weights: Floats, members: int, rule: MissingRule) -> tuple[Floats, Floats]:
    """By row: the records, and the sum of weights, that count for it on some keys; no weights: the records twice."""
    columns = [codes[:, place] for place in places(members)]
    row, keys = distinct_keys(columns, [int(column.max(initial=0)) for column in columns])
    carried = np.bincount(row, weights=records, minlength=len(keys)).astype(np.int64)
    totals = carried[:, None]
    if len(weights):
        totals = np.column_stack([carried, sums.group_sums(weights, row, len(keys), sums.WEIGHT_BITS)])
    counted = matching_counts(keys, Keys(keys, totals), rule, carried)[row]
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


def given_back(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    risk: Risk | None,
    households: Households | None = None,
    report: Report = unheard,
) -> Ints:
    """Show again, one by one, every cell without which all units are safe, the most valuable first.

    Each cell is tried by counting the whole file, for rules under which nothing quicker is known: `MOST_TRIALS` cells.
    Those that a household shares are tried together.
    """
    left = MOST_TRIALS
    for place in sorted(range(units.codes.shape[1]), key=lambda place: (-costs[place], place)):
        for together in cells_to_try(units, shown, place, households)[:left]:
            left -= 1
            report(1 - left / MOST_TRIALS)
            trial = shown.copy()
            trial[together] |= 1 << place
            if not unsafe_units(units, trial, needs, rule, risk).any():
                shown = trial
    return shown


def cells_to_try(units: Units, shown: Ints, place: int, households: Households | None) -> list[Ints]:
    """The units that a key is blanked for, one by one, or by household where it is shared."""
    asked = np.flatnonzero(units.known & ~shown & 1 << place)
    if households is None or place not in households.variables:
        return [asked[each : each + 1] for each in range(len(asked))]
    order = asked[np.argsort(households.household[asked], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(households.household[order])) + 1) if len(order) else []


def needed_by_itself(
    units: Units, shown: Ints, needs: Sequence[Requirement], place: int, rule: MissingRule, risk: Risk | None
) -> Bools | None:
    """Which units would be unsafe if they alone showed one key again; None where it takes too long to count."""
    asked = np.flatnonzero(units.known & ~shown & 1 << place)
    if len(asked) * len(shown) > EXACT_LOOKS:
        return None
    out = np.zeros(len(shown), dtype=bool)
    for unit in asked:
        trial = shown.copy()
        trial[unit] |= 1 << place
        out[unit] = unsafe_units(units, trial, needs, rule, risk)[unit]
    return out
