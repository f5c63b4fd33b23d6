"""Releases by what they risk and what they cost a researcher: the rows of an R-U confidentiality map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.result import Percent, Result, Table, cell_text, percent

VERDICTS = {True: "safe", False: "not safe", None: "not assessed"}
"""A verdict in words."""


class RiskUtilityPoint(NamedTuple):
    """A release on the map."""

    name: str
    """What the release is called."""
    risk: float
    """Its risk; NaN: not measured."""
    loss: float
    """What it costs: 0 nothing. NaN: not measured."""
    verdict: bool | None = None
    """Whether it keeps the whole policy; None: not assessed."""
    risk_before: float = np.nan
    """The risk of the original, measured alike; NaN: not measured."""


def undominated(risk: Floats, loss: Floats) -> Bools:
    """Which points no other beats: none has less risk at no more loss, or less loss at no more risk.

    Equal points do not beat each other, and one without risk or loss (NaN) is never on the frontier.

    >>> undominated(np.array([0.5, 0.2, 0.3, 0.2]), np.array([0.0, 0.4, 0.4, 0.6])).tolist()
    [True, True, False, False]
    """
    known = np.flatnonzero(~np.isnan(risk) & ~np.isnan(loss))
    order = known[np.lexsort((risk[known], loss[known]))]
    first = np.searchsorted(loss[order], loss[order], side="left")
    # What is least among all that cost less; nothing costs less than the first.
    least_before = np.concatenate([[np.inf], np.minimum.accumulate(risk[order])])[first]
    found = np.zeros(len(risk), dtype=np.bool_)
    found[order] = (risk[order] == risk[order][first]) & (risk[order] < least_before)
    return found


@dataclass(frozen=True, eq=False)
class RiskUtility(Result):
    """Releases of one original by risk and loss, with those that no other beats (Duncan et al. 2001)."""

    points: tuple[RiskUtilityPoint, ...]
    """The releases."""
    risk_label: str
    """What the risk is, as an axis says it."""
    loss_label: str
    """What the loss is, and what 0 and 1 mean."""
    risk_limit: float | None = None
    """The tolerable risk; None: the policy sets none."""
    risk_is_share: bool = False
    """Whether the risk is a share, shown in percent."""
    loss_is_share: bool = False
    """Whether the loss is one."""

    figure: ClassVar[str] = "risk_utility_map"

    def __post_init__(self) -> None:
        points = tuple(RiskUtilityPoint(*each) for each in self.points)
        if not points:
            raise TacitaError("a map needs at least one release; pass points=[...].")
        check.unique_names("releases", [each.name for each in points])
        for each in points:
            for what in ("risk", "loss", "risk_before"):
                _check_axis(f"{what} of {each.name!r}", getattr(each, what))
        if self.risk_limit is not None:
            _check_axis("risk_limit", self.risk_limit)
        object.__setattr__(self, "points", points)

    def frontier(self) -> tuple[RiskUtilityPoint, ...]:
        """The releases that no other beats, by ascending loss."""
        inside = [each for each, kept in zip(self.points, self._undominated(), strict=True) if kept]
        return tuple(sorted(inside, key=_loss_then_name))

    def _undominated(self) -> Bools:
        return undominated(
            np.array([each.risk for each in self.points], dtype=np.float64),
            np.array([each.loss for each in self.points], dtype=np.float64),
        )

    @property
    def risks_before(self) -> tuple[float, ...]:
        """The risks of the original; one, unless releases were measured against different ones."""
        return tuple(sorted({each.risk_before for each in self.points if not np.isnan(each.risk_before)}))

    @property
    def not_measured(self) -> tuple[RiskUtilityPoint, ...]:
        """The releases without risk or loss, which have no place on the map."""
        return tuple(each for each in self.points if np.isnan(each.risk) or np.isnan(each.loss))

    @property
    def limit_text(self) -> str:
        """The tolerable risk for print; empty if there is none."""
        if self.risk_limit is None:
            return ""
        return percent(self.risk_limit) if self.risk_is_share else f"{self.risk_limit:g}"

    def _risk(self, value: float) -> float:
        return Percent(value) if self.risk_is_share and not np.isnan(value) else value

    def _loss(self, value: float) -> float:
        return Percent(value) if self.loss_is_share and not np.isnan(value) else value

    @property
    def headline(self) -> str:
        """How many releases keep the policy, and the one of them that costs least."""
        said = (
            f"{sum(each.verdict is True for each in self.points)} of {check.counted(len(self.points), 'release')} safe"
        )
        safe = [each for each in self.points if each.verdict is True and not np.isnan(each.loss)]
        if not safe:
            return said
        least = min(safe, key=_loss_then_name)
        return f"{said}; the least loss of a safe one is {cell_text(self._loss(least.loss))} ({least.name})"

    def sentences(self) -> list[str]:
        """What the axes are, and which releases no other beats."""
        names = [each.name for each in self.frontier()]
        frontier = [f"no other release has less of both: {check.quoted(names, most=8)}"] if names else []
        limit = "" if self.risk_limit is None else f", tolerable up to {self.limit_text}"
        return [f"risk: {self.risk_label}{limit}; loss: {self.loss_label}", *frontier]

    def tables(self) -> list[Table]:
        """The releases by ascending loss."""
        columns = ("release", "risk before", "risk", "loss", "verdict", "beaten by none")
        rows = [
            (
                each.name,
                self._risk(each.risk_before),
                self._risk(each.risk),
                self._loss(each.loss),
                VERDICTS[each.verdict],
                "yes" if kept else "",
            )
            for each, kept in sorted(zip(self.points, self._undominated(), strict=True), key=_row_order)
        ]
        return [Table(columns, tuple(rows))]

    @property
    def cautions(self) -> tuple[str, ...]:
        """Releases without a place, and verdicts that the line of the map does not show."""
        said = []
        if self.not_measured:
            names = check.quoted(each.name for each in self.not_measured)
            said.append(f"risk or loss was not measured, so that they have no place on the map: {names}.")
        if self.risk_limit is not None:
            limit = self.risk_limit
            below = [each.name for each in self.points if each.verdict is False and each.risk <= limit]
            if below:
                said.append(f"below the tolerable risk and yet not safe, by other limits: {check.quoted(below)}.")
        return tuple(said)

    def to_frame(self) -> frame.Frame:
        """One row per release, in the order given."""
        return frame.table(
            {
                "release": [each.name for each in self.points],
                "risk_before": [each.risk_before for each in self.points],
                "risk": [each.risk for each in self.points],
                "loss": [each.loss for each in self.points],
                "verdict": [VERDICTS[each.verdict] for each in self.points],
                "frontier": self._undominated(),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The releases, the names of the axes and the tolerable risk."""
        return {
            "risk_label": self.risk_label,
            "loss_label": self.loss_label,
            "risk_limit": self.risk_limit,
            "releases": [
                {name: _finite(value) for name, value in each._asdict().items()} | {"frontier": bool(kept)}
                for each, kept in zip(self.points, self._undominated(), strict=True)
            ],
        }


def risk_utility(
    points: Sequence[RiskUtilityPoint], *, risk_label: str, loss_label: str, risk_limit: float | None = None
) -> RiskUtility:
    """Releases on the map of risk and loss.

    >>> map = risk_utility(
    ...     [RiskUtilityPoint("recoded", 0.02, 0.3, True, 0.4), RiskUtilityPoint("rounded", 0.2, 0.1, False, 0.4)],
    ...     risk_label="re-identification rate", loss_label="0 none, 1 nothing left", risk_limit=0.05,
    ... )
    >>> [each.name for each in map.frontier()]
    ['rounded', 'recoded']
    """
    return RiskUtility(tuple(points), risk_label, loss_label, risk_limit)


def _check_axis(what: str, value: float) -> None:
    if np.isnan(value):
        return
    if check.number(what, value) < 0:
        raise TacitaError(f"{what} must be at least 0; got {check.given(value)}.")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _loss_then_name(each: RiskUtilityPoint) -> tuple[float, float, str]:
    return each.loss, each.risk, each.name


def _row_order(row: tuple[RiskUtilityPoint, Any]) -> tuple[bool, float, float, str]:
    return np.isnan(row[0].loss), row[0].loss, row[0].risk, row[0].name
