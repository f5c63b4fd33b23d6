"""The checklist before publication: what a release was looked at for, and what is still to be done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.data.identifying import suspects, words_of
from tacita.measures import measure_names
from tacita.policy import OWN_FIELDS
from tacita.random import fit_for_release
from tacita.release.step_log import shared_rows
from tacita.result import Result, step_call

if TYPE_CHECKING:
    from tacita.release.release import Release

DONE, NOT_DONE, NOT_APPLICABLE = "done", "not done", "not applicable"

GEOGRAPHY = re.compile(
    r"\b(region|regions|nuts ?\d?|lau|district|county|counties|province|state|municipality|commune|city|town|village|"
    r"parish|ward|zip|zip ?code|post ?code|postal ?code|area|geo|geography|land|canton|department|census tract|tract|"
    r"block|geo ?\d|adm(in)? ?\d|enumeration area|birth ?place|place of birth|lat|lon|"
    r"latitude|longitude|coordinates|easting|northing)\b"
)
"""Words in the names of variables that say where somebody is."""
SMALLEST_AREA = 20_000
"""Units of the population that the smallest released area should stand for; a usual limit for public files."""
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
"""Days written as text."""
SHOWN = {DONE: "[x]", NOT_DONE: "[ ]", NOT_APPLICABLE: "[-]"}


class Item(NamedTuple):
    """One item of the checklist."""

    name: str
    state: str
    """done, not done, or not applicable."""
    found: str
    """What was found, in one clause; names and counts, no values."""
    way_out: str = ""
    """What to do, in one clause; empty where nothing is to be done."""

    def __str__(self) -> str:
        way = f"; {self.way_out}" if self.way_out else ""
        return f"{SHOWN[self.state]} {self.name} ({self.state}): {self.found}{way}."


@dataclass(frozen=True, eq=False)
class Checklist(Result):
    """What to look at before publication, each item done, not done or not applicable."""

    items: tuple[Item, ...]
    """The items."""

    @property
    def headline(self) -> str:
        """How many items are done, not done, and do not apply."""
        counts = [f"{sum(each.state == state for each in self.items)} {state}" for state in SHOWN]
        return f"Checklist before publication: {', '.join(counts)}"

    def sentences(self) -> list[str]:
        """One line for each item."""
        return [f"  {item}" for item in self.items]

    @property
    def open_items(self) -> tuple[Item, ...]:
        """The items that are not done."""
        return tuple(item for item in self.items if item.state == NOT_DONE)

    def __getitem__(self, name: str) -> Item:
        for item in self.items:
            if item.name == name:
                return item
        raise KeyError(name)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def to_frame(self) -> frame.Frame:
        """One row per item: name, state, what was found, the way out."""
        return frame.rows(dict.fromkeys(Item._fields, str), self.items)

    def to_dict(self) -> dict[str, Any]:
        """The items as plain texts."""
        return {"items": [item._asdict() for item in self.items]}


def checklist(release: Release) -> Checklist:
    """The checklist of a release."""
    looks: tuple[Callable[[Release], Item], ...] = (
        _identifiers, _ids, _order, _weights, _households, _geography, _dates, _reconstruction, _verdicts, _rules, _seed
    )  # fmt: skip
    return Checklist(tuple(look(release) for look in looks))


def _identifiers(release: Release) -> Item:
    there = [name for name in release.scenario.identifiers if name not in release.renumbered_identifiers]
    if there:
        return Item("identifiers", NOT_DONE, f"{check.quoted(there)} declared and still there", "add Remove()")
    found = suspects(release.data, {*release.scenario.roles, *release.renumbered_identifiers})
    if found:
        listed = "; ".join(f"{each.column!r}: {each.looks_like}" for each in found[:5])
        way = "name them in identifiers of the scenario and add Remove(), or Remove() by name"
        return Item("identifiers", NOT_DONE, f"{check.counted(len(found), 'column')} not declared ({listed})", way)
    gone = [name for name in release.original_scenario.identifiers if name not in release.data.columns]
    said = f"{check.quoted(gone)} taken out, and no" if gone else "none declared, and no"
    return Item("identifiers", DONE, f"{said} other column looks like names, addresses, issued numbers or free text")


def _ids(release: Release) -> Item:
    named = [release.scenario.household, release.scenario.person]
    there = [name for name in named if name is not None]
    old = [name for name in there if name not in release.renumbered_identifiers]
    if not there:
        return Item("ids renewed", NOT_APPLICABLE, "the release has no identifier of households or persons")
    if old:
        return Item("ids renewed", NOT_DONE, f"{check.quoted(old)} as in the original", "add NewIdentifiers()")
    return Item("ids renewed", DONE, f"{check.quoted(there)} numbered anew")


def _order(release: Release) -> Item:
    if any(change.reordered for change in release.changes):
        return Item("record order", DONE, "records stand in another order")
    return Item("record order", NOT_DONE, "records stand in the order of the original", "add RandomOrder()")


def _weights(release: Release) -> Item:
    weight = release.scenario.weight
    if weight is None:
        return Item("weights", NOT_APPLICABLE, "the release has no weight")
    told = _keys_told_by(release, weight)
    if told is None:
        way = "name the keys that the release has in the scenario"
        return Item("weights", NOT_DONE, f"whether {weight!r} tells protected keys was not measured", way)
    if told:
        rounding = release.assess().weight_rounding
        coarser = [] if rounding is None else [f"round {weight!r} with {step_call('round_weights', rounding)}"]
        way = f"{', '.join([*coarser, f'perturb {weight!r} with WeightNoise()'])}, or Remove() it"
        return Item("weights", NOT_DONE, f"{weight!r} tells the protected {_keys(told)}", way)
    if any(weight in change.cells for change in release.changes) or _verdict_on(release, "weight_disclosure"):
        return Item("weights", DONE, f"{weight!r} was changed or assessed, and tells no protected key")
    way = "look at tc.risk.weight_disclosure, and add RoundWeights() or Recalibrate() if strata show"
    return Item("weights", NOT_DONE, f"{weight!r} is released as it is and may tell strata", way)


def _keys(names: list[str]) -> str:
    return f"{'key' if len(names) == 1 else 'keys'} {check.quoted(names)}"


def _keys_told_by(release: Release, column: str) -> list[str] | None:
    """Keys of which a column tells protected cells, or more than their released classes; None if not measured."""
    found = _measured_reconstruction(release)
    if found is None:
        return None
    keys = {*release.scenario.all_keys, *release.original_scenario.all_keys}
    told = {leak.variable for leak in found.leaks if column in leak.columns}
    told |= {name for name, finer in found.finer.items() if column in finer.columns}
    return sorted(told & keys)


def _measured_reconstruction(release: Release) -> Any:
    """What the release was found to give back; None if that was not measured."""
    return release.assess().further.get("reconstruction")


def _households(release: Release) -> Item:
    household = release.scenario.household
    if household is None and _stand_together(release):
        way = "add RandomOrder() as the last step, with how = 'simple'"
        return Item("households", NOT_DONE, "members of a household still stand together in the file", way)
    if household is None:
        return Item("households", NOT_APPLICABLE, "the release does not tell who lives together")
    held = _verdict_on(release, "household_risk")
    if held:
        return Item("households", DONE, "the risk of households is within its limit")
    if held is False:
        return Item("households", NOT_DONE, "the risk of households is above its limit", "protect the keys further")
    way = "set household_risk in the policy, or Remove() the identifier"
    return Item("households", NOT_DONE, f"{household!r} tells who lives together, and their risk has no limit", way)


def _stand_together(release: Release) -> bool:
    """Whether rows are next to a housemate far more often than by chance, though the identifier was taken out."""
    name = release.original_scenario.household
    if name is None:
        return False
    was, now = shared_rows(release.original.record, release.data.record)
    place = release.original.households(name)[0][was][np.argsort(now)]
    members = np.bincount(place)
    by_chance = float((members * (members - 1)).sum()) / max(len(place), 1)
    most = len(place) - int((members > 0).sum())
    next_to = int((place[1:] == place[:-1]).sum())
    return next_to - by_chance > (most - by_chance) / 2


def _geography(release: Release) -> Item:
    areas = {name: _smallest(release, name) for name in release.data.columns if GEOGRAPHY.search(words_of(name))}
    if not areas:
        return Item("small geography", NOT_APPLICABLE, "no variable is called like a place")
    small = {name: size for name, size in areas.items() if size < SMALLEST_AREA}
    if small:
        listed = ", ".join(f"{name!r} {size:,.0f}" for name, size in small.items())
        way = f"group areas of fewer than {SMALLEST_AREA:,} units with Recode or GroupRare, or accept it knowingly"
        return Item("small geography", NOT_DONE, f"units in the smallest area: {listed}", way)
    listed = ", ".join(f"{name!r} {size:,.0f}" for name, size in areas.items())
    return Item("small geography", DONE, f"units in the smallest area: {listed}")


def _smallest(release: Release, name: str) -> float:
    """The units of the population that the smallest area stands for; by the original weights, where there are any."""
    place, count = release.data.groups(name)
    was, now = shared_rows(release.original.record, release.data.record)
    units = np.ones(len(release.data))
    who = release.original_scenario
    if who.weight is not None:
        units[now] = np.nan_to_num(release.original.numbers(who.weight)[was], nan=1.0)
    elif who.sampling_fraction is not None:
        units /= who.sampling_fraction
    elif who.population_size is not None:
        units *= who.population_size / max(len(release.original), 1)
    dropped = release.data.original_weights
    if dropped is not None and dropped.growth is not None:
        # Of a sample each record stands for those of its keys that were not drawn, too.
        units *= dropped.growth
    known = place >= 0
    return float(np.bincount(place[known], weights=units[known], minlength=count).min()) if count else 0.0


def _dates(release: Release) -> Item:
    found = list(_exact_dates(release))
    if not found:
        return Item("dates", NOT_APPLICABLE, "no variable holds exact days")
    way = "release years or quarters with Recode(dates=...)"
    return Item("dates", NOT_DONE, f"exact days in {check.quoted(found)}", way)


def _exact_dates(release: Release) -> Iterator[str]:
    for name in release.data.columns:
        if frame.is_date(release.data.table, name):
            yield name
        elif frame.is_text(release.data.table, name):
            texts = frame.some_texts(release.data.table, name, 100)
            if texts and all(DATE.fullmatch(text.strip()) for text in texts):
                yield name


def _reconstruction(release: Release) -> Item:
    name = "reconstruction"
    if name not in measure_names():
        way = "look by hand for weights, derived variables and housemates that tell"
        return Item(name, NOT_DONE, "whether other columns give back what was protected was not measured", way)
    result = _measured_reconstruction(release)
    if result is None:
        way = f"limit {name} in the policy, or call release.assess(measures={name!r})"
        return Item(name, NOT_DONE, "not measured", way)
    if _verdict_on(release, OWN_FIELDS[name]):
        return Item(name, DONE, result.headline.rstrip("."))
    return Item(name, NOT_DONE, result.headline.rstrip("."), "repair what gives cells back, and limit it in the policy")


def _verdict_on(release: Release, name: str) -> bool | None:
    """Whether a limit is kept; None where there is none, or it was not assessed."""
    return next((verdict.holds for verdict in release.assess().verdicts() if verdict.name == name), None)


def _verdicts(release: Release) -> Item:
    if release.safe:
        return Item("verdicts", DONE, f"{release.verdict}: {release.policy}")
    return Item("verdicts", NOT_DONE, release.verdict, "protect the file further, or decide on another policy")


def _rules(release: Release) -> Item:
    if not release.rules:
        return Item("rules", NOT_APPLICABLE, "no rules were given")
    if release.broken:
        found = f"{len(release.broken):,} of {check.counted(len(release.rules), 'rule')} broken or not checked"
        return Item("rules", NOT_DONE, found, "see the log, and mend the plan or say so in the codebook")
    return Item("rules", DONE, f"{check.counted(len(release.rules), 'rule')} kept")


def _seed(release: Release) -> Item:
    if release.seed_given and not fit_for_release(release.seed):
        return Item("seed", NOT_DONE, "the seed is short enough to be guessed", "apply the plan without seed=")
    return Item("seed", DONE, "the seed of random steps is secret and long")
