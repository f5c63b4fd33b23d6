"""A plan: the steps that turn a file into a release. Plans are data; undo is dropping the last step."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.declared import Declared
from tacita.policy import Policy
from tacita.protect.step import Context, Progress, Step, silent
from tacita.protect.steps import step_of
from tacita.random import Draws, fresh_seed
from tacita.release.release import Release
from tacita.release.step_log import changes, shared_rows
from tacita.rules import Rule, Rules, broken_rules
from tacita.scenario import Scenario, checked, restricted, with_codes

log = logging.getLogger("tacita")


@dataclass(frozen=True)
class Plan(Declared):
    """What is done to the data, step by step.

    Nothing in a plan is secret: the seed of the random draws is not part of it, but of the release that it made.
    Every step gets a label, and draws depend on it, so dropping one step leaves what the others draw as it was.

    >>> import tacita as tc
    >>> plan = tc.Plan([tc.Remove("name"), tc.Round("income", base=100)])
    >>> print(plan)
    1. remove name: remove(variables = ['name'])
    2. round income: round(variables = ['income'], base = 100.0)
    >>> tc.Plan.from_toml(plan.to_toml()) == plan
    True
    """

    section: ClassVar[str] = "plan"

    steps: tuple[Step, ...] = ()
    """The steps, in the order in which they are applied."""

    def __post_init__(self) -> None:
        if not isinstance(self.steps, Step | Iterable):
            raise TacitaError(f"a plan is a list of steps, as Plan([Suppress()]); got {type(self.steps).__name__}.")
        steps = (self.steps,) if isinstance(self.steps, Step) else tuple(self.steps)
        wrong = [each for each in steps if not isinstance(each, Step)]
        if wrong:
            raise TacitaError(f"a plan is a list of steps, as Plan([Suppress()]); got {type(wrong[0]).__name__} in it.")
        check.unique_names("labels of a plan's steps", [step.label for step in steps if step.label])
        object.__setattr__(self, "steps", _labelled(steps))

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        lines = [f"{place}. {step.label}: {step}" for place, step in enumerate(self.steps, start=1)]
        return "\n".join(lines) or "no steps"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the steps."""
        return tuple(step.label for step in self.steps)

    def then(self, *steps: Step) -> Plan:
        """The plan with further steps behind."""
        return Plan((*self.steps, *steps))

    def without(self, *labels: str) -> Plan:
        """The plan without some steps; the others draw as before."""
        unknown = [label for label in labels if label not in self.labels]
        if unknown:
            raise TacitaError(
                f"the plan has no step {check.quoted(unknown)}; its steps are {check.quoted(self.labels)}."
            )
        return Plan(tuple(step for step in self.steps if step.label not in labels))

    def undo(self) -> Plan:
        """The plan without its last step."""
        if not self.steps:
            raise TacitaError("the plan has no steps; there is nothing to undo.")
        return Plan(self.steps[:-1])

    def to_dict(self) -> dict[str, Any]:
        """The steps as tables: the kind of step, a label that is not the usual one, and its parameters."""
        tables = []
        for step in self.steps:
            given = step.to_dict()
            if step.label == step.usual_label:
                del given["label"]
            tables.append({"step": step.kind()} | given)
        return {"steps": tables}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], known: Iterable[type[Step]] = ()) -> Self:
        """The plan of a mapping as `to_dict` gives it; `known` are steps besides Tacita's own."""
        if not isinstance(given, Mapping):
            raise TacitaError(f"a plan is a table with steps, each headed [[plan.steps]]; got {type(given).__name__}.")
        unknown = [name for name in given if name != "steps"]
        if unknown:
            raise TacitaError(f"plan has no field {unknown[0]!r}. The fields are steps.")
        tables = given.get("steps", [])
        if not isinstance(tables, list | tuple) or not all(isinstance(each, Mapping) for each in tables):
            raise TacitaError("the steps of a plan are tables, each headed [[plan.steps]].")
        return cls(tuple(step_of(each, known) for each in tables))

    def apply(
        self,
        data: Any,
        scenario: Scenario,
        policy: Policy | None = None,
        *,
        rules: Iterable[Rule | str] | Rules = (),
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Do everything, and count what it changed.

        The data are never changed. `rules` are relations between variables that the release should keep; violations
        are listed in it. `seed` repeats a release; without it a secret one is drawn. Whoever knows the seed can undo
        the protection: it belongs beside the original data. `progress(done, what)` is called between and inside steps,
        and may raise to stop the work.

        >>> import tacita as tc
        >>> survey = tc.household_survey(200, population=4000)
        >>> release = tc.Plan([tc.Round("income", base=1000)]).apply(survey.data, survey.scenario)
        >>> len(release.data) == len(survey.data)
        True
        """
        original, limits, show = Data.of(data), Policy() if policy is None else policy, progress or silent
        if not isinstance(limits, Policy):
            raise TacitaError(f"policy must be a Policy, as Policy(k=3); got {type(limits).__name__}.")
        if not callable(show):
            raise TacitaError(f"progress must be a function of two arguments; got {type(show).__name__}.")
        checked(scenario).check_against(original)
        kept = Rules.of(rules)
        kept.check_against(original)
        draws = Draws(fresh_seed() if seed is None else seed)
        now, who, before = original, scenario, with_codes(original, scenario)
        done = []
        for place, step in enumerate(self.steps):
            show(place / len(self.steps), step.label)
            context = Context(who, limits, draws.step(step.label), before, _part(show, place, len(self.steps)))
            given = with_codes(now, who)
            made = step.apply(given, context)
            fresh = replace(
                made.data,
                variables=_known_after(who, now, given, made.data),
                perturbed=made.data.perturbed | frozenset(made.perturbed),
            )
            done.append(changes(now, fresh, step.label, str(step), made.remarks, made.figures))
            log.info("step %s: %d cells changed", step.label, sum(done[-1].cells.values()))
            remaining = restricted(_followed(who, now, fresh), fresh.columns)
            now = fresh
            if remaining is None:
                raise TacitaError(f"step {step.label!r} removes every key of the scenario; keep at least one key.")
            who = remaining
        show(1.0, "release")
        return Release(
            data=_told(now, who).rebuilt(),
            plan=self,
            scenario=who,
            original_scenario=scenario,
            policy=limits,
            changes=tuple(done),
            broken=broken_rules(kept, original, now),
            rules=kept,
            seed=draws.seed,
            seed_given=seed is not None,
        )


def _labelled(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps, each with a label; a second step with the same usual label gets a number."""
    taken = {step.label for step in steps if step.label}
    labelled = []
    for step in steps:
        label, number = step.label or step.usual_label, 1
        while not step.label and label in taken:
            number += 1
            label = f"{step.usual_label} {number}"
        taken.add(label)
        labelled.append(replace(step, label=label))
    return tuple(labelled)


def _known_after(who: Scenario, before: Data, given: Data, made: Data) -> dict[str, Variable]:
    """What is known of the variables after a step: of codes for not applicable what the file itself says.

    A step is given those that only the scenario knows besides, so that it keeps them.
    """
    known = dict(made.variables)
    for name, codes in who.not_applicable.items():
        said = before.variable(name).not_applicable
        if name not in known:
            continue
        if known[name] == given.variable(name):
            known[name] = before.variable(name)
        else:
            unsaid = _followed_codes(tuple(code for code in codes if code not in said), before, made, name)
            ours = _followed_codes(said, before, made, name)
            kept = tuple(code for code in known[name].not_applicable if code in ours or code not in unsaid)
            known[name] = replace(known[name], not_applicable=kept)
    return known


def _followed(who: Scenario, before: Data, after: Data) -> Scenario:
    """The scenario with codes for not applicable as they are called after a step.

    Where numbers become texts, 99 becomes '99'. If the scenario still said 99, those records would count as missing,
    and so look like everybody, though the release tells that they are not applicable.
    """
    there = [name for name in who.not_applicable if name in after.columns]
    codes = {name: _followed_codes(who.not_applicable[name], before, after, name) for name in there}
    return replace(who, not_applicable={**who.not_applicable, **codes})


def _followed_codes(codes: tuple[Any, ...], before: Data, after: Data, name: str) -> tuple[Any, ...]:
    """What records with one of the codes have after a step: values that nobody else has, or that are declared missing.

    A value that others have too and that is not declared missing is a category like any other.
    """
    was, now = shared_rows(before.record, after.record)
    old, new, known = frame.coded(before.table, name), frame.coded(after.table, name), after.variable(name)
    had, has = old.codes[was], new.codes[now]
    place_of = {value: place for place, value in enumerate(old.values, start=1)}
    places = {code: place_of[code] for code in codes if code in place_of}
    others = set(has[~np.isin(had, list(places.values()))].tolist())
    followed: list[Any] = []
    for code in codes:
        became = np.unique(has[had == places[code]]).tolist() if code in places else []
        values = {at: new.values[at - 1] for at in became if at > 0}
        kept = [value for at, value in values.items() if at not in others or known.is_missing(value)]
        # A number stays the one that the scenario has: 99 of a column of decimal numbers is 99.
        followed += [code if value == code else value for value in kept] or [code]
    return tuple(dict.fromkeys(followed))


def _told(data: Data, who: Scenario) -> Data:
    """The data with codes of keys for not applicable that the data themselves would take for missing.

    Only the scenario of the release knows what a code is called there. Under any other one, as the one that the plan
    was applied with, or one made for the saved file, its records would look like everybody, and the risk be too low.
    """
    told: dict[str, Variable] = {}
    for name, codes in who.not_applicable.items():
        if name not in who.all_keys:
            continue
        known = data.variable(name)
        blank = bool(frame.missing(data.table, name).any())
        unsaid = [code for code in codes if (blank if code == "" else known.is_missing(code))]
        if unsaid:
            told[name] = replace(known, not_applicable=tuple(dict.fromkeys([*known.not_applicable, *unsaid])))
    return replace(data, variables={**data.variables, **told})


def _part(show: Progress, place: int, steps: int) -> Progress:
    """Progress of one step as progress of the plan."""
    return lambda done, what: show((place + min(max(done, 0.0), 1.0)) / steps, what)
