"""`tacita app`: the pages for those who do not program, in the browser of this computer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.check import TacitaError
from tacita.cli.terminal import say


def app_of(
    file: Annotated[Path | None, typer.Argument(help="A survey file, or a project file of the app (.toml).")] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open the app in the browser: it listens to this computer alone, and sends nothing anywhere."""
    if file is not None and not file.is_file():
        raise TacitaError(f"there is no file {str(file)!r}; check its path.")
    try:
        from tacita.app.serve import serve
    except ImportError as error:
        raise TacitaError(f"the app needs {error.name}; install it with pip install 'tacita[app]'.") from None
    serve(file, port=port, open_browser=browser, say=say)


COMMANDS = {"app": app_of}
"""`tacita app`."""
