"""`tacita describe`, `convert`, `join` and `split`: look at files and turn them into others."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from tacita.check import TacitaError
from tacita.cli.arguments import Overwrite, ScenarioFile
from tacita.cli.assess import given_scenario
from tacita.cli.terminal import names, progress_bar, say

LONGEST_LABEL = 40
"""Signs of a label that `describe` shows, so that a line of its table can be read."""


def describe(
    file: Annotated[Path, typer.Argument(help="The survey file.")],
    scenario: ScenarioFile = None,
) -> None:
    """One line per variable: label, scale (declared or inferred), different and missing values, and what was understood
    of it; no values."""
    from tacita.data.files import read
    from tacita.result import columns
    from tacita.scenario import with_codes

    data = read(file)
    if scenario is not None:
        data = with_codes(data, given_scenario(scenario, {}))
    rows: list[tuple[str, ...]] = [("variable", "label", "scale", "values", "missing")]
    said = ["understood as"]
    for each in data.describe().iter_rows(named=True):
        scale = each["scale"] + (" (inferred)" if each["inferred"] else "")
        name = repr(each["variable"])[1:-1]
        rows.append(
            (
                name,
                shorten(each["label"], LONGEST_LABEL, placeholder="..."),
                scale,
                f"{each['values']:,}",
                f"{each['missing']:,}",
            )
        )
        said.append(each["understood"])
    say(f"{len(data):,} records, {len(data.columns):,} variables")
    for line, words in zip(columns(rows).splitlines(), said, strict=True):
        say(f"{line}  {words}")
    say(
        "Say otherwise with --scale NAME=nominal, ordinal or numeric, with --na VALUE, or in a scenario or project "
        "file in [variables.NAME]: scale, missing, not_applicable, label, value_labels, order."
    )


def convert(
    source: Annotated[Path, typer.Argument(help="The file to read.")],
    target: Annotated[Path, typer.Argument(help="The file to write; its suffix says what kind.")],
    rename: Annotated[bool, typer.Option(help="Change names that the format refuses.")] = False,
    formulas: Annotated[bool, typer.Option(help="Text: leave texts such as =1+1, which spreadsheets run.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a survey file as another kind of file, with labels and missing codes where it can hold them."""
    from tacita.data.files import check_target, read, write

    check_target(target, overwrite=overwrite)
    with progress_bar() as progress:
        progress(0.1, "reading")
        data = read(source)
        progress(0.5, "writing")
        written = write(data, target, rename=rename, formulas=formulas, overwrite=overwrite)
    say(f"written: {written} ({len(data):,} records, {len(data.columns):,} variables)")


def join_files(
    households: Annotated[Path, typer.Argument(help="The household file.")],
    persons: Annotated[Path, typer.Argument(help="The person file.")],
    on: Annotated[list[str], typer.Option(help="Household identifier; several separated by commas.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    overwrite: Overwrite = False,
) -> None:
    """Bring a household file and a person file together."""
    from tacita.data.files import check_target, write
    from tacita.data.households import join_households

    check_target(out, overwrite=overwrite)
    data = join_households(households, persons, on=names(on) or ())
    say(f"written: {write(data, out, overwrite=overwrite)} ({len(data):,} records)")


def split_file(
    source: Annotated[Path, typer.Argument(help="The file of persons with household variables.")],
    on: Annotated[list[str], typer.Option(help="Household identifier; several separated by commas.")],
    household_variables: Annotated[list[str], typer.Option(help="Variables of the household, separated by commas.")],
    households: Annotated[Path, typer.Option(help="The household file to write.")],
    persons: Annotated[Path, typer.Option(help="The person file to write.")],
    overwrite: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
) -> None:
    """Take household variables out of a person file into a file of their own."""
    from tacita.data.files import check_target, write
    from tacita.data.households import split_households

    if households.resolve() == persons.resolve():
        raise TacitaError("--households and --persons must be two files; name another one.")
    for path in (households, persons):
        # Both or none.
        check_target(path, overwrite=overwrite)
    above, below = split_households(source, on=names(on) or (), household_variables=names(household_variables) or ())
    for data, path in ((above, households), (below, persons)):
        say(f"written: {write(data, path, overwrite=overwrite)} ({len(data):,} records)")


COMMANDS = {"describe": describe, "convert": convert, "join": join_files, "split": split_file}
