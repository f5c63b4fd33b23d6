"""`tacita report`: what was found of a file, a release or several, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita.cli.arguments import (
    Household,
    Missing,
    OptionalNumericKeys,
    Overwrite,
    PolicyFile,
    SafeK,
    ScenarioFile,
    Weight,
)
from tacita.cli.assess import measures_of
from tacita.cli.compare import declared_of, releases_of
from tacita.cli.terminal import names, pieces, progress_bar, say


def report_files(
    original: Annotated[Path, typer.Argument(help="The original file.")],
    released: Annotated[
        list[Path] | None,
        typer.Argument(help="Releases of it: folders that protect or run have written, or files. None: its own risk."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write, an .html file.")] = Path("report.html"),
    edition: Annotated[
        str, typer.Option(help="internal, for those who decide; public, for users of the data, of one release folder.")
    ] = "internal",
    title: Annotated[str, typer.Option(help="Title of the page.")] = "",
    keys: Annotated[list[str] | None, typer.Option(help="Key variables, separated by commas.")] = None,
    numeric_keys: OptionalNumericKeys = None,
    sensitive: Annotated[list[str] | None, typer.Option(help="Sensitive variables, separated by commas.")] = None,
    weight: Weight = None,
    household: Household = None,
    missing: Missing = None,
    scenario: ScenarioFile = None,
    policy: PolicyFile = None,
    k: SafeK = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="Further measures, separated by commas: of the file without releases, else of both files."),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Column that identifies the records in all files.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write what was found as one page that needs no connection: for those who decide, or for users of the data."""
    from tacita.data import Data
    from tacita.data.atomic import check_free
    from tacita.data.files import read
    from tacita.reports.report import check_edition, checked_page, report

    paths = released or []
    checked_page(out)
    check_edition(edition, is_release=len(paths) == 1 and paths[0].is_dir())
    who, safe = declared_of(
        paths,
        (scenario, {"keys": names(keys), "numeric_keys": names(numeric_keys), "sensitive": names(sensitive),
                    "weight": weight, "household": household, "missing": missing}),
        (policy, {"k": k}),
    )  # fmt: skip
    further = measures_of(pieces(measure))
    check_free(out, overwrite=overwrite, kind="file")
    with progress_bar() as progress:
        progress(0.0, "reading")
        data = Data.of(read(original))
        subject = _subject(data, releases_of(paths, data, unit), who, safe, further, unit, progress)
        results = [subject.compare(measures=further, progress=progress)] if further and _is_release(subject) else []
        written = report(subject, *results, edition=edition, title=title, progress=progress).save(
            out, overwrite=overwrite
        )
    say(f"written: {written}{', to stay in the office' if edition == 'internal' else ''}")


def _subject(data: Any, releases: dict[str, Any], who: Any, safe: Any, further: Any, unit: Any, progress: Any) -> Any:
    """What the report is of: the file itself, one saved release, or releases side by side."""
    from tacita.assessment.assess import assess
    from tacita.comparison.compare import compare

    if not releases:
        return assess(data, who, safe, measures=further, progress=progress)
    first = next(iter(releases.values()))
    if len(releases) == 1 and _is_release(first):
        return first
    return compare(data, releases, who, safe, measures=further, unit=unit, progress=progress)


def _is_release(subject: Any) -> bool:
    return hasattr(subject, "account")


COMMANDS = {"report": report_files}
