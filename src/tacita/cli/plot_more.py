"""Further commands of `tacita plot`: other data on the confidentiality plot, and figures that show values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita import check
from tacita.check import TacitaError
from tacita.cli import arguments
from tacita.cli.assess import given_scenario
from tacita.cli.terminal import comparison_progress, names, progress_bar, say

OptionalKeys = Annotated[list[str] | None, typer.Option(help="Key variables, separated by commas.")]


def policy_of(path: Path | None) -> Any:
    """The policy of a file; None, the usual one, without a file."""
    from tacita.policy import Policy

    return None if path is None else Policy.load(path)


def _show(found: Any, table: bool, out: Path | None, overwrite: bool) -> None:
    """Print a result, and save its figure if a file was named."""
    say(str(found))
    if out is not None:
        say()
        save_figure(found.plot(table=table), out, overwrite)


def check_out(out: Path | None, overwrite: bool) -> None:
    """Refuse a file that the figure could not go to before the work, not after it."""
    from tacita.plots.save import check_figure

    if out is not None:
        check_figure(out, overwrite=overwrite)


def save_figure(chart: Any, out: Path, overwrite: bool) -> None:
    """Save a figure and say where."""
    from tacita.plots.save import save

    say(f"written: {save(chart, out, overwrite=overwrite)}")


def plot_risk(
    file: Annotated[Path, typer.Argument(help="The survey file.")],
    out: arguments.PerhapsFigure = None,
    keys: OptionalKeys = None,
    weight: arguments.Weight = None,
    household: arguments.Household = None,
    missing: arguments.Missing = None,
    scenario: arguments.ScenarioFile = None,
    policy: arguments.PolicyFile = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """How many records have which risk, with the policy's limit."""
    from tacita.assessment.assess import assess

    check_out(out, overwrite)
    named = {"keys": names(keys), "weight": weight, "household": household, "missing": missing}
    with progress_bar() as progress:
        found = assess(file, given_scenario(scenario, named), policy_of(policy), progress=progress)
    say(found.headline)
    if out is not None:
        save_figure(found.plot(), out, overwrite)


def plot_suda(
    file: Annotated[Path, typer.Argument(help="The survey file.")],
    out: arguments.PerhapsFigure = None,
    keys: OptionalKeys = None,
    weight: arguments.Weight = None,
    missing: arguments.Missing = None,
    scenario: arguments.ScenarioFile = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Special uniques: their scores, and what each key has to do with them."""
    from tacita.risk.identity.suda.suda import suda

    check_out(out, overwrite)
    named = {"keys": names(keys), "weight": weight, "missing": missing}
    with progress_bar() as progress:
        found = suda(file, given_scenario(scenario, named), progress=progress)
    say(str(found))
    if out is not None:
        save_figure(found.plot(), out, overwrite)


def plot_categorical(
    original: arguments.Original,
    released: arguments.Released,
    keys: Annotated[list[str] | None, typer.Option(help="Categorical keys, separated by commas.")] = None,
    weight: arguments.Weight = None,
    missing: arguments.Missing = None,
    scenario: arguments.ScenarioFile = None,
    population: Annotated[bool, typer.Option(help="Count units of the population, F, not records.")] = False,
    register: arguments.Register = None,
    variables: Annotated[
        list[str] | None,
        typer.Option(help="Variables whose change counts, separated by commas; the keys unless given."),
    ] = None,
    unit: Annotated[str, typer.Option(help="Unit of numeric changes: value, sd or mad.")] = "value",
    policy: arguments.PolicyFile = None,
    k: Annotated[int | None, typer.Option(help="Count that makes a record safe, if not the policy's k.")] = None,
    table: arguments.Table = False,
    out: arguments.PerhapsFigure = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """How many share the released key of each record, and how far it was changed to get there."""
    from tacita.risk.confidentiality_plot.categorical_confidentiality import categorical_confidentiality

    check_out(out, overwrite)
    who = given_scenario(scenario, {"keys": names(keys), "weight": weight, "missing": missing})
    with comparison_progress():
        found = categorical_confidentiality(
            original,
            released,
            who,
            population=population,
            register=register,
            variables=names(variables),
            unit=unit,
            k=k,
            policy=policy_of(policy),
        )
    _show(found, table, out, overwrite)


def plot_intervals(
    original: arguments.Original,
    released: Annotated[Path, typer.Argument(help="The released file with the ends of the intervals.")],
    interval: Annotated[list[str], typer.Option(help="KEY=LOWER,UPPER: a key and two columns; for each key.")],
    strata: arguments.Strata = None,
    alpha: arguments.Alpha = 0.05,
    delta: arguments.Delta = None,
    policy: arguments.PolicyFile = None,
    k: arguments.Neighbours = None,
    r: arguments.Perturbation = None,
    g: arguments.Bend = 1.0,
    vertical: arguments.Vertical = None,
    log: arguments.Log = False,
    zeros: arguments.Zeros = "shift",
    table: arguments.Table = False,
    out: arguments.PerhapsFigure = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """How well released intervals hide their values: the confidentiality plot of their midpoints."""
    from tacita.risk.confidentiality_plot.interval_confidentiality import interval_confidentiality
    from tacita.scenario import Scenario

    check_out(out, overwrite)
    intervals = dict(map(_interval, interval))
    with progress_bar() as progress:
        found = interval_confidentiality(
            original,
            released,
            Scenario(numeric_keys=tuple(intervals)),
            intervals=intervals,
            progress=progress,
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            policy=policy_of(policy),
            k=k,
            r=r,
            g=g,
            vertical=vertical,
            log=log,
            zeros=zeros,
        )
    _show(found, table, out, overwrite)


def _interval(text: str) -> tuple[str, tuple[str, str]]:
    key, given, ends = text.partition("=")
    columns = names(ends) or ()
    if not given or len(columns) != 2:
        raise TacitaError(f"intervals are written KEY=LOWER,UPPER, as in turnover=from,to; got {check.given(text)}.")
    return key.strip(), (columns[0], columns[1])


def plot_cells(
    cells: Annotated[Path, typer.Argument(help="The cells of a table, one per row.")],
    value: Annotated[str, typer.Option(help="Column of the true values.")] = "value",
    lower: Annotated[str, typer.Option(help="Column of the lower ends of their intervals.")] = "lower",
    upper: Annotated[str, typer.Option(help="Column of the upper ends of their intervals.")] = "upper",
    strata: arguments.Strata = None,
    alpha: arguments.Alpha = 0.05,
    delta: arguments.Delta = None,
    policy: arguments.PolicyFile = None,
    k: arguments.Neighbours = None,
    r: arguments.Perturbation = None,
    g: arguments.Bend = 1.0,
    vertical: arguments.Vertical = None,
    log: arguments.Log = False,
    zeros: arguments.Zeros = "shift",
    table: arguments.Table = False,
    out: arguments.PerhapsFigure = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """How well the cells of a table hide behind the intervals that can be worked out for them."""
    from tacita.data.files import read
    from tacita.risk.confidentiality_plot.cell_confidentiality import cell_confidentiality
    from tacita.scenario import Scenario

    check_out(out, overwrite)
    table_of_cells = read(cells)
    found = cell_confidentiality(
        table_of_cells,
        table_of_cells,
        Scenario(numeric_keys=(value,)),
        lower=lower,
        upper=upper,
        strata=names(strata),
        alpha=alpha,
        delta=delta,
        policy=policy_of(policy),
        k=k,
        r=r,
        g=g,
        vertical=vertical,
        log=log,
        zeros=zeros,
    )
    _show(found, table, out, overwrite)


def plot_released(
    original: arguments.Original,
    released: arguments.Released,
    variables: Annotated[list[str], typer.Option(help="Numeric variables, separated by commas.")],
    out: arguments.Figure,
    log: Annotated[bool, typer.Option(help="Axes on the log scale.")] = False,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Released against original values with the line of equality. Internal: shows original values."""
    from tacita.plots.internal.released import released as figure

    check_out(out, overwrite)
    save_figure(figure(original, released, names(variables), log=log), out, overwrite)


def plot_units(
    original: arguments.Original,
    released: arguments.Released,
    keys: Annotated[list[str], typer.Option(help="Two numeric key variables, separated by commas.")],
    out: arguments.Figure,
    strata: arguments.Strata = None,
    alpha: arguments.Alpha = 0.05,
    delta: arguments.Delta = None,
    log: arguments.Log = False,
    zeros: arguments.Zeros = "shift",
    records: Annotated[
        list[str] | None, typer.Option(help="Numbers of two records, separated by commas, if not chosen.")
    ] = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Two released units over the cloud of originals, with zooms. Internal: shows original values."""
    from tacita.data.files import read
    from tacita.plots.internal.units import units
    from tacita.risk.confidentiality_plot.confidentiality import confidentiality
    from tacita.scenario import Scenario

    check_out(out, overwrite)
    chosen = names(records)
    if chosen is not None and not all(each.isdigit() for each in chosen):
        raise TacitaError(
            f"records must be the numbers of two records, as in 12,305; got {check.given(','.join(records or ()))}."
        )
    numbers = None if chosen is None else [int(each) for each in chosen]
    with comparison_progress():
        first, second = read(original), read(released)
        found = confidentiality(
            first,
            second,
            Scenario(numeric_keys=names(keys) or ()),
            strata=names(strata),
            alpha=alpha,
            delta=delta,
            log=log,
            zeros=zeros,
            ratio=False,
        )
    save_figure(units(found, first, second, records=numbers, zeros=zeros), out, overwrite)


def plot_robust(
    original: arguments.Original,
    released: arguments.Released,
    variables: Annotated[list[str], typer.Option(help="Numeric variables, separated by commas.")],
    k: Annotated[float, typer.Option(help="Half the width of an interval, in D.")] = 0.01,
    k2: Annotated[float, typer.Option(help="Released records within this distance hide a record.")] = 0.05,
    scaled_by: Annotated[str, typer.Option(help="own: each file by itself; original: both by the original.")] = "own",
    pair: Annotated[
        list[str] | None, typer.Option(help="Two of the variables to draw, separated by commas, if not the first.")
    ] = None,
    out: arguments.PerhapsFigure = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Robust interval disclosure in four panels. Internal: the figure shows scaled original values."""
    from tacita.data.files import read
    from tacita.plots.internal.robust_intervals import robust_intervals
    from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure
    from tacita.scenario import Scenario

    check_out(out, overwrite)
    who = Scenario(numeric_keys=names(variables) or ())
    with comparison_progress():
        first, second = read(original), read(released)
        found = robust_interval_disclosure(first, second, who, k=k, k2=k2, scale=scaled_by)
    say(str(found))
    if out is not None:
        say()
        save_figure(robust_intervals(found, first, second, pair=names(pair)), out, overwrite)


MORE = {
    "risk": plot_risk,
    "suda": plot_suda,
    "categorical": plot_categorical,
    "intervals": plot_intervals,
    "cells": plot_cells,
    "released": plot_released,
    "units": plot_units,
    "robust": plot_robust,
}
