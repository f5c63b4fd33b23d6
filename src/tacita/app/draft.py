"""A draft: everything that is decided so far about a file, from its roles to the steps, as one frozen value.

Changing it gives a new one, so that every earlier draft can be kept for undo. No statistics, no browser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tacita import check
from tacita.app.presets import USUAL
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.variable_tables import tables_of
from tacita.policy import Policy
from tacita.protect.step import Step
from tacita.release.advance import labelled
from tacita.release.plan import Plan
from tacita.scenario import Scenario

MANY = ("keys", "numeric_keys", "sensitive", "identifiers", "strata", "household_variables")
"""Roles that several variables can have."""
ONE = ("weight", "household", "person")
"""Roles that one variable can have."""
ALONE = ("keys", "numeric_keys", "identifiers", *ONE)
"""Of these roles a variable has one."""


@dataclass(frozen=True)
class Entry:
    """A step of the list, switched on or off."""

    step: Step
    on: bool = True


@dataclass(frozen=True, eq=False)
class Draft:
    """What is decided about one file."""

    name: str = ""
    """The name of the file, as people see it."""
    path: str = ""
    """Where it lies."""
    uploaded: bool = False
    """Whether it lies in the app's own folder, which goes when the app closes."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How it was read."""
    opened: Data | None = None
    """The file as it was read; None: none is open."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    """What was declared of variables besides what the file says."""
    roles: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the scenario by name."""
    policy: Policy = field(default_factory=Policy)
    preset: str = USUAL
    """The preset that the policy began with."""
    rules: tuple[str, ...] = ()
    """Relations that the release should keep, such as age >= 15."""
    entries: tuple[Entry, ...] = ()
    seed: int = 0
    """The seed of all random steps: secret."""
    saved: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    """Plans that were set aside for comparison, by name."""

    @cached_property
    def data(self) -> Data:
        """The file with everything that was declared of its variables."""
        if self.opened is None:
            raise TacitaError("no file is open; open one on the page Data.")
        return self.opened.with_declared(self.variables) if self.variables else self.opened

    @cached_property
    def scenario(self) -> Scenario | None:
        """The scenario; None as long as no variable is a key."""
        if not any(self.roles.get(name) for name in ("keys", "numeric_keys", "key_sets")):
            return None
        return Scenario(**self.roles)

    @property
    def source(self) -> str:
        """Where a script or a project finds the file: an uploaded one by its name, beside them."""
        return self.name if self.uploaded else self.path

    @property
    def ready(self) -> bool:
        """Whether there is a file and a scenario, so that risk can be measured."""
        return self.opened is not None and self.scenario is not None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that are switched on."""
        return tuple(entry.step for entry in self.entries if entry.on)

    @property
    def plan(self) -> Plan:
        """The plan of the steps that are switched on."""
        return Plan(self.steps)

    @cached_property
    def base_key(self) -> str:
        """Of everything but the steps: equal for equal results of the same steps."""
        scenario = "" if self.scenario is None else self.scenario.to_toml()
        parts = (id(self.opened), sorted(tables_of(self.variables).items()), scenario, self.policy.to_toml(), self.seed)
        return _digest(repr((*parts, self.rules)))

    def key(self, steps: Iterable[Step]) -> str:
        """Of everything up to the last of some steps."""
        return _digest(self.base_key + repr([(type(step).__name__, step.to_dict()) for step in steps]))

    # Changes: each gives another draft.

    def with_role(self, variable: str, role: str) -> Draft:
        """The draft in which a variable has a role, or has it no longer if it had it."""
        check.one_of("role", role, (*MANY, *ONE))
        roles = dict(self.roles)
        has = variable in roles.get(role, ()) if role in MANY else roles.get(role) == variable
        if role in ALONE:
            roles = _without(roles, variable, ALONE)
        if role in MANY:
            others = tuple(name for name in roles.get(role, ()) if name != variable)
            roles[role] = others if has else (*others, variable)
        else:
            roles[role] = None if has else variable
        return self.with_roles(roles)

    def with_roles(self, roles: Mapping[str, Any]) -> Draft:
        """The draft with these fields of the scenario; what says nothing is left out."""
        kept = {name: value for name, value in roles.items() if value not in (None, (), {}, "", [])}
        fresh = replace(self, roles=kept)
        if fresh.opened is not None and fresh.scenario is not None:
            fresh.scenario.check_against(fresh.data)
        return fresh

    def with_step(self, step: Step, place: int | None = None) -> Draft:
        """The draft with one more step at the end, or with another in place of one."""
        entries = list(self.entries)
        if place is None:
            entries.append(Entry(labelled(step, tuple(each.step.label for each in entries))))
        else:
            others = tuple(each.step.label for at, each in enumerate(entries) if at != place)
            entries[place] = replace(entries[place], step=labelled(step, others))
        return replace(self, entries=tuple(entries))

    def without_step(self, place: int) -> Draft:
        """The draft without a step."""
        return replace(self, entries=tuple(each for at, each in enumerate(self.entries) if at != place))

    def moved(self, place: int, by: int) -> Draft:
        """The draft in which a step stands earlier or later."""
        entries, to = list(self.entries), place + by
        if not 0 <= to < len(entries):
            return self
        entries[place], entries[to] = entries[to], entries[place]
        return replace(self, entries=tuple(entries))

    def switched(self, place: int) -> Draft:
        """The draft in which a step is switched off, or on again."""
        entries = list(self.entries)
        entries[place] = replace(entries[place], on=not entries[place].on)
        return replace(self, entries=tuple(entries))

    def with_variable(self, name: str, variable: Variable) -> Draft:
        """The draft in which something else is declared of a variable."""
        fresh = replace(self, variables={**self.variables, name: variable})
        fresh.data  # noqa: B018 - what does not fit the data is said now
        return fresh

    def set_aside(self, name: str) -> Draft:
        """The draft with its steps kept under a name, for comparison."""
        if not name.strip():
            raise TacitaError("a plan that is set aside must have a name; write one.")
        return replace(self, saved={**self.saved, name.strip(): self.entries})


def _without(roles: Mapping[str, Any], variable: str, which: Iterable[str]) -> dict[str, Any]:
    """The roles without some of a variable."""
    fresh = dict(roles)
    for name in which:
        if name in MANY:
            fresh[name] = tuple(each for each in fresh.get(name, ()) if each != variable)
        elif fresh.get(name) == variable:
            fresh[name] = None
    return fresh


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
