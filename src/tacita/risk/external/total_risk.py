"""Total risk: what an intruder gains within the file, and with a file of his own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.scenario_keys import Unit
from tacita.measures import MissingKeys, at_most, measure
from tacita.parameters import Doc, OneOf, Shape, Share
from tacita.progress import Progress, no_progress, part
from tacita.result import Percent, Result, Table, percent
from tacita.risk.identity.options import Register
from tacita.risk.identity.original import as_drawn
from tacita.risk.identity.reidentification import Reidentification, reidentification
from tacita.scenario import Scenario

SUPPRESSED = ("level", "any")


def weights_of(what: str, value: Any) -> tuple[float, float]:
    """Two weights, not negative and not both 0."""
    given = tuple(value) if isinstance(value, list | tuple) else ()
    if len(given) != 2:
        raise TacitaError(f"{what} must be two numbers, as (0.5, 0.5); got {check.given(value)}.")
    first, second = (check.number(what, each) for each in given)
    if min(first, second) < 0 or first + second <= 0:
        raise TacitaError(f"{what} must not be negative, nor both 0; got {check.given(value)}.")
    return first, second


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalRisk(Result):
    """Internal and external risk, and their weighted mean."""

    internal: float
    """The re-identification rate of the released file, xi."""
    external: float
    """The share of the intruder's records that pair with a released one."""
    weights: tuple[float, float]
    """What internal and external risk count for."""
    within: Reidentification
    """The internal risk."""
    outside: Any
    """The external risk."""

    @property
    def total(self) -> float:
        """The weighted mean of internal and external risk."""
        first, second = self.weights
        return (first * self.internal + second * self.external) / (first + second)

    @property
    def not_valid(self) -> str:
        """Why the internal risk does not hold for this file; empty if it does."""
        return self.within.not_valid

    @property
    def headline(self) -> str:
        """The total risk and its parts."""
        if self.not_valid:
            return f"no total risk: internal risk is not valid here; external risk {percent(self.external)}"
        return (
            f"total risk {percent(self.total)}: internal risk {percent(self.internal)} (re-identification rate), "
            f"external risk {percent(self.external)} (records of an intruder that pair with a released one)"
        )

    def key_figures(self) -> dict[str, Any]:
        """The total risk; None where the internal part does not hold."""
        return {"total risk": None if self.not_valid else Percent(self.total)}

    @property
    def cautions(self) -> tuple[str, ...]:
        """Those of the external risk."""
        return tuple(self.outside.cautions)

    def tables(self) -> tuple[Table, ...]:
        """The parts with their weights."""
        shown = not self.not_valid
        rows = (
            ("internal", Percent(self.internal) if shown else None, self.weights[0]),
            ("external", Percent(self.external), self.weights[1]),
            ("total", Percent(self.total) if shown else None, None),
        )
        return (Table(("risk", "share", "weight"), rows),)

    def to_frame(self) -> frame.Frame:
        """One row: internal, external and total risk."""
        return frame.table({"internal": [self.internal], "external": [self.external], "total": [self.total]})

    def to_dict(self) -> dict[str, Any]:
        """Internal, external and total risk; null where they do not hold."""
        shown = not self.not_valid
        return {
            "internal": self.internal if shown else None,
            "external": self.external,
            "total": self.total if shown else None,
            "weights": list(self.weights),
        }


@measure(
    files=2,
    called_for="comparison",
    needs="keys",
    by_key=True,
    limit=at_most(
        "total",
        "the total risk",
        void=1.0,
        moved_by="what lowers its parts: Recode and Suppress for individual risk, perturbation for external risk",
    ),
    missing=MissingKeys(
        "scenario", "Internal risk follows the scenario's rule; for external risk a missing category is a level."
    ),
)
def total_risk(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    weights: Annotated[Any, Shape("two numbers", weights_of), Doc("What internal and external risk count for.")] = (
        0.5,
        0.5,
    ),
    variables: Annotated[
        tuple[str, ...] | None, Doc("What the intruder of the external risk knows; the keys and known variables.")
    ] = None,
    intruder: Annotated[Any, Doc("The intruder's file; the original, the worst case.")] = None,
    tolerance: Annotated[
        float, Share(one=False), Doc("How far a number may lie from the released one, as a share of it.")
    ] = 0.05,
    suppressed: Annotated[
        str, OneOf(SUPPRESSED), Doc("For external risk a suppressed cell is a level of its own, or any value.")
    ] = "level",
    register: Register = None,
    unit: Unit = None,
    progress: Progress = no_progress,
) -> TotalRisk:
    """The mean of internal and external risk of a release.

    Internal risk is the re-identification rate xi of the released file: the share of its records that an intruder is
    expected to recognise who looks for people in it. External risk is the share of the records of an intruder's own
    file that pair with a released record. Total risk is (internal + external)/2, or their mean under other `weights`.

    Where keys were perturbed, counts of equal keys say nothing, and neither does the internal risk: there is no total
    risk then, and external risk or linkage decide.

    Reference: Młodak, Pietrzak and Józefowski (2021), The trade-off between the risk of disclosure and data utility in
    SDC.

    >>> import polars as pl
    >>> people = pl.DataFrame({"job": ["smith", "smith", "miller"], "w": [10.0, 10.0, 10.0]})
    >>> masked = people.with_columns(job=pl.Series(["smith", "smith", None]))
    >>> found = total_risk(people, masked, Scenario(keys=["job"], weight="w"))
    >>> round(found.external, 3), found.total == (found.internal + found.external) / 2
    (0.667, True)
    """
    from tacita.risk.external.external_risk import external_risk

    progress(0.0, "internal risk")
    # The population does not grow with weights that a step changed.
    before = Data.of(original)
    drawn = as_drawn(Data.of(released), before, scenario, unit).released_from(before)
    within = reidentification(drawn, scenario, register=register)
    outside = external_risk(
        original,
        released,
        scenario,
        variables=variables,
        intruder=intruder,
        tolerance=tolerance,
        suppressed=suppressed,
        unit=unit,
        progress=part(progress, 0.3, 1.0),
    )
    return TotalRisk(
        internal=within.rate,
        external=outside.limited("paired"),
        weights=weights,
        within=within,
        outside=outside,
    )
