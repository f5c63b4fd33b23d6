"""`tacita assess`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tacita import check
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
    Register,
    SafeHouseholdRisk,
    SafeK,
    SafeRate,
    SafeRisk,
    SamplingFraction,
    ScenarioFile,
    Sensitive,
    Weight,
)
from tacita.cli.terminal import names, pieces, progress_bar, say


def assess(
    file: Annotated[
        Path,
        typer.Argument(help="The survey file: text, Parquet, Arrow, Excel, SPSS, Stata or SAS, by its suffix."),
    ],
    keys: Annotated[list[str] | None, typer.Option(help="Key variables, separated by commas.")] = None,
    weight: Weight = None,
    household: Household = None,
    person: Person = None,
    identifiers: Identifiers = None,
    sensitive: Sensitive = None,
    numeric_keys: OptionalNumericKeys = None,
    missing: Missing = None,
    attack: Annotated[str | None, typer.Option(help="Attack model, M1 to M5.")] = None,
    attack_probability: Annotated[float | None, typer.Option(help="Probability of an attack, for M4.")] = None,
    population_size: PopulationSize = None,
    sampling_fraction: SamplingFraction = None,
    k: SafeK = None,
    risk: SafeRisk = None,
    rate: SafeRate = None,
    rate_at: Annotated[
        str | None, typer.Option(help="Which rate that is: expected, or upper, the end of its interval (policy).")
    ] = None,
    household_risk: SafeHouseholdRisk = None,
    scenario: ScenarioFile = None,
    policy: PolicyFile = None,
    register: Register = None,
    original: Annotated[Path | None, typer.Option(help="The original file, where this one is a release of it.")] = None,
    model: Annotated[
        str | None, typer.Option(help="How F is estimated: latent, or benedetti_franconi from f and weights alone.")
    ] = None,
    method: Annotated[str, typer.Option(help="exact, or approximate as in sdcMicro.")] = "exact",
    quantile: Annotated[float | None, typer.Option(help="Risk at this quantile of F, e.g. 0.05.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Further measures, separated by commas: presence, or with options suda:largest=2;score=shared; or all."
        ),
    ] = None,
    riskiest: Annotated[int, typer.Option(help="Show so many of the riskiest records.")] = 0,
    memory: Annotated[
        str | None, typer.Option(help="What may be used, as 4GB: a Parquet or text file that needs more stays on disk.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results: JSON, records, figure.")] = None,
    overwrite: OverwriteFolder = False,
    fail_if_unsafe: Annotated[bool, typer.Option(help="Exit with 1 if the file does not keep the policy.")] = False,
) -> None:
    """Measure the risk of re-identification of every record and of the whole file."""
    from tacita.assessment.assess import assess as measure_risk
    from tacita.data.atomic import check_free
    from tacita.data.files import read
    from tacita.engine.source import belongs_on_engine

    who = given_scenario(
        scenario,
        {
            "keys": names(keys),
            "weight": weight,
            "household": household,
            "person": person,
            "identifiers": names(identifiers),
            "sensitive": names(sensitive),
            "numeric_keys": names(numeric_keys),
            "missing": missing,
            "model": model,
            "attack": attack,
            "attack_probability": attack_probability,
            "population_size": population_size,
            "sampling_fraction": sampling_fraction,
        },
    )
    safe = given_policy(
        policy, {"k": k, "risk": risk, "rate": rate, "rate_at": rate_at, "household_risk": household_risk}
    )
    how: dict[str, Any] = {"original": original, "register": register, "method": method, "quantile": quantile}
    further = measures_of(pieces(measure))
    if out is not None:
        # Before the work, not after it.
        inputs = (file, scenario, policy, register, original)
        check_free(out, overwrite=overwrite, inputs=inputs)
    with progress_bar() as progress:
        data = file if belongs_on_engine(file, memory) else read(file)
        profile = measure_risk(data, who, safe, measures=further, memory=memory, progress=progress, **how)
    _report(profile, riskiest, out, overwrite)
    if fail_if_unsafe and not profile.safe:
        raise typer.Exit(1)


def _report(profile: Any, riskiest: int, out: Path | None, overwrite: bool) -> None:
    """Print an assessment, and write it if a folder was named."""
    say(str(profile))
    if riskiest:
        say(profile.riskiest_table(riskiest).text())
    if out is not None:
        say(f"\nwritten: {save_profile(profile, out, overwrite=overwrite)}")


def measures_of(texts: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """`name:option=value;option=value` as names with options; values as TOML writes them, or plain text."""
    import tomllib

    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, _, rest = text.partition(":")
        options = found.setdefault(name.strip(), {})
        for part in filter(None, (each.strip() for each in rest.split(";"))):
            option, given, value = part.partition("=")
            if not given:
                raise TacitaError(f"options of a measure are written option=value; got {check.given(part)}.")
            if option.strip() in options:
                raise TacitaError(f"{option.strip()} of measure {name.strip()} is given twice; give it once.")
            try:
                options[option.strip()] = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                options[option.strip()] = value.strip()
    return found


def given_scenario(path: Path | None, given: dict[str, Any]) -> Any:
    """The scenario of a file, with what the command line says in place of it."""
    from tacita.scenario import Scenario

    said = {name: value for name, value in given.items() if value is not None}
    if path is None:
        if not {"keys", "numeric_keys"} & set(said):
            raise TacitaError("say what an intruder could know: --keys sex,age,region, or --scenario FILE.")
        return Scenario(**said)
    sources = ("weight", "population_size", "sampling_fraction")
    if any(name in said for name in sources):
        # What the command line says of the population stands in place of what the file says.
        said = dict.fromkeys(sources) | said
    return _with_scales(replace(Scenario.load(path), **said))


def _with_scales(scenario: Any) -> Any:
    """A scenario that does not contradict the scales that the command line declares."""
    from tacita.data.reading import declared_scales

    scales = declared_scales()
    fresh = {
        name: replace(known, scale=scales.get(name, known.scale), order=() if name in scales else known.order)
        for name, known in scenario.variables.items()
    }
    return replace(scenario, variables=fresh)


def given_policy(path: Path | None, given: dict[str, Any]) -> Any:
    """The policy of a file or a preset, with what the command line says in place of it."""
    from tacita.policy import PRESETS, Policy

    said = {name: value for name, value in given.items() if value is not None}
    if str(path) in PRESETS:
        return Policy.preset(str(path), **said)
    return replace(Policy() if path is None else Policy.load(path), **said)


def save_profile(profile: Any, out: Path, *, overwrite: bool) -> Path:
    """The results of an assessment in a folder, all or nothing: what is by record in `internal/`, all of it marked."""
    from tacita.data.atomic import INTERNAL, OFFICE_ONLY, new_folder, private_folder
    from tacita.data.files import write
    from tacita.plots.internal.note import for_internal_use
    from tacita.plots.save import save
    from tacita.release.written import mark

    note = f"{OFFICE_ONLY}: how easily the records of this file are found"
    with new_folder(out, overwrite=overwrite) as folder:
        (folder / "risk.txt").write_text(f"{note}\n\n{profile}\n", encoding="utf-8")
        (folder / "risk.json").write_text(_with_note(profile.to_json(), note), encoding="utf-8")
        if profile.figures():
            chart = for_internal_use(profile.plot())
            save(chart, folder / "risk.png")
            save(chart, folder / "risk.html")
        for name, declared in (("scenario", profile.scenario), ("policy", profile.policy)):
            declared.save(folder / f"{name}.toml")
            mark(folder / f"{name}.toml", "what was declared")
        internal = private_folder(folder / INTERNAL)
        if profile.on_engine:
            profile.write_records(internal / "records.parquet")
        else:
            write(profile.records, internal / "records.parquet")
        for name, result in profile.further.items():
            if result.figure is not None:
                save(for_internal_use(result.plot()), internal / f"{name}.png")
    return out


def _with_note(text: str, note: str) -> str:
    """A JSON table with a note as its first field."""
    import json

    return json.dumps({"note": note} | json.loads(text), indent=2, ensure_ascii=False) + "\n"


COMMANDS = {"assess": assess}
