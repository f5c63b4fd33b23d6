"""All steps that a plan file can name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from tacita.check import TacitaError
from tacita.protect.step import Step


def own_steps() -> tuple[type[Step], ...]:
    """Tacita's steps; a new one is added here."""
    from tacita.protect.code_outliers import CodeOutliers
    from tacita.protect.generalise.generalise import Generalise
    from tacita.protect.group_rare import GroupRare
    from tacita.protect.new_identifiers import NewIdentifiers
    from tacita.protect.random_order import RandomOrder
    from tacita.protect.recode.recode import Recode
    from tacita.protect.remove import Remove
    from tacita.protect.round import Round
    from tacita.protect.suppress.suppress import Suppress
    from tacita.protect.top_code import BottomCode, TopCode
    from tacita.protect.weights.recalibrate import Recalibrate
    from tacita.protect.weights.round_weights import RoundWeights
    from tacita.protect.weights.trim_weights import TrimWeights
    from tacita.protect.weights.weight_noise import WeightNoise

    return (
        Remove,
        Recode,
        TopCode,
        BottomCode,
        CodeOutliers,
        GroupRare,
        Round,
        Generalise,
        Suppress,
        NewIdentifiers,
        RandomOrder,
        RoundWeights,
        TrimWeights,
        WeightNoise,
        Recalibrate,
    )


def step_of(given: Mapping[str, Any], known: Iterable[type[Step]] = ()) -> Step:
    """The step of a table of a plan file: `step` says which, the rest are its parameters."""
    kinds = {step.kind(): step for step in (*own_steps(), *known)}
    name = given.get("step")
    if not isinstance(name, str) or name not in kinds:
        near = difflib.get_close_matches(str(name), kinds, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The steps are {', '.join(kinds)}."
        raise TacitaError(f"a step of a plan must say which it is, as step = 'suppress'; got {name!r}. {hint}")
    return kinds[name].from_dict({field: value for field, value in given.items() if field != "step"})
