"""`tacita plot`: figures of one file or of an original and a released one."""

from __future__ import annotations

from typing import Annotated

import typer

from tacita.check import TacitaError, one_of
from tacita.cli import arguments
from tacita.cli.plot_more import MORE, check_out, policy_of, save_figure
from tacita.cli.terminal import names, progress_bar, say


def plot_confidentiality(
    original: arguments.Original,
    released: arguments.Released,
    keys: arguments.NumericKeys,
    strata: arguments.Strata = None,
    alpha: arguments.Alpha = 0.05,
    delta: arguments.Delta = None,
    metric: arguments.Metric = "relative",
    ratio: arguments.Ratio = None,
    policy: arguments.PlotPolicy = None,
    k: arguments.Neighbours = None,
    r: arguments.Perturbation = None,
    g: arguments.Bend = 1.0,
    vertical: arguments.Vertical = None,
    log: arguments.Log = False,
    unit_free: arguments.UnitFree = False,
    zeros: arguments.Zeros = "shift",
    size: arguments.Size = None,
    figure: Annotated[
        str, typer.Option(help="confidentiality, densities, comparison_histograms, or likelihood_ratio.")
    ] = "confidentiality",
    table: arguments.Table = False,
    by_stratum: Annotated[bool, typer.Option(help="One panel for each stratum.")] = False,
    values: Annotated[bool, typer.Option(help="Original values of the keys on hovering: internal use.")] = False,
    out: arguments.PerhapsFigure = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """How well each released record hides among the originals, and how far it was moved."""
    from tacita.risk.confidentiality_plot.confidentiality import confidentiality
    from tacita.risk.confidentiality_plot.result import Confidentiality
    from tacita.scenario import Scenario

    check_out(out, overwrite)
    one_of("figure", figure, ("confidentiality", *Confidentiality.other_figures))
    if figure != "confidentiality" and (table or by_stratum or values):
        raise TacitaError("--table, --by-stratum and --values go with the confidentiality plot; leave out --figure.")
    options = {"table": table, "by": "stratum" if by_stratum else None, "values": original if values else None}
    who = Scenario(numeric_keys=names(keys) or ())
    with progress_bar() as progress:
        found = confidentiality(
            original,
            released,
            who,
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            metric=metric,
            ratio=ratio,
            policy=policy_of(policy),
            k=k,
            r=r,
            g=g,
            vertical=vertical,
            log="unit_free" if unit_free else log,
            zeros=zeros,
            size=size,
            progress=progress,
        )
    say(str(found))
    if out is not None:
        say()
        save_figure(found.plot(figure, **(options if figure == "confidentiality" else {})), out, overwrite)


FIGURES = {"confidentiality": plot_confidentiality, **MORE}
