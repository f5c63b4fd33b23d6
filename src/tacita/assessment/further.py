"""Further measures: what `assess` adds where the scenario calls for it, the policy limits it or the user asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable
from tacita.measures import Measure, called_for, check_measure_name, checked_measure_options, find, measure_names
from tacita.policy import OWN_FIELDS, Policy
from tacita.progress import Progress, part
from tacita.result import Result
from tacita.scenario import Scenario
from tacita.verdict import Verdict

CORE = ("k_anonymity", "individual_risk", "reidentification", "household_risk", "attackers")
"""What every assessment has; not measured again, even if asked for."""
NEEDED = {
    "keys": "keys=[...]",
    "sensitive": "sensitive variables (sensitive=[...])",
    "numeric_keys": "numeric keys (numeric_keys=[...])",
    "weight": "weights (weight=...)",
    "household": "the household identifier (household=...)",
    "register": "a register of the population (register=..., --register FILE)",
    "sample": "a sample: weights, population_size or sampling_fraction, and no register",
    "original": "the original file (original=..., --original FILE)",
    "sensitive_categories": "sensitive variables with categories",
}
"""What a measure can need, in words."""


def in_words(need: str) -> str:
    """What a measure needs; of a field of the scenario that has no words of its own, how to give it."""
    return NEEDED.get(need, f"{need}=... in the scenario")


class Context(NamedTuple):
    """What a further measure can use."""

    data: Data
    scenario: Scenario
    policy: Policy
    table: KeyTable
    """The key table of the main keys."""
    register: Data | None
    original: Data | None
    """The file that the data are a release of."""

    def has(self, need: str) -> bool:
        """Whether there is what a measure needs."""
        if need in ("register", "original"):
            return getattr(self, need) is not None
        if need == "sample":
            return self.table.source not in ("census", "register")
        if need == "sensitive_categories":
            return any(self.data.scale(name) != "numeric" for name in self.scenario.sensitive)
        return bool(getattr(self.scenario, need))

    def lacks(self, measure: Measure) -> list[str]:
        """What a measure needs and is not there."""
        needs = (*measure.needs, *(("original",) if measure.files == 2 else ()))
        return [need for need in needs if not self.has(need)]


def wanted(measures: Any) -> dict[str, dict[str, Any]]:
    """The measures asked for with their options, by name."""
    if isinstance(measures, str):
        measures = (measures,)
    named = {name: {} for name in measures} if not isinstance(measures, Mapping) else dict(measures)
    for name in named:
        if name != "all":
            check_measure_name("measures", name)
    return {name: dict(options or {}) for name, options in named.items()}


def further_measures(
    context: Context, measures: Any, how: Mapping[str, Any], progress: Progress
) -> tuple[dict[str, Result], tuple[Verdict, ...]]:
    """Every further measure that is called for, limited or asked for, and verdicts on those that cannot be measured."""
    asked = wanted(measures)
    limited = {name: limit for name in context.policy.limits if (limit := context.policy.limit_of(name))}
    names = [name for name in measure_names() if _is_due(name, context, asked, limited)]
    found: dict[str, Result] = {}
    not_measured: list[Verdict] = []
    for at, name in enumerate(names):
        show = part(progress, at / len(names), (at + 1) / len(names))
        show(0.0, name.replace("_", " "))
        measure = find(name)
        lacking = context.lacks(measure)
        options = {**(measure.measure_options(limited[name].options) if name in limited else {}), **asked.get(name, {})}
        if lacking and (name not in asked or measure.files == 2):
            if name in asked:
                raise TacitaError(f"{name} needs {in_words(lacking[0])}.")
            if name in limited:
                why = f"{name} was not measured: it needs {in_words(lacking[0])}"
                not_measured.append(Verdict(name, limited[name].limit, None, None, why))
            continue
        found[name] = _measured(measure, context, options, how, show)
    if context.policy.household_risk is not None and not context.scenario.household:
        why = f"household_risk was not measured: it needs {NEEDED['household']}"
        not_measured.append(Verdict("household_risk", context.policy.household_risk, None, None, why))
    return found, tuple(not_measured)


def _is_due(name: str, context: Context, asked: Mapping[str, Any], limited: Mapping[str, Any]) -> bool:
    if name in CORE or name in OWN_FIELDS:
        return False
    if name in asked or name in limited:
        return True
    reasons = called_for(name)
    if reasons is not None and all(context.has(need) for need in reasons):
        return True
    if "all" not in asked or name in ("risk_threshold", "benchmark"):
        return False
    measure = find(name)
    return measure.files == 1 and not context.lacks(measure)


def _measured(
    measure: Measure, context: Context, options: Mapping[str, Any], how: Mapping[str, Any], progress: Progress
) -> Result:
    given = checked_measure_options(measure.name, options)
    known = {each.name for each in measure.parameters}
    usual = {name: value for name, value in how.items() if name in known and value is not None}
    usual |= {"policy": context.policy} if "policy" in known else {}
    files = (context.data,) if measure.files == 1 else (context.original, context.data)
    if measure.takes_progress:
        given["progress"] = progress
    return measure.function(*files, context.scenario, **usual | given)
