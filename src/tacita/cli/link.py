"""`tacita link` and `tacita interval`: a released file against the original, or against a file of the intruder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita import check
from tacita.check import TacitaError, one_of
from tacita.cli.arguments import Overwrite
from tacita.cli.terminal import names, progress_bar, say

LINKS = ("distance", "one-to-one", "probabilistic")
INTERVALS = ("sd", "rank", "rmd")
ONLY = {
    "distance": ("distance", "standardise"),
    "one-to-one": ("distance", "standardise", "gap"),
    "probabilistic": ("block", "tolerance", "engine"),
    "sd": ("k",),
    "rank": ("widths",),
    "rmd": ("k", "scale"),
}
"""By method: the options that it has."""

Original = Annotated[Path, typer.Argument(help="The original file, or another file that an intruder has.")]
Released = Annotated[Path, typer.Argument(help="The released file.")]
Variables = Annotated[list[str], typer.Option(help="Variables to compare, separated by commas.")]
Unit = Annotated[str | None, typer.Option(help="Column that identifies the units in both files.")]
Out = Annotated[Path | None, typer.Option(help="File for one row per released record, e.g. records.parquet.")]


def link(
    original: Original,
    released: Released,
    variables: Variables,
    method: Annotated[str, typer.Option(help="distance (the nearest record), one-to-one or probabilistic.")] = LINKS[0],
    distance: Annotated[str | None, typer.Option(help="euclidean, manhattan, mahalanobis or gower.")] = None,
    standardise: Annotated[bool | None, typer.Option(help="Divide variables by their standard deviation.")] = None,
    gap: Annotated[float | None, typer.Option(help="One to one: stop within this share of the least total.")] = None,
    block: Annotated[
        list[str] | None, typer.Option(help="Compare records that agree on these only, separated by commas.")
    ] = None,
    tolerance: Annotated[
        list[str] | None, typer.Option(help="Numbers agree within this, separated by commas: age=1,income=50.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Who estimates the model: tacita or splink.")] = None,
    unit: Unit = None,
    external: Annotated[bool, typer.Option(help="ORIGINAL is another file, with other records and columns.")] = False,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """Attack a released file by record linkage: correct, false and possible links."""
    from tacita.risk.linkage.distance_linkage import distance_linkage
    from tacita.risk.linkage.one_to_one_linkage import one_to_one_linkage
    from tacita.risk.linkage.probabilistic_linkage import probabilistic_linkage

    one_of("method", method, LINKS)
    given = {
        "distance": distance,
        "standardise": standardise,
        "gap": gap,
        "block": names(block),
        "tolerance": _widths(tolerance),
        "engine": engine,
    }
    options = {**_options(method, given), "unit": unit, "external": external}
    calls: dict[str, Any] = {
        "distance": distance_linkage,
        "one-to-one": one_to_one_linkage,
        "probabilistic": probabilistic_linkage,
    }
    _run(calls[method], original, released, variables, options, out, overwrite)


def interval(
    original: Original,
    released: Released,
    variables: Variables,
    method: Annotated[str, typer.Option(help="sd (standard deviations), rank or rmd (robust distances).")] = "sd",
    k: Annotated[float | None, typer.Option(help="Half the width of an interval: 0.05 for sd, 0.01 for rmd.")] = None,
    widths: Annotated[list[str] | None, typer.Option(help="rank: percentages, separated by commas; 1 to 10.")] = None,
    scaled_by: Annotated[str | None, typer.Option(help="rmd: scale each file by its own or by the original.")] = None,
    unit: Unit = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """How many original values lie in a narrow interval around the released ones."""
    from tacita.risk.interval.interval_disclosure import interval_disclosure
    from tacita.risk.interval.rank_interval_disclosure import rank_interval_disclosure
    from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure

    one_of("method", method, INTERVALS)
    options = {**_options(method, {"k": k, "widths": _percentages(widths), "scale": scaled_by}), "unit": unit}
    calls: dict[str, Any] = {
        "sd": interval_disclosure,
        "rank": rank_interval_disclosure,
        "rmd": robust_interval_disclosure,
    }
    _run(calls[method], original, released, variables, options, out, overwrite)


def _options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; an error for one that the method does not have."""
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in ONLY[method]:
            others = [other for other, names_of in ONLY.items() if name in names_of]
            option = "scaled-by" if name == "scale" else name
            raise TacitaError(f"--{option} goes with --method {' or '.join(others)}; leave it out of {method}.")
    return options


def _run(
    measure: Any,
    original: Path,
    released: Path,
    variables: list[str],
    options: dict[str, Any],
    out: Path | None,
    over: bool,
) -> None:
    from tacita.data.atomic import private_file
    from tacita.data.files import check_target, read, write
    from tacita.progress import part
    from tacita.scenario import Scenario

    if out is not None:
        # Before the work, not after it.
        check_target(out, overwrite=over)
    who = Scenario(numeric_keys=names(variables) or ())
    with progress_bar() as progress:
        progress(0.1, "reading")
        first, second = read(original), read(released)
        found = measure(first, second, who, **options, progress=part(progress, 0.4, 1.0))
        written = None if out is None else private_file(write(found.to_frame(), out, overwrite=over))
    say(str(found))
    if written is not None:
        say(f"\nwritten: {written} ({len(second):,} records)")


def _widths(texts: list[str] | None) -> dict[str, float] | None:
    """`age=1,income=50` as numbers by name."""
    if not texts:
        return None
    widths: dict[str, float] = {}
    for part in names(texts) or ():
        name, _, width = part.rpartition("=")
        try:
            widths[name.strip()] = float(width)
        except ValueError:
            name = ""
        if not name.strip():
            raise TacitaError(f"tolerance is written variable=number, as in age=1,income=50; got {check.given(part)}.")
    return widths


def _percentages(texts: list[str] | None) -> tuple[float, ...] | None:
    try:
        return tuple(float(part) for part in names(texts) or ()) if texts else None
    except ValueError:
        given = ",".join(texts or ())
        raise TacitaError(
            f"widths must be percentages separated by commas, as in 1,5,10; got {check.given(given)}."
        ) from None


COMMANDS = {"link": link, "interval": interval}
