"""The risk of a file that stays on an engine: measured on its distinct keys, joined back to its records there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.assessment.households_on_engine import HouseholdsOnEngine, households_differ
from tacita.assessment.profile import RiskProfile
from tacita.assessment.undeclared_on_engine import undeclared_on_engine
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.keys.condensed import apart as rows_apart
from tacita.keys.condensed_pair import condensed_pair
from tacita.keys.large_files import (
    apart_caution,
    check_pair,
    check_supported,
    check_units,
    distinct_keys,
    grouped_variables,
    left_out_caution,
    needs_weights,
)
from tacita.measures import find, measure_names
from tacita.policy import Policy
from tacita.progress import Progress, part
from tacita.result import Verdict
from tacita.risk.identity.original import with_original_sums
from tacita.scenario import Scenario, checked, restricted, with_codes

PLACE = "tacita_place"
PLAIN = "benedetti_franconi"
"""The model of F that needs nothing but f and the sum of weights of each key."""
OF_NUMBERS = (
    "numeric keys were not judged: of a file on an engine tc.risk.confidentiality(original, released, scenario) draws "
    "the plot of a sample; set neighbours = false in the policy to judge categorical keys alone"
)
LEFT_OUT = (
    "has too many different values to be measured on an engine: what its groups give away was not measured; recode it "
    "into classes, or assess a sample in memory."
)


@dataclass(frozen=True, eq=False)
class LargeProfile(RiskProfile):
    """The risk profile of a file on an engine: `records` has a row per distinct key, `write_records` one per record."""

    large: LargeData | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    """The variables that the records were grouped by."""
    rows: Any = field(default=None, repr=False)
    """The distinct keys."""
    households: HouseholdsOnEngine | None = field(default=None, repr=False)
    """How household risk was worked out."""

    @property
    def on_engine(self) -> bool:
        """Whether the records stayed on an engine."""
        return True

    @cached_property
    def by_row(self) -> frame.Frame:
        """One row per distinct key: f, F, risk, and how many limits the key violates, households left out."""
        of_keys = replace(self, household=None)
        found: frame.Frame = RiskProfile.records.func(of_keys)  # type: ignore[attr-defined]
        return found

    @cached_property
    def records(self) -> frame.Frame:
        """One row per distinct key: how many records have it, f, F and the risk; `write_records` writes all records."""
        counts = frame.table({"record": self.record, "records": self.rows.condensed.records})
        others = [name for name in self.by_row.columns if name != "record"]
        return frame.beside(counts, frame.table({name: self.by_row[name] for name in others}))

    def with_open(self, name: str, limit: float | None, why: str) -> LargeProfile:
        """The same with a verdict that is not known, if there is such a limit."""
        said = () if limit is None else (Verdict(name, limit, None, None, why),)
        return replace(self, not_measured=(*self.not_measured, *said))

    def write_records(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Path:
        """Write one row per record to a Parquet file, whole or not at all.

        Its number, `sample_count` (f), `population_count` (F), risk, household risk, limits violated and what else was
        measured of it; f and F have names of their own, since engines do not tell small letters from capitals.
        """
        from tacita.assessment.written_records import write_records

        return write_records(self, path, overwrite, progress)


class OnEngine(NamedTuple):
    """A file on an engine that is ready to be assessed: its distinct keys are in memory."""

    large: LargeData
    scenario: Scenario
    known: Scenario
    """The scenario with no other variables than the rows have."""
    rows: Data
    """What is measured: the distinct keys, of a release as it is released."""
    keys: Data
    """The same rows with the values that records are joined to them by."""
    names: tuple[str, ...]
    """The variables that the records were grouped by."""
    original: Data | None = None
    """The same rows as they were in the file that this is a release of."""
    households: HouseholdsOnEngine | None = None
    left_out: frozenset[str] = frozenset()
    """Variables of the scenario that are not in the rows, since they have too many values."""
    cautions: tuple[str, ...] = ()
    not_measured: tuple[Verdict, ...] = ()

    def profile(self, found: RiskProfile) -> LargeProfile:
        """The profile of the file, from that of its distinct keys."""
        fields = {name: getattr(found, name) for name in RiskProfile.__dataclass_fields__ if name != "figure"}
        fields["scenario"] = self.scenario
        fields["cautions"] = (*found.cautions, *self.cautions)
        fields["not_measured"] = (*found.not_measured, *self.not_measured)
        return LargeProfile(**fields, large=self.large, names=self.names, rows=self.keys, households=self.households)


@contextmanager
def on_engine(
    data: Any,
    scenario: Scenario,
    policy: Policy,
    *,
    original: Any,
    register: Any,
    measures: Any,
    memory: int | str | None,
    unit: str | None,
    progress: Progress,
) -> Iterator[OnEngine]:
    """Large data ready to be assessed, open as long as that takes; the keys leave the engine only if they fit memory.

    `original` is the file that the data are a release of; `unit` names the column that says which records are the same.
    """
    if register is not None:
        raise TacitaError(
            "register=... needs all records in memory; assess a sample of the records with it, or each file alone."
        )
    large = LargeData.of(data, memory=memory)
    with ExitStack() as stack:
        first = None if original is None else stack.enter_context(opened(original, large, memory))
        yield _ready(large, first, checked(scenario), policy, measures, unit, progress)


def _ready(
    large: LargeData,
    first: LargeData | None,
    scenario: Scenario,
    policy: Policy,
    measures: Any,
    unit: str | None,
    progress: Progress,
) -> OnEngine:
    """The distinct keys of an open file, and of its open original."""
    by_record, show = _needs_weights(measures, policy), part(progress, 0.0, 0.4)
    before, unseen, apart = None, tuple[str, ...](), tuple[str, ...]()
    if first is None:
        rows, names, left_out = distinct_keys(large, scenario, by_record, show)
    else:
        before, rows, names, unseen, apart = _pair_on_engine(first, large, scenario, unit, by_record, show)
        left_out = [name for name in unseen if name in _judged(scenario)]
    known = restricted(scenario, rows.columns)
    assert known is not None
    known.check_against(rows)
    households = None
    if scenario.household in large.columns and scenario.keys:
        differ = "" if first is None else households_differ(large, first, scenario)
        households = HouseholdsOnEngine(large, scenario, tuple(names), rows, part(progress, 0.7, 0.9), differ)
    cautions = (*undeclared_on_engine(large, scenario), *(f"{each!r} {LEFT_OUT}" for each in left_out))
    others = [name for name in unseen if name not in scenario.roles or name == scenario.weight]
    cautions += (left_out_caution(others),) if others else ()
    cautions += (apart_caution(apart),) if apart else ()
    of_numbers: tuple[Verdict, ...] = ()
    if before is not None and scenario.numeric_keys and policy.neighbours is not None:
        of_numbers = (Verdict("confidentiality", 0.0, None, None, OF_NUMBERS),)
    return OnEngine(
        large, scenario, known, rows, rows, tuple(names), before, households, frozenset(left_out), cautions, of_numbers
    )


def release_on_engine(
    large: LargeData,
    originals: frame.Frame,
    released: Data,
    scenario: Scenario,
    weight: str | None,
    progress: Progress,
) -> OnEngine:
    """A release ready to be assessed, of its distinct keys as they were and as they are released.

    The `weight` is that of the original, whatever is released; households are those of the records with those keys.
    """
    unnumbered = replace(released, numbers_of_records=None)
    marked = unnumbered.with_columns({PLACE: np.arange(len(released), dtype=np.int64)})
    rows = with_codes(marked, scenario)
    if scenario.missing.name == "no_match":
        rows = rows_apart(rows, scenario.all_keys, large.room)
    place = released.record[rows.numbers(PLACE).astype(np.int64)] - 1
    rows = rows.without((PLACE,))
    known = restricted(replace(scenario, weight=weight), rows.columns)
    assert known is not None
    keys, names = Data(frame.take(originals, place), condensed=rows.condensed), tuple(originals.columns)
    households = None
    if scenario.household is not None and scenario.keys:
        households = HouseholdsOnEngine(large, scenario, names, keys, part(progress, 0.5, 0.9))
    return OnEngine(large, scenario, known, rows, keys, names, households=households)


def _judged(scenario: Scenario) -> frozenset[str]:
    """Variables of the scenario that something is measured of: neither identifiers nor the weight."""
    return frozenset(scenario.roles) - {scenario.household, scenario.person, scenario.weight, *scenario.identifiers}


class Pair(NamedTuple):
    """An original and its release in memory, each row the same records of both."""

    original: Data
    released: Data
    names: list[str]
    """The variables that measures of the release go by."""
    left_out: tuple[str, ...]
    """Variables of the files that are not in them."""
    apart: tuple[str, ...]
    """Released columns that are not in them, of which reconstruction alone looks at what they tell."""


@contextmanager
def opened(given: Any, beside: LargeData, memory: int | str | None) -> Iterator[LargeData]:
    """A file on an engine of the same kind as another one; closed again if it was opened here."""
    if isinstance(given, LargeData):
        yield given
        return
    engine = beside.database.name.lower() if isinstance(given, str | os.PathLike) else None
    with LargeData.of(given, memory=memory, engine=engine) as large:
        yield large


def _pair_on_engine(
    original: LargeData,
    released: LargeData,
    scenario: Scenario,
    unit: str | None,
    by_record: bool,
    progress: Progress,
) -> Pair:
    """The rows of an original and of its release."""
    check_supported(scenario, released)
    check_units(scenario, original)
    check_pair(scenario)
    weight = (scenario.weight,) if scenario.weight and (by_record or needs_weights(scenario)) else ()
    pair = condensed_pair(original, released, scenario, unit=unit, also=weight, progress=progress)
    first = with_codes(pair.original, scenario)
    second = with_original_sums(with_codes(pair.released, scenario), first, scenario, unit)
    names = list(dict.fromkeys([*grouped_variables(released, scenario)[0], *weight]))
    return Pair(first, second.released_from(first), names, pair.left_out, pair.apart)


def _needs_weights(measures: Any, policy: Policy) -> bool:
    """Whether some measure needs the weight of each record."""
    asked = {*(measures if not isinstance(measures, str) else (measures,)), *policy.limits}
    return "all" in asked or any(name in measure_names() and find(name).weights_by_record for name in asked)
