"""`assess`: the whole picture of a file's risk under a scenario, in one result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tacita import __version__, check, frame
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.declared import plain
from tacita.keys import KeyTable, key_table, survey_weights
from tacita.policy import Policy
from tacita.result import Result
from tacita.risk.anonymity import LEVELS, KAnonymity, k_anonymity_of
from tacita.risk.attackers import Attackers, attackers_of
from tacita.risk.benchmark import Benchmark, benchmark_of
from tacita.risk.cautions import cautions_of
from tacita.risk.household import HouseholdRisk, household_risk_of
from tacita.risk.individual import IndividualRisk, individual_risk_of
from tacita.risk.reidentification import Reidentification, reidentification_of
from tacita.risk.threshold import RiskThreshold, risk_threshold_of
from tacita.scenario import KeySet, MissingRule, Scenario

Progress = Callable[[float, str], None]


def silent(done: float, what: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, eq=False)
class KeySetRisk:
    """Everything measured on one set of keys."""

    name: str
    """`keys` for the main set."""
    k: int | None
    """The k that counts as safe here."""
    risk_limit: float | None
    """The individual risk that counts as safe here."""
    table: KeyTable
    k_anonymity: KAnonymity
    other_rules: dict[str, KAnonymity]
    """k-anonymity under other missing-value rules, where keys have missing values."""
    individual: IndividualRisk
    reidentification: Reidentification
    threshold: RiskThreshold | None
    """The risk threshold that would keep the policy's rate; None without such a policy."""
    benchmark: Benchmark
    attackers: Attackers

    @property
    def unsafe_by_k(self) -> int:
        """Records below k."""
        if self.k is None:
            return 0
        return self.k_anonymity.sample[self.k_anonymity.levels.index(self.k)]

    @property
    def unsafe_by_risk(self) -> int:
        """Records above the limit of individual risk."""
        return 0 if self.risk_limit is None else self.individual.records_above(self.risk_limit)

    def violates_k(self) -> Bools:
        """By record: whether it is below k."""
        few = self.table.sample_count < (self.k or 0)
        return self.table.per_record(few)

    def violates_risk(self) -> Bools:
        """By record: whether its risk is above the limit."""
        above: Bools = self.individual.risk > (np.inf if self.risk_limit is None else self.risk_limit)
        return above


@dataclass(frozen=True, eq=False)
class RiskProfile(Result):
    """Who in this file is at risk, under which attack? `print` it for one screen, verdict first."""

    figure: ClassVar[str | None] = "risk_histogram"

    scenario: Scenario
    policy: Policy
    record: Ints
    """The number of each record."""
    sets: tuple[KeySetRisk, ...]
    """One part per key set, the main one first."""
    household: HouseholdRisk | None
    """Household risk on the main keys."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.record)

    @property
    def main(self) -> KeySetRisk:
        """The part of the main keys."""
        return self.sets[0]

    @property
    def k_anonymity(self) -> KAnonymity:
        """k-anonymity on the main keys."""
        return self.main.k_anonymity

    @property
    def individual(self) -> IndividualRisk:
        """Individual risk on the main keys."""
        return self.main.individual

    @property
    def reidentification(self) -> Reidentification:
        """Expected re-identifications on the main keys."""
        return self.main.reidentification

    @property
    def expected(self) -> float:
        """ER on the main keys."""
        return self.main.reidentification.expected

    @property
    def rate(self) -> float:
        """Re-identification rate on the main keys."""
        return self.main.reidentification.rate

    @property
    def failures(self) -> tuple[str, ...]:
        """The limits of the policy that the file does not keep, each in one sentence."""
        return tuple(_failures(self))

    @property
    def safe(self) -> bool:
        """Whether the file keeps the policy."""
        return not self.failures

    @cached_property
    def records(self) -> frame.Frame:
        """One row per record: its number, f, F, risk, household risk and how many limits it violates.

        Further key sets have columns of their own, `f:name`, `F:name` and `risk:name`.
        """
        columns: dict[str, Any] = {"record": self.record}
        violations = np.zeros(self.size, dtype=np.uint8)
        for part in self.sets:
            suffix = "" if part is self.main else f":{part.name}"
            columns[f"f{suffix}"] = part.table.per_record(part.table.sample_count)
            columns[f"F{suffix}"] = part.table.per_record(part.table.population_count)
            columns[f"risk{suffix}"] = part.individual.risk
            violations += part.violates_k()
            violations += part.violates_risk()
        if self.household is not None:
            columns["household_risk"] = self.household.risk
            if self.policy.household_risk is not None:
                violations += self.household.risk > self.policy.household_risk
        columns["violations"] = violations
        return frame.table(columns)

    def to_frame(self) -> frame.Frame:
        """One row per record; the same as `records`."""
        return self.records

    def riskiest(self, most: int = 10, *, values: bool = False) -> frame.Frame:
        """The records with the highest risk, riskiest first (ties by record number).

        Only their numbers and figures, unless `values=True` asks for the values of the keys too.
        """
        rows = np.lexsort((self.record, -self.individual.risk))[: check.whole("most", most, 1)]
        top = frame.take(self.records, rows)
        if not values:
            return top
        table = self.main.table
        keys = table.codes[table.row[rows]]
        shown = {name: (keys[:, place].astype(np.uint32), table.values[place]) for place, name in enumerate(table.keys)}
        return frame.beside(top, frame.table(shown))

    def spread_table(self) -> frame.Frame:
        """Minimum, quartiles, mean and maximum of the risk: the table to lay before and after beside each other."""
        rows = {"individual": self.individual.spread}
        if self.household is not None:
            rows["household"] = self.household.spread
        names = next(iter(rows.values()))._fields
        return frame.table(
            {"risk": list(rows)} | {name: [getattr(row, name) for row in rows.values()] for name in names}
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, no values of the data."""
        return {
            "tacita": __version__,
            "records": self.size,
            "safe": self.safe,
            "failures": list(self.failures),
            "key_sets": {part.name: _figures(part) for part in self.sets},
            "household": None if self.household is None else _household_figures(self.household),
            "cautions": list(self.cautions),
            "scenario": self.scenario.to_dict(),
            "policy": self.policy.to_dict(),
        }

    def to_json(self) -> str:
        """All figures as JSON, no values of the data."""
        return json.dumps(plain(self.to_dict()), indent=2, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        from tacita.screen import screen

        return screen(self)


def _failures(profile: RiskProfile) -> Iterator[str]:
    for part in profile.sets:
        on = "" if part is profile.main else f" on the key set {part.name!r}"
        if part.unsafe_by_k:
            yield f"{check.counted(part.unsafe_by_k, 'record')} below k = {part.k}{on}"
        if part.unsafe_by_risk:
            yield f"{check.counted(part.unsafe_by_risk, 'record')} above a risk of {part.risk_limit:g}{on}"
        if profile.policy.rate is not None and part.reidentification.rate > profile.policy.rate:
            yield f"a re-identification rate above {100 * profile.policy.rate:g} %{on}"
    limit = profile.policy.household_risk
    if profile.household is not None and limit is not None and profile.household.records_above(limit):
        yield f"{check.counted(profile.household.records_above(limit), 'record')} above a household risk of {limit:g}"


def _figures(part: KeySetRisk) -> dict[str, Any]:
    er = part.reidentification
    return {
        "keys": list(part.table.keys),
        "distinct_keys": len(part.table.codes),
        "population_counts_from": part.table.source,
        "k_anonymity": _anonymity_figures(part.k_anonymity),
        "k_anonymity_under_other_rules": {
            name: _anonymity_figures(result) for name, result in part.other_rules.items()
        },
        "risk": part.individual.spread._asdict() | {"method": part.individual.method},
        "expected_reidentifications": er.expected,
        "expected_interval": list(er.interval),
        "expected_with_key_errors": er.lower_with_errors,
        "rate": er.rate,
        "rate_interval": list(er.rate_interval),
        "unsafe_by_k": part.unsafe_by_k,
        "unsafe_by_risk": part.unsafe_by_risk,
        "threshold": None if part.threshold is None else _plain(part.threshold),
        "benchmark": _plain(part.benchmark),
        "attackers": _plain(part.attackers),
    }


def _anonymity_figures(result: KAnonymity) -> dict[str, Any]:
    levels = [str(k) for k in result.levels]
    return {
        "sample": dict(zip(levels, result.sample, strict=True)),
        "population": dict(zip(levels, result.population, strict=True)),
        "least": result.least,
        "missing": result.rule,
    }


def _household_figures(household: HouseholdRisk) -> dict[str, Any]:
    return {
        "households": len(household.by_household),
        "risk": household.spread._asdict(),
        "expected_persons": household.expected_persons,
        "expected_households": household.expected_households,
        "records_without_household": household.alone,
    }


def _plain(result: Any) -> dict[str, Any]:
    return dict(vars(result))


def assess(
    data: Any,
    scenario: Scenario,
    policy: Policy | None = None,
    *,
    register: Any = None,
    method: str = "exact",
    quantile: float | None = None,
    progress: Progress = silent,
) -> RiskProfile:
    """Measure the risk of re-identification of every record and of the whole file.

    Takes Data, a path, or any table; returns one `RiskProfile`. `register` is a file of the population with the same
    keys, where there is one: F is then known. `quantile` gives the risk at a low quantile of F instead of its mean.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 4 + ["south"], "w": [20.0] * 5})
    >>> profile = assess(people, Scenario(keys=["region"], weight="w"))
    >>> profile.safe, profile.failures[0]
    (False, '1 record below k = 3')
    """
    progress(0.0, "reading")
    data, policy = Data.of(data), policy or Policy()
    register = None if register is None else Data.of(register)
    sets = scenario.sets
    if not sets:
        raise TacitaError("assess needs categorical keys; pass keys=[...] in the scenario.")
    weights = survey_weights(data, scenario) if scenario.attack == "M5" else None
    parts: list[KeySetRisk] = []
    cautions: list[str] = []
    for place, (name, key_set) in enumerate(sets.items()):
        progress(0.1 + 0.6 * place / len(sets), "grouping records by their keys")
        table = key_table(data, scenario, key_set.keys, register)
        risk = individual_risk_of(table, scenario, weights, method=method, quantile=quantile)
        progress(0.1 + 0.6 * (place + 0.7) / len(sets), "measuring risk")
        parts.append(_key_set_risk(name, key_set, risk, data, scenario, policy))
        cautions += [*cautions_of(table, data, scenario), *_rule_matters(parts[-1])]
    progress(0.8, "households")
    household = household_risk_of(parts[0].individual, data, scenario) if scenario.household is not None else None
    if household is not None and household.alone:
        who = check.counted(household.alone, "record")
        cautions.append(f"{who} without a household identifier: each is taken as a household of its own.")
    profile = RiskProfile(scenario, policy, data.record, tuple(parts), household, tuple(dict.fromkeys(cautions)))
    progress(1.0, "done")
    return profile


def _key_set_risk(
    name: str, key_set: KeySet, risk: IndividualRisk, data: Data, scenario: Scenario, policy: Policy
) -> KeySetRisk:
    table = risk.table
    k = key_set.k or policy.k
    levels = sorted({*(level for level in LEVELS if level <= table.size), *((k,) if k else ())})
    return KeySetRisk(
        name=name,
        k=k,
        risk_limit=key_set.risk or policy.risk,
        table=table,
        k_anonymity=k_anonymity_of(table, levels) if levels else _too_small(table),
        other_rules=_other_rules(table, data, scenario, levels),
        individual=risk,
        reidentification=reidentification_of(risk),
        threshold=None if policy.rate is None else risk_threshold_of(risk, rate=policy.rate),
        benchmark=benchmark_of(risk),
        attackers=attackers_of(table, policy.risk or 0.1),
    )


def _rule_matters(part: KeySetRisk) -> Iterator[str]:
    """Whether another way of counting missing values would turn the verdict on k."""
    if part.k is None:
        return
    for name, result in part.other_rules.items():
        found = result.sample[result.levels.index(part.k)]
        if (found == 0) != (part.unsafe_by_k == 0):
            yield (
                f"the verdict on k = {part.k} rests on the rule for missing values: records that violate it are "
                f"{part.unsafe_by_k:,} under {part.table.rule}, {found:,} under {name}."
            )


def _too_small(table: KeyTable) -> KAnonymity:
    """One record and no k in the policy: there is no level to report."""
    return KAnonymity(table.size, (), (), (), float(table.sample_count.min()), str(table.rule))


def _other_rules(table: KeyTable, data: Data, scenario: Scenario, levels: list[int]) -> dict[str, KAnonymity]:
    """k-anonymity as others would count it, where a missing value makes the rule matter."""
    if not table.has_missing:
        return {}
    others = [name for name in ("one_way", "wildcard", "own_category") if name != scenario.missing.name]
    return {
        name: k_anonymity_of(key_table(data, replace(scenario, missing=MissingRule(name)), table.keys), levels)
        for name in others
    }
