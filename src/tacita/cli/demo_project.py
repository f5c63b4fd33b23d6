"""`tacita demo --project`: a project file that comes with Tacita, on the survey it is for."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from tacita import check
from tacita.cli.assess import save_profile
from tacita.cli.terminal import progress_bar, say

PROJECTS = ("accidents_suppression", "accidents_microaggregation")
"""The projects that come with Tacita: the two variants of the published study of accidents at work."""
STUDY = "accidents"
"""Both variants and their comparison: the study as a whole."""


def project_text(name: str) -> str:
    """The project file of a name."""
    check.one_of("project", name, (STUDY, *PROJECTS))
    return resources.files("tacita.data.demo").joinpath("projects", f"{name}.toml").read_text(encoding="utf-8")


def project_survey(records: int, seed: int) -> Any:
    """The accident survey with the NACE division of each company, the upper level of the hierarchy that is swapped."""
    from tacita.data.demo.accident import DIVISION
    from tacita.data.demo.survey import accident_survey

    data = accident_survey(records, seed=seed).data
    groups = data.table["PKD"].to_list()
    return data.with_columns({"division": [None if group is None else DIVISION[group] for group in groups]})


def run_demo_project(name: str, out: Path, *, records: int, seed: int, overwrite: bool) -> None:
    """Make the survey, do what the project says, and write everything to a folder."""
    from tacita.data.atomic import new_folder
    from tacita.data.files import write
    from tacita.release.project import Project

    text = project_text(name)
    with progress_bar() as progress, new_folder(out, overwrite=overwrite) as folder:
        progress(0.0, "making a survey")
        write(project_survey(records, seed), folder / "survey.parquet")
        (folder / "project.toml").write_text(text, encoding="utf-8")
        declared = Project.load(folder / "project.toml")
        done = declared.run(progress=progress)
        progress(0.95, "writing")
        save_profile(done.before, folder / "risk", overwrite=False)
        save_profile(done.after, folder / "risk_after", overwrite=False)
        done.release.save(
            folder / declared.folder,
            formats=declared.formats,
            accept_unsafe=declared.accept_unsafe or "a demonstration",
        )
    say(done.details())
    say(f"\nThe project is {out / 'project.toml'}, its release {out / declared.folder}, the risk before and after in")
    say(f"{out / 'risk'} and {out / 'risk_after'}. Try: tacita run {out / 'project.toml'} --out again")
