"""A risk profile on one screen: verdict first, scenario assumptions last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tacita import check
from tacita.result import columns, number, percent
from tacita.verdict import summary

if TYPE_CHECKING:
    from tacita.assessment.profile import KeySetRisk, RiskProfile

WIDTH = 100

SOURCES = {
    "weights": "population counts F estimated by sums of {weight!r}",
    "original_weights": "population counts F estimated by sums of the weights as they were before protection",
    "population_size": "population counts F estimated by f N/n with N = {population_size:,.0f}",
    "sampling_fraction": "population counts F estimated by f / {sampling_fraction:g}",
    "register": "population counts F from the register",
    "census": "no weights: the file is taken as the whole population (F = f), the worst case",
}
ATTACKS = {
    "M1": "the intruder tries one record at random (M1)",
    "M2": "the intruder tries a record with probability f/F (M2)",
    "M3": "the intruder tries every record (M3)",
    "M4": "the intruder tries each record with probability {attack_probability:g} (M4)",
    "M5": "the intruder tries a record with probability 1/weight (M5)",
}
RULES = {
    "one_way": "a record's own blanks widen who it could be, others' blanks do not hide it (one_way)",
    "wildcard": "a missing value matches anything, in both directions (wildcard)",
    "conservative": "complete records count exact twins only (conservative)",
    "partial": "others' blanks count in part ({missing})",
    "no_match": "a missing value matches nothing (no_match)",
    "own_category": "missing is a category of its own (own_category)",
    "sdcmicro": "as sdcMicro counts ({missing})",
}


def screen(profile: RiskProfile) -> str:
    """The printed profile."""
    parts = ["\n".join(_verdict(profile)), *(_part(profile, part) for part in profile.sets), _risks(profile)]
    if profile.further:
        parts.append("\n".join(_wrapped(str(result)) for result in profile.further.values()))
    if profile.cautions:
        parts.append("Cautions\n" + "\n".join(_bullet(text) for text in profile.cautions))
    parts.append("Assumptions\n" + "\n".join(_bullet(text) for text in _assumptions(profile)))
    return "\n\n".join(part for part in parts if part)


def _wrapped(text: str) -> str:
    """Lines that are too long for the screen go on in the next one."""
    shape = textwrap.TextWrapper(WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)
    # A result's own cautions stand with all the others below.
    lines = [shape.fill(line) for line in text.split("\n") if not line.startswith(("caution:", "note:"))]
    return textwrap.indent("\n".join(lines), "  ")


def _bullet(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _verdict(profile: RiskProfile) -> Iterator[str]:
    size = check.counted(profile.size, "record")
    verdicts = profile.verdicts()
    ending = f": {size}." if profile.safe else "." if verdicts else f"; {size}."
    yield textwrap.fill(f"{summary(verdicts)}{ending}", WIDTH, break_on_hyphens=False)
    main = profile.main
    if main.k is not None:
        share = percent(main.unsafe_by_k / profile.size)
        yield f"{main.unsafe_by_k:,} of {size} violate {main.k}-anonymity ({share})."
    er = main.reidentification
    ends = ""
    if er.interval[0] < er.interval[1]:
        ends = f"; 95 % interval under the model {number(er.interval[0])} to {number(er.interval[1])}"
    at = "" if er.quantile is None else f" at quantile {er.quantile:g} of F"
    yield f"{number(er.expected)} expected re-identifications{at} ({percent(er.rate)}{ends})."
    if er.lower_with_errors < er.expected:
        yield f"If a key error always prevents a link: {number(er.lower_with_errors)}."


def _part(profile: RiskProfile, part: KeySetRisk) -> str:
    levels = part.k_anonymity.levels
    head = f"Key set {part.name!r}" if len(profile.sets) > 1 else "Keys"
    lines = [textwrap.fill(f"{head}: {', '.join(part.table.keys)}", WIDTH, subsequent_indent="  ")]
    rows = [("records with fewer than", *(f"k = {k}" for k in levels))]
    rows.append(("in the sample (f)", *(f"{found:,}" for found in part.k_anonymity.sample)))
    rows.append(("in the population (F)", *(f"{found:,}" for found in part.k_anonymity.population)))
    for name, result in part.other_rules.items():
        rows.append((f"in the sample, {name}", *(f"{found:,}" for found in result.sample)))
    if levels:
        lines.append(columns(rows))
    if part is not profile.main:
        lines.append(f"  {part.reidentification}")
    if part.unsafe_by_risk:
        lines.append(
            f"  {check.counted(part.unsafe_by_risk, 'record')} above an individual risk of {part.risk_limit:g}"
        )
    if part.threshold is not None and part.threshold.unsafe:
        lines.append(f"  to keep the rate, protect {check.counted(part.threshold.unsafe, 'record')}:")
        lines.append(_wrapped(str(part.threshold)))
    return "\n".join(lines)


def _risks(profile: RiskProfile) -> str:
    spreads = {"individual risk": profile.individual.spread}
    if profile.household is not None:
        spreads["household risk"] = profile.household.spread
    names = [name.replace("_", " ") for name in next(iter(spreads.values()))._fields]
    rows = [("", *names), *((name, *(f"{value:.3g}" for value in row)) for name, row in spreads.items())]
    lines = [columns(rows)]
    if profile.household is not None:
        lines.append(f"  {profile.household}")
    lines += [*(table.text() for table in profile.main.attackers.tables()), f"  {profile.main.benchmark}"]
    return "\n".join(lines)


def _assumptions(profile: RiskProfile) -> Iterator[str]:
    scenario = profile.scenario
    yield f"policy: {profile.policy}"
    yield SOURCES[profile.main.table.source].format(**vars(scenario))
    yield ATTACKS[scenario.attack].format(**vars(scenario))
    if profile.individual.method != "exact":
        yield f"individual risk: {profile.individual.method}"
    if profile.main.table.has_missing:
        yield f"missing values: {RULES[scenario.missing.name].format(**vars(scenario))}"
    if scenario.not_applicable:
        yield f"not applicable is a category of {check.quoted(scenario.not_applicable)}"
    if scenario.error_rates:
        yield f"keys can be in error: {check.quoted(scenario.error_rates)}"
    if scenario.numeric_keys and not {"mixed_uniqueness", "dominance"} & set(profile.further):
        yield f"numeric keys do not enter these figures: {check.quoted(scenario.numeric_keys)}"
    if scenario.known:
        yield "the probabilities that a variable is known do not enter these figures, which take every key as known"
