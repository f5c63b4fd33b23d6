"""What a release writes to its folder, and what the first line of each file for the office says."""

from __future__ import annotations

import importlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.check import Caution, TacitaWarning
from tacita.data.atomic import INTERNAL, NOT_FOR_PUBLICATION, OFFICE_ONLY, new_folder, private_folder
from tacita.data.ddi import ddi_codebook
from tacita.data.description import described
from tacita.data.files import write
from tacita.mechanism import Mechanism
from tacita.protect.recode.regroup import text_of
from tacita.release.public_account import public_notes
from tacita.small_counts import shown_counts

if TYPE_CHECKING:
    from tacita.release.large_release import LargeRelease
    from tacita.release.release import Release
    from tacita.release.step_log import Changes
    from tacita.result import Result

PUBLIC = "public"
"""The folder of what may be published."""
REPORT = "report.html"
"""The page of either edition of the report."""
DDI = "codebook.xml"
DDI_TITLE = "Released microdata"
NO_ROOM = ".*no room to say that .* was perturbed"
"""A warning about files that are written without a codebook."""
SEED_NOTE = "whoever knows this seed can undo the protection"
LOG_NOTE = "how the release came about"
MODELS_NOTE = "what values were drawn from, which tells of the original data"
DECLARED_NOTE = "what was declared and done, not part of the release"
MATRICES = "transition_matrices.json"
MATRICES_NOTE = (
    "by which probabilities categories were exchanged; tacita corrected, or corrected_table, takes this file"
)
METHODS = "methods.json"
METHODS_NOTE = "what was done to the values of this file, for those who analyse it; in the order in which it was done"
IN_MATRICES = ("matrix", "categories", "stratum")
"""Parameters that are told with transition matrices only, where they still fit."""
NOT_PUBLIC = "NOT FOR PUBLICATION: this release does not keep the policy of the office."


def write_release(
    release: Release,
    target: Path,
    formats: tuple[str, ...],
    *,
    overwrite: bool,
    accepted: str | None,
    report: bool = True,
    results: Sequence[Result] = (),
) -> None:
    """Write a release as a whole; `accepted` is the reason for writing one that is not safe."""
    pages = _reports(release, results) if report else {}
    with new_folder(target, overwrite=overwrite) as beside:
        data = beside / PUBLIC
        if accepted is None:
            data.mkdir()
        else:
            data = private_folder(beside / NOT_FOR_PUBLICATION)
            said = f"{NOT_PUBLIC}\n{release.verdict}.\nWritten all the same, since: {accepted}\n"
            (data / "README.txt").write_text(said, encoding="utf-8")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TacitaWarning)
            for kind in formats:
                write(release.data, data / f"data.{kind}")
        # What they have no room for stands in the codebook beside them.
        remarks = [str(each.message) for each in caught if not re.match(NO_ROOM, str(each.message))]
        for remark in remarks:
            warnings.warn(remark, TacitaWarning, stacklevel=4)
        write(release.codebook(), data / "codebook.csv")
        file = described(release.data, release.scenario.weight)
        notes = public_notes(release.changes, file, len(release.original))
        _text(data / DDI, ddi_codebook(file, DDI_TITLE, notes=notes).rstrip("\n"))
        _write_matrices(public_matrices(release), data)
        _write_methods(release.changes, release.data.columns, len(release.data), data)
        internal = private_folder(beside / INTERNAL)
        write_internal(release, internal, accepted, remarks)
        for edition, page in pages.items():
            page.save((data if edition == PUBLIC else internal) / REPORT)


def _reports(release: Release, results: Sequence[Result]) -> dict[str, Any]:
    """Both editions of the report, written before anything else is: they measure what is not yet measured."""
    # The second call upwards besides a result's figure: a release finds its report by name.
    report = importlib.import_module("tacita.reports.report").report
    with warnings.catch_warnings():
        # What is said while measuring stands among the cautions of the report.
        warnings.simplefilter("ignore", Caution)
        return {INTERNAL: report(release, *results), PUBLIC: report(release, edition=PUBLIC)}


def public_matrices(release: Release) -> list[dict[str, Any]]:
    """The transition matrices that a step says may be published, and that fit the data as they are released."""
    return [
        dict(each)
        for number, change in enumerate(release.changes, start=1)
        for each in change.public
        if "matrix" in each["parameters"] and _still_fits(release, each, release.changes[number:])
    ]


def write_large_methods(release: LargeRelease, records: int, folder: Path) -> None:
    """Write the methods and transition matrices of a release of so many records: no step comes after PRAM that would
    change what it made."""
    matrices = [dict(each) for change in release.changes for each in change.public if "matrix" in each["parameters"]]
    _write_matrices([each for each in matrices if set(each["variables"]) <= set(release.columns)], folder)
    _write_methods(release.changes, release.columns, records, folder)


def _write_matrices(public: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the transition matrices that are to be published."""
    if public:
        _text(folder / MATRICES, json.dumps({"note": MATRICES_NOTE, "mechanisms": public}, indent=2))


def _write_methods(changes: Sequence[Changes], columns: Sequence[str], size: int, folder: Path) -> None:
    """Write what each step says may be told of what it did to released values: methods, amounts and rates, no seed."""
    told = [known for change in changes for each in change.public for known in _told_to_users(each, columns, size)]
    if told:
        _text(folder / METHODS, json.dumps({"note": METHODS_NOTE, "methods": told}, indent=2))


def _told_to_users(mechanism: Mapping[str, Any], columns: Sequence[str], size: int) -> Iterator[dict[str, Any]]:
    """One mechanism for data users, if it is about released variables or about records."""
    names = [name for name in mechanism["variables"] if name in columns]
    parameters = {
        name: value for name, value in mechanism["parameters"].items() if name not in IN_MATRICES and value is not None
    }
    if "cells" in parameters:
        # As in the report for the public: what would tell of single persons is withheld.
        shown = {name: shown_counts([count, size - count])[0] for name, count in parameters["cells"].items()}
        parameters["cells"] = {name: count for name, count in shown.items() if name in names and count is not None}
    if names or not mechanism["variables"]:
        said = Mechanism(mechanism["kind"], tuple(names), parameters, mechanism["perturbs"])
        yield {"what": str(said), **said.to_dict()}


def _still_fits(release: Release, mechanism: Mapping[str, Any], later: Sequence[Changes]) -> bool:
    """Whether its variables are still there, and no later step did more to them than to suppress some cells.

    The matrix would name categories that were recoded away, or suppressed wherever they stood.
    """
    names = {*mechanism["variables"], *mechanism["parameters"].get("stratum", {})}
    recoded = {
        name for each in later for name, count in each.cells.items() if count > each.suppressed.get(name, 0)
    }  # fmt: skip
    if not names <= set(release.data.columns) or names & recoded:
        return False
    suppressed = {name for each in later for name in each.suppressed}
    return all(_values_named(mechanism, name) <= _values_shown(release, name) for name in names & suppressed)


def _values_named(mechanism: Mapping[str, Any], name: str) -> set[str]:
    """The values of a variable that a transition matrix names: its categories, and the value of its stratum."""
    parameters, variables = mechanism["parameters"], list(mechanism["variables"])
    named = {parameters.get("stratum", {}).get(name)}
    if name in variables:
        rows = parameters["categories"]
        named |= {row if isinstance(row, str) else row[variables.index(name)] for row in rows}
    return {value for value in named if value is not None}


def _values_shown(release: Release, name: str) -> set[str]:
    """The values of a variable that the release shows, as texts."""
    return {text_of(value) for value in release.data.coded(name).values}


def write_internal(
    release: Release | LargeRelease, internal: Path, accepted: str | None, remarks: Sequence[str]
) -> None:
    """Write what stays in the office: what was declared, the seed, how the release came about, and what to look at."""
    declared: dict[str, Any] = {
        "plan": release.plan,
        "scenario": release.original_scenario,
        "policy": release.policy,
        **({"rules": release.rules} if release.rules else {}),
    }
    for name, each in declared.items():
        each.save(internal / f"{name}.toml")
        mark(internal / f"{name}.toml", DECLARED_NOTE)
    _text(internal / "seed.txt", f"# {OFFICE_ONLY}: {SEED_NOTE}", f"{release.seed:x}")
    reason = [] if accepted is None else [f"accepted though not safe: {accepted}"]
    _text(
        internal / "log.txt",
        f"{OFFICE_ONLY}: {LOG_NOTE}",
        f"The release is {release.verdict}",
        *reason,
        str(release),
        *remarks,
    )
    said = {
        "note": f"{OFFICE_ONLY}: {LOG_NOTE}",
        "verdict": release.verdict,
        "accepted_unsafe": accepted,
        "written": list(remarks),
    }
    _text(internal / "log.json", json.dumps(said | release.to_dict(), indent=2))
    models = {each.label: list(each.fitted) for each in release.changes if each.fitted}
    if models:
        _text(internal / "models.json", json.dumps({"note": f"{OFFICE_ONLY}: {MODELS_NOTE}", "steps": models}))
    _text(internal / "checklist.txt", f"{OFFICE_ONLY}: to go through before publication", str(release.checklist()))


def mark(path: Path, what: str) -> None:
    """Put a comment before a TOML file that says that it is for the office only."""
    path.write_text(f"# {OFFICE_ONLY}: {what}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


def _text(path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
