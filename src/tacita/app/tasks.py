"""What the worker is asked to do: functions of drafts' parts that call the library, each with `progress`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacita.app.drawn import Drawn, drawn
from tacita.data import Data
from tacita.measures import find
from tacita.policy import Policy
from tacita.progress import Progress, part
from tacita.protect.step import Step
from tacita.release.advance import State, advance, start
from tacita.release.plan import release_of
from tacita.release.release import Release
from tacita.scenario import Scenario


def opened(path: str, options: dict[str, Any], progress: Progress) -> Data:
    """A file, read in a child process that a damaged file may crash."""
    from tacita.apart import reading_in_process
    from tacita.data.files import read

    progress(0.0, "reading")
    with reading_in_process():
        return read(Path(path), **options)


def started(data: Data, scenario: Scenario, policy: Policy, seed: int, progress: Progress) -> State:
    """The state before the first step."""
    progress(0.0, "starting")
    return start(data, scenario, policy, seed)


def advanced(state: State, step: Step, progress: Progress) -> State:
    """The state after one more step."""
    return advance(state, step, progress)


def judged(state: State, rules: tuple[str, ...], progress: Progress) -> Release:
    """The release that a state is, with its risk measured and its rules checked."""
    release = release_of(state, rules)
    profile = release.assess(progress=progress)
    # What pages show of it is worked out here, once, and not while somebody waits for a page.
    _ = profile.repairs, profile.records, release.cautions
    return release


def compared(release: Release, progress: Progress) -> Release:
    """The release with what an intruder gains and a researcher loses measured too."""
    release.compare(progress=progress)
    return release


def measured(name: str, release: Release, options: dict[str, Any], progress: Progress) -> Any:
    """One measure of a release: of its file, or of the original and it."""
    own = find(name)
    known = {each.name for each in own.parameters}
    given = {**({"policy": release.policy} if "policy" in known and "policy" not in options else {}), **options}
    if own.files == 1:
        return own.function(release, release.scenario, **given, progress=progress)
    return own.function(release.original, release, release.scenario, **given, progress=progress)


def plotted(release: Release, progress: Progress) -> Any:
    """The confidentiality plot of a release that was compared: the one that was measured, or that of its categories."""
    progress(0.0, "the confidentiality plot")
    return release.compare().confidentiality()


def threshold_preview(
    data: Data, scenario: Scenario, policy: Policy, risk: float, seed: int, progress: Progress
) -> Any:
    """What suppression down to a risk would do: cells blanked by variable, expected re-identifications after."""
    from tacita.assessment.assess import assess
    from tacita.protect.suppress.suppress import Suppress

    state = start(data, scenario, policy, seed)
    # Neither closed nor compared: the cells alone, before anything is kept.
    after = advance(state, Suppress(risk=risk, closed=False), part(progress, 0.0, 0.8))
    profile = assess(after.data, after.scenario, policy, progress=part(progress, 0.8, 1.0))
    done = after.changes[-1]
    return {"cells": dict(done.suppressed), "records": done.records, "expected": profile.expected, "risk": risk}


def figure(result: Any, name: str | None, options: dict[str, Any], progress: Progress) -> Drawn:
    """A figure of a result."""
    progress(0.0, "drawing")
    return _drawn(result.plot(name, **options))


def saved(release: Release, folder: str, formats: tuple[str, ...], reason: str | None, progress: Progress) -> str:
    """The release in a folder: public, and internal."""
    progress(0.1, "writing")
    release.save(folder, formats=formats, overwrite=True, accept_unsafe=reason)
    return folder


def judged_by(release: Release, policy: Policy, progress: Progress) -> tuple[str, str]:
    """The verdict on a release under another policy, and why."""
    from tacita.assessment.assess import assess
    from tacita.result import summary

    profile = assess(release, release.scenario, policy, progress=progress)
    word, _, why = summary(profile.verdicts()).partition(":")
    return word.removesuffix(" under this policy"), why.strip()


def before_after(comparison: Any, name: str, options: dict[str, Any], progress: Progress) -> Drawn:
    """A figure of both files."""
    progress(0.0, "drawing")
    return _drawn(comparison.before_after(**options).plot(name))


def _drawn(chart: Any) -> Drawn:
    """A chart as pages hold it; to hold it against the schema of Vega-Lite would take as long again."""
    return drawn(chart.to_dict(format="vega-lite", validate=False))


def checked_list(release: Release, progress: Progress) -> Any:
    """The checklist of a release."""
    progress(0.0, "going through the checklist")
    return release.checklist()
