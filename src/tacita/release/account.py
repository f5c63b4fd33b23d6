"""The whole account of a release for its report: everything that was measured, done and declared, as results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacita.check import TacitaError
from tacita.comparison.comparison import ComparedRelease, Comparison
from tacita.data.description import Description, described
from tacita.measures import find
from tacita.policy import Policy
from tacita.progress import Progress, no_progress
from tacita.release.checklist import Checklist
from tacita.release.public_account import PublicAccount, public_account
from tacita.release.step_log import Changes
from tacita.result import Result
from tacita.scenario import Scenario

if TYPE_CHECKING:
    from tacita.release.release import Release

MOST_KEYS = 8
"""With more keys special uniques are not looked for unasked: their sets double with each key."""


@dataclass(frozen=True, eq=False)
class Account:
    """What a report of a release is written from: results, names and counts, no data."""

    comparison: Comparison
    """The release held against its original; one release."""
    checklist: Checklist
    changes: tuple[Changes, ...]
    steps: tuple[str, ...]
    """The plan, one line for each step."""
    scenario: Scenario
    """The scenario that the plan was applied with."""
    policy: Policy
    file: Description
    """What the released file holds."""
    public: PublicAccount
    """What of it may be told to the public."""
    cautions: tuple[str, ...]
    special_uniques: Result | None
    """SUDA of the original: which keys make records stand out; None where it was not measured."""

    @property
    def compared(self) -> ComparedRelease:
        """The release."""
        return self.comparison.releases[0]


def account(release: Release, *, internal: bool = True, progress: Progress = no_progress) -> Account:
    """The account of a release; what only the internal edition shows is left out unless it is asked for."""
    comparison = release.compare(progress=progress)
    file = described(release.data, release.scenario.weight)
    compared = comparison.releases[0]
    told = public_account(
        release.changes, file, compared, records=len(release.original), matrices=bool(release.public_matrices())
    )
    return Account(
        comparison=comparison,
        checklist=release.checklist(),
        changes=release.changes,
        steps=tuple(str(step) for step in release.plan.steps),
        scenario=release.original_scenario,
        policy=release.policy,
        file=file,
        public=told,
        cautions=release.cautions,
        special_uniques=_special_uniques(release) if internal else None,
    )


def _special_uniques(release: Release) -> Any:
    scenario = release.original_scenario
    if not scenario.keys or len(scenario.keys) > MOST_KEYS:
        return None
    try:
        return find("suda").function(release.original, scenario)
    except TacitaError:
        # The keys of this file do not allow it, as where units have several records.
        return None
