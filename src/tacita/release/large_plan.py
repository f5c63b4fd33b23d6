"""A plan on a file that stays on an engine.

Steps that make of equal records equal ones (recoding, suppression) work on the distinct keys, as measures do. Steps
that draw, or that change numbers, work on the records as they stream by; what they need to know of the whole file (the
matrix of PRAM) is worked out on the distinct keys first. Draws go by record number, so that the release is the same as
in memory, record by record, whatever the engine and the size of the batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.assessment.on_engine import PLAIN
from tacita.check import TacitaError
from tacita.data import Data, atomic
from tacita.data.large_data import LargeData
from tacita.frame import Frame
from tacita.frame import files as frame_files
from tacita.keys.condensed import condensed
from tacita.keys.large_files import check_supported
from tacita.policy import Policy
from tacita.progress import Progress, checked_progress
from tacita.protect.parts import applied
from tacita.protect.step import CellStep, Context, Step
from tacita.release.advance import State, advance, labelled, start
from tacita.release.step_log import Changes
from tacita.scenario import Scenario, checked, restricted, with_codes

BY_KEY = ("remove", "recode", "group_rare", "suppress", "top_code", "bottom_code", "round")
"""Steps that make of equal records equal ones: they work on the distinct keys."""
BY_RECORD = ("pram", "round", "top_code", "bottom_code")
"""Steps that work on each record by itself, once what they need of the whole file is known."""
NEAREST = {
    "noise": "Round or TopCode of the numbers",
    "microaggregate": "Round of the numbers",
    "rank_swap": "Round of the numbers",
    "swap_records": "Pram of the categories",
    "synthesise": "Pram of the categories",
    "generalise": "Recode with Suppress",
}
"""The nearest step that does not need all records at once."""
MOST_VALUES = 1000
"""A variable with more different values is a number, which is not grouped by."""
BATCH = 1 << 20
"""Records at once."""
ROW = "tacita_row"


@dataclass(frozen=True, eq=False)
class LargeRelease:
    """What a plan makes of a file on an engine: made as it is written, record by record, and never held in memory."""

    plan: Any = field(repr=False)
    """The plan."""
    large: LargeData = field(repr=False)
    """The original."""
    original_keys: Frame = field(repr=False)
    """The distinct keys of the original."""
    state: State = field(repr=False)
    """The distinct keys as they are released, with what every step on them changed."""
    streamed: tuple[Step, ...] = ()
    """Steps that are done record by record, with what they need of the whole file."""
    removed: tuple[str, ...] = ()
    """Variables that are not released."""

    @property
    def changes(self) -> tuple[Changes, ...]:
        """What the steps on distinct keys changed, in records."""
        return self.state.changes

    def __str__(self) -> str:
        streamed = [f"{step.label}: done record by record as the release is written" for step in self.streamed]
        return "\n".join([*map(str, self.changes), *streamed]) or "no steps"

    def write(self, path: Any, *, overwrite: bool = False, progress: Progress | None = None) -> Path:
        """Write the released records to a Parquet file, in the order of the original, whole or not at all."""
        show = checked_progress(progress)
        target = Path(path)
        if target.suffix.lower() not in (".parquet", ".pq"):
            raise TacitaError(f"{target.name} must end in .parquet: the release is written batch by batch.")
        from tacita.engine.writing import ParquetFile

        done, size = 0, max(self.large.size, 1)
        with atomic.new_file(target, overwrite=overwrite) as beside, ParquetFile(beside) as file:
            for batch in self.batches():
                show(done / size, "writing the release")
                file.write(frame_files.plain_arrow(batch.table))
                done += len(batch)
            show(1.0, "done")
        return target

    def batches(self) -> Iterator[Data]:
        """The released records, some at a time, with their numbers."""
        large, number = self.large, self.large.numbered
        keys, names = self.original_keys, list(self.original_keys.columns)
        table = large.table.select([*large.columns, *([number] if number not in large.columns else [])])
        ordered = table if large.database.name == "DuckDB" and number not in large.columns else table.order_by(number)
        for batch in large.database.batches(ordered, BATCH):
            records = frame_files.from_arrow(batch)
            if records.height:
                yield self._released(records, frame_files.places(records, keys, names), number)

    def _released(self, records: Frame, place: Any, number: str) -> Data:
        state = self.state
        fresh = frame.take(state.data.table, place)
        kept = [name for name in self.large.columns if name not in self.removed]
        # Other columns of the distinct keys, as the mean weight, are of no record.
        grouped = set(self.original_keys.columns)
        columns = {name: fresh[name] if name in grouped else records[name] for name in kept}
        known = {name: each for name, each in state.data.variables.items() if name in columns}
        numbers = records[number].to_numpy().astype(np.int64)
        data = Data(frame.table(columns), known, numbers_of_records=numbers)
        for step in self.streamed:
            context = Context(state.scenario, state.policy, state.draws.step(step.label), data)
            data = applied(step, data, context).data
        # As in every release: some formats tell an empty text from no text.
        empty = {name: where for name in data.columns if (where := frame.empty_texts(data.table, name)).any()}
        return data.blanked(empty) if empty else data


def apply_on_engine(
    plan: Any,
    data: Any,
    scenario: Scenario,
    policy: Policy | None,
    seed: int | None,
    memory: int | str | None,
    progress: Progress | None,
) -> LargeRelease:
    """The release of large data by a plan: everything is decided here, and the records are made as they are written."""
    show, who = checked_progress(progress), checked(scenario)
    large = LargeData.of(data, memory=memory)
    _check_steps(plan.steps, who)
    check_supported(who, large)
    names = _grouped_by(large, who, plan.steps)
    rows = condensed(large, names, who.weight, progress=show)
    originals = frame.table({name: rows.table[name] for name in names})
    known = restricted(replace(who, model=PLAIN), rows.columns)
    assert known is not None
    state = start(rows, known, policy, seed)
    streamed: list[Step] = []
    removed: list[str] = []
    drawn: set[str] = set()
    for step in plan.steps:
        step = labelled(step, (*(each.label for each in state.steps), *(each.label for each in streamed)))
        show(0.9, step.label)
        variables = _variables(step, who)
        if step.kind() == "remove":
            removed += variables
            step = _within(step, variables, state.data)
            state = state if step is None else advance(state, step)
            continue
        _check_order(step, variables, drawn)
        if step.kind() == "pram" or not set(variables) <= set(state.data.columns):
            streamed += _resolved(step, variables, state, large)
            drawn |= set(variables)
        else:
            state = advance(state, step)
    return LargeRelease(plan, large, originals, state, tuple(streamed), tuple(removed))


def _check_steps(steps: tuple[Step, ...], scenario: Scenario) -> None:
    """Every step can be done without all records in memory."""
    for step in steps:
        kind = step.kind()
        if kind not in (*BY_KEY, *BY_RECORD):
            nearest = NEAREST.get(kind, "the steps " + ", ".join(dict.fromkeys((*BY_KEY, *BY_RECORD))))
            raise TacitaError(f"step {step.label!r} needs all records in memory; the nearest that does not: {nearest}.")
        if isinstance(step, CellStep) and (step.only is not None or (step.strata and kind != "suppress")):
            raise TacitaError(f"step {step.label!r}: `only` and `strata` need all records in memory; leave them out.")
        shared = getattr(step, "household_variables", None)
        if kind == "suppress" and (shared or (shared is None and scenario.household_variables)):
            raise TacitaError(
                f"step {step.label!r}: household variables are suppressed for all members in memory only; pass "
                f"household_variables=[]."
            )
        if getattr(step, "household_risk", None):
            raise TacitaError(f"step {step.label!r}: household_risk needs all records in memory; leave it out.")
        if getattr(step, "closed", False):
            raise TacitaError(
                f"step {step.label!r}: closing leaks needs all records in memory; pass Suppress(closed=False)."
            )
        if getattr(step, "share", None) is not None or getattr(step, "value", "") in ("mean", "median"):
            raise TacitaError(f"step {step.label!r}: a share, mean or median needs all records; give at=... and value.")
        if kind == "pram" and (getattr(step, "together", False) or getattr(step, "weighted", False)):
            raise TacitaError(f"step {step.label!r}: together and weighted need all records in memory; leave them out.")


def _variables(step: Step, scenario: Scenario) -> tuple[str, ...]:
    """The variables that a step changes."""
    if step.kind() == "suppress":
        return scenario.all_keys
    named: tuple[str, ...] = tuple(getattr(step, "variables", ()))
    return named or (scenario.identifiers if step.kind() == "remove" else ())


def _grouped_by(large: LargeData, scenario: Scenario, steps: tuple[Step, ...]) -> list[str]:
    """The keys, the strata, and the categories that steps change."""
    names = [*scenario.all_keys, *scenario.strata]
    for step in steps:
        variables = _variables(step, scenario)
        check.columns_exist(f"variables of {step.label!r}", variables, large.columns)
        if step.kind() == "remove":
            continue
        for name in (each for each in variables if each not in names):
            if step.kind() in ("recode", "group_rare", "pram") or _few_values(large, name):
                names.append(name)
    return list(dict.fromkeys(names))


def _few_values(large: LargeData, name: str) -> bool:
    count = large.database.collect(large.table.aggregate(n=large.table[name].approx_nunique()))
    return int(count["n"][0].as_py()) <= MOST_VALUES


def _within(step: Step, variables: tuple[str, ...], data: Data) -> Step | None:
    """A removal of those variables that the distinct keys have."""
    there = tuple(name for name in variables if name in data.columns)
    return replace(step, variables=there) if there else None  # type: ignore[call-arg]


def _check_order(step: Step, variables: tuple[str, ...], drawn: set[str]) -> None:
    both = drawn.intersection(variables)
    if both:
        raise TacitaError(
            f"step {step.label!r} changes {check.quoted(sorted(both))}, which a step before it changes record by "
            f"record; put it first, or write the release of the first steps and apply the others to that file."
        )


def _resolved(step: Step, variables: tuple[str, ...], state: State, large: LargeData) -> list[Step]:
    """A step as steps on each record by itself: of PRAM its matrices, worked out on the distinct keys."""
    if step.kind() != "pram":
        return [step]
    given = with_codes(state.data, state.scenario)
    context = Context(state.scenario, state.policy, state.draws.step(step.label), given)
    made = applied(step, given, context)
    return [
        replace(
            step,  # type: ignore[call-arg]
            variables=each.variables,
            pd=type(step).pd,  # type: ignore[attr-defined]
            alpha=type(step).alpha,  # type: ignore[attr-defined]
            fixed=False,
            diagonal=None,
            bandwidth=None,
            invariant=True,
            matrix=tuple(map(tuple, np.asarray(each.parameters["matrix"]).tolist())),
            categories=tuple(each.parameters["categories"]),
        )
        for each in made.mechanisms
    ]
