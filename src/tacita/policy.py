"""What counts as safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacita import check
from tacita.check import TacitaError
from tacita.declared import Declared

NO_LIMIT = "no limit at all"
LIMITS = ("k", "risk", "rate", "household_risk", "neighbours", "perturbation")


@dataclass(frozen=True, kw_only=True)
class Policy(Declared):
    """What counts as safe: the limits a file must keep before it may be released.

    A limit that is None (false in a file) is not applied. The defaults are always printed.

    >>> Policy(k=5)
    Policy(k=5, risk=0.1, rate=0.001, household_risk=None, neighbours=15, perturbation=0.15)
    """

    section: ClassVar[str] = "policy"

    k: int | None = 3
    """Every record must share its key with at least k - 1 others of the file."""
    risk: float | None = 0.1
    """No record may have a higher individual risk of re-identification."""
    rate: float | None = 0.001
    """The expected re-identifications must not be a higher share of the records."""
    household_risk: float | None = None
    """No household may have a higher risk that one of its members is re-identified."""
    neighbours: int | None = 15
    """The confidentiality plot's k: with so many originals that look like it a record is safe as it is."""
    perturbation: float | None = 0.15
    """The plot's r: so far moved, as a share of its size, a record is safe alone. None: neighbours alone decide."""

    def __post_init__(self) -> None:
        for name in LIMITS:
            value = check.python_number(getattr(self, name))
            object.__setattr__(self, name, None if value is False else value)
        if self.k is not None:
            object.__setattr__(self, "k", check.whole("policy k", self.k, 2))
        if self.neighbours is not None:
            object.__setattr__(self, "neighbours", check.whole("policy neighbours", self.neighbours, 1))
        for name in ("risk", "rate", "household_risk"):
            value = getattr(self, name)
            if value is not None:
                check.share(f"policy {name}", value, zero=False)
        if self.perturbation is not None and check.number("policy perturbation", self.perturbation) <= 0:
            raise TacitaError(f"policy perturbation must be above 0; got {self.perturbation!r}.")

    def to_dict(self) -> dict[str, object]:
        """All limits, since a policy is read by people; one that is not applied is false."""
        return {name: False if getattr(self, name) is None else getattr(self, name) for name in LIMITS}

    def __str__(self) -> str:
        parts = [
            None if self.k is None else f"k = {self.k}",
            None if self.risk is None else f"individual risk at most {self.risk:g}",
            None if self.rate is None else f"re-identification rate at most {100 * self.rate:g} %",
            None if self.household_risk is None else f"household risk at most {self.household_risk:g}",
        ]
        said = [part for part in parts if part]
        if not said:
            return NO_LIMIT
        # Measured by `confidentiality`, which prints them itself; here only if they were chosen.
        if (self.neighbours, self.perturbation) != (Policy.neighbours, Policy.perturbation):
            said.append(f"confidentiality plot: {self._plot_limits()}")
        return ", ".join(said)

    def _plot_limits(self) -> str:
        if self.neighbours is None:
            return "no limit"
        alone = "" if self.perturbation is None else f", r = {100 * self.perturbation:g} %"
        return f"k = {self.neighbours}{alone}"
