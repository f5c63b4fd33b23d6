"""From one state of a file to the next: a plan is a fold over `advance`.

States are frozen and may be kept, so that undoing a step, or trying another one, need not start again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.stands_for import OriginalWeights
from tacita.keys.growth import growth_by_dropping
from tacita.keys.table import GREATEST_WEIGHT, repeated_units
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress
from tacita.protect.parts import applied
from tacita.protect.step import Context, Step
from tacita.protect.weights.units import cells_of
from tacita.random import Draws, fresh_seed
from tacita.release.step_log import Changes, changes, shared_rows
from tacita.scenario import Scenario, checked, restricted, with_codes

log = logging.getLogger("tacita")


@dataclass(frozen=True, eq=False)
class State:
    """A file on its way to a release, after some steps."""

    data: Data
    """The data as they are now."""
    scenario: Scenario = field(repr=False)
    """The scenario of the data as they are now: without variables that are no longer there."""
    original: Data = field(repr=False)
    """The data before the first step."""
    original_scenario: Scenario = field(repr=False)
    """The scenario of the data before the first step."""
    policy: Policy
    """What counts as safe."""
    draws: Draws = field(repr=False)
    """The draws of the plan: whoever knows their seed can undo the protection."""
    seed_given: bool = field(default=False, repr=False)
    """Whether the seed was given by hand."""
    steps: tuple[Step, ...] = ()
    """The steps that were done, each with its label."""
    changes: tuple[Changes, ...] = field(default=(), repr=False)
    """What each of them changed."""


def start(data: Any, scenario: Scenario, policy: Policy | None = None, seed: int | None = None) -> State:
    """The state before the first step; without a seed a secret one is drawn. A release goes on from where it is.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> before = start(survey.data, survey.scenario, seed=1)
    >>> after = advance(before, tc.Round("income", base=1000))
    >>> after.steps[0].label, len(before.changes), len(after.changes)
    ('round income', 0, 1)
    """
    given, limits, scenario = Data.of(data), checked_policy(policy), checked(scenario)
    scenario.check_against(given)
    draws = Draws(fresh_seed() if seed is None else seed)
    unit = repeated_units(given, scenario)
    # A firm does not hide behind its own records because its number was removed: units are known from here on.
    known = given if unit is None else replace(given, units=unit)
    # A release of a release is held against what the first one was made of, or a second plan would hide the leaks and
    # the weights of the first.
    first = getattr(data, "original", None)
    original, of_original = (first, data.original_scenario) if isinstance(first, Data) else (given, scenario)
    return State(known, scenario, original, of_original, limits, draws, seed is not None)


def advance(state: State, step: Step, progress: Progress = no_progress) -> State:
    """The state after one more step; the state given stays as it is."""
    step = labelled(step, tuple(each.label for each in state.steps))
    now, scenario = state.data, state.scenario
    before = with_codes(state.original, state.original_scenario)
    context = Context(scenario, state.policy, state.draws.step(step.label), before, progress)
    given = with_codes(now, scenario)
    made = applied(step, given, context)
    _check_numbers(step, made.data, state)
    known = replace(made.data, variables=_variables_after(scenario, now, given, made.data))
    fresh = _with_units(known.with_perturbed(now.perturbed | made.perturbed), now)
    fresh = _with_original_size(fresh, state)
    done = changes(now, fresh, step, made)
    log.info("step %s: %d cells changed", step.label, sum(done.cells.values()))
    fresh = _with_original_weights(fresh, done, state)
    fresh = replace(fresh, mechanisms=(*now.mechanisms, *made.mechanisms))
    remaining = restricted(_with_recoded_codes(scenario, now, fresh), fresh.columns)
    if remaining is None:
        raise TacitaError(f"step {step.label!r} removes every key of the scenario; keep at least one key.")
    return replace(state, data=fresh, scenario=remaining, steps=(*state.steps, step), changes=(*state.changes, done))


def _check_numbers(step: Step, made: Data, state: State) -> None:
    """Every record has a number of its own, and one that a step added none that was ever somebody else's."""
    if np.array_equal(made.record, state.data.record):
        return
    numbers = np.unique(made.record)
    added = ~np.isin(numbers, state.data.record)
    if len(numbers) < len(made) or np.isin(numbers[added], state.original.record).any():
        free = int(max(state.original.record.max(initial=0), state.data.record.max(initial=0))) + 1
        raise TacitaError(
            f"step {step.label!r} gives a record a number that another has or had; number records that it adds from "
            f"{free:,} on."
        )


def _with_original_size(fresh: Data, state: State) -> Data:
    """The data with the number of units before the first step, once a step has added or dropped records."""
    size = state.data.original_size
    if size is None and len(fresh) == len(state.data):
        return fresh
    return replace(fresh, original_size=size or state.data.unit_places(state.scenario.person)[1])


def _with_original_weights(fresh: Data, done: Changes, state: State) -> Data:
    """The data with the weights as they were, once a step has changed or dropped them, or dropped records."""
    known = state.data.original_weights
    name = state.original_scenario.weight or (None if known is None else known.name)
    if known is None and not (done.records_removed or name in done.cells or name in done.variables_removed):
        return fresh
    growth, keys = _growth(fresh, name, done, state)
    values = _weights_as_they_were(fresh, name, state)
    return replace(fresh, original_weights=OriginalWeights(name, values, growth, keys))


def _weights_as_they_were(fresh: Data, name: str | None, state: State) -> Floats:
    """By record the weight before the first step; ones where there is none."""
    if name is None:
        return np.ones(len(fresh))
    was, now = shared_rows(state.original.record, fresh.record)
    # Records that a step added stand for what the release says, or for themselves.
    weights = fresh.numbers(name).copy() if name in fresh.columns else np.ones(len(fresh))
    # Of data that went through a plan before, the weights as they were then.
    known = state.original.original_weights
    before = state.original.numbers(name) if known is None or known.name != name else known.values
    weights[now] = before[was]
    return weights


def _growth(fresh: Data, name: str | None, done: Changes, state: State) -> tuple[Floats | None, frozenset[str]]:
    """How many times its weight each record stands for, and on which keys: those that a step drops are still there."""
    known, keys = state.data.original_weights, frozenset(state.scenario.all_keys)
    if repeated_units(state.data, state.scenario) is not None:
        # A unit that is dropped may have stood for several keys, and would count once for each of them.
        return None, frozenset()
    growth = None if known is None or not keys <= known.keys else known.growth
    if growth is None and not (done.records_removed and keys):
        return None, frozenset()
    growth = np.ones(len(state.data)) if growth is None else growth
    was, now = shared_rows(state.data.record, fresh.record)
    if done.records_removed:
        kept = np.zeros(len(state.data), dtype=np.bool_)
        kept[was] = True
        cell, _ = cells_of(with_codes(state.data, state.scenario), tuple(sorted(keys)))
        weight = _weights_as_they_were(state.data, name, state) * growth
        # Weights that are missing or too great are refused where they are used.
        weight = np.where((weight > 0) & (weight <= GREATEST_WEIGHT), weight, 0.0)
        growth = growth * growth_by_dropping(cell, weight, kept)
    found = np.ones(len(fresh))
    found[now] = growth[was]
    return found, keys


def labelled(step: Step, taken: tuple[str, ...]) -> Step:
    """The step with a label that is not taken: its own, or the usual one, with a number if need be."""
    if step.label:
        if step.label in taken:
            raise TacitaError(
                f"labels of a plan's steps must be named once each; got {check.given(step.label)} more than once."
            )
        return step
    label, number = step.usual_label, 1
    while label in taken:
        number += 1
        label = f"{step.usual_label} {number}"
    return replace(step, label=label)


def _with_units(after: Data, before: Data) -> Data:
    """The data with the units that they had before a step, by record number, if the step did not keep them."""
    if before.units is None or after.units is not None:
        return after
    was, now = shared_rows(before.record, after.record)
    # Records that a step added are units of their own.
    units = int(before.units.max()) + 1 + np.arange(len(after), dtype=np.int64)
    units[now] = before.units[was]
    return replace(after, units=units)


def _variables_after(scenario: Scenario, before: Data, given: Data, made: Data) -> dict[str, Variable]:
    """What is known of the variables after a step: of codes for not applicable what the file itself says.

    A step is given those that only the scenario knows besides, so that it keeps them.
    """
    known = dict(made.variables)
    for name, codes in scenario.not_applicable.items():
        already_declared = before.variable(name).not_applicable
        if name not in known:
            continue
        if known[name] == given.variable(name):
            known[name] = before.variable(name)
        else:
            undeclared = _recoded_codes(
                tuple(code for code in codes if code not in already_declared), before, made, name
            )
            ours = _recoded_codes(already_declared, before, made, name)
            kept = tuple(code for code in known[name].not_applicable if code in ours or code not in undeclared)
            known[name] = replace(known[name], not_applicable=kept)
    return known


def _with_recoded_codes(scenario: Scenario, before: Data, after: Data) -> Scenario:
    """The scenario with codes for not applicable as they are called after a step.

    Where numbers become texts, 99 becomes '99'. If the scenario still said 99, those records would count as missing,
    and so look like everybody, though the release tells that they are not applicable.
    """
    there = [name for name in scenario.not_applicable if name in after.columns]
    codes = {name: _recoded_codes(scenario.not_applicable[name], before, after, name) for name in there}
    return replace(scenario, not_applicable={**scenario.not_applicable, **codes})


def _recoded_codes(codes: tuple[Any, ...], before: Data, after: Data, name: str) -> tuple[Any, ...]:
    """What records with one of the codes have after a step: values that nobody else has, or that are declared missing.

    A value that others have too and that is not declared missing is a category like any other.
    """
    was, now = shared_rows(before.record, after.record)
    old, new, known = frame.coded(before.table, name), frame.coded(after.table, name), after.variable(name)
    had, has = old.codes[was], new.codes[now]
    place_of = {value: place for place, value in enumerate(old.values, start=1)}
    # A blank that stands for not applicable is no value: its place is 0.
    places = {code: place_of.get(code, 0) for code in codes if code in place_of or code == ""}
    others = set(has[~np.isin(had, list(places.values()))].tolist())
    recoded: list[Any] = []
    for code in codes:
        became = np.unique(has[had == places[code]]).tolist() if code in places else []
        values = {at: new.values[at - 1] for at in became if at > 0}
        kept = [value for at, value in values.items() if at not in others or known.is_missing(value)]
        # A number stays the one that the scenario has: 99 of a column of decimal numbers is 99.
        recoded += [code if value == code else value for value in kept]
        # A code that went into another one is nobody's any more; one that nobody had stays declared.
        if not became or code in new.values or (code == "" and 0 in became):
            recoded.append(code)
    return tuple(dict.fromkeys(recoded))


def with_declared_codes(data: Data, scenario: Scenario) -> Data:
    """The data with the scenario's codes for not applicable declared, as far as they would count as missing otherwise.

    Only the scenario of the release knows what a code is called there. Under any other one, as the one that the plan
    was applied with, or one made for the saved file, its records would look like everybody, and the risk be too low.
    """
    declared: dict[str, Variable] = {}
    for name, codes in scenario.not_applicable.items():
        if name not in scenario.all_keys:
            continue
        known = data.variable(name)
        blank = bool(frame.missing(data.table, name).any())
        undeclared = [code for code in codes if (blank if code == "" else known.is_missing(code))]
        if undeclared:
            declared[name] = replace(known, not_applicable=tuple(dict.fromkeys([*known.not_applicable, *undeclared])))
    return replace(data, variables={**data.variables, **declared})
