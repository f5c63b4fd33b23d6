"""The line between safe and unsafe records of a confidentiality plot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.policy import Policy, checked_policy
from tacita.scenario import Scenario

NEIGHBOURS = 15
"""As many originals must look like a released record that was hardly changed (k)."""
PERTURBATION = 0.15
"""So far must a record be moved that nothing else looks like (r), as a share of its size."""


class Limits(NamedTuple):
    """The line between safe and unsafe: (x/k)^g + (y/r)^g = 1, or x = k alone."""

    k: int = NEIGHBOURS
    """Neighbours that make a record safe however little it was changed."""
    r: float = PERTURBATION
    """Perturbation that makes a record safe however few neighbours it has."""
    g: float = 1.0
    """1 straight, below 1 convex (weaker), above 1 concave (stronger)."""
    vertical: bool = False
    """Whether neighbours alone decide, as when confidential variables are released too."""

    def unsafe(self, neighbours: Floats, perturbation: Floats) -> Bools:
        """Below the line and with fewer than k neighbours."""
        few: Bools = neighbours < self.k
        if self.vertical:
            return few
        return few & ((neighbours / self.k) ** self.g + (perturbation / self.r) ** self.g < 1.0)

    def needed(self, neighbours: Floats) -> Floats:
        """How far a record with so many neighbours must be moved to lie on the line."""
        left = np.clip(1.0 - (np.minimum(neighbours, self.k) / self.k) ** self.g, 0.0, 1.0)
        return np.asarray(self.r * left ** (1.0 / self.g))


def limits_of(
    policy: Policy | None, k: int | None, r: float | None, g: float, vertical: bool | None, scenario: Scenario
) -> Limits:
    """The limits given, otherwise the policy's; without a perturbation neighbours alone decide.

    So they do where sensitive variables are released, unless a line is asked for: whoever finds a record learns them,
    however far its keys were moved (Seri and Polettini 2003, section 5).
    """
    policy = checked_policy(policy)
    if k is None:
        k = policy.neighbours
        if k is None:
            raise TacitaError("the policy has no limit on neighbours, so nothing is unsafe; pass k=.")
    if vertical is None:
        vertical = r is None and bool(scenario.sensitive)
    if r is None:
        vertical = vertical or policy.perturbation is None
        r = PERTURBATION if policy.perturbation is None else policy.perturbation
    for name, value in (("r", r), ("g", g)):
        if check.number(name, value) <= 0:
            raise TacitaError(f"{name} must be above 0; got {check.given(value)}.")
    return Limits(check.whole("k", k, 1), r, g, vertical)
