"""External risk: whom does an intruder recognise who compares a file of his own with the release?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Ints
from tacita.distance.scenario_keys import Unit
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, OneOf, Share
from tacita.progress import Progress, no_progress, part
from tacita.result import Percent, Result, Table, Verdict, number, percent
from tacita.risk.external.amounts import amounts_of
from tacita.risk.external.figures import AVERAGED, KINDS, Average, Figures, Found, Matching, average
from tacita.risk.external.files import Files, compared_files
from tacita.risk.external.known import known_variables
from tacita.risk.external.variables import compared_variable
from tacita.risk.external.words import cautions_of, notes_of
from tacita.scenario import Scenario

SUPPRESSED = ("level", "any")
IN_WORDS = {
    "paired": "agree with a released record",
    "true": "the right one among them",
    "unique": "the right one alone",
    "expected": "right guesses (expected)",
}
EXPECTED = "the share of right guesses from outside (external risk)"
LIMITED_WORDS = {
    "paired": "the share of records that find a match from outside (external risk)",
    "true": "the share of records with the right one among their matches (external risk)",
    "unique": "the share of records recognised beyond doubt from outside (external risk)",
    "expected": EXPECTED,
    "highest": "the greatest probability of a right guess from outside (external risk)",
}
"""What a policy can limit, in words."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ExternalRisk(Result):
    """Which records of the intruder's file agree with released records, and how often he is right."""

    variables: tuple[str, ...]
    """The variables that are compared."""
    tolerance: float
    """d*: how far a number may lie from the released one, as a share of that."""
    suppressed: str
    """What a missing released value agrees with: `level` or `any`."""
    record: Ints
    """The number of each record of the intruder's file."""
    found: Found
    """What he finds, by record of his file."""
    other: Figures | None
    """The figures where a missing released value is taken the other way; None: nothing was suppressed."""
    average: Average | None
    """The figures averaged over the sets of variables that he may know; None: he knows all of them."""
    guessed: float | None
    """Right guesses of an intruder who draws a released record for each of his: what to compare with."""
    released: int
    """Released records."""
    weighted: bool
    """Whether a released record stands for as many people as its weight says."""
    by_number: bool
    """Whether record numbers say who is who."""
    notes: tuple[str, ...] = ()
    """How the figures came about."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""

    @property
    def figures_of_file(self) -> Figures:
        """The four figures, and the greatest probability of a right guess."""
        return Figures.of(self.found)

    def limited(self, figure: str = "expected") -> float:
        """The figure that a policy limits, as a share of the records of the intruder's file.

        `paired`, `true`, `unique`, `expected`, or `highest`, the greatest probability of a right guess: that few
        records are unique does not talk it down. NaN where nobody knows who is who.
        """
        return self.figures_of_file.share(check.one_of("figure of external_risk", figure, KINDS))

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether the limit of the policy is kept; not assessed where it needs to be known who is who.

        A small share can hide records that are recognised beyond doubt: the verdict says how many there are.
        """
        found = super().verdicts(policy)
        if not found:
            return found
        (verdict,) = found
        if self.found.right is None and np.isnan(verdict.value or 0.0):
            why = (
                "external_risk: nobody knows who is who in the intruder's file; name a column of both files with "
                "unit=..."
            )
            return (replace(verdict, value=None, holds=None, why=why),)
        return (replace(verdict, why=self._in_words(verdict, policy)),)

    @property
    def found_for_certain(self) -> int:
        """Records recognised beyond doubt."""
        return self.figures_of_file.unique or 0

    def _in_words(self, verdict: Verdict, policy: Any) -> str:
        limited = policy.limit_of("external_risk").options.get("figure", "expected")
        why = verdict.why.replace(EXPECTED, LIMITED_WORDS[limited])
        sure = self.found_for_certain
        are = "is" if sure == 1 else "are"
        return f"{why}; {check.counted(sure, 'record')} {are} recognised beyond doubt" if sure else why

    def unsafe_records(self, policy: Any) -> Bools | None:
        """The records whose probability of a right guess is above the limit, where the policy limits the highest."""
        limited = policy.limit_of("external_risk")
        if limited is None or limited.options.get("figure") != "highest" or self.found.right is None:
            return None
        above: Bools = self.found.expected > limited.limit
        return above

    @property
    def headline(self) -> str:
        """The four figures."""
        found = self.figures_of_file
        start = (
            f"an intruder who knows {check.counted(len(self.variables), 'variable')} finds a matching record for "
            f"{percent(found.share('paired'))} of the {check.counted(found.records, 'record')} of his file"
        )
        if found.true is None:
            return f"{start}; whether the right one is not known"
        return (
            f"{start}, the right one among them for {percent(found.share('true'))}; he guesses "
            f"{percent(found.share('expected'))} right (expected), {percent(found.share('unique'))} beyond doubt"
        )

    def key_figures(self) -> dict[str, Any]:
        """Whether he finds somebody, whether he is right, whether he is sure; what is not known is left out."""
        found = self.figures_of_file
        words = {"paired": "finds a matching record", "expected": "guesses right (expected)", "unique": "is sure"}
        return {words[name]: Percent(found.share(name)) for name in words if getattr(found, name) is not None}

    def sentences(self) -> list[str]:
        """What is compared, the highest probability, and blind guessing."""
        lines = [f"he knows {', '.join(self.variables)}"]
        highest = self.figures_of_file.highest
        if highest is not None and self.guessed is not None:
            lines.append(
                f"highest probability of a right guess {highest:.3g}; drawing from all {self.released:,} released "
                f"records he would be right for {number(self.guessed)}"
            )
        return lines

    def tables(self) -> tuple[Table, ...]:
        """The four figures; beside them those of the other rule for missing values, and averages."""
        found = self.figures_of_file
        heads, names = ["records of the intruder's file", "records", "share"], self._known_figures(found)
        rows = [[IN_WORDS[name], getattr(found, name), Percent(found.share(name))] for name in names]
        if self.other is not None:
            heads += ["blank = anything" if self.suppressed == "level" else "blank = missing"]
            for row, name in zip(rows, names, strict=True):
                row.append(Percent(self.other.share(name)))
        if self.average is not None:
            heads += ["average", *([] if self.average.errors is None else ["standard error"])]
            for row, name in zip(rows, names, strict=True):
                row.append(Percent(self.average.shares[name]))
                row += [] if self.average.errors is None else [Percent(self.average.errors[name])]
        return (Table(tuple(heads), tuple(tuple(row) for row in rows), indent=""),)

    def _known_figures(self, found: Figures) -> list[str]:
        return [name for name in AVERAGED if getattr(found, name) is not None]

    def to_frame(self) -> frame.Frame:
        """One row per record of the intruder's file."""
        return frame.table({"record": self.record, **self._columns("")})

    def record_columns(self) -> dict[str, Any]:
        """What he finds, where record numbers say whose record it is."""
        return self._columns("external_") if self.by_number else {}

    def _columns(self, start: str) -> dict[str, Any]:
        columns: dict[str, Any] = {f"{start}pairs": self.found.pairs}
        if self.found.right is not None:
            columns |= {
                f"{start}true_among": self.found.right > 0,
                f"{start}unique_correct": self.found.unique_correct,
                f"{start}expected": self.found.expected,
            }
        return columns

    def to_dict(self) -> dict[str, Any]:
        """The figures; null where nobody knows who is who."""
        return {
            "variables": list(self.variables),
            "tolerance": self.tolerance,
            "suppressed": self.suppressed,
            "released": self.released,
            "weighted": self.weighted,
            **self.figures_of_file._asdict(),
            "guessed": self.guessed,
            "other_rule": None if self.other is None else self.other._asdict(),
            "average": None if self.average is None else self.average.to_dict(),
        }


@measure(
    files=2,
    called_for="comparison",
    limit=at_most(
        "limited",
        EXPECTED,
        void=1.0,
        moved_by="Recode or Suppress what the intruder knows, or perturb it more (Noise, Pram, SwapRecords)",
    ),
    for_perturbed=True,
    by_key=True,
    figure="external_risk",
    missing=own_rule(
        "A missing category agrees with a missing one; a missing number of the intruder agrees with nothing, and for a "
        "missing released number the nearest released one stands."
    ),
)
def external_risk(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: Annotated[
        tuple[str, ...] | None, Doc("What the intruder knows; the scenario's keys, numeric keys and known variables.")
    ] = None,
    intruder: Annotated[
        Any, Doc("The intruder's file, with other rows and columns; the original, the worst case.")
    ] = None,
    tolerance: Annotated[
        float, Share(one=False), Doc("d*: how far a number may lie from the released one, as a share of it.")
    ] = 0.05,
    known: Annotated[
        Mapping[str, float] | None, Doc("Probability that he knows a variable, by name; the scenario's, otherwise 1.")
    ] = None,
    suppressed: Annotated[
        str, OneOf(SUPPRESSED), Doc("A missing released category is a `level` of its own, or may be `any` value.")
    ] = "level",
    weighted: Annotated[bool, Doc("A released record stands for as many people as its weight says.")] = False,
    unit: Unit = None,
    draws: Annotated[int, AtLeast(2), Doc("Sets of variables drawn, with more than six uncertain ones.")] = 200,
    seed: Annotated[int, AtLeast(0), Doc("Seed of these draws.")] = 1,
    progress: Progress = no_progress,
) -> ExternalRisk:
    """Whom an intruder recognises who compares a file of his own with the release.

    A record of his file and a released one pair when they agree on every variable: categories are equal, a missing
    value being one more; a number lies within `tolerance` of the released one, |x# - x| <= d* |x|, and 0 agrees with 0
    only. External risk is the share of his records that pair. What he gains is told by the other three figures: the
    right record is among the pairs; it is the only one; and the expected number of right guesses, 1 / pairs where the
    right one is among them.

    Recoded variables (classes, top codes, rounding) do not read as protected: he recodes what he knows as the release
    does, which is learned from the two files. Values that were exchanged, or look so, are compared as they are.

    Who is who is known by record number, or by the column `unit` of both files. Where the scenario's `person`, or
    `unit`, repeats over records, any record of the right unit is right.

    Reference: Mlodak, Pietrzak and Jozefowski (2021), The trade-off between the risk of disclosure and data utility in
    SDC: a case of data from a survey of accidents at work. UNECE expert meeting on statistical data confidentiality.

    >>> import polars as pl
    >>> from tacita.data import Data
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "income": [100.0, 104.0, 300.0]})
    >>> noisy = pl.DataFrame({"sex": ["f", "f", "m"], "income": [101.0, 103.0, 200.0]})
    >>> known = Data.of(noisy).with_perturbed(["income"])
    >>> found = external_risk(people, known, Scenario(keys=["sex"], numeric_keys=["income"]))
    >>> found.found.pairs.tolist(), found.limited("expected") == 1 / 3
    ([2, 2, 0], True)
    """
    progress(0.0, "reading both files")
    files = compared_files(original, released, scenario, intruder, unit)
    chosen = known_variables(files, scenario, variables, known)
    ready = []
    for at, name in enumerate(chosen.probability):
        progress(0.3 * at / len(chosen.probability), "comparing variables")
        ready.append(compared_variable(files, scenario, name, tolerance))
    compared = [each.compared for each in ready]
    others = [each.with_any() for each in compared]
    rules = (compared, others) if suppressed == "level" else (others, compared)
    pairs = None if files.units is None else files.true_pairs()
    amounts, weight_unit = amounts_of(files.released, scenario, weighted)
    matching = Matching(len(files.intruder), amounts, weight_unit, pairs, files.intruder.repeats)
    found = matching.found(rules[0], part(progress, 0.3, 0.5))
    is_suppressed = any(each.suppressed for each in ready)
    other = Figures.of(matching.found(rules[1], part(progress, 0.5, 0.7))) if is_suppressed else None
    averaged = None
    if min(chosen.probability.values()) < 1:
        averaged = average(matching, rules[0], chosen.probability, draws, seed, part(progress, 0.7, 1.0))
    return ExternalRisk(
        variables=tuple(chosen.probability),
        tolerance=tolerance,
        suppressed=suppressed,
        record=files.intruder.record,
        found=found,
        other=other,
        average=averaged,
        guessed=None if pairs is None else _of_both(files, pairs) / files.released.size,
        released=files.released.size,
        weighted=weighted,
        by_number=files.by_number,
        notes=(*chosen.notes, *notes_of(tolerance, suppressed, weighted, other, averaged)),
        cautions=cautions_of(ready, files.own is None),
    )


def _of_both(files: Files, pairs: tuple[Ints, Ints]) -> int:
    """How many pairs of records are of one unit."""
    repeats = files.intruder.repeats
    return len(pairs[0]) if repeats is None else int(repeats[pairs[0]].sum())
