"""`assess`: the whole picture of a file's risk under a scenario, in one result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tacita import check
from tacita.assessment.cautions import cautions_of
from tacita.assessment.further import Context, further_measures
from tacita.assessment.profile import KeySetRisk, RiskProfile
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table, survey_weights
from tacita.policy import Policy
from tacita.risk.identity.attackers import attackers_of
from tacita.risk.identity.benchmark import benchmark_of
from tacita.risk.identity.household_risk import household_risk_of
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk_of
from tacita.risk.identity.k_anonymity import LEVELS, KAnonymity, k_anonymity_of
from tacita.risk.identity.reidentification import reidentification_of
from tacita.risk.identity.risk_threshold import risk_threshold_of
from tacita.scenario import KeySet, MissingRule, Scenario, checked, with_codes

Progress = Callable[[float, str], None]


def silent(done: float, what: str) -> None:
    """Progress that nobody watches."""


def assess(
    data: Any,
    scenario: Scenario,
    policy: Policy | None = None,
    *,
    register: Any = None,
    method: str = "exact",
    quantile: float | None = None,
    measures: str | Mapping[str, Mapping[str, Any]] | tuple[str, ...] | list[str] = (),
    progress: Progress = silent,
) -> RiskProfile:
    """Measure the risk of re-identification of every record and of the whole file.

    Takes Data, a path, or any table; returns one `RiskProfile`. `register` is a file of the population with the same
    keys, where there is one: F is then known. `quantile` gives the risk at a low quantile of F instead of its mean.

    What the scenario calls for is measured besides (attribute disclosure where it names sensitive variables), and
    every measure named in `measures`: `"suda"`, `["suda", "loglinear_risk"]`, `"all"`, or a mapping of names to
    options, `{"unsafe_combinations": {"largest": 2}}`. Their results are in `profile.further`.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 4 + ["south"], "w": [20.0] * 5})
    >>> profile = assess(people, Scenario(keys=["region"], weight="w"))
    >>> profile.safe, profile.failures[0]
    (False, '1 record below k = 3')
    """
    progress(0.0, "reading")
    data, policy = Data.of(data), policy or Policy()
    register = None if register is None else Data.of(register)
    checked(scenario).check_against(data)
    data = with_codes(data, scenario)
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
    context = Context(data, scenario, policy, parts[0].table, register, parts[0].individual)
    further = further_measures(context, measures, lambda what: progress(0.9, what))
    for result in further.values():
        cautions += getattr(result, "cautions", ())
    noted = tuple(dict.fromkeys(cautions))
    profile = RiskProfile(scenario, policy, data.record, tuple(parts), household, further, noted)
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
