"""What a suppression is to reach: what the step says, or every limit of the policy that suppression can keep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import key_table
from tacita.measures import kind_of
from tacita.policy import Policy
from tacita.result import percent
from tacita.risk.identity.individual_risk import risk_alike, risk_of_keys
from tacita.risk.identity.reidentification import Reidentification, ThresholdCurve
from tacita.scenario import KeySet, Scenario

if TYPE_CHECKING:
    from tacita.protect.suppress.latent_limits import Refitted
    from tacita.protect.suppress.suppress import Suppress

MOST_TOUCHED = 0.5
"""The rate of a policy is not brought down by suppression where more than this share of the records had to change."""


LOWER = 1e-6
"""A limit of risk that is lower by a smaller share is the same."""


class Wanted(NamedTuple):
    """What every record must keep, by the name of the key set."""

    counts: bool
    """Whether a least count is asked: k, of the step, the key set or the policy."""
    risk: Mapping[str, float]
    """By key set the greatest individual risk."""
    household_risk: float | None
    rate: float | None
    """The greatest re-identification rate, to be reached by lower limits of risk."""
    whole_policy: bool = False
    """Whether the step asks for nothing, and so for all that the policy does."""
    not_kept: tuple[str, ...] = ()
    """Limits of the policy that suppression cannot keep, and why."""
    rate_at: str = "expected"
    """Which rate that is, as the policy judges it: the expected one, or the upper end of its interval."""
    multiples: Mapping[str, Floats] = {}
    """By key set and record how much riskier a record is than f and weights say: by the latent model."""

    @property
    def limits_risk(self) -> bool:
        """Whether it is about risks, and not about counts alone."""
        return bool(self.risk) or self.household_risk is not None or self.rate is not None

    @property
    def has_less(self) -> bool:
        """Whether there are limits of risk besides k that can be given up."""
        return self.counts and bool(self.household_risk is not None or self.risk)

    def less(self, why: str) -> Wanted:
        """The same without the household risk, or else without limits of risk, since all together are out of reach."""
        if self.household_risk is not None:
            gone = f"not kept: the household risk of {self.household_risk:g}, since {why}"
            return self._replace(household_risk=None, not_kept=(*self.not_kept, gone))
        limits = ", ".join(f"{limit:g}" for limit in dict.fromkeys(self.risk.values()))
        gone = f"not kept: the individual risk of {limits}, since {why}"
        return self._replace(risk={}, rate=None, not_kept=(*self.not_kept, gone))

    def harder(self, lower: Mapping[str, float], refits: Mapping[str, Refitted]) -> Wanted | None:
        """The same with lower limits, and records as risky as the model of what is left says; None: nothing to do."""
        above = {
            name: np.maximum(self.multiples[name], each.multiple) for name, each in refits.items() if each.above.any()
        }
        risk = {name: min(self.risk.get(name, 1.0), limit) for name, limit in lower.items()}
        if not above and all(limit >= self.risk.get(name, math.inf) * (1 - LOWER) for name, limit in risk.items()):
            return None
        return self._replace(risk={**self.risk, **risk}, multiples={**self.multiples, **above})


def wanted_of(asked: Suppress, sets: Mapping[str, KeySet], scenario: Scenario, policy: Policy) -> Wanted:
    """What a step asks for."""
    given = (asked.k, asked.risk, asked.household_risk, asked.rate)
    if asked.combs or any(limit is not None for limit in given):
        risk, household, rate = (
            _limit(name, getattr(asked, name), policy) for name in ("risk", "household_risk", "rate")
        )
        limits = (risk, household, rate)
        by_set = {name: _own_risk(each, asked, risk) for name, each in sets.items()} if risk is not None else {}
        counts = asked.k is not None or bool(asked.combs) or all(limit is None for limit in limits)
        return Wanted(counts, by_set, household, rate, rate_at=policy.rate_at)
    by_set = {name: limit for name, each in sets.items() if (limit := each.risk or policy.risk) is not None}
    household = policy.household_risk if scenario.household else None
    wanted = Wanted(
        _has_k(sets, policy), by_set, household, policy.rate, True, tuple(_not_looked_at(policy)), policy.rate_at
    )
    if not wanted.counts and not by_set and household is None and wanted.rate is None:
        raise TacitaError("the policy has no k; pass k=3 to the step.")
    return wanted


def _own_risk(key_set: KeySet, asked: Suppress, limit: float) -> float:
    return key_set.risk if asked.risk is True and key_set.risk is not None else limit


def _has_k(sets: Mapping[str, KeySet], policy: Policy) -> bool:
    """Whether there is a k; an error where only some key sets have one."""
    return policy.k is not None or any(each.k is not None for each in sets.values())


def _limit(name: str, value: float | bool | None, policy: Policy) -> float | None:
    """The limit of a risk that the step asks for; true: the policy's."""
    known: float | None = getattr(policy, name)
    if value is True and known is None:
        raise TacitaError(f"the policy has no {name}; pass {name}=0.1 to the step.")
    return known if value is True else value


def _not_looked_at(policy: Policy) -> Iterator[str]:
    names = [name for name in policy.limits if kind_of(name) == "risk"]
    if names:
        yield f"not looked at, since suppression goes by counts of equal keys: the limits on {check.quoted(names)}"


def possible(wanted: Wanted, sets: Mapping[str, KeySet], data: Data, scenario: Scenario) -> Wanted:
    """The same without limits that not even a file without keys would keep."""
    risk, said, rate = dict(wanted.risk), list(wanted.not_kept), wanted.rate
    for name, each in sets.items():
        found = risk_of_keys(data, scenario, key_table(data, scenario, each.keys))
        least, size = risk_alike(found), check.counted(found.table.units, "record")
        known = "" if found.table.source != "census" else ", which without weights are the whole population"
        if name in risk and risk[name] < least:
            said.append(
                f"not kept: the individual risk of {risk[name]:g}; with every key of {name!r} missing it is "
                f"{least:.3g} in a file of {size}{known}"
            )
            del risk[name]
        if rate is not None and rate < least:
            said.append(
                f"not kept: the re-identification rate of {percent(rate)}; with every key of {name!r} missing it is "
                f"{percent(least)} in a file of {size}{known}"
            )
            rate = None
    return wanted._replace(risk=risk, rate=rate, not_kept=tuple(said))


def lower_limits(
    wanted: Wanted, sets: Mapping[str, KeySet], data: Data, scenario: Scenario
) -> tuple[dict[str, float], tuple[str, ...]]:
    """By key set above the rate the limit of risk that would keep it, and what is said where it asks too much."""
    lower: dict[str, float] = {}
    said: list[str] = []
    rate = wanted.rate
    if rate is None:
        return lower, ()
    for name, each in sets.items():
        found = risk_of_keys(data, scenario, key_table(data, scenario, each.keys))
        expected = Reidentification.of(found)
        judged = expected.judged_rate(wanted)
        if judged <= rate:
            continue
        # Where the upper end is judged, expectations must come down as far as it must.
        needed = ThresholdCurve.of(found).for_expected(rate * expected.rate / judged * expected.size)
        if wanted.whole_policy and needed.unsafe > MOST_TOUCHED * expected.size:
            above = f"{needed.unsafe:,} of {check.counted(expected.size, 'record')}"
            said.append(
                f"not kept: the re-identification rate of {percent(rate)} on {name!r}, which is "
                f"{percent(judged)}: {above} have more than the risk of {needed.risk:.3g} that it needs; recode "
                f"the keys first"
            )
        else:
            lower[name] = needed.risk
    return lower, tuple(said)
