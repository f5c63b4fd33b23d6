"""Threshold setting: a risk threshold, a tolerated rate or a number of unsafe records; give one, get the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from tacita import frame
from tacita.check import TacitaError
from tacita.measures import measure
from tacita.parameters import AtLeast, Doc, Share
from tacita.result import Result, number_of, percent
from tacita.risk.identity.individual_risk import individual_risk
from tacita.risk.identity.options import Keys, Method, Model, Quantile, Register
from tacita.risk.identity.reidentification import Threshold, ThresholdCurve
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class RiskThreshold(Result):
    """A threshold on the individual risk, and what it means for the file."""

    chosen: Threshold
    """The threshold, how many records are above it, and what is expected once they are not."""
    curve: ThresholdCurve
    """What every threshold would mean."""

    @property
    def risk(self) -> float:
        """The threshold: records with a higher base individual risk are unsafe."""
        return self.chosen.risk

    @property
    def unsafe(self) -> int:
        """How many records are above it."""
        return self.chosen.unsafe

    @property
    def expected(self) -> float:
        """Expected re-identifications once no record is above it, at most."""
        return self.chosen.expected

    @property
    def size(self) -> int:
        """Number of records."""
        return self.curve.size

    @property
    def rate(self) -> float:
        """Re-identification rate once no record is above the threshold, at most."""
        return self.expected / self.size

    @property
    def headline(self) -> str:
        """The threshold and what it means."""
        return (
            f"threshold {self.risk:.3g}: {self.unsafe:,} of {self.size:,} records above it; once protected, "
            f"at most {number_of(self.expected, 'expected re-identification')} ({percent(self.rate)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Threshold, unsafe records, expected re-identifications and rate after protection."""
        return {"risk": self.risk, "unsafe": self.unsafe, "expected": self.expected, "rate": self.rate}

    def to_frame(self) -> frame.Frame:
        """One row: threshold, unsafe records, expected re-identifications and rate after protection."""
        return frame.table(
            {"risk": [self.risk], "unsafe": [self.unsafe], "expected": [self.expected], "rate": [self.rate]}
        )


@measure(by_key=True, needs="keys", figure="risk_threshold")
def risk_threshold(
    data: Any,
    scenario: Scenario,
    *,
    threshold: Annotated[float | None, Share(), Doc("The threshold on the individual risk.")] = None,
    rate: Annotated[float | None, Share(zero=False), Doc("Or the re-identification rate that is tolerated.")] = None,
    unsafe: Annotated[int | None, AtLeast(0), Doc("Or how many records may be above it.")] = None,
    model: Model = None,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
) -> RiskThreshold:
    """Set a threshold on the individual risk three ways: give one of the three, get the other two.

    Once every record above the threshold r^t is brought down to it, the expected re-identifications are at most
    B(r^t) = sum P(L_i) min(r_i, r^t). For a tolerated rate the threshold is the greatest observed risk with B within
    it.

    Reference: Polettini (2003), section 7.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> print(risk_threshold(people, Scenario(keys=["region"], weight="w"), rate=0.05))
    threshold 0.0443: 1 of 3 records above it; once protected, at most 0.133 expected re-identifications (4.43 %)
    """
    ways = {"threshold": threshold, "rate": rate, "unsafe": unsafe}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        raise TacitaError(f"give one of threshold, rate and unsafe; got {' and '.join(given) or 'none'}.")
    risk = individual_risk(data, scenario, model=model, method=method, quantile=quantile, keys=keys, register=register)
    curve = ThresholdCurve.of(risk)
    if threshold is not None:
        found = curve.at(threshold)
    else:
        found = curve.for_expected(rate * curve.size) if rate is not None else curve.for_unsafe(unsafe or 0)
    return RiskThreshold(found, curve)
