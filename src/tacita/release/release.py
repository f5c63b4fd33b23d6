"""A release: the protected data and the whole account of how they came about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tacita import check, frame
from tacita.assessment.assess import assess
from tacita.assessment.profile import RiskProfile
from tacita.check import TacitaError
from tacita.comparison.compare import compare
from tacita.comparison.comparison import Comparison
from tacita.data import Data
from tacita.data.atomic import check_free
from tacita.data.codebook import codebook
from tacita.data.identifying import undeclared_identifiers
from tacita.html_view import html_table, html_view
from tacita.policy import Policy
from tacita.progress import Progress, no_progress
from tacita.release.account import Account, account
from tacita.release.checklist import Checklist, checklist
from tacita.release.judged import Judged, account_of, identifier_cautions, seed_cautions
from tacita.release.step_log import Changes
from tacita.release.written import public_matrices, write_release
from tacita.result import Result
from tacita.rules import Broken, Rules
from tacita.scenario import Scenario

FORMATS = ("parquet", "csv", "tsv", "arrow", "xlsx", "sav", "dta", "xpt")
"""What a release can be written as."""


def checked_formats(formats: Any) -> tuple[str, ...]:
    """One or more formats that a release can be written as."""
    kinds = check.names("formats", formats)
    for kind in kinds:
        check.one_of("formats", kind, FORMATS)
    if not kinds:
        raise TacitaError("formats must name at least one, as formats=['parquet'].")
    return kinds


def checked_folder(folder: Any, *, overwrite: bool, inputs: Iterable[str | os.PathLike[str] | None] = ()) -> Path:
    """A folder that a release can go to; an error before the work that it is to hold.

    A folder that holds one of `inputs`, the files that the work reads, is not replaced.
    """
    if not isinstance(folder, str | os.PathLike) or "\0" in str(folder):
        raise TacitaError(f"folder must be the path of a folder; got {check.given(folder)}.")
    check_free(folder, overwrite=overwrite, inputs=inputs)
    return Path(folder)


@dataclass(frozen=True, eq=False)
class Release(Judged):
    """What a plan made of a file: the data to publish, and what may never leave the office.

    Every measure takes a release in place of data. Columns are rebuilt from the values that are released, so that no
    dictionary, category or label tells what was there before. The record numbers lead back to the original: they are
    in no released file.
    """

    data: Data
    """The protected data."""
    plan: Any = field(repr=False)
    """The plan that made them."""
    scenario: Scenario = field(repr=False)
    """The scenario for the protected data: without variables that are no longer there."""
    original_scenario: Scenario = field(repr=False)
    """The scenario that the plan was applied with."""
    policy: Policy
    """What counts as safe."""
    changes: tuple[Changes, ...] = field(repr=False)
    """What each step changed."""
    broken: tuple[Broken, ...] = field(repr=False)
    """The rules that the release breaks, and how often."""
    seed: int = field(repr=False)
    """The seed of all draws: whoever knows it can undo the protection."""
    seed_given: bool = field(repr=False)
    """Whether the seed was given by hand."""
    original: Data = field(repr=False)
    """The data before the first step; in no file that is written."""
    rules: Rules = field(default_factory=Rules, repr=False)
    """The rules that were checked."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the custodian should know before publishing."""
        there = [
            name for name in self.scenario.identifiers if name in {*self.data.columns} - self.renumbered_identifiers
        ]
        found = [
            *seed_cautions(self.seed, self.seed_given),
            *map(str, self.broken),
            *identifier_cautions(there),
            *self._undeclared,
        ]
        keys = [name for name in self.scenario.all_keys if name in self.data.perturbed]
        if keys:
            found.append(
                f"the keys {check.quoted(keys)} were perturbed, so counts of equal keys do not measure risk; use "
                f"record linkage against the original."
            )
        return tuple(found)

    @cached_property
    def _undeclared(self) -> tuple[str, ...]:
        """A caution about columns that look like direct identifiers; looked for once, since cautions are read often."""
        return tuple(undeclared_identifiers(self.data, self.scenario, self.renumbered_identifiers))

    @property
    def renumbered_identifiers(self) -> set[str]:
        """Identifiers that a step replaced by new numbers."""
        pairs = zip(self.plan.steps, self.changes, strict=True)
        return {name for step, change in pairs if step.kind() == "new_identifiers" for name in change.cells}

    def __str__(self) -> str:
        lines = [
            f"{check.counted(len(self.data), 'record')}, {check.counted(len(self.data.columns), 'variable')} after "
            f"{check.counted(len(self.changes), 'step')}",
            *(f"  {place}. {each}" for place, each in enumerate(self.changes, start=1)),
            *(f"caution: {text}" for text in self.cautions),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heading, *_ = str(self).splitlines()
        rows = [(str(place), *str(each).partition(": ")[::2]) for place, each in enumerate(self.changes, start=1)]
        table = html_table(("", "step", "what it changed"), rows, left=True)
        # Assessed at most once, and not for a look: only what is known is shown.
        verdict = [f"The release is {self.verdict}."] if "_profile" in self.__dict__ else []
        return html_view(f"Release: {heading}", verdict, table, self.cautions)

    def log(self) -> frame.Frame:
        """One row per step and variable: cells changed and cells suppressed."""
        rows = [
            (each.label, name, count, each.suppressed.get(name, 0))
            for each in self.changes
            for name, count in each.cells.items()
        ]
        names = ("step", "variable", "cells", "suppressed")
        kinds: tuple[Any, ...] = (str, str, int, int)
        return frame.rows(dict(zip(names, kinds, strict=True)), rows)

    def to_native(self) -> Any:
        """The protected data as the caller's kind of table."""
        return self.data.to_native()

    def assess(
        self,
        *,
        measures: str | Mapping[str, Mapping[str, Any]] | tuple[str, ...] | list[str] = (),
        progress: Progress = no_progress,
    ) -> RiskProfile:
        """The risk of the release under its scenario and policy, held against the original where a measure does so.

        Worked out once and kept, unless further `measures` are asked for.

        >>> import tacita as tc
        >>> survey = tc.household_survey(200, population=4000)
        >>> release = tc.Plan([tc.Recode("age", width=20), tc.Suppress()]).apply(survey.data, survey.scenario)
        >>> release.assess().safe, release.assess() is release.assess()
        (False, True)
        """
        if measures:
            return assess(
                self, self.scenario, self.policy, original=self.original, measures=measures, progress=progress
            )
        if "_profile" not in self.__dict__:
            relations = {"reconstruction": {"rules": self.rules}} if self.rules else ()
            found = assess(
                self, self.scenario, self.policy, original=self.original, measures=relations, progress=progress
            )
            object.__setattr__(self, "_profile", found)
        profile: RiskProfile = self.__dict__["_profile"]
        return profile

    def compare(self, *, measures: Any = (), progress: Progress = no_progress) -> Comparison:
        """The release held against its original: what an intruder gains, what a researcher loses, on one page.

        Worked out once and kept, unless further `measures` are asked for.
        """
        if measures or "_compared" not in self.__dict__:
            found = compare(
                self.original, self, self.original_scenario, self.policy, measures=measures, progress=progress
            )
            if measures:
                return found
            object.__setattr__(self, "_compared", found)
        kept: Comparison = self.__dict__["_compared"]
        return kept

    def account(self, *, internal: bool = True, progress: Progress = no_progress) -> Account:
        """What a report is written from: everything that was measured, done and declared, as results."""
        return account(self, internal=internal, progress=progress)

    def public_matrices(self) -> list[dict[str, Any]]:
        """The transition matrices of PRAM that are to be published, and that fit the data as they are released."""
        return public_matrices(self)

    def checklist(self) -> Checklist:
        """What to look at before publication: each item done, not done or not applicable, with the way out."""
        return checklist(self)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        formats: Any = ("parquet",),
        overwrite: bool = False,
        accept_unsafe: str | None = None,
        report: bool = True,
        results: Iterable[Result] = (),
    ) -> Path:
        """Write `public/`, for publication, and `internal/`, which never leaves the office; all or nothing.

        public: the data in each of the formats, a codebook of what is released, also as DDI-Codebook XML, a report for
        users of the data, the methods as JSON, and transition matrices of PRAM that are to be published. internal: a
        report for those who decide, plan, scenario, policy, rules, seed, log, checklist, and models that values were
        drawn from; only its owner can read it. A release that does not keep its policy, or whose policy sets no limit,
        is refused unless `accept_unsafe` gives the reason for writing it all the same: it then goes to
        `not_for_publication/` in place of `public/`, and the reason into the log.

        Further `results`, such as a comparison with other plans, stand in the report of the office; `report=False`
        writes neither report, which then measures nothing. `overwrite` replaces a folder in which there is nothing but
        what an earlier `save` wrote.
        """
        kinds = checked_formats(formats)
        target = checked_folder(folder, overwrite=overwrite)
        accepted = self.accepted(accept_unsafe)
        write_release(
            self, target, kinds, overwrite=overwrite, accepted=accepted, report=report, results=tuple(results)
        )
        return target

    def codebook(self) -> frame.Frame:
        """One row per variable and labelled code of the released data."""
        return codebook(self.data)

    def to_dict(self) -> dict[str, Any]:
        """The account as plain numbers and texts: no values of the data, no seed."""
        return account_of(len(self.data), self.data.columns, self.changes, self.broken, self.cautions)
