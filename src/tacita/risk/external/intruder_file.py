"""A simulated file of an intruder, made from the original: some variables, some records, errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_categories
from tacita.keys.table import repeated_units
from tacita.random import Draws, fresh_seed
from tacita.risk.external.known import probabilities
from tacita.scenario import Scenario, checked, prepared_data


def wrong_codes(codes: Ints, draws: Ints, counts: Ints) -> Ints:
    """For each code another one: the one that holds the drawn place among the records with other codes.

    >>> wrong_codes(np.array([1, 1, 2]), np.array([0, 2, 3]), np.array([0, 4, 3, 1])).tolist()
    [2, 2, 1]
    """
    before = np.cumsum(counts) - counts
    place = np.where(draws < before[codes], draws, draws + counts[codes])
    found: Ints = np.searchsorted(np.cumsum(counts), place, side="right")
    return found


def intruder_file(
    original: Any,
    scenario: Scenario,
    *,
    variables: tuple[str, ...] | None = None,
    known: Mapping[str, float] | None = None,
    coverage: float = 1.0,
    error_rates: Mapping[str, float] | None = None,
    noise: Mapping[str, float] | float | None = None,
    seed: int | None = None,
) -> Data:
    """A file that an intruder could have, made from the original; for `external_risk(..., intruder=...)`.

    Each of the `variables` (the keys, numeric keys and known variables of the scenario) is there with its probability:
    `known`, the scenario's, otherwise 1. A share `coverage` of the units is in it, all records of a unit together. With
    a probability of `error_rates` (the scenario's unless given) a value is a wrong one, drawn from the others by their
    frequency; numeric variables have besides a relative error with standard deviation `noise`, one for all or by
    variable. Missing values stay missing, whole numbers whole. Record numbers are kept: it is known who is who.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m"] * 5, "age": list(range(30, 40)), "job": ["a"] * 10})
    >>> who = Scenario(keys=["sex", "age"])
    >>> his = intruder_file(people, who, coverage=0.4, error_rates={"age": 0.2}, seed=1)
    >>> his.columns, len(his)
    (('sex', 'age'), 4)
    """
    scenario = checked(scenario)
    data = prepared_data(original, scenario)
    chances = probabilities(scenario, variables, known)
    check.columns_exist("variables", list(chances), data.columns)
    check.share("coverage", coverage, zero=False)
    wrong = dict(scenario.error_rates) | check.mapping("error_rates", {} if error_rates is None else error_rates)
    for name, rate in wrong.items():
        check.share(f"error rate of {name!r}", rate)
    check.columns_exist("error_rates", list(wrong), data.columns)
    source = Draws(fresh_seed() if seed is None else seed).step("intruder file")
    names = [name for name, chance in chances.items() if source.step(name).uniform(0) < chance]
    if not names:
        raise TacitaError("the intruder would know nothing; raise the probabilities in known, or take another seed.")
    rows = _covered(data, scenario, coverage, source)
    spread = _spreads(noise, [name for name in names if _is_numeric(data, scenario, name)])
    columns = {
        name: _column(data, name, wrong.get(name, 0.0), spread.get(name, 0.0), source.step(name)) for name in names
    }
    there = {name: known_ for name, known_ in data.variables.items() if name in columns}
    return Data(frame.table(columns), there, numbers_of_records=data.record).take(rows)


def _covered(data: Data, scenario: Scenario, coverage: float, source: Draws) -> Ints:
    """The rows of the units that are in the file: the share of them with the smallest draws."""
    unit = repeated_units(data, scenario)
    unit = np.arange(len(data)) if unit is None else unit
    # A unit draws by its smallest record number, whatever the order of the records.
    first = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, data.record)
    count = max(1, round(coverage * len(first)))
    chosen = np.lexsort((first, source.step("coverage").uniform(first)))[:count]
    return np.flatnonzero(np.isin(unit, chosen))


def _is_numeric(data: Data, scenario: Scenario, name: str) -> bool:
    return name in scenario.numeric_keys or (name not in scenario.all_keys and data.scale(name) == "numeric")


def _spreads(noise: Any, numeric: list[str]) -> dict[str, float]:
    """By numeric variable the standard deviation of its relative error."""
    given = noise if isinstance(noise, Mapping) else dict.fromkeys(numeric, 0.0 if noise is None else noise)
    for name, value in given.items():
        if check.number(f"noise of {name!r}", value) < 0:
            raise TacitaError(f"noise of {name!r} must be at least 0; got {check.given(value)}.")
    check.columns_exist("noise", [name for name in given if name not in numeric], numeric)
    return {name: float(value) for name, value in given.items()}


def _column(data: Data, name: str, rate: float, spread: float, source: Draws) -> Any:
    """A variable with errors: wrong values of other records, and relative errors of numbers."""
    codes = visible_categories(data, name).codes.astype(np.int64)
    counts = np.bincount(codes)
    counts[0] = 0
    others = counts.sum() - counts[codes]
    hit = (codes > 0) & (others > 0) & (source.step("error").uniform(data.record) < rate)
    rows = np.arange(len(data))
    if hit.any():
        drawn = source.step("value").integers(data.record[hit], below=others[hit])
        holder = np.zeros(len(counts), np.int64)
        holder[codes] = rows
        rows[hit] = holder[wrong_codes(codes[hit], drawn, counts)]
    values = data.table[name][rows]
    if spread == 0:
        return values
    numbers: Floats = data.numbers(name)[rows]
    moved = numbers * (1.0 + spread * source.step("noise").normal(data.record))
    # Codes for missing or not applicable are no measurements: they stay.
    kept = frame.numbers(data.table, name)[rows]
    moved = np.where(np.isnan(numbers), kept, moved)
    return frame.whole_numbers(np.rint(moved)) if frame.is_whole(data.table, name) else moved
