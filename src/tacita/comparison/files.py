"""The files of a comparison: the original, and each release of it with its name, scenario and record numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita import check
from tacita.assessment.profile import RiskProfile
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.truth import same_unit
from tacita.risk.identity.original_groups import rows_of, with_original_units
from tacita.scenario import Scenario, checked, restricted

MOST_RELEASES = 50
"""More releases are no comparison that anybody reads."""


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """One release to compare."""

    name: str
    data: Data
    """The released data, with the record numbers of the original."""
    scenario: Scenario
    """The scenario for it: without variables that are no longer there."""
    release: Any
    """The `Release` that it is, with its log and its assessment; None: a file."""

    def known_profile(self, policy: Any) -> RiskProfile | None:
        """What the release knows of its own risk, if it was made under the same policy; None: to be assessed."""
        same = self.release is not None and self.release.policy == policy and self.release.data is self.data
        return self.release.assess() if same and self.scenario == self.release.scenario else None


def named_releases(given: Any) -> dict[str, Any]:
    """Releases by name: of a mapping its names, of paths their own, of others `release`, `release 2`, ..."""
    if isinstance(given, Mapping):
        listed = {str(name): each for name, each in given.items()}
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        listed = {}
        for each in several:
            name = Path(each).stem if isinstance(each, str | Path) else "release"
            listed[_free(name, listed)] = each
    if not listed:
        raise TacitaError("there is no release to compare; pass at least one.")
    if len(listed) > MOST_RELEASES:
        raise TacitaError(f"at most {MOST_RELEASES} releases can be compared at once; got {len(listed)}.")
    return listed


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def opened_release(name: str, given: Any, original: Data, scenario: Scenario, unit: str | None) -> ReleasedFile:
    """A release of any kind; a file's records are given the numbers of their originals."""
    data = Data.of(given)
    if not len(data):
        raise TacitaError(f"the release {name!r} has no records.")
    release = given if getattr(given, "original", None) is not None else None
    if unit is not None:
        data, release = _numbered(original, data, unit), None
    elif release is None and data.numbers_of_records is None and len(data) != len(original):
        raise TacitaError(
            f"the release {name!r} has {len(data):,} records and the original {len(original):,}: name a column that "
            f"identifies them in both with unit=...."
        )
    same = release is not None and scenario == getattr(release, "original_scenario", None)
    if release is None and data.units is None and scenario.person in original.columns:
        # A unit does not hide behind its own records because its identifier was left out.
        data = with_original_units(data, original, scenario.person, rows_of(data, original))
    own = release.scenario if release is not None and same else restricted(scenario, data.columns)
    if own is None:
        raise TacitaError(f"the release {name!r} has none of the keys; keep at least one, or name others.")
    return ReleasedFile(name, data, own, release)


def _numbered(original: Data, data: Data, unit: str) -> Data:
    """Released data with the record numbers of the original, by a column that both have."""
    own = same_unit(original, data, unit)
    numbers = np.where(own >= 0, original.record[own], 0)
    new = np.flatnonzero(own < 0)
    numbers[new] = int(original.record.max(initial=0)) + 1 + np.arange(len(new))
    return replace(data, numbers_of_records=numbers)


def scenario_of(scenario: Any, releases: Mapping[str, Any]) -> Scenario:
    """The scenario given, or that of the first release that knows its own."""
    if scenario is not None:
        return checked(scenario)
    known = [getattr(each, "original_scenario", None) for each in releases.values()]
    found = next((each for each in known if each is not None), None)
    if found is None:
        raise TacitaError("a comparison needs a scenario: who knows what; pass scenario=Scenario(keys=[...]).")
    return checked(found)


def original_of(original: Any, releases: Mapping[str, Any]) -> Data:
    """The original given; None stands for that of the first release that knows it."""
    if original is not None:
        return Data.of(original)
    known = [getattr(each, "original", None) for each in releases.values()]
    found = next((each for each in known if each is not None), None)
    if found is None:
        raise TacitaError(
            f"a comparison needs the original file; the releases {check.quoted(releases)} do not know it."
        )
    return Data.of(found)
