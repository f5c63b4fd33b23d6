"""What a risk profile says of every record, the riskiest ones, and the spread of their risk, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Ints
from tacita.result import Result, Table

if TYPE_CHECKING:
    from tacita.assessment.profile import RiskProfile

HEADS = {"f": "alike in the file (f)", "F": "in the population (F)", "violations": "limits broken"}
"""What columns of the records are called in print."""


def every_record(profile: RiskProfile) -> frame.Frame:
    """One row per record: its number, f, F, risk, household risk and how many limits it violates."""
    columns: dict[str, Any] = {"record": profile.record}
    violations = np.zeros(len(profile.record), dtype=np.uint8)
    for part in profile.sets:
        suffix = "" if part is profile.main else f":{part.name}"
        columns[f"f{suffix}"] = part.table.per_record(part.table.sample_count)
        columns[f"F{suffix}"] = part.table.per_record(part.table.population_count)
        columns[f"risk{suffix}"] = part.individual.risk
        violations += part.violates_k()
        violations += part.violates_risk()
    if profile.household is not None:
        columns["household_risk"] = profile.household.risk
        if profile.policy.household_risk is not None:
            violations += profile.household.risk > profile.policy.household_risk
    for name, result in profile.further.items():
        if not profile.sets and profile.stands_for_counts(name):
            violations += _unsafe_by(profile, result)
    columns["violations"] = violations
    for result in profile.further.values():
        columns |= _of_every_record(profile, result)
    return frame.table(columns)


def riskiest(profile: RiskProfile, most: int, values: bool) -> frame.Frame:
    """The records with the highest risk, riskiest first, with the values of their keys if asked for."""
    safest_last = (-profile.individual.risk,) if profile.sets else _by_numbers(profile)
    rows = np.lexsort((profile.record, *safest_last))[:most]
    top = frame.take(profile.records, rows)
    if not values:
        return top
    table = profile.main.table
    keys = table.codes[table.row[rows]]
    shown = {
        name: (keys[:, place].astype(np.uint32), labelled(table.values[place], profile.labels.get(name, {})))
        for place, name in enumerate(table.keys)
    }
    return frame.beside(top, frame.table(shown))


def in_print(records: frame.Frame) -> Table:
    """Records as a table to print, its heads in words."""
    heads = tuple(HEADS.get(name, name.replace("_", " ")) for name in records.columns)
    return Table(heads, tuple((str(row[0]), *row[1:]) for row in records.rows()), "Riskiest records")


def riskiest_keys(profile: RiskProfile, most: int) -> Table:
    """The keys of highest risk on the main key set, riskiest first."""
    if not profile.sets:
        return Table((), ())
    table = profile.main.table
    _, first = np.unique(table.row, return_index=True)
    risk = profile.individual.risk[first]
    top = np.lexsort((np.arange(len(risk)), -risk))[:most]
    rows = []
    for place in top.tolist():
        codes = table.codes[place].tolist()
        values = ["" if code == 0 else str(of[code - 1]) for code, of in zip(codes, table.values, strict=True)]
        counts = int(table.records[place]), float(table.population_count[place]), float(risk[place])
        rows.append((*values, *counts))
    return Table((*table.keys, "records", "F", "individual risk"), tuple(rows))


def spreads(profile: RiskProfile) -> frame.Frame:
    """Minimum, quartiles, mean and maximum of the individual risk and of that of households."""
    rows = {"individual": profile.individual.spread}
    if profile.household is not None:
        rows["household"] = profile.household.spread
    names = next(iter(rows.values()))._fields
    return frame.table({"risk": list(rows)} | {name: [getattr(row, name) for row in rows.values()] for name in names})


def labelled(values: tuple[Any, ...], labels: Mapping[Any, str]) -> tuple[Any, ...]:
    """Values with their labels, `female (2)`; those without as they are.

    >>> labelled((1, 2, 9), {1: "male", 2: "female"})
    ('male (1)', 'female (2)', '9')
    """
    if not any(value in labels for value in values):
        return values
    return tuple(f"{labels[value]} ({value})" if value in labels else str(value) for value in values)


def _of_every_record(profile: RiskProfile, result: Result) -> dict[str, Any]:
    """What a result says of each record, missing for those that it leaves out, as they are in no original."""
    columns = result.record_columns()
    numbers: Ints = getattr(result, "record", profile.record)
    if not columns or np.array_equal(numbers, profile.record):
        return columns
    place = {number: row for row, number in enumerate(numbers.tolist())}
    rows = np.array([place.get(number, -1) for number in profile.record.tolist()])
    taken = frame.take_or_missing(frame.table(columns), rows)
    return {name: taken[name] for name in taken.columns}


def _unsafe_by(profile: RiskProfile, result: Result) -> Bools:
    """By record: whether a result says that it is not safe; records that it leaves out are not unsafe by it."""
    unsafe = result.unsafe_records(profile.policy)
    if unsafe is None:
        return np.zeros(len(profile.record), dtype=np.bool_)
    numbers: Ints = getattr(result, "record", profile.record)
    return np.isin(profile.record, numbers[unsafe])


def _by_numbers(profile: RiskProfile) -> tuple[Any, ...]:
    """What puts the riskiest record first where all keys are numeric; the last one counts most."""
    alike = profile.further["mixed_uniqueness"].record_columns()["candidates"]
    return alike, -profile.records["violations"].to_numpy().astype(np.int64)
