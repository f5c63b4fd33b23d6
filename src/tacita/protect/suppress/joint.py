"""Several requirements at once, under the one-way rule: violating units step back until all of them hold.

In every round each violating unit shows the most valuable part of what it shows with which it would meet all
requirements, as the others stand. Others may have counted on it, so rounds are repeated; nobody ever shows more again,
and with nothing shown a unit counts everybody, so it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.protect.suppress.combinations import Requirement
from tacita.protect.suppress.demands import Demands, demands_of
from tacita.protect.suppress.reporting import Report, unheard
from tacita.protect.suppress.sweep import Risk, counted, sets_in_order, violating
from tacita.protect.suppress.units import Units


class _Counts:
    """What some units count on any set of keys that they show, worked out when it is asked for."""

    def __init__(self, units: Units, shown: Ints, rows: Ints) -> None:
        self.units, self.shown, self.rows = units, shown, rows
        self.found: dict[int, tuple[Ints, Floats]] = {}

    def on(self, members: int) -> tuple[Ints, Floats]:
        if members not in self.found:
            there = np.flatnonzero(self.shown[self.rows] & members == members)
            f, weight = counted(self.units, self.shown, members, self.rows[there])
            every = np.zeros(len(self.rows), dtype=np.int64)
            every[there] = f
            sums = np.zeros(len(self.rows) if len(weight) else 0)
            sums[there[: len(weight)]] = weight
            self.found[members] = every, sums
        return self.found[members]


def step_back(
    units: Units,
    shown: Ints,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    variant: int,
    fixed: int,
    risk: Risk | None,
    report: Report = unheard,
) -> Ints:
    """What is shown after one round; units for which nothing is enough stay as they are."""  # fmt: skip
    rows = np.flatnonzero(violating(units, shown, needs, risk) & units.free)
    if not len(rows):
        return shown
    counts, demands = _Counts(units, shown, rows), demands_of(needs)
    limited = [need for need in needs if need.limits is not None]
    every = 0
    for need in needs:
        every |= need.members
    before = shown[rows]
    after = before.copy()
    waiting = np.arange(len(rows))
    for members in sets_in_order(every, costs, variant, fixed & every, before):
        report(1 - len(waiting) / len(rows))
        possible = before[waiting] & every & members == members
        if possible.any():
            part = waiting[possible]
            safe = _safe(counts, part, members, demands, limited, risk)
            after[part[safe]] = before[part[safe]] & ~every | members
            waiting = np.setdiff1d(waiting, part[safe], assume_unique=True)
        if not len(waiting):
            break
    shown = shown.copy()
    shown[rows] = after
    return shown


def _safe(
    counts: _Counts, part: Ints, members: int, demands: Demands, limited: Sequence[Requirement], risk: Risk | None
) -> Bools:
    """Which of some units would meet all requirements if they showed exactly `members`."""
    safe = np.ones(len(part), dtype=bool)
    for need in limited:
        if need.limits is not None and risk is not None:
            f, weight = counts.on(members & need.members)
            count = f[part].astype(np.float64)
            safe &= risk(count, weight[part] if len(weight) else count) <= need.limits[counts.rows[part]]
    for inside, k in demands.of(members):
        if not safe.any():
            break
        safe &= counts.on(inside)[0][part] >= k
    return safe
