"""`tacita corrected`: a table of a released file, corrected for categories that were exchanged at random."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.arguments import Overwrite
from tacita.cli.terminal import names, progress_bar, say


def corrected(
    file: Annotated[Path, typer.Argument(help="The released file.")],
    variables: Annotated[list[str], typer.Option(help="Variables of the table, separated by commas.")],
    matrix: Annotated[Path, typer.Option(help="transition_matrices.json beside the data, or the internal log.json.")],
    weight: Annotated[str | None, typer.Option(help="Sampling weight; without it records are counted.")] = None,
    sampling: Annotated[bool, typer.Option(help="Standard errors over the sample too.")] = False,
    out: Annotated[Path | None, typer.Option(help="File for one row per cell, e.g. table.csv.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """A table of categories that PRAM exchanged, corrected by the transition matrix, with standard errors."""
    from tacita.data.files import check_target, read, write
    from tacita.protect.pram.corrected_table import corrected_table

    if out is not None:
        # Before the work, not after it.
        check_target(out, overwrite=overwrite)
    with progress_bar() as progress:
        progress(0.1, "reading")
        found = corrected_table(read(file), names(variables) or (), matrix, weight=weight, sampling=sampling)
        written = None if out is None else write(found.to_frame(), out, overwrite=overwrite)
    say(str(found))
    if written is not None:
        say(f"\nwritten: {written} ({len(found.cells):,} cells)")


COMMANDS = {"corrected": corrected}
