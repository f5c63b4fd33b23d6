"""Options of every command that reads files: how they are read, and what is declared of their variables."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main

from tacita import apart
from tacita.check import TacitaError
from tacita.cli.terminal import names

PANEL = "How files are read"
SCALE = "Scales, separated by commas: region=nominal,age=numeric."
MISSING = "Values that are missing, separated by commas: NA,-9; '' for none."
DELIMITER = "Delimiter of a text file, if not found right."
ENCODING = "Encoding of a text file, if not found right."
DECIMAL = "Decimal sign of a text file, if not found right."
SHEET = "Sheet of an Excel file, if not the first."
CATALOG = "SAS catalog with the value labels of a .sas7bdat file."


def _declared(
    scale: Annotated[list[str] | None, typer.Option(help=SCALE, rich_help_panel=PANEL)] = None,
    na: Annotated[list[str] | None, typer.Option(help=MISSING, rich_help_panel=PANEL)] = None,
    delimiter: Annotated[str | None, typer.Option(help=DELIMITER, rich_help_panel=PANEL)] = None,
    encoding: Annotated[str | None, typer.Option(help=ENCODING, rich_help_panel=PANEL)] = None,
    decimal: Annotated[str | None, typer.Option(help=DECIMAL, rich_help_panel=PANEL)] = None,
    sheet: Annotated[str | None, typer.Option(help=SHEET, rich_help_panel=PANEL)] = None,
    catalog: Annotated[Path | None, typer.Option(help=CATALOG, rich_help_panel=PANEL)] = None,
) -> None:
    """The options, declared as those of a command are."""


@cache
def reading_options() -> tuple[Any, ...]:
    """The options of a command that reads files."""
    app = typer.Typer(add_completion=False)
    app.command()(_declared)
    named = inspect.signature(_declared).parameters
    return tuple(each for each in typer.main.get_command(app).params if each.name in named)


@contextmanager
def reading_as(said: dict[str, Any], *, anywhere: bool) -> Iterator[None]:
    """Within this block files are read as the command line says."""
    if not any(said.values()):
        yield
        return
    from tacita.data.reading import Options, reading_with

    options = Options(
        **{name: said[name] for name in ("delimiter", "encoding", "decimal", "sheet", "catalog")},
        # Given but empty, none are.
        missing=(names(said["na"]) or ()) if said["na"] else None,
        scale=_scales(said["scale"]),
    )
    with reading_with(options, anywhere=anywhere):
        yield


def start_reading_of(values: Iterable[Any]) -> None:
    """Start the process that files are read in where one of them will be: it is ready when the command is."""
    given = [each for value in values for each in (value if isinstance(value, list) else [value])]
    files = [each for each in given if isinstance(each, Path) and each.suffix.lower() in apart.FORMATS]
    if apart.always() and any(each.is_file() for each in files):
        with apart.reading_in_process() as readers:
            readers.start()


def _scales(texts: Sequence[str] | None) -> Any:
    """`region=nominal,age=numeric` as scales by name."""
    scales = {}
    for part in names(texts) or ():
        name, given, scale = part.rpartition("=")
        if not given or not name.strip():
            raise TacitaError(f"--scale is written variable=scale, as in region=nominal; got {part!r}.")
        scales[name.strip()] = scale.strip()
    return scales or None
