"""`tacita plot`: figures of one file or of an original and a released one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.check import TacitaError
from tacita.cli.plot_more import MORE
from tacita.cli.terminal import names, progress_bar, say


def plot_confidentiality(
    original: Annotated[Path, typer.Argument(help="The original file.")],
    released: Annotated[Path, typer.Argument(help="The released file: the same records in the same order.")],
    keys: Annotated[str, typer.Option(help="Numeric key variables, separated by commas.")],
    strata: Annotated[str | None, typer.Option(help="Variables that split the file, separated by commas.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of wrong pairs that count as neighbours.")] = 0.05,
    delta: Annotated[float | None, typer.Option(help="Critical distance, in place of alpha.")] = None,
    metric: Annotated[str, typer.Option(help="How unlike records are, e.g. standardised or gower.")] = "relative",
    ratio: Annotated[
        bool | None, typer.Option(help="Neighbours by the likelihood ratio too; unless the file is large.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML) with neighbours and perturbation.")] = None,
    k: Annotated[int | None, typer.Option(help="Neighbours that make a record safe, if not the policy's.")] = None,
    r: Annotated[float | None, typer.Option(help="Perturbation that makes it safe, if not the policy's.")] = None,
    g: Annotated[float, typer.Option(help="Bend of the policy line: 1 straight.")] = 1.0,
    vertical: Annotated[bool, typer.Option(help="Neighbours alone decide.")] = False,
    log: Annotated[bool, typer.Option(help="Compare on the log scale.")] = False,
    unit_free: Annotated[bool, typer.Option(help="Compare on a log scale without units.")] = False,
    zeros: Annotated[str, typer.Option(help="On the log scale: shift zeros, or exclude their records.")] = "shift",
    size: Annotated[str | None, typer.Option(help="Variable that says which unit is the largest.")] = None,
    figure: Annotated[
        str, typer.Option(help="confidentiality, densities, comparison_histograms, or likelihood_ratio.")
    ] = "confidentiality",
    table: Annotated[bool, typer.Option(help="Unsafe records beside the figure.")] = False,
    by_stratum: Annotated[bool, typer.Option(help="One panel for each stratum.")] = False,
    values: Annotated[bool, typer.Option(help="Original values of the keys on hovering: internal use.")] = False,
    out: Annotated[Path | None, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """How well each released record hides among the originals, and how far it was moved."""
    from tacita.plots.save import save
    from tacita.policy import Policy
    from tacita.risk.confidentiality import confidentiality

    if figure != "confidentiality" and (table or by_stratum or values):
        raise TacitaError("--table, --by-stratum and --values go with the confidentiality plot; leave out --figure.")
    options = {"table": table, "by": "stratum" if by_stratum else None, "values": original if values else None}
    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        found = confidentiality(
            original,
            released,
            names(keys),
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            metric=metric,
            ratio=ratio,
            policy=None if policy is None else Policy.load(policy),
            k=k,
            r=r,
            g=g,
            vertical=vertical,
            log="unit_free" if unit_free else log,
            zeros=zeros,
            size=size,
        )
    say(str(found))
    if out is not None:
        chart = found.plot(figure, **(options if figure == "confidentiality" else {}))
        say(f"\nwritten: {save(chart, out, overwrite=overwrite)}")


FIGURES = {"confidentiality": plot_confidentiality, **MORE}
