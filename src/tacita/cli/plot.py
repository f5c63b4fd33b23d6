"""`tacita plot`: figures of one file or of an original and a released one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.terminal import names, progress_bar, say


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

    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        found = confidentiality(
            original,
            released,
            names(keys),
            strata=names(strata),
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
    say(str(found))
    if out is not None:
        say(f"\nwritten: {save(found.plot(), out, overwrite=overwrite)}")


FIGURES = {"confidentiality": plot_confidentiality}
