"""A risk profile on one screen: verdict first, scenario assumptions last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tacita import check
from tacita.measures import find
from tacita.policy import BY_FREQUENCY
from tacita.result import Repair, Table, number, number_of, percent, summary

if TYPE_CHECKING:
    from tacita.assessment.profile import KeySetRisk, RiskProfile

WIDTH = 100

SOURCES = {
    "weights": "population counts F estimated by sums of {weight!r}",
    "original_weights": "population counts F estimated by sums of the weights as they were before protection",
    "original_file": "no weights: the file is taken as the whole population, F counted before records were dropped",
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
    "one_way": "a record with a missing key counts all that agree on its other keys, and does not count for records "
    "that show that key (one_way)",
    "wildcard": "a missing value matches anything, in both directions (wildcard)",
    "conservative": "complete records count only records with the same key (conservative)",
    "partial": "records with missing keys count in part for complete ones ({missing})",
    "no_match": "a missing value matches nothing (no_match)",
    "own_category": "missing is a category of its own (own_category)",
    "sdcmicro": "as sdcMicro counts ({missing})",
}


def screen(profile: RiskProfile) -> str:
    """The printed profile."""
    sentences = (headline(profile), *_verdict_sentences(profile))
    first = [textwrap.fill(said, WIDTH, break_on_hyphens=False) for said in sentences]
    first[1:1] = repair_lines(profile.repairs)
    parts = ["\n".join(first), *(_part(profile, part) for part in profile.sets)]
    parts += [_risks(profile)] if profile.sets else []
    if profile.further:
        parts.append("\n".join(_wrapped(str(result)) for result in profile.further.values()))
    if profile.cautions:
        parts.append("Cautions\n" + "\n".join(_bullet(text) for text in profile.cautions))
    parts.append("Assumptions\n" + "\n".join(_bullet(text) for text in assumptions(profile)))
    return "\n\n".join(part for part in parts if part)


def headline(profile: RiskProfile) -> str:
    """The verdict with its reasons."""
    size = check.counted(profile.size, "record")
    verdicts = profile.verdicts()
    ending = f": {size}." if profile.safe else "." if verdicts else f"; {size}."
    return f"{summary(verdicts)}{ending}"


def sentences(profile: RiskProfile) -> list[str]:
    """What is said of the main keys, of each key set, and of households."""
    of_sets = [said for part in profile.sets for said in _part_sentences(profile, part)]
    household = [] if profile.household is None else [profile.household.headline, *profile.household.sentences()]
    return [*repair_lines(profile.repairs), *_verdict_sentences(profile), *of_sets, *household]


def repair_lines(found: tuple[Repair, ...]) -> Iterator[str]:
    """What would make limits hold, below the verdict."""
    by_suppression = [each for each in found if each.step == "suppress" and each.name.split(":")[0] in BY_FREQUENCY]
    together = " (Suppress() without parameters aims at all of k, risk and rate)" if len(by_suppression) > 1 else ""
    if found:
        yield f"To keep the policy{together}:"
    names: dict[str, list[str]] = {}
    for each in found:
        names.setdefault(each.text, []).append(each.name)
    for text, limits in names.items():
        yield _bullet(f"{', '.join(limits)}: {text}")


def tables(profile: RiskProfile) -> tuple[Table, ...]:
    """Records below each k by key set, the spread of the risk, and what attackers can do."""
    if not profile.sets:
        return tuple(table for result in profile.further.values() for table in result.tables())
    levels = (replace(_levels(part), title=_name(profile, part)) for part in profile.sets if part.k_anonymity.levels)
    return (*levels, _spreads(profile), *profile.main.attackers.tables())


def _wrapped(text: str) -> str:
    """Lines that are too long for the screen go on in the next one."""
    shape = textwrap.TextWrapper(WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)
    # A result's own cautions stand with all the others below.
    lines = [shape.fill(line) for line in text.split("\n") if not line.startswith("caution:")]
    return textwrap.indent("\n".join(lines), "  ")


def _bullet(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def only_numbers(profile: RiskProfile) -> str:
    """What a scenario of numeric keys alone leaves out."""
    return f"k, risk and rate do not apply: all keys are numeric ({check.quoted(profile.scenario.numeric_keys)})."


def _verdict_sentences(profile: RiskProfile) -> Iterator[str]:
    if not profile.sets:
        yield only_numbers(profile)
        return
    main = profile.main
    if main.k is not None:
        share = percent(main.unsafe_by_k / profile.size)
        size = check.counted(profile.size, "record")
        yield f"{main.unsafe_by_k:,} of {size} violate {main.k}-anonymity ({share})."
    er = main.reidentification
    ends = ""
    if er.interval[0] < er.interval[1]:
        ends = f"; 95 % interval under the model {number(er.interval[0])} to {number(er.interval[1])}"
    at = "" if er.quantile is None else f" at quantile {er.quantile:g} of F"
    yield f"{number_of(er.expected, 'expected re-identification')}{at} ({percent(er.rate)}{ends})."
    yield from (f"{said[0].upper()}{said[1:]}." for said in er.sentences())
    if er.lower_with_errors < er.expected:
        yield f"If a key error always prevents a link: {number(er.lower_with_errors)}."


def _part(profile: RiskProfile, part: KeySetRisk) -> str:
    lines = [textwrap.fill(_name(profile, part), WIDTH, subsequent_indent="  ")]
    if part.k_anonymity.levels:
        lines.append(_levels(part).text())
    lines += [_wrapped(said) for said in _part_sentences(profile, part)]
    return "\n".join(lines)


def _name(profile: RiskProfile, part: KeySetRisk) -> str:
    head = f"Key set {part.name!r}" if len(profile.sets) > 1 else "Keys"
    return f"{head}: {', '.join(part.table.keys)}"


def _levels(part: KeySetRisk) -> Table:
    """Records below each k."""
    rows = [
        ("in the sample (f)", *part.k_anonymity.sample),
        ("in the population (F)", *part.k_anonymity.population),
        *((f"in the sample, {name}", *result.sample) for name, result in part.other_rules.items()),
    ]
    return Table(("records with fewer than", *(f"k = {k}" for k in part.k_anonymity.levels)), tuple(rows))


def _part_sentences(profile: RiskProfile, part: KeySetRisk) -> Iterator[str]:
    if part is not profile.main:
        yield part.reidentification.headline
        yield from part.reidentification.sentences()
    if part.unsafe_by_risk:
        yield f"{check.counted(part.unsafe_by_risk, 'record')} above an individual risk of {part.risk_limit:g}"
    if part.threshold is not None and part.threshold.unsafe:
        above = check.counted(part.threshold.unsafe, "record")
        left = number_of(part.threshold.expected, "expected re-identification")
        yield (
            f"the rate is kept once the {above} with a risk above {part.threshold.risk:.3g} "
            f"{'is' if part.threshold.unsafe == 1 else 'are'} brought down to it: at most {left} then"
        )


def _risks(profile: RiskProfile) -> str:
    lines = [_spreads(profile).text()]
    if profile.household is not None:
        lines.append(f"  {profile.household}")
    return "\n".join([*lines, *(table.text() for table in profile.main.attackers.tables())])


def _spreads(profile: RiskProfile) -> Table:
    """Minimum, quartiles, mean and maximum of the risk."""
    spreads = {"individual risk": profile.individual.spread}
    if profile.household is not None:
        spreads["household risk"] = profile.household.spread
    names = [name.replace("_", " ") for name in next(iter(spreads.values()))._fields]
    return Table(("", *names), tuple((name, *(f"{value:.3g}" for value in row)) for name, row in spreads.items()))


def assumptions(profile: RiskProfile) -> Iterator[str]:
    """What the figures rest on."""
    scenario = profile.scenario
    yield f"policy: {profile.policy}"
    if not profile.sets:
        if not any(find(name).files == 2 for name in profile.further):
            yield "the file is not held against an original: what protection did to the numbers is not known"
        return
    yield SOURCES[profile.main.table.source].format(**vars(scenario))
    yield ATTACKS[scenario.attack].format(**vars(scenario))
    yield from profile.main.reidentification.notes
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
        yield (
            "probabilities that a variable is known enter external_risk alone: these figures take every key as known"
        )
