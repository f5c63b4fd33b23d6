"""`tacita compare`: an original and its releases, what an intruder gains and what a researcher loses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita.check import TacitaError
from tacita.cli.arguments import (
    Household,
    Missing,
    OptionalNumericKeys,
    OverwriteFolder,
    PolicyFile,
    SafeK,
    ScenarioFile,
    Weight,
)
from tacita.cli.assess import given_policy, given_scenario, measures_of
from tacita.cli.terminal import names, pieces, progress_bar, say

PAGE = "comparison.html"
"""The page that a comparison is written to, among other files."""


def compare_files(
    original: Annotated[Path, typer.Argument(help="The original file.")],
    released: Annotated[
        list[Path], typer.Argument(help="Releases of it: files, or folders that protect or run have written.")
    ],
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
        typer.Option(help="Further measures of two files, separated by commas: distance_linkage:distance=gower."),
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Rules the releases should keep, separated by commas, as 'income >= 0'.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Column that identifies the records in all files.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="What may be used, as 4GB: Parquet or text files that need more stay on disk.")
    ] = None,
    verbose: Annotated[bool, typer.Option(help="All tables and cautions.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables, the map of risk and utility, JSON.")] = None,
    figures: Annotated[
        bool, typer.Option(help="With --out: figures before and after, and the confidentiality plot, of each release.")
    ] = False,
    overwrite: OverwriteFolder = False,
    fail_if_unsafe: Annotated[bool, typer.Option(help="Exit with 1 if a release does not keep the policy.")] = False,
) -> None:
    """What an intruder gains and what a researcher loses by each release, side by side."""
    from tacita.comparison.compare import compare
    from tacita.data import Data
    from tacita.data.atomic import check_free
    from tacita.data.files import read
    from tacita.engine.source import belongs_on_engine

    who, safe = declared_of(
        released,
        (scenario, {"keys": names(keys), "numeric_keys": names(numeric_keys), "sensitive": names(sensitive),
                    "weight": weight, "household": household, "missing": missing}),
        (policy, {"k": k}),
    )  # fmt: skip
    if figures and out is None:
        raise TacitaError("figures are written to a folder; name it with --out.")
    further, rules = measures_of(pieces(measure)), pieces(rule)
    if out is not None:
        check_free(out, overwrite=overwrite, inputs=(original, *released, scenario, policy))
    with progress_bar() as progress:
        progress(0.0, "reading")
        large = any(belongs_on_engine(each, memory) for each in (original, *released))
        data = original if large else Data.of(read(original))
        releases = _named(released) if large else releases_of(released, data, unit)
        how: dict[str, Any] = {"measures": further, "rules": rules, "unit": unit, "memory": memory}
        found = compare(data, releases, who, safe, **how, progress=progress)
        written = None if out is None else save_comparison(found, out, overwrite=overwrite, figures=figures)
    say(found.details() if verbose else str(found).replace("see details()", "--verbose shows them"))
    if written is not None:
        say(f"\nwritten: {written} and other files beside it, to stay in the office")
    if fail_if_unsafe and not found.safe:
        raise typer.Exit(1)


def declared_of(
    released: list[Path],
    scenario: tuple[Path | None, dict[str, Any]],
    policy: tuple[Path | None, dict[str, Any]],
) -> tuple[Any, Any]:
    """Scenario and policy of the command line; what it does not say, as the first saved release declares it."""
    from tacita.data.atomic import INTERNAL
    from tacita.release.saved import is_saved_release

    saved = next((path / INTERNAL for path in released if is_saved_release(path)), None)
    said = any(value is not None for value in scenario[1].values())
    if saved is not None and scenario[0] is None and not said:
        scenario = (saved / "scenario.toml", scenario[1])
    if saved is not None and policy[0] is None:
        policy = (saved / "policy.toml", policy[1])
    return given_scenario(*scenario), given_policy(*policy)


def releases_of(paths: list[Path], original: Any, unit: str | None) -> dict[str, Any]:
    """Releases by the names of their files or folders; a folder's release is made again, so that records are known."""
    from tacita.data import Data
    from tacita.data.files import read
    from tacita.release.saved import is_saved_release, saved_release

    return {
        name: saved_release(path, original) if is_saved_release(path) else Data.of(read(path))
        for name, path in _named(paths).items()
    }


def _named(paths: list[Path]) -> dict[str, Path]:
    """Files or folders by their names, each once."""
    found: dict[str, Path] = {}
    for path in paths:
        number, name = 1, path.stem or path.resolve().name
        while name in found:
            number += 1
            name = f"{path.stem} {number}"
        found[name] = path
    return found


def save_comparison(comparison: Any, out: Path, *, overwrite: bool, figures: bool = False) -> Path:
    """A comparison in a folder, all or nothing: one page, the tables, the figures; for the office only."""
    import json

    from tacita.data.atomic import INTERNAL, OFFICE_ONLY, new_folder, private_folder
    from tacita.data.files import write
    from tacita.plots.internal.note import for_internal_use
    from tacita.plots.save import save
    from tacita.reports.comparison_page import comparison_page

    note = f"{OFFICE_ONLY}: what an intruder gains and what a researcher loses by each release"
    with new_folder(out, overwrite=overwrite) as folder:
        internal = private_folder(folder / INTERNAL)
        (internal / "comparison.txt").write_text(f"{note}\n\n{comparison.details()}\n", encoding="utf-8")
        listed = {"note": note} | json.loads(comparison.to_json())
        text = json.dumps(listed, indent=2, ensure_ascii=False, allow_nan=False)
        (internal / "comparison.json").write_text(text + "\n", encoding="utf-8")
        write(comparison.to_frame(), internal / "comparison.parquet")
        chart = for_internal_use(comparison.plot())
        save(chart, internal / "risk_utility_map.png")
        (internal / PAGE).write_text(comparison_page(comparison), encoding="utf-8")
        for place, release in enumerate(comparison.releases if figures else (), start=1):
            _save_figures(comparison, release.name, internal, f"release_{place}")
    return out / INTERNAL / PAGE


def _save_figures(comparison: Any, release: str, folder: Path, name: str) -> None:
    """Every figure of one release that its variables allow; names of releases need not be names of files."""
    from tacita.plots.internal.note import for_internal_use
    from tacita.plots.save import save

    for figure in comparison.figures()[1:]:
        try:
            chart = comparison.plot(figure, release=release)
        except TacitaError:
            # No numbers to draw a density of, no categories for a mosaic.
            continue
        save(for_internal_use(chart), folder / f"{name}_{figure}.png")


COMMANDS = {"compare": compare_files}
