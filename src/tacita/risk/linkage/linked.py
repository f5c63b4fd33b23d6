"""What every linkage attack reports: links, right or wrong, and records that could equally be several."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.distance.truth import new_records_caution
from tacita.measures import at_most
from tacita.result import Repair, Result, Verdict, number, percent, step_call

LINKED = at_most(
    "linked_rightly",
    "the share of records linked rightly",
    void=1.0,
    moved_by="more perturbation of the variables that records are linked by (Noise, Microaggregate, RankSwap, Pram, "
    "SwapRecords), or coarser ones (Recode)",
)
"""What a policy limits of every attack: of the file, or with `of = "record"` of the record found most surely."""
CERTAIN = 1e-9
"""A probability so near to 1 is 1."""


def alike_needed(most: float, records: int, missing: int) -> int | None:
    """How many records must be alike so that at most so many are linked rightly; None where no number is enough.

    Of complete records alike at most one is linked rightly; those with missing values may be alike to nobody.

    >>> alike_needed(5.5, 100, 0), alike_needed(5.0, 100, 2), alike_needed(5.0, 100, 5)
    (17, 33, None)
    """
    complete, left = records - missing, most * (1.0 - CERTAIN) - missing
    if left < 1.0:
        # One group of all: of it one record may be linked rightly.
        return None
    k = max(2, math.floor(complete / (math.floor(left) + 1)) + 1)
    return k if k <= complete else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Linkage(Result):
    """The links that an intruder makes, and how many of them are right."""

    variables: tuple[str, ...]
    """The variables linked on."""
    how: str
    """How records are compared."""
    record: Ints
    """The number of each released record."""
    original_record: Ints
    """The number of each record of the intruder's file."""
    link: Ints
    """By released record: the row of the intruder's file it is linked to, the first of equally good ones; -1: none."""
    candidates: Ints
    """By released record: how many records of the intruder's file it could equally well be linked to."""
    clear: Bools
    """By released record: whether the intruder makes the link; with several equally good ones he could only guess."""
    correct: Floats | None
    """By released record: the probability that the link, or one of several drawn at random, is the right one. None:
    nobody knows which records are of the same unit."""
    own: Ints | None
    """By released record: the row of the intruder's file that is the same unit, -1 if there is none."""
    partners: Ints | None
    """By released record: how many records of the intruder's file are the same unit: more than one where the scenario's
    `person` repeats over records."""
    missing: int
    """Released records with a missing value in the variables."""
    numbers: tuple[str, ...] = ()
    """Those of the variables that are measured numbers."""
    new: int = 0
    """Released records that are not in the original file, and so are nobody there; none of an intruder's own file."""

    @property
    def links(self) -> int:
        """Released records that are linked to one record."""
        return int(self.clear.sum())

    @cached_property
    def possible(self) -> Bools:
        """By released record: whether there are candidates, but no clear link."""
        return (self.candidates > 0) & ~self.clear

    @property
    def unlinked(self) -> int:
        """Released records without any candidate."""
        return int((self.candidates == 0).sum())

    @property
    def correct_links(self) -> float:
        """How many links are right; NaN where the truth is not known."""
        return float("nan") if self.correct is None else float(self.correct[self.clear].sum())

    @property
    def false_links(self) -> float:
        """How many links are wrong; NaN where the truth is not known."""
        return self.links - self.correct_links

    @property
    def correct_possible(self) -> float:
        """How many possible links are right if the intruder draws one of the candidates of each."""
        return float("nan") if self.correct is None else float(self.correct[self.possible].sum())

    @property
    def expected_correct(self) -> float:
        """Right links among all that are made or drawn: the measure of the attack."""
        return self.correct_links + self.correct_possible

    @property
    def share_correct(self) -> float:
        """The same as a share of the released records, those left out that are not in the original file."""
        return self.expected_correct / max(len(self.record) - self.new, 1)

    @property
    def found_for_certain(self) -> int:
        """Records that are linked rightly whatever is drawn: a small share can hide them."""
        return 0 if self.correct is None else int((self.correct > 1.0 - CERTAIN).sum())

    def linked_rightly(self, of: str = "file") -> float:
        """Right links as a share of the file; of a `record`, the greatest probability that one is linked rightly."""
        if check.one_of("of", of, ("file", "record")) == "file":
            return self.share_correct
        return float("nan") if self.correct is None else float(self.correct.max(initial=0.0))

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether the policy's limit is kept, with how many records are linked rightly for certain."""
        return tuple(replace(verdict, why=self._in_words(verdict, policy)) for verdict in super().verdicts(policy))

    def _in_words(self, verdict: Verdict, policy: Any) -> str:
        """A verdict in words: what is limited, and that a small share can hide records that are found for certain."""
        if verdict.value is None:
            return verdict.why
        why, certain = verdict.why, self.found_for_certain
        if policy.limit_of(verdict.name).options.get("of") == "record":
            why = why.replace(LINKED.words, "the greatest probability that a record is linked rightly")
        are = "is" if certain == 1 else "are"
        return f"{why}; {check.counted(certain, 'record')} {are} linked rightly for certain" if certain else why

    def repair(self, policy: Any) -> Repair | None:
        """Groups of released records that are alike: of each at most one is linked rightly."""
        name = self.measure.name if self.measure is not None else ""
        limit, options = (limited := policy.limit_of(name)).limit, limited.options
        if options.get("of") == "record" or self.partners is None or bool((self.partners > 1).any()):
            return super().repair(policy)
        k = alike_needed(limit * (len(self.record) - self.new), len(self.record), self.missing)
        if k is None or not self.numbers:
            return super().repair(policy)
        records = round(self.expected_correct)
        others = [each for each in self.variables if each not in self.numbers]
        asked: dict[str, Any] = {"variables": list(self.numbers), "k": k} | ({"strata": others} if others else {})
        text = (
            f"{check.counted(records, 'record')} linked rightly: of released records that are alike at most one is, so "
            f"{step_call('microaggregate', asked)} leaves at most {percent(limit)}"
        )
        if others:
            text += f", where every combination of {check.quoted(others)} has {k} records; else Recode them first"
            return Repair(name, text, records=records)
        return Repair(name, f"{text}; Noise or RankSwap lower it too", "microaggregate", asked, records)

    @property
    def guessed(self) -> float:
        """Right links of an intruder who draws a record of his file for each released one: what to compare with."""
        return float("nan") if self.partners is None else float(self.partners.sum() / len(self.original_record))

    @property
    def headline(self) -> str:
        """How many records are linked, rightly if that is known."""
        n = len(self.record) - self.new
        if self.correct is None:
            return f"{self._linked()}; whether rightly is not known"
        return (
            f"{number(self.expected_correct)} of {n:,} released records ({percent(self.share_correct)}) are "
            f"expected to be linked rightly; {number(self.guessed)} by guessing"
        )

    def _linked(self) -> str:
        return f"{self.links:,} of {len(self.record):,} released records are linked to one record ({self.how})"

    @property
    def cautions(self) -> tuple[str, ...]:
        """That some released records are not in the original file."""
        return new_records_caution(self.new)

    def sentences(self) -> list[str]:
        """Links of every kind, and what could not be linked."""
        lines = []
        if self.correct is not None:
            lines.append(f"{self._linked()}: {number(self.correct_links)} rightly, {number(self.false_links)} wrongly")
        possible = int(self.possible.sum())
        if possible:
            known = "" if self.correct is None else f", {number(self.correct_possible)} of them rightly by chance"
            lines.append(f"{check.counted(possible, 'record')} could equally be several{known}")
        lines += self._further_sentences()
        if self.unlinked:
            lines.append(f"{check.counted(self.unlinked, 'record')} with nothing to link to")
        if self.missing:
            lines.append(
                f"{check.counted(self.missing, 'released record')} with missing values {self._missing_treatment()}"
            )
        return lines

    def _further_sentences(self) -> list[str]:
        return []

    def _missing_treatment(self) -> str:
        return "compared on what they show"

    def status(self) -> list[str]:
        """By released record: correct, false, link (truth not known), possible or none."""
        words = np.full(len(self.record), "none", dtype="<U8")
        words[self.possible] = "possible"
        words[self.clear] = "link" if self.correct is None else "false"
        if self.correct is not None:
            words[self.clear & (self.correct > 0.5)] = "correct"
        return list(words.tolist())

    def to_frame(self) -> frame.Frame:
        """One row per released record."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """The link of each record, its status, and how likely it is right."""
        numbers = self.original_record[self.link].tolist()
        return {
            "link": [at if linked else None for at, linked in zip(numbers, (self.link >= 0).tolist(), strict=True)],
            "status": self.status(),
            "candidates": self.candidates,
            **({} if self.correct is None else {"correct": self.correct}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Links of every kind; null where the truth is not known."""
        known = self.correct is not None
        return {
            "released": len(self.record),
            "links": self.links,
            "correct_links": self.correct_links if known else None,
            "false_links": self.false_links if known else None,
            "possible": int(self.possible.sum()),
            "expected_correct": self.expected_correct if known else None,
            "guessed": self.guessed if known else None,
            "unlinked": self.unlinked,
            "missing": self.missing,
        }
