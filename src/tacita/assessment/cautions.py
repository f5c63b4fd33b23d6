"""What a reader of the figures should know: where they rest on little, and what could make them too low."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tacita import check
from tacita.data import Data
from tacita.data.identifying import words_of
from tacita.data.visible import visible_missing_codes
from tacita.frame import files as frame_files
from tacita.keys.table import KeyTable
from tacita.policy import Policy, void_limits
from tacita.scenario import Scenario

if TYPE_CHECKING:
    from tacita.assessment.assess import Context
    from tacita.assessment.profile import KeySetRisk

RELATIVE_ERROR = 0.5
"""A relative error of F-hat above this is called unreliable."""
MANY_VALUES = 50
"""A key with more values than this is a candidate for recoding when its values are rare."""
MANY_UNIQUES = 0.05
"""... and when at least this share of the records is unique on the keys; from there on, too, the model of F is known
to put the risk too low."""
CODES = r"\b(id|ids|identifier|code|codes|coded|zip|post ?code|isco|nace|isic)\b"
"""What the name or the label of a column says whose numbers are codes."""


def cautions_of(table: KeyTable, data: Data, scenario: Scenario, *, latent: bool = False) -> tuple[str, ...]:
    """All cautions about a key table; `latent` if F is not estimated from f and the weights alone."""
    found = [*table.cautions, *unreliable_estimates(table), *detailed_keys(table, data)]
    found += [] if latent else underestimated_risk(table)
    found += [*units_counted(table, data, scenario), *possibly_not_applicable(table), *constant_keys(table)]
    return (*found, *missing_codes_seen(table, data), *spelled_alike(table))


def cautions_of_files(context: Context) -> Iterator[str]:
    """Cautions about scenario, policy and files, whatever was measured."""
    yield from no_limit_on_sensitive(context.scenario, context.policy)
    yield from unnamed_identifiers(context.data, context.scenario)
    yield from void_limits(context.policy, context.scenario, context.data.size)
    yield from release_alone(context.data, context.original)
    if context.original is not None and not context.shares_records:
        yield "no released record is in the original: nothing was compared record by record."


def rule_matters(part: KeySetRisk) -> Iterator[str]:
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


def unreliable_estimates(table: KeyTable) -> Iterator[str]:
    """A caution where F is estimated from few records: its relative error under the model is sqrt((1-p)/f)."""
    if table.source in ("register", "census"):
        return
    error = np.sqrt((1.0 - table.sampling_probability) / table.sample_count)
    records = int(table.records[error > RELATIVE_ERROR].sum())
    if records:
        yield (
            f"F rests on so few records that its relative error is above {100 * RELATIVE_ERROR:.0f} % for "
            f"{records:,} of {table.size:,} records: the total is more reliable than a single risk, and recoding "
            f"detailed keys (geography first) to the level at which estimates are significant helps."
        )


def underestimated_risk(table: KeyTable) -> Iterator[str]:
    """A caution where so many records are unique that the model of F was found to underestimate the risk."""
    if table.source in ("register", "census"):
        return
    unique = int(table.records[table.sample_count < 2].sum())
    if unique >= MANY_UNIQUES * table.size:
        yield (
            f"{unique:,} of {table.size:,} records are unique on the keys: with keys so detailed the model of F gave "
            f"expected re-identifications that were 20 to 75 % too low on a test population with known counts, and its "
            f"interval did not cover the true value; judge by k too, compare a low quantile of F, or use a register."
        )


def detailed_keys(table: KeyTable, data: Data) -> Iterator[str]:
    """Keys of very many values that make most records unique: name them, and the recode to try."""
    unique = table.sample_count < 2
    uniques = int(table.records[unique].sum())
    for place, name in enumerate(table.keys):
        values = len(table.values[place])
        if values <= MANY_VALUES or uniques < MANY_UNIQUES * table.size:
            continue
        if len(table.keys) > 1:
            without = int(table.records[table.alike_without(place) == 1].sum())
            if without > 0.7 * uniques:
                continue
            effect = f"without it {without:,} of {uniques:,} unique records would be unique"
        else:
            effect = f"{uniques:,} records are unique"
        yield f"key {name!r} has {values:,} different values; {effect}: recode it, {_recode(name, data)}."


def _recode(name: str, data: Data) -> str:
    """What to try: classes for what is measured; codes have no width, even where they are numbers."""
    known = data.variable(name)
    declared = known.scale
    if frame_files.kind(data.table, name) in ("date", "datetime"):
        return f"for example by Recode({name!r}, dates='year')"
    codes = known.value_labels or re.search(CODES, f"{words_of(name)} {words_of(known.label)}")
    if declared == "numeric" or (data.scale(name) == "numeric" and not codes):
        unless = "" if declared else ", or by their first digits if its numbers are codes"
        return f"for example into classes of 5 or 10{unless}"
    return "for example to the next higher level of its code list, or group its rare values"


def units_counted(table: KeyTable, data: Data, scenario: Scenario) -> Iterator[str]:
    """What was counted where a unit has several records, and whether the identifier means what it should."""
    if table.unit is None:
        return
    by = f"by {scenario.person!r}" if scenario.person else "of the file before protection"
    yield (
        f"{check.counted(table.size, 'record')} are of {check.counted(table.units, 'unit')} {by}: "
        f"f, F and risk count units, and expected re-identifications the riskiest record of each."
    )
    if scenario.household is not None and scenario.person is not None:
        household, _, _ = data.households(scenario.household)
        pairs = np.unique(np.stack([table.unit, household], axis=1), axis=0)
        moved = int((np.bincount(pairs[:, 0]) > 1).sum())
        if moved:
            yield (
                f"{check.counted(moved, 'unit')} of {scenario.person!r} {'is' if moved == 1 else 'are'} in more than "
                f"one {scenario.household!r}: if persons are numbered inside their households, number them through, "
                f"or f counts too few and the risk is too high."
            )


def possibly_not_applicable(table: KeyTable) -> Iterator[str]:
    """Keys that are missing exactly where another key has certain values: perhaps not applicable, not missing."""
    for place, name in enumerate(table.keys):
        blank = table.codes[:, place] == 0
        if not blank.any() or blank.all():
            continue
        for other, cause in enumerate(table.keys):
            if other == place or not _follows(table, blank, other):
                continue
            yield (
                f"key {name!r} is blank exactly where {cause!r} has certain values: an intruder knows that it does not "
                f"apply; declare it not applicable so that the blank is a category (in the scenario "
                f"not_applicable={{{name!r}: ['']}}, in its file {name!r} = [''] under [scenario.not_applicable]), and "
                f"give it a code by Recode({name!r}, mapping={{'': 'not applicable'}}) before Suppress, which else "
                f"leaves this key as it is."
            )
            break


def _follows(table: KeyTable, blank: np.ndarray[tuple[int], np.dtype[np.bool_]], other: int) -> bool:
    codes = table.codes[:, other].astype(np.int64)
    if (codes[blank] == 0).any():
        return False
    size = len(table.values[other]) + 1
    with_blank = np.bincount(codes[blank], minlength=size) > 0
    without = np.bincount(codes[~blank], minlength=size) > 0
    # More than chance: several values each way, or many records on the smaller side.
    records = int(table.records[blank].sum())
    return not bool((with_blank & without).any()) and records >= max(5, int(with_blank.sum()) + 1)


def constant_keys(table: KeyTable) -> Iterator[str]:
    """Keys with the same value in every record."""
    for place, name in enumerate(table.keys):
        codes = table.codes[:, place]
        if (codes == 0).all():
            yield f"key {name!r} is missing in every record and adds nothing; drop it, or check the file."
        elif codes.min() == codes.max():
            yield f"key {name!r} has the same value in every record and adds nothing; drop it, or check the file."


def missing_codes_seen(table: KeyTable, data: Data) -> Iterator[str]:
    """Codes declared missing that make records unique, since readers of the file see them."""
    unique = table.sample_count < 2
    for place, name in enumerate(table.keys):
        if not data.variable(name).missing and not data.variable(name).missing_ranges:
            continue
        seen = visible_missing_codes(data, name)
        codes = [at for at, value in enumerate(table.values[place], start=1) if value in seen]
        alone = int(table.records[unique & np.isin(table.codes[:, place], codes)].sum())
        if alone:
            yield (
                f"key {name!r} has {check.counted(len(codes), 'code')} declared missing, in "
                f"{check.counted(alone, 'record')} that {'is' if alone == 1 else 'are'} unique on the keys: what "
                f"stands in the file is seen and counts as a value, only an empty cell is missing; Suppress blanks "
                f"such codes."
            )


def spelled_alike(table: KeyTable) -> Iterator[str]:
    """Texts that differ only in case, spaces or the form of their accents: most likely one category."""
    for place, name in enumerate(table.keys):
        spellings = Counter(_plain_spelling(value) for value in table.values[place] if isinstance(value, str))
        several = {spelling: count for spelling, count in spellings.items() if count > 1}
        if not several:
            continue
        written = [at for at, value in enumerate(table.values[place], start=1) if _plain_spelling(value) in several]
        records = int(table.records[np.isin(table.codes[:, place], written)].sum())
        yield (
            f"key {name!r} has {sum(several.values()):,} values, in {check.counted(records, 'record')}, that differ "
            f"only in upper and lower case, spaces or the form of accents and may be {len(several):,}: they count as "
            f"different; spell them alike."
        )


def _plain_spelling(value: object) -> str | None:
    """A text in lower case, with single spaces and composed accents; None of what is no text."""
    return " ".join(unicodedata.normalize("NFC", value).casefold().split()) if isinstance(value, str) else None


def no_limit_on_sensitive(scenario: Scenario, policy: Policy) -> Iterator[str]:
    """A caution where the policy has no limit on sensitive variables."""
    if scenario.sensitive and not {"l_diversity", "t_closeness", "likeness", "dominance"} & set(policy.limits):
        yield (
            "the scenario names sensitive variables, but the policy limits no measure of what is learned about them: "
            "the verdict is on re-identification alone; set limits such as l_diversity = 2."
        )


def unnamed_identifiers(data: Data, scenario: Scenario) -> Iterator[str]:
    """Columns without a role that look like direct identifiers."""
    # Of a file on an engine its records are looked at there.
    if data.condensed is None and set(data.columns) - scenario.roles:
        from tacita.data.identifying import undeclared_identifiers

        yield from undeclared_identifiers(data, scenario)


def release_alone(data: Data, original: Data | None) -> Iterator[str]:
    """A caution where a file is known to be made of another one that is not there."""
    if data.of_release and original is None:
        yield (
            "the file lies beside the codebook of a release: what it gives back of the original, and weights, units "
            "and records as they were, are judged only beside it (original=..., --original FILE)."
        )
