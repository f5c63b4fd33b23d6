"""The two published variants of the accident survey: `tacita demo --project` from nothing to the written release."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure

SIZES = (10_000, 88_330)
TARGET = 60.0
"""Seconds for each variant on 88,330 records, in a new process."""
PROJECTS = ("accidents_suppression", "accidents_microaggregation")


def command(project: str, records: int) -> dict[str, Any]:
    """The command, imports included: survey, risk before, plan, risk after, release."""

    def run() -> None:
        from tacita.cli import app

        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            given = ["demo", "--project", project, "--records", str(records), "--out", str(Path(folder) / "out")]
            app(given, standalone_mode=False)

    times, _ = measure.timed(run, repeats=0)
    return times


def steps(project: str, records: int) -> dict[str, Any]:
    """The plan alone, without the assessment and the files."""
    import tacita as tc
    from tacita.cli.demo_project import project_survey, project_text
    from tacita.release.project import Project

    data, declared = project_survey(records, 1), Project.from_toml(project_text(project))
    scenario = declared.scenario
    times, _ = measure.timed(lambda: declared.plan.apply(data, scenario, tc.Policy(), seed=123), repeats=1)
    return times


CASES = {"command": command, "steps": steps}


def report(quick: bool) -> None:
    """Print the table."""
    rows = [measure.HEAD]
    for project in PROJECTS:
        for case in CASES:
            for size in SIZES[:1] if quick else SIZES:
                found = measure.run_case("accident_projects", case, project=project, records=size)
                target = TARGET if case == "command" and size == SIZES[-1] else None
                rows.append(measure.row(f"{project}, {case}", size, found, target=target))
    measure.show("Published variants of the accident survey", rows, [])


if __name__ == "__main__":
    measure.main(CASES, report)
