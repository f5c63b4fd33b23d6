"""The key table: everything about categorical keys is a function of it.

Records are grouped once by their key (the combination of their values on the key variables); measures run on the
distinct keys, and results are joined back by record. A million records are then as cheap as their distinct keys.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import Caution, TacitaError
from tacita.data import Data
from tacita.data.stands_for import Condensed
from tacita.keys import matching
from tacita.keys.matching import Keys
from tacita.keys.missing_rules import matching_counts
from tacita.keys.register import with_register
from tacita.keys.source import WEIGHT_BITS, InMemory, Source, as_counts, as_float, combined, shown_fully
from tacita.keys.units import counted_units, entries, units_not_counted
from tacita.scenario import MissingRule, Scenario, checked, with_codes

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
    """How many units count for it (f); differs from `records` where values are missing or units repeat."""
    population_count: Floats
    """How many units of the population are estimated, or known, to count for it (F)."""
    row: Ints
    """For each record of the file the row of its key."""
    rule: MissingRule
    """How records with missing values count."""
    source: str
    """Where F comes from: weights, original_weights (a step changed them or dropped records), original_file (the same
    without weights), population_size, sampling_fraction, register, or census (F = f)."""
    cautions: tuple[str, ...] = ()
    """What the data made worth saying; results print them."""
    keys_not_valid: str = ""
    """Why counts of keys do not say how many people look alike; empty if they do."""
    weights_not_valid: str = ""
    """Why F is not what the weights say; empty if it is."""
    repeats: Ints | None = None
    """For each row of condensed data how many records it stands for; None: rows are records."""
    squares: Floats | None = None
    """For each row of condensed data how its weights vary: the sum of squared deviations from their mean."""
    unit: Ints | None = None
    """For each record the place of its unit (person, firm), where a unit has several records: f and F then count units.
    None: every record is a unit of its own."""

    def __repr__(self) -> str:
        # Never the values: a table is part of every result, and results are printed into logs and notebooks.
        return f"<KeyTable: {check.counted(len(self.codes), 'key')} of {check.counted(self.size, 'record')}>"

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.row) if self.repeats is None else int(self.repeats.sum())

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

    @property
    def not_valid(self) -> str:
        """Why nothing that rests on f and F is valid; empty if it is."""
        return self.keys_not_valid or self.weights_not_valid

    @property
    def records_not_valid(self) -> str:
        """Why counts of records say nothing: keys were perturbed, or units have several records."""
        return self.keys_not_valid or units_not_counted(self.unit)

    @property
    def units(self) -> int:
        """Number of units: of records, unless some have several."""
        return self.size if self.unit is None else int(self.unit.max()) + 1

    def per_record(self, by_key: NDArray[Any]) -> NDArray[Any]:
        """A result by key as a result by record; of condensed data, by row."""
        return by_key[self.row]

    def one_per_unit(self, by_record: Floats) -> Ints:
        """One record of each unit: the one with the greatest value, of equal ones the first by its key."""
        if self.unit is None:
            return np.arange(self.size, dtype=np.int64)
        order = np.lexsort((self.row, -by_record, self.unit))
        return order[np.flatnonzero(np.diff(self.unit[order], prepend=-1))]

    def alike_without(self, place: int) -> Floats:
        """By key: how many records agree on all keys but the one at a place; worked out once for each."""
        if place not in self._alike_without:
            others = [at for at in range(len(self.keys)) if at != place]
            sizes = [len(self.values[at]) + 1 for at in others]
            numbers = combined([self.codes[:, at] for at in others], sizes, len(self.codes))
            group = np.unique(numbers, return_inverse=True)[1]
            self._alike_without[place] = np.bincount(group, weights=self.records).astype(np.float64)[group]
        return self._alike_without[place]

    @cached_property
    def _alike_without(self) -> dict[int, Floats]:
        return {}

    def units_by_key(self, by_key: Floats) -> Ints:
        """By key: how many units count there, each once, with the record that has the greatest value."""
        if self.unit is None:
            return self.records
        chosen = self.one_per_unit(self.per_record(by_key))
        return np.bincount(self.row[chosen], minlength=len(self.codes))


def key_table(data: Any, scenario: Scenario, keys: Sequence[str] | None = None, register: Any = None) -> KeyTable:
    """The key table of a file under a scenario: f and F for each distinct key, by the scenario's missing-value rule."""
    scenario = checked(scenario)
    data = with_codes(Data.of(data), scenario)
    scenario.check_against(data)
    names = scenario.keys if keys is None else check.names("keys", keys)
    population = (scenario.weight, scenario.population_size, scenario.sampling_fraction)
    key = ("key_table", names, str(scenario.missing), population, scenario.person, id(register))
    table: KeyTable = data.once(
        key, lambda: _with_optional_register(_checked_table(data, scenario, names), register, scenario)
    )
    return table


def _with_optional_register(table: KeyTable, register: Any, scenario: Scenario) -> KeyTable:
    return table if register is None else with_register(table, Data.of(register), scenario)


def _checked_table(data: Data, scenario: Scenario, names: tuple[str, ...]) -> KeyTable:
    check_keys(data, names)
    # One array for all rules, so that records are grouped once for all of them.
    as_they_were = uses_original_weights(data, scenario, names)
    # Growth by dropped records holds for some keys only.
    grown = as_they_were and data.original_weights is not None and data.original_weights.keys.issuperset(names)
    key = ("weights", scenario.weight, as_they_were, grown)
    weights = data.once(key, lambda: population_weights(data, scenario, names))
    unit = repeated_units(data, scenario)
    size = data.original_size
    grown_counts = _grown_counts(data, scenario, names) if weights is None else None
    counting = weights if grown_counts is None else grown_counts
    stands_for = condensed_as_they_were(data, scenario, names)
    counted = data if stands_for is data.condensed else replace(data, condensed=stands_for)
    table = table_of(InMemory(counted, counting), scenario, names, unit=unit, weights=counting, original_size=size)
    if stands_for is not None:
        table = replace(table, repeats=stands_for.records, squares=stands_for.squares)
    if grown_counts is not None:
        table = replace(
            table, source="population_size" if scenario.population_size is not None else "sampling_fraction"
        )
    if as_they_were and data.original_weights is not None:
        table = replace(table, source="original_weights" if data.original_weights.name else "original_file")
    keys_not_valid, weights_not_valid = _perturbed(data, names, None if as_they_were else scenario.weight)
    keys_not_valid = keys_not_valid or _units_not_known(data, scenario.person)
    cautions = [_caution(text) for text in (keys_not_valid, weights_not_valid) if text]
    cautions += _weights_below_one(weights, scenario.weight, stands_for)
    return replace(table, cautions=tuple(cautions), keys_not_valid=keys_not_valid, weights_not_valid=weights_not_valid)


def condensed_as_they_were(data: Data, scenario: Scenario, names: Sequence[str]) -> Condensed | None:
    """What rows of condensed data stand for, with the weights that F comes from; None where rows are records."""
    was = data.original_weights
    if data.condensed is None or was is None or not uses_original_weights(data, scenario, names):
        return data.condensed
    return was.condensed or data.condensed


def _grown_counts(data: Data, scenario: Scenario, names: tuple[str, ...]) -> Floats | None:
    """By record what it stands for in the population by N/n or the sampling fraction, where records were dropped."""
    was, population, fraction = data.original_weights, scenario.population_size, scenario.sampling_fraction
    if was is None or was.growth is None or not was.keys.issuperset(names) or (population or fraction) is None:
        return None
    if population is not None:
        return was.growth * (population / (data.original_size or data.unit_places(scenario.person)[1]))
    assert fraction is not None
    return was.growth / fraction


def table_of(
    source: Source,
    scenario: Scenario,
    names: tuple[str, ...],
    *,
    unit: Ints | None = None,
    weights: Floats | None = None,
    original_size: int | None = None,
) -> KeyTable:
    """The key table of any source, whose keys and weights are as they must be.

    Where units have several records, `unit` is by record the place of its unit, and `weights` are those of the records.
    `original_size` is the number of units that stood for the population before some were added or dropped.
    """
    rule = scenario.missing
    codes, values, totals, row = source.grouped(names, incomplete_apart=rule.name == "no_match")
    if unit is not None:
        counted = counted_units(codes, codes, totals[:, 0], entries(row, unit, weights), rule)
    elif shown_fully(codes).all():
        # Nothing is missing: keys count for themselves only.
        counted = as_counts(totals)
    else:
        counted = matching_counts(codes, Keys(codes, totals), rule, totals[:, 0])
    f, F = counted[:, 0], counted[:, 0]
    origin = "census"
    if totals.shape[1] > 1:
        F, origin = counted[:, 1], "weights"
    elif scenario.population_size is not None:
        size = original_size or (int(totals[:, 0].sum()) if unit is None else int(unit.max()) + 1)
        F, origin = f * (scenario.population_size / size), "population_size"
    elif scenario.sampling_fraction is not None:
        F, origin = f / scenario.sampling_fraction, "sampling_fraction"
    return KeyTable(names, codes, values, totals[:, 0], f, F, row, rule, origin, unit=unit)


def repeated_units(data: Data, scenario: Scenario) -> Ints | None:
    """For each record the place of its unit, where a unit has several records; None where none has.

    A record without an identifier of its unit is a unit of its own.
    """
    if scenario.person is None and data.units is None:
        return None
    unit, count = data.once(("units", scenario.person), lambda: data.unit_places(scenario.person))
    return None if count == len(data) else unit


def _perturbed(data: Data, names: tuple[str, ...], weight: str | None) -> tuple[str, str]:
    """Why counting equal keys, and why adding up weights, measures nothing: a step exchanged values for wrong ones."""
    instead = (
        "use record linkage against the original (distance_linkage, probabilistic_linkage) or the confidentiality plot"
    )
    of_keys = of_weights = ""
    keys = [name for name in names if name in data.perturbed]
    if keys:
        were = "keys {} were" if len(keys) > 1 else "key {} was"
        of_keys = (
            f"the {were.format(check.quoted(keys))} perturbed: how many records share a key no longer says how many "
            f"people look alike, and every risk here that rests on it is not valid; {instead} instead."
        )
    if weight in data.perturbed:
        not_valid = "F, and every risk here that rests on it, is not valid"
        of_weights = (
            f"the weight {weight!r} was perturbed, or stands beside other records than in the original: {not_valid}; "
            f"assess the keys with the original weight, or {instead}."
        )
        if data.before is not None and weight not in data.before.columns:
            of_weights = (
                f"the original has no weight {weight!r} to hold that of the release against: {not_valid}; give the "
                f"weight one name in both files, or {instead}."
            )
    return of_keys, of_weights


def _units_not_known(data: Data, person: str | None) -> str:
    """Why counting units measures nothing: their identifier was exchanged, or the original puts others together."""
    if data.units is not None or person not in data.perturbed:
        return ""
    return (
        f"the identifier of units {person!r} was perturbed, or puts other records together than in the original: how "
        f"many units look alike is not known; release it as it was under the same name, or assess the release itself, "
        f"not its file."
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
    if data.condensed is not None:
        records = check.counted(int(data.condensed.records[wrong].sum()), "record")
        return f"{what}; it is {adjective} in {records}, correct the file."
    rows = ", ".join(f"{number:,}" for number in data.record[wrong][:3].tolist()) + (", ..." if count > 3 else "")
    values, records = ("value is", "record") if count == 1 else ("values are", "records")
    return f"{what}; {count:,} {values} {adjective} ({records} {rows}), correct the file."


def uses_original_weights(data: Data, scenario: Scenario, keys: Sequence[str] | None = None) -> bool:
    """Whether F comes from the weights as they were before a step changed them, or dropped records.

    The population does not grow because weights are rounded, nor shrink because records or weights are not released.
    Another weight, or a number of units, that the scenario names is what the user wants.
    """
    was = data.original_weights
    if was is None or scenario.population_size is not None or scenario.sampling_fraction is not None:
        return False
    if was.name is None and not was.keys.issuperset(scenario.all_keys if keys is None else keys):
        return False
    return scenario.weight in (None, was.name)


def population_weights(data: Data, scenario: Scenario, keys: Sequence[str] | None = None) -> Floats | None:
    """How many units of the population each record stands for, on all keys or some; None where no weight says so."""
    was = data.original_weights
    if was is not None and uses_original_weights(data, scenario, keys):
        stands_for = was.stands_for(scenario.all_keys if keys is None else keys)
        return _checked_weights(was.name or "of the original file", stands_for, data)
    return survey_weights(data, scenario)


def survey_weights(data: Data, scenario: Scenario) -> Floats | None:
    """The weights in the file, as the scenario names them: positive, finite, none missing."""
    if scenario.weight is None:
        return None
    return _checked_weights(scenario.weight, data.numbers(scenario.weight), data)


def row_weights(data: Data, scenario: Scenario | None) -> Floats:
    """By row the weight of its records together, or how many they are where no weight counts."""
    if data.condensed is None:
        weights = None if scenario is None else survey_weights(data, scenario)
        return np.ones(len(data)) if weights is None else weights
    if scenario is None or data.condensed.weights is None:
        return data.condensed.records.astype(np.float64)
    return as_float(data.condensed.weights, WEIGHT_BITS)


def _checked_weights(name: str, weights: Floats, data: Data) -> Floats:
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
    """Issue a warning, and return its text for the printed result."""
    warnings.warn(text, Caution, stacklevel=4)
    return text


def _weights_below_one(weights: Floats | None, name: str | None, condensed: Condensed | None) -> Iterator[str]:
    below = 0 if weights is None else int((weights < 1).sum())
    if condensed is not None:
        below = condensed.below_one
    if below:
        yield _caution(
            f"weight {name!r} is below 1 in {check.counted(below, 'record')}: a unit stands for at least itself; "
            f"where F would be below f the risk is 1/f."
        )
