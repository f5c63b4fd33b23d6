"""A release: the protected data and the whole account of how they came about."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.atomic import check_free, new_folder
from tacita.data.codebook import codebook
from tacita.data.files import write
from tacita.policy import Policy
from tacita.random import fit_for_release
from tacita.release.step_log import Changes
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


def checked_folder(folder: Any, *, overwrite: bool) -> Path:
    """A folder that a release can go to; an error before the work that it is to hold."""
    if not isinstance(folder, str | os.PathLike) or "\0" in str(folder):
        raise TacitaError(f"folder must be the path of a folder; got {folder!r}.")
    check_free(folder, overwrite=overwrite)
    return Path(folder)


@dataclass(frozen=True, eq=False)
class Release:
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
    rules: Rules = field(default_factory=Rules, repr=False)
    """The rules that were checked."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the custodian should know before publishing."""
        found = []
        if self.seed_given and not fit_for_release(self.seed):
            found.append(
                "the seed is short enough to be guessed, which undoes random steps; publish with a secret one."
            )
        found += [str(each) for each in self.broken]
        numbered = self._numbered_anew
        told = [name for name in self.scenario.identifiers if name in self.data.columns and name not in numbered]
        if told:
            found.append(f"the direct identifiers {check.quoted(told)} are still there; take them out with Remove().")
        keys = [name for name in self.scenario.all_keys if name in self.data.perturbed]
        if keys:
            found.append(
                f"the keys {check.quoted(keys)} were perturbed, so counts of equal keys do not measure risk; use "
                f"record linkage against the original."
            )
        return tuple(found)

    @property
    def _numbered_anew(self) -> set[str]:
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

    def save(self, folder: str | os.PathLike[str], *, formats: Any = ("parquet",), overwrite: bool = False) -> Path:
        """Write `public/`, for publication, and `internal/`, which never leaves the office; all or nothing.

        public: the data in each of the formats, and a codebook of what is released. internal: plan, scenario, policy,
        rules, seed and log.
        """
        kinds = checked_formats(formats)
        target = checked_folder(folder, overwrite=overwrite)
        with new_folder(target, overwrite=overwrite) as beside:
            public, internal = beside / "public", beside / "internal"
            public.mkdir()
            internal.mkdir()
            for kind in kinds:
                write(self.data, public / f"data.{kind}")
            write(self.codebook(), public / "codebook.csv")
            self.plan.save(internal / "plan.toml")
            self.original_scenario.save(internal / "scenario.toml")
            self.policy.save(internal / "policy.toml")
            if self.rules:
                self.rules.save(internal / "rules.toml")
            (internal / "seed.txt").write_text(f"{self.seed:x}\n", encoding="utf-8")
            (internal / "log.txt").write_text(f"{self}\n", encoding="utf-8")
            (internal / "log.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
        return target

    def codebook(self) -> frame.Frame:
        """One row per variable and labelled code of the released data."""
        return codebook(self.data)

    def to_dict(self) -> dict[str, Any]:
        """The account as plain numbers and texts: no values of the data, no seed."""
        return {
            "records": len(self.data),
            "variables": list(self.data.columns),
            "steps": [each.to_dict() for each in self.changes],
            "broken_rules": [each.to_dict() for each in self.broken],
            "cautions": list(self.cautions),
        }
