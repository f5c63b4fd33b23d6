"""What releases in memory and releases on an engine have in common: verdicts, cautions and their account."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tacita import check
from tacita.assessment.profile import RiskProfile
from tacita.check import TacitaError
from tacita.random import fit_for_release
from tacita.release.step_log import Changes
from tacita.result import summary
from tacita.rules import Broken


class Judged(ABC):
    """A release that is judged by its policy."""

    @abstractmethod
    def assess(self) -> RiskProfile:
        """The risk profile of the release."""

    @property
    def verdict(self) -> str:
        """The verdict on the release in one sentence: SAFE, NOT SAFE, NOT ASSESSED or NO VERDICT, with the reasons."""
        return summary(self.assess().verdicts())

    @property
    def safe(self) -> bool:
        """Whether the release keeps its policy: a policy without a limit is never kept."""
        return self.assess().safe

    def accepted(self, accept_unsafe: str | None) -> str | None:
        """Why a release is written that does not keep its policy; None if it does, an error without a reason."""
        reason = None if accept_unsafe is None else checked_reason(accept_unsafe)
        safe = self.safe
        if not safe and reason is None:
            raise TacitaError(
                f"the release is {self.verdict}; protect it further, or pass accept_unsafe='reason' to write it as not "
                "for publication."
            )
        return None if safe else reason


def checked_reason(reason: Any) -> str:
    """The reason for writing a release that is not safe, on one line."""
    if not isinstance(reason, str) or not reason.strip():
        raise TacitaError(
            f"accept_unsafe must be the reason in words, as 'for the safe centre only'; got {check.given(reason)}."
        )
    # It goes into files that are shown on terminals.
    return "".join(sign for sign in " ".join(reason.split()) if sign.isprintable())


def seed_cautions(seed: int, given: bool) -> Iterator[str]:
    """What to know of a seed that was given by hand."""
    if given and not fit_for_release(seed):
        yield "the seed is short enough to be guessed, which undoes random steps; publish with a secret one."


def identifier_cautions(there: Sequence[str]) -> Iterator[str]:
    """What to know of direct identifiers that are released."""
    if there:
        yield f"the direct identifiers {check.quoted(there)} are still there; take them out with Remove()."


def account_of(
    records: int, variables: Iterable[str], steps: Iterable[Changes], broken: Iterable[Broken], cautions: Iterable[str]
) -> dict[str, Any]:
    """The account as plain numbers and texts: no values of the data, no seed."""
    return {
        "records": records,
        "variables": list(variables),
        "steps": [each.to_dict() for each in steps],
        "broken_rules": [each.to_dict() for each in broken],
        "cautions": list(cautions),
    }
