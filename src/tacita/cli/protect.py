"""`tacita protect` and `tacita run`: from a file to a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.check import TacitaError
from tacita.cli.arguments import (
    Household,
    Identifiers,
    Missing,
    OptionalNumericKeys,
    OverwriteFolder,
    Person,
    PolicyFile,
    PopulationSize,
    SafeHouseholdRisk,
    SafeK,
    SafeRate,
    SafeRisk,
    SamplingFraction,
    ScenarioFile,
    Sensitive,
    Weight,
)
from tacita.cli.assess import given_policy, given_scenario
from tacita.cli.terminal import complain, names, pieces, progress_bar, say

if TYPE_CHECKING:
    from tacita.release.plan import Plan

SeedFile = Annotated[
    Path | None, typer.Option(help="File with the seed of an earlier release (internal/seed.txt), to repeat it.")
]
AcceptUnsafe = Annotated[
    str | None, typer.Option(help="Reason for writing a release that is not safe, as not for publication.")
]


Verbose = Annotated[bool, typer.Option(help="The whole assessment before and after.")]


def protect_file(
    file: Annotated[Path, typer.Argument(help="The survey file.")],
    out: Annotated[Path, typer.Option(help="Folder for the release: public/ and internal/.")],
    plan: Annotated[Path | None, typer.Option(help="Plan file (TOML): the steps.")] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            help='A step as `assess` proposes it, "Suppress(k=3)"; repeat it for more, after those of --plan.'
        ),
    ] = None,
    scenario: ScenarioFile = None,
    policy: PolicyFile = None,
    keys: Annotated[
        list[str] | None, typer.Option(help="Key variables, separated by commas, in place of a file.")
    ] = None,
    numeric_keys: OptionalNumericKeys = None,
    weight: Weight = None,
    household: Household = None,
    person: Person = None,
    identifiers: Identifiers = None,
    sensitive: Sensitive = None,
    missing: Missing = None,
    population_size: PopulationSize = None,
    sampling_fraction: SamplingFraction = None,
    k: SafeK = None,
    risk: SafeRisk = None,
    rate: SafeRate = None,
    household_risk: SafeHouseholdRisk = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Rules the release should keep, separated by commas, as 'income >= 0'.")
    ] = None,
    formats: Annotated[list[str] | None, typer.Option(help="What to write, separated by commas: parquet,csv.")] = None,
    seed_file: SeedFile = None,
    memory: Annotated[
        str | None, typer.Option(help="What may be used, as 4GB: a Parquet or text file that needs more stays on disk.")
    ] = None,
    overwrite: OverwriteFolder = False,
    accept_unsafe: AcceptUnsafe = None,
    verbose: Verbose = False,
) -> None:
    """Apply a plan to a file: risk before and after, and a release that is complete or not there."""
    from tacita.data.files import read
    from tacita.engine.source import belongs_on_engine
    from tacita.release.judged import checked_reason
    from tacita.release.project import protect
    from tacita.release.release import checked_folder, checked_formats
    from tacita.rules import rule_of

    steps = _steps(plan, step)
    named = {"keys": names(keys), "numeric_keys": names(numeric_keys), "sensitive": names(sensitive)}
    sizes = {"weight": weight, "population_size": population_size, "sampling_fraction": sampling_fraction}
    of_whom = {"household": household, "person": person, "identifiers": names(identifiers)}
    who = given_scenario(scenario, {**named, **sizes, **of_whom, "missing": missing})
    safe = given_policy(policy, {"k": k, "risk": risk, "rate": rate, "household_risk": household_risk})
    rules = tuple(rule_of(text) for text in pieces(rule))
    kinds = checked_formats(("parquet",) if not formats else names(formats) or ())
    reason = None if accept_unsafe is None else checked_reason(accept_unsafe)
    inputs = (file, plan, scenario, policy, seed_file)
    checked_folder(out, overwrite=overwrite, inputs=inputs)
    if belongs_on_engine(file, memory):
        _check_large(kinds, rules)
        _protect_large(file, memory, (who, safe, steps), _seed(seed_file), (out, overwrite, reason, verbose))
        return
    with progress_bar() as progress:
        progress(0.0, "reading")
        done = protect(read(file), who, safe, steps, rules=rules, seed=_seed(seed_file), progress=progress)
    _finish(done, out, kinds, overwrite, reason, verbose=verbose)


def _steps(plan: Path | None, written: list[str] | None) -> Plan:
    """The steps of a plan file, and those that are written on the command line behind them."""
    from tacita.protect.written_step import written_step
    from tacita.release.plan import Plan

    if plan is None and not written:
        raise TacitaError(
            'no steps are given; name them as `tacita assess` proposes them, as --step "Suppress(k=3)", or a file '
            "with --plan (`tacita steps` lists what there is)."
        )
    return (Plan() if plan is None else Plan.load(plan)).then(*map(written_step, written or ()))


def _check_large(formats: tuple[str, ...], rules: tuple[Any, ...]) -> None:
    """What a file larger than memory can be written as, and what is looked at in it."""
    if formats != ("parquet",):
        raise TacitaError("a file larger than memory is released as Parquet; leave --formats out.")
    if rules:
        raise TacitaError("rules are checked in memory only; leave --rule out, or give more --memory.")


def _protect_large(file: Path, memory: str | None, asked: Any, seed: int | None, how: Any) -> None:
    """Apply a plan to a file on an engine; the release is written part by part."""
    from tacita.data.large_data import LargeData
    from tacita.release.project import protect_large

    who, safe, steps = asked
    out, overwrite, reason, verbose = how
    with progress_bar() as progress, LargeData.of(file, memory=memory) as large:
        done = protect_large(large, who, safe, steps, seed=seed, progress=progress)
        release: Any = done.release
        refused = not done.safe and reason is None
        if not refused:
            release.save(out, overwrite=overwrite, accept_unsafe=reason, progress=progress)
    _print_result(done, out, refused, verbose=verbose)


def run_project(
    project: Annotated[Path, typer.Argument(help="Project file (TOML): data, scenario, policy, plan, rules, release.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the release, in place of the project's.")] = None,
    seed_file: SeedFile = None,
    overwrite: OverwriteFolder = False,
    accept_unsafe: AcceptUnsafe = None,
    verbose: Verbose = False,
) -> None:
    """Do what a project file says: read, assess, protect, assess again, write the release."""
    from tacita.release.judged import checked_reason
    from tacita.release.project import Project
    from tacita.release.release import checked_folder

    declared = Project.load(project)
    reason = declared.accept_unsafe if accept_unsafe is None else checked_reason(accept_unsafe)
    target = out or declared.home / declared.folder
    checked_folder(target, overwrite=overwrite, inputs=(project, seed_file, *declared.inputs()))
    with progress_bar() as progress:
        done = declared.run(seed=_seed(seed_file), progress=progress)
    _finish(done, target, declared.formats, overwrite, reason, verbose=verbose)


def _finish(
    done: Any, out: Path, formats: tuple[str, ...], overwrite: bool, reason: str | None, *, verbose: bool
) -> None:
    """Write a release and then say everything: a reader that has seen enough must not keep it from being written."""
    release = done.release
    refused = not release.safe and reason is None
    if not refused:
        release.save(out, formats=formats, overwrite=overwrite, accept_unsafe=reason)
    _print_result(done, out, refused, verbose=verbose)


def _print_result(done: Any, out: Path, refused: bool, *, verbose: bool) -> None:
    """What was done, and where it is."""
    from tacita.data.atomic import INTERNAL, NOT_FOR_PUBLICATION
    from tacita.release.written import PUBLIC

    release = done.release
    say(f"{done.details() if verbose else done}\n\n{release.checklist()}")
    if refused:
        complain(
            "nothing written, since the release is not safe; change the plan, or give the reason with "
            "--accept-unsafe to write it as not for publication."
        )
        raise typer.Exit(1)
    if release.safe:
        say(f"\nwritten: {out / PUBLIC} for publication, {out / INTERNAL} to stay in the office")
    else:
        say(f"\nwritten: {out / NOT_FOR_PUBLICATION} and {out / INTERNAL}, both to stay in the office")


def _seed(path: Path | None) -> int | None:
    """The seed in a file; it is never on the command line, which others can see."""
    from tacita.release.seed_of import seed_of

    return None if path is None else seed_of(path)


COMMANDS = {"protect": protect_file, "run": run_project}
