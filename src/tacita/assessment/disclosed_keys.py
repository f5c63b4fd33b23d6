"""Keys that a plan recoded or removed and that other released columns disclose more finely: counted as finely as that.

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
from tacita.result import WITH_OTHER_COLUMNS, Repair, Result, Verdict, step_call
from tacita.risk.release.reconstruction.close_columns import close_text
from tacita.risk.release.reconstruction.copies_in_part import in_part_text
from tacita.risk.release.reconstruction.finer import FinerColumns
from tacita.risk.release.reconstruction.order import REORDER, ROWS
from tacita.risk.release.reconstruction.reconstruction import Reconstruction
from tacita.scenario import KeySet, Scenario

FINER, NARROWER = "it more finely", "which values it can have there"
"""What other columns tell of a key that is recoded or removed, and of one with suppressed cells."""


class DisclosedKeys(NamedTuple):
    """What is counted a second time, and what cannot be counted."""

    data: Data
    """The release with a column for each key that is told more finely: the class that a record is told to be of."""
    sets: dict[str, KeySet]
    """The key sets that have such keys, with those classes among the keys."""
    cautions: tuple[str, ...]
    """By such key: the columns that tell it, and the way out."""
    not_assessed: tuple[Verdict, ...]
    """What can be said of keys and measures that are not counted so."""


def disclosed_keys(
    data: Data,
    scenario: Scenario,
    sets: Mapping[str, KeySet],
    known: Scenario,
    policy: Policy,
    found: Result,
    by_keys: Sequence[str] = (),
) -> DisclosedKeys:
    """The key sets of a release with what other columns disclose of their keys.

    `known` is the scenario of the original, with keys that were removed since; `by_keys` are measures that go by the
    keys as released. What identifiers tell is not counted: who does not know them learns nothing.
    """
    assert isinstance(found, Reconstruction)
    if found.other_order:
        # Where a limit on cells given back is judged, it is the one that says so.
        why = () if policy.given_back is not None else (Verdict("given_back", 0, None, None, found.other_order),)
        return DisclosedKeys(data, {}, (), why)
    every = {**known.sets, **scenario.sets}
    looked_for = [(*own.keys, *known.sets.get(name, own).keys) for name, own in every.items()]
    told = [each for each in _disclosed(found, scenario) if any(map(each.counts_for, looked_for))]
    named = {_free_name(each.column, data): each for each in told if not each.finer.identifiers}
    extended = {name: _extended(name, own, known, named) for name, own in sets.items()}
    covered = [name for name in named if any(name in own.keys for own in extended.values())]
    uncovered = [each for each in told if not any(named[name] is each for name in covered)]
    limit = policy.given_back or 0
    verdicts = [Verdict("given_back", limit, None, None, each.why) for each in uncovered]
    for text, nearly in ((close_text, found.close), (in_part_text, found.in_part)):
        for key, columns in nearly.items():
            if any(key in keys for keys in looked_for):
                verdicts.append(Verdict("given_back", limit, None, None, text(key, columns)))
    if covered:
        verdicts += _counted_too_high(policy, by_keys, named[covered[0]].why)
    told_data = data.with_columns({name: _column(named[name]) for name in covered})
    counted = {f"{name}{WITH_OTHER_COLUMNS}": own for name, own in extended.items() if own.keys != sets[name].keys}
    return DisclosedKeys(told_data, counted, tuple(f"{named[name].why}." for name in covered), tuple(verdicts))


class DisclosedKey(NamedTuple):
    """What other columns disclose of a key."""

    key: str
    column: str
    """The name of the key that stands for it."""
    finer: FinerColumns
    why: str
    """What is told by which columns, and the way out."""
    beside: str | None = None
    """Another key, which an intruder has to know as well."""

    def counts_for(self, keys: Sequence[str]) -> bool:
        """Whether an intruder who knows some keys learns something."""
        return self.key in keys and (self.beside is None or self.beside in keys)


def _disclosed(found: Reconstruction, scenario: Scenario) -> Iterator[DisclosedKey]:
    for key, finer in found.finer.items():
        why = f"the key {key!r} is recoded or removed, but {'; '.join(_reasons(finer, scenario.weight))}"
        yield DisclosedKey(key, f"{key} by other columns", finer, why)
    for key, finer in found.narrowed.items():
        reasons = "; ".join(_reasons(finer, scenario.weight, NARROWER))
        why = f"the key {key!r} is suppressed in some records, but {reasons}"
        yield DisclosedKey(key, f"{key} by other columns where blank", finer, why)
    for (key, other), finer in found.beside.items():
        reasons = "; ".join(_reasons(finer, scenario.weight))
        why = f"the key {key!r} is recoded or removed, but beside {other!r} {reasons}"
        yield DisclosedKey(key, f"{key} by other columns and {other}", finer, why, other)


def disclosing_columns(found: Result | None, scenario: Scenario, keys: Sequence[str]) -> tuple[str, ...]:
    """The columns that disclose some of these keys, as `DisclosedKeys` counts them, more finely."""
    if not isinstance(found, Reconstruction):
        return ()
    told = [each for each in _disclosed(found, scenario) if any(name.rstrip("'") == each.column for name in keys)]
    columns = [name for each in told for name in each.finer.columns if name not in each.finer.identifiers]
    return tuple(dict.fromkeys(columns))


def tells_a_key(found: Result, scenario: Scenario, column: str) -> bool:
    """Whether a column tells some protected key more finely."""
    return isinstance(found, Reconstruction) and any(
        column in each.finer.columns for each in _disclosed(found, scenario)
    )


def _column(told: DisclosedKey) -> Any:
    """The class of each record that other columns disclose, as a column; missing where the other key is missing."""
    classes = told.finer.classes
    return classes if told.beside is None else (classes, tuple(range(1, int(classes.max()) + 1)))


def _extended(name: str, own: KeySet, known: Scenario, named: Mapping[str, DisclosedKey]) -> KeySet:
    """A key set with the disclosed classes of its keys, removed ones included, as further keys."""
    before = known.sets.get(name, own).keys
    more = [column for column, each in named.items() if each.counts_for((*own.keys, *before))]
    return KeySet((*own.keys, *more), own.k, own.risk)


def _free_name(name: str, data: Data) -> str:
    while name in data.columns:
        name += "'"
    return name


def _counted_too_high(policy: Policy, by_keys: Sequence[str], reason: str) -> Iterator[Verdict]:
    """Limits on other measures of the keys as released, which are counted too high."""
    limits: dict[str, Any] = {name: limited.limit for name in by_keys if (limited := policy.limit_of(name)) is not None}
    if policy.household_risk is not None:
        limits["household_risk"] = policy.household_risk
    for name, limit in limits.items():
        why = f"{name} goes by the keys as released: {reason}"
        yield Verdict(name, limit, None, None, why)


def _reasons(finer: FinerColumns, weight: str | None, what: str = FINER) -> Iterator[str]:
    """What each kind of column tells, and the way out: classes of the key, the weight, identifiers."""
    classes = [name for name in finer.columns if name not in (weight, ROWS, *finer.identifiers)]
    if classes:
        named = [name for name in classes if name in finer.least] or classes[:1]
        others = [name for name in classes if name not in named]
        besides = f" (so {'does' if len(others) == 1 else 'do'} {check.quoted(others)})" if others else ""
        one = len(classes) == 1
        yield (
            f"{check.quoted(named)} tell{'s' if len(named) == 1 else ''} {what}{besides}; recode or remove "
            f"{'it' if one else 'them'} alike, or name {'it' if one else 'them'} among the keys"
        )
    if ROWS in finer.columns:
        yield f"the order of the rows tells {what}; {REORDER}"
    if weight in finer.columns:
        yield f"the weight {weight!r} tells {what}; round the weights further, perturb or remove them"
    identifiers = [name for name in finer.identifiers if name != weight]
    if identifiers:
        what, them = ("looks like an identifier and tells", "it")
        if len(identifiers) > 1:
            what, them = ("look like identifiers and tell", "them")
        yield f"{check.quoted(identifiers)} {what} it; declare {them} as identifiers or household, or remove {them}"


def repair_of_disclosed_keys(
    found: Result | None,
    scenario: Scenario,
    keys: Sequence[str],
    records: int,
    rounding: Mapping[str, Any] | None = None,
) -> Repair:
    """Keys that other columns tell more finely than they are released: those columns are the reason.

    `rounding` is what `RoundWeights` must be given so that the weight tells none.
    """
    telling = disclosing_columns(found, scenario, keys)
    weight = scenario.weight
    columns = [name for name in telling if name not in (weight, ROWS)]
    ways = []
    if columns:
        tell, them = ("tells", "it") if len(columns) == 1 else ("tell", "them")
        ways.append(
            f"{check.quoted(columns)} {tell} the keys more finely than they are released: "
            f"Remove({columns!r}), recode {them} alike, or name {them} among the keys"
        )
    if weight in telling:
        enough = "no rounding to digits is enough, so " if rounding is None else step_call("round_weights", rounding)
        other = "Remove" if rounding is None else " is enough, or Remove"
        ways.append(f"the weight {weight!r} tells them: {enough}{other}([{weight!r}])")
    if ROWS in telling:
        ways.append(f"the order of the rows tells them: {REORDER}")
    text = "; ".join(ways) or "recode or remove the columns that tell the keys more finely, as the cautions name them"
    if len(ways) != 1:
        return Repair("", text, records=records)
    if weight in telling:
        gone = rounding is None
        parameters: Mapping[str, Any] = {"variables": [weight]} if rounding is None else rounding
        return Repair("", text, "remove" if gone else "round_weights", parameters, records)
    return Repair("", text, *(("remove", {"variables": columns}) if columns else ("random_order", {})), records)
