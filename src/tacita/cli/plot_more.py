"""Further commands of `tacita plot`: other data on the confidentiality plot, and figures that show values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita.check import TacitaError
from tacita.cli.assess import given_scenario
from tacita.cli.terminal import names, progress_bar, say

Original = Annotated[Path, typer.Argument(help="The original file.")]
Released = Annotated[Path, typer.Argument(help="The released file: the same records in the same order.")]
Keys = Annotated[str, typer.Option(help="Numeric key variables, separated by commas.")]
Strata = Annotated[str | None, typer.Option(help="Variables that split the file, separated by commas.")]
Alpha = Annotated[float, typer.Option(help="Share of wrong pairs that count as neighbours.")]
Delta = Annotated[float | None, typer.Option(help="Critical distance, in place of alpha.")]
PolicyFile = Annotated[Path | None, typer.Option(help="Policy file (TOML).")]
Neighbours = Annotated[int | None, typer.Option(help="Neighbours that make a record safe, if not the policy's.")]
Perturbation = Annotated[float | None, typer.Option(help="Perturbation that makes it safe, if not the policy's.")]
Bend = Annotated[float, typer.Option(help="Bend of the policy line: 1 straight.")]
Vertical = Annotated[bool, typer.Option(help="Neighbours alone decide.")]
Log = Annotated[bool, typer.Option(help="Compare on the log scale.")]
Zeros = Annotated[str, typer.Option(help="On the log scale: shift zeros, or exclude their records.")]
Table = Annotated[bool, typer.Option(help="Unsafe records beside the figure.")]
Out = Annotated[Path | None, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")]
Figure = Annotated[Path, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")]
Overwrite = Annotated[bool, typer.Option(help="Replace an existing file.")]


def _policy(path: Path | None) -> Any:
    from tacita.policy import Policy

    return None if path is None else Policy.load(path)


def _show(found: Any, table: bool, out: Path | None, overwrite: bool) -> None:
    """Print a result, and save its figure if a file was named."""
    say(str(found))
    if out is not None:
        say()
        _save(found.plot(table=table), out, overwrite)


def _save(chart: Any, out: Path, overwrite: bool) -> None:
    from tacita.plots.save import save

    say(f"written: {save(chart, out, overwrite=overwrite)}")


def plot_categorical(
    original: Original,
    released: Released,
    keys: Annotated[str | None, typer.Option(help="Categorical keys, separated by commas.")] = None,
    weight: Annotated[str | None, typer.Option(help="Sampling weight.")] = None,
    missing: Annotated[str | None, typer.Option(help="Rule for missing key values, e.g. wildcard.")] = None,
    scenario: Annotated[Path | None, typer.Option(help="Scenario file (TOML).")] = None,
    population: Annotated[bool, typer.Option(help="Count units of the population, F, not records.")] = False,
    register: Annotated[Path | None, typer.Option(help="File of the population with the same keys.")] = None,
    variables: Annotated[str | None, typer.Option(help="Variables whose change counts, if not the keys.")] = None,
    unit: Annotated[str, typer.Option(help="Unit of numeric changes: value, sd or mad.")] = "value",
    policy: PolicyFile = None,
    k: Annotated[int | None, typer.Option(help="Count that makes a record safe, if not the policy's k.")] = None,
    table: Table = False,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """How many share the released key of each record, and how far it was changed to get there."""
    from tacita.risk.categorical_confidentiality import categorical_confidentiality

    who = given_scenario(scenario, {"keys": names(keys), "weight": weight, "missing": missing})
    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        found = categorical_confidentiality(
            original,
            released,
            who,
            population=population,
            register=register,
            variables=names(variables),
            unit=unit,
            k=k,
            policy=_policy(policy),
        )
    _show(found, table, out, overwrite)


def plot_intervals(
    original: Original,
    released: Annotated[Path, typer.Argument(help="The released file with the ends of the intervals.")],
    interval: Annotated[list[str], typer.Option(help="KEY=LOWER,UPPER: a key and two columns; for each key.")],
    strata: Strata = None,
    alpha: Alpha = 0.05,
    delta: Delta = None,
    policy: PolicyFile = None,
    k: Neighbours = None,
    r: Perturbation = None,
    g: Bend = 1.0,
    vertical: Vertical = False,
    log: Log = False,
    zeros: Zeros = "shift",
    table: Table = False,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """How well released intervals hide their values: the confidentiality plot of their midpoints."""
    from tacita.risk.interval_confidentiality import interval_confidentiality

    limits = {"policy": _policy(policy), "k": k, "r": r, "g": g, "vertical": vertical}
    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        found = interval_confidentiality(
            original,
            released,
            dict(map(_interval, interval)),
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            log=log,
            zeros=zeros,
            **limits,
        )
    _show(found, table, out, overwrite)


def _interval(text: str) -> tuple[str, tuple[str, str]]:
    key, given, ends = text.partition("=")
    columns = names(ends) or ()
    if not given or len(columns) != 2:
        raise TacitaError(f"intervals are written KEY=LOWER,UPPER, as in turnover=from,to; got {text!r}.")
    return key.strip(), (columns[0], columns[1])


def plot_cells(
    cells: Annotated[Path, typer.Argument(help="The cells of a table, one per row.")],
    value: Annotated[str, typer.Option(help="Column of the true values.")] = "value",
    lower: Annotated[str, typer.Option(help="Column of the lower ends of their intervals.")] = "lower",
    upper: Annotated[str, typer.Option(help="Column of the upper ends of their intervals.")] = "upper",
    strata: Strata = None,
    alpha: Alpha = 0.05,
    delta: Delta = None,
    policy: PolicyFile = None,
    k: Neighbours = None,
    r: Perturbation = None,
    g: Bend = 1.0,
    vertical: Vertical = False,
    log: Log = False,
    zeros: Zeros = "shift",
    table: Table = False,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """How well the cells of a table hide behind the intervals that can be worked out for them."""
    from tacita.risk.interval_confidentiality import cell_confidentiality

    found = cell_confidentiality(
        cells,
        value=value,
        lower=lower,
        upper=upper,
        strata=names(strata),
        alpha=alpha,
        delta=delta,
        policy=_policy(policy),
        k=k,
        r=r,
        g=g,
        vertical=vertical,
        log=log,
        zeros=zeros,
    )
    _show(found, table, out, overwrite)


def plot_released(
    original: Original,
    released: Released,
    variables: Annotated[str, typer.Option(help="Numeric variables, separated by commas.")],
    out: Figure,
    log: Annotated[bool, typer.Option(help="Axes on the log scale.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Released against original values with the line of equality. Internal: shows original values."""
    from tacita.plots.released import released as figure

    _save(figure(original, released, names(variables), log=log), out, overwrite)


def plot_units(
    original: Original,
    released: Released,
    keys: Annotated[str, typer.Option(help="Two numeric key variables, separated by a comma.")],
    out: Figure,
    strata: Strata = None,
    alpha: Alpha = 0.05,
    delta: Delta = None,
    log: Log = False,
    zeros: Zeros = "shift",
    records: Annotated[str | None, typer.Option(help="Numbers of two records, if not chosen.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Two released units over the cloud of originals, with zooms. Internal: shows original values."""
    from tacita.data.files import read
    from tacita.plots.units import units
    from tacita.risk.confidentiality import confidentiality

    chosen = names(records)
    if chosen is not None and not all(each.isdigit() for each in chosen):
        raise TacitaError(f"records must be the numbers of two records, as in 12,305; got {records!r}.")
    numbers = None if chosen is None else [int(each) for each in chosen]
    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        first, second = read(original), read(released)
        found = confidentiality(
            first,
            second,
            names(keys),
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            log=log,
            zeros=zeros,
            ratio=False,
        )
    _save(units(found, first, second, records=numbers, zeros=zeros), out, overwrite)


def plot_robust(
    original: Original,
    released: Released,
    variables: Annotated[str, typer.Option(help="Numeric variables, separated by commas.")],
    k: Annotated[float, typer.Option(help="Half the width of an interval, in D.")] = 0.01,
    k2: Annotated[float, typer.Option(help="Released records within this distance hide a record.")] = 0.05,
    scale: Annotated[str, typer.Option(help="own: each file by itself; original: both by the original.")] = "own",
    pair: Annotated[str | None, typer.Option(help="Two of the variables to draw, if not the first.")] = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """Robust interval disclosure in four panels. Internal: the figure shows scaled original values."""
    from tacita.data.files import read
    from tacita.plots.robust_intervals import robust_intervals
    from tacita.risk.robust_interval import robust_interval_disclosure

    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        first, second = read(original), read(released)
        found = robust_interval_disclosure(first, second, names(variables), k=k, k2=k2, scale=scale)
    say(str(found))
    if out is not None:
        say()
        _save(robust_intervals(found, first, second, pair=names(pair)), out, overwrite)


MORE = {
    "categorical": plot_categorical,
    "intervals": plot_intervals,
    "cells": plot_cells,
    "released": plot_released,
    "units": plot_units,
    "robust": plot_robust,
}
