"""The profile of prepared files: every key set, households, and the further measures that are called for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.assessment.cautions import cautions_of
from tacita.assessment.profile import KeySetRisk, RiskProfile
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table
from tacita.measure_arguments import needs_records
from tacita.measures import (
    Measure,
    called_for,
    check_measure_name,
    checked_measure_options,
    find,
    kind_of,
    measure_names,
    needed_text,
)
from tacita.policy import BY_FREQUENCY, Limited, Policy, void_limits
from tacita.progress import Progress, no_progress, part
from tacita.repeats import how_many
from tacita.result import Result, Verdict
from tacita.risk.identity.attackers import Attackers
from tacita.risk.identity.individual_risk import IndividualRisk, risk_of_keys
from tacita.risk.identity.k_anonymity import LEVELS, KAnonymity
from tacita.risk.identity.original import rows_do_not_match
from tacita.risk.identity.reidentification import Reidentification, ThresholdCurve
from tacita.scenario import KeySet, MissingRule, Scenario
from tacita.work import UNASKED, TooMuchWork, allow

if TYPE_CHECKING:
    from tacita.assessment.disclosed_keys import DisclosedKeys
    from tacita.risk.identity.household_risk import HouseholdRisk

CORE = ("k_anonymity", "individual_risk", "reidentification", "household_risk", "attackers")
"""What every assessment has; not measured again, even if asked for."""
FROM_OUTSIDE = ("external_risk", "total_risk")
"""Attacks by an intruder with a file of his own: what he knows besides makes them stronger."""
OF_NUMBERS = ("mixed_uniqueness", "dominance")
"""What is measured unasked where all keys are numeric."""
NOT_IN_ALL = ("risk_threshold",)
"""What asking for all measures leaves out: it needs a threshold, a rate or a number of records."""


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
        cautions += [*parts[-1].reidentification.cautions, *_rule_matters(parts[-1])]
    progress(0.8, "households")
    household = _household_risk(context, parts)
    cautions += () if household is None else household.cautions
    further, not_measured, noted = _further_measures(context, _requested_measures(measures), part(progress, 0.85, 1.0))
    cautions += noted
    told = _disclosed_keys(context, known_scenario, further)
    if told is not None:
        # What is told follows from other columns and stands where cells are missing: no latent model is made for that.
        in_told = context._replace(data=told.data, how={**context.how, "model": "benedetti_franconi"})
        parts += [_key_set_risk(name, key_set, in_told, no_progress) for name, key_set in told.sets.items()]
        not_measured, cautions = (*not_measured, *told.not_assessed), [*cautions, *told.cautions]
    not_measured += () if known is not None else tuple(_not_paired(context, further))
    not_measured += (*_added_records(context), *_told_unseen(context, further))
    not_measured += tuple(_undeclared_units(context, known_scenario))
    cautions += _cautions_of_the_whole(context)
    progress(1.0, "done")
    said = tuple(dict.fromkeys(cautions))
    labels = {name: known for name in scenario.keys if (known := data.variable(name).value_labels)}
    return RiskProfile(scenario, limits, data.record, tuple(parts), household, further, not_measured, said, labels)


def _cautions_of_the_whole(context: Context) -> Iterator[str]:
    """Cautions about scenario, policy and files, whatever was measured."""
    yield from _no_limit_on_sensitive(context.scenario, context.policy)
    yield from _undeclared_identifiers(context.data, context.scenario)
    yield from void_limits(context.policy, context.scenario, context.data.size)
    yield from _release_alone(context.data, context.original)
    if context.original is not None and not context.shares_records:
        yield "no released record is in the original: nothing was compared record by record."


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


def _disclosed_keys(context: Context, known: Scenario, further: Mapping[str, Result]) -> DisclosedKeys | None:
    """The key sets with what the release tells of their keys besides; None where it tells no more than they do."""
    limits = (context.policy.given_back, *(getattr(context.policy, name) for name in BY_FREQUENCY))
    if "reconstruction" not in further or all(limit is None for limit in limits):
        return None
    from tacita.assessment.disclosed_keys import disclosed_keys

    by_keys = [name for name in further if find(name).files == 1]
    # A register has no column of what a release tells: F is not known by it.
    sets = {} if context.register is not None else context.scenario.sets
    return disclosed_keys(
        context.data, context.scenario, sets, known, context.policy, further["reconstruction"], by_keys
    )


def _household_risk(context: Context, parts: list[KeySetRisk]) -> HouseholdRisk | None:
    """Household risk on the main keys; None without households or without categorical keys."""
    if context.households is not None:
        return context.households(parts[0].individual)
    main = next(iter(context.scenario.sets.values()), None)
    if context.scenario.household is None or main is None:
        return None
    from tacita.risk.identity.household_risk import household_risk

    return household_risk(context.data, context.scenario, keys=main.keys, **context.how)


def _under_other_rules(table: KeyTable, context: Context) -> dict[str, KeyTable]:
    """The key table under the other missing-value rules, if a key has missing values."""
    if not table.has_missing:
        return {}
    others = [name for name in ("one_way", "wildcard", "own_category") if name != table.rule.name]
    changed = {name: replace(context.scenario, missing=MissingRule(name)) for name in others}
    return {name: key_table(context.data, scenario, table.keys) for name, scenario in changed.items()}


def _rule_matters(part: KeySetRisk) -> Iterator[str]:
    """A caution where another missing-value rule would change the verdict on k."""
    if part.k is None:
        return
    for name, result in part.other_rules.items():
        found = result.below(part.k)
        if (found == 0) != (part.unsafe_by_k == 0):
            yield (
                f"the verdict on k = {part.k} rests on the rule for missing values: records that violate it are "
                f"{part.unsafe_by_k:,} under {part.table.rule}, {found:,} under {name}."
            )


def _not_paired(context: Context, further: Mapping[str, Result]) -> Iterator[Verdict]:
    """A verdict that is not known where the numbers of two files say that their rows are not the same records."""
    judged = [name for name in further if find(name).files == 2 and find(name).for_numeric_keys]
    if judged and context.original is not None:
        why = rows_do_not_match(context.data, context.original, context.scenario)
        yield from (Verdict(name, 0.0, None, None, why) for name in judged[:1] if why)


def _added_records(context: Context) -> Iterator[Verdict]:
    """A verdict that is not known where a release has records that are nobody's: people hide behind them in counts."""
    data, original, k = context.data, context.original, context.policy.k
    if original is None or k is None or not context.scenario.sets or not context.shares_records:
        return
    new = ~np.isin(data.record, original.record)
    added = how_many(new, data.repeats) if data.numbers_of_records is not None else 0
    if added:
        why = (
            f"{added:,} released records are not in the original: counts of equal keys take them for people; "
            f"assess the release without them"
        )
        yield Verdict("k", k, None, None, why)


def _told_unseen(context: Context, further: Mapping[str, Result]) -> Iterator[Verdict]:
    """A verdict that is not known where an engine looks at some columns only, and others may tell a protected key.

    A limit on cells given back says so itself.
    """
    found = further.get("reconstruction")
    if context.data.condensed is None or found is None or context.policy.given_back is not None:
        return
    protected = {each.name for each in getattr(found, "variables", ())}
    if protected.intersection(context.scenario.all_keys):
        yield Verdict("given_back", 0, None, None, getattr(found, "not_tried", ""))


def _release_alone(data: Data, original: Data | None) -> Iterator[str]:
    """A caution where a file is known to be made of another one that is not there."""
    if data.of_release and original is None:
        yield (
            "the file lies beside the codebook of a release: what it gives back of the original, and weights, units "
            "and records as they were, are judged only beside it (original=..., --original FILE)."
        )


def _undeclared_identifiers(data: Data, scenario: Scenario) -> Iterator[str]:
    """Columns without a role that look like direct identifiers."""
    # Of a file on an engine its records are looked at there.
    if data.condensed is None and set(data.columns) - scenario.roles:
        from tacita.data.identifying import undeclared_identifiers

        yield from undeclared_identifiers(data, scenario)


def _undeclared_units(context: Context, scenario: Scenario) -> Iterator[Verdict]:
    """A verdict that is not known where some column says that records are of one unit each several times."""
    file = context.data if context.original is None else context.original
    if scenario.identifiers or scenario.household or set(file.columns) - scenario.roles:
        from tacita.assessment.undeclared_units import undeclared_units

        yield from undeclared_units(context.data, scenario, context.policy, context.original)


def _no_limit_on_sensitive(scenario: Scenario, policy: Policy) -> Iterator[str]:
    """A caution where the policy has no limit on sensitive variables."""
    if scenario.sensitive and not {"l_diversity", "t_closeness", "likeness", "dominance"} & set(policy.limits):
        yield (
            "the scenario names sensitive variables, but the policy limits no measure of what is learned about them: "
            "the verdict is on re-identification alone; set limits such as l_diversity = 2."
        )


def _requested_measures(measures: Any) -> dict[str, dict[str, Any]]:
    """The measures asked for with their options, by name."""
    named = measures if isinstance(measures, Mapping) else dict.fromkeys(check.names("measures", measures))
    for name in check.mapping("measures", named):
        if name != "all":
            check_measure_name("measures", name)
    return {name: check.mapping(f"options of {name}", options or {}) for name, options in named.items()}


def _further_measures(
    context: Context, asked: Mapping[str, Mapping[str, Any]], progress: Progress
) -> tuple[dict[str, Result], tuple[Verdict, ...], list[str]]:
    """Every further measure that is called for, limited or asked for, and verdicts on those that cannot be measured.

    And their cautions: also which were left out that nobody asked for by name, since they would take long.
    """
    policy = context.policy
    limited = {name: limit for name in policy.limits if (limit := policy.limit_of(name))}
    names = [name for name in measure_names() if _is_called_for(name, context, asked, limited)]
    found: dict[str, Result] = {}
    not_measured: list[Verdict] = []
    left_out: list[str] = []
    for at, name in enumerate(names):
        show = part(progress, at / len(names), (at + 1) / len(names))
        show(0.0, name.replace("_", " "))
        measure = find(name)
        lacking = context.lacks(measure)
        if lacking and name in asked and measure.files == 2:
            raise TacitaError(f"{name} needs {needed_text(lacking[0])}.")
        if lacking and name not in asked:
            not_measured += [_not_measured(limited[name], lacking[0])] if name in limited else []
            continue
        if context.data.condensed is not None and not measure.by_key and name not in asked:
            not_measured += _needs_records(measure, limited.get(name))
            continue
        options = measure.measure_options(limited[name].options) if name in limited else {}
        options |= asked.get(name, {})
        if name not in asked and name not in limited:
            try:
                allow(name, measure.expected(context.files(measure), context.scenario, options), UNASKED)
            except TooMuchWork as reason:
                left_out.append(f"{str(reason).removesuffix('.')}: it was left out.")
                continue
        found[name] = _measured(measure, context, options, show)
        not_measured += _measured_in_part(name, limited.get(name), context)
    if policy.household_risk is not None and not context.scenario.household and context.households is None:
        not_measured.append(_not_measured(Limited("household_risk", policy.household_risk, {}), "household"))
    return found, tuple(not_measured), [*left_out, *(each for result in found.values() for each in result.cautions)]


def _measured_in_part(name: str, limited: Limited | None, context: Context) -> Iterator[Verdict]:
    """That a limit on attacks from outside is not assessed where an intruder knows more than an engine compares."""
    unseen = sorted(context.left_out)
    if limited is not None and unseen and name in FROM_OUTSIDE:
        why = (
            f"{limited.name} was measured without {check.quoted(unseen)}, which an intruder knows and an engine cannot "
            f"compare; measure it on a sample of the records of both files"
        )
        yield Verdict(limited.name, limited.limit, None, None, why)


def _needs_records(measure: Measure, limited: Limited | None) -> Iterator[Verdict]:
    """That a limit is not assessed on an engine, where a measure needs all records in memory."""
    if limited is not None:
        why = f"{limited.name} was not measured: {measure.name} {needs_records(measure).rstrip('.')}"
        yield Verdict(limited.name, limited.limit, None, None, why, measure.kind)


def _not_measured(limited: Limited, lacking: str) -> Verdict:
    why = f"{limited.name} was not measured: it needs {needed_text(lacking)}"
    return Verdict(limited.name, limited.limit, None, None, why, kind_of(limited.name))


def _is_called_for(name: str, context: Context, asked: Mapping[str, Any], limited: Mapping[str, Limited]) -> bool:
    if name in CORE:
        return False
    if name in asked or name in limited or (name in OF_NUMBERS and not context.scenario.sets):
        return True
    reasons = called_for(name)
    if reasons is not None and all(context.has(need) for need in reasons):
        return True
    if "all" not in asked or name in NOT_IN_ALL:
        return False
    measure = find(name)
    return measure.files == 1 and not context.lacks(measure)


def _measured(measure: Measure, context: Context, options: Mapping[str, Any], progress: Progress) -> Result:
    given = checked_measure_options(measure.name, options)
    known = {each.name for each in measure.parameters}
    # How individual risk is measured says nothing of a loss with an option of the same name.
    how = context.how if measure.kind == "risk" else {}
    usual = {name: value for name, value in how.items() if name in known and value is not None}
    usual |= {"policy": context.policy} if "policy" in known else {}
    return measure.function(*context.files(measure), context.scenario, **usual | given, progress=progress)
