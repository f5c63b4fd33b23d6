"""`assess`: the whole picture of a file's risk under a scenario, in one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tacita.assessment.cautions import cautions_of
from tacita.assessment.further import Context, further_measures
from tacita.assessment.profile import KeySetRisk, RiskProfile
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.identifying import undeclared_identifiers
from tacita.measures import at_the_door
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress, part
from tacita.risk.identity.attackers import attackers
from tacita.risk.identity.benchmark import benchmark
from tacita.risk.identity.individual_risk import individual_risk
from tacita.risk.identity.k_anonymity import LEVELS, KAnonymity, k_anonymity
from tacita.risk.identity.reidentification import reidentification
from tacita.scenario import KeySet, MissingRule, Scenario, checked


def assess(
    data: Any,
    scenario: Scenario,
    policy: Policy | None = None,
    *,
    original: Any = None,
    register: Any = None,
    method: str = "exact",
    quantile: float | None = None,
    measures: str | Mapping[str, Mapping[str, Any]] | tuple[str, ...] | list[str] = (),
    progress: Progress = no_progress,
) -> RiskProfile:
    """Measure the risk of re-identification of every record and of the whole file.

    Takes Data, a path, or any table; returns one `RiskProfile`. `original` is the file that `data` is a release of:
    measures that compare the two, and their limits, then count too. `register` is a file of the population with the
    same keys, where there is one: F is then known. `quantile` gives the risk at a low quantile of F, not its mean.

    What the scenario calls for and what the policy limits is measured besides, and every measure named in `measures`:
    `"suda"`, `["suda", "loglinear_risk"]`, `"all"`, or a mapping of names to options,
    `{"unsafe_combinations": {"largest": 2}}`. Their results are in `profile.further`.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 4 + ["south"], "w": [20.0] * 5})
    >>> profile = assess(people, Scenario(keys=["region"], weight="w"))
    >>> profile.safe, profile.failures[0]
    (False, '1 record below k = 3')
    """
    progress(0.0, "reading")
    limits = checked_policy(policy)
    data = at_the_door(data, checked(scenario)).remembering()
    register = None if register is None else Data.of(register)
    sets = scenario.sets
    if not sets:
        raise TacitaError("assess needs categorical keys; pass keys=[...] in the scenario.")
    how = {"method": method, "quantile": quantile, "register": register}
    parts: list[KeySetRisk] = []
    cautions: list[str] = []
    for at, (name, key_set) in enumerate(sets.items()):
        show = part(progress, 0.1 + 0.6 * at / len(sets), 0.1 + 0.6 * (at + 1) / len(sets))
        show(0.0, "grouping records by their keys")
        parts.append(_key_set_risk(name, key_set, data, scenario, limits, how, show))
        cautions += [*cautions_of(parts[-1].table, data, scenario), *_rule_matters(parts[-1])]
    progress(0.8, "households")
    household = None
    if scenario.household is not None:
        from tacita.risk.identity.household_risk import household_risk

        household = household_risk(data, scenario, keys=parts[0].table.keys, **how)
        cautions += household.cautions
    context = Context(data, scenario, limits, parts[0].table, register, None if original is None else Data.of(original))
    further, not_measured = further_measures(context, measures, how, part(progress, 0.85, 1.0))
    for result in further.values():
        cautions += result.cautions
    cautions += [*_no_limit_on_sensitive(scenario, limits), *undeclared_identifiers(data, scenario)]
    progress(1.0, "done")
    noted = tuple(dict.fromkeys(cautions))
    return RiskProfile(scenario, limits, data.record, tuple(parts), household, further, not_measured, noted)


def _key_set_risk(
    name: str,
    key_set: KeySet,
    data: Data,
    scenario: Scenario,
    policy: Policy,
    how: Mapping[str, Any],
    progress: Progress,
) -> KeySetRisk:
    k, keys, register = key_set.k or policy.k, key_set.keys, how["register"]
    risk = individual_risk(data, scenario, keys=keys, **how)
    progress(0.7, "measuring risk")
    levels = sorted({*(level for level in LEVELS if level <= len(data)), *((k,) if k else ())})
    threshold = None
    if policy.rate is not None:
        from tacita.risk.identity.risk_threshold import risk_threshold

        threshold = risk_threshold(data, scenario, rate=policy.rate, keys=keys, **how)
    return KeySetRisk(
        name=name,
        k=k,
        risk_limit=key_set.risk or policy.risk,
        k_anonymity=_k_anonymity(data, scenario, levels, keys, register),
        other_rules=_other_rules(risk.table.has_missing, data, scenario, levels, keys),
        individual=risk,
        reidentification=reidentification(data, scenario, keys=keys, **how),
        threshold=threshold,
        benchmark=benchmark(data, scenario, keys=keys, **how),
        attackers=attackers(data, scenario, threshold=policy.risk or 0.1, keys=keys, register=register),
    )


def _k_anonymity(data: Data, scenario: Scenario, levels: list[int], keys: Any, register: Any) -> KAnonymity:
    # One record and no k in the policy: there is no level to report.
    given = {"k": levels} if levels else {}
    return k_anonymity(data, scenario, keys=keys, register=register, **given)


def _rule_matters(part: KeySetRisk) -> Iterator[str]:
    """Whether another way of counting missing values would turn the verdict on k."""
    if part.k is None:
        return
    for name, result in part.other_rules.items():
        found = result.below(part.k)
        if (found == 0) != (part.unsafe_by_k == 0):
            yield (
                f"the verdict on k = {part.k} rests on the rule for missing values: records that violate it are "
                f"{part.unsafe_by_k:,} under {part.table.rule}, {found:,} under {name}."
            )


def _other_rules(
    has_missing: bool, data: Data, scenario: Scenario, levels: list[int], keys: Any
) -> dict[str, KAnonymity]:
    """k-anonymity as others would count it, where a missing value makes the rule matter."""
    if not has_missing:
        return {}
    others = [name for name in ("one_way", "wildcard", "own_category") if name != scenario.missing.name]
    return {
        name: _k_anonymity(data, replace(scenario, missing=MissingRule(name)), levels, keys, None) for name in others
    }


def _no_limit_on_sensitive(scenario: Scenario, policy: Policy) -> Iterator[str]:
    """Sensitive variables that no limit of the policy speaks of."""
    if scenario.sensitive and not {"l_diversity", "t_closeness", "likeness", "dominance"} & set(policy.limits):
        yield (
            "the scenario names sensitive variables, but the policy limits no measure of what is learned about them: "
            "the verdict is on re-identification alone; set limits such as l_diversity = 2."
        )
