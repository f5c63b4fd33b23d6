"""Which rounding of weights changes them: rounded to whole numbers, weights that are whole stay what they are."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats


def coarser_weights(name: str, weights: Floats | None) -> str:
    """What to do with weights that tell something, short of removing them: the next rounding that changes them.

    >>> coarser_weights("w", np.array([104.25, 98.5])), coarser_weights("w", np.array([104.0, 98.0]))
    ("round 'w' with RoundWeights()", "round 'w' with RoundWeights(digits=1)")
    >>> coarser_weights("w", np.array([100.0, 90.0]))
    "perturb 'w' with WeightNoise()"
    """
    known = np.zeros(0) if weights is None else weights[np.isfinite(weights) & (weights > 0)]
    if bool((known != np.rint(known)).any()) or not len(known):
        return f"round {name!r} with RoundWeights()"
    if _has_several_digits(known):
        return f"round {name!r} with RoundWeights(digits=1)"
    return f"perturb {name!r} with WeightNoise()"


def _has_several_digits(weights: Floats) -> bool:
    """Whether some whole weight has more than one digit that is not a zero behind the first."""
    power = 10.0 ** np.floor(np.log10(weights))
    return bool((np.rint(weights / power) * power != weights).any())
