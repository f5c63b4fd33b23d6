"""The risk of a file that stays on an engine: measured on its distinct keys, joined back to its records there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tacita import check, frame
from tacita.assessment.households_on_engine import HouseholdsOnEngine
from tacita.assessment.profile import RiskProfile
from tacita.assessment.whole import Context, profile_of
from tacita.check import TacitaError
from tacita.data.large_data import LargeData
from tacita.keys.condensed import apart, condensed
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, part
from tacita.risk.population.latent.cells import applies
from tacita.scenario import Scenario, checked, restricted, with_codes

MOST_VALUES = 1000
"""A sensitive variable with more different values is a number: its groups would be as many as records."""
BY_RECORD = ("loglinear_risk", "latent_class_risk", "model_check")
"""Measures that need the weight of each record, not only their sums by key."""


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

    def write_records(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Path:
        """Write one row per record to a Parquet file, whole or not at all.

        Its number, `sample_count` (f), `population_count` (F), risk, household risk, limits violated and what else was
        measured of it; f and F have names of their own, since engines do not tell small letters from capitals.
        """
        from tacita.assessment.written_records import write_records

        return write_records(self, path, overwrite, progress)


def assess_on_engine(
    data: Any,
    scenario: Scenario,
    policy: Policy | None,
    two: Mapping[str, Any],
    model: str | None,
    method: str,
    quantile: float | None,
    measures: Any,
    memory: int | str | None,
    progress: Progress,
) -> LargeProfile:
    """The risk profile of large data; the key table leaves the engine only if it fits the memory budget."""
    for name, given in two.items():
        if given is not None:
            raise TacitaError(
                f"{name}=... needs all records in memory; assess a sample of the records with it, or each file alone."
            )
    limits, asked = checked_policy(policy), checked(scenario)
    model = model or PLAIN
    scenario = replace(asked, model=model)
    large = LargeData.of(data, memory=memory)
    check_supported(scenario, large)
    how = {"model": model, "method": method, "quantile": None if quantile is False else quantile, "register": None}
    names, left_out = _names(large, scenario)
    if scenario.weight is not None and _needs_weights(scenario, model, measures, limits):
        names = list(dict.fromkeys([*names, scenario.weight]))
    rows = condensed(large, names, scenario.weight, progress=part(progress, 0.0, 0.4))
    rows = with_codes(rows, scenario)
    if scenario.missing.name == "no_match":
        rows = apart(rows, scenario.all_keys, large.memory)
    known = restricted(scenario, rows.columns)
    assert known is not None
    known.check_against(rows)
    households = None
    if scenario.household is not None and scenario.keys:
        households = HouseholdsOnEngine(large, scenario, tuple(names), rows, part(progress, 0.7, 0.9))
    context = Context(rows.remembering(), known, limits, None, None, how, households)
    profile = profile_of(context, measures, None, known, part(progress, 0.4, 0.7))
    other = (OTHER_MODEL,) if asked.model != model and applies(profile.main.table) else ()
    cautions = (*profile.cautions, *other, *(f"{each!r} {LEFT_OUT}" for each in left_out))
    found = {name: getattr(profile, name) for name in RiskProfile.__dataclass_fields__ if name != "figure"}
    found |= {"scenario": scenario, "cautions": cautions}
    progress(1.0, "done")
    return LargeProfile(**found, large=large, names=tuple(names), rows=rows, households=households)


PLAIN = "benedetti_franconi"
OTHER_MODEL = (
    "F is estimated from f and the weights of each key alone (Benedetti and Franconi), which puts the risk of rare "
    "keys too low: the latent model needs the weight of every record, measured here if asked for, model='latent'."
)
LEFT_OUT = (
    "has too many different values to be measured on an engine: what its groups give away was not measured; recode it "
    "into classes, or assess a sample in memory."
)


def check_supported(scenario: Scenario, large: LargeData) -> None:
    """Every variable of the scenario is in the file, and nothing of it needs all records in memory."""
    _check_columns(scenario, large)
    if scenario.person is not None and _repeated(scenario.person, large):
        raise TacitaError(
            "units with several records (person=...) are counted in memory only; write one record per unit first, or "
            "assess without person, which counts records and makes risks too low."
        )
    if not scenario.sets:
        raise TacitaError(
            "numeric keys need all records in memory; assess a sample of them, or recode them into classes as keys."
        )


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


def _names(large: LargeData, scenario: Scenario) -> tuple[list[str], list[str]]:
    """What the records are grouped by: keys and sensitive categories; and sensitive variables that are left out."""
    names, left_out = list(scenario.all_keys), list[str]()
    for name in (each for each in scenario.sensitive if each not in names):
        values = large.database.collect(large.table.aggregate(n=large.table[name].approx_nunique()))["n"][0].as_py()
        (left_out if values > MOST_VALUES else names).append(name)
    return names, left_out


def _needs_weights(scenario: Scenario, model: str | None, measures: Any, policy: Policy) -> bool:
    """Whether weights are needed record by record: sums by key are not enough."""
    asked = {*(measures if not isinstance(measures, str) else (measures,)), *policy.limits}
    of_records = scenario.attack == "M5" or scenario.missing.name == "no_match" or "all" in asked
    return of_records or (model or scenario.model) == "latent" or bool(asked.intersection(BY_RECORD))
