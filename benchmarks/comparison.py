"""A whole comparison: risk before and after, what an intruder links, every measure of loss, changes by variable."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 88_330)


def accidents(records: int) -> dict[str, Any]:
    """The accident survey against a release with swapped, exchanged, noisy and suppressed values."""
    import warnings

    import tacita as tc
    from tacita.cli.demo_project import project_survey, project_text
    from tacita.release.project import Project

    warnings.simplefilter("ignore")
    data, declared = project_survey(records, 1), Project.from_toml(project_text("accidents_suppression"))
    release = declared.plan.apply(data, declared.scenario, declared.policy, seed=123)
    given = release.data
    times, found = measure.timed(lambda: tc.compare(data, given, declared.scenario, declared.policy), repeats=1)
    return {**times, "measures": len(found.releases[0].measures)}


def households(records: int) -> dict[str, Any]:
    """The household survey against four releases at once."""
    import warnings

    import tacita as tc
    from tacita.cli.demo_plans import demo_plans

    warnings.simplefilter("ignore")
    survey = tc.household_survey(records)
    releases = {name: plan.apply(survey.data, survey.scenario).data for name, plan in demo_plans().items()}
    times, _ = measure.timed(lambda: tc.compare(survey.data, releases, survey.scenario), repeats=1)
    return {**times, "records": len(survey.data)}


CASES = {"accidents": accidents, "households": households}


def report(quick: bool) -> None:
    """Print the table."""
    rows, notes, times = [measure.HEAD], [], {}
    for size in SIZES[:1] if quick else SIZES:
        found = measure.run_case("comparison", "accidents", records=size)
        rows.append(measure.row("accidents, one release", size, found))
        if "processor" in found:
            times[size] = found["processor"]
    four = measure.run_case("comparison", "households", records=6000)
    rows.append(measure.row("households, four releases", four.get("records", 0), four))
    if len(times) > 1:
        notes.append(measure.growth(times))
    measure.show("An original and its releases, all measures that a comparison calls for", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
