"""A plan: the steps that turn a file into a release. Plans are data; undo is dropping the last step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.declared import Declared
from tacita.engine.source import belongs_on_engine
from tacita.html_view import html_table, html_view
from tacita.policy import Policy
from tacita.progress import Progress, checked_progress, part
from tacita.protect.step import Step
from tacita.protect.steps import step_of
from tacita.release.advance import State, advance, labelled, start, with_declared_codes
from tacita.release.release import Release
from tacita.rules import Rule, Rules, broken_rules
from tacita.scenario import Scenario


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
    begins: ClassVar[str] = ": each step stands below [[plan.steps]], as step = 'suppress' and k = 3"

    steps: tuple[Step, ...] = ()
    """The steps, in the order in which they are applied."""

    def __post_init__(self) -> None:
        if not isinstance(self.steps, Step) and not check.is_list(self.steps):
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

    def _repr_html_(self) -> str:
        rows = [(str(place), step.label, str(step)) for place, step in enumerate(self.steps, start=1)]
        heading = f"Plan of {check.counted(len(self), 'step')}"
        return html_view(heading, tables=html_table(("", "label", "step"), rows, left=True) if rows else "")

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
        memory: int | str | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Do everything, and count what it changed.

        The data are never changed. `rules` are relations between variables that the release should keep; violations
        are listed in it. `seed` repeats a release; without it a secret one is drawn. Whoever knows the seed can undo
        the protection: it belongs beside the original data. `progress(done, what)` is called between and inside steps,
        and may raise to stop the work. What is larger than `memory`, or a table of an engine, becomes a `LargeRelease`,
        whose records are made as they are written.

        >>> import tacita as tc
        >>> survey = tc.household_survey(200, population=4000)
        >>> release = tc.Plan([tc.Round("income", base=1000)]).apply(survey.data, survey.scenario)
        >>> len(release.data) == len(survey.data)
        True
        """
        if isinstance(data, LargeData) or belongs_on_engine(data, memory):
            from tacita.release.large_plan import apply_on_engine

            large: Any = apply_on_engine(self, data, scenario, policy, seed, memory, progress)
            return cast(Release, large)
        kept = Rules.of(rules)
        kept.check_against(Data.of(data))
        show = checked_progress(progress)
        *_, last = self.states(data, scenario, policy, seed=seed, progress=show)
        show(1.0, "release")
        return release_of(last, kept)

    def states(
        self,
        data: Any,
        scenario: Scenario,
        policy: Policy | None = None,
        *,
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[State]:
        """The file before the first step and after each one: states can be kept, and work goes on from any of them.

        >>> import tacita as tc
        >>> survey = tc.household_survey(200, population=4000)
        >>> plan = tc.Plan([tc.Round("income", base=1000), tc.TopCode("age", at=80)])
        >>> [len(state.steps) for state in plan.states(survey.data, survey.scenario)]
        [0, 1, 2]
        """
        show = checked_progress(progress)
        state = start(data, scenario, policy, seed)
        yield state
        for place, step in enumerate(self.steps):
            show(place / len(self), step.label)
            state = advance(state, step, part(show, place / len(self), (place + 1) / len(self)))
            yield state


def release_of(state: State, rules: Iterable[Rule | str] | Rules = ()) -> Release:
    """The release that a state is: data built anew from what is released, and the account of how they came about."""
    kept = Rules.of(rules)
    # With numbers, so that nobody has to guess which rows of original and release belong together.
    data = replace(with_declared_codes(state.data, state.scenario).rebuilt(), numbers_of_records=state.data.record)
    return Release(
        data=data,
        plan=Plan(state.steps),
        scenario=state.scenario,
        original_scenario=state.original_scenario,
        policy=state.policy,
        changes=state.changes,
        broken=broken_rules(kept, state.original, state.data),
        rules=kept,
        original=state.original,
        seed=state.draws.seed,
        seed_given=state.seed_given,
    )


def _labelled(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps, each with a label; a second step with the same usual label gets a number."""
    taken = tuple(step.label for step in steps if step.label)
    found: list[Step] = []
    for step in steps:
        found.append(step if step.label else labelled(step, (*taken, *(each.label for each in found))))
    return tuple(found)
