"""Keys that a plan recoded or removed and that other released columns tell more finely: counted as finely as that.

An intruder who knows somebody's age finds him among the records of his age group and, beside a status that nobody under
16 has, among those of them that have one. Counting by the released key alone is then too high: each such key set is
counted a second time, with the classes that the other columns tell as further keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tacita import check
from tacita.data import Data
from tacita.policy import Policy
from tacita.result import Result, Verdict
from tacita.risk.release.reconstruction.finer import FinerColumns
from tacita.risk.release.reconstruction.reconstruction import Reconstruction
from tacita.scenario import KeySet, Scenario


class ToldKeys(NamedTuple):
    """What is counted a second time, and what cannot be counted."""

    data: Data
    """The release with a column for each key that is told more finely: the class that a record is told to be of."""
    sets: dict[str, KeySet]
    """The key sets that have such keys, with those classes among the keys."""
    cautions: tuple[str, ...]
    """By such key: the columns that tell it, and the way out."""
    not_assessed: tuple[Verdict, ...]
    """What can be said of keys and measures that are not counted so."""


def told_keys(
    data: Data,
    scenario: Scenario,
    sets: Mapping[str, KeySet],
    known: Scenario,
    policy: Policy,
    found: Result,
    by_keys: Sequence[str] = (),
) -> ToldKeys:
    """The key sets of a release with what other columns tell of their keys.

    `known` is the scenario of the original, with keys that were removed since; `by_keys` are measures that go by the
    keys as released. What identifiers tell is not counted: who does not know them learns nothing.
    """
    assert isinstance(found, Reconstruction)
    told = {name: each for name, each in found.finer.items() if name in {*scenario.all_keys, *known.all_keys}}
    names = {key: _free_name(f"{key} as told", data) for key, each in told.items() if not each.identifiers}
    finer = {name: _finer(name, own, known, names) for name, own in sets.items()}
    extended = {
        f"{name} as told": KeySet((*own.keys, *(names[key] for key in finer[name])), own.k, own.risk)
        for name, own in sets.items()
        if finer[name]
    }
    covered = dict.fromkeys(key for keys in finer.values() for key in keys)
    reasons = {
        key: f"the key {key!r} is recoded or removed, but {_reason(each, scenario)}" for key, each in told.items()
    }
    limit = policy.given_back or 0
    verdicts = [Verdict("given_back", limit, None, None, why) for key, why in reasons.items() if key not in covered]
    if covered:
        verdicts += _counted_too_high(policy, by_keys, reasons)
    told_data = data.with_columns({names[key]: told[key].classes for key in covered})
    return ToldKeys(told_data, extended, tuple(f"{reasons[key]}." for key in covered), tuple(verdicts))


def _finer(name: str, own: KeySet, known: Scenario, names: Mapping[str, str]) -> list[str]:
    """The keys of a key set, removed ones included, that are told more finely."""
    before = known.sets.get(name, own).keys
    return [key for key in names if key in own.keys or key in before]


def _free_name(name: str, data: Data) -> str:
    while name in data.columns:
        name += "'"
    return name


def _counted_too_high(policy: Policy, by_keys: Sequence[str], reasons: Mapping[str, str]) -> Iterator[Verdict]:
    """Limits on other measures of the keys as released, which are counted too high."""
    limits: dict[str, Any] = {name: limited.limit for name in by_keys if (limited := policy.limit_of(name)) is not None}
    if policy.household_risk is not None:
        limits["household_risk"] = policy.household_risk
    for name, limit in limits.items():
        why = f"{name} goes by the keys as released: {next(iter(reasons.values()))}"
        yield Verdict(name, limit, None, None, why)


def _reason(finer: FinerColumns, scenario: Scenario) -> str:
    return "; ".join(_reasons(finer, scenario.weight))


def _reasons(finer: FinerColumns, weight: str | None) -> Iterator[str]:
    """What each kind of column tells, and the way out: classes of the key, the weight, identifiers."""
    classes = [name for name in finer.columns if name != weight and name not in finer.identifiers]
    if classes:
        named = [name for name in classes if name in finer.least] or classes[:1]
        others = [name for name in classes if name not in named]
        besides = f" (so {'does' if len(others) == 1 else 'do'} {check.quoted(others)})" if others else ""
        one = len(classes) == 1
        yield (
            f"{check.quoted(named)} tell{'s' if len(named) == 1 else ''} it more finely{besides}; recode or remove "
            f"{'it' if one else 'them'} alike, or name {'it' if one else 'them'} among the keys"
        )
    if weight in finer.columns:
        yield f"the weight {weight!r} tells it more finely; round the weights further, perturb or remove them"
    identifiers = [name for name in finer.identifiers if name != weight]
    if identifiers:
        what, them = ("looks like an identifier and tells", "it")
        if len(identifiers) > 1:
            what, them = ("look like identifiers and tell", "them")
        yield f"{check.quoted(identifiers)} {what} it; declare {them} as identifiers or household, or remove {them}"
