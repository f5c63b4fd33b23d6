"""Calibration: weights as near as possible to given ones that meet given totals (Deville and Särndal 1992).

Deville, J.-C. and Särndal, C.-E. (1992), Calibration estimators in survey sampling. JASA 87, 376-382.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats
from tacita.progress import Progress

ROUNDS = 100
HALVINGS = 40
RIDGE = 1e-9
"""Keeps the matrix regular where margins depend on each other: the totals of two variables add up to the same."""
GREATEST_EXPONENT = 50.0


class Calibrated(NamedTuple):
    """What calibration came to."""

    factor: Floats
    """g, what each weight is multiplied by."""
    rounds: int
    """Newton steps."""
    deviation: float
    """The greatest relative deviation from a total."""


class Distance(NamedTuple):
    """A distance between old and new weights by what follows from it: g = F(u), u being a sum of multipliers."""

    raking: bool
    """Whether F is exp(u), which never gives a negative weight, or 1 + u."""
    low: float
    high: float
    """Bounds of g; the nearest weights within them have F cut at both ends."""

    def factor(self, u: Floats) -> Floats:
        """F."""
        plain = np.exp(np.minimum(u, GREATEST_EXPONENT)) if self.raking else 1.0 + u
        found: Floats = np.clip(plain, self.low, self.high)
        return found

    def slope(self, u: Floats) -> Floats:
        """The derivative of F."""
        plain = np.exp(np.minimum(u, GREATEST_EXPONENT)) if self.raking else 1.0 + u
        inside = (plain > self.low) & (plain < self.high)
        return np.where(inside, plain if self.raking else 1.0, 0.0)

    def area(self, u: Floats) -> Floats:
        """An integral of F: what is made least."""
        with np.errstate(divide="ignore"):
            ends = np.log([self.low, self.high]) if self.raking else np.array([self.low, self.high]) - 1.0
        inside = np.clip(u, *ends)
        plain = np.exp(np.minimum(inside, GREATEST_EXPONENT)) if self.raking else inside + inside * inside / 2
        # Beyond its ends F is constant; `u - inside` is 0 where there is no bound.
        beyond = np.where(u > inside, np.nan_to_num(self.high, posinf=0.0), np.nan_to_num(self.low, neginf=0.0))
        return plain + beyond * (u - inside)


def calibrate(
    design: Any, weight: Floats, totals: Floats, distance: Distance, tolerance: float, progress: Progress
) -> Calibrated:
    """Factors g with sum of weight g x = totals, x being the rows of the sparse matrix `design`.

    The multipliers are found by Newton's method on the dual, sum of weight times area(x multipliers) minus totals times
    multipliers, which is convex: steps are halved until it falls, so that it converges from anywhere. Where the totals
    cannot be met the deviation stays above the tolerance.
    """
    given = design.T @ weight
    multiplier = np.zeros(len(totals))
    u = np.zeros(len(weight))
    gap, value = design.T @ (weight * distance.factor(u)) - totals, float(weight @ distance.area(u))
    for done in range(ROUNDS):
        deviation = float(np.max(np.abs(gap) / totals))
        if deviation <= tolerance:
            return Calibrated(distance.factor(u), done, deviation)
        progress(done / ROUNDS, "calibrating weights")
        curve = (design.T @ design.multiply((weight * distance.slope(u))[:, None]).tocsr()).toarray()
        curve[np.diag_indices_from(curve)] += RIDGE * given
        move = -np.linalg.solve(curve, gap)
        step, fall = 1.0, float(gap @ move)
        for _ in range(HALVINGS):
            tried = multiplier + step * move
            u = design @ tried
            fresh_gap = design.T @ (weight * distance.factor(u)) - totals
            fresh_value = float(weight @ distance.area(u) - totals @ tried)
            nearer = np.max(np.abs(fresh_gap) / totals) < deviation / 2
            fits = not distance.raking or u.max() < GREATEST_EXPONENT
            if fits and (nearer or fresh_value <= value + 1e-4 * step * fall):
                break
            step /= 2
        else:
            break
        multiplier, gap, value = tried, fresh_gap, fresh_value
    u = design @ multiplier
    return Calibrated(distance.factor(u), ROUNDS, float(np.max(np.abs(gap) / totals)))
