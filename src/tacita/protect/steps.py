"""All steps that a plan file can name: Tacita's own, and those of installed packages (entry points `tacita.steps`)."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.step import Step

GROUP = "tacita.steps"
"""The group of entry points by which other packages add steps: the name is the kind, as `my_noise`."""

OWN = {
    "remove": "tacita.protect.remove:Remove",
    "recode": "tacita.protect.recode.recode:Recode",
    "top_code": "tacita.protect.top_code:TopCode",
    "bottom_code": "tacita.protect.top_code:BottomCode",
    "code_outliers": "tacita.protect.code_outliers:CodeOutliers",
    "group_rare": "tacita.protect.group_rare:GroupRare",
    "round": "tacita.protect.round:Round",
    "generalise": "tacita.protect.generalise.generalise:Generalise",
    "suppress": "tacita.protect.suppress.suppress:Suppress",
    "suppress_key": "tacita.protect.suppress_key:SuppressKey",
    "new_identifiers": "tacita.protect.new_identifiers:NewIdentifiers",
    "random_order": "tacita.protect.random_order:RandomOrder",
    "round_weights": "tacita.protect.weights.round_weights:RoundWeights",
    "trim_weights": "tacita.protect.weights.trim_weights:TrimWeights",
    "weight_noise": "tacita.protect.weights.weight_noise:WeightNoise",
    "recalibrate": "tacita.protect.weights.recalibrate:Recalibrate",
    "noise": "tacita.protect.noise.noise:Noise",
    "pram": "tacita.protect.pram.pram:Pram",
    "rank_swap": "tacita.protect.swap.rank_swap:RankSwap",
    "swap_records": "tacita.protect.swap.swap_records:SwapRecords",
    "random_swap": "tacita.protect.swap.random_swap:RandomSwap",
    "microaggregate": "tacita.protect.microaggregate.microaggregate:Microaggregate",
    "shuffle": "tacita.protect.shuffle.shuffle:Shuffle",
    "mask_by_model": "tacita.protect.model.mask_by_model:MaskByModel",
    "microaggregate_mixed": "tacita.protect.microaggregate.microaggregate_mixed:MicroaggregateMixed",
    "synthesise": "tacita.protect.synthesise.synthesise:Synthesise",
    "drop_records": "tacita.protect.drop_records:DropRecords",
    "sample": "tacita.protect.sample:Sample",
}
"""Tacita's steps by kind, and where each is: a new one is added here. Nothing is imported before it is asked for."""


def own_steps() -> tuple[type[Step], ...]:
    """Tacita's steps, all of them imported."""
    return tuple(_own(kind) for kind in OWN)


def step_of(given: Mapping[str, Any], known: Iterable[type[Step]] = ()) -> Step:
    """The step of a table of a plan file: `step` says which, the rest are its parameters."""
    return _class_of(given.get("step"), known).from_dict(
        {field: value for field, value in given.items() if field != "step"}
    )


def _class_of(name: Any, known: Iterable[type[Step]]) -> type[Step]:
    """The step of a name: one given by the caller, Tacita's own, or that of an installed package."""
    given = {step.kind(): step for step in known}
    if isinstance(name, str) and name in given:
        return given[name]
    if isinstance(name, str) and name in step_names():
        return find_step(name)
    raise TacitaError(
        f"a step of a plan must say which it is, as step = 'suppress'; got {check.given(name)}. "
        f"{_hint(name, [*step_names(), *given])}"
    )


def step_names() -> tuple[str, ...]:
    """All steps: Tacita's own, then those of installed packages."""
    return tuple(dict.fromkeys([*OWN, *(each.name for each in entry_points(group=GROUP))]))


def find_step(name: str) -> type[Step]:
    """A step by its name in plan files: Tacita's own, or that of an installed package.

    >>> find_step("round").__name__
    'Round'
    """
    if name in OWN:
        return _own(name)
    added = {each.name: each for each in entry_points(group=GROUP)}
    if name in added:
        return _loaded(added[name])
    raise TacitaError(f"there is no step {name!r}. {_hint(name, step_names())}")


def _hint(name: Any, kinds: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), list(kinds), n=1)
    return f"Did you mean {near[0]!r}?" if near else f"The steps are {', '.join(kinds)}."


def _own(kind: str) -> type[Step]:
    module, _, name = OWN[kind].partition(":")
    found: type[Step] = getattr(importlib.import_module(module), name)
    return found


def _loaded(point: EntryPoint) -> type[Step]:
    """The step of another package; what is no step of that name is an error that says whose fault it is."""
    try:
        found = point.load()
    except Exception as error:
        raise TacitaError(
            f"the step {point.name!r} of an installed package cannot be loaded ({type(error).__name__}); update or "
            f"remove the package."
        ) from None
    if not (isinstance(found, type) and issubclass(found, Step)) or found.kind() != point.name:
        raise TacitaError(
            f"the entry point {check.quoted([point.name])} of {GROUP} is no step of that kind; name it after its class."
        )
    return found
