"""`tacita confidentiality`: all tables of a released file against the original, for several key sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita import check
from tacita.check import TacitaError
from tacita.cli.arguments import Alpha, Log, Metric, OverwriteFolder, PlotPolicy, Ratio, Size, Strata, UnitFree, Zeros
from tacita.cli.terminal import names, progress_bar, say

NOISE = 0.5
"""Standard deviation of the noise with which the demo survey is masked, on the log scale."""


def confidentiality(
    original: Annotated[Path | None, typer.Argument(help="The original file.")] = None,
    released: Annotated[Path | None, typer.Argument(help="The released file: the same records, same order.")] = None,
    keys: Annotated[list[str] | None, typer.Option(help="Numeric keys of one key set, separated by commas.")] = None,
    key_set: Annotated[
        list[str] | None, typer.Option(help="Numeric keys of one of several key sets, separated by commas.")
    ] = None,
    strata: Strata = None,
    alpha: Alpha = 0.05,
    alphas: Annotated[list[str] | None, typer.Option(help="Shares to compare, separated by commas.")] = None,
    metric: Metric = "relative",
    ratio: Ratio = None,
    policy: PlotPolicy = None,
    log: Log = False,
    unit_free: UnitFree = False,
    zeros: Zeros = "shift",
    size: Size = None,
    demo: Annotated[bool, typer.Option(help="On the survey of enterprises that comes with Tacita, masked.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as text and CSV, and the figure.")] = None,
    overwrite: OverwriteFolder = False,
) -> None:
    """Links, critical distances, likelihood ratios and ranks by stratum, for one key set or several."""
    from tacita.data.atomic import check_free
    from tacita.policy import Policy
    from tacita.progress import part
    from tacita.risk.confidentiality_plot.confidentiality_alphas import confidentiality_alphas
    from tacita.risk.confidentiality_plot.confidentiality_sets import confidentiality_sets
    from tacita.scenario import Scenario

    if out is not None:
        check_free(out, overwrite=overwrite, inputs=(original, released, policy))
    options: dict[str, Any] = {
        "strata": names(strata),
        "metric": metric,
        "policy": None if policy is None else Policy.load(policy),
        "log": "unit_free" if unit_free else log,
        "zeros": zeros,
        "size": size,
    }
    shares = _shares(alphas)
    with progress_bar() as progress:
        progress(0.0, "reading")
        first, second, sets = _files(original, released, _sets(keys, key_set), demo, options)
        who = Scenario(numeric_keys=tuple(dict.fromkeys(key for each in sets for key in each)))
        share = part(progress, 0.1, 0.7)
        found = confidentiality_sets(
            first, second, who, key_sets=sets, alpha=alpha, ratio=ratio, progress=share, **options
        )
        progress(0.7, "comparing alphas")
        several = {
            name: confidentiality_alphas(first, second, who, keys=each.keys, alphas=shares, **options)
            for name, each in (found.parts if shares else {}).items()
        }
    text = "\n\n".join([str(found), *(f"{name}: {part}" for name, part in several.items())])
    say(text)
    if out is not None:
        say(f"\nwritten: {_save(found, text, out, overwrite=overwrite)}")


def _shares(texts: list[str] | None) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in names(texts) or ())
    except ValueError:
        given = ",".join(texts or ())
        raise TacitaError(
            f"alphas must be shares separated by commas, as in 0.01,0.05,0.1; got {check.given(given)}."
        ) from None


def _sets(keys: list[str] | None, several: list[str] | None) -> list[tuple[str, ...]]:
    """The key sets: all `--keys` together are one, each `--key-set` is one."""
    first = names(keys)
    return [*([first] if first else []), *(names(each) or () for each in several or [])]


def _files(
    original: Path | None, released: Path | None, sets: list[tuple[str, ...]], demo: bool, options: dict[str, Any]
) -> tuple[Any, Any, list[tuple[str, ...]]]:
    """The two files and the key sets; those of the demo are cases 1 to 4 of the reference, by industry."""
    from tacita.data.files import read

    if not demo:
        if original is None or released is None or not sets:
            raise TacitaError("name two files and their numeric keys, ORIGINAL RELEASED --keys a,b; or use --demo.")
        return read(original), read(released), sets
    if original is not None:
        raise TacitaError("--demo brings its own files; leave out ORIGINAL and RELEASED, or --demo.")
    from tacita.data.demo.masking import log_noise
    from tacita.data.demo.survey import business_survey

    survey = business_survey(exporters=True)
    numbers = survey.scenario.numeric_keys
    options["strata"] = options["strata"] or survey.scenario.strata
    options["log"] = options["log"] or True
    cases = [numbers[:size] for size in range(1, len(numbers) + 1)]
    return survey.data, log_noise(survey.data, numbers, sd=NOISE), sets or cases


def _save(found: Any, text: str, out: Path, *, overwrite: bool) -> Path:
    """The tables in a folder: all or nothing."""
    from tacita.data.atomic import OFFICE_ONLY, new_folder
    from tacita.data.files import write
    from tacita.plots.internal.note import for_internal_use
    from tacita.plots.save import save

    with new_folder(out, overwrite=overwrite) as folder:
        note = f"{OFFICE_ONLY}: how well the released file hides the original"
        (folder / "tables.txt").write_text(f"{note}\n\n{text}\n", encoding="utf-8")
        write(found.to_frame(), folder / "links.csv")
        write(found.rank_table(), folder / "ranks.csv")
        if all(part.ratios is not None for part in found.parts.values()):
            write(found.ks_table(), folder / "kolmogorov_smirnov.csv")
        save(for_internal_use(found.plot()), folder / "confidentiality.png")
    return out


COMMANDS = {"confidentiality": confidentiality}
