"""Where a file stands: the few figures that stay in sight, and how they changed since an earlier state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from tacita.measures import find
from tacita.release.release import Release
from tacita.result import number, percent, summary


class Measured(NamedTuple):
    """A figure of the header."""

    name: str
    value: float | None
    """None: not measured yet, or it does not apply."""
    share: bool
    """Whether it is shown in percent."""
    means: str
    """What it says, in one sentence."""

    @property
    def text(self) -> str:
        """The figure as people read it."""
        if self.value is None:
            return "–"
        return percent(self.value) if self.share else number(round(self.value, 1))

    def change(self, before: Measured | None) -> str:
        """Its change since an earlier state, with sign; empty where one is not known."""
        if before is None or self.value is None or before.value is None:
            return ""
        by = self.value - before.value
        if abs(by) < 1e-9:
            return "±0"
        shown = percent(abs(by)) if self.share else number(round(abs(by), 1))
        return f"{'+' if by > 0 else '−'}{shown}"


@dataclass(frozen=True)
class Standing:
    """The verdict and four figures of a file on its way to a release."""

    verdict: str
    """SAFE, NOT SAFE, NOT ASSESSED or NO VERDICT."""
    why: str
    figures: tuple[Measured, ...]


def standing(release: Release, *, compared: bool) -> Standing:
    """Where a release stands; external risk and loss once it was compared with its original."""
    profile = release.assess()
    verdict, _, why = summary(profile.verdicts()).partition(":")
    risk, loss = (_limited(release, name) if compared else None for name in ("external_risk", "value_loss"))
    # Counts of perturbed keys are no risks: none is shown.
    valid = bool(profile.sets) and not profile.main.table.not_valid
    violating = None if not valid or profile.main.k is None else float(profile.main.unsafe_by_k)
    expected = profile.expected if valid else None
    k = "k" if not profile.sets or profile.main.k is None else f"k = {profile.main.k}"
    figures = (
        Measured(f"records violating {k}", violating, False, "Records whose key fewer than k records share."),
        Measured(
            "expected re-identifications",
            expected,
            False,
            "How many records an intruder with a register of the population is expected to recognise rightly.",
        ),
        Measured(
            "external risk",
            risk,
            True,
            "Share of the records of the original that an intruder who knows all of it finds rightly in the release.",
        ),
        Measured("loss", loss, True, "Share of what the values said that is gone: 0 % nothing, 100 % everything."),
    )
    return Standing(verdict.removesuffix(" under this policy"), why.strip(), figures)


def _limited(release: Release, name: str) -> float | None:
    """The figure of a measure that a policy can limit, of a release that was compared with its original."""
    found = release.compare().releases[0].result(name)
    if found is None or found.not_valid:
        return None
    value = find(name).limited_value(found, {})
    return None if math.isnan(value) else value
