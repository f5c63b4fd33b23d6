"""A release that was saved, made again from its plan and seed: only so is it known which record is whose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacita import frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.atomic import INTERNAL, NOT_FOR_PUBLICATION
from tacita.data.files import read
from tacita.policy import Policy
from tacita.progress import Progress, no_progress
from tacita.release.plan import Plan
from tacita.release.release import Release
from tacita.release.seed_of import seed_of
from tacita.release.written import PUBLIC
from tacita.rules import Rules
from tacita.scenario import Scenario


def is_saved_release(path: Path) -> bool:
    """Whether a path is the folder of a release that was saved."""
    return (path / INTERNAL / "plan.toml").is_file()


def saved_release(folder: Path, original: Any, progress: Progress = no_progress) -> Release:
    """The release in a folder, made again from the original by its plan and its seed.

    What was published holds no record numbers. The plan with its seed gives the same data again, record by record; an
    error where it does not, since the original is another one or a step has another version.
    """
    internal = folder / INTERNAL
    rules = Rules.load(internal / "rules.toml") if (internal / "rules.toml").is_file() else Rules()
    release = Plan.load(internal / "plan.toml").apply(
        original,
        Scenario.load(internal / "scenario.toml"),
        Policy.load(internal / "policy.toml"),
        rules=rules,
        seed=seed_of(internal / "seed.txt"),
        progress=progress,
    )
    published = _published(folder)
    if not _same(published, release.data):
        raise TacitaError(
            f"the plan in {folder.name} does not make its data from this original (another original, or a step of "
            f"another version); name the file in {folder.name}/{PUBLIC} itself, with --unit if its records are in "
            f"another order."
        )
    return release


def _published(folder: Path) -> Data:
    for kind in (PUBLIC, NOT_FOR_PUBLICATION):
        files = sorted((folder / kind).glob("data.*"), key=lambda path: path.suffix != ".parquet")
        if files:
            return Data.of(read(files[0]))
    raise TacitaError(f"there are no data in {folder.name}/{PUBLIC}; name the released file itself.")


def _same(published: Data, made: Data) -> bool:
    """Whether two tables show the same values, whatever the format could hold of their types."""
    if published.columns != made.columns or len(published) != len(made):
        return False
    return all(_alike(published, made, name) for name in made.columns)


def _alike(published: Data, made: Data, name: str) -> bool:
    if not frame.different(published.table[name], made.table[name]).any():
        return True
    first, second = (frame.coded(each.table, name) for each in (published, made))
    texts = [[None, *(str(value) for value in each.values)] for each in (first, second)]
    return all(
        texts[0][a] == texts[1][b] for a, b in set(zip(first.codes.tolist(), second.codes.tolist(), strict=True))
    )
