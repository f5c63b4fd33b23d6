"""`tacita demo`: the main job on a synthetic survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.assess import save_profile
from tacita.cli.terminal import progress_bar, say


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo makes.")] = Path("demo"),
    households: Annotated[int, typer.Option(help="Households in the survey.")] = 6000,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population.")] = 1,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
) -> None:
    """The main job on a synthetic household survey: make it, assess it, draw it, write everything to a folder."""
    from tacita.assessment import assess as measure_risk
    from tacita.data.atomic import new_folder
    from tacita.data.demo.survey import household_survey
    from tacita.data.files import write
    from tacita.policy import Policy

    with progress_bar() as progress:
        progress(0.1, "making a population and a survey of it")
        survey = household_survey(households, seed=seed)
        progress(0.6, "assessing")
        profile = measure_risk(survey.data, survey.scenario)
        progress(0.8, "writing")
        with new_folder(out, overwrite=overwrite) as folder:
            write(survey.data, folder / "survey.parquet")
            write(survey.data, folder / "survey.csv")
            survey.scenario.save(folder / "scenario.toml")
            Policy().save(folder / "policy.toml")
            save_profile(profile, folder / "risk", overwrite=False)
    say(str(profile))
    say(f"\nThe survey is in {out / 'survey.csv'}, the assessment in {out / 'risk'}.")
    say(f"The figure is {out / 'risk' / 'risk.png'}, or {out / 'risk' / 'risk.html'} for a browser.")
    say(f"Try: tacita assess {out / 'survey.parquet'} --scenario {out / 'scenario.toml'} --riskiest 10")


COMMANDS = {"demo": demo}
