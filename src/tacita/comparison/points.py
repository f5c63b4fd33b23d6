"""The releases of a comparison as points of the map of risk and utility."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tacita import check
from tacita.check import TacitaError
from tacita.comparison.risk_utility import RiskUtility, RiskUtilityPoint
from tacita.comparison.tables import counts_do_not_hold
from tacita.measures import Measure, find

if TYPE_CHECKING:
    from tacita.comparison.comparison import ComparedRelease, Comparison

USUAL_RISK, RATE = "external_risk", "rate"
"""The risk that is valid for every release, and the one that counts of equal keys give."""
USUAL_LOSS = "value_loss"
"""The loss that most releases have."""


def points_of(comparison: Comparison, risk: str | None, loss: str | None) -> RiskUtility:
    """Each release by a measure of risk and one of loss, both by the figure of it that a policy can limit."""
    names = _measured(comparison)
    chosen = usual_risk(comparison) if risk is None else risk
    if chosen != RATE:
        check.one_of("risk", chosen, (RATE, *names))
    losses = [name for name in names if find(name).kind == "loss"]
    loss = check.one_of("loss", _usual_loss(losses) if loss is None else loss, names)
    points = [
        RiskUtilityPoint(
            each.name,
            _rate(each) if chosen == RATE else _figure(each, chosen),
            _figure(each, loss),
            _verdict(each),
            _before(comparison, chosen),
        )
        for each in comparison.releases
    ]
    label = "re-identification rate" if chosen == RATE else _limited(chosen)[1]
    return RiskUtility(
        tuple(points),
        label,
        _limited(loss)[1],
        _risk_limit(comparison, chosen),
        risk_is_share=chosen == RATE or _is_share(chosen),
        loss_is_share=_is_share(loss),
    )


def usual_risk(comparison: Comparison) -> str:
    """External risk where every release has it, otherwise the re-identification rate."""
    return USUAL_RISK if USUAL_RISK in _measured(comparison) else RATE


def _usual_loss(losses: list[str]) -> str:
    if not losses:
        raise TacitaError("no loss that a policy can limit was measured of every release; name one with measures=...")
    return USUAL_LOSS if USUAL_LOSS in losses else losses[0]


def _measured(comparison: Comparison) -> list[str]:
    """The measures that every release has and whose figure a policy can limit."""
    found = [set(each.measures) | set(each.profile.further) for each in comparison.releases]
    return sorted(name for name in set.intersection(*found) if find(name).limit is not None)


def _limited(name: str) -> tuple[Measure, str]:
    own = find(name)
    if own.limit is None:
        raise TacitaError(f"{name} has no figure to place releases by; choose another measure.")
    return own, own.limit.words


def _is_share(name: str) -> bool:
    """Whether a figure is a share: no file exceeds 1, or it is a loss."""
    own = find(name)
    return own.kind == "loss" or (own.limit is not None and own.limit.void == 1.0)


def _figure(release: ComparedRelease, name: str) -> float:
    found = release.result(name)
    assert found is not None
    return math.nan if found.not_valid else _limited(name)[0].limited_value(found, {})


def _rate(release: ComparedRelease) -> float:
    """The re-identification rate; NaN where counts of equal keys do not measure risk."""
    profile = release.profile
    return math.nan if not profile.sets or counts_do_not_hold(profile) else profile.rate


def _verdict(release: ComparedRelease) -> bool | None:
    if release.safe:
        return True
    return False if any(each.holds is False for each in release.verdicts if each.about == "risk") else None


def _before(comparison: Comparison, name: str) -> float:
    """The risk if the original itself were released; NaN where it was not measured."""
    if name == RATE:
        return comparison.original.rate if comparison.original.sets else math.nan
    found = comparison.measured_before.get(name) or comparison.original.further.get(name)
    return math.nan if found is None or found.not_valid else _limited(name)[0].limited_value(found, {})


def _risk_limit(comparison: Comparison, name: str) -> float | None:
    limited = comparison.policy.limit_of("reidentification" if name == RATE else name)
    return None if limited is None else float(limited.limit)
