"""A plan on a file that stays on an engine: everything is decided here, the records are made as they are written.

Draws go by record number, so that the release is the same as in memory, record by record, whatever the engine and the
size of the batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.keys.large_files import check_supported, grouped_variables, needs_weights
from tacita.mechanism import Mechanism
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, checked_progress
from tacita.protect.parts import applied
from tacita.protect.step import Context, Step
from tacita.release.advance import State, advance, labelled, start
from tacita.release.large_members import Rows, by_household, check_room, rows_of
from tacita.release.large_release import LargeRelease
from tacita.release.large_steps import BY_KEY, Streamed, changed_by, check_steps, read_by, streamed_of
from tacita.release.step_log import Changes, changes
from tacita.scenario import Scenario, checked, restricted, with_codes

MOST_VALUES = 1000
"""A variable with more different values is a number, which is not grouped by."""


@dataclass
class _Work:
    """The plan as far as it was gone through."""

    large: LargeData
    scenario: Scenario
    rows: Rows
    """The distinct keys as they were."""
    state: State
    """And as they are now."""
    streamed: list[Streamed] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @property
    def release(self) -> LargeRelease:
        """The release so far."""
        return LargeRelease(
            large=self.large,
            original_scenario=self.scenario,
            rows=self.rows,
            state=self.state,
            streamed=tuple(self.streamed),
            removed=tuple(self.removed),
            labels=tuple(self.labels),
        )


def apply_on_engine(
    plan: Any,
    data: Any,
    scenario: Scenario,
    policy: Policy | None,
    seed: int | None,
    memory: int | str | None,
    progress: Progress | None,
) -> LargeRelease:
    """The release of large data by a plan."""
    show, who = checked_progress(progress), checked(scenario)
    large = LargeData.of(data, memory=memory)
    check_supported(who, large)
    names = _grouped_by(large, who, plan.steps)
    if who.weight is not None and needs_weights(who):
        names = list(dict.fromkeys([*names, who.weight]))
    check_steps(plan.steps)
    rows = rows_of(large, names, who, _apart(plan.steps, large, who, policy, names), show)
    known = restricted(who, rows.data.columns)
    assert known is not None
    work = _Work(large, who, rows, start(rows.data, known, policy, seed))
    for step in plan.steps:
        step = labelled(step, tuple(work.labels))
        work.labels.append(step.label)
        show(0.9, step.label)
        _advance(work, step)
    done = replace(plan, steps=tuple(_all_steps(plan, work.labels)))
    return replace(work.release, plan=done, again=partial(_again, done, large, who, work.state.policy))


def _apart(
    steps: tuple[Step, ...], large: LargeData, scenario: Scenario, policy: Policy | None, names: list[str]
) -> bool:
    """Whether each record is a row of its own, since a step goes by households."""
    limits, found = checked_policy(policy), False
    for step in steps:
        if step.kind() == "remove" and scenario.household in changed_by(step, scenario):
            # Nobody knows who lives together from here on.
            break
        if by_household(step, scenario, limits):
            check_room(step, step.label or step.usual_label, large, names)
            found = True
    return found


def _again(plan: Any, large: LargeData, scenario: Scenario, policy: Policy, seed: int) -> LargeRelease:
    """The release of the same plan with another seed."""
    return apply_on_engine(plan, large, scenario, policy, seed, None, None)


def _all_steps(plan: Any, labels: list[str]) -> Iterator[Step]:
    """The steps of the plan with their labels."""
    for step, label in zip(plan.steps, labels, strict=True):
        yield replace(step, label=label)


def _advance(work: _Work, step: Step) -> None:
    """Go on by one step: on the distinct keys, or as a step that is done record by record."""
    variables = changed_by(step, work.scenario)
    reads = read_by(step, work.scenario, work.large.columns)
    there = [name for name in work.large.columns if name not in work.removed]
    check.columns_exist(f"variables of {step.label!r}", (*variables, *reads), there)
    if step.kind() == "remove":
        _remove(work, step, variables)
        return
    numbers = isinstance(getattr(step, "only", None), tuple)
    by_key = step.kind() in BY_KEY and {*variables, *reads} <= set(work.rows.originals.columns) and not numbers
    if by_key or step.kind() == "drop_records":
        _check_by_key(by_key, step)
        _check_order(step, {*variables, *reads}, set(variables), work.streamed)
        _drop(work, step) if step.kind() == "drop_records" else _by_key(work, step)
    else:
        perturbs = step.kind() in ("pram", "noise")
        _check_by_key(perturbs or not set(variables) & set(work.scenario.all_keys), step)
        work.streamed.append(streamed_of(step, work.scenario, work.state, partial(_records, work)))
        if perturbs:
            work.state = replace(work.state, data=work.state.data.with_perturbed(variables))


def _by_key(work: _Work, step: Step) -> None:
    """Go on by one step on the distinct keys."""
    work.state = advance(work.state, step)


def _records(work: _Work, step: Step) -> Iterator[Data]:
    """The records as they are before a step, some at a time."""
    yield from (batch for batch, _ in work.release.made())


def _remove(work: _Work, step: Step, variables: tuple[str, ...]) -> None:
    """Take variables out of the release, and those that are among the keys out of these."""
    if not variables:
        raise TacitaError("the scenario names no identifiers to remove; pass Remove(['name', ...]).")
    work.removed += variables
    if set(work.removed) >= set(work.large.columns):
        raise TacitaError("removing these variables would leave none; keep at least one.")
    # F rests on the weights, whether they are released or not.
    there = tuple(name for name in variables if name in work.state.data.columns and name != work.scenario.weight)
    if there:
        state = advance(work.state, replace(step, variables=there))  # type: ignore[call-arg]
        # What is left of the account says of distinct keys what holds for all records.
        work.state = replace(state, changes=state.changes[:-1])
    removal = (Mechanism("removal", variables).to_dict(),)
    work.state = replace(work.state, changes=(*work.state.changes, _removal(step, variables, removal)))


def _removal(step: Step, variables: tuple[str, ...], removal: tuple[Any, ...]) -> Changes:
    return Changes(
        label=step.label,
        step=str(step),
        cells={},
        suppressed={},
        records=0,
        records_removed=0,
        records_added=0,
        variables_removed=variables,
        variables_added=(),
        reordered=False,
        version=step.version,
        mechanisms=removal,
        public=removal,
    )


def _drop(work: _Work, step: Step) -> None:
    """Drop the records of some distinct keys. F falls with f, which puts the risk of the others too high."""
    state = work.state
    given = with_codes(state.data, state.scenario)
    made = applied(step, given, Context(state.scenario, state.policy, state.draws.step(step.label), given))
    done = changes(state.data, made.data, step, made)
    gone = state.data.size - made.data.size
    # Its own figures count distinct keys.
    done = replace(done, records_removed=gone, remarks=(), figures={}, mechanisms=(), public=done.public)
    fresh = replace(made.data, variables=state.data.variables)
    work.state = replace(state, data=fresh, steps=(*state.steps, step), changes=(*state.changes, done))


def _grouped_by(large: LargeData, scenario: Scenario, steps: tuple[Step, ...]) -> list[str]:
    """The keys, sensitive categories, strata, and the categories that steps change or go by."""
    found, _ = grouped_variables(large, scenario)
    names = [*found, *scenario.strata]
    for step in steps:
        if step.kind() in ("remove", "noise", "round_weights"):
            continue
        variables, reads = changed_by(step, scenario), read_by(step, scenario, large.columns)
        for name in (each for each in (*variables, *reads) if each in large.columns and each not in names):
            always = name in variables and step.kind() in ("recode", "group_rare", "pram")
            if always or _few_values(large, name):
                names.append(name)
    return list(dict.fromkeys(names))


def _few_values(large: LargeData, name: str) -> bool:
    count = large.database.collect(large.table.aggregate(n=large.table[name].approx_nunique()))
    return int(count["n"][0].as_py()) <= MOST_VALUES


def _check_by_key(possible: bool, step: Step) -> None:
    """An error where a step on keys goes by something that only single records have."""
    if not possible:
        raise TacitaError(
            f"step {step.label!r} changes keys, or drops records, by what has more than {MOST_VALUES:,} values or by "
            f"record numbers; recode that into classes first and go by these."
        )


def _check_order(step: Step, uses: set[str], changed: set[str], streamed: list[Streamed]) -> None:
    """Steps on distinct keys come before those that change the same variables record by record."""
    for each in streamed:
        both = (uses & each.changes) | (changed & each.reads)
        if both:
            raise TacitaError(
                f"step {step.label!r} changes or goes by {check.quoted(sorted(both))}, which step "
                f"{each.step.label!r} before it changes or goes by record by record; put it first, or write the "
                f"release of the first steps and apply the others to that file."
            )
