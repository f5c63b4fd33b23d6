"""Which records a step is for: a condition, a column, the unsafe records of a measure, or record numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import Measure, find
from tacita.policy import Policy
from tacita.rules import EditRule
from tacita.scenario import Scenario


def checked_only(given: Any, what: str = "only") -> Any:
    """Who may be changed, in a form that a plan file can hold: a text, {"unsafe": measure}, or record numbers.

    `what` is what the parameter is called.
    """
    if given is None:
        return None
    if isinstance(given, str):
        if not given.strip():
            way = "leave it out for all" if what == "only" else "leave it out"
            raise TacitaError(f"{what} must be a condition, as 'income > 1000'; got an empty text, {way}.")
        if re.search(r"[<>=]", given):
            # Whatever has a sign is a condition, and a wrong one is told before the work.
            EditRule(given)
        return given
    if isinstance(given, Mapping):
        return _unsafe(given, what)
    if hasattr(given, "unsafe") and hasattr(given, "record"):
        given = np.asarray(given.record)[np.asarray(given.unsafe)]
    try:
        return tuple(check.whole(f"a record number of {what}", check.python_number(number), 0) for number in given)
    except TypeError:
        kind = type(given).__name__
        raise TacitaError(
            f"{what} must be a column, record numbers or a result with an unsafe zone; got {kind}."
        ) from None


def _unsafe(given: Mapping[Any, Any], what: str) -> dict[str, str]:
    if set(given) != {"unsafe"} or not isinstance(given["unsafe"], str):
        raise TacitaError(
            f"{what} must name one measure, as {{'unsafe': 'k_anonymity'}}; got a table of {check.quoted(given)}."
        )
    return {"unsafe": given["unsafe"]}


def shown_only(only: Any) -> Any:
    """Who may be changed, for people: record numbers are counted, never shown."""
    return check.counted(len(only), "record") if isinstance(only, tuple | list) else only


def chosen_records(
    only: Any, data: Data, scenario: Scenario, policy: Policy, original: Data, what: str = "only"
) -> Bools:
    """By record: whether a step may change it. Conditions and measures are worked out on the data as they are now.

    A record for which missing values leave the condition open is not chosen.

    >>> import polars as pl
    >>> people = Data.of(pl.DataFrame({"income": [900, 1500, None], "sex": ["f", "m", "f"]}))
    >>> chosen_records("income > 1000", people, Scenario(keys=["sex"]), Policy(), people).tolist()
    [False, True, False]
    """
    if only is None:
        return np.ones(len(data), dtype=np.bool_)
    if isinstance(only, str):
        if only in data.columns:
            return np.asarray(data.numbers(only) > 0)
        if re.fullmatch(r"\s*[\w.]+\s*", only):
            check.columns_exist(what, (only,), data.columns)
        return EditRule(only).verdict(data).holds
    if isinstance(only, Mapping):
        return unsafe_records(data, scenario, policy, only["unsafe"], original)
    return np.isin(data.record, np.array(only, dtype=np.int64))


def undecided(only: Any, data: Data) -> int:
    """How many records are not chosen because missing values leave the condition open."""
    if not isinstance(only, str):
        return 0
    if only in data.columns:
        return int(np.isnan(data.numbers(only)).sum())
    found = EditRule(only).verdict(data)
    return int((~(found.holds | found.fails)).sum())


def unknown_numbers(only: Any, data: Data, what: str = "only") -> tuple[str, ...]:
    """A remark for the log on record numbers that are not in the data: perhaps counted from 0, or of another file."""
    if not isinstance(only, tuple):
        return ()
    count = int((~np.isin(np.array(only, dtype=np.int64), data.record)).sum())
    return (f"{check.counted(count, 'record number')} of `{what}` not in the file",) if count else ()


def unsafe_records(data: Data, scenario: Scenario, policy: Policy, name: str, original: Data) -> Bools:
    """By record: whether a measure says that it is not safe under the policy, on any key set."""
    known: dict[str, tuple[str, Callable[[Data, Scenario, Policy], Bools]]] = {
        "k_anonymity": ("k", _below_k),
        "individual_risk": ("risk", _above_risk),
        "household_risk": ("household_risk", _above_household_risk),
    }
    if name not in known:
        return _unsafe_by(find(name), data, scenario, policy, original)
    limit, judge = known[name]
    sets = scenario.sets.values() if name != "household_risk" else ()
    if getattr(policy, limit) is None and not any(getattr(each, limit) is not None for each in sets):
        raise TacitaError(f"the policy has no {limit}, so no record is unsafe by {name}; give it one.")
    return judge(data, scenario, policy)


def _unsafe_by(measure: Measure, data: Data, scenario: Scenario, policy: Policy, original: Data) -> Bools:
    """Unsafe records by any measure whose result marks them."""
    limited = policy.limit_of(measure.name)
    options = {} if limited is None else measure.measure_options(limited.options)
    if any(each.name == "policy" for each in measure.parameters):
        options["policy"] = policy
    files = (data,) if measure.files == 1 else (original, data)
    result: Any = measure.function(*files, scenario, **options)
    unsafe = result.unsafe_records(policy)
    if unsafe is None:
        raise TacitaError(
            f"{measure.name} says of no record that it is unsafe, by itself or for want of a limit in the policy; set "
            f"one, or choose the records in another way."
        )
    # A measure of two files can leave records out; those are not unsafe by it.
    return np.asarray(unsafe) if len(unsafe) == len(data) else np.isin(data.record, result.record[unsafe])


def _below_k(data: Data, scenario: Scenario, policy: Policy) -> Bools:
    from tacita.keys.table import key_table

    found = np.zeros(len(data), dtype=np.bool_)
    for each in scenario.sets.values():
        k = policy.k if each.k is None else each.k
        if k is not None:
            table = key_table(data, scenario, keys=each.keys)
            found |= table.per_record(table.sample_count) < k
    return found


def _above_risk(data: Data, scenario: Scenario, policy: Policy) -> Bools:
    from tacita.risk.identity.individual_risk import individual_risk

    found = np.zeros(len(data), dtype=np.bool_)
    for each in scenario.sets.values():
        limit = policy.risk if each.risk is None else each.risk
        if limit is not None:
            rates = {name: rate for name, rate in scenario.error_rates.items() if name in each.keys}
            alone = replace(scenario, keys=each.keys, key_sets={}, error_rates=rates)
            found |= individual_risk(data, alone).risk > limit
    return found


def _above_household_risk(data: Data, scenario: Scenario, policy: Policy) -> Bools:
    from tacita.risk.identity.household_risk import household_risk

    limit = policy.household_risk
    assert limit is not None
    above: Bools = household_risk(data, scenario).risk > limit
    return above
