"""Files on an engine as measures take them: distinct keys in memory, and what a scenario cannot ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.keys.condensed import apart, condensed
from tacita.keys.condensed_pair import MOST_VALUES, condensed_pair
from tacita.keys.sampled_pair import sampled_pair
from tacita.progress import Progress, no_progress
from tacita.scenario import Scenario, restricted, with_codes

NAMING = ("variables", "keys", "tables", "sensitive")
"""Options of measures that name variables."""
MANY_VALUES = "too many different values, or combinations of them, to be measured on an engine"


class InMemory(NamedTuple):
    """What stands for large files in memory."""

    files: tuple[Data, ...]
    """One row per distinct key, or per combination of the values of both files."""
    scenario: Scenario
    """Without variables that are left out."""
    left_out: tuple[str, ...]
    """Variables that have too many different values."""
    apart: tuple[str, ...] = ()
    """Variables that have too many combinations with the others: reconstruction alone looks at them."""


def distinct_keys(
    large: LargeData,
    scenario: Scenario,
    weights_by_record: bool,
    progress: Progress = no_progress,
    also: Iterable[str] = (),
) -> tuple[Data, list[str], list[str]]:
    """One row per distinct key; the variables that the records are grouped by, and those that are left out.

    `also` names variables beside those of the scenario.
    """
    check_supported(scenario, large)
    names, left_out = grouped_variables(large, scenario)
    names = list(dict.fromkeys([*names, *(each for each in also if each in large.columns)]))
    if scenario.weight is not None and (weights_by_record or needs_weights(scenario)):
        names = list(dict.fromkeys([*names, scenario.weight]))
    rows = with_codes(condensed(large, names, scenario.weight, progress=progress), scenario)
    if scenario.missing.name == "no_match":
        rows = apart(rows, scenario.all_keys, large.room)
    return rows, names, left_out


def measured_in_memory(
    given: tuple[Any, ...],
    scenario: Scenario,
    options: Mapping[str, Any],
    unit: str | None,
    weights_by_record: bool,
) -> InMemory:
    """Large files as data in memory, for a measure with some options; `unit` says which records are the same."""
    if len(given) == 1:
        rows, _, left_out = distinct_keys(given[0], scenario, weights_by_record, also=_named(options))
        return InMemory((rows,), _within(scenario, rows), tuple(left_out))
    first, second = (_large(each) for each in given)
    check_supported(scenario, first)
    check_pair(scenario)
    named = list(dict.fromkeys(_named(options)))
    variables = [*scenario.all_keys, *named] if named else None
    pair = condensed_pair(first, second, scenario, variables, unit)
    left_out = [name for name in pair.left_out if name in first.columns and not _identifies(name, scenario)]
    files = (with_codes(pair.original, scenario), with_codes(pair.released, scenario))
    return InMemory(files, _within(scenario, pair.original), () if named else tuple(left_out), pair.apart)


def sampled_in_memory(
    given: tuple[Any, ...], scenario: Scenario, options: Mapping[str, Any]
) -> tuple[Data, Data, Scenario]:
    """A sample of two large files in memory, for a measure of numeric keys with some options."""
    first, second = (_large(each) for each in given)
    names = check.names("keys", options.get("keys") or scenario.numeric_keys)
    if not names:
        raise TacitaError("a sample is drawn of numeric keys; pass numeric_keys=[...] in the scenario, or keys=[...].")
    given_strata, size = options.get("strata"), options.get("size")
    strata = scenario.strata if given_strata is None else check.names("strata", given_strata)
    found = sampled_pair(first, second, scenario, [*names, *([size] if size else [])], strata)
    known = restricted(replace(scenario, numeric_keys=names), found.original.columns)
    assert known is not None
    return found.original, found.released, known


def left_out_caution(names: Iterable[str]) -> str:
    """What the reader should know of variables that were left out."""
    listed = tuple(names)
    has = "has" if len(listed) == 1 else "have"
    return (
        f"{check.quoted(listed, most=8)} {has} {MANY_VALUES}, and {'is' if len(listed) == 1 else 'are'} not in these "
        f"figures; recode into classes, or measure a sample of the records of both files in memory."
    )


def apart_caution(names: Iterable[str]) -> str:
    """What the reader should know of columns that reconstruction alone looks at."""
    return (
        f"{check.quoted(tuple(names), most=8)} and the other variables have more combinations than fit the memory "
        f"budget: losses and external risk are of the variables of the scenario, and of cells given back by these "
        f"columns at least so many are counted; give more memory (--memory) for all."
    )


def check_supported(scenario: Scenario, large: LargeData) -> None:
    """Every variable of the scenario is in the file, and nothing of it needs all records in memory."""
    _check_columns(scenario, large)
    check_units(scenario, large)
    if not scenario.sets:
        raise TacitaError(
            "numeric keys need all records in memory; assess a sample of them, or recode them into classes as keys."
        )


def check_units(scenario: Scenario, large: LargeData) -> None:
    """No unit has several records, which would hide behind themselves."""
    check.columns_exist("person", () if scenario.person is None else (scenario.person,), large.columns)
    if scenario.person is not None and _repeated(scenario.person, large):
        raise TacitaError(
            "units with several records (person=...) are counted in memory only; write one record per unit first, or "
            "assess without person, which counts records and makes risks too low."
        )


def check_pair(scenario: Scenario) -> None:
    """Nothing of a scenario makes rows of two files part that stand for the same records."""
    if scenario.missing.name == "no_match":
        raise TacitaError(
            "under rule 'no_match' an original and its release need all records in memory; choose 'one_way', or "
            "compare samples of both."
        )


def grouped_variables(large: LargeData, scenario: Scenario) -> tuple[list[str], list[str]]:
    """What the records are grouped by: keys and sensitive categories; and sensitive variables that are left out."""
    names, left_out = list(scenario.all_keys), list[str]()
    for name in (each for each in scenario.sensitive if each not in names):
        (left_out if large.different[name] > MOST_VALUES else names).append(name)
    return names, left_out


def needs_weights(scenario: Scenario) -> bool:
    """Whether a scenario asks for the weight of each record: sums by key are not enough."""
    return scenario.attack == "M5" or scenario.missing.name == "no_match"


def _large(given: Any) -> LargeData:
    if not isinstance(given, LargeData):
        raise TacitaError("both files must be large, or none: open the other with LargeData.of(...), or read both.")
    return given


def _within(scenario: Scenario, data: Data) -> Scenario:
    """The scenario for what is in memory."""
    known = restricted(scenario, data.columns)
    assert known is not None
    return known


def _named(options: Mapping[str, Any]) -> Iterable[str]:
    """The variables that options name."""
    for name in NAMING:
        value = options.get(name)
        listed = (value,) if isinstance(value, str) else value or ()
        for each in listed:
            yield from (each,) if isinstance(each, str) else each


def _identifies(name: str, scenario: Scenario) -> bool:
    return name in (scenario.household, scenario.person, scenario.weight, *scenario.identifiers)


def _repeated(name: str, large: LargeData) -> bool:
    """Whether a unit has several records; one without an identifier is a unit of its own."""
    unit = large.table[name]
    found = large.database.collect(large.table.aggregate(units=unit.nunique(), records=unit.count()))
    counts = found.to_pylist()[0]
    return int(counts["units"]) < int(counts["records"])


def _check_columns(scenario: Scenario, large: LargeData) -> None:
    """Every variable of the scenario is in the file."""
    for name in ("all_keys", "household_variables", "strata", "sensitive", "numeric_keys", "identifiers"):
        check.columns_exist("keys" if name == "all_keys" else name, getattr(scenario, name), large.columns)
    for name in ("weight", "household", "person"):
        if getattr(scenario, name) is not None:
            check.columns_exist(name, (getattr(scenario, name),), large.columns)
