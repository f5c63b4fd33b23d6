"""How far a weight must be rounded so that it tells no protected key: tried on the keys and the weight alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tacita.check import TacitaError
from tacita.data import Data
from tacita.policy import Policy
from tacita.protect.parts import applied
from tacita.protect.step import Context
from tacita.protect.weights.round_weights import RoundWeights
from tacita.random import Draws
from tacita.risk.release.reconstruction.rounded_weights import DIGITS
from tacita.risk.release.reconstruction.telling_weight import weight_tells
from tacita.scenario import Scenario


def enough_rounding(released: Data, original: Data, scenario: Scenario, policy: Policy) -> Mapping[str, Any] | None:
    """What `RoundWeights` must be given so that the weight tells no key any more; None where no digits are enough."""
    weight = scenario.weight
    if weight is None or released.condensed is not None:
        return None
    kept = {*scenario.all_keys, weight, *filter(None, (scenario.household, scenario.person))}
    few, before = (data.without(set(data.columns) - kept) for data in (released, original))
    who = replace(scenario, sensitive=(), strata=(), identifiers=())
    here = replace(who, **_present(who, few))
    for digits in DIGITS:
        try:
            step = RoundWeights(digits=digits)
            made = applied(step, few, Context(here, policy, Draws(0), before)).data
        except TacitaError:
            return None
        if not np.array_equal(made.numbers(weight), few.numbers(weight)) and not weight_tells(before, made, who):
            return {"digits": digits}
    return None


def _present(scenario: Scenario, data: Data) -> dict[str, Any]:
    """What of a scenario a step may know: it names columns of the data only."""
    there = {name: getattr(scenario, name) in data.columns for name in ("household", "person")}
    return {name: None for name, known in there.items() if not known}
