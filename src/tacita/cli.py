"""The command line: parse, call, show. No statistics here.

Exit codes: 0 done, 1 the file does not keep the policy (`--fail-if-unsafe`), 2 the user's mistake.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tacita import __version__
from tacita.check import Caution, TacitaError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Statistical disclosure control for microdata: who in a file is at risk, and under which attack?",
)

SLOW = 2.0
"""Seconds after which a progress bar appears."""


def _say(text: str = "") -> None:
    """A line for the user; plain text, no markup in what comes from files."""
    sys.stdout.write(text + "\n")


def _names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; a name that has a comma in it is written in double quotes."""
    if text is None:
        return None
    import csv

    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)) if name.strip())


@contextmanager
def _progress() -> Iterator[Any]:
    """A progress callback that shows a bar once the work takes longer than two seconds."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        console=Console(stderr=True),
    )
    task = bar.add_task("", total=1.0)
    timer = threading.Timer(SLOW, bar.start)
    if sys.stderr.isatty():
        timer.start()
    try:
        yield lambda done, what: bar.update(task, completed=done, description=what)
    finally:
        timer.cancel()
        if bar.live.is_started:
            bar.stop()


@app.command()
def assess(
    file: Annotated[
        Path,
        typer.Argument(help="The survey file: text, Parquet, Arrow, Excel, SPSS, Stata or SAS, by its suffix."),
    ],
    keys: Annotated[str | None, typer.Option(help="Key variables, separated by commas.")] = None,
    weight: Annotated[str | None, typer.Option(help="Sampling weight.")] = None,
    household: Annotated[str | None, typer.Option(help="Household identifier.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive variables, separated by commas.")] = None,
    numeric_keys: Annotated[str | None, typer.Option(help="Numeric key variables, separated by commas.")] = None,
    missing: Annotated[str | None, typer.Option(help="Rule for missing key values, e.g. wildcard.")] = None,
    attack: Annotated[str | None, typer.Option(help="Attack model, M1 to M5.")] = None,
    attack_probability: Annotated[float | None, typer.Option(help="Probability of an attack, for M4.")] = None,
    population_size: Annotated[float | None, typer.Option(help="Units in the population, without weights.")] = None,
    sampling_fraction: Annotated[float | None, typer.Option(help="n/N, without weights.")] = None,
    k: Annotated[int | None, typer.Option(help="k that counts as safe (policy).")] = None,
    risk: Annotated[float | None, typer.Option(help="Individual risk that counts as safe (policy).")] = None,
    rate: Annotated[float | None, typer.Option(help="Re-identification rate that counts as safe (policy).")] = None,
    household_risk: Annotated[float | None, typer.Option(help="Household risk that counts as safe (policy).")] = None,
    scenario: Annotated[Path | None, typer.Option(help="Scenario file (TOML).")] = None,
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML).")] = None,
    register: Annotated[Path | None, typer.Option(help="File of the population with the same keys.")] = None,
    method: Annotated[str, typer.Option(help="exact, or approximate as in sdcMicro.")] = "exact",
    quantile: Annotated[float | None, typer.Option(help="Risk at this quantile of F, e.g. 0.05.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="A further measure: presence, or with options unsafe_combinations:largest=2;threshold=5, or all."
        ),
    ] = None,
    riskiest: Annotated[int, typer.Option(help="Show so many of the riskiest records.")] = 0,
    delimiter: Annotated[str | None, typer.Option(help="Delimiter of a text file, if not found right.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file, if not found right.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of a text file, if not found right.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file, if not the first.")] = None,
    catalog: Annotated[Path | None, typer.Option(help="SAS catalog with the value labels of a .sas7bdat file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results: JSON, records, figure.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
    fail_if_unsafe: Annotated[bool, typer.Option(help="Exit with 1 if the file does not keep the policy.")] = False,
) -> None:
    """Measure the risk of re-identification of every record and of the whole file."""
    from tacita.assessment import assess as measure_risk
    from tacita.data.atomic import check_free
    from tacita.data.files import read

    given = {
        "keys": _names(keys),
        "weight": weight,
        "household": household,
        "sensitive": _names(sensitive),
        "numeric_keys": _names(numeric_keys),
        "missing": missing,
        "attack": attack,
        "attack_probability": attack_probability,
        "population_size": population_size,
        "sampling_fraction": sampling_fraction,
    }
    who = _scenario(scenario, given)
    safe = _policy(policy, {"k": k, "risk": risk, "rate": rate, "household_risk": household_risk})
    if out is not None:
        # Before the work, not after it.
        check_free(out, overwrite=overwrite)
    with _progress() as progress:
        data = read(file, delimiter=delimiter, encoding=encoding, decimal=decimal, sheet=sheet, catalog=catalog)
        profile = measure_risk(
            data,
            who,
            safe,
            register=register,
            method=method,
            quantile=quantile,
            measures=_measures(measure or []),
            progress=progress,
        )
    _say(str(profile))
    if riskiest:
        _say(f"\nRiskiest records\n{profile.riskiest(riskiest)}")
    if out is not None:
        _say(f"\nwritten: {save_profile(profile, out, overwrite=overwrite)}")
    if fail_if_unsafe and not profile.safe:
        raise typer.Exit(1)


def _measures(texts: list[str]) -> dict[str, dict[str, Any]]:
    """`name:option=value;option=value` as names with options; values as TOML writes them, or plain text."""
    import tomllib

    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, _, rest = text.partition(":")
        options = found.setdefault(name.strip(), {})
        for part in filter(None, (each.strip() for each in rest.split(";"))):
            option, given, value = part.partition("=")
            if not given:
                raise TacitaError(f"options of a measure are written option=value; got {part!r}.")
            try:
                options[option.strip()] = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                options[option.strip()] = value.strip()
    return found


def _scenario(path: Path | None, given: dict[str, Any]) -> Any:
    """The scenario of a file, with what the command line says in place of it."""
    from tacita.scenario import Scenario

    said = {name: value for name, value in given.items() if value is not None}
    if path is None:
        if "keys" not in said:
            raise TacitaError("say what an intruder could know: --keys sex,age,region, or --scenario FILE.")
        return Scenario(**said)
    sources = ("weight", "population_size", "sampling_fraction")
    if any(name in said for name in sources):
        # What the command line says of the population stands in place of what the file says.
        said = dict.fromkeys(sources) | said
    return replace(Scenario.load(path), **said)


def _policy(path: Path | None, given: dict[str, Any]) -> Any:
    from tacita.policy import Policy

    said = {name: value for name, value in given.items() if value is not None}
    return replace(Policy() if path is None else Policy.load(path), **said)


def save_profile(profile: Any, out: Path, *, overwrite: bool) -> Path:
    """The results of an assessment in a folder: all or nothing."""
    from tacita.data.atomic import new_folder
    from tacita.data.files import write
    from tacita.plots.save import save

    with new_folder(out, overwrite=overwrite) as folder:
        (folder / "risk.txt").write_text(str(profile) + "\n", encoding="utf-8")
        (folder / "risk.json").write_text(profile.to_json() + "\n", encoding="utf-8")
        write(profile.records, folder / "records.parquet")
        chart = profile.plot()
        save(chart, folder / "risk.png")
        save(chart, folder / "risk.html")
        for name, result in profile.further.items():
            if result.figure is not None:
                save(result.plot(), folder / f"{name}.png")
        profile.scenario.save(folder / "scenario.toml")
        profile.policy.save(folder / "policy.toml")
    return out


@app.command()
def describe(file: Annotated[Path, typer.Argument(help="The survey file.")]) -> None:
    """One line per variable: label, scale (declared or inferred), different and missing values; no values."""
    from tacita.data.files import read
    from tacita.result import columns

    data = read(file)
    rows: list[tuple[str, ...]] = [("variable", "label", "scale", "values", "missing")]
    for each in data.describe().iter_rows(named=True):
        scale = each["scale"] + (" (inferred)" if each["inferred"] else "")
        rows.append((repr(each["variable"])[1:-1], each["label"], scale, f"{each['values']:,}", f"{each['missing']:,}"))
    _say(f"{len(data):,} records, {len(data.columns):,} variables\n{columns(rows)}")


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="The file to read.")],
    target: Annotated[Path, typer.Argument(help="The file to write; its suffix says what kind.")],
    rename: Annotated[bool, typer.Option(help="Change names that the format refuses.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Write a survey file as another kind of file, with labels and missing codes where it can hold them."""
    from tacita.data.files import read, write

    with _progress() as progress:
        progress(0.1, "reading")
        data = read(source)
        progress(0.5, "writing")
        written = write(data, target, rename=rename, overwrite=overwrite)
    _say(f"written: {written} ({len(data):,} records, {len(data.columns):,} variables)")


@app.command("join")
def join_files(
    households: Annotated[Path, typer.Argument(help="The household file.")],
    persons: Annotated[Path, typer.Argument(help="The person file.")],
    on: Annotated[str, typer.Option(help="Household identifier; several separated by commas.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Bring a household file and a person file together."""
    from tacita.data.files import write
    from tacita.data.hierarchy import join_households

    data = join_households(households, persons, on=_names(on) or ())
    _say(f"written: {write(data, out, overwrite=overwrite)} ({len(data):,} records)")


@app.command("split")
def split_file(
    source: Annotated[Path, typer.Argument(help="The file of persons with household variables.")],
    on: Annotated[str, typer.Option(help="Household identifier; several separated by commas.")],
    household_variables: Annotated[str, typer.Option(help="Variables of the household, separated by commas.")],
    households: Annotated[Path, typer.Option(help="The household file to write.")],
    persons: Annotated[Path, typer.Option(help="The person file to write.")],
    overwrite: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
) -> None:
    """Take household variables out of a person file into a file of their own."""
    from tacita.data.files import write
    from tacita.data.hierarchy import split_households

    above, below = split_households(source, on=_names(on) or (), household_variables=_names(household_variables) or ())
    for data, path in ((above, households), (below, persons)):
        _say(f"written: {write(data, path, overwrite=overwrite)} ({len(data):,} records)")


plots = typer.Typer(no_args_is_help=True, help="Draw a figure.")
app.add_typer(plots, name="plot")


@plots.command("confidentiality")
def plot_confidentiality(
    original: Annotated[Path, typer.Argument(help="The original file.")],
    released: Annotated[Path, typer.Argument(help="The released file: the same records in the same order.")],
    keys: Annotated[str, typer.Option(help="Numeric key variables, separated by commas.")],
    strata: Annotated[str | None, typer.Option(help="Variables that split the file, separated by commas.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of wrong pairs that count as neighbours.")] = 0.05,
    delta: Annotated[float | None, typer.Option(help="Critical distance, in place of alpha.")] = None,
    k: Annotated[int, typer.Option(help="Neighbours that make a record safe.")] = 15,
    r: Annotated[float, typer.Option(help="Perturbation that makes a record safe.")] = 0.15,
    g: Annotated[float, typer.Option(help="Bend of the policy line: 1 straight.")] = 1.0,
    vertical: Annotated[bool, typer.Option(help="Neighbours alone decide.")] = False,
    log: Annotated[bool, typer.Option(help="Compare on the log scale.")] = False,
    zeros: Annotated[str, typer.Option(help="On the log scale: shift zeros, or exclude their records.")] = "shift",
    size: Annotated[str | None, typer.Option(help="Variable that says which unit is the largest.")] = None,
    out: Annotated[Path | None, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """How well each released record hides among the originals, and how far it was moved."""
    from tacita.plots.save import save
    from tacita.risk.confidentiality import confidentiality

    with _progress() as progress:
        progress(0.1, "comparing the files")
        found = confidentiality(
            original,
            released,
            _names(keys),
            strata=_names(strata),
            alpha=alpha,
            delta=delta,
            k=k,
            r=r,
            g=g,
            vertical=vertical,
            log=log,
            zeros=zeros,
            size=size,
        )
    _say(str(found))
    if out is not None:
        _say(f"\nwritten: {save(found.plot(), out, overwrite=overwrite)}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo makes.")] = Path("demo"),
    households: Annotated[int, typer.Option(help="Households in the survey.")] = 6000,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population.")] = 1,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
) -> None:
    """The main job on a synthetic household survey: make it, assess it, draw it, write everything to a folder."""
    from tacita.assessment import assess as measure_risk
    from tacita.data.atomic import new_folder
    from tacita.data.demo.survey import household_survey
    from tacita.data.files import write
    from tacita.policy import Policy

    with _progress() as progress:
        progress(0.1, "making a population and a survey of it")
        survey = household_survey(households, seed=seed)
        progress(0.6, "assessing")
        profile = measure_risk(survey.data, survey.scenario)
        progress(0.8, "writing")
        with new_folder(out, overwrite=overwrite) as folder:
            write(survey.data, folder / "survey.parquet")
            write(survey.data, folder / "survey.csv")
            survey.scenario.save(folder / "scenario.toml")
            Policy().save(folder / "policy.toml")
            save_profile(profile, folder / "risk", overwrite=False)
    _say(str(profile))
    _say(f"\nThe survey is in {out / 'survey.csv'}, the assessment in {out / 'risk'}.")
    _say(f"The figure is {out / 'risk' / 'risk.png'}, or {out / 'risk' / 'risk.html'} for a browser.")
    _say(f"Try: tacita assess {out / 'survey.parquet'} --scenario {out / 'scenario.toml'} --riskiest 10")


def _version(value: bool) -> None:
    if value:
        _say(f"tacita {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    """Statistical disclosure control for microdata."""


def main() -> None:
    """Run the command line; the user's mistakes are one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console that cannot show a sign must not end the work.
            stream.reconfigure(errors="replace")
    warnings.simplefilter("default")
    warnings.simplefilter("ignore", Caution)
    warnings.showwarning = _show_warning
    try:
        app(standalone_mode=True)
    except TacitaError as error:
        sys.stderr.write(f"tacita: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("tacita: stopped; nothing was written.\n")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"tacita: {message}\n")
