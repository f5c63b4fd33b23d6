"""The key table: everything about categorical keys is a function of it.

Records are grouped once by their key (the combination of their values on the key variables); measures run on the
distinct keys, and results are joined back by record. A million records are then as cheap as their distinct keys.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import Caution, TacitaError
from tacita.data import Data
from tacita.keys import exact_sums, matching
from tacita.keys.matching import Keys
from tacita.keys.missing_rules import matching_counts, shown_fully
from tacita.scenario import MissingRule, Scenario, checked

GREATEST_WEIGHT = 2.0**47
GREATEST_TOTAL = 2.0**51
"""Up to this sum of weights `sums` rounds once."""
LEAST_WEIGHT = 2.0**-40


@dataclass(frozen=True, eq=False)
class KeyTable:
    """The distinct keys of a file, one per row."""

    keys: tuple[str, ...]
    """The key variables."""
    codes: Codes
    """Their codes, one row per key, 0 for missing."""
    values: tuple[tuple[Any, ...], ...]
    """What the codes 1, 2, ... of each variable stand for."""
    records: Ints
    """How many records carry the key (n_k)."""
    sample_count: Floats
    """How many records count for it (f); differs from `records` where values are missing."""
    population_count: Floats
    """How many units of the population are estimated, or known, to count for it (F)."""
    row: Ints
    """For each record of the file the row of its key."""
    rule: MissingRule
    """How records with missing values count."""
    source: str
    """Where F comes from: weights, population_size, sampling_fraction, register, or census (F = f)."""
    cautions: tuple[str, ...] = ()
    """What the data made worth saying; results print them."""

    def __repr__(self) -> str:
        # Never the values: a table is part of every result, and results are printed into logs and notebooks.
        return f"<KeyTable: {check.counted(len(self.codes), 'key')} of {check.counted(self.size, 'record')}>"

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.row)

    @property
    def complete(self) -> Bools:
        """Which keys have no missing value."""
        return shown_fully(self.codes)

    @property
    def has_missing(self) -> bool:
        """Whether any key has a missing value."""
        return not bool(self.complete.all())

    @property
    def sampling_probability(self) -> Floats:
        """p = f/F, at most 1: a file cannot hold more than its population."""
        return np.minimum(1.0, self.sample_count / self.population_count)

    def per_record(self, by_key: NDArray[Any]) -> NDArray[Any]:
        """A result by key as a result by record."""
        return by_key[self.row]


def key_table(data: Any, scenario: Scenario, keys: Sequence[str] | None = None, register: Any = None) -> KeyTable:
    """The key table of a file under a scenario: f and F for each distinct key, by the scenario's missing-value rule."""
    data = Data.of(data)
    checked(scenario).check_against(data)
    names = scenario.keys if keys is None else check.names("keys", keys)
    check_keys(data, names)
    weights = survey_weights(data, scenario)
    columns = [data.coded(name, scenario.not_applicable.get(name, ())) for name in names]
    row, codes = distinct_keys([column.codes for column in columns], [len(column.values) for column in columns])
    rule = scenario.missing
    if rule.name == "no_match":
        row, codes = _incomplete_apart(row, codes)
    records = np.bincount(row, minlength=len(codes))
    totals = _totals(row, records, weights)
    counted = matching_counts(codes, Keys(codes, totals), rule, records)
    f, F = counted[:, 0], counted[:, 0]
    source = "census"
    if weights is not None:
        F, source = counted[:, 1], "weights"
    elif scenario.population_size is not None:
        F, source = f * (scenario.population_size / len(data)), "population_size"
    elif scenario.sampling_fraction is not None:
        F, source = f / scenario.sampling_fraction, "sampling_fraction"
    values = tuple(column.values for column in columns)
    cautions = (*_perturbed(data, names, scenario.weight), *_weights_below_one(weights, scenario.weight))
    table = KeyTable(names, codes, values, records, f, F, row, rule, source, cautions)
    return table if register is None else with_register(table, Data.of(register), scenario)


def _perturbed(data: Data, names: tuple[str, ...], weight: str | None) -> Iterator[str]:
    """Keys or weights that a protection step exchanged for wrong ones: counting equal keys then measures nothing."""
    instead = (
        "use record linkage against the original (distance_linkage, probabilistic_linkage) or the confidentiality plot"
    )
    keys = [name for name in names if name in data.perturbed]
    if keys:
        were = "keys {} were" if len(keys) > 1 else "key {} was"
        yield _caution(
            f"the {were.format(check.quoted(keys))} perturbed: how many records share a key no longer says how many "
            f"people look alike, and every risk here that rests on it is not valid; {instead} instead."
        )
    if weight in data.perturbed:
        yield _caution(
            f"the weight {weight!r} was perturbed: F, and every risk here that rests on it, is not valid; "
            f"assess the keys with the original weight, or {instead}."
        )


def check_keys(data: Data, names: tuple[str, ...]) -> None:
    """There are keys, not too many, all of them in the data, and none has an infinite value."""
    if not names:
        raise TacitaError("the scenario has no categorical keys; pass keys=[...].")
    if len(names) > matching.MOST_KEYS:
        raise TacitaError(f"keys must be at most {matching.MOST_KEYS}; got {len(names)}, use several key sets.")
    check.columns_exist("keys", names, data.columns)
    for name in names:
        if frame.is_float(data.table, name):
            infinite = np.isinf(data.numbers(name))
            if infinite.any():
                raise TacitaError(_rows_message(f"key {name!r} must be finite", "infinite", infinite, data))


def _rows_message(what: str, adjective: str, wrong: Bools, data: Data) -> str:
    """Where the wrong values are, never what they are."""
    count = int(wrong.sum())
    rows = ", ".join(f"{number:,}" for number in data.record[wrong][:3].tolist()) + (", ..." if count > 3 else "")
    values, records = ("value is", "record") if count == 1 else ("values are", "records")
    return f"{what}; {count:,} {values} {adjective} ({records} {rows}), correct the file."


def survey_weights(data: Data, scenario: Scenario) -> Floats | None:
    """The weights of the scenario: positive, finite, none missing."""
    if scenario.weight is None:
        return None
    name = scenario.weight
    weights = data.numbers(name)
    what = f"weight {name!r} must be positive"
    for adjective, wrong in (
        ("missing", np.isnan(weights)),
        ("infinite", np.isinf(weights)),
        ("negative", weights < 0),
        ("zero", weights == 0),
        ("next to zero", weights < LEAST_WEIGHT),
    ):
        if wrong.any():
            raise TacitaError(_rows_message(what, adjective, wrong, data))
    if weights.max() > GREATEST_WEIGHT:
        raise TacitaError(f"weight {name!r} must be at most {GREATEST_WEIGHT:.0e}; check that it is a sampling weight.")
    if weights.sum() > GREATEST_TOTAL:
        raise TacitaError(
            f"weight {name!r} must add up to at most {GREATEST_TOTAL:.0e}; check that it is a sampling weight."
        )
    return weights


def _caution(text: str) -> str:
    """Say something at once as a warning, and hand it on for the printed result."""
    warnings.warn(text, Caution, stacklevel=4)
    return text


def _weights_below_one(weights: Floats | None, name: str | None) -> Iterator[str]:
    below = 0 if weights is None else int((weights < 1).sum())
    if below:
        yield _caution(
            f"weight {name!r} is below 1 in {check.counted(below, 'record')}: a unit stands for at least itself; "
            f"where F would be below f the risk is 1/f."
        )


def distinct_keys(columns: list[Codes], sizes: list[int]) -> tuple[Ints, Codes]:
    """For each record the row of its key, and the distinct keys in order."""
    numbers = matching.combined(columns, [size + 1 for size in sizes], len(columns[0]))
    row = _ranks(numbers)
    first = np.empty(int(row.max()) + 1, dtype=np.int64)
    first[row[::-1]] = np.arange(len(row) - 1, -1, -1)
    return row, np.stack([codes[first] for codes in columns], axis=1)


def _ranks(numbers: Ints) -> Ints:
    """The rank of each number among the distinct ones, from 0."""
    if numbers.max() < max(1 << 22, 4 * len(numbers)):
        # Close together: a table of what occurs is faster than a sort.
        occurs = np.bincount(numbers) > 0
        return (np.cumsum(occurs) - 1)[numbers]
    return np.unique(numbers, return_inverse=True)[1]


def _incomplete_apart(row: Ints, codes: Codes) -> tuple[Ints, Codes]:
    """Every record with a missing value as a key of its own: it matches nothing, not even its twin."""
    complete = shown_fully(codes)
    alone = np.flatnonzero(~complete[row])
    kept = np.flatnonzero(complete)
    place = np.zeros(len(codes), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    moved = place[row]
    moved[alone] = len(kept) + np.arange(len(alone))
    return moved, np.concatenate([codes[kept], codes[row[alone]]])


def _totals(row: Ints, records: Ints, weights: Floats | None) -> Ints:
    """Per key what matching adds up: records, and the limbs of the sum of weights."""
    if weights is None:
        return records[:, None]
    return np.column_stack([records, exact_sums.group_sums(weights, row, len(records), exact_sums.WEIGHT_BITS)])


def with_register(table: KeyTable, register: Data, scenario: Scenario) -> KeyTable:
    """The table with F counted in a register of the population; at least f, since the file is part of it."""
    if scenario.missing.name == "sdcmicro":
        raise TacitaError("missing 'sdcmicro' is for one file only; choose another rule with a register.")
    sources = register_keys(table, register, scenario)
    known = matching_counts(table.codes, sources, table.rule, table.records)[:, 0]
    # Under no_match a blank matches nobody in the register either: that is the rule, not a gap in the register.
    expected = table.complete if table.rule.name == "no_match" else np.ones(len(table.codes), dtype=bool)
    short = int(table.records[expected & (known < (1 - 1e-12) * table.sample_count)].sum())
    cautions = table.cautions
    if short:
        text = (
            f"the register holds fewer units than the file for the keys of {check.counted(short, 'record')}: "
            f"their F is set to f; check that the register covers the population and codes the keys alike."
        )
        cautions = (*cautions, _caution(text))
    known = np.maximum(known, table.sample_count)
    return replace(table, population_count=known, source="register", cautions=cautions)


def register_keys(table: KeyTable, register: Data, scenario: Scenario) -> Keys:
    """The distinct keys of a register in the file's codes, with how many units have each."""
    check.columns_exist("register: keys", table.keys, register.columns)
    if len(register) == 0:
        raise TacitaError("the register has no records; check that it was exported completely.")
    columns = [register.coded(name, scenario.not_applicable.get(name, ())) for name in table.keys]
    translated = [
        _translated(name, column, values)
        for name, column, values in zip(table.keys, columns, table.values, strict=True)
    ]
    sizes = [int(codes.max(initial=0)) for codes in translated]
    row, codes = distinct_keys(translated, sizes)
    return Keys(codes, np.bincount(row, minlength=len(codes))[:, None])


def _translated(name: str, column: frame.Coded, values: tuple[Any, ...]) -> Codes:
    """A register's codes in terms of the file's; values that the file does not have get codes of their own."""
    # A blank that is a category is the text '' beside numbers too.
    kinds = [{isinstance(value, str) for value in part if value != ""} for part in (values, column.values)]
    if len(set().union(*kinds)) > 1:
        raise TacitaError(
            f"key {name!r} is text in the file or in the register, numbers in the other; make them alike."
        )
    code_of = {value: code for code, value in enumerate(values, start=1)}
    lookup = [0, *(code_of.get(value, len(values) + 1 + place) for place, value in enumerate(column.values))]
    return np.array(lookup, dtype=np.uint32)[column.codes]
