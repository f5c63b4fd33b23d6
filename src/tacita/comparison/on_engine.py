"""A comparison of files that stay on an engine: measured on the combinations of the values of both."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tacita.assessment.assess import assess_on_engine
from tacita.assessment.on_engine import LargeProfile, opened
from tacita.check import TacitaError
from tacita.comparison.changed_cells import ChangedVariable, changed_cells
from tacita.comparison.comparison import ComparedRelease, Comparison
from tacita.comparison.files import ReleasedFile
from tacita.comparison.measured import measured, measured_of_original
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.keys.condensed_pair import both_sides
from tacita.policy import Policy
from tacita.progress import Progress, part
from tacita.repeats import how_many
from tacita.result import Result
from tacita.scenario import Scenario, restricted


@dataclass(frozen=True, eq=False)
class LargeComparison(Comparison):
    """A comparison of files on an engine: figures of single records need all of them in memory."""

    other_figures: ClassVar[tuple[str, ...]] = ()

    def before_after(self, release: str | None = None, **options: Any) -> Any:
        """Not of files on an engine."""
        raise TacitaError(
            "distributions before and after need all records in memory; compare samples of both files for them."
        )

    def confidentiality(self, release: str | None = None) -> Result:
        """The confidentiality plot of a release, where it was measured."""
        raise TacitaError(
            "the confidentiality plot needs numbers record by record; draw it of a sample of the records of both files."
        )


def compare_on_engine(
    original: Any,
    releases: Mapping[str, Any],
    scenario: Scenario,
    policy: Policy,
    asked: Mapping[str, Mapping[str, Any]],
    rules: Any,
    unit: str | None,
    memory: int | str | None,
    progress: Progress,
) -> LargeComparison:
    """What an intruder gains and what a researcher loses by each of several releases of a large file."""
    if rules:
        raise TacitaError("rules=... need all records in memory; check them on a sample of the records of both files.")
    with ExitStack() as stack:
        first = original
        if not isinstance(original, LargeData):
            first = stack.enter_context(LargeData.of(original, memory=memory))
        before = _assessed(first, None, scenario, policy, unit, part(progress, 0.05, 0.3))
        found: list[ComparedRelease] = []
        pairs: dict[str, tuple[Data, Data]] = {}
        for at, (name, given) in enumerate(releases.items()):
            show = part(progress, 0.3 + 0.7 * at / len(releases), 0.3 + 0.7 * (at + 1) / len(releases))
            second = stack.enter_context(opened(given, first, memory))
            release, pairs[name] = _compared(name, first, second, scenario, policy, asked, unit, show)
            found.append(release)
    data = next(iter(pairs.values()))[0]
    known = restricted(scenario, data.columns)
    assert known is not None
    itself = measured_of_original(data, known, policy, asked, found)
    progress(1.0, "done")
    released = {name: pair[1] for name, pair in pairs.items()}
    return LargeComparison(scenario, policy, before, tuple(found), data, released, measured_before=itself)


def _assessed(
    file: LargeData, original: LargeData | None, scenario: Scenario, policy: Policy, unit: str | None, show: Progress
) -> LargeProfile:
    """The risk of one of the files, as it is assessed by itself or beside its original."""
    return assess_on_engine(file, scenario, policy, original=original, unit=unit, progress=show)


def _compared(
    name: str,
    first: LargeData,
    second: LargeData,
    scenario: Scenario,
    policy: Policy,
    asked: Mapping[str, Mapping[str, Any]],
    unit: str | None,
    show: Progress,
) -> tuple[ComparedRelease, tuple[Data, Data]]:
    """Everything that is compared of one release, and the rows of both files."""
    own = restricted(scenario, second.columns)
    if own is None or not own.sets:
        raise TacitaError(f"the release {name!r} has none of the keys; keep at least one, or name others.")
    profile = _assessed(second, first, own, policy, unit, part(show, 0.0, 0.6))
    original = profile.rows.before
    # What is lost is counted by the weights that are released.
    released = replace(profile.rows, original_weights=None)
    known = restricted(own, released.columns)
    assert known is not None
    file = ReleasedFile(name, released, known, None)
    results, refused = measured(file, original, policy, asked, profile.further, part(show, 0.6, 0.95))
    show(0.95, f"{name}: what changed")
    new = how_many(~np.isin(released.record, original.record), released.repeats)
    compared = ComparedRelease(
        name=name,
        profile=profile,
        measures=results,
        changes=_changes(first, second, original, released, scenario.weight, unit),
        records=released.size,
        dropped=original.size - (released.size - new),
        added=new,
        broken=(),
        rules=0,
        not_measured=refused,
    )
    return compared, (original, released)


def _changes(
    first: LargeData,
    second: LargeData,
    original: Data,
    released: Data,
    weight: str | None,
    unit: str | None,
) -> tuple[ChangedVariable, ...]:
    """Each variable of the original: how many of its cells the release shows no longer; counted here or there."""
    here = {each.name: each for each in changed_cells(original, released)}
    there = [name for name in first.columns if name not in original.columns or name == weight]
    shared = [name for name in there if name in second.columns]
    one, other = both_sides(first, second, unit)
    gone = {name: first.variables[name].missing for name in there if name in first.variables}
    asked = expressions.changes(one, other, there, shared, gone)
    counts = first.database.collect(asked, what="counting changes").to_pylist()[0] if there else {}
    for at, name in enumerate(there):
        cells = int(counts[f"cells_{at}"] or 0)
        changed, empty = (int(counts.get(f"{what}_{at}", cells) or 0) for what in ("changed", "gone"))
        here[name] = ChangedVariable(name, cells, changed, empty, name not in shared)
    return tuple(here[name] for name in first.columns)
