"""Further measures of an assessment, besides those of its key sets, and limits that cannot be measured or judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.measure_arguments import needs_records
from tacita.measure_index import needed_text
from tacita.measures import Measure, checked_measure_options, find, kind_of
from tacita.policy import BY_FREQUENCY, Limited
from tacita.progress import Progress, part
from tacita.repeats import how_many
from tacita.result import Result, Verdict
from tacita.risk.identity.original import rows_do_not_match
from tacita.scenario import Scenario
from tacita.work import UNASKED, TooMuchWork, allow

if TYPE_CHECKING:
    from tacita.assessment.assess import Context
    from tacita.assessment.disclosed_keys import DisclosedKeys

FROM_OUTSIDE = ("external_risk", "total_risk")
"""Attacks by an intruder with a file of his own: what he knows besides makes them stronger."""


class More(NamedTuple):
    """What an assessment finds besides the key sets and households."""

    further: dict[str, Result]
    """What was measured, by name."""
    not_measured: tuple[Verdict, ...]
    """Limits on what cannot be measured or judged."""
    told: DisclosedKeys | None
    """The keys as other released columns tell them; None where those tell no more."""
    cautions: list[str]


def measured_further(
    names: Sequence[str],
    context: Context,
    asked: Mapping[str, Mapping[str, Any]],
    known: Any,
    known_scenario: Scenario,
    progress: Progress,
) -> More:
    """The further measures of these names, and what follows from them and from the original."""
    further, not_measured, cautions = _further_measures(names, context, asked, progress)
    told = _disclosed_keys(context, known_scenario, further)
    if told is not None:
        not_measured, cautions = (*not_measured, *told.not_assessed), [*cautions, *told.cautions]
    not_measured += () if known is not None else tuple(_not_paired(context, further))
    not_measured += (*_added_records(context), *_columns_not_searched(context, further))
    return More(further, not_measured, told, cautions)


def _further_measures(
    names: Sequence[str], context: Context, asked: Mapping[str, Mapping[str, Any]], progress: Progress
) -> tuple[dict[str, Result], tuple[Verdict, ...], list[str]]:
    """Every further measure that is called for, limited or asked for, and verdicts on those that cannot be measured.

    And their cautions: also which were left out that nobody asked for by name, since they would take long.
    """
    policy = context.policy
    limited = {name: limit for name in policy.limits if (limit := policy.limit_of(name))}
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


def _measured(measure: Measure, context: Context, options: Mapping[str, Any], progress: Progress) -> Result:
    given = checked_measure_options(measure.name, options)
    known = {each.name for each in measure.parameters}
    # How individual risk is measured says nothing of a loss with an option of the same name.
    how = context.how if measure.kind == "risk" else {}
    usual = {name: value for name, value in how.items() if name in known and value is not None}
    usual |= {"policy": context.policy} if "policy" in known else {}
    return measure.function(*context.files(measure), context.scenario, **usual | given, progress=progress)


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


def _columns_not_searched(context: Context, further: Mapping[str, Result]) -> Iterator[Verdict]:
    """A verdict that is not known where an engine looks at some columns only, and others may tell a protected key.

    A limit on cells given back says so itself.
    """
    found = further.get("reconstruction")
    if context.data.condensed is None or found is None or context.policy.given_back is not None:
        return
    protected, why = {each.name for each in getattr(found, "variables", ())}, getattr(found, "not_tried", "")
    if why and protected.intersection(context.scenario.all_keys):
        yield Verdict("given_back", 0, None, None, why)
