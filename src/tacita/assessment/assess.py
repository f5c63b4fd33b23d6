"""`assess`: the whole picture of a file's risk under a scenario, in one result.

Every assessment has k-anonymity, individual risk, expected re-identifications and attackers of each key set, and the
risk of households where there are some. What else the scenario calls for, the policy limits or the user asks for is
found in the register of measures. A scenario of numeric keys alone has no key sets: what can be said of numbers in one
file, and against the original, stands in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.assessment.cautions import cautions_of, cautions_of_files, rule_matters
from tacita.assessment.profile import KeySetRisk, RiskProfile
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine.source import belongs_on_engine
from tacita.keys.table import KeyTable, key_table
from tacita.measures import Measure, called_for, check_measure_name, find, measure_names
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress, part
from tacita.result import Result, Verdict
from tacita.risk.identity.attackers import Attackers
from tacita.risk.identity.individual_risk import IndividualRisk, risk_of_keys
from tacita.risk.identity.k_anonymity import LEVELS, KAnonymity
from tacita.risk.identity.options import METHODS
from tacita.risk.identity.original import as_drawn
from tacita.risk.identity.reidentification import Reidentification, ThresholdCurve
from tacita.scenario import MODELS, KeySet, MissingRule, Scenario, checked, prepared_data, with_codes

if TYPE_CHECKING:
    from tacita.assessment.on_engine import LargeProfile, OnEngine
    from tacita.risk.identity.household_risk import HouseholdRisk

CORE = ("k_anonymity", "individual_risk", "reidentification", "household_risk", "attackers")
"""What every assessment has; not measured again, even if asked for."""
OF_NUMBERS = ("mixed_uniqueness", "dominance")
"""What is measured unasked where all keys are numeric."""
NOT_IN_ALL = ("risk_threshold",)
"""What asking for all measures leaves out: it needs a threshold, a rate or a number of records."""
USUALLY = {"model": None, "method": "exact", "quantile": None}
"""How individual risk is worked out unless said otherwise."""


def assess(
    data: Any,
    scenario: Scenario,
    policy: Policy | None = None,
    *,
    original: Any = None,
    register: Any = None,
    model: str | None = None,
    method: str = "exact",
    quantile: float | None = None,
    measures: str | Mapping[str, Mapping[str, Any]] | tuple[str, ...] | list[str] = (),
    memory: int | str | None = None,
    progress: Progress = no_progress,
) -> RiskProfile:
    """Measure the risk of re-identification of every record and of the whole file.

    Takes Data, a path, any table or a release; returns one `RiskProfile`. A path to more than `memory` ("4GB"; half of
    the machine's unless given) holds, a relation of DuckDB, a table of Ibis and a DataFrame of Spark stay on their
    engine. `original` is the file that `data` is a release of, which a `Release` knows: measures that compare the two,
    and their limits, then count too. `register` is a file of the population with the same keys, where there is one: F
    is then known. `model` says how F is estimated elsewhere, if not as the scenario does: "latent" or
    "benedetti_franconi". `quantile` gives the risk at a low quantile of F, not its mean.

    With numeric keys alone k, risk and rate do not apply: the verdict is then on how the release, held against the
    original, hides numbers (`neighbours` and `perturbation` of the policy, limits on linkage or intervals), or in one
    file on a limit on `mixed_uniqueness`.

    What the scenario calls for and what the policy limits is measured besides, and every measure named in `measures`:
    `"suda"`, `["suda", "loglinear_risk"]`, `"all"`, or a mapping of names to options,
    `{"unsafe_combinations": {"largest": 2}}`. Their results are in `profile.further`.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 4 + ["south"], "w": [20.0] * 5})
    >>> profile = assess(people, Scenario(keys=["region"], weight="w"))
    >>> profile.safe, profile.failures[0]
    (False, '1 record below k = 3')
    """
    if model is not None:
        check.one_of("model", model, MODELS)
    check.one_of("method", method, METHODS)
    limits, scenario = checked_policy(policy), checked(scenario)
    # As in every option that may be left out, false is none.
    how = {"model": model, "method": method, "quantile": None if quantile is False else quantile}
    if isinstance(data, LargeData) or (not isinstance(data, Data) and belongs_on_engine(data, memory)):
        files = {"original": original, "register": register, "measures": measures, "memory": memory}
        return assess_on_engine(data, scenario, limits, **files, how=how, progress=progress)
    progress(0.0, "reading")
    # A release knows what it was made of: whoever assesses it need not remember to say so.
    known = getattr(data, "original", None)
    known_scenario = getattr(data, "original_scenario", scenario)
    context = _prepared(data, scenario, limits, register, known if original is None else original, how)
    return profile_of(context, measures, known, known_scenario, progress)


def _prepared(
    data: Any, scenario: Scenario, policy: Policy, register: Any, original: Any, how: dict[str, Any]
) -> Context:
    """The files of an assessment; the released one with the weights that it was drawn with."""
    prepared = prepared_data(data, scenario).remembering()
    population, before = (None if given is None else Data.of(given) for given in (register, original))
    if before is not None:
        prepared = as_drawn(prepared, with_codes(before, scenario), scenario).released_from(before).remembering()
    return Context(prepared, scenario, policy, population, before, how | {"register": population})


def assess_on_engine(
    data: Any,
    scenario: Scenario,
    policy: Policy,
    *,
    original: Any = None,
    register: Any = None,
    how: Mapping[str, Any] = USUALLY,
    measures: Any = (),
    memory: int | str | None = None,
    unit: str | None = None,
    progress: Progress = no_progress,
) -> LargeProfile:
    """The risk profile of large data, measured on their distinct keys; `unit` says which records are the same."""
    from tacita.assessment.on_engine import on_engine

    files = {"original": original, "register": register}
    with on_engine(
        data, scenario, policy, **files, measures=measures, memory=memory, unit=unit, progress=progress
    ) as file:
        profile = profile_on_engine(file, policy, how, measures, part(progress, 0.4, 0.7))
    progress(1.0, "done")
    return profile


def profile_on_engine(
    file: OnEngine, policy: Policy, how: Mapping[str, Any], measures: Any, progress: Progress
) -> LargeProfile:
    """The risk profile of a file on an engine whose distinct keys are in memory."""
    rows, how = file.rows.remembering(), {**how, "register": None}
    context = Context(rows, file.known, policy, None, file.original, how, file.households, file.left_out)
    return file.profile(profile_of(context, measures, None, file.known, progress))


class Context(NamedTuple):
    """The files, scenario and policy of one assessment, with key tables that are made once."""

    data: Data
    scenario: Scenario
    policy: Policy
    register: Data | None
    original: Data | None
    """The file that the data are a release of."""
    how: Mapping[str, Any]
    """How individual risks are worked out: model, method, quantile, register."""
    households: Callable[[IndividualRisk], HouseholdRisk] | None = None
    """The household risk of individual risks, where records are on an engine and the data are its distinct keys."""
    left_out: frozenset[str] = frozenset()
    """Variables of the scenario that are not in the data, since they have too many values for an engine."""

    def table(self, keys: tuple[str, ...]) -> KeyTable:
        """The key table of a key set; made once."""
        return key_table(self.data, self.scenario, keys, self.register)

    def has(self, need: str) -> bool:
        """Whether there is what a measure needs."""
        if need in ("register", "original"):
            return getattr(self, need) is not None
        if need == "shared_records":
            return self.shares_records
        if need == "comparison":
            return False
        if need == "sample":
            return bool(self.scenario.sets) and self.table(next(iter(self.scenario.sets.values())).keys).source not in (
                "census",
                "register",
            )
        if need == "neighbours":
            return self.policy.neighbours is not None
        if need == "sensitive_categories":
            return any(self.data.scale(name) != "numeric" for name in self.scenario.sensitive)
        return bool(getattr(self.scenario, need))

    @property
    def shares_records(self) -> bool:
        """Whether some released record has a number that is in the original; without numbers rows belong together."""
        if self.original is None:
            return False
        numbered = any(data.numbers_of_records is not None for data in (self.data, self.original))
        return not numbered or bool(np.isin(self.data.record, self.original.record).any())

    def files(self, measure: Measure) -> tuple[Any, ...]:
        """The files that a measure takes."""
        return (self.data,) if measure.files == 1 else (self.original, self.data)

    def lacks(self, measure: Measure) -> list[str]:
        """What a measure needs and is not there."""
        return [need for need in measure.all_needs if not self.has(need)]


def profile_of(
    context: Context, measures: Any, known: Any, known_scenario: Scenario, progress: Progress
) -> RiskProfile:
    """The profile of prepared files; `known` is the original that the release itself knows, with its scenario."""
    data, scenario, limits = context.data, context.scenario, context.policy
    parts: list[KeySetRisk] = []
    cautions: list[str] = []
    for at, (name, key_set) in enumerate(scenario.sets.items()):
        show = part(progress, 0.1 + 0.6 * at / len(scenario.sets), 0.1 + 0.6 * (at + 1) / len(scenario.sets))
        parts.append(_key_set_risk(name, key_set, context, show))
        cautions += cautions_of(parts[-1].table, data, scenario, latent=parts[-1].individual.model is not None)
        cautions += [*parts[-1].reidentification.cautions, *rule_matters(parts[-1])]
    progress(0.8, "households")
    household = _household_risk(context, parts)
    cautions += () if household is None else household.cautions
    asked, told = _requested_measures(measures), None
    further: dict[str, Result] = {}
    not_measured: tuple[Verdict, ...] = ()
    names = [name for name in measure_names() if _is_called_for(name, context, asked)]
    if names or context.original is not None or limits.household_risk is not None:
        from tacita.assessment.further import measured_further

        show = part(progress, 0.85, 1.0)
        further, not_measured, told, more = measured_further(names, context, asked, known, known_scenario, show)
        cautions += more
    if told is not None:
        # What is told follows from other columns and stands where cells are missing: no latent model is made for that.
        in_told = context._replace(data=told.data, how={**context.how, "model": "benedetti_franconi"})
        parts += [_key_set_risk(name, key_set, in_told, no_progress) for name, key_set in told.sets.items()]
    rounding = _rounding_of_weights(context, known_scenario, further)
    not_measured += tuple(_undeclared_units(context, known_scenario))
    cautions += cautions_of_files(context)
    progress(1.0, "done")
    said = tuple(dict.fromkeys(cautions))
    labels = {name: known for name in scenario.keys if (known := data.variable(name).value_labels)}
    sets = tuple(parts)
    return RiskProfile(
        scenario, limits, data.record, sets, household, further, not_measured, said, labels, weight_rounding=rounding
    )


def _rounding_of_weights(context: Context, known: Scenario, further: Mapping[str, Result]) -> Mapping[str, Any] | None:
    """What `RoundWeights` needs so that the weight tells no protected key, where it tells some; None if no digits are
    enough, or the weight tells none."""
    found, weight = further.get("reconstruction"), context.scenario.weight
    if context.original is None or weight is None or found is None:
        return None
    from tacita.assessment.disclosed_keys import tells_a_key

    if not tells_a_key(found, known, weight):
        return None
    from tacita.assessment.telling_weights import enough_rounding

    return enough_rounding(context.data, context.original, replace(known, weight=weight), context.policy)


def _key_set_risk(name: str, key_set: KeySet, context: Context, progress: Progress) -> KeySetRisk:
    data, scenario, policy = context.data, context.scenario, context.policy
    progress(0.0, "grouping records by their keys")
    table = context.table(key_set.keys)
    progress(0.2, "measuring risk")
    how = context.how
    risk = risk_of_keys(
        data, scenario, table, how["method"], how["quantile"], model=how["model"], progress=part(progress, 0.2, 0.9)
    )
    expected = Reidentification.of(risk)
    threshold = None
    if policy.rate is not None and (judged := expected.judged_rate(policy)) > policy.rate:
        # Where the upper end is judged, expectations must come down as far as it must.
        tolerated = policy.rate * expected.rate / judged
        threshold = ThresholdCurve.of(risk).for_expected(tolerated * expected.size)
    k = key_set.k or policy.k
    # One record and no k in the policy: there is no level to report.
    levels = sorted({*(level for level in LEVELS if level <= data.size), *((k,) if k else ())}) or LEVELS
    return KeySetRisk(
        name=name,
        k=k,
        risk_limit=key_set.risk or policy.risk,
        k_anonymity=KAnonymity.of(table, levels),
        other_rules={rule: KAnonymity.of(other, levels) for rule, other in _under_other_rules(table, context).items()},
        individual=risk,
        reidentification=expected,
        threshold=threshold,
        attackers=Attackers.of(table, policy.risk or 0.1, risk.model),
    )


def _under_other_rules(table: KeyTable, context: Context) -> dict[str, KeyTable]:
    """The key table under the other missing-value rules, if a key has missing values."""
    if not table.has_missing:
        return {}
    others = [name for name in ("one_way", "wildcard", "own_category") if name != table.rule.name]
    changed = {name: replace(context.scenario, missing=MissingRule(name)) for name in others}
    return {name: key_table(context.data, scenario, table.keys) for name, scenario in changed.items()}


def _household_risk(context: Context, parts: list[KeySetRisk]) -> HouseholdRisk | None:
    """Household risk on the main keys; None without households or without categorical keys."""
    if context.households is not None:
        return context.households(parts[0].individual)
    main = next(iter(context.scenario.sets.values()), None)
    if context.scenario.household is None or main is None:
        return None
    from tacita.risk.identity.household_risk import household_risk

    return household_risk(context.data, context.scenario, keys=main.keys, **context.how)


def _requested_measures(measures: Any) -> dict[str, dict[str, Any]]:
    """The measures asked for with their options, by name."""
    named = measures if isinstance(measures, Mapping) else dict.fromkeys(check.names("measures", measures))
    for name in check.mapping("measures", named):
        if name != "all":
            check_measure_name("measures", name)
    return {name: check.mapping(f"options of {name}", options or {}) for name, options in named.items()}


def _is_called_for(name: str, context: Context, asked: Mapping[str, Any]) -> bool:
    if name in CORE:
        return False
    if name in asked or name in context.policy.limits or (name in OF_NUMBERS and not context.scenario.sets):
        return True
    reasons = called_for(name)
    if reasons is not None and all(context.has(need) for need in reasons):
        return True
    if "all" not in asked or name in NOT_IN_ALL:
        return False
    measure = find(name)
    return measure.files == 1 and not context.lacks(measure)


def _undeclared_units(context: Context, scenario: Scenario) -> Iterator[Verdict]:
    """A verdict that is not known where some column says that records are of one unit each several times."""
    file = context.data if context.original is None else context.original
    if scenario.identifiers or scenario.household or set(file.columns) - scenario.roles:
        from tacita.assessment.undeclared_units import undeclared_units

        yield from undeclared_units(context.data, scenario, context.policy, context.original)
