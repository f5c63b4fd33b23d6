"""Which measures of two files a comparison takes, and what they find."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from tacita.assessment.assess import Context
from tacita.check import TacitaError
from tacita.comparison.comparison import ComparedRelease
from tacita.comparison.files import ReleasedFile
from tacita.data import Data
from tacita.measures import called_for, checked_measure_options, find, kind_of, measure_names
from tacita.policy import Policy
from tacita.progress import Progress, part
from tacita.result import Result
from tacita.scenario import Scenario, with_codes


def measured(
    file: ReleasedFile,
    original: Data,
    policy: Policy,
    asked: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, Result],
    progress: Progress,
) -> tuple[dict[str, Result], dict[str, str]]:
    """Every measure of the two files that a comparison calls for or that was asked for, by name.

    One that is called for and cannot be measured here, as where a file has no numbers, does not end the comparison:
    besides, why not.
    """
    released = with_codes(file.data, file.scenario).remembering()
    context = Context(released, file.scenario, policy, None, original, {})
    names = [name for name in measure_names() if name in asked or _is_called_for(name, context)]
    found: dict[str, Result] = {}
    refused: dict[str, str] = {}
    for at, name in enumerate(names):
        progress(at / len(names), f"{file.name}: {name.replace('_', ' ')}")
        limited = policy.limit_of(name)
        if name in known and name not in asked and limited is not None:
            # As the policy judges it.
            found[name] = known[name]
            continue
        given = _options(name, policy, asked)
        given["progress"] = part(progress, at / len(names), (at + 1) / len(names))
        try:
            found[name] = find(name).function(original, released, file.scenario, **given)
        except TacitaError as error:
            if name in asked:
                raise
            refused[name] = str(error)
    return found, refused


def _options(name: str, policy: Policy, asked: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The options of a measure as asked for, with the policy where it takes one."""
    given = checked_measure_options(name, asked.get(name, {}))
    options = {each.name for each in find(name).parameters}
    return given | ({"policy": policy} if "policy" in options and "policy" not in given else {})


def measured_of_original(
    original: Data,
    scenario: Scenario,
    policy: Policy,
    asked: Mapping[str, Mapping[str, Any]],
    releases: Sequence[ComparedRelease],
) -> dict[str, Result]:
    """What the measures of risk that every comparison calls for find of the original, if it were published itself."""
    names = dict.fromkeys(name for each in releases for name in each.measures)
    unasked = [name for name in names if kind_of(name) == "risk" and "comparison" in (called_for(name) or ())]
    found = {}
    for name in unasked:
        # What was measured of a release can be measured of the original, which lacks nothing that a release has.
        with contextlib.suppress(TacitaError):
            found[name] = find(name).function(original, original, scenario, **_options(name, policy, asked))
    return found


def _is_called_for(name: str, context: Context) -> bool:
    reasons = called_for(name)
    if reasons is None or "comparison" not in reasons:
        return False
    others = [need for need in reasons if need != "comparison"]
    return all(context.has(need) for need in others) and not context.lacks(find(name))
