"""Compare an original with its releases: risk and loss of each, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacita import check
from tacita.assessment.assess import assess
from tacita.check import TacitaError
from tacita.comparison.changed_cells import changed_cells
from tacita.comparison.comparison import ComparedRelease, Comparison
from tacita.comparison.files import ReleasedFile, named_releases, opened_release, original_of, scenario_of
from tacita.comparison.measured import measured, measured_of_original
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.distance.truth import shared_records
from tacita.engine.source import belongs_on_engine
from tacita.measures import (
    check_measure_name,
    find,
)
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress, part
from tacita.rules import Rules, checked_rules
from tacita.scenario import Scenario, prepared_data


def compare(
    original: Any,
    releases: Any,
    scenario: Scenario | None = None,
    policy: Policy | None = None,
    *,
    measures: Any = (),
    rules: Any = (),
    unit: str | None = None,
    memory: int | str | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """What an intruder gains and what a researcher loses by each of one or several releases of a file.

    `releases` is one release or several: a list, or a mapping from names; each a `Release`, data, a path or any table.
    `scenario` and `policy` are those of the first release unless given. Every release is assessed and held against the
    original by every measure that a comparison calls for, of risk and of loss, and by those named in `measures` (names,
    or a mapping of names to options). `rules` are relations that a release should keep; a `Release` knows its own.
    Files without record numbers belong together row by row, or by the column `unit`. Files that need more than `memory`
    ("4GB"; half of the machine's unless given), and tables of DuckDB, Ibis and Spark, stay on their engine.

    `print` shows one table; `tables()` all of them, `plot()` the map of risk and utility.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> coarse = tc.Plan([tc.Recode("age", width=20)]).apply(survey.data, survey.scenario)
    >>> compared = compare(survey.data, {"coarse": coarse}, survey.scenario)
    >>> [each.name for each in compared.releases], compared.releases[0].safe
    (['coarse'], False)
    """
    progress(0.0, "reading")
    unit = None if unit is None else check.column_name("unit", unit)
    named = named_releases(releases)
    who, limits = scenario_of(scenario, named), checked_policy(_policy_of(policy, named))
    asked = _asked(measures)
    if any(isinstance(each, LargeData) or belongs_on_engine(each, memory) for each in (original, *named.values())):
        from tacita.comparison.on_engine import compare_on_engine

        return compare_on_engine(original, named, who, limits, asked, rules, unit, memory, progress)
    before_file = original_of(original, named)
    data = prepared_data(before_file, who)
    files = [opened_release(name, each, before_file, who, unit) for name, each in named.items()]
    before = assess(before_file, who, limits, progress=part(progress, 0.05, 0.2))
    found = []
    for at, file in enumerate(files):
        show = part(progress, 0.2 + 0.8 * at / len(files), 0.2 + 0.8 * (at + 1) / len(files))
        found.append(_compared(file, data, before_file, limits, asked, Rules.of(rules), show))
    itself = measured_of_original(data, who, limits, asked, found)
    progress(1.0, "done")
    released = {file.name: file.data for file in files}
    return Comparison(who, limits, before, tuple(found), before_file, released, measured_before=itself)


def _policy_of(policy: Policy | None, named: Mapping[str, Any]) -> Policy | None:
    if policy is not None:
        return policy
    known = [getattr(each, "policy", None) for each in named.values() if getattr(each, "original", None) is not None]
    return known[0] if known else None


def _asked(measures: Any) -> dict[str, dict[str, Any]]:
    """The measures asked for with their options; of two files, since others are part of the assessment."""
    named = measures if isinstance(measures, Mapping) else dict.fromkeys(check.names("measures", measures))
    for name in check.mapping("measures", named):
        check_measure_name("measures", name)
        if find(name).files != 2:
            raise TacitaError(
                f"{name} is a measure of one file; a comparison takes measures of two, assess the others."
            )
    return {name: check.mapping(f"options of {name}", options or {}) for name, options in named.items()}


def _compared(
    file: ReleasedFile,
    data: Data,
    original: Data,
    policy: Policy,
    asked: Mapping[str, Mapping[str, Any]],
    rules: Rules,
    progress: Progress,
) -> ComparedRelease:
    """Everything that is compared of one release."""
    progress(0.0, f"{file.name}: risk")
    profile = file.known_profile(policy)
    if profile is None:
        source = file.data if file.release is None else file.release
        profile = assess(source, file.scenario, policy, original=original, progress=part(progress, 0.0, 0.5))
    results, refused = measured(file, data, policy, asked, profile.further, part(progress, 0.5, 0.95))
    progress(0.95, f"{file.name}: what changed")
    shared = shared_records(data, file.data, None)
    own_rules = rules or (file.release.rules if file.release is not None else Rules())
    return ComparedRelease(
        name=file.name,
        profile=profile,
        measures=results,
        changes=changed_cells(original, file.data),
        records=len(file.data),
        dropped=len(data) - len(shared.original),
        added=shared.new,
        broken=tuple(each for each in checked_rules(own_rules, original, file.data) if not each.kept),
        rules=len(own_rules),
        not_measured=refused,
    )
