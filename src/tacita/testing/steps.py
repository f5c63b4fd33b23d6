"""What every step promises, checked on one step and one file: for steps of Tacita and of other packages alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from tacita import frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.step import CellStep, Step
from tacita.release.plan import Plan
from tacita.release.release import Release
from tacita.scenario import Scenario

CODE = -98765
"""A code for not applicable that no file has."""


def check_step(step: Step, data: Any, scenario: Scenario) -> None:
    """Nothing if the step keeps its contract; an AssertionError that says what it does not keep.

    What the step declares (`draws`, `adds_missing`, `keeps_records`, `adds_records`) is held against what it does, both
    ways: with another seed a step that draws gives other data, and a step that does not gives the same. The file should
    be large enough for the step to change something.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> check_step(tc.Round("income", base=1000), survey.data, survey.scenario)
    """
    given = Data.of(data)
    table, known = given.table.clone(), dict(given.variables)
    release = _applied(step, given, scenario)
    _require(given.table.equals(table) and dict(given.variables) == known, "changes what it was given")
    _check_seed(step, given, scenario, release)
    _check_order(step, given, scenario, release)
    _check_names(step, given, scenario, release)
    _check_account(step, release)
    _check_file(step)
    _check_records(step, given, release)
    if not step.adds_missing:
        _check_missing(given, release)
    _check_smallest(step, given, scenario)
    _check_not_applicable(step, given, scenario, release)
    if isinstance(step, CellStep):
        _check_parts(step, given, scenario)


def _applied(step: Step, data: Data, scenario: Scenario, seed: int = 7) -> Release:
    return Plan((step,)).apply(data, scenario, seed=seed)


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise AssertionError(f"the step {what}")


def _check_seed(step: Step, data: Data, scenario: Scenario, release: Release) -> None:
    again, other = (_applied(step, data, scenario, seed).data for seed in (7, 8))
    _require(again.table.equals(release.data.table), "gives other data for the same seed")
    _require(again.record.tolist() == release.data.record.tolist(), "gives another order for the same seed")
    differs = not other.table.equals(again.table) or other.record.tolist() != again.record.tolist()
    _require(differs or not step.draws, "draws, but another seed gives the same data")
    _require(step.draws or not differs, "gives other data for another seed, but does not declare that it draws")


def _check_order(step: Step, data: Data, scenario: Scenario, release: Release) -> None:
    order = np.argsort(-data.record % 7, kind="stable")
    permuted = _applied(step, data.take(order), scenario).data
    _require(_by_record(permuted) == _by_record(release.data), "depends on the order of the records")


def _by_record(data: Data) -> dict[int, tuple[object, ...]]:
    return dict(zip(data.record.tolist(), data.table.rows(), strict=True))


def _check_names(step: Step, data: Data, scenario: Scenario, release: Release) -> None:
    """A column that reads like a pattern, or has no name, is a column like any other."""
    odd = {name: data.record for name in ("*", "", "a b.c") if name not in data.columns}
    made = _applied(step, data.with_columns(odd), scenario).data
    _require(set(odd) <= set(made.columns), "loses columns with odd names")
    _require(
        _by_record(made.without(odd)) == _by_record(release.data), "does something else beside columns with odd names"
    )


def _check_account(step: Step, release: Release) -> None:
    (change,) = release.changes
    _require(isinstance(step.version, int) and step.version >= 1, "has a version that is no whole number from 1 on")
    _require(change.version == step.version, "is logged with another version than its own")
    changed = (
        change.cells or change.records_removed or change.records_added or change.variables_removed or change.reordered
    )
    _require(change.mechanisms or not changed, "changes data and reports no mechanism")
    named = {name for each in change.mechanisms for name in each["variables"]}
    _require(set(change.cells) <= named, "changes variables that no mechanism names")
    kinds = {each["kind"] for each in change.mechanisms}
    _require({each["kind"] for each in change.public} <= kinds, "tells the public of what it does not report")


def _check_file(step: Step) -> None:
    plan = Plan((step,))
    _require(Plan.from_dict(plan.to_dict(), known=[type(step)]) == plan, "is not the same after a plan file")
    again = type(step)(**{each.name: getattr(step, each.name) for each in fields(step)})
    _require(again == step, "is not the same when built again from its own parameters")


def _check_records(step: Step, data: Data, release: Release) -> None:
    made, given = release.data.record, data.record
    known = made[np.isin(made, given)]
    _require(step.adds_records or len(known) == len(made), "adds records without declaring it")
    _require(not step.keeps_records or np.array_equal(known, given), "drops or reorders records without declaring it")


def _check_smallest(step: Step, data: Data, scenario: Scenario) -> None:
    """A file of one record is protected or refused in one sentence."""
    made = _data_unless_refused(lambda: _applied(step, data.take(np.array([0])), scenario).data)
    _require(made is None or step.adds_records or len(made) <= 1, "makes several records of one")


def _check_not_applicable(step: Step, data: Data, scenario: Scenario, release: Release) -> None:
    """A code for not applicable is no measurement: nothing is made of it, and nobody else gets it."""
    (change,) = release.changes
    for name in (each for each in change.cells if each not in change.renewed and not data.variable(each).order):
        whole, number = frame.is_whole(data.table, name), frame.is_float(data.table, name)
        if not (whole or number or all(isinstance(value, str | None) for value in data.table[name].to_list())):
            # Dates, and what is true or false, hold no such code.
            continue
        code: Any = CODE if whole else float(CODE) if number else str(CODE)
        coded = data.record % 6 == 0
        values = [code if here else value for here, value in zip(coded, data.table[name].to_list(), strict=True)]
        known = replace(data.variable(name), not_applicable=(*data.variable(name).not_applicable, code))
        marked = data.with_columns({name: values}, {name: known})
        made = _data_unless_refused(lambda: _applied(step, marked, scenario).data)  # noqa: B023
        if made is not None and name in made.columns:
            here = np.isin(made.record, data.record[coded])
            shown, others = ({*_texts(made.table[name].filter(rows))} for rows in (here, ~here))
            if step.draws_codes:
                _require(str(CODE) in shown | others, f"loses the code of {name!r} for not applicable")
                continue
            # The top of a hierarchy holds everything, and a suppressed cell nothing.
            _require(shown <= {str(CODE), "*", *([None] if step.adds_missing else [])}, f"changes codes of {name!r}")
            _require(str(CODE) not in others, f"gives others a code of {name!r} for not applicable")


def _check_missing(data: Data, release: Release) -> None:
    """Missing values stay missing, and other values do not become missing."""
    made = release.data
    _, was, now = np.intersect1d(data.record, made.record, assume_unique=True, return_indices=True)
    for name in (each for each in data.columns if each in made.columns and each not in release.changes[0].renewed):
        same = data.missing(name)[was] == made.missing(name)[now]
        _require(same.all(), f"gives or takes missing values of {name!r}")


def _check_parts(step: CellStep, data: Data, scenario: Scenario) -> None:
    """Records that are not chosen keep what they had; a step may refuse in one sentence."""
    chosen = data.record[: len(data) // 2]
    made = _data_unless_refused(
        lambda: _applied(replace(step, label="", only=tuple(chosen.tolist())), data, scenario).data
    )
    if made is not None:
        rest = ~np.isin(data.record, chosen)
        there = {number: row for row, number in enumerate(made.record.tolist())}
        rows = np.array([there.get(number, -1) for number in data.record[rest].tolist()])
        _require((rows >= 0).all(), "loses records that `only` does not choose")
        for name in (each for each in data.columns if each in made.columns):
            _require(_same_values(data, made, name, np.flatnonzero(rest), rows), f"changes {name!r} outside `only`")
    names = [name for name in data.columns if frame.distinct(data.table, name) <= 3][:1]
    apart = _data_unless_refused(lambda: _applied(replace(step, label="", strata=tuple(names)), data, scenario).data)
    if apart is not None and names and not step.adds_records:
        _require(set(apart.record.tolist()) <= set(data.record.tolist()), "invents records in strata")


def _same_values(data: Data, made: Data, name: str, was: Any, now: Any) -> bool:
    """Whether values are the same, numbers that became texts included."""
    left, right = data.table[name][was], made.table[name][now]
    if not frame.different(left, right).any():
        return True
    texts = [_texts(each) for each in (left, right)]
    return texts[0] == texts[1]


def _texts(column: Any) -> list[str | None]:
    return [None if value is None or value != value else str(value).removesuffix(".0") for value in column.to_list()]


def _data_unless_refused(apply: Callable[[], Data]) -> Data | None:
    """The data that a step made; None where it refuses in one sentence."""
    try:
        return apply()
    except TacitaError as error:
        _require(str(error).endswith((".", "?")), "refuses in something else than a sentence")
        return None
