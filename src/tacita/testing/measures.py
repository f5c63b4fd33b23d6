"""What every measure promises, checked on one measure and its files: those of Tacita and of other packages alike."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import Measure, declared_measure, find
from tacita.parameters import Above, AtLeast, AtMost, Parameter, Percentage, Share
from tacita.policy import OWN_FIELDS, Policy
from tacita.progress import Cancelled
from tacita.result import Result
from tacita.scenario import Scenario
from tacita.testing.refusals import refused, shows_a_cell, unless_refused
from tacita.testing.results import check_result, printed
from tacita.testing.trial import Trial, odd_names, order_of, permuted, with_canaries

NO_LIMITS = Policy(k=None, risk=None, rate=None, household_risk=None, given_back=None, neighbours=None)
SUBJECT = "the measure"


def check_measure(
    measure: str | Callable[..., Any], data: Any, scenario: Scenario, *, released: Any = None, **options: Any
) -> None:
    """Nothing if the measure keeps its contract; an AssertionError that says what it does not keep.

    A measure of two files is given the `released` file too. The options are those with which it is measured; one that
    is the data themselves, as a register, is changed with them; with a `seed` among them another one is tried too. The
    file should be small, since the measure is repeated some fifty times, and large enough to have something to measure.

    >>> import tacita as tc
    >>> survey = tc.household_survey(100, population=2000)
    >>> check_measure("k_anonymity", survey.data, survey.scenario, k=[2, 3])
    """
    own = find(measure) if isinstance(measure, str) else declared_measure(measure)
    trial = _trial(own, data, released, scenario, options)
    result = trial.result()
    check_result(result)
    _check_input(trial, result)
    _check_seed(trial, result)
    _check_kinds_of_table(trial)
    _check_order(trial, result)
    _check_names(trial, result)
    _check_cells(trial)
    _check_verdicts(own, result)
    _check_options(trial)
    _check_progress(trial, result)
    _check_files(trial)


def _trial(measure: Measure, data: Any, released: Any, scenario: Scenario, options: dict[str, Any]) -> Trial:
    if (released is not None) != (measure.files == 2):
        wanted = "two files: pass released=..." if measure.files == 2 else "one file: leave released out"
        raise TacitaError(f"{measure.name} is a measure of {wanted}.")
    given = [data, *([] if released is None else [released])]
    files = [Data.of(each) for each in given]
    same = {id(each): opened for each, opened in zip(given, files, strict=True)}
    chosen = {name: same.get(id(each), each) for name, each in options.items()}
    # A default that names a column is renamed with it.
    named = {each.name: each.default for each in measure.parameters if each.default in files[-1].columns}
    return Trial(measure, tuple(files), scenario, {**named, **chosen})


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise AssertionError(f"{SUBJECT} {what}")


def _same(first: Result, second: Result) -> bool:
    """The same text and the same figures to the last bit."""
    return str(first) == str(second) and bool(_rows(first).equals(_rows(second)))


def _rows(result: Result) -> Any:
    return result.to_frame()  # type: ignore[attr-defined]


def _check_input(trial: Trial, result: Result) -> None:
    tables = [data.table.clone() for data in trial.files]
    known = [(dict(data.variables), data.changed, data.record.tolist()) for data in trial.files]
    scenario = replace(trial.scenario)
    _require(_same(trial.result(), result), "gives something else when it is repeated")
    kept = all(data.table.equals(table) for data, table in zip(trial.files, tables, strict=True))
    now = [(dict(data.variables), data.changed, data.record.tolist()) for data in trial.files]
    _require(kept and now == known and trial.scenario == scenario, "changes what it was given")


def _check_seed(trial: Trial, result: Result) -> None:
    """Another seed gives other figures, or the same if the measure declares that the seed does not matter.

    That the same seed gives the same is tried with the input.
    """
    seed = trial.options.get("seed")
    if isinstance(seed, int):
        same = _same(trial.result(seed=seed + 1), result)
        _require(not same or not trial.measure.seed_matters, "takes a seed, but another seed gives the same")
        _require(same or trial.measure.seed_matters, "gives other figures for another seed, but declares the same")


def _check_kinds_of_table(trial: Trial) -> None:
    """pandas, Polars and Arrow give the same, and are left as they were."""
    plain = trial.with_files(lambda data: data.table)
    first = plain.result()
    # Without pandas nobody has a table of pandas.
    kinds = {"Polars": _as_polars, "Arrow": _as_arrow}
    if importlib.util.find_spec("pandas") is not None:
        kinds["pandas"] = _as_pandas
    for kind, made in kinds.items():
        other = trial.with_files(made)
        _require(_same(other.result(), first), f"gives something else for a table of {kind}")
        for given, data in zip(other.files, trial.files, strict=True):
            _require(given.equals(made(data)), f"changes a table of {kind}")


def _as_polars(data: Data) -> Any:
    return data.table.clone()


def _as_arrow(data: Data) -> Any:
    return data.table.to_arrow()


def _as_pandas(data: Data) -> Any:
    # With types of its own pandas would make floats of whole numbers of which some are missing.
    return data.table.to_pandas(use_pyarrow_extension_array=True)


def _check_order(trial: Trial, result: Result) -> None:
    """Records in another order give the same figures in that order, to the last bit."""
    moved = trial.with_files(permuted).result()
    first, second, order = _rows(result), _rows(moved), order_of(trial.files[-1])
    if "record" in first.columns:
        first, second = first.sort("record"), second.sort("record")
    same = second.equals(first) or (len(first) == len(order) and second.equals(first[order]))
    _require(same and str(moved) == str(result), "depends on the order of the records")


def _check_names(trial: Trial, result: Result) -> None:
    for names in odd_names(trial):
        odd = trial.renamed(names).result()
        check_result(odd, thorough=False)
        first, second = _numbers(result), _numbers(odd)
        close = first.shape == second.shape and np.allclose(
            first, second, rtol=trial.measure.precision, atol=0.0, equal_nan=True
        )
        _require(close, "gives other figures for odd names of variables")


def _numbers(result: Result) -> Any:
    rows = _rows(result)
    numeric = [name for name, kind in rows.schema.items() if kind.is_numeric()]
    return rows.select(numeric).to_numpy().astype(np.float64)


def _check_cells(trial: Trial) -> None:
    """Nothing that is printed shows a cell, whatever is missing; data that will not do are refused in one sentence."""
    weight = trial.scenario.weight
    strata = (*trial.scenario.strata, *(trial.options.get("strata") or ()))
    marked = trial.with_files(lambda data: with_canaries(data, weight, strata))
    names = [each for each in trial.columns if each not in strata]
    some_blank = marked.with_files(lambda data: _some_blank(data, names))
    found = [unless_refused(SUBJECT, each.result) for each in (marked, some_blank)]
    for name in names:
        for change in (_all_blank, _of_texts):
            found.append(unless_refused(SUBJECT, marked.with_files(partial(change, name=name)).result))
    if weight is not None:
        negative = marked.with_files(lambda data: data.with_columns({weight: -data.numbers(weight)}))
        found.append(unless_refused(SUBJECT, negative.result))
    for result in found:
        _require(result is None or not shows_a_cell(printed(result)), "shows a cell of the data")


def _some_blank(data: Data, names: Sequence[str]) -> Data:
    """Every fifth record has no value, another fifth in each column."""
    return data.blanked({name: data.record % 5 == at % 5 for at, name in enumerate(names) if name in data.columns})


def _all_blank(data: Data, name: str) -> Data:
    return data.blanked({name: data.record > 0}) if name in data.columns else data


def _of_texts(data: Data, name: str) -> Data:
    """The column as texts, canaries too: nothing that can be counted up."""
    if name not in data.columns:
        return data
    return data.with_columns({name: [f"zq-canary {row % 3}" for row in range(len(data))]})


def _check_verdicts(measure: Measure, result: Result) -> None:
    """A verdict where the policy limits the measure, and none otherwise."""
    _require(result.verdicts(NO_LIMITS) == (), "gives a verdict that the policy does not ask for")
    if measure.name in OWN_FIELDS:
        field = OWN_FIELDS[measure.name]
        limited: dict[str, Any] = {field: 2 if field in ("k", "given_back") else 0.5}
        verdicts = result.verdicts(replace(NO_LIMITS, **limited))
        _require([each.name for each in verdicts] == [field], "gives no verdict where the policy limits it")
    elif measure.limit is not None:
        value = measure.limited_value(result, {})
        beyond = value + 1 if measure.limit.least else value - 1
        for limit, holds in ((value, True), (beyond, False)) if np.isfinite(value) else ((1.0, None),):
            policy = replace(NO_LIMITS, neighbours=Policy.neighbours, limits={measure.name: limit})
            _require(
                Policy.from_toml(policy.to_toml()) == policy, "has a limit that is not the same after a policy file"
            )
            (verdict,) = result.verdicts(policy) or (None,)
            _require(
                verdict is not None and verdict.name == measure.name, "gives no verdict where the policy limits it"
            )
            assert verdict is not None
            judged = verdict.holds is None if result.not_valid else holds is None or verdict.holds is holds
            _require(judged and verdict.why, "gives a verdict that its own figure does not bear out")


def _check_options(trial: Trial) -> None:
    """Every option is documented; a bad value and an unknown option get one sentence."""
    refused(SUBJECT, lambda: trial.result(zq_option=1), "an option that it does not have")
    for parameter in trial.measure.parameters:
        _require(parameter.doc, f"has an option {parameter.name} without a line of documentation")
        bad = {parameter.name: bad_value(parameter)}
        refused(SUBJECT, partial(trial.result, **bad), f"a bad value of {parameter.name}")


def bad_value(parameter: Parameter) -> Any:
    """A value that the parameter's declaration rules out, or one that is nothing at all."""
    if parameter.kind in ("whole number", "number"):
        for each in parameter.constraints:
            if isinstance(each, AtLeast):
                return each.least - 1
            if isinstance(each, AtMost):
                return each.most + 1
            if isinstance(each, Above):
                return each.limit
            if isinstance(each, Share | Percentage):
                return -1.0
    return object()


def _check_progress(trial: Trial, result: Result) -> None:
    """Progress is a share and a text; whoever watches it can stop the work."""
    seen: list[tuple[float, str]] = []
    _require(
        _same(trial.result(progress=lambda done, what: seen.append((done, what))), result), "changes with progress"
    )
    _require(seen, "never reports progress")
    _require(all(0 <= done <= 1 and isinstance(what, str) for done, what in seen), "reports progress outside 0 to 1")
    try:
        trial.result(progress=_stop)
    except Cancelled:
        return
    _require(False, "goes on after it was cancelled")


def _stop(done: float, what: str) -> None:
    raise Cancelled


def _check_files(trial: Trial) -> None:
    """One record is measured or refused; no record, no table and no such variable are refused in one sentence."""
    one = trial.with_files(lambda data: data.take(np.array([0])))
    unless_refused(SUBJECT, one.result)
    refused(
        SUBJECT, trial.with_files(lambda data: data.take(np.array([], dtype=np.int64))).result, "a file without records"
    )
    refused(SUBJECT, trial.with_files(lambda data: 5).result, "a number in place of a file")
    for name in (*trial.scenario.keys, *trial.scenario.numeric_keys):
        unless_refused(SUBJECT, trial.with_files(partial(_without, name=name)).result)


def _without(data: Data, name: str) -> Data:
    return data.without([name]) if name in data.columns else data
