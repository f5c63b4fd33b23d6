"""`tacita demo`: the main job on a synthetic survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacita.cli.arguments import OverwriteFolder
from tacita.cli.assess import save_profile
from tacita.cli.compare import PAGE, save_comparison
from tacita.cli.demo_plans import demo_plan, demo_plans
from tacita.cli.terminal import progress_bar, say


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo makes.")] = Path("demo"),
    households: Annotated[int, typer.Option(help="Households in the survey.")] = 6000,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population.")] = 1,
    overwrite: OverwriteFolder = False,
    project: Annotated[
        str | None,
        typer.Option(
            help="A published study on the survey of accidents instead: accidents, or one of its variants, "
            "accidents_suppression and accidents_microaggregation."
        ),
    ] = None,
    records: Annotated[int, typer.Option(help="Records of the survey of accidents.")] = 88_330,
) -> None:
    """The main job on a synthetic household survey: make it, assess it, protect it, write everything to a folder."""
    from tacita.data.atomic import INTERNAL, NOT_FOR_PUBLICATION, check_free, new_folder
    from tacita.data.demo.survey import household_survey
    from tacita.policy import Policy
    from tacita.progress import part
    from tacita.release.project import protect
    from tacita.release.written import PUBLIC, REPORT

    check_free(out, overwrite=overwrite)
    if project is not None:
        from tacita.cli.demo_project import STUDY, run_demo_project
        from tacita.cli.demo_study import run_demo_study

        if project == STUDY:
            run_demo_study(out, records=records, seed=seed, overwrite=overwrite)
            return
        run_demo_project(project, out, records=records, seed=seed, overwrite=overwrite)
        return
    with progress_bar() as progress:
        progress(0.1, "making a population and a survey of it")
        survey = household_survey(households, seed=seed)
        done = protect(survey.data, survey.scenario, Policy(), demo_plan(), progress=part(progress, 0.1, 0.4))
        compared = _compared(survey, done.release, part(progress, 0.4, 0.9))
        progress(0.9, "writing")
        with new_folder(out, overwrite=overwrite) as folder:
            _write(folder, survey, done, compared)
            save_comparison(compared, folder / "comparison", overwrite=False)
    say(str(done.before))
    say(f"\nProtected by {out / 'plan.toml'}\n{done.release}")
    say(f"\nThe release is {done.release.verdict} ({done.release.policy}).\n\n{done.release.checklist()}")
    say(f"\nBeside three other plans\n{compared}")
    published = PUBLIC if done.release.safe else NOT_FOR_PUBLICATION
    say(f"\nThe report of the release for those who decide is {out / 'release' / INTERNAL / REPORT},")
    say(f"that for users of the data {out / 'release' / published / REPORT}: both open in any browser.")
    say(f"The risk before is {out / 'risk' / 'risk.txt'}, with its figure {out / 'risk' / 'risk.html'};")
    say(f"of the risk after protection {out / 'risk_after' / 'risk.txt'}. The confidentiality plot of the release is")
    say(f"{out / INTERNAL / 'confidentiality.html'}, the release itself {out / 'release'}.")
    say("What an intruder gains and a researcher loses by each of the four plans is on one page,")
    say(f"{out / 'comparison' / INTERNAL / PAGE}. Try: tacita run {out / 'project.toml'}")
    say(f"To do all of this by clicks, open the app: tacita app {out / 'survey.csv'}")


def _compared(survey: Any, release: Any, progress: Any) -> Any:
    """The release beside those of the other plans."""
    from tacita.comparison.compare import compare

    others = {name: plan for name, plan in demo_plans().items() if plan != release.plan}
    made = {name: plan.apply(survey.data, survey.scenario) for name, plan in others.items()}
    return compare(survey.data, {"suppression": release, **made}, survey.scenario, progress=progress)


def _write(folder: Path, survey: Any, done: Any, compared: Any) -> None:
    """The survey, what was declared, the risk before and after, the release, and its confidentiality plot."""
    from tacita.data.atomic import INTERNAL, private_folder
    from tacita.data.files import write
    from tacita.plots.internal.note import for_internal_use
    from tacita.plots.save import save
    from tacita.policy import Policy
    from tacita.release.project import Project
    from tacita.risk.confidentiality_plot.categorical_confidentiality import categorical_confidentiality

    plan = done.release.plan
    hidden = categorical_confidentiality(survey.data, done.release, done.release.scenario)
    write(survey.data, folder / "survey.parquet")
    write(survey.data, folder / "survey.csv")
    survey.scenario.save(folder / "scenario.toml")
    Policy().save(folder / "policy.toml")
    plan.save(folder / "plan.toml")
    Project(data="survey.parquet", scenario=survey.scenario, plan=plan, folder="protected").save(
        folder / "project.toml"
    )
    save_profile(done.before, folder / "risk", overwrite=False)
    save_profile(done.after, folder / "risk_after", overwrite=False)
    # Of another survey than the usual one the same plan may make less.
    done.release.save(
        folder / "release", formats=["parquet", "csv"], accept_unsafe="a demonstration", results=[compared]
    )
    internal = private_folder(folder / INTERNAL)
    figure = for_internal_use(hidden.plot())
    save(figure, internal / "confidentiality.html")
    save(figure, internal / "confidentiality.png")


COMMANDS = {"demo": demo}
