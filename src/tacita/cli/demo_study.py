"""`tacita demo --project accidents`: both variants of the published study, compared, beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tacita.cli.compare import save_comparison
from tacita.cli.demo_project import PROJECTS, project_survey, project_text
from tacita.cli.terminal import progress_bar, say
from tacita.result import Percent, Table


class Published(NamedTuple):
    """What the study printed of one variant, as shares."""

    external: float
    """Records "correctly identified" by the nine keys."""
    loss: float
    """Total information loss, lambda."""
    correlations: float
    """Loss in the correlations of numbers, gamma."""
    rate: float
    """Global risk after protection."""


PUBLISHED = {
    "suppression": Published(0.7233, 0.208, 0.028, 0.05967048),
    "microaggregation": Published(0.0792, 0.247, 0.033, 0.009158836),
}
"""Mlodak, Pietrzak and Jozefowski (2021), on data that are not public."""
VARIABLES = (
    "WOJW", "LPB1", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P13", "P14", "P15",
    "P17", "P18", "P19", "P20", "P21", "P22", "P23", "P24", "P25", "P26", "P27_1", "P28", "P29", "PKD", "data_d",
)  # fmt: skip
"""The variables of the published table of losses."""
KEY_SET = "all nine"
"""The keys that the study takes an intruder to know."""


def run_demo_study(out: Path, *, records: int, seed: int, overwrite: bool) -> None:
    """Make the survey, apply both variants, compare them, and write everything to a folder."""
    from tacita.data.atomic import new_folder
    from tacita.data.files import write
    from tacita.progress import part

    with progress_bar() as progress, new_folder(out, overwrite=overwrite) as folder:
        progress(0.0, "making a survey")
        data = project_survey(records, seed)
        write(data, folder / "survey.parquet")
        projects, releases = {}, {}
        for at, (name, project) in enumerate(zip(PUBLISHED, PROJECTS, strict=True)):
            file = folder / f"{name}.toml"
            file.write_text(project_text(project), encoding="utf-8")
            projects[name], releases[name] = _release(file, data, part(progress, 0.05 + 0.35 * at, 0.4 + 0.35 * at))
            accepted = projects[name].accept_unsafe or "a demonstration"
            releases[name].save(folder / name, formats=projects[name].formats, accept_unsafe=accepted)
        compared = study(data, releases, part(progress, 0.75, 0.98))
        save_comparison(compared, folder / "comparison", overwrite=False)
    say(f"{compared.details()}\n{beside_published(compared)}")
    say(f"\nThe page is {out / 'comparison'}, the releases {', '.join(str(out / name) for name in PUBLISHED)}.")


def _release(file: Path, data: Any, progress: Any) -> tuple[Any, Any]:
    """A project and its release."""
    from tacita.release.project import Project

    declared = Project.load(file)
    release = declared.plan.apply(data, declared.scenario, declared.policy, rules=declared.rules, progress=progress)
    return declared, release


def study(data: Any, releases: Any, progress: Any) -> Any:
    """The comparison that the study prints: an intruder who knows the nine keys, the loss of thirty variables."""
    from tacita.comparison.compare import compare

    scenario = next(iter(releases.values())).original_scenario
    nine = list(scenario.sets[KEY_SET].keys)
    asked = {
        "external_risk": {"variables": nine},
        "total_risk": {"variables": nine},
        "value_loss": {"variables": list(VARIABLES)},
        "interval_disclosure": {},
    }
    return compare(data, releases, scenario, measures=asked, progress=progress)


def beside_published(compared: Any) -> str:
    """Our figures on a survey of the same shape, and the published ones.

    The study counts records that were "correctly identified": the right record is among those that agree.
    """
    rows = []
    for name, published in PUBLISHED.items():
        own = compared[name]
        external = own.result("external_risk")
        found: dict[str, tuple[float, float | None]] = {
            "correctly identified by nine keys": (external.limited("true"), published.external),
            "some record agrees on nine keys": (external.limited("paired"), None),
            "right guesses (expected)": (external.limited("expected"), None),
            "information loss": (own.result("value_loss").overall, published.loss),
            "loss in correlations": (own.result("correlation_loss").gamma, published.correlations),
            "re-identification rate, not valid after swapping": (own.profile.rate, published.rate),
        }
        rows += [
            (f"{name}: {word}", Percent(here), None if there is None else Percent(there))
            for word, (here, there) in found.items()
        ]
    return Table(("", "here", "published"), tuple(rows), "Beside the published study").text()
