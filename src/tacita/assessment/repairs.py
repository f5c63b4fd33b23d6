"""What would make the limits hold that a file does not keep: which step, which parameter, how much of the file.

Limits on k, risk and rate are worked out here, from the key table alone, without trying a step: how many records are
concerned, whether one suppressed cell would be enough for each, and which key is the reason. Other limits are repaired
as their results say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.keys.source import combined
from tacita.keys.table import KeyTable
from tacita.result import Repair, Verdict, percent
from tacita.risk.identity.individual_risk import least_count, risk_alike

if TYPE_CHECKING:
    from tacita.assessment.profile import KeySetRisk, RiskProfile

Options = dict[str, Any]
MOST_CELLS = 4_000_000
"""Keys are not tried one by one in a table of more cells than this: the assessment is not to take twice as long."""
MOST_SUPPRESSED = 0.5
"""Where more than this share of the records would have to change, coarser keys are proposed first."""
MOST = "; that is most of the file"
RECODE_FIRST = f"{MOST}, so recode first"


class Agreement:
    """How many records agree on all keys but one, worked out once for each."""

    def __init__(self, table: KeyTable) -> None:
        self.table = table
        self._known: dict[int, Floats] = {}

    def without(self, place: int) -> Floats:
        """By key: the records that agree on all keys but the one at a place."""
        if place not in self._known:
            table = self.table
            others = [at for at in range(len(table.keys)) if at != place]
            sizes = [len(table.values[at]) + 1 for at in others]
            numbers = combined([table.codes[:, at] for at in others], sizes, len(table.codes))
            group = np.unique(numbers, return_inverse=True)[1]
            self._known[place] = np.bincount(group, weights=table.records).astype(np.float64)[group]
        return self._known[place]


def repairs(profile: RiskProfile) -> tuple[Repair, ...]:
    """A repair for each limit that is not kept and for which one is known, in the order of the verdicts."""
    found = []
    agreement = {part.name: Agreement(part.table) for part in profile.sets}
    for verdict in profile.verdicts():
        repair = _repair(profile, verdict, agreement) if verdict.holds is False else None
        if repair is not None:
            found.append(replace(repair, name=verdict.name))
    return tuple(found)


def _repair(profile: RiskProfile, verdict: Verdict, agreement: Mapping[str, Agreement]) -> Repair | None:
    kind, _, name = verdict.name.partition(":")
    part = next((each for each in profile.sets if name in ("", each.name)), None)
    if kind in ("k", "risk", "rate") and part is not None:
        if name and name not in profile.scenario.sets:
            return _of_disclosed_keys(profile, part)
        own = {} if len(profile.scenario.sets) == 1 else {"key_sets": [part.name]}
        asked = _Asked(part, verdict.limit, own, agreement[part.name])
        return {"k": _for_k, "risk": _for_risk, "rate": _for_rate}[kind](asked)
    if kind == "household_risk" and profile.household is not None:
        return profile.household.repair(profile.policy)
    result = profile.further.get("reconstruction" if kind == "given_back" else kind)
    return None if result is None else result.repair(profile.policy)


def _of_disclosed_keys(profile: RiskProfile, part: KeySetRisk) -> Repair:
    """Keys that other columns tell more finely than they are released: those columns are the reason."""
    # Reconstruction is loaded only where it was asked for.
    from tacita.assessment.disclosed_keys import disclosing_columns
    from tacita.risk.release.reconstruction.order import REORDER, ROWS

    records = max(part.unsafe_by_k, part.unsafe_by_risk)
    telling = disclosing_columns(profile.further.get("reconstruction"), profile.scenario, part.table.keys)
    weight = profile.scenario.weight
    columns = [name for name in telling if name not in (weight, ROWS)]
    ways = []
    if columns:
        tell, them = ("tells", "it") if len(columns) == 1 else ("tell", "them")
        ways.append(
            f"{check.quoted(columns)} {tell} the keys more finely than they are released: "
            f"Remove([{check.quoted(columns)}]), recode {them} alike, or name {them} among the keys"
        )
    if weight in telling:
        ways.append(f"the weight {weight!r} tells them: round it further with RoundWeights() or Remove([{weight!r}])")
    if ROWS in telling:
        ways.append(f"the order of the rows tells them: {REORDER}")
    text = "; ".join(ways) or "recode or remove the columns that tell the keys more finely, as the cautions name them"
    if len(ways) != 1 or weight in telling:
        return Repair("", text, records=records)
    return Repair("", text, *(("remove", {"variables": columns}) if columns else ("random_order", {})), records)


class _Asked(NamedTuple):
    """A limit that a key set does not keep, with what helps to repair it."""

    part: KeySetRisk
    limit: float
    own: Options
    """What a step must be told to look at this key set alone."""
    agreement: Agreement


def _for_k(asked: _Asked) -> Repair:
    """Suppression to k."""
    return _to_count(asked, int(asked.limit), "")


def _for_risk(asked: _Asked) -> Repair:
    """Suppression to the k that a risk asks for, where the sampling probability is the same for all, or to the risk."""
    part, limit, own, _ = asked
    risk = part.individual
    least = risk_alike(risk)
    if limit < least:
        return _out_of_reach(part, "the individual risk", f"{least:.3g}", part.unsafe_by_risk)
    k = least_count(risk, limit)
    if k is None:
        return _suppression(part, {"risk": limit, **own}, part.unsafe_by_risk, part.unsafe_by_risk, "")
    why = "without weights the file is the whole population, where" if part.table.source == "census" else "here"
    return _to_count(asked, k, f"{why} a risk of {limit:g} asks for k = {k}: ")


def _to_count(asked: _Asked, k: int, why: str) -> Repair:
    part = asked.part
    unsafe = part.table.sample_count < k
    needed = _needed(asked.agreement, unsafe, k)
    repair = _suppression(part, {"k": k, **asked.own}, int(part.table.records[unsafe].sum()), needed.cells, why)
    if needed.without is None or needed.without[0] >= (repair.records or 0):
        return repair
    left, name = needed.without
    few = f"about {left:,}" if left else "hardly any"
    rest = few if part.table.has_missing else f"{left:,}"
    text = repair.text.removesuffix(RECODE_FIRST) + (MOST if repair.text.endswith(RECODE_FIRST) else "")
    return replace(repair, text=f"{text}; without {name!r} {rest} would be left, so Recode it first")


def _for_rate(asked: _Asked) -> Repair:
    """Suppression to the threshold of risk that keeps the rate."""
    part, rate, own, _ = asked
    risk, needed, table = part.individual, part.threshold, part.table
    least = risk_alike(risk)
    if rate < least or needed is None:
        return _out_of_reach(part, "the rate", percent(least), table.size)
    call = f"{_call({'rate': rate, **own})}, or Recode of the keys"
    who = f"the {check.counted(needed.unsafe, 'record')} above a risk of {needed.risk:.3g}"
    text = f"it holds once {who} {'is' if needed.unsafe == 1 else 'are'} brought down to it: {call}"
    if table.source == "census" and risk.attack_model == "M3":
        # Without weights the rate is the number of different keys over that of records.
        most = math.floor(rate * table.units)
        text += f"; it takes at most {check.counted(most, 'different key')}, and there are {len(table.codes):,}"
    return Repair("", text + _recode_first(part, needed.unsafe), "suppress", {"rate": rate, **own}, needed.unsafe)


def _out_of_reach(part: KeySetRisk, what: str, least: str, records: int) -> Repair:
    """A limit that not even a file without keys would keep."""
    size = check.counted(part.table.units, "record")
    sample = "; if the file is a sample, name its weight, population_size or sampling_fraction in the scenario"
    text = (
        f"no step can: with all keys missing {what} of {size} is still {least}"
        f"{sample if part.table.source == 'census' else ''}; set a limit that a file of this size can keep"
    )
    return Repair("", text, records=records)


class _Needed(NamedTuple):
    """What suppression would take, as far as the key table tells it."""

    cells: int
    """At least so many cells."""
    without: tuple[int, str] | None
    """The fewest records that would be left if one key were dropped, and that key."""


def _suppression(part: KeySetRisk, parameters: Options, records: int, cells: int, why: str) -> Repair:
    """Suppressing in so many records: at least so many cells, where nobody becomes safe by the cells of others."""
    known = cells if part.table.rule.name == "one_way" else None
    which = "" if known is None else f"at least {check.counted(known, 'cell')} in "
    text = f"{why}{_call(parameters)} suppresses {which or 'cells in '}{check.counted(records, 'record')}"
    return Repair("", text + _recode_first(part, records), "suppress", parameters, records, known)


def _call(parameters: Options) -> str:
    return f"Suppress({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def _recode_first(part: KeySetRisk, records: int) -> str:
    return RECODE_FIRST if records > MOST_SUPPRESSED * part.table.size else ""


def _needed(agreement: Agreement, unsafe: Bools, k: int) -> _Needed:
    """Cells, and the key without which the fewest records are below k.

    A record counts on all keys but one those that agree there; if that is k for no key it needs two cells.
    """
    table, rows = agreement.table, np.flatnonzero(unsafe)
    records = int(table.records[rows].sum())
    if table.codes.size > MOST_CELLS or not len(rows):
        return _Needed(records, None)
    enough = np.zeros(len(rows), dtype=np.bool_)
    fewest: tuple[int, str] | None = None
    for place, name in enumerate(table.keys):
        there = agreement.without(place)[rows] >= k
        enough |= there
        left = int(table.records[rows[~there]].sum())
        if fewest is None or left < fewest[0]:
            fewest = (left, name)
    # Of records with missing values more may agree than are counted here.
    two = ~enough & table.complete[rows] & (len(table.keys) > 1)
    cells = records + int(table.records[rows[two]].sum())
    return _Needed(cells, fewest if len(table.keys) > 1 else None)
