"""The command line: parse, call, show. No statistics here.

One module for each group of commands; each lists its commands by name. Exit codes: 0 done, 1 the file does not keep the
policy (`assess --fail-if-unsafe`, `protect` and `run` without `--accept-unsafe`), 2 the user's mistake, 130 and 143
stopped by Ctrl-C or by the system.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import typer
import typer.main

from tacita import __version__
from tacita.apart import reading_in_process
from tacita.check import Caution, TacitaError
from tacita.cli import app as app_command
from tacita.cli import assess, compare, confidentiality, corrected, demo, files, link, methods, plot, protect, report
from tacita.cli.arguments import Command, CommandWithoutFiles
from tacita.cli.terminal import complain, say
from tacita.stopping import run_stoppable

GROUPS = (demo, assess, confidentiality, link, protect, compare, report, app_command, methods, files, corrected)
"""Modules whose COMMANDS are commands of `tacita`, in the order of its help."""

WITHOUT_FILES = ("demo", "steps", "measures")
"""Commands that read no files of data."""


def _version(value: bool) -> None:
    if value:
        say(f"tacita {__version__}")
        raise typer.Exit


def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    """Statistical disclosure control for microdata."""


def _app() -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        help="Statistical disclosure control for microdata: who in a file is at risk, and under which attack?",
    )
    app.callback()(options)
    for group in GROUPS:
        _add(app, group.COMMANDS)
    figures = typer.Typer(no_args_is_help=True, help="Draw a figure.")
    _add(figures, plot.FIGURES)
    app.add_typer(figures, name="plot")
    return app


def _add(app: typer.Typer, commands: Mapping[str, Any]) -> None:
    for name, command in commands.items():
        app.command(name, cls=CommandWithoutFiles if name in WITHOUT_FILES else Command)(command)


app = _app()


@cache
def command() -> Any:
    """All commands, put together once."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; the user's mistakes are one sentence and exit code 2."""
    run_stoppable(_run)


def _run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console that cannot show a sign must not end the work.
            stream.reconfigure(errors="replace")
    warnings.simplefilter("default")
    warnings.simplefilter("ignore", Caution)
    warnings.showwarning = _show_warning
    try:
        # Files come from outside: what code reads that is not ours is read in a process that may die.
        with reading_in_process():
            command()(standalone_mode=True)
    except TacitaError as error:
        complain(str(error))
        sys.exit(2)


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    complain(str(message))
