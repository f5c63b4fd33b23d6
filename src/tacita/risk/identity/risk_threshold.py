"""Threshold setting: a risk threshold, a tolerated rate or a number of unsafe records; give one, get the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.measures import measure
from tacita.parameters import AtLeast, Doc, Share
from tacita.result import Result, number_of, percent
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk
from tacita.risk.identity.options import Keys, Method, Quantile, Register
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class RiskThreshold(Result):
    """A threshold on the individual risk, and what it means for the file."""

    size: int
    """Number of records."""
    risk: float
    """The threshold: records with a higher base individual risk are unsafe."""
    unsafe: int
    """How many records are above it."""
    expected: float
    """Expected re-identifications once no record is above it, at most."""

    @classmethod
    def for_rate(cls, risk: IndividualRisk, rate: float) -> RiskThreshold:
        """The greatest observed risk that keeps the expected re-identifications within a tolerated rate."""
        curve = Curve.of(risk)
        return curve.for_expected(rate * curve.size)

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


@dataclass(frozen=True, eq=False)
class Curve:
    """Every observed risk with what a threshold there would mean: B(r) = sum of P(L) min(risk, r)."""

    risk: Floats
    """The different observed risks, in ascending order."""
    bound: Floats
    """B at each of them."""
    unsafe: Ints
    """Records above each of them."""
    attack: float
    """The sum of P(L) over all records."""
    size: int
    """Number of records."""

    @classmethod
    def of(cls, risk: IndividualRisk) -> Curve:
        """The curve of individual risks."""
        observed, place = np.unique(risk.base, return_inverse=True)
        records = np.bincount(place, weights=risk.table.units_by_key(risk.base))
        attack = np.bincount(place, weights=risk.attack_total)
        attack_above = attack.sum() - np.cumsum(attack)
        bound = np.cumsum(attack * observed) + observed * np.maximum(attack_above, 0.0)
        # The last one is ER itself, and so small rounding must not make it look higher than the ones before.
        bound = np.maximum.accumulate(bound)
        unsafe = (records.sum() - np.cumsum(records)).astype(np.int64)
        return cls(observed, bound, unsafe, float(attack.sum()), risk.table.units)

    def at(self, threshold: float) -> RiskThreshold:
        """What a risk threshold means."""
        place = int(np.searchsorted(self.risk, threshold, side="right"))
        if place == 0:
            unsafe, expected = self.size, threshold * self.attack
        else:
            safe = place - 1
            above = self._attack_above(safe)
            expected = float(self.bound[safe] + (threshold - self.risk[safe]) * above)
            unsafe = int(self.unsafe[safe])
        return RiskThreshold(self.size, float(threshold), unsafe, expected)

    def _attack_above(self, place: int) -> float:
        if place + 1 >= len(self.risk):
            return 0.0
        return float((self.bound[place + 1] - self.bound[place]) / (self.risk[place + 1] - self.risk[place]))

    def for_expected(self, tolerated: float) -> RiskThreshold:
        """The greatest observed risk that keeps the expected re-identifications within what is tolerated."""
        # A file whose own rate is tolerated is safe, whatever the rounding of its sums.
        within = np.flatnonzero(self.bound <= tolerated * (1 + 1e-12))
        if len(within) == 0:
            # No observed value is low enough: everybody must come down to the same risk.
            return self.at(tolerated / self.attack)
        return self.at(float(self.risk[within[-1]]))

    def for_unsafe(self, unsafe: int) -> RiskThreshold:
        """The lowest observed risk with at most so many records above it."""
        return self.at(float(self.risk[np.flatnonzero(self.unsafe <= unsafe)[0]]))


@measure(needs="keys")
def risk_threshold(
    data: Any,
    scenario: Scenario,
    *,
    threshold: Annotated[float | None, Share(), Doc("The threshold on the individual risk.")] = None,
    rate: Annotated[float | None, Share(zero=False), Doc("Or the re-identification rate that is tolerated.")] = None,
    unsafe: Annotated[int | None, AtLeast(0), Doc("Or how many records may be above it.")] = None,
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
    chosen = {"threshold": threshold, "rate": rate, "unsafe": unsafe}
    given = [name for name, value in chosen.items() if value is not None]
    if len(given) != 1:
        raise TacitaError(f"give one of threshold, rate and unsafe; got {' and '.join(given) or 'none'}.")
    risk = individual_risk(data, scenario, method=method, quantile=quantile, keys=keys, register=register)
    curve = Curve.of(risk)
    if threshold is not None:
        return curve.at(threshold)
    return curve.for_expected(rate * curve.size) if rate is not None else curve.for_unsafe(unsafe or 0)
